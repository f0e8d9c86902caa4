"""Moments of rows and of the rows before them, by shifted products.

For rows x_0 … x_{T-1} of one series, all products Σ_t x_{t-a} x_{t-b}ᵀ over t = L … T-1 follow from
those with a = 0, of which there are L + 1: shifting both ends by a row adds one product at the
beginning of the series and takes one away at its end. Series add up; nothing crosses two of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from qwo.types import FloatArray, Indices

CHUNK = 1 << 14
"""Rows that are multiplied at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class LagSums:
    """Rows N, means and covariance (divisor N) of x_t, x_{t-q}, …, x_{t-Lq} for a step q.

    unit_rows, unit_means: the same of the rows of each unit.
    """

    rows: int
    means: FloatArray
    covariance: FloatArray
    unit_rows: FloatArray
    unit_means: FloatArray

    def first(self, n_columns: int) -> LagSums:
        """The same of the first columns alone: fewer lags, on the same rows."""
        part = self.covariance[:n_columns, :n_columns]
        means = self.means[:n_columns], part, self.unit_rows, self.unit_means[:, :n_columns]
        return LagSums(self.rows, *means)

    def within(self, columns: Indices) -> FloatArray:
        """The covariance with a mean of its own for each unit in some columns.

        Means of units tell nothing about these then, and so they have none of the others.
        """
        away = self.unit_means - self.means
        between = (away.T * (self.unit_rows / self.rows)) @ away
        taken = np.zeros(len(self.means), bool)
        taken[columns] = True
        return self.covariance - np.where(taken[:, None] | taken, between, 0.0)


class LagSummation:
    """Sums over series that come piece by piece: products of rows, and the ends of each series."""

    def __init__(
        self, width: int, n_lags: int, step: int, origin: FloatArray, n_units: int = 1
    ) -> None:
        self.n_lags, self.step, self.origin = n_lags, step, origin
        self.count = 0
        self._totals = np.zeros((n_units, n_lags + 1, width))
        self._rows = np.zeros(n_units)
        self._products = np.zeros((n_lags + 1, n_lags + 1, width, width))
        self._ends = np.zeros_like(self._products)
        self._last: dict[Hashable, FloatArray] = {}
        self._begun: set[Hashable] = set()

    def add(self, series: Hashable, rows: FloatArray, unit: int = 0) -> None:
        """The next rows of a series."""
        before = self._last.get(series)
        own = rows - self.origin
        if before is not None:
            own = np.concatenate([before, own])
        above, step = self.n_lags * self.step, self.step
        size = len(own) - above
        if size > 0:
            self.count += size
            self._rows[unit] += size
            if series not in self._begun:
                self._begun.add(series)
                self._add_ends(own[:above], 1)
            now = own[above:]
            for b in range(self.n_lags + 1):
                then = own[above - b * step : len(own) - b * step]
                self._totals[unit, b] += then.sum(axis=0)
                self._products[0, b] += now.T @ then
        self._last[series] = own[len(own) - min(above, len(own)) :].copy()

    def end(self, series: Hashable) -> None:
        """Nothing more of a series comes."""
        last = self._last.pop(series, None)
        if last is not None and series in self._begun:
            self._begun.discard(series)
            self._add_ends(last, -1)

    def _add_ends(self, rows: FloatArray, sign: int) -> None:
        """What shifting both ends by a step adds at the beginning, and takes away at the end."""
        lags, step = self.n_lags, self.step
        parts = [rows[(lags - a) * step : (lags - a + 1) * step] for a in range(1, lags + 1)]
        for a in range(1, lags + 1):
            for b in range(a, lags + 1):
                self._ends[a, b] += sign * (parts[a - 1].T @ parts[b - 1])

    def sums(self, lagged: Indices) -> LagSums:
        """The sums so far, of series that have ended; of the copies those that are `lagged`."""
        products, lags = self._products, range(1, self.n_lags + 1)
        for a in lags:
            for b in range(a, self.n_lags + 1):
                products[a, b] = products[a - 1, b - 1] + self._ends[a, b]
        own = [np.arange(len(self.origin)), *[lagged] * self.n_lags]
        starts = np.cumsum([0, *map(len, own)])
        totals = np.concatenate([self._totals[:, a, own[a]] for a in range(len(own))], axis=1)
        means = totals.sum(axis=0) / self.count
        covariance = np.empty((starts[-1], starts[-1]))
        for a in range(len(own)):
            for b in range(a, len(own)):
                part = products[a, b][np.ix_(own[a], own[b])] / self.count
                covariance[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = part
                covariance[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = part.T
        covariance -= np.outer(means, means)
        covariance = (covariance + covariance.T) / 2
        shifted = np.concatenate([self.origin[part] for part in own])
        there = self._rows > 0
        by_unit = totals[there] / self._rows[there, None] + shifted
        return LagSums(self.count, means + shifted, covariance, self._rows[there], by_unit)


def usable_rows(lengths: Indices, n_lags: int, step: int = 1) -> int:
    """How many rows have so many rows before them, in series of these lengths."""
    return int(np.maximum(lengths - n_lags * step, 0).sum())


def lag_sums(
    rows: FloatArray,
    bounds: Indices,
    n_lags: int,
    *,
    step: int = 1,
    lagged: Indices | None = None,
    units: Indices | None = None,
) -> LagSums:
    """The sums over all series; each is the rows from one of the `bounds` (S × 2) to the other.

    The columns are those of the rows, and behind them for each lag those that are `lagged`. `units`
    has the unit of each series.
    """
    width = rows.shape[1]
    places = np.zeros(len(bounds), np.intp) if units is None else units
    origin, n_units = rows.mean(axis=0), int(places.max(initial=0)) + 1
    summation = LagSummation(width, n_lags, step, origin, n_units)
    for k, (start, stop) in enumerate(bounds.tolist()):
        if stop - start > n_lags * step:
            for first in range(start, stop, CHUNK):
                summation.add(k, rows[first : min(first + CHUNK, stop)], int(places[k]))
            summation.end(k)
    return summation.sums(np.arange(width) if lagged is None else lagged)


def stacked_rows(
    rows: FloatArray, bounds: Indices, n_lags: int, *, step: int = 1, lagged: Indices | None = None
) -> FloatArray:
    """The rows themselves, each with the rows before it: what `lag_sums` sums up."""
    above = n_lags * step
    chosen = np.arange(rows.shape[1]) if lagged is None else lagged
    now = row_numbers(bounds, above)
    parts = [rows[now], *(rows[now - a * step][:, chosen] for a in range(1, n_lags + 1))]
    return np.hstack(parts)


def row_numbers(bounds: Indices, above: int) -> Indices:
    """The rows that have so many others above them in their series."""
    parts = [np.arange(start + above, stop) for start, stop in bounds.tolist()]
    return np.concatenate(parts) if parts else np.empty(0, np.intp)
