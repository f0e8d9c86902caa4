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
from typing import Any, Literal, Protocol, TypedDict

import numpy.typing as npt

from qwo.errors import (
    ArgumentError,
    Cure,
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
from qwo.moments.audit import Missing, check_missing
from qwo.moments.columns import Columns, Transform, can_stream, select_columns
from qwo.moments.covariance import estimator_name
from qwo.moments.findings import Finding
from qwo.moments.kinds import Types
from qwo.moments.parquet import ArrowDataset, ParquetFiles, is_dataset
from qwo.moments.summation import Watch
from qwo.moments.text_files import CsvFiles, CsvFormat, existing_file
from qwo.optional import optional_module

Weights = str | int | npt.ArrayLike | None
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


class ReadArguments(TypedDict, total=False):
    """The keyword arguments of whatever reads data; `ReadOptions` says what each means."""

    columns: Columns
    drop: Columns
    transform: Transform
    types: Types
    missing: Missing
    covariance_estimator: str | Any
    separator: str | None
    decimal: str
    header: bool
    null_values: str | Sequence[str]
    weights: Weights
    memory_limit: int | str | None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read of a source, and what to do with it.

    Attributes
    ----------
    names : sequence, optional
        One name per column of an array or frame, instead of those that it has. Not for files.
    columns, drop : sequence of names or positions, optional
        The columns to take, in this order, and those to leave out.
    transform : str or mapping, optional
        ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a mapping
        from column names to these.
    types : mapping, optional
        What columns hold: ``"continuous"``, ``"ordinal"``, ``"nominal"``, ``"binary"``, or a list
        of levels in their order, by name. Of the others text and categories are nominal, and
        numbers are numbers.
    missing : {"raise", "drop", "em"}
        Whether missing and infinite values are an error, their rows are left out, or the moments
        are those of largest Gaussian likelihood given all that the rows have, with an effective
        sample size.
    covariance_estimator : str or object
        ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, ``"latent"``, or a covariance estimator of
        scikit-learn. With ``"latent"`` correlations are those of the normal variables of which
        ordinal and binary columns are the pieces (polychoric and polyserial), with an effective
        sample size.
    separator, decimal, header
        How a text file is written, as for `Moments.from_csv`.
    null_values : str or sequence of str
        What marks missing values: in text files besides the empty field, NA, NaN and their like;
        as a number, such as ``"-999"``, in any data.
    weights : name, position or array, optional
        How many rows each row counts for: a column, or one number per row.
    memory_limit : int or str, optional
        Bytes to keep within while reading, such as ``"2 GB"``; half a gigabyte if not given.
    n_jobs : int
        Threads; their number does not change the result.
    progress : callable, optional
        Gets a `qwo.moments.summation.StreamProgress` after each batch.
    """

    names: Sequence[object] | None = None
    columns: Columns = None
    drop: Columns = None
    transform: Transform = None
    types: Types = None
    missing: Missing = "raise"
    covariance_estimator: str | Any = "plain"
    separator: str | None = None
    decimal: str = "."
    header: bool = True
    null_values: str | Sequence[str] = ()
    weights: Weights = None
    memory_limit: int | str | None = None
    n_jobs: int | None = -1
    progress: Watch | None = None

    def __post_init__(self) -> None:
        check_missing(self.missing)
        name = estimator_name(self.covariance_estimator)
        if self.missing == "em" and name != "plain":
            raise ArgumentError(
                f"missing is 'em', which is a covariance estimator by itself, but {name!r} is "
                "asked for too",
                option="missing",
                cures=[
                    Cure("covariance_estimator", "plain", "leaves that to EM"),
                    Cure("missing", "drop", "leaves rows with missing values out"),
                ],
            )
        if self.weights is not None and not self.streams:
            raise ArgumentError(
                "weights are for plain moments of complete rows; leave out EM, other covariance "
                "estimators and transformations of whole columns",
                option="weights",
            )

    @property
    def marks(self) -> tuple[str, ...]:
        """What marks missing values, besides what always does."""
        given = (self.null_values,) if isinstance(self.null_values, str) else self.null_values
        return tuple(map(str, given))

    @property
    def form(self) -> CsvFormat:
        """How text files are written."""
        return CsvFormat(self.separator, self.decimal, self.header, self.marks)

    @property
    def streams(self) -> bool:
        """Whether one pass over the rows is enough."""
        plain = estimator_name(self.covariance_estimator) == "plain"
        return self.missing != "em" and plain and can_stream(self.transform)

    def chosen(self, names: Sequence[str]) -> tuple[list[int], int | None]:
        """Positions of the variables, and of the weights if they are a column."""
        chosen = select_columns(names, self.columns, self.drop)
        if not isinstance(self.weights, str | int):
            return chosen, None
        [place] = select_columns(names, [self.weights], None)[:1]
        return [k for k in chosen if k != place], place


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
    return CsvFiles(tuple(files), options.form)


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
