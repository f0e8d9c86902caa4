"""Whether series keep their mean and spread: unit roots, trends, seasons and breaks, by column.

Nothing is changed here; each finding names its columns and the option that would help. Columns are
looked at in their longest stretch without a gap.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from qwo.errors import Cure, DataWarning, list_names
from qwo.series.reading import SeriesData
from qwo.types import FloatArray, Indices

Trouble = Literal["unit root", "trend", "season", "break"]

FEWEST_ROWS = 50
"""Shorter series say nothing about these things."""

UNIT_ROOT, UNIT_ROOT_TREND = -2.86, -3.41
"""Dickey and Fuller's 5 % points with a constant, and with a line as well (MacKinnon 1996)."""

AROUND_STEP = -4.8
"""That of Zivot and Andrews (1992) around a level that changes once, at an unknown time."""

LEVEL = 0.001
"""Of the other tests, divided by the number of columns."""


class StationarityFinding(NamedTuple):
    """What is wrong with a column; of a season its rows, of a break the row it begins at."""

    variable: int
    trouble: Trouble
    rows: int = 0
    at: int = 0


def stationarity_findings(series: SeriesData) -> list[StationarityFinding]:
    """What keeps columns of numbers from being stationary; at most one thing each, and seasons."""
    start, stop = series.bounds[int(np.argmax(series.lengths))].tolist()
    if stop - start < FEWEST_ROWS:
        return []
    columns = [v for v in series.moving.tolist() if not series.coding.variables[v].levels]
    found: list[StationarityFinding] = []
    for v in columns:
        values = series.values[start:stop, v]
        values = values[np.isfinite(values)]
        if len(values) < FEWEST_ROWS or values.std() == 0:
            continue
        values = (values - values.mean()) / values.std()
        rows = season_of(values, LEVEL / len(columns))
        if rows:
            found.append(StationarityFinding(v, "season", rows))
            values = _without_phases(values, rows)
        trouble = _trouble(values, LEVEL / len(columns))
        if trouble is not None and not (trouble == "break" and series.regimes is not None):
            at = start + break_place(values) if trouble == "break" else 0
            found.append(StationarityFinding(v, trouble, at=at))
    return found


def _trouble(values: FloatArray, level: float) -> Trouble | None:
    line, step, left = _line_and_step(values)
    shape: Trouble = "break" if step > line else "trend"
    plain, around, rising = dickey_fuller(values)
    if plain > UNIT_ROOT:
        if around < UNIT_ROOT_TREND:
            return shape
        return "break" if dickey_fuller(left)[0] < AROUND_STEP else "unit root"
    if abs(rising) > _normal_point(level):
        return shape
    return "break" if break_probability(values) < level else None


