"""The scene that both painters paint: labels, the sizes of all parts, places, curves and heads.

Sizes are multiples of the font size of the labels, which is all that differs between a figure (in
points) and a page (in pixels).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from qwo.drawing.layers import Pairs
from qwo.drawing.layout import Arrangement, Layout, arrange
from qwo.drawing.style import LINE_HEIGHT, label_texts, text_width
from qwo.graph.marks import CIRCLE, HEAD
from qwo.types import Adjacency, FloatArray, Indices

# In points, at the nominal size of the nodes. The channel is less than what the layout keeps free
# beside a bend.
_PORT_GAP = 7.0
_CLEARANCE = 0.4
_CHANNEL = 7.5
# The share of a border that edges may use, and the largest dx/dy where they meet it.
_PORT_SHARE = 0.8
_FLATTEST_END = 1.1
_SAMPLES = 33


def edge_curves(layout: Layout, edges: Pairs) -> list[FloatArray]:
    """For each edge the control points, 3k + 1 of them, of k cubic curves from above to below.

    An edge leaves its upper node at the lower border and reaches its lower node at the upper one,
    side by side with the others there, so that no edge runs through a node.
    """
    starts, ends = _ports(layout, edges)
    return [
        _smooth(np.vstack([start, bends, end]), depths, _CHANNEL * layout.scale)
        for start, bends, depths, end in zip(starts, layout.bends, layout.depths, ends, strict=True)
    ]


def _ports(layout: Layout, edges: Pairs) -> tuple[FloatArray, FloatArray]:
    """Where each edge leaves its upper node, and where it reaches the lower one."""
    upper, lower = edges[:, 0], edges[:, 1]
    after, before = layout.centres[lower, 0], layout.centres[upper, 0]
    for k, bends in enumerate(layout.bends):
        if len(bends):
            after[k], before[k] = bends[0, 0], bends[-1, 0]
    return _spread(layout, upper, after, side=+1), _spread(layout, lower, before, side=-1)


def _spread(layout: Layout, nodes: Indices, towards: FloatArray, side: int) -> FloatArray:
    """Points along one border of the nodes, for edges in the order of where they lead."""
    ports = layout.centres[nodes]
    ports[:, 1] += side * (layout.sizes[nodes, 1] / 2 + _CLEARANCE * layout.scale)
    order = np.lexsort((towards, nodes))
    node, first, count = np.unique(nodes[order], return_index=True, return_counts=True)
    gap = np.minimum(_PORT_GAP * layout.scale, _PORT_SHARE * layout.sizes[node, 0] / count)
    rank = np.arange(len(nodes)) - np.repeat(first, count)
    ports[order, 0] += np.repeat(gap, count) * (rank - np.repeat(count - 1, count) / 2)
    return ports


def _smooth(points: FloatArray, depths: FloatArray, channel: float) -> FloatArray:
    """A smooth curve x(y) through start, bends and end, straight where it passes through a layer.

    Layers are so thick at the bends; within one an edge may move across by the channel at most, to
    either side of the bend.
    """
    x, y = points.T
    secant = np.diff(x) / np.diff(y)
    left, right = secant[:-1], secant[1:]
    bound = np.minimum(np.abs([left, right]).min(axis=0) * 3, 2 * channel / depths)
    turn = np.where(left * right > 0, np.clip((left + right) / 2, -bound, bound), 0.0)
    first, last = np.clip(secant[[0, -1]], -_FLATTEST_END, _FLATTEST_END)
    slope = np.concatenate([[first], np.repeat(turn, 2), [last]])
    half = np.repeat(depths, 2) * np.tile([-0.5, 0.5], len(depths))
    knots = np.repeat(points[1:-1], 2, axis=0) + np.c_[half * np.repeat(turn, 2), half]
    return _hermite(np.vstack([points[:1], knots, points[-1:]]), slope)


def _hermite(points: FloatArray, slope: FloatArray) -> FloatArray:
    """Control points of the cubic curves x(y) through points with given slopes dx/dy."""
    x, y = points.T
    step = np.diff(y)
    controls = np.empty((3 * len(step) + 1, 2))
    controls[::3] = points
    controls[1::3] = np.c_[x[:-1] + slope[:-1] * step / 3, y[:-1] + step / 3]
    controls[2::3] = np.c_[x[1:] - slope[1:] * step / 3, y[1:] - step / 3]
    return controls


def arrow(curve: FloatArray, length: float, width: float) -> tuple[FloatArray, FloatArray]:
    """The curve up to the base of a head of this size at its end, and the corners of the head."""
    cubic = curve[-4:]
    times = np.linspace(0, 1, _SAMPLES)
    trail = _points_at(cubic, times)
    left = np.linalg.norm(trail - trail[-1], axis=1)
    inside = int(np.argmax(left <= length))
    time = times[inside]
    if inside > 0:
        share = (left[inside - 1] - length) / (left[inside - 1] - left[inside])
        time = times[inside - 1] + share * (times[inside] - times[inside - 1])
    kept = _until(cubic, time)
    tip, base = cubic[-1], kept[-1].copy()
    along = (tip - base) / max(float(np.linalg.norm(tip - base)), 1e-9)
    across = np.array([-along[1], along[0]]) * width / 2
    # The line reaches a little into the head, so that no gap shows between the two.
    kept[-1] = base + 0.2 * (tip - base)
    return np.vstack([curve[:-4], kept]), np.array([tip, base + across, base - across])


def _points_at(cubic: FloatArray, times: FloatArray) -> FloatArray:
    t = times[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.asarray(weights @ cubic)


def _until(cubic: FloatArray, time: float) -> FloatArray:
    """The part of a cubic curve before a time, by de Casteljau's construction."""
    a, b, c, d = cubic
    ab, bc, cd = a + time * (b - a), b + time * (c - b), c + time * (d - c)
    abc, bcd = ab + time * (bc - ab), bc + time * (cd - bc)
    return np.array([a, ab, abc, abc + time * (bcd - abc)])


