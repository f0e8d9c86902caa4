"""The curves of edges, one small picture each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from qwo.drawing.axes import local_style
from qwo.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = 4


def plot_curves(discovery: Any, *, most: int = 12) -> Figure:
    """How effects depend on causes: the curves of the most curved edges, with their bands.

    Parameters
    ----------
    discovery : Discovery
        What `discover` returned with ``relations="curved"``.
    most : int
        How many edges to draw.
    """
    curves = getattr(discovery, "curves", None)
    if curves is None or not curves.dag.any():
        raise ArgumentError(
            'there are no curves to draw: relations="curved" learns them, where there are edges'
        )
    rows = sorted(curves.records(), key=lambda row: -row[3])[:most]
    with local_style():
        from matplotlib.figure import Figure

        down = math.ceil(len(rows) / ACROSS)
        across = min(len(rows), ACROSS)
        figure = Figure(figsize=(2.4 * across, 2.0 * down), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for ax, (cause, effect, _, _) in zip(grid, rows, strict=False):
            curve = curves.curve(cause, effect)
            ax.fill_between(curve.x, curve.low, curve.high, alpha=0.25, linewidth=0)
            ax.plot(curve.x, curve.y)
            ax.set_xlabel(cause)
            ax.set_ylabel(effect)
        for ax in grid[len(rows) :]:
            ax.set_axis_off()
    return figure
