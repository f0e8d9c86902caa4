"""A graph on axes: nodes with labels, edges with heads, and room for a legend below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from qwo.plot.canvas import size_in_points
from qwo.plot.curves import arrow, edge_curves
from qwo.plot.labels import PLAIN_TEXT
from qwo.plot.layout import Layout
from qwo.plot.layout.layers import Pairs
from qwo.plot.looks import DASHES, SOLID, EdgeLook, Key, NodeLook
from qwo.plot.palette import Palette, ground_of
from qwo.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.typing import ColorType

Direction = Literal["layered", "layered-right"]

FONT_SIZE = 10.0
"""Of the labels of nodes at their nominal size, in points."""

# In points, at the nominal size of the nodes.
_HEAD_LENGTH = 6.0
_HEAD_WIDTH = 4.6
_RIM = 0.7
# In points, at any size.
_SMALLEST_DOT = 2.6
_LEGEND_GAP = 5.0
# Lines, unlike nodes, shrink to this share of their nominal width at most, so as to be seen.
_THINNEST_LINES = 0.4


def draw_edges(
    ax: Axes,
    layout: Layout,
    edges: Pairs,
    look: EdgeLook,
    direction: Direction,
    *,
    opacity: float,
) -> None:
    """Draw the lines as one collection, and the arrowheads as another one above it."""
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.path import Path

    paths, heads, fills, rims = [], [], [], []
    ground = ground_of(ax)
    hollow = np.zeros(len(edges), dtype=np.bool_) if look.hollow is None else look.hollow
    for k, curve in enumerate(edge_curves(layout, edges)):
        line = curve[::-1] if look.heads[k] < 0 else curve
        if look.heads[k]:
            thick = float(look.widths[k])
            line, head = arrow(
                line, (_HEAD_LENGTH + thick) * layout.scale, (_HEAD_WIDTH + thick) * layout.scale
            )
            heads.append(_turned(head, direction))
            fills.append(ground if hollow[k] else look.colours[k])
            rims.append(look.colours[k])
        codes = [Path.MOVETO] + [Path.CURVE4] * (len(line) - 1)
        paths.append(Path(_turned(line, direction), codes))
    ax.add_collection(
        PathCollection(
            paths,
            facecolors="none",
            edgecolors=list(look.colours),
            linewidths=look.widths * max(layout.scale, _THINNEST_LINES),
            linestyles=[DASHES if dashed else SOLID for dashed in look.dashed],
            capstyle="butt",
            alpha=opacity,
            zorder=1,
            gid="edges",
        ),
        autolim=False,
    )
    ax.add_collection(
        PolyCollection(
            heads,
            facecolors=fills,
            edgecolors=rims,
            linewidths=_RIM * max(layout.scale, _THINNEST_LINES),
            joinstyle="miter",
            alpha=opacity,
            zorder=2,
            gid="arrowheads",
        ),
        autolim=False,
    )


def draw_nodes(
    ax: Axes, layout: Layout, texts: Sequence[str] | None, look: NodeLook, direction: Direction
) -> None:
    """Draw the nodes as one collection: boxes around the labels, or dots where there are none."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Ellipse, FancyBboxPatch, Patch

    centres = _turned(layout.centres, direction)
    sizes = layout.sizes if direction == "layered" else layout.sizes[:, ::-1]
    if texts is None:
        sizes = np.maximum(sizes, _SMALLEST_DOT)
    shapes: list[Patch] = []
    for (x, y), (width, height) in zip(centres.tolist(), sizes.tolist(), strict=True):
        if texts is None:
            shapes.append(Ellipse((x, y), width, height))
        else:
            corner = (x - width / 2, y - height / 2)
            rounding = f"round,pad=0,rounding_size={0.32 * min(width, height)}"
            shapes.append(FancyBboxPatch(corner, width, height, boxstyle=rounding))
    ax.add_collection(
        PatchCollection(
            shapes,
            facecolors=list(look.fills),
            edgecolors=list(look.outlines if texts is not None else look.inks),
            linewidths=look.outline_widths * max(layout.scale, _THINNEST_LINES),
            zorder=3,
            gid="nodes",
        ),
        autolim=False,
    )
    if texts is not None:
        _draw_labels(ax, centres, texts, look.inks, FONT_SIZE * layout.scale)


def _draw_labels(
    ax: Axes, centres: FloatArray, texts: Sequence[str], inks: Sequence[ColorType], size: float
) -> None:
    for (x, y), text, ink in zip(centres.tolist(), texts, inks, strict=True):
        ax.text(
            x,
            y,
            text,
            color=ink,
            fontsize=size,
            ha="center",
            va="center_baseline" if "\n" not in text else "center",
            linespacing=1.05,
            zorder=4,
            gid="label",
            **PLAIN_TEXT,
        )


def frame_axes(ax: Axes, width: float, height: float) -> None:
    """Make a point the unit of the axes, with the origin at the upper left corner."""
    ax.set_xlim(0, width)
    ax.set_ylim(-height, 0)
    ax.set_aspect("equal", adjustable="box")


def draw_legend(ax: Axes, keys: Sequence[Key], palette: Palette) -> float:
    """Draw the legend along the lower border, in as few rows as fit; its height in points."""
    if not keys:
        return 0.0
    width, _ = size_in_points(ax)
    points = 72 / ax.figure.dpi
    for columns in range(len(keys), 0, -1):
        box = _legend(ax, keys, columns, palette).get_window_extent()
        if box.width * points <= width:
            break
    return float(box.height * points) + _LEGEND_GAP


def _legend(ax: Axes, keys: Sequence[Key], columns: int, palette: Palette) -> Legend:
    from matplotlib.legend_handler import HandlerTuple

    return ax.legend(
        [key.lines for key in keys],
        [key.label for key in keys],
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.4)},
        loc="lower center",
        ncols=columns,
        fontsize=8.5,
        labelcolor=palette.ink,
        handlelength=2.2,
        columnspacing=1.6,
        borderaxespad=0.2,
        frameon=False,
    )


def _turned(points: FloatArray, direction: Direction) -> FloatArray:
    """Points of the layout as points of the axes, whose second coordinate runs upwards."""
    x, y = points.T if direction == "layered" else points.T[::-1]
    return np.column_stack([x, -y])