FIGURE_FONT = 10.0
"""Of labels at their nominal size in figures, in points."""

PAGE_FONT = 13.0
"""Of labels on pages, in pixels."""

_PADDING = (1.4, 0.9)
_DOT = 1.0
# Room for each edge at a border, so that the arrowheads at a hub stay apart.
_EDGE_ROOM, _MOST_ROOM = 0.42, 11.0
_HEAD_LENGTH, _HEAD_WIDTH = 0.6, 0.48
_THINNEST, _THICKEST, _PLAIN = 0.065, 0.3, 0.11
# How much distances may grow, beyond what nodes do, to fill the room there is.
_STRETCH, _DOT_STRETCH, _TALL_STRETCH = 1.7, 12.0, 3.5

Measure = Callable[[str], tuple[float, float]]
"""Width and height of a text, relative to the font size."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A graph laid out at its nominal size."""

    boxes: bool
    """Whether nodes are boxes around their labels; else dots."""
    labels: list[str]
    layout: Layout
    edges: Pairs
    """The ends of each edge, from above to below; together without a cycle."""
    font: float
    growth: float = 1.0
    """By how much boxes may grow, with their labels, to be read from afar: there is room."""
    readable: bool = True

    @property
    def stretch(self) -> float:
        """How much more than the nodes distances may grow."""
        return _STRETCH if self.boxes else _DOT_STRETCH

    def strokes(
        self, heads: Indices, widths: FloatArray, marks: Adjacency | None = None
    ) -> list[Stroke]:
        """The lines: 1 for a head at the lower end, -1 for one at the upper end, 0 for none.

        With marks, what each edge has at its upper and lower end, circles and second heads too.
        """
        layout, font = self.layout, self.font * self.layout.scale
        layout = replace(layout, sizes=self.growth * layout.sizes)
        lines = []
        curves = edge_curves(layout, self.edges)
        for k, (curve, end, width) in enumerate(zip(curves, heads, widths, strict=True)):
            thick = float(width) * layout.scale
            size = _HEAD_LENGTH * font + thick, _HEAD_WIDTH * font + thick
            line = curve[::-1] if end < 0 else curve
            if marks is not None:
                lines.append(_marked(curve, marks[k].tolist(), size))
                continue
            lines.append(Stroke(*arrow(line, *size)) if end else Stroke(line, None))
        return lines


class Stroke(NamedTuple):
    """An edge: its curve, and the three corners of its arrowhead if it has one."""

    curve: FloatArray
    head: FloatArray | None
    second: FloatArray | None = None
    """The head at the other end."""
    rings: tuple[FloatArray, ...] = ()
    """The outlines of circles at its ends."""


def _marked(curve: FloatArray, marks: list[int], size: tuple[float, float]) -> Stroke:
    """A line with what is at its upper and at its lower end."""
    tips: list[FloatArray] = []
    rings: list[FloatArray] = []
    radius, turn = 0.42 * size[1], np.linspace(0.0, 2.0 * np.pi, 17)
    for mark in reversed(marks):
        if mark == HEAD:
            curve, tip = arrow(curve, *size)
            tips.append(tip)
        elif mark == CIRCLE:
            step = curve[-2] - curve[-1]
            centre = curve[-1] + radius * step / max(float(np.linalg.norm(step)), 1e-9)
            rings.append(centre + radius * np.c_[np.cos(turn), np.sin(turn)])
        curve = curve[::-1]
    first, second = (*tips, None, None)[:2]
    return Stroke(curve, first, second, tuple(rings))


def line_widths(sizes: FloatArray, largest: float, font: float) -> FloatArray:
    """Widths linear in the absolute values, from a hairline on; plain where one is not known."""
    share = np.abs(sizes) / largest
    return font * np.where(np.isnan(share), _PLAIN, _THINNEST + (_THICKEST - _THINNEST) * share)


