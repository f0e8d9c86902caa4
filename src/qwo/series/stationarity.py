"""Whether series keep their mean and spread: unit roots, trends, seasons and breaks, by column.

Nothing is changed here; each finding names its columns and the option that would help. Columns are
looked at in the unit with most rows, where a few that lack are filled in, or else in the longest
stretch without a gap.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from qwo.errors import Cure, DataWarning, list_names
from qwo.series.reading import SeriesData
from qwo.series.sums import row_numbers
from qwo.types import FloatArray, Indices

Trouble = Literal["unit root", "trend", "season", "break", "units"]

FEWEST_ROWS = 50
"""Shorter series say nothing about these things."""

UNIT_ROOT, UNIT_ROOT_TREND = -2.86, -3.41
"""Dickey and Fuller's 5 % points with a constant, and with a line as well (MacKinnon 1996)."""

AROUND_STEP = -4.8
"""That of Zivot and Andrews (1992) around a level that changes once, at an unknown time."""

LEVEL = 0.001
"""Of the other tests, divided by the number of columns."""

FEWEST_UNITS, UNLIKE = 5, 6.0
"""Units from which on their means are compared, and standard errors by which these must differ."""

BEFORE, BESIDE = 4, 9.0
"""Earlier rows beside which a wave must explain a series to be a season, and the F that it has."""

MOSTLY = 0.8
"""Share of the steps of time that must be there for the others to be filled in for the tests."""

AT_ONCE = 1 << 17
"""Values that are looked at together."""


class StationarityFinding(NamedTuple):
    """What is wrong with a column; of a season its rows, of a break the row it begins at."""

    variable: int
    trouble: Trouble
    rows: int = 0
    at: int = 0


