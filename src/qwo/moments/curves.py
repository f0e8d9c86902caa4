"""Functions of a variable that follow it as further columns: smooth ones first.

A variable x owns the columns x, f₂(x), f₃(x) … The functions are natural cubic splines with knots
at quantiles: cubic between the knots, linear beyond them. Of all such splines f₂ is the one of
least roughness ∫f″² with mean 0 and variance 1 that is uncorrelated with x, f₃ the next that is
uncorrelated with both, and so on (the basis of Demmler and Reinsch, 1975). So the first k columns
are the best k to begin with, and a basis of k columns is the beginning of one with more.

Whoever bends lines looks at rows, too: `RowSource` reads them again, and draws a sample of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, Cure
from qwo.moments.columns import Coding, Variable
from qwo.moments.levels import Rows
from qwo.moments.moments import Moments
from qwo.moments.readers import open_source
from qwo.moments.reading import TableReading, is_dask, is_matrix_file
from qwo.moments.sums import check_weights, sums_in_memory
from qwo.moments.tables import Table
from qwo.options import ReadOptions
from qwo.types import FloatArray, Indices, Mask

MOST_COLUMNS = 6
"""Columns of a variable, at most, where their number is chosen."""

KNOTS = 9
"""Knots of the splines, at quantiles from 3 % to 97 %: three more than columns."""

OUTER = 0.03

DETERMINED = 1e-11
"""Share of its variance below which a function is taken to be determined by others."""


@dataclass(frozen=True)
class SmoothBasis:
    """x, and functions of it: centred natural splines of (x - centre) / unit, times a matrix."""

    centre: float
    unit: float
    knots: tuple[float, ...]
    means: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]

    @property
    def size(self) -> int:
        """How many columns there are: x itself and the functions."""
        return 1 + len(self.matrix[0])

    @cached_property
    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return np.array(self.knots), np.array(self.means), np.array(self.matrix)

    def columns(self, values: FloatArray) -> FloatArray:
        """The variable and its functions for some values; NaN where these are missing."""
        knots, means, matrix = self._arrays
        z = (values - self.centre) / self.unit
        found = np.empty((len(z), self.size), order="F")
        found[:, 0] = values
        found[:, 1:] = (matrix.T @ natural_splines(z, knots).T - (means @ matrix)[:, None]).T
        return found

    def leading(self, size: int) -> SmoothBasis | None:
        """The same with fewer columns; None if x alone is left."""
        if size < 2:
            return None
        return replace(self, matrix=tuple(row[: size - 1] for row in self.matrix))

    def turned(self, matrix: FloatArray, offset: FloatArray) -> SmoothBasis:
        """With the functions f(x) @ A + b x in the place of f(x), b in units of the variable."""
        own = self._arrays[2] @ matrix
        own[0] += offset * self.unit  # the first of the splines is (x - centre) / unit itself
        return replace(self, matrix=tuple(map(tuple, own.tolist())))


def natural_splines(z: FloatArray, knots: FloatArray) -> FloatArray:
    """The line z and the natural cubic splines of some knots, of which there is one more."""
    last = len(knots) - 1
    cubes = np.maximum(z - knots[:, None], 0.0)
    cubes = cubes * cubes * cubes  # a power takes several times as long
    parts = (cubes[:last] - cubes[last]) / (knots[last] - knots[:last])[:, None]
    return np.concatenate([z[None], parts[:-1] - parts[-1]]).T


def roughness(knots: FloatArray) -> FloatArray:
    """∫ f″ g″ of the natural splines of some knots: their second derivatives are linear between."""
    last = len(knots) - 1
    lines = 6.0 * np.maximum(knots[:, None] - knots, 0.0)
    parts = (lines[:, :last] - lines[:, last:]) / (knots[last] - knots[:last])
    second = np.concatenate([np.zeros((len(knots), 1)), parts[:, :-1] - parts[:, -1:]], axis=1)
    gaps = np.diff(knots)
    beside = np.diag(gaps / 6.0, 1)
    mass = beside + beside.T
    mass += 2.0 * np.diag(mass.sum(axis=0))
    return np.asarray(second.T @ mass @ second)


def curve_of(
    values: FloatArray,
    size: int = MOST_COLUMNS,
    weights: FloatArray | None = None,
    outer: float = OUTER,
) -> SmoothBasis | None:
    """The curve of a variable from a sample of its values; None if there are too few of them.

    With d different values there are at most d - 1 columns, so that a binary variable keeps one.
    """
    ordered = np.sort(values)
    different = ordered[np.concatenate([[True], np.diff(ordered) > 0])]
    size = min(size, len(different) - 1)
    if size < 2:
        return None
    centre, unit = float(np.mean(values)), float(np.std(values))
    z = (values - centre) / unit
    count = min(max(KNOTS, size + 3), len(different))
    at = (_quantiles(ordered, np.linspace(outer, 1 - outer, count)) - centre) / unit
    if len(different) <= count or (np.diff(at) < 1e-6).any():
        # Ties: knots at quantiles of the different values.
        at = (_quantiles(different, np.linspace(0, 1, count)) - centre) / unit
    basis = natural_splines(z, at).T
    share = np.full(len(z), 1 / len(z)) if weights is None else weights / weights.sum()
    means = basis @ share
    centred = basis - means[:, None]
    covariance = (centred * share) @ centred.T
    functions = _smooth_first(covariance, roughness(at))[:, : size - 1]
    # Where few rows are far from all others, no more than rounding may be left of some.
    own = np.concatenate([centred[:1] / np.sqrt(covariance[0, 0]), functions.T @ centred])
    wrong = np.tril(np.abs((own * share) @ own.T - np.eye(len(own)))).max(axis=1) > 0.01
    functions = functions[:, : int(np.argmax([*wrong[1:], True]))]
    if not functions.shape[1]:
        return None
    matrix = tuple(map(tuple, functions.tolist()))
    return SmoothBasis(centre, unit, tuple(at.tolist()), tuple(means.tolist()), matrix)


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """Quantiles of sorted numbers, straight between them."""
    return np.interp(shares * (len(ordered) - 1), np.arange(len(ordered)), ordered)


def _smooth_first(covariance: FloatArray, rough: FloatArray) -> FloatArray:
    """Combinations of functions, the first of which is x: uncorrelated, smooth ones first.

    Each column has variance 1 and no correlation with x or another column.
    """
    scales = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    slopes = covariance[0, 1:] / covariance[0, 0]
    left = covariance[1:, 1:] - np.outer(slopes, slopes) * covariance[0, 0]
    left = left / np.outer(scales[1:], scales[1:])
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    there = values > DETERMINED * max(values[-1], 1e-300)
    roots = vectors[:, there] / np.sqrt(values[there]) / scales[1:, None]
    _, turns = np.linalg.eigh(roots.T @ rough[1:, 1:] @ roots)
    own = roots @ turns
    return np.concatenate([-(slopes @ own)[None], own])


def with_curves(coding: Coding, curves: Sequence[SmoothBasis | None]) -> Coding:
    """Recipes with the functions of each variable, where it has some."""
    pairs = zip(coding.variables, curves, strict=True)
    return Coding(tuple(replace(variable, curve=curve) for variable, curve in pairs))


def is_curvable(variable: Variable) -> bool:
    """Whether functions of a variable mean something: numbers that are searched, or were before."""
    own = variable.role == "searched" or variable.lag > 0
    return not variable.levels and variable.level is None and own


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


def leading_columns(moments: Moments, size: int) -> tuple[Moments, Indices]:
    """The moments with at most so many columns of each curve, and which columns they are."""
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
    own = np.array(kept, dtype=np.intp)
    return replace(
        moments,
        means=moments.means[own],
        scales=moments.scales[own],
        correlation=moments.correlation[np.ix_(own, own)],
        coding=Coding(tuple(variables)),
        found=None,
    ), own


MOST_ROWS = 20_000
"""Rows that are kept: beyond, a density of residuals gains little and costs in proportion."""

FEWEST_ROWS = 50
"""With fewer rows a density tells nothing."""

AT_ONCE = 1 << 14


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
    if isinstance(data, Moments) or is_matrix_file(data) or str(data)[-4:] == ".npz":
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
