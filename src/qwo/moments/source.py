"""Whatever the user calls data, of whatever size and wherever it is, as audited moments.

One road: a reader gives batches of rows, these are summed up, the sums are audited and become
moments. Only what needs all rows at once (EM, other covariance estimators, ranks) has them gathered
in memory first. A new kind of file is one more reader in `open_source`.
"""

from __future__ import annotations

import dataclasses
import glob
import math
import os
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from qwo.blas import one_blas_thread
from qwo.errors import (
    HOW_MANY,
    ArgumentError,
    Cure,
    FileFormatError,
    MissingFileError,
    MissingPackageError,
    ShapeError,
    list_names,
)
from qwo.moments.arrays import (
    Batch,
    Rows,
    Table,
    frame_names,
    is_frame,
    is_number,
    rows_of_table,
    table_from_frame,
    table_of,
)
from qwo.moments.audit import (
    Missing,
    MissingCounts,
    check_missing,
    column_types,
    inspect_correlation,
    inspect_types,
    survey,
)
from qwo.moments.columns import (
    Columns,
    Transform,
    apply_transforms,
    can_stream,
    chosen_transforms,
    column_names,
    select_columns,
)
from qwo.moments.covariance import (
    Sample,
    estimator_name,
    regularized,
    sample_from_covariance,
)
from qwo.moments.distributed import (
    is_dask,
    level_rows,
    partitions,
    sum_partitions,
    with_weights,
)
from qwo.moments.em import survey_incomplete
from qwo.moments.encoding import ColumnTypes, encoded, recoded
from qwo.moments.findings import Audit, Finding
from qwo.moments.first_rows import inspect_rows
from qwo.moments.kinds import Coding, Types, check_types
from qwo.moments.matrix_files import is_matrix_file, read_matrix
from qwo.moments.parquet import ArrowDataset, ParquetFiles, is_dataset
from qwo.moments.partial import (
    PartialSums,
    Plan,
    Summation,
    Watch,
    check_weights,
    kept_rows,
)
from qwo.moments.text_files import CsvFiles, CsvFormat, existing_file
from qwo.optional import optional_module
from qwo.parallel import count_workers
from qwo.types import FloatArray

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

WHOLE_ROWS = 1 << 16
"""Rows that are read at a time where all of them are kept."""

