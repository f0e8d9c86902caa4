"""Counts, numbers, lists and tables as people read them, values as JSON has them, whole files."""

from __future__ import annotations

import csv
import io
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qwo.errors import optional_module

if TYPE_CHECKING:
    import pandas as pd


Plain = dict[str, Any] | list[Any] | str | int | float | bool | None

NONE = "–"
"""For what is not defined."""


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Such as ``1 edge`` and ``1,200 edges``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def fixed(value: float | None, digits: int) -> str:
    """A number with so many decimals."""
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def number(value: float | None, digits: int = 3) -> str:
    """So many decimals, or an exponent where the size asks for one."""
    if value and math.isfinite(value) and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.{digits}g}"
    return fixed(value, digits)


def two_digits(value: float) -> str:
    """Two significant digits, or all digits before the point if there are more."""
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:.0f}"


def p_value(value: float | None) -> str:
    """Three decimals, or that it is smaller."""
    return "<0.001" if value is not None and value < 0.001 else fixed(value, 3)


def about(value: float) -> str:
    """A number that is only roughly known, as in ``about 0.4``, ``about 12`` or ``under 0.1``."""
    if value < 0.1:
        return "under 0.1"
    return f"about {value:.1f}" if value < 9.95 else f"about {value:,.0f}"


def short(text: str, limit: int = 60) -> str:
    """A text on one line, cut if it is very long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def shown(name: str) -> str:
    """A name in quotes for a message, cut if it is very long."""
    return repr(name if len(name) <= 60 else f"{name[:59]}…")


def listed(names: Iterable[str], limit: int = 5) -> str:
    """Names in quotes and in order: the first few, and how many more there are."""
    return first_few([shown(name) for name in sorted(names)], limit) or "none"


def aligned(rows: Iterable[Sequence[str]], left: int | None = 1) -> list[str]:
    """The lines of a table, two blanks between columns; the first ones, or all, to the left."""
    kept = list(rows)
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if left is None or place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in kept
    ]


def first_few(items: Sequence[str], limit: int = 12) -> str:
    """The first items of a list as they are, and how many more there are."""
    hidden = len(items) - limit
    text = ", ".join(items[:limit])
    return f"{text} and {hidden} more" if hidden > 0 else text


def no_formula(name: str) -> str:
    """A name that no spreadsheet takes for a formula: behind an apostrophe if it begins like one.

    For tables that people open. Files that are read again hold names as they are.
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def csv_line(values: Iterable[object]) -> str:
    """A line of a CSV file, without its end; what could be taken for one is in quotes."""
    text = io.StringIO()
    # Only what ends its own lines is quoted by the writer of Python 3.11 and 3.12.
    csv.writer(text, lineterminator="\r\n").writerow(values)
    return text.getvalue().removesuffix("\r\n")


def plain(value: Any) -> Plain:
    """The value as JSON has it: no types of NumPy, no tuples, null for what is not finite.

    What is no mapping, list, text, number or boolean, such as a path or a date, becomes its text.
    """
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers; NumPy itself takes long to import
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(part) for part in value]
    return str(value)


def records_frame(fields: Sequence[str], records: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """A data frame with one row for each record; an error where pandas is not installed."""
    pandas = optional_module("pandas", "a table as a data frame needs")
    frame: pd.DataFrame = pandas.DataFrame(list(records), columns=list(fields))
    return frame


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, beside the one wanted, which it replaces once the block has ended well.

    Whatever interrupts the block, the file that was there before stays as it was.
    """
    wanted = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{wanted.name}.", dir=wanted.parent)
    os.close(handle)
    made = Path(name)
    try:
        yield made
        # A temporary file is its owner's alone; what the user asked for follows the umask.
        made.chmod(0o666 & ~_umask())
        made.replace(wanted)
    finally:
        made.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (UTF-8, lines ended by a newline alone) or bytes: the whole file or nothing."""
    with whole_file(path) as made:
        made.write_bytes(content.encode() if isinstance(content, str) else content)


def _umask() -> int:
    """The permissions that new files are made without; there is no way to read but to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
