"""From a graph and the looks of its parts to a picture that fits its axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qwo.plot.canvas import open_axes, size_in_points
from qwo.plot.drawing import (
    FONT_SIZE,
    Direction,
    draw_edges,
    draw_legend,
    draw_nodes,
    frame_axes,
)
from qwo.plot.labels import label_texts, text_size
from qwo.plot.layout import Arrangement, Layout, arrange
from qwo.plot.layout.layers import Pairs
from qwo.plot.looks import Looks
from qwo.plot.palette import Palette, palette_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The longest labels first: characters a line, lines, and the font size they must reach.
_LABEL_SHAPES = ((20, 3, 8.5), (14, 2, 7.0), (9, 2, 4.8), (6, 1, 4.8))
_MOST_LABELS = 300
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
_LARGEST_FIGURE = (14.0, 10.0)


@dataclass(frozen=True)
class Sketch:
    """A graph laid out at its nominal size: with labels if they can be read, else with dots."""

    texts: list[str] | None
    layout: Layout


def sketch(
    arrangement: Arrangement,
    names: Sequence[str],
    room: tuple[float, float],
    direction: Direction,
    labels: bool | None,
) -> Sketch:
    """The longest labels that can be read when the drawing is fitted into so many points."""
    across, along = _turned(room, direction)
    shapes = _LABEL_SHAPES if labels or (labels is None and len(names) <= _MOST_LABELS) else ()
    least = np.minimum(_ROOM_PER_EDGE * arrangement.most_edges_at_a_side(), _MOST_ROOM)
    for characters, lines, font_size in shapes:
        texts = label_texts(names, characters, lines)
        sizes = np.array([_turned(text_size(text, FONT_SIZE), direction) for text in texts])
        sizes += _turned(_PADDING, direction)
        sizes[:, 0] = np.maximum(sizes[:, 0], least)
        found = Sketch(texts, arrangement.place(sizes, across / along))
        scale = found.layout.fitted(across, along, margin=_MARGIN).scale
        if scale * FONT_SIZE >= font_size:
            return found
    if labels:
        return found
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
        drawn = sketch(arrangement, names, _in_points(_LARGEST_FIGURE), direction, labels)
        ax = open_axes(None, *_figure_size(drawn, direction))
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
        *_turned(room, direction),
        margin=_MARGIN,
        largest=_LARGEST_SCALE,
        stretch=_STRETCH if drawn.texts is not None else _DOT_STRETCH,
    )
    frame_axes(ax, width, height)
    opacity = 1.0 if drawn.texts is not None else _DOT_EDGE_OPACITY
    draw_edges(ax, layout, edges, look.edges, direction, opacity=opacity)
    draw_nodes(ax, layout, drawn.texts, look.nodes, direction)
    return ax


def _turned(extent: tuple[float, float], direction: Direction) -> tuple[float, float]:
    """Width and height on the axes as extents across and along the layers, or the other way."""
    return extent if direction == "layered" else (extent[1], extent[0])


def _figure_size(drawn: Sketch, direction: Direction) -> tuple[float, float]:
    """Inches for the drawing at its nominal size, within reason, with some air and a legend."""
    width, height = (
        min(max(1.15 * side / 72 + 0.5, least), most)
        for side, least, most in zip(
            _turned(drawn.layout.extent, direction), _SMALLEST_FIGURE, _LARGEST_FIGURE, strict=True
        )
    )
    return width, height


def _in_points(inches: tuple[float, float]) -> tuple[float, float]:
    return inches[0] * 72, inches[1] * 72
