"""How many lags, at which step, and how many rows their dependence leaves.

Too many lags cost almost nothing, too few cost most: a full autoregression pays for n² coefficients
a lag, a sparse one only for the edges that it has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from qwo.columns.recipes import with_curves
from qwo.moments.moments import Moments
from qwo.options import SearchOptions
from qwo.order.bic import BicEngine
from qwo.order.score import BIC
from qwo.search.control import Control, bic_insertion
from qwo.series.design import curved_lag_moments, inverse_of, lag_moments, rows_with_lags
from qwo.series.prepared import prepared_series
from qwo.series.reading import MOST_LAGS, MOST_STEPS, SeriesData, lags_tried
from qwo.series.sums import row_numbers, usable_rows
from qwo.types import Adjacency, FloatArray, Indices

GOES_ON, OVER = 0.25, (1, 2, 3, 5)
"""Correlation of changes with the changes before them that all columns must exceed, over one of so
many rows, for rows to be too close: the changes of an autoregression of one row are new each time,
those of a smooth curve go on. A slow cause makes the changes of its effect go on, but not its own.
"""

FAR, MOST_OF = 3, 0.75
"""The second sign: beside all nearer rows, the value so many rows earlier still tells of the same
variable, for such a share of them. An oscillation goes on too, but needs two rows."""

BELOW = 0.5
"""Autocorrelation at the distance that becomes the step."""

LONGEST_STEP, FEWEST_STEPS = 50, 40
"""Rows of a step at most, and steps that must be there: with fewer, single rows tell more."""

PENALTY, NEARLY = 2.0, 0.5
"""Where lags are chosen an edge costs twice log N, or twice log of how many edges chance may draw;
and the share of that by which a cost may be above the lowest, or all of it within units, whose
moments are less sure."""

UNEVEN = 0.5
"""Share of its strength that an edge may lose where noise need not be even; below, a cost that
takes it for even says too little of the edge."""

FUNCTIONS = 3
"""Columns of each variable where lags of curves are chosen."""


@dataclass(frozen=True, slots=True)
class LagChoice:
    """The number of lags, the step between them, and the costs of 0, 1, 2 … lags, if tried."""

    lags: int
    step: int = 1
    costs: tuple[float, ...] = ()


def choose_lags(
    series: SeriesData, options: SearchOptions, *, step: int, control: Control
) -> LagChoice:
    """As many lags as are asked for, or the fewest of nearly the lowest sparse cost.

    More are tried while the last of those tried is needed.
    """
    if isinstance(options.lags, int):
        return LagChoice(options.lags)
    choice, before = LagChoice(1, step), 0
    for bound in [MOST_STEPS] if step > 1 else [MOST_LAGS, 2 * MOST_LAGS]:
        most = lags_tried(series.all_lengths, len(series.moving), step, bound)
        known = series.streamed is None or most <= series.streamed.lags
        if most <= before or not known or control.remaining <= 0:
            break
        choice = _choice_among(series, options, most, step, control)
        if choice.lags < most - 1:
            break
        before = most
    return choice


def _choice_among(
    series: SeriesData, options: SearchOptions, most: int, step: int, control: Control
) -> LagChoice:
    """The fewest lags whose sparse cost is within the price of one edge of the lowest.

    All are compared on the same rows, with some functions of each column if relations are curved.
    """
    within, seed = options.within, cast("int", options.random_state)
    moments = lag_moments(series, most, step, within=within)
    if options.relations == "curved":
        stacked, _ = rows_with_lags(series, most, step, within=within)
        coding = with_curves(moments.coding, stacked, FUNCTIONS)
        moments = curved_lag_moments(moments, stacked, coding)
    rows = moments.n_samples / step
    n, chances = len(series.names), len(series.moving) ** 2 * most
    unit = math.log(max(rows, 2))
    penalty = PENALTY * max(math.log(chances) / unit, 1.0)
    nearly = penalty * unit * (1.0 if within else NEARLY)
    costs: list[float] = []

    def cost(lags: int) -> float:
        part = moments.select(list(range(n + lags * len(series.moving))))
        engine = BicEngine(replace(part, n_samples=rows), score=BIC(penalty))
        bic_insertion(engine, restarts=0, random_state=seed)
        return engine.cost

    # More lags never cost more, but for errors of the search.
    lowest = cost(most)
    for lags in range(most):
        costs.append(cost(lags))
        if control.remaining <= 0 or costs[-1] <= lowest + nearly:
            break
    else:
        costs.append(lowest)
    return LagChoice(max(len(costs) - 1, 1), step, tuple(costs))


def pays(series: SeriesData, off: dict[str, Any], slopes: int, *, options: SearchOptions) -> bool:
    """Whether a line or a season taken off all columns explains more than log N for each slope."""
    plain = replace(options, **{"difference": None, "season": None, "detrend": None} | off)
    most = lags_tried(series.all_lengths, len(series.moving), 1, MOST_LAGS)
    costs, unit = [], 1.0
    for own in (series, prepared_series(series, plain)):
        moments = lag_moments(own, most, within=options.within)
        unit, engine = math.log(moments.n_samples), BicEngine(moments, score=BIC(PENALTY))
        bic_insertion(engine, restarts=0, random_state=cast("int", options.random_state))
        scales = moments.scales[: series.coding.n_columns]
        costs.append(engine.cost + 2 * moments.n_samples * float(np.log(scales).sum()))
    return costs[0] - costs[1] > unit * slopes * len(series.moving)


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


def goes_on(series: SeriesData) -> bool:
    """Whether the changes of all columns go on, as those of smooth curves do."""
    return max(_lowest_persistence(series, rows) for rows in OVER) > GOES_ON


def _lowest_persistence(series: SeriesData, rows: int) -> float:
    """The lowest correlation, of all columns, of changes over some rows with those just before."""
    now, values = row_numbers(series.bounds, 2 * rows), _measured(series)
    if len(now) < 10:
        return 0.0
    later, earlier = values[now] - values[now - rows], values[now - rows] - values[now - 2 * rows]
    return float(_correlations(later, earlier).min(initial=1.0)) if values.shape[1] else 0.0


def looks_far_back(matrices: Adjacency) -> bool:
    """Whether most variables have effects of their own values several rows earlier."""
    own = np.diagonal(matrices[FAR:], axis1=1, axis2=2) != 0
    return bool(own.any(axis=0).mean() >= MOST_OF)


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


def uneven_edges(
    moments: Moments, dag: Adjacency, rows: FloatArray, price: float
) -> list[tuple[int, int]]:
    """Edges between single columns that fall below their price where noise may be uneven.

    Floods and crises make noise large in few rows, in which causes are far from their means as
    well: slopes are then much less sure than the cost takes them to be. Their variance is that of
    the jackknife (White 1980; HC3 of MacKinnon and White 1985). The weakest goes first, as
    neighbouring lags tell the same.
    """
    coding, size = moments.coding, moments.n_samples
    sources = np.array([variable.source for variable in coding.variables])
    centred, found = rows - rows.mean(axis=0), list[tuple[int, int]]()
    for v in np.flatnonzero(dag.any(axis=0) & (coding.sizes == 1)).tolist():
        parents, own = np.flatnonzero(dag[:, v]), centred[:, coding.starts[v]]
        while len(parents):
            sure, even = _squares(centred[:, coding.columns_of(parents)], own)
            first = np.cumsum(coding.sizes[parents]) - coding.sizes[parents]
            sure, even = sure[first], even[first]
            low = (size * np.log1p(sure / len(rows)) < price) & (sure < UNEVEN * even)
            low &= (coding.sizes[parents] == 1) & (sources[parents] != sources[v])
            if not low.any():
                break
            worst = int(np.argmin(np.where(low, sure, np.inf)))
            found.append((int(parents[worst]), v))
            parents = np.delete(parents, worst)
    return found


def _squares(causes: FloatArray, effect: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Squares of the slopes over their variances: by the jackknife, and as if noise were even."""
    inverse = inverse_of(causes.T @ causes)
    shares = causes @ inverse
    slopes = effect @ shares
    left = effect - causes @ slopes
    apart = left / np.maximum(1 - np.einsum("tp,tp->t", shares, causes), 1e-6)
    spread = np.stack([apart**2 @ shares**2, np.diagonal(inverse) * (left @ left) / len(left)])
    sure, even = slopes**2 / np.maximum(spread, 1e-300)
    return sure, even
