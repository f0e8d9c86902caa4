"""The painter of figures: scenes, legends and style on axes of matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from qwo.drawing.layers import Pairs
from qwo.drawing.layout import arrange
from qwo.drawing.scene import ALWAYS_LABELLED, FIGURE_FONT, MARGIN, Scene, figure_scene
from qwo.drawing.style import DARK, LIGHT, LINE_HEIGHT, Palette
from qwo.errors import optional_module
from qwo.types import Adjacency, FloatArray, Indices, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

Direction = Literal["layered", "layered-right"]

PLAIN_TEXT: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Properties of every text that holds a name: dollars and backslashes stand for themselves."""

SMALL = 8.5
"""The font size of legends and of labels at axes, in points."""

DASHES: tuple[float, Sequence[float]] = (0.0, (3.2, 2.2))
SOLID: Literal["solid"] = "solid"

_STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.usetex": False,
}
# In points, at the nominal size of the nodes.
_RIM = 0.7
# In points, at any size.
_SMALLEST_DOT = 2.6
_LEGEND_GAP = 5.0
# Lines, unlike nodes, shrink to this share of their nominal width at most, so as to be seen.
_THINNEST_LINES = 0.4
_LARGEST_SCALE = 1.15
_DOT_EDGE_OPACITY = 0.6
# In inches; a larger one is taken where labels of few variables could not be read in a smaller one.
_SMALLEST_FIGURE = (4.4, 2.6)
_LARGEST_FIGURES = ((14.0, 10.0), (20.0, 14.3), (28.0, 20.0))


def local_style() -> AbstractContextManager[None]:
    """The settings of this package's plots, for the time of a ``with`` statement."""
    mpl = optional_module("matplotlib", "plots need")
    context: AbstractContextManager[None] = mpl.rc_context(_STYLE)
    return context


def open_axes(ax: Axes | None, width: float, height: float) -> tuple[Axes, Palette]:
    """The given axes, or those of a new figure of so many inches, and the colours for them."""
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax, palette_for(ax)


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes as they are now, once the figure's own layout has settled."""
    figure = ax.get_figure(root=True)
    engine = None if figure is None else figure.get_layout_engine()
    if figure is not None and engine is not None:
        engine.execute(figure)
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    return box.width * points, box.height * points


def ground_of(ax: Axes) -> tuple[float, float, float, float]:
    """The colour behind the axes."""
    from matplotlib.colors import to_rgba

    ground = to_rgba(ax.get_facecolor())
    return ground if ground[3] else to_rgba(ax.figure.get_facecolor())


def palette_for(ax: Axes) -> Palette:
    """The palette that goes with what is behind the axes."""
    red, green, blue, opacity = ground_of(ax)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return DARK if opacity > 0 and luminance < 0.4 else LIGHT


@dataclass(frozen=True)
class EdgeLook:
    """How each edge looks, in the order of the edges."""

    colours: Sequence[ColorType]
    widths: FloatArray
    """In points, at the nominal size of the nodes."""
    dashed: Mask
    heads: Indices
    """1 for an arrowhead at the lower end, -1 for one at the upper end, 0 for none."""
    hollow: Mask | None = None
    """Which arrowheads are outlines only; none if not given."""
    marks: Adjacency | None = None
    """What each edge has at its upper and its lower end, if not arrowheads alone."""


@dataclass(frozen=True)
class NodeLook:
    """How each node looks, in the order of the variables."""

    fills: Sequence[ColorType]
    outlines: Sequence[ColorType]
    outline_widths: FloatArray
    inks: Sequence[ColorType]

    @classmethod
    def plain(cls, fills: Sequence[ColorType], palette: Palette) -> NodeLook:
        """All alike but for what fills them."""
        n = len(fills)
        return cls(fills, [palette.outline] * n, np.full(n, 0.9), [palette.ink] * n)


class Key(NamedTuple):
    """An entry of a legend."""

    label: str
    lines: tuple[Line2D, ...]


class Looks(NamedTuple):
    """The looks of a graph, and the entries of a legend that explains them."""

    nodes: NodeLook
    edges: EdgeLook
    legend: Sequence[Key]


def hollow_key(label: str, colour: ColorType) -> Key:
    """An entry for arrows with a hollow head."""
    from matplotlib.lines import Line2D

    head = Line2D([], [], color=colour, marker=">", markerfacecolor="none", markersize=5.5)
    head.set_linestyle("none")
    return Key(label, (head,))


def key(label: str, colour: ColorType, *widths: float, dashed: bool = False) -> Key:
    """An entry of a legend: a line, or lines of several widths side by side."""
    from matplotlib.lines import Line2D

    lines = tuple(Line2D([], [], color=colour, linewidth=width) for width in widths)
    for line in lines:
        line.set_linestyle(DASHES if dashed else SOLID)
    return Key(label, lines)


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
    """Draw a graph whose edges are given from above to below; on new axes that fit if none are.

    The looks are asked for once the palette is known. What takes room from the axes is drawn
    ``beside`` before the rest is measured.
    """
    arrangement = arrange(len(names), edges)

    def scene(room: tuple[float, float]) -> Scene:
        return figure_scene(
            arrangement,
            names,
            edges,
            _sides(room, direction),
            labels=labels,
            measure=_text_size,
            turned=direction != "layered",
        )

    wanted = (0.0, 0.0)
    for largest in _LARGEST_FIGURES if ax is None else ():
        drawn = scene((largest[0] * 72, largest[1] * 72))
        wanted = _figure_size(drawn, direction, largest)
        if drawn.readable or labels is False or len(names) > ALWAYS_LABELLED:
            break
    ax, palette = open_axes(ax, *wanted)
    ax.set_axis_off()
    look = looks(palette)
    if beside is not None:
        beside(ax, palette)
    below = _draw_legend(ax, look.legend, palette)
    width, height = size_in_points(ax)
    room = width, max(height - below, height / 3)
    drawn = scene(room)
    sides = _sides(room, direction)
    layout = drawn.layout.fitted(
        *sides, margin=MARGIN, largest=_LARGEST_SCALE, stretch=drawn.stretch
    )
    drawn = replace(drawn, layout=layout)
    # A point is the unit of the axes, with the origin at the upper left corner.
    ax.set_xlim(0, width)
    ax.set_ylim(-height, 0)
    ax.set_aspect("equal", adjustable="box")
    _draw_edges(ax, drawn, look.edges, direction)
    _draw_nodes(ax, drawn, look.nodes, direction)
    return ax


