"""Functions of a variable that follow it as further columns: smooth ones first.

A variable x owns the columns x, f₂(x), f₃(x) … The functions are natural cubic splines with knots
at quantiles: cubic between the knots, linear beyond them. Of all such splines f₂ is the one of
least roughness ∫f″² with mean 0 and variance 1 that is uncorrelated with x, f₃ the next that is
uncorrelated with both, and so on (the basis of Demmler and Reinsch, 1975). So the first k columns
are the best k to begin with, and a basis of k columns is the beginning of one with more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qwo.moments.columns import Coding, Variable
from qwo.moments.moments import Moments
from qwo.types import FloatArray, Indices

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
        functions = (natural_splines(z, knots) - means) @ matrix
        return np.concatenate([np.asarray(values)[:, None], functions], axis=1)

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
    cubes = np.maximum(z[:, None] - knots, 0.0)
    cubes = cubes * cubes * cubes  # a power takes several times as long
    parts = (cubes[:, :last] - cubes[:, last:]) / (knots[last] - knots[:last])
    return np.concatenate([z[:, None], parts[:, :-1] - parts[:, -1:]], axis=1)


def roughness(knots: FloatArray) -> FloatArray:
    """∫ f″ g″ of the natural splines of some knots: their second derivatives are linear between."""
    last = len(knots) - 1
    lines = 6.0 * np.maximum(knots[:, None] - knots, 0.0)
    parts = (lines[:, :last] - lines[:, last:]) / (knots[last] - knots[:last])
    second = np.concatenate([np.zeros((len(knots), 1)), parts[:, :-1] - parts[:, -1:]], axis=1)
    gaps = np.diff(knots)
    mass = np.zeros((len(knots),) * 2)
    for k, gap in enumerate(gaps):
        mass[k : k + 2, k : k + 2] += gap / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
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
    different = np.unique(values)
    size = min(size, len(different) - 1)
    if size < 2:
        return None
    centre, unit = float(np.mean(values)), float(np.std(values))
    z = (values - centre) / unit
    count = min(max(KNOTS, size + 3), len(different))
    at = np.quantile(z, np.linspace(outer, 1 - outer, count))
    if len(different) <= count or (np.diff(at) < 1e-6).any():
        # Ties: knots at quantiles of the different values.
        at = np.quantile((different - centre) / unit, np.linspace(0, 1, count))
    basis = natural_splines(z, at)
    means = np.average(basis, axis=0, weights=weights)
    centred = basis - means
    share = np.full(len(z), 1 / len(z)) if weights is None else weights / weights.sum()
    covariance = (centred * share[:, None]).T @ centred
    functions = _smooth_first(covariance, roughness(at))[:, : size - 1]
    if not functions.shape[1]:
        return None
    matrix = tuple(map(tuple, functions.tolist()))
    return SmoothBasis(centre, unit, tuple(at.tolist()), tuple(means.tolist()), matrix)


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
    """Whether functions of a variable mean something: it is numbers, and searched."""
    return not variable.levels and variable.level is None and variable.role == "searched"


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
    first = np.isin(np.arange(coding.n_columns), coding.starts)
    curved = np.repeat([v.curve is not None for v in variables], coding.sizes)
    kept = first | ~curved
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
