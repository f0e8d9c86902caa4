"""How many lags, at which step, and how many rows their dependence leaves.

Too many lags cost almost nothing, too few cost most: a full autoregression pays for n² coefficients
a lag, a sparse one only for the edges that it has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from qwo.moments.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.score import BIC
from qwo.search.control import Control, bic_insertion
from qwo.series.design import (
    curved_lag_moments,
    lag_moments,
    rows_with_lags,
    with_lag_curves,
)
from qwo.series.equations import inverse_of
from qwo.series.reading import SeriesData, lags_tried
from qwo.series.sums import row_numbers, usable_rows
from qwo.types import Adjacency, FloatArray, Indices

SMOOTH = 0.97
"""Mean autocorrelation from one row to the next from which on rows are too close in time."""

GOES_ON = 0.2
"""Correlation of changes with the changes before them, over three rows each, that all columns must
exceed for rows to be too close: the changes of a slow autoregression are new each time, those of a
smooth curve go on. A slow cause makes the changes of its effect go on, but not its own."""

BELOW = 0.5
"""Autocorrelation at the distance that becomes the step."""

LONGEST_STEP, FEWEST_STEPS = 50, 80
"""Rows of a step at most, and steps that must be there: with fewer, single rows tell more."""

PENALTY = 2.0
FUNCTIONS = 3
"""Columns of each variable where lags of curves are chosen."""


@dataclass(frozen=True, slots=True)
class LagChoice:
    """The number of lags, the step between them, and the costs of 0, 1, 2 … lags, if tried."""

    lags: int
    step: int = 1
    costs: tuple[float, ...] = ()


def choose_lags(
    series: SeriesData,
    asked: int | str,
    *,
    within: bool,
    control: Control,
    seed: int,
    row_by_row: bool = False,
    curved: bool = False,
) -> LagChoice:
    """The fewest lags whose sparse cost is within the price of one edge of the lowest.

    All are compared on the same rows, with some functions of each column if these are `curved`.
    Rows that are far too close in time get a step first, unless all goes `row_by_row`.
    """
    if isinstance(asked, int):
        return LagChoice(asked)
    step = smooth_step(series) if not row_by_row and is_too_fine(series) else 1
    step = step if series.lengths.sum() >= FEWEST_STEPS * step else 1
    most = lags_tried(series.all_lengths, len(series.moving), step)
    if most < 1:
        return LagChoice(1, step)
    moments = lag_moments(series, most, step, within=within)
    if curved:
        stacked, _ = rows_with_lags(series, most, step, within=within)
        coding = with_lag_curves(moments.coding, stacked, FUNCTIONS)
        moments = curved_lag_moments(moments, stacked, coding)
    rows = moments.n_samples / step
    sizes, n = moments.coding.sizes, len(series.names)
    costs: list[float] = []
    for lags in range(most + 1):
        last = n + lags * len(series.moving)
        part = moments.select(list(range(last)))
        costs.append(_sparse_cost(part, rows, seed))
        if control.remaining <= 0 or len(costs) - 1 - int(np.argmin(costs)) >= 3:
            break
    cheapest = PENALTY * math.log(max(rows, 2)) * int(sizes.min())
    lags = next(k for k, cost in enumerate(costs) if cost <= min(costs) + cheapest)
    return LagChoice(max(lags, 1), step, tuple(costs))


def _sparse_cost(moments: Moments, rows: float, seed: int) -> float:
    engine = BicEngine(replace(moments, n_samples=rows), score=BIC(PENALTY))
    bic_insertion(engine, restarts=0, random_state=seed)
    return engine.cost


def mean_autocorrelation(series: SeriesData, lag: int) -> float:
    """The mean correlation of variables with their values so many rows before, in their series."""
    values, now = _measured(series), row_numbers(series.bounds, lag)
    if len(now) < 3:
        return 0.0
    means = np.nanmean(values, axis=0)
    found = _correlations(values[now] - means, values[now - lag] - means)
    return float(found.mean()) if len(found) else 0.0


def _measured(series: SeriesData) -> FloatArray:
    """The columns of variables that change and are numbers."""
    single = [v for v in series.moving.tolist() if series.coding.variables[v].size == 1]
    return series.values[:, single]


def _correlations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Of columns about 0, without those that have none."""
    there = np.isfinite(first) & np.isfinite(second)
    first, second = np.where(there, first, 0), np.where(there, second, 0)
    size = (first**2).sum(axis=0) * (second**2).sum(axis=0)
    return np.asarray((first * second).sum(axis=0)[size > 0] / np.sqrt(size[size > 0]))


def is_too_fine(series: SeriesData) -> bool:
    """Whether rows are so close in time that each is nearly what the row before was."""
    return mean_autocorrelation(series, 1) >= SMOOTH and lowest_persistence(series) > GOES_ON


def lowest_persistence(series: SeriesData, rows: int = 3) -> float:
    """The lowest correlation, of all columns, of changes over some rows with those just before."""
    now, values = row_numbers(series.bounds, 2 * rows), _measured(series)
    if len(now) < 10:
        return 0.0
    later, earlier = values[now] - values[now - rows], values[now - rows] - values[now - 2 * rows]
    return float(_correlations(later, earlier).min(initial=1.0)) if values.shape[1] else 0.0


def smooth_step(series: SeriesData) -> int:
    """The first distance at which the mean autocorrelation is below a half."""
    for step in range(2, LONGEST_STEP):
        if usable_rows(series.lengths, 1, step) < 20:
            return max(step - 1, 1)
        if mean_autocorrelation(series, step) < BELOW:
            return step
    return LONGEST_STEP


def residual_rows(
    moments: Moments, dag: Adjacency, columns: FloatArray, children: Indices
) -> FloatArray:
    """What the parents of each child, single columns, leave unexplained of every row."""
    found = np.empty((len(columns), len(children)))
    coding = moments.coding
    centred = columns - moments.means
    covariance = moments.covariance
    for k, v in enumerate(children.tolist()):
        own = int(coding.starts[v])
        parents = coding.columns_of(np.flatnonzero(dag[:, v]))
        found[:, k] = centred[:, own]
        if len(parents):
            slopes = inverse_of(covariance[np.ix_(parents, parents)]) @ covariance[parents, own]
            found[:, k] -= centred[:, parents] @ slopes
    return found
