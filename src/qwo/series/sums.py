"""Moments of rows and of the rows before them, by shifted products.

For rows x_0 … x_{T-1} of one series, all products Σ_t x_{t-a} x_{t-b}ᵀ over t = L … T-1 follow from
those with a = 0, of which there are L + 1: shifting both ends by a row adds one product at the
beginning of the series and takes one away at its end. Series add up; nothing crosses two of them.

Of files that are larger than memory they are passes over pieces of rows. Columns of times and units
are kept, the others are not: of each series only the rows that the next ones look back at. The
first rows stay, for tests of stationarity and of what lags leave.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.moments.moments import Moments
from qwo.moments.reading import TableReading
from qwo.options import SearchOptions
from qwo.series.times import regular_steps
from qwo.types import FloatArray, Indices, Mask

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


ROUNDS = 6
"""More of them correct no more, and make the moments of short units noisier."""

LASTING = 0.2
"""Share of a shock that may be left after a unit's rows."""

MOST_COLUMNS = 600
"""Lagged columns up to which moments are corrected."""

FARTHEST = 500
"""Rows over which autocovariances are followed."""


def corrected_covariance(
    covariance: FloatArray, blocks: Indices, lengths: FloatArray
) -> FloatArray | None:
    """The covariance without the bias of the units' means; None where there is no telling it.

    Subtracting the mean of a unit's m rows takes the variance of that mean off every moment, which
    makes effects of the past too small by about (1 + effect) / m (Nickell 1981) and draws edges
    from effects to causes. For stationary series that variance is

        Ω_d = Σ_h w_h γ(h + d),    w_h = Σ_u (m_u - |h|)₊ / m_u / N,

    for moments of rows d apart. The autocovariances γ follow from the moments themselves, by the
    autoregression that these give, in some rounds; it is no use where series wander for longer than
    units last, as no mean can be told then.

    blocks: the columns of the present and of each lag that move, (L + 1)×n; lengths: m_u.
    """
    lags, n = len(blocks) - 1, blocks.shape[1]
    if not lags or not n or n * lags > MOST_COLUMNS or lengths.sum() <= n * lags + len(lengths):
        return None
    within = covariance[np.ix_(blocks.ravel(), blocks.ravel())]
    found, root = within, 1.0
    for _ in range(ROUNDS):
        near = _autocovariances(found, n, lags)
        slopes = _slopes(near)
        root = _largest_root(slopes)
        if root >= 1:
            return None
        found = within + _variance_of_means(near, slopes, lengths)
    if root ** float(np.median(lengths)) > LASTING:
        return None
    result = covariance.copy()
    result[np.ix_(blocks.ravel(), blocks.ravel())] = found
    return result


def _autocovariances(covariance: FloatArray, n: int, lags: int) -> list[FloatArray]:
    """γ(0) … γ(L) with γ(h) = cov(x_t, x_{t-h}): means over the places where each occurs."""
    parts = covariance.reshape(lags + 1, n, lags + 1, n).swapaxes(1, 2)
    return [
        np.mean([parts[a, a + h] for a in range(lags + 1 - h)], axis=0) for h in range(lags + 1)
    ]


def _slopes(near: list[FloatArray]) -> FloatArray:
    """A_1 … A_L of x_t = Σ_k A_k x_{t-k} + e_t, by the equations of Yule and Walker: n×nL."""
    lags = range(len(near) - 1)
    among = np.block([[near[b - a] if b >= a else near[a - b].T for b in lags] for a in lags])
    return np.asarray(np.linalg.lstsq(among, np.hstack(near[1:]).T, rcond=1e-10)[0].T)


def _largest_root(slopes: FloatArray) -> float:
    n, width = slopes.shape
    companion = np.eye(width, k=-n)
    companion[:n] = slopes
    return float(np.abs(np.linalg.eigvals(companion)).max())


def _variance_of_means(
    near: list[FloatArray], slopes: FloatArray, lengths: FloatArray
) -> FloatArray:
    """Ω_{b-a} for all lags a, b."""
    lags, n = len(near) - 1, len(slopes)
    reach = min(int(lengths.max()), FARTHEST)
    far = list(near)
    while len(far) < reach + lags:
        far.append(slopes @ np.vstack(far[: -lags - 1 : -1]))
    apart = np.abs(np.arange(1 - reach, reach))
    weights = (np.maximum(lengths - apart[:, None], 0) / lengths).sum(axis=1) / lengths.sum()
    both = np.array([*(own.T for own in far[:0:-1]), *far])
    middle = len(far) - 1
    parts = [
        np.einsum("h,hij->ij", weights, both[middle + d + 1 - reach : middle + d + reach])
        for d in range(lags + 1)
    ]
    rows = [
        [parts[b - a] if b >= a else parts[a - b].T for b in range(lags + 1)]
        for a in range(lags + 1)
    ]
    return np.block(rows).reshape((lags + 1) * n, -1)


