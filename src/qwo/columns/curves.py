"""Functions of a variable that follow it as further columns: smooth ones first.

A variable x owns the columns x, f₂(x), f₃(x) … The functions are natural cubic splines with knots
at quantiles: cubic between the knots, linear beyond them. Of all such splines f₂ is the one of
least roughness ∫f″² with mean 0 and variance 1 that is uncorrelated with x, f₃ the next that is
uncorrelated with both, and so on (the basis of Demmler and Reinsch, 1975). So the first k columns
are the best k to begin with, and a basis of k columns is the beginning of one with more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qwo.types import FloatArray

MOST_COLUMNS = 6
"""Columns of a variable, at most, where their number is chosen."""

KNOTS, OUTER = 9, 0.03
"""Knots of the splines, at quantiles from 3 % to 97 %: three more than columns."""

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