MATRICES = 3
"""Matrices of n × n numbers that are alive at a time, at least, on the way to a graph."""


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
        ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, or a covariance estimator of scikit-learn.
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
        Gets a `qwo.moments.partial.StreamProgress` after each batch.
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
        if not self.streams and self.weights is not None:
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


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Moments of named variables, None if errors stood in the way, and what the audit found."""

    names: tuple[str, ...]
    sample: Sample | None
    estimator: str
    audit: Audit
    coding: Coding | None = None


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
    if is_dataset(source):
        return ArrowDataset(source)
    if not _is_path(source):
        return (
            _frame_reader(source, options) if is_frame(source) else _array_reader(source, options)
        )
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


def _is_path(source: Any) -> bool:
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


def estimate(source: Any, options: ReadOptions, kind: Format | None = None) -> Estimate:
    """Audited moments of a table, in memory or not; errors stand in the audit.

    Raises
    ------
    InputError
        If there is no table to look at: no such file, lines of unequal length, no such columns.
    """
    if is_dask(source):
        return _estimate_dask(source, options)
    if isinstance(source, Table) and source.coding is not None:
        # Its types are known, and its codes are no numbers.
        return estimate_table(source, options.covariance_estimator, options.missing)
    return _Reading(open_source(source, options, kind), options).estimate()


def read_table(
    source: Any, names: Sequence[object] | None = None, **reading: Unpack[ReadArguments]
) -> Table:
    """The columns of a file, array or frame, selected and transformed; missing values as NaN.

    Parameters
    ----------
    source : str, path, array-like, data frame or Table
        Whatever `Moments.from_data` takes that has rows.
    names : sequence, optional
        One name per column of an array or frame.
    **reading
        Columns to take or drop, transformations, and how a text file is written: see `ReadOptions`.

    Returns
    -------
    Table
        With `names`, `values` and the columns `refused`, which are not numbers.
    """
    if isinstance(source, Table) and not reading:
        return source
    options = ReadOptions(names, **reading)
    return _Reading(open_source(source, options), options).table()


class _Reading:
    """One reading of a source: which columns are taken, and what is done with their rows."""

    def __init__(self, reader: Reader, options: ReadOptions) -> None:
        self.reader = reader
        self.options = options
        self.chosen, self.weight = _chosen(reader.names, options)
        curable = isinstance(reader, CsvFiles)
        self.names = column_names((reader.names[k] for k in self.chosen), cured=curable)
        self.nulls = [float(mark) for mark in options.marks if is_number(mark)]
        self.types = ColumnTypes(check_types(options.types, self.names))
        check_width(len(self.names))

    def estimate(self) -> Estimate:
        """Audited moments."""
        if len(self.names) < 2:
            return self._failed(list(inspect_types(self.names, ())))
        if not self.options.streams:
            table = self.table()
            options = self.options
            return estimate_table(table, options.covariance_estimator, options.missing)
        return self._summed()

    def table(self) -> Table:
        """All rows in memory."""
        batches = self.reader.batches(self.chosen, WHOLE_ROWS)
        parts = [self._prepared(batch.load()) for batch in batches]
        odd = {column.name: column for part in reversed(parts) for column in part.refused}
        self.types.find([*self.types.needed, *odd], parts, self.names)
        refused = self.types.refused
        parts = [encoded(part, self.names, self.types.variables) for part in parts]
        good = [k for k, name in enumerate(self.names) if name not in refused]
        values = [part.values for part in parts] or [np.empty((0, len(self.names)))]
        whole = values[0] if len(values) == 1 else np.concatenate(values)
        names = tuple(self.names[k] for k in good)
        _refuse_symmetric(names, whole)
        if refused:
            whole = whole[:, good]
        transforms = self._transforms(names)
        whole = apply_transforms(names, whole, transforms)
        coding, notes = self.types.coding(names), tuple(self.reader.notes)
        return Table(names, whole, tuple(refused.values()), coding, notes=notes)

    def columns(self, coding: Coding | None) -> FloatArray:
        """The columns of all rows, under a coding that is known."""
        variables = {} if coding is None else dict(zip(self.names, coding.variables, strict=True))
        batches = self.reader.batches(self.chosen, WHOLE_ROWS)
        parts = [encoded(self._prepared(b.load()), self.names, variables) for b in batches]
        refused = {column.name: column for part in reversed(parts) for column in part.refused}
        if refused:
            left = [name for name in self.names if name not in refused]
            Audit(tuple(inspect_types(left, tuple(refused.values())))).raise_errors()
        whole = np.concatenate([part.values for part in parts])
        return whole if coding is None else coding.expand(whole)

    def _transforms(self, names: Sequence[str]) -> dict[int, Any]:
        """The transformation of each column of numbers."""
        chosen = chosen_transforms(self.options.transform, names, list(self.types.refused))
        coded = [names[k] for k in chosen if self.types.has_levels(names[k])]
        if coded and not isinstance(self.options.transform, str):
            raise ArgumentError(
                f"transform names {list_names(coded)}, but categories have nothing to transform",
                coded,
                option="transform",
            )
        return {k: name for k, name in chosen.items() if names[k] not in coded}

    def _prepared(self, rows: Rows, weighted: bool = False) -> Rows:
        """Rows with marks of missing values as such; the last column may be that of the weights."""
        if weighted and self.weight is not None:
            name = str(self.reader.names[self.weight])
            own = tuple(column for column in rows.refused if column.name == name)
            others = tuple(column for column in rows.refused if column.name != name)
            column = Rows(rows.values[:, -1:], own)
            rows = with_weights(Rows(rows.values[:, :-1], others), column, name)
        if self.nulls:
            values = np.where(np.isin(rows.values, self.nulls), np.nan, rows.values)
            rows = dataclasses.replace(rows, values=values)
        if self.options.marks and rows.refused:
            marks = self.options.marks
            refused = tuple(
                dataclasses.replace(c, words=c.words and c.words.without(marks))
                for c in rows.refused
            )
            rows = dataclasses.replace(rows, refused=refused)
        return rows

    def _summed(self) -> Estimate:
        """Moments by one pass; columns that are not numbers cost another for their levels."""
        self._find_levels(self.types.needed)
        while True:
            refused = self.types.refused
            left = [
                k for k, name in zip(self.chosen, self.names, strict=True) if name not in refused
            ]
            names = tuple(name for name in self.names if name not in refused)
            if len(names) < 2:
                return self._failed(list(inspect_types(names, tuple(refused.values()))))
            coding = self.types.coding(names)
            summation = self._summation(left, names, coding)
            sums = summation.total
            if not summation.refused:
                break
            self._find_levels([column.name for column in summation.refused])
        if coding is None or not coding.has_blocks:
            _refuse_symmetric(names, sums.seen.first, sums.seen.n_rows)
        seen = survey(
            names,
            sums,
            refused=tuple(refused.values()),
            missing=self.options.missing,
            coding=coding,
        )
        sample = None if refused else seen.sample
        return Estimate(self.names, sample, "plain", self._noted(seen.audit), seen.coding)

    def _find_levels(self, names: Sequence[str]) -> None:
        """Read columns to the end for their levels."""
        if not names:
            return
        wanted = [self.chosen[self.names.index(name)] for name in names]
        batches = self.reader.batches(wanted, max(WHOLE_ROWS // len(wanted), 256))
        self.types.find(names, (self._prepared(batch.load()) for batch in batches), names)

    def _summation(
        self, left: Sequence[int], names: tuple[str, ...], coding: Coding | None
    ) -> Summation:
        options = self.options
        width = len(names) if coding is None else coding.n_columns
        n_rows = self.reader.n_rows if isinstance(self.reader, InMemory) else math.inf
        threads = 1 if _is_small(n_rows, width) else count_workers(options.n_jobs)
        plan = Plan.of(width, options.memory_limit, threads)
        given = None
        if options.weights is not None and self.weight is None:
            given = check_weights(_vector(options.weights))
        transforms = self._transforms(names)

        def loader(batch: Batch) -> Callable[[], Rows]:
            def load() -> Rows:
                rows = self._prepared(batch.load(), weighted=True)
                rows = encoded(rows, names, self.types.variables)
                if rows.refused:
                    return rows
                values = apply_transforms(names, rows.values, transforms)
                if coding is not None:
                    values = coding.expand(values)
                return dataclasses.replace(rows, values=values)

            return load

        wanted = left if self.weight is None else [*left, self.weight]
        batches = self.reader.batches(wanted, plan.n_rows)
        summation = Summation(width, plan.workers, given, options.progress)
        summation.run(Batch(loader(batch), batch.fraction) for batch in batches)
        return summation

    def _failed(self, findings: list[Finding]) -> Estimate:
        return Estimate(self.names, None, "plain", self._noted(Audit(tuple(findings))))

    def _noted(self, audit: Audit) -> Audit:
        return dataclasses.replace(audit, findings=(*self.reader.notes, *audit.findings))


def _is_small(n_rows: float, n_columns: int) -> bool:
    """Whether the sums over a table in memory take less time than threads to start."""
    return n_rows * n_columns * max(n_columns, 128) < 1 << 27


def estimate_table(
    table: Table,
    covariance_estimator: str | Any = "plain",
    missing: Missing = "raise",
    *,
    look: bool = True,
) -> Estimate:
    """Audited moments of a table in memory, under an estimator; errors stand in the audit.

    Parameters
    ----------
    table : Table
        The rows.
    covariance_estimator, missing
        See `ReadOptions`.
    look : bool
        Whether the first rows are looked at, as is right unless they were looked at before.
    """
    found = _estimate_table(table, covariance_estimator, missing, look)
    audit = dataclasses.replace(found.audit, findings=(*table.notes, *found.audit.findings))
    return dataclasses.replace(found, audit=audit)


def _estimate_table(
    table: Table, covariance_estimator: str | Any, missing: Missing, look: bool
) -> Estimate:
    name = estimator_name(covariance_estimator)
    columns = table.columns()
    n_rows, n = columns.shape
    if len(table.names) < 2:
        audit = Audit(tuple(inspect_types(table.names, table.refused)))
        return Estimate(table.names, None, "plain", audit)
    summation = Summation(n, 1 if _is_small(n_rows, n) else count_workers(-1))
    sums = summation.run(iter([Batch(lambda: Rows(columns), 1.0)]))
    if missing == "em" and sums.seen.n_incomplete:
        return _estimate_incomplete(table, sums, look)
    found = survey(
        table.names,
        sums,
        refused=table.refused,
        missing=missing,
        shrunk=name != "plain",
        look=look,
        coding=table.coding,
    )
    plain = Estimate(table.names, found.sample, "plain", found.audit, found.coding)
    if found.sample is None or found.audit.errors:
        return dataclasses.replace(plain, sample=None)
    if name == "plain":
        return plain
    values = table.values
    if sums.seen.n_incomplete:
        values = values[np.isfinite(values).all(axis=1)]
    if found.coding is not None:
        values = recoded(values, table.coding, found.coding)
    sample = regularized(values, found.sample, covariance_estimator)
    # The size of the sample was judged above; what remains is the matrix, whatever its origin.
    matrix = dataclasses.replace(sample, n_samples=math.inf)
    labels = table.names if found.coding is None else found.coding.labels(table.names)
    after = tuple(inspect_correlation(labels, matrix, given=True))
    audit = dataclasses.replace(found.audit, findings=(*found.audit.findings, *after))
    return Estimate(table.names, None if audit.errors else sample, name, audit, found.coding)


def _estimate_incomplete(table: Table, sums: PartialSums, look: bool) -> Estimate:
    """Moments by EM."""
    names, coding, seen = table.names, table.coding, sums.seen
    kinds = column_types(names, seen, table.refused, coding) if look or coding else {}
    labels, values = names, table.values
    if coding is not None:
        means = np.nanmean(table.columns(), axis=0)
        _, coding = coding.observed(seen.lowest, seen.highest, means)
        labels, values = coding.labels(names), recoded(values, table.coding, coding)
    found, sample = survey_incomplete(values, MissingCounts.in_values(labels, values))
    findings = [*inspect_types(names, table.refused), *_of_variables(found, names, coding)]
    if look and coding is None:
        correlation = None if sample is None else sample.correlation
        findings += inspect_rows(names, seen.first, correlation, kinds)
    audit = Audit(tuple(findings), kinds)
    return Estimate(names, None if audit.errors else sample, "em", audit, coding)


def _of_variables(
    findings: Sequence[Finding], names: Sequence[str], coding: Coding | None
) -> Iterator[Finding]:
    """Findings about columns, with the variables in their place."""
    if coding is None:
        yield from findings
        return
    owners = dict(zip(coding.labels(names), (names[k] for k in coding.owners), strict=True))
    for finding in findings:
        cures = (
            dataclasses.replace(cure, value=list(dict.fromkeys(owners[v] for v in cure.value)))
            if cure.option == "drop"
            else cure
            for cure in finding.cures
        )
        columns = tuple(dict.fromkeys(owners[column] for column in finding.columns))
        yield dataclasses.replace(finding, columns=columns, cures=tuple(cures))


def estimate_matrix(source: Any, n_samples: float | None, options: ReadOptions) -> Estimate:
    """Moments with the covariance matrix of a file, array or frame; errors stand in the audit."""
    columns, drop = options.columns, options.drop
    if isinstance(source, str | PathLike):
        read = read_matrix(source, options.form, columns=columns, drop=drop, n_samples=n_samples)
        names, sample = sample_from_covariance(read.matrix, read.n_samples, read.names, None)
    else:
        names, sample = sample_from_covariance(source, n_samples, options.names, None)
        chosen = select_columns(names, columns, drop)
        names = tuple(names[k] for k in chosen)
        sample = Sample(
            sample.n_samples,
            sample.means[chosen],
            sample.scales[chosen],
            sample.correlation[np.ix_(chosen, chosen)],
        )
    audit = Audit(tuple(inspect_correlation(names, sample, given=True, rows=False)))
    return Estimate(names, sample, "given", audit)


def is_matrix(source: Any) -> bool:
    """Whether a file's name says that it holds a covariance matrix."""
    return isinstance(source, str | PathLike) and is_matrix_file(source)


