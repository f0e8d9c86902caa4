"""Two variables against each other: points, the line or curve that fits, and what it leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qwo.columns.recipes import Coding, Variable
from qwo.curved.partial import fit_equation
from qwo.moments.curves import RowSample
from qwo.studio.searches import Data
from qwo.types import FloatArray

MOST_POINTS = 1500
"""Points of a scatter plot; rows from all over the table."""
FEWEST = 40
"""Rows below which no curve is looked for."""
COLUMNS, BENT = 5, 0.001
"""Columns of a curve through a scatter plot, and the p-value of a line below which it is shown."""


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
    """Points of the curve, where it fits better than the line by more than chance."""
    if len(rows) < FEWEST:
        return None
    sample, coding = RowSample(rows, None, len(rows)), Coding((Variable(), Variable()))
    equation = fit_equation(sample, coding, np.array([[0, 1], [0, 0]], np.int8), 1, COLUMNS)
    if not equation.p_value(slice(1, None)) <= BENT:
        return None
    at = np.linspace(rows[:, 0].min(), rows[:, 0].max(), 60)
    away = equation.columns_of(0, at) - equation.centre
    return np.column_stack([at, rows[:, 1].mean() + away @ equation.slopes])