def dickey_fuller(values: FloatArray) -> tuple[float, float, float]:
    """The t of x_{t-1} in the regression of Δx_t on it, earlier changes and a constant.

    Then the same with a line as well, and the t of that line. As many changes as BIC wants. The
    first two are very negative where there is no unit root.
    """
    change, most = np.diff(values), int(12 * (len(values) / 100) ** 0.25)
    most = min(most, len(values) // 5)
    rows = len(change) - most
    matrix = np.empty((most + 4, rows))
    matrix[0], matrix[1], matrix[2] = 1, values[most:-1], np.linspace(-1, 1, rows)
    for i in range(most + 1):
        matrix[i + 3] = change[most - i : len(change) - i]
    products = matrix @ matrix.T
    base = np.array([0, 1, *range(4, most + 4)]), np.array([0, 1, 2, *range(4, most + 4)])
    (plain, _), (around, line) = (_by_changes(products, own, rows, most) for own in base)
    return plain, around, line


def _by_changes(
    products: FloatArray, columns: Indices, rows: int, most: int
) -> tuple[float, float]:
    """The t of the second column and of the last before changes, as many of them as BIC wants."""
    among, with_y = products[np.ix_(columns, columns)], products[columns, 3]
    first = len(columns) - most
    # The factor of all columns has those of the first so many: one of each is enough.
    factor = np.linalg.cholesky(among + 1e-10 * np.trace(among) * np.eye(len(among)))
    explained = np.cumsum(np.linalg.solve(factor, with_y) ** 2)[first - 1 :]
    squares = np.maximum(products[3, 3] - explained, 1e-300)
    widths = np.arange(first, first + most + 1)
    k = int(np.argmin(rows * np.log(squares) + widths * math.log(rows)))
    width = int(widths[k])
    root = np.linalg.inv(factor[:width, :width])
    inverse = root.T @ root
    spread = squares[k] / max(rows - width, 1) * np.diagonal(inverse)
    ratios = inverse @ with_y[:width] / np.sqrt(np.maximum(spread, 1e-300))
    return float(ratios[1]), float(ratios[first - 1])


def _line_and_step(values: FloatArray) -> tuple[float, float, FloatArray]:
    """Variance that a line explains, and a step at the best time; what the step leaves."""
    rows, centred = len(values), values - values.mean()
    time = np.linspace(-1, 1, rows)
    line = float(time @ centred) ** 2 / float(time @ time)
    ends = np.arange(rows // 7, rows - rows // 7)
    sums = np.cumsum(centred)[ends - 1]
    gains = sums**2 * rows / (ends * (rows - ends))
    best = int(ends[int(np.argmax(gains))])
    left = values.copy()
    left[:best] -= values[:best].mean()
    left[best:] -= values[best:].mean()
    return line, float(gains.max()), left


def _long_run_variance(left: FloatArray) -> float:
    """Newey and West's, over as many lags as Andrews' rule gives."""
    rows = len(left)
    near = float(left[1:] @ left[:-1]) / max(float(left @ left), 1e-300)
    near = min(max(near, 0.0), 0.97)
    most = int(1.1447 * (4 * near**2 / (1 - near**2) ** 2 * rows) ** (1 / 3)) + 1
    most = min(most, rows // 3)
    total = float(left @ left)
    for lag in range(1, most + 1):
        total += 2 * (1 - lag / (most + 1)) * float(left[lag:] @ left[:-lag])
    return max(total / rows, 1e-300)


def season_of(values: FloatArray, level: float) -> int:
    """The rows of a season, or 0: the largest peak of the whitened periodogram, by Fisher's g."""
    time = np.linspace(-1, 1, len(values))
    white = _whitened(values - float(time @ values) / float(time @ time) * time)
    power = np.abs(np.fft.rfft(white)[1:]) ** 2
    count = len(power)
    peak = int(np.argmax(power))
    share = float(power[peak] / power.sum())
    chance = count * (1 - share) ** (count - 1)
    rows = round(len(white) / (peak + 1))
    if chance >= level or not 2 <= rows <= len(values) // 3:
        return 0
    # A season that is no wave may peak at a part of its length.
    parts = [m * rows for m in (1, 2, 3, 4, 6, 12) if m * rows <= len(values) // 3]
    return min(parts, key=lambda own: _phase_cost(white, own))


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
    centred = values - values.mean()
    matrix = np.column_stack([centred[1:-1], centred[:-2]])
    among = matrix.T @ matrix
    among += 1e-12 * np.trace(among) * np.eye(2)
    slopes = np.linalg.solve(among, matrix.T @ centred[2:])
    # Complex roots would take a season away with the rest.
    if slopes[0] ** 2 + 4 * slopes[1] < 0:
        slopes = np.array([float(centred[1:] @ centred[:-1] / (centred @ centred)), 0.0])
    return np.asarray(centred[2:] - matrix @ slopes)


def break_probability(values: FloatArray) -> float:
    """That sums of residuals, or of their squares, wander so far by chance."""
    return min(2 * math.exp(-2 * reach**2) for reach, _ in _reaches(values))


def break_place(values: FloatArray) -> int:
    """The row from which on mean or spread is another one."""
    return max(_reaches(values))[1]


def _reaches(values: FloatArray) -> list[tuple[float, int]]:
    """How far sums of residuals and of their squares go in standard errors, and at which row."""
    left, found = _whitened(values), []
    for whole in (left, left**2):
        part = whole - whole.mean()
        sums = np.abs(np.cumsum(part))
        spread = math.sqrt(_long_run_variance(part) * len(part))
        found.append((float(sums.max()) / spread, int(np.argmax(sums)) + 3))
    return found


def _normal_point(level: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(level / 2))


def warn_of(series: SeriesData, found: Sequence[StationarityFinding]) -> tuple[str, ...]:
    """Say what was found, with the option that helps, and give it as notes; nothing is applied."""
    notes = []
    for trouble in ("unit root", "trend", "season", "break"):
        own = [f for f in found if f.trouble == trouble]
        if not own:
            continue
        names = [series.names[f.variable] for f in own]
        text, cures = _worded(trouble, names, [f.at or f.rows for f in own])
        notes.append(text)
        warnings.warn(DataWarning(text, cures), stacklevel=6)
    return tuple(notes)


def _worded(trouble: str, names: list[str], rows: list[int]) -> tuple[str, list[Cure]]:
    shown = list_names(names)
    if trouble == "unit root":
        text = f"unit root: {shown} wander without a mean, as random walks do; lags find too much"
        return text, [Cure("difference", names, "takes changes from row to row")]
    if trouble == "trend":
        text = f"trend: {shown} rise or fall with time, which looks like an effect of the past"
        return text, [Cure("detrend", names, "takes a straight line off")]
    if trouble == "season":
        length = max(set(rows), key=rows.count)
        text = f"season: {shown} repeat every {length} rows"
        return text, [Cure("season", length, "takes the mean of each phase off")]
    at = sorted(set(rows))
    where = f"row {at[0]}" if len(at) == 1 else f"rows {at[0]} to {at[-1]}"
    text = (
        f"break: mean or spread of {shown} changes in the course of time, about {where}; let "
        "equations differ between conditions, by a column that says before or after "
        '(regime="period")'
    )
    return text, []
