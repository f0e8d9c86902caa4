"""The curve of an edge: how an effect depends on one cause, the others held fixed.

In the additive model x_v = Σ_u f_u(x_u) + noise the curve is f_u, centred over the rows. It is
drawn by a regression on more columns than the search had: what too few columns leave out is no
noise, and a band that does not know of it is too narrow. Standard errors are those of a regression
whose noise may have a spread that depends on the causes (HC3, MacKinnon and White 1985).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaincc, ndtri

from qwo.columns.curves import SmoothBasis, curve_of
from qwo.columns.recipes import Coding, is_curvable
from qwo.compute import one_blas_thread
from qwo.moments.curves import RowSample
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd


def drawn_columns(n_rows: int) -> int:
    """Columns of each cause where its curve is drawn: the more rows, the less may be left out."""
    return int(2 * n_rows**0.28 + 0.5)


ROWS_A_COLUMN = 15
"""There are no more columns than this number of rows for each of them."""

POINTS, OUTER = 101, 0.01
"""Places at which a curve is drawn, at quantiles between this one and its counterpart."""


@dataclass(frozen=True, slots=True, eq=False)
class PartialEffect:
    """A curve at some values of the cause, from its 1 % to its 99 % quantile, and its band.

    Attributes
    ----------
    cause, effect : str
        The variables.
    x : ndarray
        Values of the cause.
    y : ndarray
        What the effect has more there than on the average over the rows, in its own units.
    low, high : ndarray
        The pointwise band at the level that was asked for.
    levels : tuple of str
        Of a category, one for each point, at 0, 1, …; empty for numbers.
    """

    cause: str
    effect: str
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    levels: tuple[str, ...] = ()

    def records(self) -> list[tuple[Any, ...]]:
        """One row for each point."""
        parts = (own.tolist() for own in (self.y, self.low, self.high))
        return list(zip(self.levels or self.x.tolist(), *parts, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """The curve as a data frame: x, y, low, high."""
        return records_frame(("x", "y", "low", "high"), self.records())

    def pieces(self) -> list[FloatArray]:
        """x, y, low, high of what is drawn: a line, or a short one for each level of a category."""
        whole = np.stack([self.x, self.y, self.low, self.high])
        if not self.levels:
            return [whole]
        wide = np.array([[-0.3, 0.3], *3 * [[0.0, 0.0]]])
        return [own[:, None] + wide for own in whole.T]


@one_blas_thread()
def partial_effect(
    sample: RowSample,
    coding: Coding,
    names: tuple[str, ...],
    dag: Adjacency,
    edge: tuple[int, int],
    *,
    level: float = 0.95,
    columns: int | None = None,
) -> PartialEffect:
    """The curve of an edge of a DAG, at quantiles of the cause."""
    cause, effect = edge
    equation = fit_equation(sample, coding, dag, effect, columns)
    x, kind = sample.columns[:, coding.starts[cause]], coding.variables[cause]
    levels = kind.levels if kind.level is None else ()
    grid = np.quantile(x, np.linspace(OUTER, 1 - OUTER, POINTS))
    if levels:
        grid = np.arange(float(len(levels)))
    elif len(np.unique(x)) <= POINTS:
        grid = np.unique(x)
    own = equation.places[cause]
    # The first level of a category is the reference.
    several = coding.sizes[cause] > 1
    drawn = np.eye(len(levels))[:, 1:] if several else equation.columns_of(cause, grid)
    away = drawn - equation.centre[own]
    values = away @ equation.slopes[own]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", away, equation.covariance[own, own], away))
    reach = float(ndtri(0.5 + level / 2)) * errors
    ends = values, values - reach, values + reach
    return PartialEffect(names[cause], names[effect], grid, *ends, levels)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveEquation:
    """x_v = a + Σ_u f_u(x_u) + noise, each f_u a combination of columns, and its fit.

    places: where the columns of each parent stand; curves: their functions, None for a line or the
    indicators of a category; covariance: HC3, of the slopes; left: residual variance.
    """

    target: int
    places: dict[int, slice]
    curves: dict[int, SmoothBasis | None]
    centre: FloatArray
    slopes: FloatArray
    covariance: FloatArray
    left: float
    variance: float

    def columns_of(self, parent: int, values: FloatArray) -> FloatArray:
        """The columns of a parent that is a number, for some values of it."""
        curve = self.curves[parent]
        return values[:, None] if curve is None else curve.columns(values)

    @one_blas_thread()
    def p_value(self, places: slice) -> float:
        """Wald's test that the slopes of some columns are all 0."""
        own = self.slopes[places]
        if not len(own):
            return math.nan
        inverse = np.linalg.pinv(self.covariance[places, places], rcond=1e-10, hermitian=True)
        return float(gammaincc(len(own) / 2, float(own @ inverse @ own) / 2))


@one_blas_thread()
def fit_equation(
    sample: RowSample, coding: Coding, dag: Adjacency, target: int, columns: int | None = None
) -> AdditiveEquation:
    """The additive equation of a variable, by a regression on more columns than a search has."""
    parents = np.flatnonzero(dag[:, target]).tolist()
    weights = np.ones(len(sample.columns)) if sample.weights is None else sample.weights
    y = sample.columns[:, coding.starts[target]]
    y = y - np.average(y, weights=weights)
    variance = float(np.average(y**2, weights=weights))
    affordable = max(2, len(y) // (ROWS_A_COLUMN * max(len(parents), 1)))
    wanted = min(columns or drawn_columns(len(y)), affordable)
    parts, places, curves, at = [np.empty((len(y), 0))], {}, {}, 0
    for p in parents:
        start, size = int(coding.starts[p]), int(coding.sizes[p])
        part, curve = sample.columns[:, start : start + size], None
        if is_curvable(coding.variables[p]):
            curve = curve_of(part[:, 0], wanted, sample.weights, OUTER / 2)
            part = part if curve is None else curve.columns(part[:, 0])
        places[p], curves[p] = slice(at, at + part.shape[1]), curve
        parts.append(part)
        at += part.shape[1]
    design = np.concatenate(parts, axis=1)
    centre = np.average(design, axis=0, weights=weights)
    slopes, spread = _robust_fit(design - centre, y, weights)
    left = float(np.average((y - (design - centre) @ slopes) ** 2, weights=weights))
    return AdditiveEquation(target, places, curves, centre, slopes, spread, left, variance)


def _robust_fit(
    design: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of a weighted regression through the origin, and their HC3 covariance."""
    scales = np.sqrt(np.average(design**2, axis=0, weights=weights))
    design = design / np.where(scales > 0, scales, 1.0)
    inverse = np.linalg.pinv((design * weights[:, None]).T @ design, rcond=1e-10, hermitian=True)
    slopes = inverse @ (design.T @ (weights * y))
    leverage = weights * np.einsum("ij,jk,ik->i", design, inverse, design)
    left = (y - design @ slopes) / np.maximum(1 - leverage, 0.1)
    meat = (design * (weights * left**2)[:, None]).T @ design
    unit = np.where(scales > 0, scales, 1.0)
    return slopes / unit, inverse @ meat @ inverse / np.outer(unit, unit)