def check_width(n_variables: int) -> None:
    """Refuse more variables than the machine has memory for.

    Raises
    ------
    ShapeError
        With the size of one n × n matrix, before anything of that size is asked for.
    """
    square = 8.0 * n_variables**2
    memory = physical_memory()
    if MATRICES * square > memory:
        raise ShapeError(
            f"there are {n_variables} variables: each matrix of their correlations takes "
            f"{square / 1e9:.3g} GB, {MATRICES} of them are needed, and the machine has "
            f"{memory / 1e9:.3g} GB; choose fewer columns"
        )


def physical_memory() -> float:
    """The machine's memory in bytes; infinite where it cannot be told."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _refuse_symmetric(names: Sequence[str], rows: FloatArray, n_rows: int | None = None) -> None:
    """Refuse a covariance matrix that is given as data."""
    n, count = len(names), len(rows) if n_rows is None else n_rows
    if not count == n > 2 or rows.shape[1] != n:
        return
    corner = rows[:, : len(rows)]
    if len(corner) >= min(n, kept_rows(n)) and np.array_equal(corner, corner.T):
        raise FileFormatError(
            f"the table of {list_names(names)} is square and symmetric, like a covariance "
            "matrix and unlike data; it is read as one by read_moments, Moments.from_covariance "
            "and from_covariance_file if the number of samples behind it is given",
            cures=[HOW_MANY],
        )


def _chosen(names: Sequence[str], options: ReadOptions) -> tuple[list[int], int | None]:
    """Positions of the variables, and of the weights if they are a column."""
    chosen = select_columns(names, options.columns, options.drop)
    if not isinstance(options.weights, str | int):
        return chosen, None
    [place] = select_columns(names, [options.weights], None)[:1]
    return [k for k in chosen if k != place], place


def _vector(weights: Any) -> FloatArray:
    try:
        vector = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("weights are no numbers; wanted one weight per row") from error
    if vector.ndim != 1:
        raise ArgumentError(f"weights has {vector.ndim} dimensions; wanted one weight per row")
    return vector


def _estimate_dask(source: Any, options: ReadOptions) -> Estimate:
    """Audited moments of a Dask collection, computed where its partitions are."""
    name = estimator_name(options.covariance_estimator)
    if name != "plain":
        raise ArgumentError(
            f"covariance_estimator is {name!r}, but the data are a Dask collection; only 'plain' "
            "moments can be summed up from parts",
            option="covariance_estimator",
        )
    if options.missing == "em":
        raise ArgumentError(
            "missing is 'em', but Dask collections take 'raise' or 'drop'; EM goes over the data "
            "many times: pass data.compute()",
            option="missing",
        )
    if options.transform is not None or options.marks:
        raise ArgumentError(
            "Dask collections are not transformed or searched for marks of missing values here; "
            "do so with Dask"
        )
    if not isinstance(options.weights, str | int | None):
        raise ArgumentError("weights of a Dask collection must be the name of one of its columns")
    given, parts = partitions(source, options.names)
    chosen, weight = _chosen(given, options)
    names = column_names(given[k] for k in chosen)
    check_width(len(names))
    types = ColumnTypes(check_types(options.types, names))
    odd = types.needed
    while True:
        if odd:
            types.find(odd, level_rows(parts, given, [given.index(name) for name in odd]), odd)
        left = [k for k in chosen if given[k] not in types.refused]
        kept = tuple(given[k] for k in left)
        if len(kept) < 2 or types.refused:
            findings = inspect_types(kept, tuple(types.refused.values()))
            return Estimate(names, None, "plain", Audit(tuple(findings)))
        coding = types.coding(kept)
        total = sum_partitions(parts, given, left, weight, types)
        if not total.refused:
            break
        odd = [column.name for column in total.refused]
    with one_blas_thread():
        found = survey(names, total.sums, missing=options.missing, coding=coding)
    return Estimate(names, found.sample, "plain", found.audit, found.coding)


def new_rows(
    names: tuple[str, ...], data: Any, missing: RowPolicy, coding: Coding | None = None
) -> Rows:
    """Rows to be added to moments that are known: columns by name, those of an array by place."""
    options = ReadOptions(columns=names, missing=missing)
    if not (_is_path(data) or is_frame(data)):
        table = table_of(data)
        width = len(table.names) + len(table.refused)
        if width != len(names):
            raise ShapeError(f"the new rows have {width} columns; wanted {len(names)}, as before")
        options = ReadOptions(names=names, missing=missing)
    reading = _Reading(open_source(data, options), options)
    return Rows(reading.columns(coding))
