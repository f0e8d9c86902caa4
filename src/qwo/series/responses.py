"""Equations of a structural autoregression; impulse responses and long-run effects, with bands.

With x_t = Σ_k x_{t-k} B_k + e_t (rows) a shock of one unit to e_i at time t moves x_j at t + h by
Θ_h[i, j]: Θ_0 = (I - B_0)⁻¹, Θ_h = Σ_k Θ_{h-k} B_k Θ_0. Their sum over all h is (I - Σ_k B_k)⁻¹.
Bands come from the same equations fitted to blocks of rows, or whole units, drawn anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import ArgumentError, list_names
from qwo.moments.moments import Moments
from qwo.moments.sums import split_covariance, sums_over
from qwo.names import Variable, as_column
from qwo.order.bic import BicEngine
from qwo.order.score import BIC
from qwo.search.control import bic_insertion
from qwo.series.design import (
    curved_lag_moments,
    equations_of,
    lag_blocks,
    lag_coding,
    lag_moments,
    lag_names,
    rows_with_lags,
    strengths_of,
    unbiased,
)
from qwo.series.prepared import prepared_series
from qwo.series.reading import SeriesData, read_series
from qwo.series.sums import row_numbers
from qwo.simulation import StructuralAutoregression
from qwo.text import aligned, number, records_frame
from qwo.types import Adjacency, FloatArray, Indices, Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from qwo.arguments import ReadArguments
    from qwo.columns.recipes import Coding
    from qwo.graph.resolved_knowledge import ResolvedKnowledge
    from qwo.moments.moments import Moments
    from qwo.options import SearchOptions

FEWEST_UNITS = 10
"""Units from which on whole units are drawn, not blocks of rows."""


@dataclass(frozen=True, eq=False)
class LagDesign:
    """Series, their lags and the DAG found: what it takes to fit its equations to other rows."""

    series: SeriesData
    lags: int
    step: int
    within: bool
    dag: Adjacency
    order: Indices
    penalty_discount: float
    n_effective: float
    knowledge: ResolvedKnowledge | None = None
    asked: SearchOptions | None = None
    curves: Coding | None = None

    def fitting(self, data: Any, reading: ReadArguments) -> LagDesign:
        """The same for other rows, read as these were."""
        assert self.asked is not None
        series = prepared_series(read_series(data, self.asked, reading), self.asked)
        if series.names != self.series.names or len(series.static) != len(self.series.static):
            raise ArgumentError("the data have other variables than the result; give those it has")
        return replace(self, series=series)

    def moments(self) -> Moments:
        """The moments of the rows as they are."""
        if self.series.regimes is None:
            return lag_moments(self.series, self.lags, self.step, within=self.within)
        names = lag_names(self.series, self.lags, self.step)
        coding = lag_coding(self.series, self.lags, self.step)
        return sums_over(self.rows()[0]).moments(names, coding)

    @property
    def can_draw(self) -> bool:
        """Whether rows can be drawn anew: they are in memory, and none has missing values."""
        return self.series.streamed is None and bool(np.isfinite(self.series.values).all())

    def rows(self) -> tuple[FloatArray, Indices]:
        """All rows with their lagged copies, and the unit of each."""
        series = self.series
        if series.streamed is not None:
            raise ArgumentError(
                "the file was read piece by piece, so that its rows cannot be drawn anew; ask for "
                "no resamples (n_resamples=0), or leave memory_limit out"
            )
        rows, lengths = rows_with_lags(series, self.lags, self.step, within=self.within)
        if not np.isfinite(rows).all():
            raise ArgumentError(
                "values are missing, so that rows cannot be drawn anew; leave their rows out "
                "(missing='drop')"
            )
        if series.regimes is not None:
            regimes = series.regimes[row_numbers(series.bounds, self.lags * self.step)]
            for own in (regimes == r for r in range(len(series.regime_labels))):
                rows[own] -= rows[own].mean(axis=0)
        return rows, np.repeat(series.units, lengths)

    def resampled(
        self, n_resamples: int, seed: int, *, by_curves: bool = False
    ) -> Iterator[Moments]:
        """Moments of rows drawn anew: blocks of about N^⅓ rows, or whole units if there are ten.

        If asked for, of the columns that the graph was found with: functions of variables, too.
        """
        if not n_resamples:
            return
        rows, units = self.rows()
        names = lag_names(self.series, self.lags, self.step)
        coding = lag_coding(self.series, self.lags, self.step)
        sizes = np.bincount(units)
        by_unit = self.within and self.step == 1 and self.series.regimes is None
        if by_unit:
            moving = lag_blocks(self.series, self.lags).ravel()
            for own in (part for part in np.split(rows, np.cumsum(sizes)[:-1]) if len(part)):
                own[:, moving] -= own[:, moving].mean(axis=0)
        for source in np.random.SeedSequence(seed).spawn(n_resamples):
            drawn = _drawn(units, np.random.default_rng(source), self.step)
            moments = sums_over(rows[drawn]).moments(names, coding)
            if by_unit:
                often = np.bincount(units[drawn], minlength=len(sizes)) / np.maximum(sizes, 1)
                lengths = np.repeat(sizes, np.rint(often).astype(np.intp)).astype(np.float64)
                covariance = unbiased(moments.covariance, self.series, self.lags, lengths)
                scales, correlation = split_covariance(covariance)
                moments = replace(moments, scales=scales, correlation=correlation)
            curved = self.curves if by_curves else None
            yield moments if curved is None else curved_lag_moments(moments, rows[drawn], curved)


def _drawn(units: Indices, rng: np.random.Generator, step: int) -> Indices:
    labels, counts = np.unique(units, return_counts=True)
    total = len(units)
    if len(labels) >= FEWEST_UNITS:
        places = np.split(np.argsort(units, kind="stable"), np.cumsum(counts)[:-1])
        return np.concatenate([places[k] for k in rng.integers(0, len(labels), len(labels))])
    length = min(max(round(total ** (1 / 3)), 2) * step, total)
    first = rng.integers(0, total - length + 1, -(-total // length))
    return np.asarray((first[:, None] + np.arange(length)).ravel()[:total])


def by_lag(design: LagDesign, matrix: FloatArray | Adjacency, empty: float = 0.0) -> FloatArray:
    """Entries of edges into the present, by lag: (L + 1)×n×n; what never changes has no lags."""
    n, moving = len(design.series.names), design.series.moving
    parts = np.full((design.lags + 1, n, n), empty, np.float64)
    parts[0] = matrix[:n, :n]
    for k in range(1, design.lags + 1):
        first = n + (k - 1) * len(moving)
        parts[k][moving] = matrix[first : first + len(moving), :n]
    return parts


def responses_of(coefficients: FloatArray, horizon: int) -> FloatArray:
    """Θ_0 … Θ_h of coefficients (L + 1)×n×n; NaN for a cause that is a category."""
    coefficients, wide = _in_numbers(coefficients)
    n = coefficients.shape[1]
    start = np.linalg.inv(np.eye(n) - coefficients[0])
    effects = [own @ start for own in coefficients[1:]]
    found = [start]
    for h in range(1, horizon + 1):
        lags = range(1, min(h, len(effects)) + 1)
        found.append(sum((found[h - k] @ effects[k - 1] for k in lags), np.zeros((n, n))))
    followed = np.array(found)
    # Where no path leads, rounding leaves next to nothing.
    followed[np.abs(followed) < 1e-14 * np.abs(followed).max()] = 0.0
    followed[:, wide] = np.nan
    return followed


def long_run(coefficients: FloatArray) -> FloatArray:
    """(I - Σ_k B_k)⁻¹, the sum of all responses; NaN where they do not fade, and for categories."""
    coefficients, wide = _in_numbers(coefficients)
    n = coefficients.shape[1]
    if StructuralAutoregression(coefficients, np.ones(n)).largest_root() >= 1:
        return np.full((n, n), math.nan)
    found = np.linalg.inv(np.eye(n) - coefficients.sum(axis=0))
    # Where no path leads, rounding leaves next to nothing.
    found[np.abs(found) < 1e-12 * np.abs(found).max()] = 0.0
    found[wide] = np.nan
    return found


def _in_numbers(coefficients: FloatArray) -> tuple[FloatArray, Mask]:
    """Coefficients with none of categories of several levels, and which causes these are."""
    return np.nan_to_num(coefficients), np.asarray(np.isnan(coefficients).any(axis=(0, 2)))


def lasting(coefficients: FloatArray) -> FloatArray:
    """What i, held one unit higher for ever, does to j in the end: sums over those of i itself.

    Whatever acts on i then, nothing brings it back, so that its own equation does not count.
    """
    sums = long_run(coefficients)
    return np.asarray(sums / np.diagonal(sums)[:, None])


@dataclass(frozen=True, eq=False)
class ImpulseResponses:
    """How a shock of one unit to a variable moves each of them, step by step, with bands.

    Attributes
    ----------
    names : tuple of str
        The variables.
    step : int
        Rows of a step.
    values, low, high : ndarray, (horizon + 1)×n×n
        Entry (h, i, j): by how much j moves, h steps after a shock to i; and its band.
    long_run, long_run_low, long_run_high : ndarray, n×n
        The sum over all steps; NaN where shocks do not fade.
    level : float
        How often bands hold the truth, if the graph is right.
    n_resamples : int
        Resamples behind the bands.
    """

    names: tuple[str, ...]
    step: int
    values: FloatArray
    low: FloatArray
    high: FloatArray
    long_run: FloatArray
    long_run_low: FloatArray
    long_run_high: FloatArray
    level: float
    n_resamples: int

    @property
    def horizon(self) -> int:
        """Steps that are followed."""
        return len(self.values) - 1

    def of(self, cause: Variable, effect: Variable) -> FloatArray:
        """Response, lower and upper end of the band for each step: (horizon + 1)×3."""
        i, j = as_column(self.names, cause, "cause"), as_column(self.names, effect, "effect")
        return np.stack([part[:, i, j] for part in (self.values, self.low, self.high)], axis=1)

    def to_frame(self) -> pd.DataFrame:
        """A row for each cause, effect and step, and one of all steps together (step -1)."""
        return records_frame(("cause", "effect", "step", "response", "low", "high"), self.records())

    def records(self) -> list[tuple[Any, ...]]:
        """The rows of `to_frame`."""
        found: list[tuple[Any, ...]] = []
        for i, cause in enumerate(self.names):
            for j, effect in enumerate(self.names):
                for h in range(self.horizon + 1):
                    own = (float(part[h, i, j]) for part in (self.values, self.low, self.high))
                    found.append((cause, effect, h * self.step, *own))
                total = (self.long_run, self.long_run_low, self.long_run_high)
                found.append((cause, effect, -1, *(float(part[i, j]) for part in total)))
        return found

    def summary(self) -> str:
        """The sums of responses that differ from 0."""
        low, high = self.long_run_low, self.long_run_high
        sure = np.argwhere(((low > 0) | (high < 0)) & ~np.eye(len(self.names), dtype=bool))
        rows = [
            (
                f"  {self.names[i]}",
                "-->",
                self.names[j],
                number(self.long_run[i, j]),
                f"[{number(low[i, j])}, {number(high[i, j])}]",
            )
            for i, j in sure.tolist()
        ]
        head = f"Responses to a shock of one unit, over all time ({self.level:.0%} bands):"
        return "\n".join([head, *(aligned(rows, left=3) or ["  none that differs from 0"])])

    __str__ = summary


def fits(design: LagDesign, *, n_resamples: int, seed: int) -> tuple[FloatArray, list[FloatArray]]:
    """The coefficients of the graph, (L + 1)×n×n, and those of resamples."""
    children = np.arange(len(design.series.names))

    def fitted(moments: Moments) -> FloatArray:
        return by_lag(design, equations_of(moments, design.dag, children).coefficients)

    here = fitted(design.moments())
    caused = np.isnan(here).any(axis=0) & ~np.eye(len(children), dtype=bool)
    wide = np.flatnonzero(caused.any(axis=0) & (design.series.coding.sizes > 1))
    if len(wide):
        names = [design.series.names[v] for v in wide.tolist()]
        raise ArgumentError(
            f"{list_names(names)}, of more than two levels, has causes, and effects cannot be "
            "followed through a category; leave it out",
            names,
        )
    return here, [fitted(own) for own in design.resampled(n_resamples, seed)]


def impulse_responses(
    design: LagDesign, *, horizon: int, level: float, n_resamples: int, seed: int
) -> ImpulseResponses:
    """Responses of the graph found, with bands from rows drawn anew; the graph stays."""
    here, draws = fits(design, n_resamples=n_resamples, seed=seed)
    tail = (1 - level) / 2
    ends = np.full((2, horizon + 1, *here.shape[1:]), math.nan)
    totals = np.full((2, *here.shape[1:]), math.nan)
    if draws:
        followed = np.array([responses_of(own, horizon) for own in draws])
        ends = np.quantile(followed, [tail, 1 - tail], axis=0)
        totals = np.quantile([long_run(own) for own in draws], [tail, 1 - tail], axis=0)
    found: Any = responses_of(here, horizon), *ends, long_run(here), *totals
    own: Any = (design.series.names, design.step, *found, level, n_resamples)
    return ImpulseResponses(*own)


def edge_supports(design: LagDesign, *, n_resamples: int, seed: int) -> FloatArray:
    """The share of resamples whose own graph has each edge, by lag; edges of the present both ways.

    Each is searched anew near the order found, at the penalty found.
    """
    counts = np.zeros((design.lags + 1, *[len(design.series.names)] * 2))
    done = 0
    for moments in design.resampled(n_resamples, seed, by_curves=True):
        own = replace(moments, n_samples=design.n_effective)
        engine = BicEngine(
            own, score=BIC(design.penalty_discount), knowledge=design.knowledge, order=design.order
        )
        bic_insertion(engine, restarts=0, random_state=seed)
        counts += by_lag(design, (engine.cpdag() != 0).astype(np.float64))
        done += 1
    return counts / max(done, 1)


def pair_strengths(design: LagDesign, present: Adjacency) -> FloatArray:
    """What each variable tells of each other by lag, beside the causes found: (L + 1)×n×n.

    Within one step both directions have the strength of the one that goes with the order, and the
    way against an arrow of the class of the present has none.
    """
    n = len(design.series.names)
    own = replace(design.moments(), n_samples=design.n_effective)
    found = by_lag(design, strengths_of(own, design.dag, np.arange(n)), math.nan)
    place = np.argsort(design.order[design.order < n])
    now = np.where(place[:, None] < place, found[0], found[0].T)
    found[0] = np.where((present == 1).T & (present != 1), 0.0, now)
    return found
