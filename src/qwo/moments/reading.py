"""The road from whatever the user calls data to audited moments.

A reader gives batches of rows, recipes make columns of them, these are summed up, and the sums are
audited and become moments. Only what needs all rows at once (EM, other covariance estimators,
ranks) has them gathered in memory. What comes out is `Moments`, or the `Audit` that says why not.
"""

# Long because it is the road itself: each step is one call of another module.

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from qwo.arguments import ReadArguments, hinting
from qwo.columns.levels import ColumnTypes, RefusedColumn, Rows, Words
from qwo.columns.recipes import (
    Coding,
    Variable,
    column_names,
    is_number,
    select_columns,
    transformed,
    with_transforms,
)
from qwo.compute import count_workers, one_blas_thread
from qwo.errors import (
    HOW_MANY,
    ArgumentError,
    FileFormatError,
    InputError,
    ShapeError,
    list_names,
    optional_module,
)
from qwo.inspection.audit import (
    MIN_SAMPLES,
    Audit,
    Finding,
    MissingCounts,
    inspect_names,
    inspect_size,
    inspect_types,
)
from qwo.inspection.checks import View, inspect_matrix, inspect_rows, inspect_spread
from qwo.inspection.findings import SMALL_SAMPLE, inspect_levels, small_sample
from qwo.moments.em import estimate_incomplete
from qwo.moments.estimators import (
    SETTLED_BY_LATENT,
    cluster_numbers,
    latent_correlations,
    regularized,
    with_effective_size,
)
from qwo.moments.matrices import from_covariance, read_matrix, stored_moments
from qwo.moments.moments import LATENT, Moments
from qwo.moments.readers import CsvFiles, Reader, existing_file, is_path, open_source
from qwo.moments.sums import (
    SMALL_WORK,
    Batch,
    PartialSums,
    Plan,
    Seen,
    Summation,
    Watch,
    check_weights,
    check_width,
    kept_rows,
    sums_in_memory,
)
from qwo.moments.tables import Table, check_count, is_frame, open_memory, table_of
from qwo.names import default_names
from qwo.options import Kind, Missing, ReadOptions, estimator_name
from qwo.types import FloatArray

RowPolicy = Literal["raise", "drop"]

Recipe = Callable[[tuple[str, ...], Coding], tuple[tuple[str, ...], Coding]]

NUMBERS = Variable()

WHOLE_ROWS = 1 << 16
"""Rows that are read at a time where all of them are kept."""

MATRIX_SUFFIXES, ARCHIVE = (".cov", ".corr", ".cor"), ".npz"
"""Parts of a file's name that tell a matrix, and saved moments, from a table."""


def as_moments(data: Any, **reading: Unpack[ReadArguments]) -> Moments:
    """The moments of whatever the user calls data.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Moments are returned as they are, or with the columns that are wanted; a path ends in .csv,
        .tsv, .txt, .parquet or .npz.
    **reading
        Columns to take or drop, transformations, missing values, the covariance estimator, and how
        a text file is written: see `qwo.options.ReadOptions`.
    """
    found = estimate(data, ReadOptions(**reading))
    if isinstance(data, Moments) and isinstance(found, Moments):
        return found
    return Moments._of(found)


def read_moments(
    source: Any,
    *,
    n_samples: float | None = None,
    covariance: bool | None = None,
    n_jobs: int | None = -1,
    progress: Watch | None = None,
    **reading: Unpack[ReadArguments],
) -> tuple[Moments, Audit]:
    """Moments of a table or covariance matrix, and what is doubtful about them.

    Parameters
    ----------
    source : str, path, array-like, data frame or Moments
        A table ends in .csv, .tsv, .tab, .txt, .dat or .parquet; a covariance matrix has .cov,
        .corr or .cor in its name, such as ``lead.cov.txt``; saved moments end in .npz. A folder, a
        pattern such as ``"part-*.parquet"`` and a list of files are read one after the other.
    n_samples : float, optional
        N of a covariance matrix, if its file does not say it or says it wrongly.
    covariance : bool, optional
        Whether the file holds a covariance matrix; if not given, its name and `n_samples` tell.
    n_jobs, progress
        As for `Moments.from_dataset`.
    **reading
        See `qwo.options.ReadOptions`.

    Returns
    -------
    moments : Moments
    audit : Audit
        Its findings are warnings and notes; no `DataWarning` is issued.

    Raises
    ------
    InputError
        If the input cannot be used, with the columns and a cure.
    """
    options = ReadOptions(**reading, n_jobs=n_jobs, progress=progress)
    return audited(estimate(source, options, n_samples=n_samples, covariance=covariance))


