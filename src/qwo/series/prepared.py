"""Series made stationary as the user asks: differences, straight lines and seasons taken off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, ColumnNameError, list_names
from qwo.names import suggestion
from qwo.options import SearchOptions
from qwo.series.reading import SeriesData
from qwo.series.stationarity import FEWEST_ROWS, StationarityFinding, stationarity_findings, warn_of
from qwo.series.sums import row_numbers
from qwo.types import FloatArray, Indices


def prepared_series(series: SeriesData, options: SearchOptions) -> SeriesData:
    """The series as the options want them, season first, then lines, then differences."""
    if options.within and len(series.labels) < 2:
        raise ArgumentError(
            "within is True, a mean for each unit, but there is one series only; name the column "
            "that tells units apart (unit=), or leave within out",
            option="within",
        )
    if options.season:
        series = _without_season(series, options.season)
    if options.detrend:
        time = series.places[:, None].astype(np.float64)
        series = _without(series, _chosen(series, options.detrend, "detrend"), time)
    if options.difference:
        series = _differences(series, _chosen(series, options.difference, "difference"))
    return series


CALENDAR = (4, 7, 12, 24, 48, 52, 96, 144, 168, 288, 336, 365)
"""Rows of the seasons that are taken off unasked: parts of years, weeks and days. Waves of other
lengths come by themselves in slow series."""

SEASONS = 8
"""Seasons that series must have for that."""

YEARS, FEWEST_YEARS, WAVES = (52, 365), 2, 3
"""Rows of a year that is looked for where it comes less often, at least so many times; and waves of
which it is made then, as means by day of few years are mostly noise."""


def made_stationary(
    series: SeriesData,
    options: SearchOptions,
    also: Sequence[StationarityFinding],
    pays: Callable[[SeriesData, dict[str, Any], int], bool],
) -> tuple[SeriesData, SearchOptions]:
    """The series with what was found noted, without seasons and lines if lags are chosen, too.

    All columns lose them, as if season and line were causes of each; the options say so then. Slow
    series around a line, or a wave of a year, look like random walks: where lines or such waves pay
    they are taken off as well.
    """
    found = stationarity_findings(series)
    taken: dict[str, Any] = {}
    if options.lags == "auto" and not options.difference and series.streamed is None:
        seasons = [f.rows for f in found if f.trouble == "season"]
        season = _on_calendar(max(set(seasons), key=seasons.count), series) if seasons else 0
        season = season if _has_long(series, SEASONS * season) else 0
        wander = [f for f in found if f.trouble not in ("season", "units")]
        year = _year(series) if not season and (seasons or wander) else 0
        if options.season is None and (
            season or (year and pays(series, {"season": year}, 2 * WAVES))
        ):
            taken["season"] = season or year
        again: dict[str, Any] = {"difference": None, "season": None, "detrend": None}
        series = prepared_series(series, replace(options, **again | taken))
        if year and taken:
            own = [
                f for f in found if f in wander or (f.rows and _on_calendar(f.rows, series) == year)
            ]
            found = [f._replace(trouble="season", rows=year) if f in own else f for f in found]
            wander = [f for f in stationarity_findings(series) if f.trouble != "season"]
        may = options.detrend is None and bool(wander) and _has_long(series, FEWEST_ROWS)
        line = {"detrend": True}
        if may and (any(f.trouble == "trend" for f in wander) or pays(series, line, 1)):
            taken |= line
            series = prepared_series(series, replace(options, **again | line))
        left = stationarity_findings(series) if taken else found
        gone = [f for f in found if f.trouble == "season" and "season" in taken]
        if "detrend" in taken:
            same = {f.variable for f in left if f.trouble in ("unit root", "break")}
            lines = [f for f in wander if f.variable not in same] or wander
            gone += [f._replace(trouble="trend") for f in lines]
        found = [*gone, *left]
    notes = warn_of(series, [*found, *also], taken)
    if options.within and len(series.static):
        still = list_names([series.names[v] for v in series.static.tolist()])
        told = f"with a mean for each unit (within) nothing is told of effects of {still}"
        notes = (*notes, told)
    return replace(series, notes=(*series.notes, *notes)), replace(options, **taken)


def _on_calendar(rows: int, series: SeriesData) -> int:
    """The length of a season on the calendar that cannot be told from the one found; 0 if none."""
    longest = int(np.bincount(series.unit_of_rows).max())
    apart = [abs(longest / own - longest / rows) for own in CALENDAR]
    return CALENDAR[int(np.argmin(apart))] if min(apart) < 0.6 else 0


def _year(series: SeriesData) -> int:
    """The rows of a year of which there are some, but few; 0 if none."""
    few = [y for y in YEARS if not _has_long(series, SEASONS * y)]
    return next((y for y in few if _has_long(series, FEWEST_YEARS * y)), 0)


def _has_long(series: SeriesData, rows: int) -> bool:
    """Whether nine rows in ten are of units of so many rows, gaps or not."""
    counts = np.bincount(series.unit_of_rows)
    return bool(counts[counts >= rows].sum() >= 0.9 * counts.sum())


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
    longest = int(np.bincount(series.unit_of_rows).max())
    if longest < 2 * period:
        raise ArgumentError(
            f"season is {period} rows, but the longest series has {longest}; two seasons at least "
            "are needed to tell one",
            option="season",
        )
    columns, units = _chosen(series, True, "season"), series.unit_of_rows
    if period >= min(YEARS) and longest < SEASONS * period:
        turns = 2 * np.pi / period * np.outer(series.places, np.arange(1, WAVES + 1))
        return _without(series, columns, np.hstack([np.cos(turns), np.sin(turns)]))
    # By the clock, so that what comes behind a gap has the season of its time.
    phases = np.unique(units * period + series.places % period, return_inverse=True)[1]
    values = series.values.copy()
    for v in columns.tolist():
        values[:, v] += _means(values[:, v], units) - _means(values[:, v], phases)
    return replace(series, values=values)


def _means(values: FloatArray, groups: Indices) -> FloatArray:
    """The mean of the group of each row, over what is there."""
    there = np.isfinite(values)
    sums = np.bincount(groups[there], values[there], groups.max() + 1)
    counts = np.bincount(groups[there], minlength=groups.max() + 1)
    return np.asarray((sums / np.maximum(counts, 1))[groups])


def _without(series: SeriesData, columns: Indices, given: FloatArray) -> SeriesData:
    """The series without what given columns, less their means, explain of some, unit by unit."""
    values, units = series.values.copy(), series.unit_of_rows
    for own in np.split(np.arange(len(units)), np.flatnonzero(np.diff(units)) + 1):
        for v in columns.tolist():
            there = own[np.isfinite(values[own, v])]
            part = given[there] - given[there].mean(axis=0) if len(there) else given[there]
            values[there, v] -= part @ np.linalg.lstsq(part, values[there, v], rcond=None)[0]
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
        places=series.places[kept],
    )