def _text_size(text: str) -> tuple[float, float]:
    """Width and height of a text, relative to its size, in the font of the current style."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font, lines = FontProperties(size=FIGURE_FONT), text.split("\n")
    with warnings.catch_warnings():
        # The font may lack a glyph; matplotlib says so when it draws.
        warnings.simplefilter("ignore")
        widths = [
            text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]
            for line in lines
        ]
    return max(widths) / FIGURE_FONT, len(lines) * LINE_HEIGHT


def _sides(extent: tuple[float, float], direction: Direction) -> tuple[float, float]:
    """Width and height on the axes as extents across and along the layers, or the other way."""
    return extent if direction == "layered" else (extent[1], extent[0])


def _figure_size(
    drawn: Scene, direction: Direction, largest: tuple[float, float]
) -> tuple[float, float]:
    """Inches for the drawing at its nominal size, within reason, with some air and a legend."""
    sides = _sides(drawn.layout.extent, direction)
    width, height = (
        min(max(1.15 * side / 72 + 0.5, least), most)
        for side, least, most in zip(sides, _SMALLEST_FIGURE, largest, strict=True)
    )
    return width, height


def _draw_edges(ax: Axes, scene: Scene, look: EdgeLook, direction: Direction) -> None:
    """Draw the lines as one collection, and the arrowheads as another one above it."""
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.path import Path

    strokes = scene.strokes(look.heads, look.widths, look.marks)
    tips = [
        (k, tip) for k, s in enumerate(strokes) for tip in (s.head, s.second) if tip is not None
    ]
    headed = [k for k, _ in tips]
    hollow = np.zeros(len(strokes), dtype=np.bool_) if look.hollow is None else look.hollow
    ground, scale = ground_of(ax), max(scene.layout.scale, _THINNEST_LINES)
    opacity = 1.0 if scene.boxes else _DOT_EDGE_OPACITY
    paths = [
        Path(_turned(curve, direction), [Path.MOVETO] + [Path.CURVE4] * (len(curve) - 1))
        for curve, *_ in strokes
    ]
    lines = PathCollection(
        paths,
        facecolors="none",
        edgecolors=list(look.colours),
        linewidths=look.widths * scale,
        linestyles=[DASHES if dashed else SOLID for dashed in look.dashed],
        capstyle="butt",
        alpha=opacity,
        zorder=1,
        gid="edges",
    )
    heads = PolyCollection(
        [_turned(tip, direction) for _, tip in tips],
        facecolors=[ground if hollow[k] else look.colours[k] for k in headed],
        edgecolors=[look.colours[k] for k in headed],
        linewidths=_RIM * scale,
        joinstyle="miter",
        alpha=opacity,
        zorder=2,
        gid="arrowheads",
    )
    ax.add_collection(lines, autolim=False)
    ax.add_collection(heads, autolim=False)
    rings = [(k, ring) for k, stroke in enumerate(strokes) for ring in stroke.rings]
    if rings:
        circles = PolyCollection(
            [_turned(ring, direction) for _, ring in rings],
            facecolors=ground,
            edgecolors=[look.colours[k] for k, _ in rings],
            linewidths=2 * _RIM * scale,
            zorder=3,
            gid="circles",
        )
        ax.add_collection(circles, autolim=False)


def _draw_nodes(ax: Axes, scene: Scene, look: NodeLook, direction: Direction) -> None:
    """Draw the nodes as one collection: boxes around the labels, or dots where there are none."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Ellipse, FancyBboxPatch, Patch

    layout = scene.layout
    centres = _turned(layout.centres, direction).tolist()
    sizes = layout.sizes if direction == "layered" else layout.sizes[:, ::-1]
    shapes: list[Patch] = []
    for (x, y), (width, height) in zip(centres, sizes.tolist(), strict=True):
        if scene.boxes:
            corner = (x - width / 2, y - height / 2)
            rounding = f"round,pad=0,rounding_size={0.32 * min(width, height)}"
            shapes.append(FancyBboxPatch(corner, width, height, boxstyle=rounding))
        else:
            shapes.append(Ellipse((x, y), max(width, _SMALLEST_DOT), max(height, _SMALLEST_DOT)))
    nodes = PatchCollection(
        shapes,
        facecolors=list(look.fills),
        edgecolors=list(look.outlines if scene.boxes else look.inks),
        linewidths=look.outline_widths * max(layout.scale, _THINNEST_LINES),
        zorder=3,
        gid="nodes",
    )
    ax.add_collection(nodes, autolim=False)
    for text, (x, y), ink in zip(scene.labels, centres, look.inks, strict=False):
        ax.text(
            x,
            y,
            text,
            color=ink,
            fontsize=FIGURE_FONT * layout.scale,
            ha="center",
            va="center_baseline" if "\n" not in text else "center",
            linespacing=1.05,
            zorder=4,
            gid="label",
            **PLAIN_TEXT,
        )


def _draw_legend(ax: Axes, keys: Sequence[Key], palette: Palette) -> float:
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
        fontsize=SMALL,
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
