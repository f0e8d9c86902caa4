"""Whatever the user calls data, as one table of named float64 columns."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from qwo.errors import FileFormatError
from qwo.moments.arrays import Columns, Table, table_from_array
from qwo.moments.files import CsvFormat, existing_file, table_from_csv, table_from_parquet
from qwo.moments.frames import is_frame, table_from_frame

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat")
PARQUET_SUFFIXES = (".parquet", ".pq")
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")


def as_table(data: Any, names: Sequence[object] | None = None) -> Table:
    """The table behind an array, a list of rows, a data frame, or the path of a file.

    Parameters
    ----------
    data : array-like, data frame, str or path
        Samples in rows and variables in columns.
    names : sequence, optional
        One name per column of an array or frame, instead of those that it has. Not for files.
    """
    if isinstance(data, str | PathLike):
        return table_from_file(data)
    if is_frame(data):
        return table_from_frame(data, names)
    return table_from_array(data, names)


def table_from_file(
    path: str | PathLike[str],
    form: CsvFormat | None = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
) -> Table:
    """The table in a file, whose suffix tells its format."""
    if file_format(path) == "parquet":
        return table_from_parquet(path, columns=columns, drop=drop)
    return table_from_csv(path, form, columns=columns, drop=drop)


def file_format(path: str | PathLike[str]) -> Literal["csv", "parquet"]:
    """What the suffix of a file tells of its format, behind that of a compression."""
    known = known_format(existing_file(path))
    if known is not None:
        return known
    raise FileFormatError(
        f"{str(path)!r} does not tell its format; wanted a name that ends in one of "
        f"{', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}, or use Moments.from_csv or "
        "Moments.from_parquet"
    )


def known_format(file: Path) -> Literal["csv", "parquet"] | None:
    """The format that a file's name tells, if it tells one."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes and suffixes[-1] in PARQUET_SUFFIXES:
        return "parquet"
    return "csv" if suffixes and suffixes[-1] in TEXT_SUFFIXES else None
