"""Moments of rows and of the rows before them, by shifted products.

For rows x_0 … x_{T-1} of one series, all products Σ_t x_{t-a} x_{t-b}ᵀ over t = L … T-1 follow from
those with a = 0, of which there are L + 1: shifting both ends by a row adds one product at the
beginning of the series and takes one away at its end. Series add up; nothing crosses two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qwo.types import FloatArray, Indices

CHUNK = 1 << 14
"""Rows that are multiplied at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class LagSums:
    """Rows N, means and covariance (divisor N) of x_t, x_{t-q}, …, x_{t-Lq} for a step q."""

    rows: int
    means: FloatArray
    covariance: FloatArray

    def first(self, n_columns: int) -> LagSums:
        """The same of the first columns alone: fewer lags, on the same rows."""
        part = self.covariance[:n_columns, :n_columns]
        return LagSums(self.rows, self.means[:n_columns], part)


def usable_rows(lengths: Indices, n_lags: int, step: int = 1) -> int:
    """How many rows have so many rows before them, in series of these lengths."""
    return int(np.maximum(lengths - n_lags * step, 0).sum())


def lag_sums(
    rows: FloatArray, bounds: Indices, n_lags: int, *, step: int = 1, lagged: Indices | None = None
) -> LagSums:
    """The sums over all series; each is the rows from one of the `bounds` (S × 2) to the other.

    The columns are those of the rows, and behind them for each lag those that are `lagged`.
    """
    above = n_lags * step
    long = bounds[bounds[:, 1] - bounds[:, 0] > above]
    starts, stops = long[:, 0], long[:, 1]
    count = int((stops - starts - above).sum())
    width = rows.shape[1]
    chosen = np.arange(width) if lagged is None else lagged
    origin = rows.mean(axis=0)
    totals = np.zeros((n_lags + 1, width))
    products = np.zeros((n_lags + 1, n_lags + 1, width, width))
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        for first in range(start + above, stop, CHUNK):
            last = min(first + CHUNK, stop)
            now = rows[first:last] - origin
            totals[0] += now.sum(axis=0)
            for b in range(n_lags + 1):
                before = rows[first - b * step : last - b * step] - origin
                products[0, b] += now.T @ before
    within = np.arange(step)
    lags = range(1, n_lags + 1)
    at = {a: (starts[:, None] + (n_lags - a) * step + within).ravel() for a in lags}
    heads = {a: rows[at[a]] - origin for a in lags}
    tails = {a: rows[(stops[:, None] - a * step + within).ravel()] - origin for a in lags}
    for a in lags:
        totals[a] = totals[a - 1] + heads[a].sum(axis=0) - tails[a].sum(axis=0)
        for b in range(a, n_lags + 1):
            added, taken = heads[a].T @ heads[b], tails[a].T @ tails[b]
            products[a, b] = products[a - 1, b - 1] + added - taken
    return _assembled(count, origin, totals, products, chosen)


def _assembled(
    count: int, origin: FloatArray, totals: FloatArray, products: FloatArray, chosen: Indices
) -> LagSums:
    n_lags, width = len(totals) - 1, len(origin)
    own = [np.arange(width), *[chosen] * n_lags]
    starts = np.cumsum([0, *map(len, own)])
    means = np.concatenate([totals[a][own[a]] for a in range(n_lags + 1)]) / count
    covariance = np.empty((starts[-1], starts[-1]))
    for a in range(n_lags + 1):
        for b in range(a, n_lags + 1):
            part = products[a, b][np.ix_(own[a], own[b])] / count
            covariance[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = part
            covariance[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = part.T
    covariance -= np.outer(means, means)
    covariance = (covariance + covariance.T) / 2
    shifted = np.concatenate([origin[own[a]] for a in range(n_lags + 1)])
    return LagSums(count, means + shifted, covariance)


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
