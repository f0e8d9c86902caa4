"""Moments of variables with curves, and the rows behind moments, read again.

Whoever bends lines looks at rows, too: `RowSource` reads them again, and draws a sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from qwo.columns.levels import Rows
from qwo.columns.recipes import Coding
from qwo.errors import ArgumentError, Cure
from qwo.moments.moments import Moments
from qwo.moments.readers import open_source
from qwo.moments.reading import ARCHIVE, TableReading, is_dask, is_matrix_file
from qwo.moments.sums import check_weights, sums_in_memory
from qwo.moments.tables import Table
from qwo.options import ReadOptions
from qwo.types import FloatArray, Mask


def orthonormal(moments: Moments) -> Moments:
    """The moments in columns of each variable with unit covariance, x itself staying the first.

    The functions are uncorrelated in the sample of rows that they were made from; here they are in
    all rows.
    """
    coding, scales = moments.coding, moments.scales
    basis, variables = np.eye(coding.n_columns), []
    for variable, start in zip(coding.variables, coding.starts.tolist(), strict=True):
        if variable.curve is None:
            variables.append(variable)
            continue
        own = slice(start, start + variable.size)
        # Columns of the inverse of Cholesky's factor, transposed: each of those up to it.
        factor = np.linalg.inv(np.linalg.cholesky(moments.correlation[own, own])).T
        basis[own, own] = factor
        inside = factor[1:, 1:] / scales[own][1:, None]
        variables.append(
            replace(variable, curve=variable.curve.turned(inside, factor[0, 1:] / scales[start]))
        )
    matrix = basis.T @ moments.correlation @ basis
    matrix = (matrix + matrix.T) / 2
    for variable, start in zip(variables, coding.starts.tolist(), strict=True):
        if variable.curve is not None:
            own = slice(start, start + variable.size)
            matrix[own, own] = np.eye(variable.size)
    kept = np.repeat([v.curve is None for v in variables], coding.sizes)
    kept[coding.starts] = True
    return replace(
        moments,
        correlation=matrix,
        means=np.where(kept, moments.means, 0.0),
        scales=np.where(kept, scales, 1.0),
        coding=Coding(tuple(variables)),
    )


def leading_columns(moments: Moments, size: int) -> Moments:
    """The moments with at most so many columns of each curve."""
    kept: list[int] = []
    variables = []
    starts = moments.coding.starts.tolist()
    for variable, start in zip(moments.coding.variables, starts, strict=True):
        curve, count = variable.curve, variable.size
        if curve is not None:
            count = min(size, count)
            curve = curve.leading(count)
        kept += range(start, start + count)
        variables.append(replace(variable, curve=curve))
    return replace(
        moments,
        means=moments.means[kept],
        scales=moments.scales[kept],
        correlation=moments.correlation[np.ix_(kept, kept)],
        coding=Coding(tuple(variables)),
        found=None,
    )


MOST_ROWS, AT_ONCE = 20_000, 1 << 14
"""Rows that are kept (a density of residuals gains little from more), and those read at a time."""

FEWEST_ROWS = 50
"""With fewer rows a density tells nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """Complete rows as the columns of their coding, what each counts for, and how many there are.

    weights: None where each row counts once. n_rows: complete rows of the data, chosen or not.
    """

    columns: FloatArray
    weights: FloatArray | None
    n_rows: int

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.columns) == self.n_rows

    @property
    def is_enough(self) -> bool:
        """Whether there are enough rows for a density."""
        return len(self.columns) >= FEWEST_ROWS


