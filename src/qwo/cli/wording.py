"""Messages of the library in the words of the command line.

Errors and findings carry the options that they speak of as data; here these become flags.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qwo.errors import Cure, DataWarning, InputError, python_wording
from qwo.options import OPTIONS
from qwo.text import csv_line

if TYPE_CHECKING:
    from qwo.moments import Finding

OPTION_FLAGS = {
    "columns": "columns",
    "covariance_estimator": "covariance-estimator",
    "decimal": "decimal",
    "drop": "drop",
    "edge_prior": "edge-prior",
    "format": "from or --to",
    "header": "header",
    "knowledge": "knowledge",
    "missing": "missing",
    "n_draws": "draws",
    "n_resamples": "resamples",
    "n_samples": "samples",
    "n_variables": "variables",
    "null_values": "null-value",
    "replicate_time_limit": "time-limit",
    "resampling": "resampling",
    "sample_fraction": "sample-fraction",
    "score": "score",
    "separator": "separator",
    "shard": "shard",
    "t": "prior-scale",
    "to_dag()": "dag",
    "tolerance": "tolerance",
    "transform": "transform",
    "types": "nominal or --ordinal",
} | {
    name: option.flag.names[0].removeprefix("--")
    for name, option in OPTIONS.items()
    if option.flag is not None
}
"""Arguments of the library and the options that give them."""


def flag_named(option: str) -> str:
    """What an option of the library is called here; as there, if it is not here."""
    return f"--{OPTION_FLAGS[option]}" if option in OPTION_FLAGS else option


def as_flag(cure: Cure) -> str:
    """A cure as an option of a command: ``--missing em``, ``--drop a,b``, ``--no-header``."""
    if cure.option not in OPTION_FLAGS:
        return python_wording(cure)
    flag, value = flag_named(cure.option), cure.value
    if cure.option == "types":
        return " ".join(_type_flags(value))
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return " ".join(f"{flag} {word}" for word in _words(cure.option, value))


def _type_flags(types: Mapping[str, Any]) -> list[str]:
    """Types of columns as options."""
    flags = []
    for kind in dict.fromkeys(said for said in types.values() if isinstance(said, str)):
        columns = [name for name, said in types.items() if said == kind]
        flags.append(f"--{kind} {shlex.quote(csv_line(columns))}")
    for name, levels in types.items():
        if not isinstance(levels, str):
            order = "<".join(map(str, levels))
            flags.append(f"--ordinal {shlex.quote(f'{name}:{order}')}")
    return flags


def _words(option: str, value: Any) -> list[str]:
    """The values of an option that is given once for each of them."""
    if value is None:
        return ["…"]
    if isinstance(value, Mapping):
        chosen: dict[str, list[str]] = {}
        for column, name in value.items():
            chosen.setdefault(str(name), []).append(str(column))
        values = [f"{name}:{csv_line(dict.fromkeys(columns))}" for name, columns in chosen.items()]
    elif option == "shard":
        values = ["/".join(map(str, value))]
    elif isinstance(value, list | tuple) and option != "null_values":
        values = [csv_line(dict.fromkeys(map(str, value)))]
    else:
        values = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
    return [shlex.quote(word) for word in values]


def worded(said: InputError | DataWarning | Finding) -> str:
    """What the library says, with its options as they are given here."""
    return (
        said.worded(as_flag, flag_named) if isinstance(said, InputError) else said.worded(as_flag)
    )


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