def _box_sizes(
    arrangement: Arrangement, texts: Sequence[str], measure: Measure, *, turned: bool = False
) -> FloatArray:
    """Extents of boxes across and along the layers, relative to the font size."""
    sizes = np.array([measure(text) for text in texts]) + _PADDING
    if turned:
        sizes = sizes[:, ::-1].copy()
    room = np.minimum(_EDGE_ROOM * arrangement.most_edges_at_a_side(), _MOST_ROOM)
    sizes[:, 0] = np.maximum(sizes[:, 0], room)
    return sizes


# The longest labels first: characters a line, lines, and the font size they must reach.
_LABEL_SHAPES = ((20, 3, 8.5), (14, 2, 7.0), (9, 2, 4.8), (6, 1, 4.8))
_MOST_LABELS = 300
MARGIN = 5.0
"""Around a figure, in points."""

ALWAYS_LABELLED = 60
"""Variables up to which a figure has labels, whether they can be read or not."""


def figure_scene(
    arrangement: Arrangement,
    names: Sequence[str],
    edges: Pairs,
    room: tuple[float, float],
    *,
    labels: bool | None,
    measure: Measure,
    turned: bool,
) -> Scene:
    """The scene with the longest labels that can be read when it is fitted into so many points.

    The room is that across and along the layers, which run from left to right if it is turned.
    Whether there are labels is chosen if it is not given.
    """
    across, along = room
    shapes = _LABEL_SHAPES if labels or (labels is None and len(names) <= _MOST_LABELS) else ()
    for characters, lines, font_size in shapes:
        texts = label_texts(names, characters, lines)
        sizes = FIGURE_FONT * _box_sizes(arrangement, texts, measure, turned=turned)
        found = Scene(True, texts, arrangement.place(sizes, across / along), edges, FIGURE_FONT)
        scale = found.layout.fitted(across, along, margin=MARGIN).scale
        if scale * FIGURE_FONT >= font_size:
            return found
    if labels or (labels is None and len(names) <= ALWAYS_LABELLED):
        return replace(found, readable=False)
    dots = np.full((len(names), 2), _DOT * FIGURE_FONT)
    return Scene(False, [], arrangement.place(dots, across / along), edges, FIGURE_FONT)


MOST_DRAWN = 2000
"""Variables beyond which a page has no picture: nobody could read it, and it takes minutes."""

MOST_BOXES = 150
"""Graphs of more variables are drawn with dots on pages, whose labels appear on zooming in."""

# The label of a dot is below it, smaller than that of a box; this is the room it gets.
_DOT_FONT = 6.0
_DOT_GAP = 6.0
_DOT_ROOM = (24.0, 48.0)
_ASPECT = 1.5
# The window in which a reader first sees the graph, and labels to be read there, in pixels.
_STAGE = (800.0, 650.0)
_SMALLEST_TEXT = 11.0
_MOST_GROWTH = 1.5


def page_scene(names: Sequence[str], edges: Pairs, types: Sequence[str] = ()) -> Scene | None:
    """The scene of a page, causes above their effects; types stand below names.

    None if the graph is too large.
    """
    if len(names) > MOST_DRAWN:
        return None
    arrangement = arrange(len(names), edges)
    boxes = len(names) <= MOST_BOXES
    if boxes:
        labels = label_texts(names, 18, 2)
        if types:
            both = zip(labels, types, strict=True)
            labels = [f"{label}\n{kind}" if kind else label for label, kind in both]
        sizes = PAGE_FONT * _box_sizes(arrangement, labels, _page_measure)
    else:
        labels = label_texts(names, 14, 1)
        widths = [text_width(label) * _DOT_FONT + _DOT_GAP for label in labels]
        dots = np.full(len(names), _DOT * PAGE_FONT)
        sizes = np.column_stack([np.clip(widths, *_DOT_ROOM), dots])
    scene = Scene(boxes, labels, arrangement.place(sizes, _ASPECT), edges, PAGE_FONT)
    scene = _shaped(scene)
    growth = _growth(scene.layout) if boxes else 1.0
    if growth == 1:
        return scene
    grown = _shaped(replace(scene, layout=arrangement.place(growth * sizes, _ASPECT)))
    layout = replace(grown.layout, sizes=grown.layout.sizes / growth)
    return replace(grown, layout=layout, growth=growth)


def _page_measure(label: str) -> tuple[float, float]:
    return text_width(label), LINE_HEIGHT * (label.count("\n") + 1)


def _growth(layout: Layout) -> float:
    """How much larger boxes must be drawn for their labels to be read when all of it is in view."""
    zoom = min(stage / side for stage, side in zip(_STAGE, layout.extent, strict=True))
    return min(max(_SMALLEST_TEXT / (zoom * PAGE_FONT), 1.0), _MOST_GROWTH)


def _shaped(scene: Scene) -> Scene:
    """The scene with distances stretched in one direction, towards the shape of the window."""
    width, height = scene.layout.extent
    wanted = max(width, height * _ASPECT), max(height, width / _ASPECT)
    stretch = max(scene.stretch, _TALL_STRETCH if height * _ASPECT > width else 0.0)
    return replace(scene, layout=scene.layout.fitted(*wanted, stretch=stretch))
