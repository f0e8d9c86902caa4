"""Audited moments of a source: one road from rows to a correlation matrix.

A reader gives batches of rows, these are summed up, the sums are audited and become moments. Only
what needs all rows at once (EM, other covariance estimators, ranks) has them gathered in memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Unpack

import numpy as np

from qwo.arguments import ReadArguments
from qwo.errors import HOW_MANY, ArgumentError, FileFormatError, ShapeError, list_names
from qwo.moments.arrays import Batch, Rows, Table, is_frame, is_number, table_of
from qwo.moments.audit import Estimate, MissingCounts, column_types, inspect_types, survey
from qwo.moments.columns import (
    apply_transforms,
    chosen_columns,
    chosen_transforms,
    column_names,
    select_columns,
)
from qwo.moments.covariance import LATENT, Sample, regularized, sample_from_covariance
from qwo.moments.distributed import estimate_dask, is_dask, with_weights
from qwo.moments.em import survey_incomplete
from qwo.moments.encoding import ColumnTypes, encoded, recoded
from qwo.moments.findings import Audit, Finding
from qwo.moments.first_rows import inspect_rows
from qwo.moments.kinds import Coding, check_types
from qwo.moments.latent import SETTLED_BY_LATENT, latent_sample
from qwo.moments.matrix_audit import inspect_correlation
from qwo.moments.matrix_files import read_matrix
from qwo.moments.partial import PartialSums, Seen, check_weights, kept_rows
from qwo.moments.plan import Plan, check_width
from qwo.moments.source import Format, InMemory, Reader, RowPolicy, csv_format, is_path, open_source
from qwo.moments.summation import Summation
from qwo.moments.text_files import CsvFiles
from qwo.options import Missing, ReadOptions, estimator_name
from qwo.parallel import count_workers
from qwo.types import FloatArray

WHOLE_ROWS = 1 << 16
"""Rows that are read at a time where all of them are kept."""


def estimate(source: Any, options: ReadOptions, kind: Format | None = None) -> Estimate:
    """Audited moments of a table, in memory or not; errors stand in the audit.

    Raises
    ------
    InputError
        If there is no table to look at: no such file, lines of unequal length, no such columns.
    """
    if is_dask(source):
        return estimate_dask(source, options)
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
        names = reader.names
        self.chosen, self.weight = chosen_columns(names, options)
        curable = isinstance(reader, CsvFiles)
        self.names = column_names((names[k] for k in self.chosen), cured=curable)
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
        summation = Summation(width, plan.workers, plan.threads, given, options.progress)
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
    threads = 1 if _is_small(n_rows, n) else count_workers(-1)
    summation = Summation(n, threads, threads)
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
    if found.sample is None or found.audit.errors:
        return dataclasses.replace(found, sample=None)
    if name == "plain":
        return found
    return _estimated_anew(table, sums.seen, found, covariance_estimator)


def _estimated_anew(
    table: Table, seen: Seen, found: Estimate, covariance_estimator: str | Any
) -> Estimate:
    """The moments that another estimator finds in the rows whose plain ones are known."""
    name = estimator_name(covariance_estimator)
    assert found.sample is not None
    values = table.values
    if seen.n_incomplete:
        values = values[np.isfinite(values).all(axis=1)]
    if found.coding is not None:
        values = recoded(values, table.coding, found.coding)
    audit, notes = found.audit, list[Finding]()
    if name == LATENT:
        kinds = column_types(table.names, seen, table.refused, table.coding)
        sample, note = latent_sample(table.names, values, found.sample, found.coding, kinds)
        audit, notes = audit.without(SETTLED_BY_LATENT), [note]
    else:
        sample = regularized(values, found.sample, covariance_estimator)
    # The size of the sample was judged above; what remains is the matrix, whatever its origin.
    matrix = dataclasses.replace(sample, n_samples=math.inf)
    labels = table.names if found.coding is None else found.coding.labels(table.names)
    after = (*notes, *inspect_correlation(labels, matrix, given=True))
    audit = dataclasses.replace(audit, findings=(*audit.findings, *after))
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
        read = read_matrix(
            source, csv_format(options), columns=columns, drop=drop, n_samples=n_samples
        )
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


def _vector(weights: Any) -> FloatArray:
    try:
        vector = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("weights are no numbers; wanted one weight per row") from error
    if vector.ndim != 1:
        raise ArgumentError(f"weights has {vector.ndim} dimensions; wanted one weight per row")
    return vector


def new_rows(
    names: tuple[str, ...], data: Any, missing: RowPolicy, coding: Coding | None = None
) -> Rows:
    """Rows to be added to moments that are known: columns by name, those of an array by place."""
    options = ReadOptions(columns=names, missing=missing)
    if not (is_path(data) or is_frame(data)):
        table = table_of(data)
        width = len(table.names) + len(table.refused)
        if width != len(names):
            raise ShapeError(f"the new rows have {width} columns; wanted {len(names)}, as before")
        options = ReadOptions(names=names, missing=missing)
    reading = _Reading(open_source(data, options), options)
    return Rows(reading.columns(coding))
