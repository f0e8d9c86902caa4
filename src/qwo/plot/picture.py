"""From a graph and the looks of its parts to a picture that fits its axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from qwo.layout import Arrangement, Layout, arrange
from qwo.layout.curves import arrow, edge_curves
from qwo.layout.labels import PLAIN_TEXT, label_texts, text_size
from qwo.layout.layers import Pairs
from qwo.plot.style import (
    DASHES,
    SOLID,
    EdgeLook,
    Key,
    Looks,
    NodeLook,
    Palette,
    ground_of,
    open_axes,
    palette_for,
    size_in_points,
)
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

    lines, heads = _lines_and_heads(layout, edges, look)
    curves = [[Path.MOVETO] + [Path.CURVE4] * (len(line) - 1) for line in lines]
    hollow = np.zeros(len(edges), dtype=np.bool_) if look.hollow is None else look.hollow
    ground, rims = ground_of(ax), [look.colours[k] for k in heads]
    ax.add_collection(
        PathCollection(
            [Path(_turned(line, direction), c) for line, c in zip(lines, curves, strict=True)],
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
            [_turned(head, direction) for head in heads.values()],
            facecolors=[ground if hollow[k] else look.colours[k] for k in heads],
            edgecolors=rims,
            linewidths=_RIM * max(layout.scale, _THINNEST_LINES),
            joinstyle="miter",
            alpha=opacity,
            zorder=2,
            gid="arrowheads",
        ),
        autolim=False,
    )


def _lines_and_heads(
    layout: Layout, edges: Pairs, look: EdgeLook
) -> tuple[list[FloatArray], dict[int, FloatArray]]:
    """The curve of each edge, and the arrowhead of each that has one, by number."""
    lines, heads = [], {}
    for k, curve in enumerate(edge_curves(layout, edges)):
        line = curve[::-1] if look.heads[k] < 0 else curve
        if look.heads[k]:
            thick = float(look.widths[k])
            line, heads[k] = arrow(
                line, (_HEAD_LENGTH + thick) * layout.scale, (_HEAD_WIDTH + thick) * layout.scale
            )
        lines.append(line)
    return lines, heads


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


# The longest labels first: characters a line, lines, and the font size they must reach.
_LABEL_SHAPES = ((20, 3, 8.5), (14, 2, 7.0), (9, 2, 4.8), (6, 1, 4.8))
_MOST_LABELS = 300
_ALWAYS_LABELLED = 60
# In points, at the nominal size: around a label, for a dot, and for each edge at a border, so that
# the arrowheads at a hub stay apart.
_PADDING = (11.0, 7.0)
_DOT = 9.0
_ROOM_PER_EDGE = 4.0
_MOST_ROOM = 110.0
# How much nodes may grow to fill the axes, and distances beyond that.
_LARGEST_SCALE = 1.15
_STRETCH = 1.7
_DOT_STRETCH = 20.0
_DOT_EDGE_OPACITY = 0.6
_MARGIN = 5.0
# In inches.
_SMALLEST_FIGURE = (4.4, 2.6)
_LARGEST_FIGURES = ((14.0, 10.0), (20.0, 14.3), (28.0, 20.0))
"""A larger one is taken where labels of few variables could not be read in a smaller one."""


@dataclass(frozen=True)
class Sketch:
    """A graph laid out at its nominal size: with labels if they can be read, else with dots."""

    texts: list[str] | None
    layout: Layout
    readable: bool = True


def sketch(
    arrangement: Arrangement,
    names: Sequence[str],
    room: tuple[float, float],
    direction: Direction,
    labels: bool | None,
) -> Sketch:
    """The longest labels that can be read when the drawing is fitted into so many points."""
    across, along = _sides(room, direction)
    shapes = _LABEL_SHAPES if labels or (labels is None and len(names) <= _MOST_LABELS) else ()
    least = np.minimum(_ROOM_PER_EDGE * arrangement.most_edges_at_a_side(), _MOST_ROOM)
    for characters, lines, font_size in shapes:
        texts = label_texts(names, characters, lines)
        sizes = np.array([_sides(text_size(text, FONT_SIZE), direction) for text in texts])
        sizes += _sides(_PADDING, direction)
        sizes[:, 0] = np.maximum(sizes[:, 0], least)
        found = Sketch(texts, arrangement.place(sizes, across / along))
        scale = found.layout.fitted(across, along, margin=_MARGIN).scale
        if scale * FONT_SIZE >= font_size:
            return found
    if labels or (labels is None and len(names) <= _ALWAYS_LABELLED):
        return replace(found, readable=False)
    dots = np.full((len(names), 2), _DOT)
    return Sketch(None, arrangement.place(dots, across / along))


def draw_picture(
    names: Sequence[str],
    edges: Pairs,
    looks: Callable[[Palette], Looks],
    *,
    direction: Direction,
    labels: bool | None,
    ax: Axes | None,
    beside: Callable[[Axes, Palette], None] | None = None,
) -> Axes:
    """Draw a graph.

    Parameters
    ----------
    names : sequence of str
    edges : ndarray of int, m×2
        The ends of each edge, from above to below; together without a cycle.
    looks : callable
        The looks of nodes and edges, and the entries of the legend, given a palette.
    direction : str
        ``"layered"`` downwards, or ``"layered-right"``.
    labels : bool, optional
        Whether to write the names; by default, where they can be read.
    ax : Axes, optional
        New ones of a fitting size otherwise.
    beside : callable, optional
        Draws what takes room from the axes, before the rest is measured.
    """
    arrangement = arrange(len(names), edges)
    if ax is None:
        for largest in _LARGEST_FIGURES:
            drawn = sketch(arrangement, names, _in_points(largest), direction, labels)
            if drawn.readable or labels is False or len(names) > _ALWAYS_LABELLED:
                break
        ax = open_axes(None, *_figure_size(drawn, direction, largest))
    palette = palette_for(ax)
    ax.set_axis_off()
    look = looks(palette)
    if beside is not None:
        beside(ax, palette)
    below = draw_legend(ax, look.legend, palette)
    width, height = size_in_points(ax)
    room = width, max(height - below, height / 3)
    drawn = sketch(arrangement, names, room, direction, labels)
    layout = drawn.layout.fitted(
        *_sides(room, direction),
        margin=_MARGIN,
        largest=_LARGEST_SCALE,
        stretch=_STRETCH if drawn.texts is not None else _DOT_STRETCH,
    )
    frame_axes(ax, width, height)
    opacity = 1.0 if drawn.texts is not None else _DOT_EDGE_OPACITY
    draw_edges(ax, layout, edges, look.edges, direction, opacity=opacity)
    draw_nodes(ax, layout, drawn.texts, look.nodes, direction)
    return ax


def _sides(extent: tuple[float, float], direction: Direction) -> tuple[float, float]:
    """Width and height on the axes as extents across and along the layers, or the other way."""
    return extent if direction == "layered" else (extent[1], extent[0])


def _figure_size(
    drawn: Sketch, direction: Direction, largest: tuple[float, float]
) -> tuple[float, float]:
    """Inches for the drawing at its nominal size, within reason, with some air and a legend."""
    width, height = (
        min(max(1.15 * side / 72 + 0.5, least), most)
        for side, least, most in zip(
            _sides(drawn.layout.extent, direction), _SMALLEST_FIGURE, largest, strict=True
        )
    )
    return width, height


def _in_points(inches: tuple[float, float]) -> tuple[float, float]:
    return inches[0] * 72, inches[1] * 72