class RowSource:
    """The rows behind some moments, to be read again: a sample of them, and sums of other columns.

    `what` needs them, in words, for whoever has to be told that there are none.
    """

    def __init__(self, data: Any, options: ReadOptions, moments: Moments, what: str) -> None:
        refuse_rowless(data, options, what)
        self.moments = moments
        self.options = replace(options, columns=list(moments.names), drop=None)
        if isinstance(data, Table) and not data.coding.is_plain:
            self._table: Table | None = data
            self.reading: TableReading | None = None
            return
        reading = self.reading = TableReading(open_source(data, self.options), self.options)
        pairs = zip(moments.names, moments.coding.variables, strict=True)
        reading.types.variables.update((name, own) for name, own in pairs if own.levels)
        self._table = None if self.options.streams else reading.table()

    def sample(self, most: int = MOST_ROWS, seed: int = 0) -> RowSample:
        """At most so many rows, each as likely as any other, whatever the pieces they come in."""
        rng = np.random.default_rng(seed)
        kept: list[tuple[FloatArray, FloatArray, FloatArray | None]] = []
        n_rows, bound = 0, np.inf
        for values, weights in self._rows():
            whole = _complete(values, weights)
            own = whole.sum()
            n_rows += int(own)
            keys = rng.random(len(values))
            chosen = np.flatnonzero(whole & (keys <= bound))
            kept.append(
                (keys[chosen], values[chosen], None if weights is None else weights[chosen])
            )
            if sum(len(part[0]) for part in kept) > 2 * most + AT_ONCE:
                kept = [_smallest(kept, most)]
                bound = float(kept[0][0].max())
        _, columns, weighed = _smallest(kept, most)
        return RowSample(columns, weighed, n_rows)

    def sums(self, coding: Coding) -> Moments:
        """The moments of other columns of all rows."""
        if self.reading is not None and self._table is None:
            sums, _ = self.reading.sums(self.moments.names, coding)
            return sums.moments(self.moments.names, coding)
        assert self._table is not None
        values = self._table.values
        columns = coding.columns(values[np.isfinite(values).all(axis=1)])
        return moments_of(self.moments.names, coding, columns, None)

    def _rows(self) -> Any:
        """The columns of all rows and their weights, piece by piece."""
        coding, names = self.moments.coding, self.moments.names
        if self._table is not None:
            yield coding.recoded(self._table.values, self._table.coding), None
            return
        reading, given = self.reading, self.options.weights
        assert reading is not None
        vector = None
        if given is not None and reading.weight is None:
            vector = check_weights(np.asarray(given, dtype=np.float64))
        places = [*reading.chosen, *([] if reading.weight is None else [reading.weight])]
        first = 0
        for batch in reading.reader.batches(places, AT_ONCE):
            rows: Rows = reading._columns(names, coding, batch)
            weights = rows.weights
            if vector is not None:
                weights = vector[first : first + len(rows.values)]
            first += len(rows.values)
            yield rows.values, weights


def moments_of(
    names: tuple[str, ...], coding: Coding, columns: FloatArray, weights: FloatArray | None
) -> Moments:
    """The moments of rows in memory, which are complete."""
    return sums_in_memory(coding, columns, weights).moments(names, coding, overwrite=True)


def refuse_rowless(data: Any, options: ReadOptions, what: str) -> None:
    """Refuse data without rows, and ways to treat rows after which a residual means nothing."""
    archive = isinstance(data, str | PathLike) and str(data).endswith(ARCHIVE)
    if isinstance(data, Moments) or is_matrix_file(data) or archive:
        raise ArgumentError(
            f"{what} looks at rows, but the data are moments or a covariance matrix; give the "
            "table itself"
        )
    if type(data).__module__.startswith("dask") and is_dask(data):
        raise ArgumentError(
            f"{what} looks at rows, which a Dask collection does not hand out one by one; give the "
            "files it is made of, or data.compute()"
        )
    if options.missing == "em":
        raise ArgumentError(
            f"missing is 'em', but {what} looks at complete rows",
            option="missing",
            cures=[Cure("missing", "drop", "leaves the others out")],
        )
    if options.estimator != "plain":
        raise ArgumentError(
            f"covariance_estimator is {options.estimator!r}, but {what} looks at rows as they are",
            option="covariance_estimator",
            cures=[Cure("covariance_estimator", "plain", "takes them so")],
        )


def _complete(values: FloatArray, weights: FloatArray | None) -> Mask:
    whole = np.isfinite(values).all(axis=1)
    return np.asarray(whole if weights is None else whole & (weights > 0), dtype=np.bool_)


def _smallest(parts: list[Any], most: int) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """The rows with the smallest keys, in their order."""
    keys = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    weights = None if parts[0][2] is None else np.concatenate([part[2] for part in parts])
    if len(keys) > most:
        chosen = np.sort(np.argpartition(keys, most - 1)[:most])
        keys, rows = keys[chosen], rows[chosen]
        weights = None if weights is None else weights[chosen]
    return keys, rows, weights
