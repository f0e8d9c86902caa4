"""Two variables against each other: points, the line or curve that fits, and what it leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qwo.studio.searches import Data
from qwo.types import FloatArray

MOST_POINTS = 1500
"""Points of a scatter plot; rows from all over the table."""
FEWEST = 40
"""Rows below which no curve is looked for."""
KNOTS, BENT = (0.2, 0.5, 0.8), 0.001
"""Quantiles at which a curve through a scatter plot may bend, and the p-value of a line below which
it is shown."""


def scatter_plot(data: Data, first: str, second: str) -> dict[str, Any]:
    """Points, the line, a curve where the relation bends, and residuals of what fits."""
    table = data.table
    a, b = (table.names.index(name) for name in (first, second))
    rows = table.values[:, [a, b]]
    rows = rows[np.isfinite(rows).all(axis=1)]
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), MOST_POINTS)).astype(int)
    slope, middle = math.nan, math.nan
    if len(rows) > 2 and rows[:, 0].std() > 0:
        slope, middle = np.polyfit(rows[:, 0], rows[:, 1], 1)
    kept = rows[chosen]
    curve = _curve(rows) if not any(table.coding.variables[v].levels for v in (a, b)) else None
    fitted = slope * kept[:, 0] + middle
    if curve is not None:
        fitted = np.interp(kept[:, 0], *curve.T)
    return {
        "points": np.round(kept, 6),
        "n_rows": len(rows),
        "line": [slope, middle],
        "curve": None if curve is None else np.round(curve, 6),
        "residuals": np.round(kept[:, 1] - fitted, 6),
        "labels": [list(table.coding.variables[v].levels) for v in (a, b)],
        "correlation": float(np.atleast_2d(np.corrcoef(rows.T))[0, 1])
        if len(rows) > 2
        else math.nan,
    }


def _curve(rows: FloatArray) -> FloatArray | None:
    """Points of a cubic spline, where it fits better than the line by more than chance."""
    from scipy.interpolate import make_lsq_spline
    from scipy.stats import f as ratio

    x, y = rows[np.argsort(rows[:, 0], kind="stable")].T
    knots = np.quantile(x, KNOTS)
    if len(x) < FEWEST or not (np.diff([x[0], *knots, x[-1]]) > 0).all():
        return None
    spline = make_lsq_spline(x, y, np.r_[[x[0]] * 4, knots, [x[-1]] * 4])
    bent, straight = (
        float(np.sum((y - fitted) ** 2))
        for fitted in (spline(x), np.polyval(np.polyfit(x, y, 1), x))
    )
    more, left = len(KNOTS) + 2, len(x) - len(KNOTS) - 4
    if bent <= 0 or ratio.sf((straight - bent) / more / (bent / left), more, left) > BENT:
        return None
    at = np.linspace(x[0], x[-1], 60)
    return np.column_stack([at, spline(at)])
