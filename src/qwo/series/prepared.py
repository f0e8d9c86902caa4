"""Series made stationary as the user asks: differences, straight lines and seasons taken off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qwo.errors import ArgumentError, ColumnNameError, list_names
from qwo.names import suggestion
from qwo.options import SearchOptions
from qwo.series.reading import SeriesData
from qwo.series.sums import row_numbers
from qwo.types import Indices


def prepared_series(series: SeriesData, options: SearchOptions) -> SeriesData:
    """The series as the options want them, season first, then lines, then differences."""
    if options.within and len(series.labels) < 2:
        raise ArgumentError(
            "within is True, a mean for each unit, but there is one series only; name the column "
            "that tells units apart (unit=), or leave within out",
            option="within",
        )
    if options.season is not None:
        series = _without_season(series, options.season)
    if options.detrend:
        series = _without_trend(series, _chosen(series, options.detrend, "detrend"))
    if options.difference:
        series = _differences(series, _chosen(series, options.difference, "difference"))
    return series


def _chosen(series: SeriesData, asked: bool | Sequence[str] | str, option: str) -> Indices:
    """The columns that an option names; those that are numbers and change, if it is for all."""
    numeric = [v for v in series.moving.tolist() if not series.coding.variables[v].levels]
    if asked is True:
        return np.array(numeric, np.intp)
    assert not isinstance(asked, bool)
    unknown = [name for name in asked if name not in series.names]
    if unknown:
        raise ColumnNameError(
            f"{option} names {list_names(unknown)}, which is no variable; "
            f"{suggestion(unknown[0], series.names)}",
            unknown,
        )
    chosen = [series.names.index(name) for name in asked]
    coded = [series.names[v] for v in chosen if v not in numeric]
    if coded:
        raise ArgumentError(
            f"{option} names {list_names(coded)}, of which nothing can be taken off: categories, "
            "or the same all the time",
            coded,
            option=option,
        )
    return np.array(chosen, np.intp)


def _without_season(series: SeriesData, period: int) -> SeriesData:
    longest = int(series.lengths.max())
    if longest < 2 * period:
        raise ArgumentError(
            f"season is {period} rows, but the longest series has {longest}; two seasons at least "
            "are needed to tell one",
            option="season",
        )
    columns = _chosen(series, True, "season")
    values = series.values.copy()
    for start, stop in series.bounds.tolist():
        for phase in range(min(period, stop - start)):
            own = slice(start + phase, stop, period)
            values[own, columns] -= np.nanmean(series.values[own][:, columns], axis=0)
        values[start:stop, columns] += np.nanmean(series.values[start:stop][:, columns], axis=0)
    return replace(series, values=values)


def _without_trend(series: SeriesData, columns: Indices) -> SeriesData:
    values = series.values.copy()
    for start, stop in series.bounds.tolist():
        time = np.arange(stop - start, dtype=np.float64)
        for v in columns.tolist():
            own = values[start:stop, v]
            there = np.isfinite(own)
            if there.sum() > 2:
                slope = np.polyfit(time[there], own[there], 1)[0]
                values[start:stop, v] = own - slope * (time - time[there].mean())
    return replace(series, values=values)


def _differences(series: SeriesData, columns: Indices) -> SeriesData:
    """Changes of some columns; each series loses its first row."""
    long = series.lengths > 1
    bounds, units = series.bounds[long], series.units[long]
    parts = []
    for start, stop in bounds.tolist():
        own = series.values[start + 1 : stop].copy()
        own[:, columns] -= series.values[start : stop - 1][:, columns]
        parts.append(own)
    kept = row_numbers(bounds, 1)
    lengths = bounds[:, 1] - bounds[:, 0] - 1
    ends = np.cumsum(lengths)
    return replace(
        series,
        values=np.concatenate(parts),
        bounds=np.stack([ends - lengths, ends], axis=1),
        units=units,
        regimes=None if series.regimes is None else series.regimes[kept],
    )
