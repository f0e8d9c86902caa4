"""Messages of the library in the words of the command line.

The library tells Python users which argument to pass; here the same cure is an option.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from qwo.errors import Cure, DataWarning, InputError, python_wording
from qwo.options import OPTIONS

if TYPE_CHECKING:
    from qwo.moments import Finding

_ARGUMENTS = {
    "columns": "columns",
    "covariance_estimator": "covariance-estimator",
    "decimal": "decimal",
    "drop": "drop",
    "header": "header",
    "knowledge": "knowledge",
    "missing": "missing",
    "n_resamples": "resamples",
    "n_samples": "samples",
    "null_values": "null-value",
    "replicate_time_limit": "time-limit",
    "resampling": "resampling",
    "sample_fraction": "sample-fraction",
    "separator": "separator",
    "shard": "shard",
    "tolerance": "tolerance",
    "transform": "transform",
} | {
    name: option.flag.names[0].removeprefix("--")
    for name, option in OPTIONS.items()
    if option.flag is not None
}
"""Arguments of the library and the options that give them."""

_NAMES = "|".join(_ARGUMENTS)
_UNDERSCORED = "|".join(name for name in _ARGUMENTS if "_" in name)

_PHRASES = (
    (r", as in Moments\.from_covariance\(matrix, n_samples=1000\)", " (--samples)"),
    (r"use to_dag\(…?(\.\.\.)?\) first", "add --dag"),
    (r"pass format= ", "choose one with --from or --to: "),
    (r"^tolerance ends", "--tolerance ends"),
    (r"leave tolerance out, or run without shard", "leave it out, or run without --shard"),
    (r"wanted \((\d+), (\d+)\) to \((\d+), (\d+)\)", r"wanted \1/\2 to \3/\4"),
)


def flag_named(option: str) -> str:
    """What an option of the library is called here; as there, if it is not here."""
    return f"--{_ARGUMENTS[option]}" if option in _ARGUMENTS else option


def as_flag(cure: Cure) -> str:
    """A cure as an option of a command: ``--missing em``, ``--drop a,b``, ``--no-header``."""
    if cure.option not in _ARGUMENTS:
        return python_wording(cure)
    flag, value = flag_named(cure.option), cure.value
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return " ".join(f"{flag} {word}" for word in _words(cure.option, value))


def _words(option: str, value: Any) -> list[str]:
    """The values of an option that is given once for each of them."""
    if value is None:
        return ["…"]
    if isinstance(value, Mapping):
        chosen: dict[str, list[str]] = {}
        for column, name in value.items():
            chosen.setdefault(str(name), []).append(str(column))
        values = [f"{name}:{one_word(columns)}" for name, columns in chosen.items()]
    elif isinstance(value, list | tuple) and option != "null_values":
        values = [one_word(map(str, value))]
    else:
        values = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
    return [shlex.quote(word) for word in values]


def one_word(names: Iterable[str]) -> str:
    """Names as an option takes them: with commas, and quotes around names that have some."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(dict.fromkeys(names))
    return text.getvalue()


def worded(said: InputError | DataWarning | Finding) -> str:
    """What the library says, with its options as they are given here."""
    if isinstance(said, InputError):
        return in_options(said.worded(as_flag, flag_named))
    return in_options(said.worded(as_flag))


def in_options(message: str) -> str:
    """A message whose cures are options of a command."""
    for pattern, words in _PHRASES:
        message = re.sub(pattern, words, message)
    # As in "pass missing='em'", "pass n_samples=" and "penalty_discount is -1".
    message = re.sub(rf"\bpass (the right )?(?={_NAMES}=)", "add ", message)
    message = re.sub(rf"\b({_NAMES})=('[^']*'|[\d.]+)?", _as_option, message)
    message = re.sub(rf"^({_NAMES})(?= (is|must) )", _as_option, message, flags=re.MULTILINE)
    # As in "cannot go on: penalty_discount was 2 and is 1, shard was …".
    message = re.sub(rf"(?<=[:,] )({_NAMES})(?= was )", _as_option, message)
    # No prose has an underscore.
    return re.sub(rf"\b({_UNDERSCORED})\b", _as_option, message)


def _as_option(match: re.Match[str]) -> str:
    value = (match[2] or "").strip("'") if "=" in match[0] else ""
    return f"--{_ARGUMENTS[match[1]]}{' ' + value if value else ''}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Such as ``1 edge`` or ``6 edges``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def table(rows: list[list[str]], *, right: int = 0) -> str:
    """Columns two blanks apart; the last `right` ones to the right, for numbers."""
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = len(widths) - right
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def wrapped_list(items: list[str], limit: int = 12) -> str:
    """The first names of a list, and how many more there are."""
    shown = ", ".join(items[:limit])
    hidden = len(items) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown
