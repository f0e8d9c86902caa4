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
from qwo.types import FloatArray

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
    """What is wrong with a column, and of a season its rows."""

    variable: int
    trouble: Trouble
    rows: int = 0


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
            found.append(StationarityFinding(v, trouble))
    return found


def _trouble(values: FloatArray, level: float) -> Trouble | None:
    line, step, left = _line_and_step(values)
    shape: Trouble = "break" if step > line else "trend"
    if dickey_fuller(values)[0] > UNIT_ROOT:
        if dickey_fuller(values, trend=True)[0] < UNIT_ROOT_TREND:
            return shape
        return "break" if dickey_fuller(left)[0] < AROUND_STEP else "unit root"
    if abs(dickey_fuller(values, trend=True)[1]) > _normal_point(level):
        return shape
    return "break" if break_probability(values) < level else None


def dickey_fuller(values: FloatArray, *, trend: bool = False) -> tuple[float, float]:
    """The t of x_{t-1} in the regression of Δx_t on it, earlier changes and a constant; of a line.

    As many changes as BIC wants. The first is very negative where there is no unit root.
    """
    change, most = np.diff(values), int(12 * (len(values) / 100) ** 0.25)
    most = min(most, len(values) // 5)
    rows = len(change) - most
    base = [np.ones(rows), values[most:-1]]
    if trend:
        base.append(np.linspace(-1, 1, rows))
    earlier = [change[most - i : len(change) - i] for i in range(1, most + 1)]
    matrix = np.column_stack([*base, *earlier, change[most:]])
    products = matrix.T @ matrix
    among, with_y, first = products[:-1, :-1], products[:-1, -1], len(base)
    # The factor of all columns has those of the first so many: one of each is enough.
    factor = np.linalg.cholesky(among + 1e-10 * np.trace(among) * np.eye(len(among)))
    explained = np.cumsum(np.linalg.solve(factor, with_y) ** 2)[first - 1 :]
    squares = np.maximum(products[-1, -1] - explained, 1e-300)
    widths = np.arange(first, first + most + 1)
    k = int(np.argmin(rows * np.log(squares) + widths * math.log(rows)))
    width = int(widths[k])
    inverse = np.linalg.pinv(among[:width, :width], hermitian=True)
    spread = squares[k] / max(rows - width, 1) * np.diagonal(inverse)
    ratios = inverse @ with_y[:width] / np.sqrt(np.maximum(spread, 1e-300))
    return float(ratios[1]), float(ratios[2]) if trend else 0.0


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
    time = np.arange(len(values))
    white = _whitened(values - np.polyval(np.polyfit(time, values, 1), time))
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
    slopes = np.linalg.lstsq(matrix, centred[2:], rcond=None)[0]
    # Complex roots would take a season away with the rest.
    if slopes[0] ** 2 + 4 * slopes[1] < 0:
        slopes = np.array([float(centred[1:] @ centred[:-1] / (centred @ centred)), 0.0])
    return np.asarray(centred[2:] - matrix @ slopes)


def break_probability(values: FloatArray) -> float:
    """That sums of residuals, or of their squares, wander so far by chance."""
    left = _whitened(values)
    smallest = 1.0
    for whole in (left, left**2):
        part = whole - whole.mean()
        spread = math.sqrt(_long_run_variance(part) * len(part))
        reach = float(np.abs(np.cumsum(part)).max()) / spread
        smallest = min(smallest, 2 * math.exp(-2 * reach**2))
    return smallest


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
        text, cures = _worded(trouble, names, [f.rows for f in own])
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
    text = (
        f"break: mean or spread of {shown} changes in the course of time; learn the rows before "
        "and after by themselves, or call them conditions (regime=)"
    )
    return text, []
