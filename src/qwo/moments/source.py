"""Whatever the user calls data, of whatever size and wherever it is, as batches of rows.

A new kind of file is one more reader in `open_source`; a new option of reading is a field of
`ReadOptions`.
"""

from __future__ import annotations

import glob
import math
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

from qwo.errors import (
    FileFormatError,
    MissingFileError,
    MissingPackageError,
)
from qwo.moments.arrays import (
    Batch,
    Rows,
    frame_names,
    is_frame,
    rows_of_table,
    table_from_frame,
    table_of,
)
from qwo.moments.findings import Finding
from qwo.moments.parquet import ArrowDataset, ParquetFiles, is_dataset
from qwo.moments.text_files import CsvFiles, CsvFormat, existing_file
from qwo.optional import optional_module
from qwo.options import ReadOptions

RowPolicy = Literal["raise", "drop"]
Format = Literal["csv", "parquet", "pandas"]

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat")
PARQUET_SUFFIXES = (".parquet", ".pq")
PANDAS_SUFFIXES = {
    ".xlsx": ("read_excel", "openpyxl"),
    ".xls": ("read_excel", "xlrd"),
    ".ods": ("read_excel", "odfpy"),
    ".dta": ("read_stata", ""),
    ".sav": ("read_spss", "pyreadstat"),
}
"""Formats that pandas reads: its function, and the package that this takes."""

COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")
GLOB_MARKS = "*?["


class Reader(Protocol):
    """Data that come in batches of rows."""

    @property
    def names(self) -> Sequence[str]:
        """The names of all columns."""
        ...

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is worth knowing of how the data are read."""
        ...

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Batches of about so many rows, with these columns in this order."""
        ...


@dataclass(frozen=True)
class InMemory:
    """A table in memory: its names, a function that gives some of its columns, and its rows."""

    names: Sequence[str]
    rows: Callable[[Sequence[int]], Rows]
    notes: tuple[Finding, ...] = ()
    n_rows: float = math.inf

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """All rows at once, however many are asked for."""
        del n_rows
        yield Batch(lambda: self.rows(columns), 1.0)


def csv_format(options: ReadOptions) -> CsvFormat:
    """How text files are written."""
    return CsvFormat(options.separator, options.decimal, options.header, options.marks)


def open_source(source: Any, options: ReadOptions, kind: Format | None = None) -> Reader:
    """The reader of an array, a frame, a file, a folder, a pattern, a list, or a dataset.

    Files are told by their suffixes, unless their kind is given, and must all be of one kind. A
    folder is searched to the bottom, and ``name=value`` folders in it give columns, as Hive writes
    them.
    """
    if is_path(source):
        return _open_files(source, options, kind)
    if is_dataset(source):
        return ArrowDataset(source)
    return _frame_reader(source, options) if is_frame(source) else _array_reader(source, options)


def _open_files(source: Any, options: ReadOptions, kind: Format | None) -> Reader:
    """The reader of files, by their kind."""
    files, root = _find_files(source, kind)
    kinds = {kind or file_format(file) for file in files}
    if len(kinds) > 1:
        raise FileFormatError(
            f"{source} holds text and Parquet files ({files[0].name!r}, …); wanted one kind"
        )
    if kinds == {"parquet"}:
        return ParquetFiles(tuple(files), root)
    if kinds == {"pandas"}:
        if len(files) > 1:
            raise FileFormatError(f"{source} holds several {files[0].suffix} files; wanted one")
        return _frame_reader(_read_with_pandas(files[0]), options)
    return CsvFiles(tuple(files), csv_format(options))


def is_path(source: Any) -> bool:
    """Whether the source is a path, or a list of them."""
    if isinstance(source, str | PathLike):
        return True
    paths = isinstance(source, Sequence) and len(source) > 0
    return paths and all(isinstance(item, str | PathLike) for item in source)


def _frame_reader(frame: Any, options: ReadOptions) -> InMemory:
    names = frame_names(frame, options.names)

    def rows(columns: Sequence[int]) -> Rows:
        wanted = [names[k] for k in columns]
        return rows_of_table(table_from_frame(frame, names, columns=list(columns)), wanted)

    return InMemory(names, rows, n_rows=len(frame) if isinstance(frame, Sized) else math.inf)


def _array_reader(data: Any, options: ReadOptions) -> InMemory:
    table = table_of(data, options.names)
    names = table.order or table.names

    def rows(columns: Sequence[int]) -> Rows:
        if list(columns) == list(range(len(table.names))):
            return Rows(table.values)
        return rows_of_table(table, [names[k] for k in columns])

    return InMemory(names, rows, n_rows=len(table.values))


def _read_with_pandas(file: Path) -> Any:
    """The frame in a file of a statistics program or a spreadsheet."""
    suffix = file.suffix.lower()
    function, package = PANDAS_SUFFIXES[suffix]
    pandas = optional_module("pandas", f"{suffix} files need", "pandas")
    try:
        return getattr(pandas, function)(file)
    except ImportError as error:
        raise MissingPackageError(
            f"{file} is a {suffix} file, for which pandas needs {package or 'another package'}: "
            f"pip install {package}, or save the table as CSV",
            name=package,
        ) from error
    except Exception as error:  # each format's reader has errors of its own
        raise FileFormatError(f"{file} is not a readable {suffix} file: {error}") from error


def _find_files(source: Any, kind: Format | None) -> tuple[list[Path], Path | None]:
    """The files in order of their names, and the folder under which name=value folders count."""
    if not isinstance(source, str | PathLike):
        return [existing_file(item) for item in source], None
    pattern = any(mark in str(source) for mark in GLOB_MARKS)
    if pattern and not Path(source).exists():
        # Path.glob takes a pattern below a folder only, while this one may be absolute.
        found = [Path(name) for name in sorted(glob.glob(str(source), recursive=True))]  # noqa: PTH207
        if not found:
            raise MissingFileError(
                f"no file matches {str(source)!r} (looked from {Path.cwd()}); check the pattern"
            )
        return found, None
    path = existing_file(source)
    if not path.is_dir():
        return [path], None
    found = sorted(
        file
        for file in path.rglob("*")
        if known_format(file) in ((kind,) if kind else ("csv", "parquet"))
        and file.is_file()
        and not file.name.startswith((".", "_"))
    )
    if not found:
        wanted = {"csv": TEXT_SUFFIXES, "parquet": PARQUET_SUFFIXES}
        suffixes = wanted.get(kind or "", TEXT_SUFFIXES + PARQUET_SUFFIXES)
        raise MissingFileError(
            f"the folder {str(path)!r} holds no files that end in one of {', '.join(suffixes)}"
        )
    return found, path


def file_format(file: Path) -> Format:
    """What the suffix of a file tells of its format, behind that of a compression."""
    known = known_format(file)
    if known is not None:
        return known
    raise FileFormatError(
        f"{str(file)!r} does not tell its format; wanted a name that ends in one of "
        f"{', '.join((*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *PANDAS_SUFFIXES))}, or use "
        "Moments.from_csv or Moments.from_parquet"
    )


def known_format(file: Path) -> Format | None:
    """The format that a file's name tells, if it tells one."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in PARQUET_SUFFIXES:
        return "parquet"
    if last in PANDAS_SUFFIXES:
        return "pandas"
    return "csv" if last in TEXT_SUFFIXES else None
