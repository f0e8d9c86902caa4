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
from qwo.series.design import lag_moments
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

LONGEST_STEP = 50
PENALTY = 2.0


@dataclass(frozen=True, slots=True)
class LagChoice:
    """The number of lags, the step between them, and the costs of 0, 1, 2 … lags, if tried."""

    lags: int
    step: int = 1
    costs: tuple[float, ...] = ()
    autocorrelation: float = math.nan


def choose_lags(
    series: SeriesData,
    asked: int | str,
    *,
    within: bool,
    control: Control,
    seed: int,
    row_by_row: bool = False,
) -> LagChoice:
    """The fewest lags whose sparse cost is within the price of one edge of the lowest.

    All are compared on the same rows. Rows that are far too close in time get a step first, unless
    all goes `row_by_row`.
    """
    near = mean_autocorrelation(series, 1)
    if isinstance(asked, int):
        return LagChoice(asked, 1, (), near)
    step = smooth_step(series) if not row_by_row and is_too_fine(series) else 1
    most = lags_tried(series.all_lengths, len(series.moving), step)
    if most < 1:
        return LagChoice(1, step, (), near)
    moments = lag_moments(series, most, step, within=within)
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
    return LagChoice(max(lags, 1), step, tuple(costs), near)


def _sparse_cost(moments: Moments, rows: float, seed: int) -> float:
    engine = BicEngine(replace(moments, n_samples=rows), score=BIC(PENALTY))
    bic_insertion(engine, restarts=0, random_state=seed)
    return engine.cost


def mean_autocorrelation(series: SeriesData, lag: int) -> float:
    """The mean over variables of the correlation with their values so many rows before."""
    found = autocorrelations(series, lag)
    found = found[np.isfinite(found)]
    return float(found.mean()) if len(found) else 0.0


def autocorrelations(series: SeriesData, lag: int) -> FloatArray:
    """Of each variable that changes and is a number, within its series."""
    single = [v for v in series.moving.tolist() if series.coding.variables[v].size == 1]
    values = series.values[:, single]
    now = np.concatenate([np.arange(a + lag, b) for a, b in series.bounds.tolist()])
    if len(now) < 3:
        return np.zeros(0)
    first, second = values[now], values[now - lag]
    first, second = first - np.nanmean(first, axis=0), second - np.nanmean(second, axis=0)
    both = np.sqrt(np.nanmean(first**2, axis=0) * np.nanmean(second**2, axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nanmean(first * second, axis=0) / both)


def is_too_fine(series: SeriesData) -> bool:
    """Whether rows are so close in time that each is nearly what the row before was."""
    return mean_autocorrelation(series, 1) >= SMOOTH and lowest_persistence(series) > GOES_ON


def lowest_persistence(series: SeriesData, rows: int = 3) -> float:
    """The lowest correlation, of all columns, of changes over some rows with those just before."""
    single = [v for v in series.moving.tolist() if series.coding.variables[v].size == 1]
    now = row_numbers(series.bounds, 2 * rows)
    if len(now) < 10 or not single:
        return 0.0
    values = series.values[:, single]
    later, earlier = values[now] - values[now - rows], values[now - rows] - values[now - 2 * rows]
    with np.errstate(invalid="ignore", divide="ignore"):
        product = np.nanmean(later * earlier, axis=0)
        found = product / np.sqrt(np.nanmean(later**2, axis=0) * np.nanmean(earlier**2, axis=0))
    found = found[np.isfinite(found)]
    return float(found.min()) if len(found) else 0.0


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


def effective_share(residuals: FloatArray, lengths: Indices) -> float:
    """Share of rows that count for the correlation of two residual series (Bartlett).

    The median over pairs of 1 / (1 + 2 Σ_k r_i(k) r_j(k)); autocorrelations below 2 / √T are noise.
    """
    rows, n = residuals.shape
    spread = residuals.std(axis=0)
    scaled = (residuals - residuals.mean(axis=0)) / np.where(spread > 0, spread, 1)
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    total = np.zeros((n, n))
    for lag in range(1, min(LONGEST_STEP, int(lengths.max()) // 4) + 1):
        if np.maximum(lengths - lag, 0).sum() < 10:
            break
        r = np.zeros(n)
        for a, b in zip(starts, ends, strict=True):
            if b - a > lag:
                r += np.einsum("ti,ti->i", scaled[a + lag : b], scaled[a : b - lag])
        r /= rows
        r[np.abs(r) < 2 / math.sqrt(rows)] = 0.0
        if r.any():
            total += np.outer(r, r)
    pairs = 1 + 2 * (total[np.triu_indices(n, 1)] if n > 1 else total[0])
    return float(1 / max(1.0, float(np.median(pairs))))