def audited(found: Moments | Audit) -> tuple[Moments, Audit]:
    """Moments, and the audit, in which no error is left; nobody is warned."""
    audit = found if isinstance(found, Audit) else found.audit()
    audit.raise_errors()
    assert isinstance(found, Moments), "an audit without errors leaves moments"
    return found, audit


@hinting
def audit(
    data: Any,
    names: Sequence[object] | None = None,
    *,
    n_samples: float | None = None,
    covariance: bool | None = None,
    **reading: Unpack[ReadArguments],
) -> Audit:
    """All that is wrong or doubtful about a data set, without raising or warning.

    Parameters
    ----------
    data : array-like, data frame, str or path, or Moments
        Whatever `qwo.discover` takes.
    names : sequence, optional
        One name per column of an array.
    n_samples, covariance
        As for `qwo.moments.read_moments`.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written: see
        `qwo.options.ReadOptions`.

    Raises
    ------
    InputError
        If there is nothing to look at: no such file, lines of unequal length, no such columns.

    Examples
    --------
    >>> print(audit([[1, 5, 2], [2, 5, 7], [4, 5, 1]]))
    error: 1 of 3 columns is constant: 'X1'. Try: drop=['X1'] leaves it out
    warning: there are only 3 samples of 2 variables: below 10 hardly any correlation differs from
    chance
    """
    options = ReadOptions(names, **reading)
    found = estimate(data, options, n_samples=n_samples, covariance=covariance)
    if isinstance(found, Moments):
        return found.audit()
    return found.beside(after=inspect_names(tuple(found.types), found.types))


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
        Columns to take or drop, transformations, and how a text file is written: see
        `qwo.options.ReadOptions`.

    Returns
    -------
    Table
        With `names`, `values` and the columns `refused`, which are not numbers.
    """
    if isinstance(source, Table) and not reading:
        return source
    options = ReadOptions(names, **reading)
    return TableReading(open_source(source, options), options).table()


def estimate(
    source: Any,
    options: ReadOptions,
    *,
    n_samples: float | None = None,
    covariance: bool | None = None,
) -> Moments | Audit:
    """Audited moments of whatever there is."""
    file = isinstance(source, str | PathLike)
    suffixes = [suffix.lower() for suffix in Path(source).suffixes] if file else []
    if isinstance(source, Moments) or suffixes[-1:] == [ARCHIVE]:
        moments = source if isinstance(source, Moments) else stored_moments(source)
        _refuse_options("Moments", options, moments.estimator)
        return moments.select(options.columns, options.drop)
    if covariance is None:
        covariance = n_samples is not None or not set(suffixes).isdisjoint(MATRIX_SUFFIXES)
    if not covariance:
        return estimate_rows(source, options)
    _refuse_options("covariance matrix", options, "given")
    columns, drop = options.columns, options.drop
    if file:
        return read_matrix(source, n_samples, options, columns=columns, drop=drop)
    moments = from_covariance(source, n_samples, options.names)
    return moments.select(select_columns(moments.names, columns, drop))


def is_matrix_file(source: Any) -> bool:
    """Whether the name of a file says that it holds a covariance matrix, as in ``lead.cov.txt``."""
    if not isinstance(source, str | PathLike):
        return False
    return any(suffix.lower() in MATRIX_SUFFIXES for suffix in Path(source).suffixes)


def _refuse_options(what: str, options: ReadOptions, made_by: str) -> None:
    """Transformations, types and estimators take the samples."""
    if options.types:
        raise ArgumentError(
            f"types are given, but the {what} given have theirs; give them when making them",
            option="types",
        )
    if options.transform is not None:
        raise ArgumentError(
            f"transform is {options.transform!r}, but the {what} given cannot be treated so after "
            "the fact; apply it to the data",
            option="transform",
        )
    wanted = estimator_name(options.covariance_estimator)
    if wanted not in ("plain", made_by):
        raise ArgumentError(
            f"covariance_estimator is {wanted!r}, but the {what} given were estimated by "
            f"{made_by!r}; choose the estimator when making them: apply it to the data",
            option="covariance_estimator",
        )


def estimate_rows(source: Any, options: ReadOptions, kind: Any = None) -> Moments | Audit:
    """Audited moments of rows, of a source whose kind may be known: a frame, CSV or Parquet.

    An InputError says that there is no table to look at: no such file, lines of unequal length, no
    such columns.
    """
    if isinstance(source, Table) and not source.coding.is_plain:
        # Its types are known, and its codes are no numbers.
        return estimate_table(source, options.covariance_estimator, options.missing)
    if type(source).__module__.startswith("dask") and is_dask(source):
        return DaskReading(source, options).moments()
    if kind == "frame" and not is_frame(source):
        raise InputError(
            f"the data are a {type(source).__name__}; wanted a pandas, polars or pyarrow data frame"
        )
    known = kind if kind in ("csv", "parquet") else None
    source = existing_file(source) if known else source
    return TableReading(open_source(source, options, known), options).moments()


def is_dask(data: Any) -> bool:
    """Whether this is a Dask collection; Dask is not imported to tell."""
    package = type(data).__module__.partition(".")[0]
    return package.startswith("dask") and hasattr(data, "__dask_graph__")


class TableReading:
    """One reading of a source: which columns are taken, and what is done with their rows.

    A `recipe` makes other variables of those that there are, from their names and coding; the
    values of a `group` column, which is no variable, tell apart the rows that `groups` has the sums
    of; rows in which it is empty are of the group `unnamed`, if that is given.
    """

    def __init__(
        self,
        reader: Reader,
        options: ReadOptions,
        recipe: Recipe | None = None,
        group: str | int | None = None,
        unnamed: str | None = None,
    ) -> None:
        self.reader, self.options, self.recipe = reader, options, recipe
        self.groups: dict[str, PartialSums] = {}
        self.unnamed = unnamed
        group = options.cluster if group is None else group
        weights = options.weights if isinstance(options.weights, str | int) else None
        self.weight, self.group = (
            None if beside is None else select_columns(reader.names, [beside], None)[0]
            for beside in (weights, group)
        )
        chosen = select_columns(reader.names, options.columns, options.drop)
        self.chosen = [k for k in chosen if k not in (self.weight, self.group)]
        labels = (reader.names[k] for k in self.chosen)
        self.names = column_names(labels, cured=isinstance(reader, CsvFiles))
        self.nulls = [float(mark) for mark in options.null_values if is_number(mark)]
        self.types = ColumnTypes.of(options.types, self.names) if options.types else ColumnTypes()

    def moments(self) -> Moments | Audit:
        """Audited moments, by one pass; columns that are not numbers cost another for levels."""
        options, types, refused = self.options, self.types, self.types.refused
        if len(self.names) < 2:
            return Audit((*self.reader.notes, *inspect_types(self.names, ())))
        if not options.streams:
            return estimate_table(self.table(), options.covariance_estimator, options.missing)
        odd = types.needed
        while True:
            if odd:
                types.find(odd, self.parts(odd), odd)
            names = tuple(name for name in self.names if name not in refused)
            if len(names) < 2:
                found = inspect_types(names, tuple(refused.values()))
                return Audit((*self.reader.notes, *found))
            coding = Coding(tuple(types.variables.get(name, NUMBERS) for name in names))
            if options.transform is not None:
                coding = with_transforms(coding, options.transform, names, list(refused))
            labels, coding = (names, coding) if self.recipe is None else self.recipe(names, coding)
            sums, wrong = self.sums(names, coding)
            if not wrong:
                break
            odd = [column.name for column in wrong]
        if sums.seen.n_rows == len(names) == coding.n_columns:
            _refuse_symmetric(names, sums.seen.first)
        n_rows = sums.seen.n_rows
        surveyed = survey(
            labels,
            sums,
            coding,
            notes=self.reader.notes,
            refused=tuple(refused.values()),
            missing=options.missing,
        )
        return surveyed if options.weights is None else _weighed(surveyed, n_rows)

    def parts(self, names: Sequence[str]) -> Iterable[Rows]:
        """Some columns of all rows, batch by batch."""
        places = [self.chosen[self.names.index(name)] for name in names]
        batches = self.reader.batches(places, max(WHOLE_ROWS // len(places), 256))
        return (self._prepared(batch.load()) for batch in batches)

    def sums(
        self, names: tuple[str, ...], coding: Coding
    ) -> tuple[PartialSums, tuple[RefusedColumn, ...]]:
        """The sums over all rows, or columns that are not numbers after all."""
        options, width, given = self.options, coding.n_columns, None
        # The sums over a small table in memory take less time than threads to start.
        small = self.reader.n_rows * width * max(width, 128) < SMALL_WORK
        plan = Plan.of(width, options.memory_limit, 1 if small else count_workers(options.n_jobs))
        if options.weights is not None and self.weight is None:
            given = check_weights(_vector(options.weights))
        taken = self.types.refused
        places = [k for k, n in zip(self.chosen, self.names, strict=True) if n not in taken]
        places += [k for k in (self.weight, self.group) if k is not None]
        load = partial(self._columns, names, coding)
        batches = self.reader.batches(places, plan.n_rows)
        summation = Summation(coding, plan, given, options.progress)
        sums = summation.run(Batch(partial(load, b), b.fraction) for b in batches)
        self.groups = summation.groups
        return sums, summation.refused

    def _columns(self, names: tuple[str, ...], coding: Coding, batch: Batch) -> Rows:
        """The columns of a batch; the last that was read may be groups, the one before weights."""
        rows, groups = batch.load(), None
        if self.group is not None:
            name = str(self.reader.names[self.group])
            places = [*names, *[""] * (self.weight is not None), name]
            groups = self._named(rows.labels(places, name))
            refused = tuple(column for column in rows.refused if column.name != name)
            rows = replace(rows, values=rows.values[:, :-1], refused=refused)
        if self.weight is not None:
            rows = with_weights(rows, str(self.reader.names[self.weight]))
        rows = self._prepared(rows)
        if self.types.variables:
            rows = rows.encoded(names, self.types.variables)
        if rows.refused:
            return rows
        values = transformed(names, rows.values, coding)
        # Rows that look back at others wait until these have come.
        values = values if coding.rows_before else coding.columns(values)
        return replace(rows, values=values, groups=groups)

    def _named(self, words: Words | None) -> Words | None:
        """The groups of rows, with a name for those in which the column is empty."""
        if words is None or self.unnamed is None:
            return words
        blank = [k for k, level in enumerate(words.levels) if not level.strip()]
        empty = (words.codes < 0) | np.isin(words.codes, blank)
        codes = np.where(empty, len(words.levels), words.codes)
        return replace(words, codes=codes, levels=(*words.levels, self.unnamed))

    def labels(self) -> npt.NDArray[np.str_]:
        """The value of the `group` column in each row, as text."""
        assert self.group is not None
        name = str(self.reader.names[self.group])
        found = [
            self._named(batch.load().labels([name], name))
            for batch in self.reader.batches([self.group], WHOLE_ROWS)
        ]
        return np.concatenate(
            [np.array([*own.levels, ""])[own.codes] for own in found if own is not None]
        )

    def table(self) -> Table:
        """All rows in memory."""
        check_width(len(self.names))
        parts = [
            self._prepared(batch.load()) for batch in self.reader.batches(self.chosen, WHOLE_ROWS)
        ]
        odd = {column.name: column for part in reversed(parts) for column in part.refused}
        self.types.find([*self.types.needed, *odd], parts, self.names)
        refused = self.types.refused
        parts = [part.encoded(self.names, self.types.variables) for part in parts]
        values = [part.values for part in parts] or [np.empty((0, len(self.names)))]
        whole = values[0] if len(values) == 1 else np.concatenate(values)
        good = [k for k, name in enumerate(self.names) if name not in refused]
        names = tuple(self.names[k] for k in good)
        if len(whole) == len(names):
            _refuse_symmetric(names, whole)
        whole = whole[:, good] if refused else whole
        coding = Coding(tuple(self.types.variables.get(name, NUMBERS) for name in names))
        if self.options.transform is not None:
            coding = with_transforms(coding, self.options.transform, names, list(refused))
        whole, notes = transformed(names, whole, coding), self.reader.notes
        own = None if self.options.cluster is None else cluster_numbers(self)
        return Table(names, whole, tuple(refused.values()), coding, notes=notes, clusters=own)

    def columns(self, coding: Coding) -> FloatArray:
        """The columns of all rows, under a coding that is known."""
        variables = dict(zip(self.names, coding.variables, strict=True))
        batches = self.reader.batches(self.chosen, WHOLE_ROWS)
        parts = [self._prepared(b.load()).encoded(self.names, variables) for b in batches]
        refused = {column.name: column for part in reversed(parts) for column in part.refused}
        if refused:
            left = [name for name in self.names if name not in refused]
            Audit(tuple(inspect_types(left, tuple(refused.values())))).raise_errors()
        return coding.columns(np.concatenate([part.values for part in parts]))

    def _prepared(self, rows: Rows) -> Rows:
        """Rows with marks of missing values as such."""
        if self.nulls:
            values = np.where(np.isin(rows.values, self.nulls), np.nan, rows.values)
            rows = replace(rows, values=values)
        marks = tuple(self.options.null_values)
        if marks and rows.refused:
            words = ((c, c.words and c.words.without(marks)) for c in rows.refused)
            rows = replace(rows, refused=tuple(replace(c, words=own) for c, own in words))
        return rows


def with_weights(rows: Rows, name: str) -> Rows:
    """Rows whose last column is that of the weights."""
    for column in rows.refused:
        if column.name == name:
            raise ArgumentError(f"the weights in {name!r} are {column.reason}")
    weights = check_weights(rows.values[:, -1], f"column {name!r}")
    return replace(rows, values=rows.values[:, :-1], weights=weights)


def survey(
    names: tuple[str, ...],
    sums: PartialSums,
    coding: Coding,
    *,
    notes: Sequence[Finding] = (),
    refused: Sequence[RefusedColumn] = (),
    missing: Missing = "raise",
    shrunk: bool = False,
    look: bool = True,
) -> Moments | Audit:
    """Inspect what was seen of the rows and summed up over them, as far as its errors allow.

    The memory of the sums is used for the moments. Where the covariance will be `shrunk`,
    singularity is a warning, not an error; with `look`, rows are looked at.
    """
    seen, total = sums.close().seen, sums.total
    weight = 0.0 if total is None else total.weight
    view = View.of(names, seen, coding, refused) if look else None
    kinds: Mapping[str, Kind] = {} if view is None else view.kinds
    findings = [*notes, *(inspect_types(names, refused) if refused or len(names) < 2 else ())]
    if seen.n_incomplete and missing != "raise":
        findings.append(_missing_counts(names, seen, coding).dropped())
    elif seen.n_incomplete:
        # What the finite values show of each column by itself is worth knowing all the same.
        findings.append(_missing_counts(names, seen, coding).refused())
        findings += inspect_spread(names, *coding.bounds(seen.lowest, seen.highest))
        findings += inspect_rows(view) if view else ()
        return Audit(tuple(findings), kinds)
    if len(names) < 2 or weight < MIN_SAMPLES or total is None:
        findings += inspect_size(weight, seen.n_incomplete)
        return Audit(tuple(findings), kinds)
    low, high = coding.bounds(seen.low, seen.high)
    findings += inspect_spread(names, low, high)
    varying = np.flatnonzero(low < high)
    if len(varying) < 2:
        if weight < SMALL_SAMPLE:
            findings.append(small_sample(names, weight, [], "warning"))
        return Audit(tuple(findings), kinds)
    columns, coding = coding.observed(seen.low, seen.high, total.means)
    if len(varying) < len(names):
        names, coding = tuple(names[k] for k in varying), coding.select(varying.tolist())
    moments = sums.moments(names, coding, columns, overwrite=True)
    findings += inspect_matrix(moments, shrunk=shrunk)
    if view is not None:
        # A column that is no number hides nothing of the others.
        wrong = any(f.severity == "error" and f.code != "non-numeric" for f in findings)
        findings += inspect_levels(moments) if coding.has_blocks and not wrong else ()
        findings += inspect_rows(view, None if wrong else moments.correlation, coding)
    if any(finding.severity == "error" for finding in findings):
        return Audit(tuple(findings), kinds)
    return replace(moments, found=Audit(tuple(findings), kinds))


def _weighed(found: Moments | Audit, n_rows: int) -> Moments | Audit:
    """With a warning where weights make many rows of few, and measurements are hardly copies."""
    if isinstance(found, Audit) or found.found is None or found.n_samples <= 3 * n_rows:
        return found
    if "continuous" not in found.found.types.values():
        return found
    total = f"{found.n_samples:.6g}"
    heavy = Finding(
        "weights",
        "warning",
        (),
        f"weights sum up to {total} for {n_rows} rows, so that chance in {n_rows} rows counts as "
        f"if it were seen in {total}. If a row does not stand for that many independent ones with "
        "the same measurements, divide the weights by their mean",
    )
    return replace(found, found=found.found.beside(after=[heavy]))


def _missing_counts(names: tuple[str, ...], seen: Seen, coding: Coding) -> MissingCounts:
    """What is missing of each variable."""
    absent, infinite = seen.absent[coding.starts], seen.infinite[coding.starts]
    return MissingCounts(names, absent, infinite, seen.n_incomplete, seen.n_rows)


def estimate_table(
    table: Table,
    covariance_estimator: str | Any = "plain",
    missing: Missing = "raise",
    *,
    look: bool = True,
) -> Moments | Audit:
    """Audited moments of a table in memory, under an estimator.

    The first rows are looked at, as is right unless they were looked at before.
    """
    name, names, coding = estimator_name(covariance_estimator), table.names, table.coding
    if len(names) < 2:
        return Audit((*table.notes, *inspect_types(names, table.refused)))
    columns = table.columns()
    sums = sums_in_memory(coding, columns)
    seen = sums.seen
    if missing == "em" and seen.n_incomplete:
        return with_effective_size(_estimate_incomplete(table, sums, look), table)
    found = survey(
        names,
        sums,
        coding,
        notes=table.notes,
        refused=table.refused,
        missing=missing,
        shrunk=name != "plain",
        look=look,
    )
    if isinstance(found, Audit) or name == "plain":
        return with_effective_size(found, table)
    values, audit, notes = table.values, found.audit(), list[Finding]()
    if seen.n_incomplete:
        values = values[np.isfinite(values).all(axis=1)]
    values = found.coding.recoded(values, coding)
    if name == LATENT:
        kinds = View.of(names, seen, coding, table.refused).kinds
        found, note = latent_correlations(found, values, kinds)
        audit, notes = audit.without(SETTLED_BY_LATENT), [note]
    else:
        found = regularized(values, found, covariance_estimator)
    # The size of the sample was judged above; what remains is the matrix, whatever its origin.
    matrix = replace(found.as_columns(), n_samples=math.inf)
    audit = audit.beside(after=[*notes, *inspect_matrix(matrix, given=True)])
    found = audit if audit.errors else replace(found, found=audit)
    return with_effective_size(found, table)


def _estimate_incomplete(table: Table, sums: PartialSums, look: bool) -> Moments | Audit:
    """Moments by EM."""
    names, coding, seen = table.names, table.coding, sums.seen
    view = View.of(names, seen, coding, table.refused)
    columns = table.columns()
    shares = np.nansum(columns, axis=0) / np.maximum((~np.isnan(columns)).sum(axis=0), 1)
    _, coding = coding.observed(seen.lowest, seen.highest, shares)
    values = coding.recoded(table.values, table.coding)
    found, moments = estimate_incomplete(names, coding, values)
    findings = [*table.notes, *inspect_types(names, table.refused), *found]
    if look:
        correlation = None if moments is None else moments.correlation
        findings += inspect_rows(view, correlation, coding)
    audit = Audit(tuple(findings), view.kinds)
    return audit if moments is None or audit.errors else replace(moments, found=audit)


def _refuse_symmetric(names: Sequence[str], rows: FloatArray) -> None:
    """Refuse a covariance matrix that is given as data; the rows may be the first of as many."""
    n = len(names)
    corner = rows[:, : len(rows)]
    if n > 2 and rows.shape[1] == n and len(corner) >= min(n, kept_rows(n)):
        if not np.array_equal(corner, corner.T):
            return
        raise FileFormatError(
            f"the table of {list_names(names)} is square and symmetric, like a covariance "
            "matrix and unlike data; it is read as one by read_moments, Moments.from_covariance "
            "and from_covariance_file if the number of samples behind it is given",
            cures=[HOW_MANY],
        )


def _vector(weights: Any) -> FloatArray:
    try:
        vector = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("weights are no numbers; wanted one weight per row") from error
    if vector.ndim != 1:
        raise ArgumentError(f"weights has {vector.ndim} dimensions; wanted one weight per row")
    return vector


def new_rows(names: tuple[str, ...], data: Any, missing: RowPolicy, coding: Coding) -> FloatArray:
    """Rows to be added to moments that are known: columns by name, those of an array by place."""
    options = ReadOptions(columns=names, missing=missing)
    if not (is_path(data) or is_frame(data)):
        table = table_of(data)
        width = len(table.names) + len(table.refused)
        if width != len(names):
            raise ShapeError(f"the new rows have {width} columns; wanted {len(names)}, as before")
        options = ReadOptions(names=names, missing=missing)
    return TableReading(open_source(data, options), options).columns(coding)


FAN_IN = 8
"""How many sums are merged at a time."""


class _Total(NamedTuple):
    """Sums over rows, and the columns that are not numbers."""

    sums: PartialSums
    refused: tuple[RefusedColumn, ...]


@dataclass
class _Partitions:
    """Partitions as delayed objects, none of them computed, and the names of all columns."""

    names: Sequence[str]
    parts: list[Any]
    notes: tuple[Finding, ...] = ()
    n_rows: float = math.inf

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        raise NotImplementedError("partitions stay where they are")


class DaskReading(TableReading):
    """A reading of a Dask collection, whose rows stay where its partitions are.

    Nothing but the sums, n × n numbers for each partition, leaves the worker that holds the rows.
    The tree in which they are merged depends on the number of partitions alone, so that the result
    is the same on any cluster.
    """

    def __init__(self, source: Any, options: ReadOptions) -> None:
        _check_options(options)
        if hasattr(source, "columns"):
            own = [str(name) for name in source.columns]
            parts = list(source.to_delayed())
        elif getattr(source, "ndim", None) == 2:
            own = list(default_names(source.shape[1]))
            parts = list(source.rechunk({1: -1}).to_delayed().ravel())
        else:
            raise ShapeError(
                f"the data are a Dask {type(source).__name__} of {getattr(source, 'ndim', '?')} "
                "dimensions; wanted a data frame, or an array of two: samples and variables"
            )
        labels = own if options.names is None else [str(name) for name in options.names]
        check_count(labels, len(own))
        self._dask = optional_module("dask", "Dask collections need", "dask[distributed]")
        self._parts = parts
        super().__init__(_Partitions(labels, parts), options)

    def parts(self, names: Sequence[str]) -> Iterable[Rows]:
        """The columns of each partition whose levels are to be found."""
        places = [self.chosen[self.names.index(name)] for name in names]
        load = self._dask.delayed(_rows, pure=True)
        labels = self.reader.names
        return list(self._dask.compute(*(load(part, labels, places) for part in self._parts)))

    def sums(
        self, names: tuple[str, ...], coding: Coding
    ) -> tuple[PartialSums, tuple[RefusedColumn, ...]]:
        """The sums over all partitions, each computed where it is."""
        labels, delayed = self.reader.names, self._dask.delayed
        wanted = [self.chosen[self.names.index(name)] for name in names]
        how = (names, coding, self.types.variables, self.weight)
        sums = [
            delayed(_sums, pure=True)(part, labels, wanted, how, first=k == 0)
            for k, part in enumerate(self._parts)
        ]
        while len(sums) > 1:
            groups = [sums[start : start + FAN_IN] for start in range(0, len(sums), FAN_IN)]
            sums = [delayed(_merged, pure=True)(group) for group in groups]
        [total] = self._dask.compute(*sums)
        return total.sums, total.refused


def _check_options(options: ReadOptions) -> None:
    """Refuse what takes all rows at once, or cannot be told to the workers."""
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
    if options.transform is not None or options.null_values:
        raise ArgumentError(
            "Dask collections are not transformed or searched for marks of missing values here; "
            "do so with Dask"
        )
    if not isinstance(options.weights, str | int | None):
        raise ArgumentError("weights of a Dask collection must be the name of one of its columns")


def _rows(part: Any, names: Sequence[str], places: Sequence[int]) -> Rows:
    return open_memory(part, names).rows(places)


def _sums(
    part: Any,
    names: Sequence[str],
    wanted: list[int],
    how: tuple[tuple[str, ...], Coding, dict[str, Variable], int | None],
    first: bool,
) -> _Total:
    """The sums over one partition; those of the first keep rows."""
    labels, coding, variables, weight = how
    rows = _rows(part, names, wanted if weight is None else [*wanted, weight])
    if weight is not None:
        rows = with_weights(rows, names[weight])
    rows = rows.encoded(labels, variables)
    with one_blas_thread():
        sums = PartialSums(coding.n_columns, keep=first)
        sums.add(coding.columns(rows.values), rows.weights).close()
    return _Total(sums, rows.refused)


def _merged(parts: list[_Total]) -> _Total:
    """The sums over several partitions, which are left as they are."""
    total = PartialSums(parts[0].sums.n_columns)
    for part in parts:
        total.merge(part.sums)
    return _Total(total, next((part.refused for part in parts if part.refused), ()))
