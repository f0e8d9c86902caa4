"""Messages of the library in the words of the command line.

The library tells Python users which argument to pass; here the same cure is an option.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from qwo.errors import Cure, InputError, worded_cures

if TYPE_CHECKING:
    from qwo.moments import Finding

_ARGUMENTS = {
    "alpha": "alpha",
    "cluster": "cluster",
    "columns": "columns",
    "decimal": "decimal",
    "drop": "drop",
    "engine": "engine",
    "covariance_estimator": "covariance-estimator",
    "gamma": "gamma",
    "missing": "missing",
    "n_jobs": "jobs",
    "n_resamples": "resamples",
    "n_samples": "samples",
    "null_values": "null-value",
    "penalty_discount": "penalty",
    "random_state": "seed",
    "resampling": "resampling",
    "replicate_time_limit": "time-limit",
    "restarts": "restarts",
    "sample_fraction": "sample-fraction",
    "search": "search",
    "separator": "separator",
    "shard": "shard",
    "start": "start",
    "time_limit": "time-limit",
    "tolerance": "tolerance",
    "transform": "transform",
}
"""Arguments of the library and the options that give them."""

_NAMES = "|".join(_ARGUMENTS)
_UNDERSCORED = "|".join(name for name in _ARGUMENTS if "_" in name)

_PHRASES = (
    (r" \(drop=\[…\] where a file or frame is read\)", " (--drop)"),
    (r", as in Moments\.from_covariance\(matrix, n_samples=1000\)", " (--samples)"),
    (r" or 'oas' with the data", " or oas"),
    (r"(?<=transform='log') or 'rank-normal'", " or rank-normal"),
    (r"pass header=False", "add --no-header"),
    (r"use to_dag\(…?(\.\.\.)?\) first", "add --dag"),
    (r"pass format= ", "choose one with --from or --to: "),
    (r", or use Moments\.from_csv or Moments\.from_parquet", ""),
    (r"^tolerance ends", "--tolerance ends"),
    (r"leave tolerance out, or run without shard", "leave it out, or run without --shard"),
    (r"wanted \((\d+), (\d+)\) to \((\d+), (\d+)\)", r"wanted \1/\2 to \3/\4"),
)


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


def error_in_options(error: Exception) -> str:
    """An error's message, and its cures as options of a command."""
    if not isinstance(error, InputError):
        return in_options(str(error))
    message = in_options(str(error.args[0]) if error.args else "")
    return "\n".join(filter(None, (message, worded_cures(error.cures, option_for))))


def finding_in_options(finding: Finding) -> str:
    """A finding of the audit, with its cures as options of a command."""
    cures = worded_cures(finding.cures, option_for)
    return ". ".join(filter(None, (in_options(finding.message), cures)))


def option_for(cure: Cure) -> str:
    """A cure as an option of a command."""
    value = cure.value
    if cure.option == "header":
        return "--header" if value else "--no-header"
    option = f"--{_ARGUMENTS.get(cure.option, cure.option.replace('_', '-'))}"
    if value is None:
        return option
    if cure.option == "null_values":
        return " ".join(f"{option} {_word(mark)}" for mark in value)
    if isinstance(value, Mapping):
        names = {how: [k for k, v in value.items() if v == how] for how in value.values()}
        return " ".join(f"{option} {_word(f'{how}:{listed(of)}')}" for how, of in names.items())
    many = isinstance(value, Iterable) and not isinstance(value, str)
    return f"{option} {_word(listed(value) if many else str(value))}"


def listed(names: Iterable[object]) -> str:
    """Names as an option takes them, with quotes around those that have commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(dict.fromkeys(names))
    return text.getvalue()


def _word(text: str) -> str:
    return shlex.quote(text)


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