def stationarity_findings(series: SeriesData) -> list[StationarityFinding]:
    """What keeps columns of numbers from being stationary; at most one thing each, and seasons."""
    rows = _rows_looked_at(series)
    if len(rows) < FEWEST_ROWS:
        return []
    columns = [v for v in series.moving.tolist() if not series.coding.variables[v].levels]
    times = series.places[rows] - series.places[rows[0]]
    size = max(1, AT_ONCE // int(times[-1] + 1))
    found: list[StationarityFinding] = []
    for first in range(0, len(columns), size):
        group = columns[first : first + size]
        part = np.array([_filled(series.values[rows, v], times) for v in group])
        for k, trouble, *told in _troubles(part, LEVEL / len(columns)):
            at = int(rows[np.searchsorted(times, told[1])]) if trouble == "break" else 0
            found.append(StationarityFinding(group[k], trouble, told[0], at))
    known = series.regimes is not None
    return sorted((f for f in found if not (known and f.trouble == "break")), key=lambda f: f[0])


def _rows_looked_at(series: SeriesData) -> Indices:
    """Those of the unit with most rows if few steps lack there, or of the longest stretch."""
    rows = np.flatnonzero(series.unit_of_rows == np.bincount(series.unit_of_rows).argmax())
    if len(rows) >= MOSTLY * (series.places[rows[-1]] + 1 - series.places[rows[0]]):
        return rows
    return np.arange(*series.bounds[int(np.argmax(series.lengths))])


def _filled(values: FloatArray, times: Indices) -> FloatArray:
    """A value for each step of time, between its neighbours where it lacks; 0 if few are known."""
    there = np.isfinite(values)
    if there.sum() < max(FEWEST_ROWS, MOSTLY * len(there)):
        return np.zeros(int(times[-1]) + 1)
    return np.asarray(np.interp(np.arange(times[-1] + 1), times[there], values[there]))


def _troubles(values: FloatArray, level: float) -> list[tuple[int, Trouble, int, int]]:
    """What is wrong with which of the series, the rows of a season, and where a break is."""
    from scipy.special import ndtri

    moving = np.flatnonzero(np.ptp(values, axis=1) > 0)
    values = values[moving]
    values = (values - values.mean(axis=1)[:, None]) / values.std(axis=1)[:, None]
    found: list[tuple[int, Trouble, int, int]] = []
    for k, rows in enumerate(seasons_of(values, level)):
        if rows:
            found.append((int(moving[k]), "season", rows, 0))
            values[k] = _without_phases(values[k], rows)
    line, step, left = _line_and_step(values)
    plain, around, rising = dickey_fuller(values)
    reaches, places = _reaches(values)
    likely = 2 * np.exp(-2 * reaches**2) < level
    for k, v in enumerate(moving.tolist()):
        trouble: Trouble | None = None
        shape: Trouble = "break" if step[k] > line[k] else "trend"
        if plain[k] > UNIT_ROOT and around[k] >= UNIT_ROOT_TREND:
            trouble = "break" if dickey_fuller(left[[k]])[0][0] < AROUND_STEP else "unit root"
        elif plain[k] > UNIT_ROOT or abs(rising[k]) > -ndtri(level / 2):
            trouble = shape
        elif likely[k]:
            trouble = "break"
        if trouble is not None:
            found.append((v, trouble, 0, int(places[k])))
    return found


def unlike_units(series: SeriesData) -> list[StationarityFinding]:
    """Columns whose means differ between units by more than wandering within units explains.

    A mean of m rows of an autoregression has the variance s² (1 + r) / (1 - r) / m; r and s² are
    those within units, less the bias that means of few rows bring (Kendall 1954).
    """
    columns = [v for v in series.moving.tolist() if not series.coding.variables[v].levels]
    codes, values = series.unit_of_rows, series.values[:, columns]
    rows = np.bincount(codes, minlength=len(series.labels)).astype(np.float64)
    if len(series.labels) < FEWEST_UNITS or rows.min() < 2 or not np.isfinite(values).all():
        return []
    sums = np.stack([np.bincount(codes, own, len(rows)) for own in values.T])
    means, m = (sums / rows).T, float(rows.mean())
    left = values - means[codes]
    now = row_numbers(series.bounds, 1)
    near = (left[now] * left[now - 1]).sum(axis=0) / np.maximum((left**2).sum(axis=0), 1e-300)
    near = near * len(left) / max(len(now), 1)
    near = np.clip(near + (1 + 3 * near) / m, 0.0, 0.99)
    wander = (1 + near) / (1 - near) / m
    expected = left.var(axis=0) * wander / np.maximum(1 - wander, 0.1)
    # What never changes within a unit may be why.
    first = np.searchsorted(codes, np.arange(len(rows)))
    known = np.column_stack([np.ones(len(rows)), series.values[first][:, series.static]])
    means = means - known @ np.linalg.lstsq(known, means, rcond=None)[0]
    free = max(len(rows) - known.shape[1], 1)
    ratio = (means**2).sum(axis=0) / free / np.maximum(expected, 1e-300)
    unlike = ratio > 1 + UNLIKE * math.sqrt(2 / free)
    return [StationarityFinding(columns[k], "units") for k in np.flatnonzero(unlike).tolist()]


def dickey_fuller(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The t of x_{t-1} in the regression of Δx_t on it, earlier changes and a constant.

    Then the same with a line as well, and the t of that line. As many changes as BIC wants. The
    first two are very negative where there is no unit root. Each series is a row.
    """
    change, length = np.diff(values), values.shape[1]
    most = min(int(12 * (length / 100) ** 0.25), length // 5)
    rows = length - 1 - most
    matrix = np.empty((len(values), most + 4, rows))
    matrix[:, 0], matrix[:, 1], matrix[:, 2] = 1, values[:, most:-1], np.linspace(-1, 1, rows)
    for i in range(most + 1):
        matrix[:, i + 3] = change[:, most - i : length - 1 - i]
    products = matrix @ matrix.swapaxes(1, 2)
    base = np.array([0, 1, *range(4, most + 4)]), np.array([0, 1, 2, *range(4, most + 4)])
    (plain, _), (around, line) = (_by_changes(products, own, rows, most) for own in base)
    return plain, around, line


def _by_changes(
    products: FloatArray, columns: Indices, rows: int, most: int
) -> tuple[FloatArray, FloatArray]:
    """The t of the second column and of the last before changes, as many of them as BIC wants."""
    among, with_y = products[:, columns[:, None], columns], products[:, columns, 3]
    first = len(columns) - most
    # The factor of all columns has those of the first so many, and so has its inverse.
    ridge = 1e-10 * np.trace(among, axis1=1, axis2=2)
    factor = np.linalg.cholesky(among + ridge[:, None, None] * np.eye(len(columns)))
    root = np.linalg.inv(factor)
    solved = (root @ with_y[:, :, None])[:, :, 0]
    explained = np.cumsum(solved**2, axis=1)[:, first - 1 :]
    squares = np.maximum(products[:, 3, 3, None] - explained, 1e-300)
    widths = np.arange(first, first + most + 1)
    best = np.argmin(rows * np.log(squares) + widths * math.log(rows), axis=1)
    every, last = np.arange(len(products)), widths[best] - 1
    scatter = squares[every, best] / np.maximum(rows - widths[best], 1)

    def ratio(column: int) -> FloatArray:
        own = root[:, :, column]
        spread = scatter * np.cumsum(own**2, axis=1)[every, last]
        slopes = np.cumsum(own * solved, axis=1)[every, last]
        return np.asarray(slopes / np.sqrt(np.maximum(spread, 1e-300)))

    return ratio(1), ratio(first - 1)


def _line_and_step(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Variance that a line explains, and a step at the best time; what the step leaves."""
    rows = values.shape[1]
    centred = values - values.mean(axis=1)[:, None]
    time = np.linspace(-1, 1, rows)
    line = (centred @ time) ** 2 / float(time @ time)
    ends = np.arange(rows // 7, rows - rows // 7)
    sums = np.cumsum(centred, axis=1)[:, ends - 1]
    gains = sums**2 * rows / (ends * (rows - ends))
    best = np.argmax(gains, axis=1)
    every = np.arange(len(values))
    before, size = sums[every, best][:, None], ends[best][:, None]
    left = centred - np.where(np.arange(rows) < size, before / size, -before / (rows - size))
    return line, gains[every, best], left


def _long_run_variances(left: FloatArray) -> FloatArray:
    """Newey and West's, over as many lags as Andrews' rule gives."""
    rows = left.shape[1]
    total = (left**2).sum(axis=1)
    near = (left[:, 1:] * left[:, :-1]).sum(axis=1) / np.maximum(total, 1e-300)
    near = np.clip(near, 0.0, 0.97)
    most = 1.1447 * (4 * near**2 / (1 - near**2) ** 2 * rows) ** (1 / 3)
    most = np.minimum(most.astype(np.intp) + 1, rows // 3)
    for lag in range(1, int(most.max(initial=0)) + 1):
        weights = np.maximum(1 - lag / (most + 1), 0)
        total = total + 2 * weights * (left[:, lag:] * left[:, :-lag]).sum(axis=1)
    return np.asarray(np.maximum(total / rows, 1e-300))


def seasons_of(values: FloatArray, level: float) -> list[int]:
    """The rows of each one's season, or 0: the peak of the whitened periodogram, by Fisher's g."""
    time = np.linspace(-1, 1, values.shape[1])
    white = _whitened(values - (values @ time / float(time @ time))[:, None] * time)
    power = np.abs(np.fft.rfft(white)[:, 1:]) ** 2
    count = power.shape[1]
    peaks = np.argmax(power, axis=1)
    shares = power.max(axis=1) / power.sum(axis=1)
    sure = count * (1 - shares) ** (count - 1) < level
    found, longest = [0] * len(values), values.shape[1] // 3
    for k in np.flatnonzero(sure).tolist():
        rows = round(white.shape[1] / (int(peaks[k]) + 1))
        if 2 <= rows <= longest and _keeps_time(values[k], (int(peaks[k]) + 1) / white.shape[1]):
            # A season that is no wave may peak at a part of its length.
            parts = [m * rows for m in (1, 2, 3, 4, 6, 12) if m * rows <= longest]
            found[k] = min(parts, key=lambda own, k=k: _phase_cost(white[k], own))  # type: ignore[misc]
    return found


def _keeps_time(values: FloatArray, frequency: float) -> bool:
    """Whether a wave explains a series beside its last rows, as waves that come and go do not."""
    time = np.arange(BEFORE, len(values))
    past = [values[BEFORE - k : len(values) - k] for k in range(1, BEFORE + 1)]
    turns = 2 * np.pi * frequency * time
    design = np.stack([np.ones(len(time)), *past, np.cos(turns), np.sin(turns)], axis=1)
    factor = np.linalg.qr(design)[0]
    squares = (values[BEFORE:] @ factor) ** 2
    left = float(values[BEFORE:] @ values[BEFORE:]) - squares.sum()
    free = max(len(time) - design.shape[1], 1)
    return bool(squares[-2:].sum() / 2 > BESIDE * max(float(left), 1e-300) / free)


def _phase_cost(values: FloatArray, rows: int) -> float:
    """The BIC of means by phase."""
    left = _without_phases(values, rows)
    square = max(float(left @ left), 1e-300)
    return len(values) * math.log(square) + rows * math.log(len(values))


def _without_phases(values: FloatArray, rows: int) -> FloatArray:
    phases = np.arange(len(values)) % rows
    means = np.bincount(phases, values, rows) / np.maximum(np.bincount(phases, minlength=rows), 1)
    return np.asarray(values - means[phases])


def _whitened(values: FloatArray) -> FloatArray:
    """What an autoregression of one or two rows leaves: enough to make peaks comparable."""
    centred = values - values.mean(axis=1)[:, None]
    now, one, two = centred[:, 2:], centred[:, 1:-1], centred[:, :-2]
    a, b, c = ((x * y).sum(axis=1) for x, y in ((one, one), (one, two), (two, two)))
    ridge = 1e-12 * (a + c)
    a, c, d, e = a + ridge, c + ridge, (one * now).sum(axis=1), (two * now).sum(axis=1)
    slopes = np.stack([c * d - b * e, a * e - b * d]) / (a * c - b * b)
    # Complex roots would take a season away with the rest.
    alone = (centred[:, 1:] * centred[:, :-1]).sum(axis=1) / (centred**2).sum(axis=1)
    complex_roots = slopes[0] ** 2 + 4 * slopes[1] < 0
    first, second = np.where(complex_roots, [alone, np.zeros_like(alone)], slopes)
    return np.asarray(now - first[:, None] * one - second[:, None] * two)


def _reaches(values: FloatArray) -> tuple[FloatArray, Indices]:
    """How far sums of residuals, or of their squares, go in standard errors, and at which row."""
    left, found, places = _whitened(values), [], []
    for whole in (left, left**2):
        part = whole - whole.mean(axis=1)[:, None]
        sums = np.abs(np.cumsum(part, axis=1))
        found.append(sums.max(axis=1) / np.sqrt(_long_run_variances(part) * part.shape[1]))
        places.append(np.argmax(sums, axis=1) + 3)
    second = found[1] > found[0]
    return np.where(second, found[1], found[0]), np.where(second, places[1], places[0])


def warn_of(
    series: SeriesData, found: Sequence[StationarityFinding], taken: Mapping[str, Any]
) -> tuple[str, ...]:
    """Say what was found, with the option that helps or was `taken`, and give it as notes."""
    notes = []
    for trouble in get_args(Trouble):
        own = [f for f in found if f.trouble == trouble]
        if not own:
            continue
        names = [series.names[f.variable] for f in own]
        text, cures = _worded(trouble, names, [f.at or f.rows for f in own])
        options = [cure.option for cure in cures if cure.option in taken]
        if options:
            text += '; taken off all columns, as lags="auto" does'
            cures = [Cure(own, 0 if own == "season" else "none", "keeps it") for own in options]
        notes.append(text)
        warnings.warn(DataWarning(text, cures), stacklevel=7)
    return tuple(notes)


def _worded(trouble: str, names: list[str], rows: list[int]) -> tuple[str, list[Cure]]:
    shown, s = list_names(names), "" if len(names) > 1 else "s"
    length, at = max(set(rows), key=rows.count), sorted(set(rows))
    where = f"row {at[0]}" if len(at) == 1 else f"rows {at[0]} to {at[-1]}"
    texts = {
        "unit root": f"{shown} wander{s} without a mean, as random walks do; lags find too much",
        "trend": f"{shown} rise{s} or fall{s} with time, which looks like an effect of the past",
        "units": f"means of {shown} differ between units, which looks like effects of the past",
        "season": f"{shown} repeat{s} every {length} rows",
        "break": f"mean or spread of {shown} changes in the course of time, about {where}; let "
        "equations differ between conditions, by a column that says before or after "
        '(regime="period")',
    }
    cures = {
        "unit root": Cure("difference", names, "takes changes from row to row"),
        "trend": Cure("detrend", names, "takes a straight line off"),
        "units": Cure("within", True, "gives each unit a mean of its own"),
        "season": Cure("season", length, "takes the mean of each phase off"),
    }
    return f"{trouble}: {texts[trouble]}", [cures[trouble]] if trouble in cures else []
