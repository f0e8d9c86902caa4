"""Series in files that are larger than memory: lagged moments by passes over pieces of rows.

Columns of times and units are kept, the others are not: of each series only the rows that the next
ones look back at. The first rows stay, for tests of stationarity and of what lags leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.moments.moments import Moments
from qwo.moments.reading import TableReading
from qwo.options import SearchOptions
from qwo.series.sums import LagSummation, LagSums
from qwo.series.times import regular_steps
from qwo.types import FloatArray, Indices, Mask

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