LARGE = 1 << 28
"""Bytes of a file from which on it is streamed; any file is where a memory limit is given."""

AT_ONCE, KEPT = 1 << 14, 20_000
"""Rows that are read at a time, and that stay."""

WHOLE = ("difference", "detrend", "season")
"""Options that look at whole series."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamedSums:
    """Lagged sums over all rows of a file, and how long its series are."""

    sums: LagSums
    lags: int
    lengths: Indices


def is_streamed(data: Any, options: SearchOptions, reading: Any) -> bool:
    """Whether a source is read piece by piece: a large file, and nothing looks at whole series."""
    if not isinstance(data, str | Path) or not reading.streams or options.regime is not None:
        return False
    if reading.memory_limit is None and Path(data).stat().st_size < LARGE:
        return False
    whole = [name for name in WHOLE if getattr(options, name)]
    if whole and reading.memory_limit is not None:
        raise ArgumentError(
            f"{whole[0]} looks at whole series, but memory_limit is given, by which the file is "
            f"read piece by piece; leave one of them out, or prepare the file first",
            option=whole[0],
        )
    return not whole


def series_numbers(
    times: FloatArray | None, codes: Indices, labels: Sequence[str]
) -> tuple[Indices, list[str]]:
    """The series of each row, which ends where a step of time is missing; and what is to be said.

    Rows of a unit must be in the order of time, whatever stands between them.
    """
    order = np.argsort(codes, kind="stable")
    breaks: Mask = np.diff(codes[order]) != 0
    notes: list[str] = []
    if times is not None:
        ordered = times[order]
        if ((np.diff(ordered) < 0) & ~breaks).any():
            raise ArgumentError(
                "the file is read piece by piece, but its rows are not in the order of time; sort "
                "it, or leave memory_limit out, if it fits into memory",
                option="time",
            )
        gaps, notes = regular_steps(ordered, breaks, [labels[c] for c in codes[order][1:]])
        breaks = breaks | gaps
    numbers = np.empty(len(codes), np.intp)
    numbers[order] = np.concatenate([[0], np.cumsum(breaks)])
    return numbers, notes


class SeriesPass:
    """A pass over the rows of a file: sums, ranges of each unit, and the first rows."""

    def __init__(self, moments: Moments, n_lags: int, n_units: int) -> None:
        width = len(moments.names)
        self.summation = LagSummation(width, n_lags, 1, moments.means, n_units)
        self.low, self.high = np.full((2, n_units, width), np.nan)
        self.cut: dict[int, int] = {}
        self.counts: dict[tuple[int, int], int] = {}

    def add(self, rows: FloatArray, numbers: Indices, codes: Indices) -> None:
        """The next rows, the series of each and its unit; one with missing values ends a series."""
        whole: Mask = np.asarray(np.isfinite(rows).all(axis=1))
        for number in np.unique(numbers).tolist():
            own = np.flatnonzero(numbers == number)
            unit = int(codes[own[0]])
            pieces = np.split(own, np.flatnonzero(~whole[own]))
            for k, piece in enumerate(pieces):
                if k:
                    self.cut[number] = self.cut.get(number, 0) + 1
                there = rows[piece[whole[piece]]]
                if len(there):
                    key = number, self.cut.get(number, 0)
                    self.counts[key] = self.counts.get(key, 0) + len(there)
                    self.summation.add(key, there, unit)
                    self.low[unit] = np.fmin(self.low[unit], there.min(axis=0))
                    self.high[unit] = np.fmax(self.high[unit], there.max(axis=0))

    def ended(self, n_lags: int) -> tuple[StreamedSums, Indices]:
        """The sums, and the variables that never change within a unit, if units differ."""
        for key in self.counts:
            self.summation.end(key)
        units = len(self.low)
        static = np.flatnonzero((self.low == self.high).all(axis=0)) if units > 1 else np.empty(0)
        static = static.astype(np.intp)
        moving = np.delete(np.arange(self.low.shape[1]), static)
        lengths = np.array(list(self.counts.values()), np.intp)
        return StreamedSums(self.summation.sums(moving), n_lags, lengths), static


def streamed_rows(
    reading: TableReading, moments: Moments, numbers: Indices, codes: Indices, n_lags: int
) -> tuple[SeriesPass, FloatArray]:
    """The pass over all rows, and the first of them."""
    found, first = SeriesPass(moments, n_lags, int(codes.max(initial=0)) + 1), 0
    kept = list[FloatArray]()
    for batch in reading.reader.batches(reading.chosen, AT_ONCE):
        rows = reading._columns(moments.names, moments.coding, batch).values
        own = slice(first, first + len(rows))
        found.add(rows, numbers[own], codes[own])
        kept.append(rows[: max(KEPT - first, 0)])
        first = own.stop
    return found, np.concatenate(kept)
