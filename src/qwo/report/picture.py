"""The graph laid out and as a still picture, and the trace of the search, for pages in SVG."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from qwo.graph.marks import HEAD, MARKS
from qwo.layout import Layout, arrange
from qwo.layout.curves import arrow, edge_curves
from qwo.layout.labels import label_texts
from qwo.layout.layers import Pairs
from qwo.text import about, count
from qwo.types import Adjacency, FloatArray

MOST_DRAWN = 2000
"""Variables beyond which there is no picture: nobody could read it, and it takes minutes."""

MOST_BOXES = 150
"""Graphs of more variables are drawn with dots, whose labels appear on zooming in."""

FONT_SIZE = 13.0
_LINE_HEIGHT = 1.25
_PADDING = (22.0, 14.0)
_DOT = 16.0
# The label of a dot is below it, smaller than that of a box; this is the room it gets.
DOT_FONT_SIZE = 6.0
_DOT_GAP = 6.0
_DOT_ROOM = (24.0, 48.0)
# Room at the border of a hub, so that its arrowheads stay apart.
_ROOM_PER_EDGE = 6.0
_MOST_ROOM = 150.0
_ASPECT = 1.5
# How much distances may grow to give the drawing that shape.
_STRETCH = 1.6
_DOT_STRETCH = 6.0
# The window in which a reader first sees the graph, and labels to be read there, in pixels.
_STAGE = (800.0, 650.0)
_SMALLEST_TEXT = 11.0
_MOST_GROWTH = 1.5
# Widths of characters relative to the font size, for sans-serif fonts in general.
_NARROW, _USUAL, _CAPITAL, _WIDE, _FULL = 0.34, 0.57, 0.7, 0.92, 1.05
_NARROW_CHARACTERS = frozenset("iIjlft.,:;'|!()[]{} -\"")
_WIDE_CHARACTERS = frozenset("mwMW@%…<>=+~#&_")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A laid out graph.

    Attributes
    ----------
    boxes : bool
        Whether nodes are boxes around their labels; else dots.
    labels : list of str
        Short, distinct labels, of several lines perhaps.
    layout : Layout
    edges : ndarray of int, m×2
        Cause and effect of each edge.
    growth : float
        By how much the boxes may grow, with their labels, to be read from afar: there is room.
    """

    boxes: bool
    labels: list[str]
    layout: Layout
    edges: Pairs
    growth: float = 1.0


def draw(names: Sequence[str], dag: Adjacency, types: Sequence[str] = ()) -> Drawing | None:
    """The layered drawing of a DAG, causes above their effects; types stand below names.

    None if the graph is too large.
    """
    if len(names) > MOST_DRAWN:
        return None
    edges = np.argwhere(dag)
    arrangement = arrange(len(names), edges)
    boxes = len(names) <= MOST_BOXES
    if boxes:
        labels = label_texts(names, 18, 2)
        if types:
            both = zip(labels, types, strict=True)
            labels = [f"{label}\n{kind}" if kind else label for label, kind in both]
        sizes = np.array([_box(label) for label in labels])
        room = np.minimum(_ROOM_PER_EDGE * arrangement.most_edges_at_a_side(), _MOST_ROOM)
        sizes[:, 0] = np.maximum(sizes[:, 0], room)
    else:
        labels = label_texts(names, 14, 1)
        widths = [_text_width(label) * DOT_FONT_SIZE + _DOT_GAP for label in labels]
        sizes = np.column_stack([np.clip(widths, *_DOT_ROOM), np.full(len(names), _DOT)])
    stretch = _STRETCH if boxes else _DOT_STRETCH
    layout = _shaped(arrangement.place(sizes, _ASPECT), stretch)
    growth = _growth(layout) if boxes else 1.0
    if growth > 1:
        grown = _shaped(arrangement.place(growth * sizes, _ASPECT), stretch)
        layout = replace(grown, sizes=grown.sizes / growth)
    return Drawing(boxes, labels, layout, edges, growth)


def _growth(layout: Layout) -> float:
    """How much larger boxes must be drawn for their labels to be read when all of it is in view."""
    zoom = min(stage / side for stage, side in zip(_STAGE, layout.extent, strict=True))
    return min(max(_SMALLEST_TEXT / (zoom * FONT_SIZE), 1.0), _MOST_GROWTH)


def _shaped(layout: Layout, stretch: float) -> Layout:
    """The layout with distances stretched in one direction, towards the shape of the window."""
    width, height = layout.extent
    return layout.fitted(
        max(width, height * _ASPECT), max(height, width / _ASPECT), stretch=stretch
    )


def _box(label: str) -> tuple[float, float]:
    """The size of a box around a label."""
    lines = label.count("\n") + 1
    return (
        _text_width(label) * FONT_SIZE + _PADDING[0],
        lines * FONT_SIZE * _LINE_HEIGHT + _PADDING[1],
    )


def _text_width(label: str) -> float:
    """The width of the longest line, relative to the font size."""
    return max(sum(map(_character_width, line)) for line in label.split("\n"))


def _character_width(character: str) -> float:
    if character in _NARROW_CHARACTERS:
        return _NARROW
    if character in _WIDE_CHARACTERS:
        return _WIDE
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    return _CAPITAL if character.isupper() else _USUAL


_HEAD_LENGTH, _HEAD_WIDTH = 8.0, 6.5
_THINNEST, _THICKEST, _PLAIN = 1.0, 4.0, 1.4
_MARGIN = 12.0


class Line(NamedTuple):
    """An edge: the path of its curve, the corners of its head, and how it looks."""

    path: str
    head: str
    kind: str
    width: float
    title: str


class Shape(NamedTuple):
    """A node: its box or dot, and the lines of its label with how far each is below the middle."""

    x: float
    y: float
    width: float
    height: float
    lines: list[tuple[float, str]]
    name: str


class Picture(NamedTuple):
    """A graph in SVG's terms."""

    width: float
    height: float
    boxes: bool
    font_size: float
    lines: list[Line]
    shapes: list[Shape]


def picture(drawing: Drawing, data: dict[str, Any]) -> Picture:
    """The still picture of a graph that is laid out."""
    layout = drawing.layout
    layout = replace(layout, sizes=drawing.growth * layout.sizes)
    width, height = layout.extent
    largest = max((abs(edge.get("standardized") or 0) for edge in data["edges"]), default=0) or 1.0
    curves = edge_curves(layout, drawing.edges)
    lines = [
        _line(curve + _MARGIN, edge, largest)
        for curve, edge in zip(curves, data["edges"], strict=True)
    ]
    shapes = [_shape(drawing, v, variable["name"]) for v, variable in enumerate(data["variables"])]
    return Picture(
        round(width + 2 * _MARGIN, 1),
        round(height + 2 * _MARGIN, 1),
        drawing.boxes,
        round(drawing.growth * FONT_SIZE, 1),
        lines,
        shapes,
    )


def _line(curve: FloatArray, edge: dict[str, Any], largest: float) -> Line:
    slope = edge.get("standardized")
    width = _PLAIN if slope is None else _THINNEST + (_THICKEST - _THINNEST) * abs(slope) / largest
    # Several coefficients have no sign together.
    kind = (
        "" if slope is None or edge.get("contrasts") else "positive" if slope >= 0 else "negative"
    )
    head, mark = "", MARKS[edge["type"]]
    if mark.ends[1] == HEAD:
        curve, corners = arrow(curve, _HEAD_LENGTH + width, _HEAD_WIDTH + width)
        head = _points(corners)
        kind += " toss" if edge.get("coin_toss") else ""
    else:
        kind += " undirected"
    start, *rest = np.round(curve, 1).tolist()
    path = f"M{start[0]} {start[1]}C{_points(np.array(rest))}"
    title = f"{edge['source']} {mark.symbol} {edge['target']}"
    return Line(path, head, kind.strip(), round(width, 2), title)


def _shape(drawing: Drawing, v: int, name: str) -> Shape:
    x, y = np.round(drawing.layout.centres[v] + _MARGIN, 1).tolist()
    width, height = np.round(drawing.growth * drawing.layout.sizes[v], 1).tolist()
    texts = drawing.labels[v].split("\n") if drawing.boxes else []
    lines = [(round(1.2 * (k - (len(texts) - 1) / 2), 2), text) for k, text in enumerate(texts)]
    return Shape(x, y, width, height, lines, name)


def _points(points: FloatArray) -> str:
    return " ".join(f"{x},{y}" for x, y in np.round(points, 1).tolist())


_WIDTH, _HEIGHT = 720.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 14.0, 40.0
_MOST_DOTS = 60
_LEAST_SHOWN = 0.01
"""False edges below which a curve is not followed."""


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    text: str


class Chart(NamedTuple):
    """A step curve between two axes, perhaps with a second one, and a place to look at."""

    width: float
    height: float
    plot: tuple[float, float, float, float]
    path: str
    dots: list[tuple[float, float, str]]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_title: str
    summary: str
    second: str = ""
    mark: float | None = None


class _Scale(NamedTuple):
    """From values to pixels, between the value at the first pixel and that at the last."""

    start: float
    stop: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (value - self.start) / (self.stop - self.start)
        return round(self.first + share * (self.last - self.first), 1)


def trace_chart(data: dict[str, Any]) -> Chart | None:
    """The best score so far against time; None if the search left fewer than two points."""
    trace = [(seconds, score) for seconds, score in data["trace"] if score is not None]
    if len(trace) < 2:
        return None
    end = max(data["summary"]["seconds"], trace[-1][0])
    unit, factor = ("s", 1.0) if end >= 1 else ("ms", 1000.0)
    scores = [score for _, score in trace]
    pad = 0.08 * (max(scores) - min(scores)) or 1.0
    low, high = min(scores) - pad, max(scores) + pad
    x = _Scale(0, end, _LEFT, _WIDTH - _RIGHT)
    y = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    steps = [f"M{x(trace[0][0])} {y(trace[0][1])}"]
    steps += [f"H{x(seconds)}V{y(score)}" for seconds, score in trace[1:]]
    dots = [(x(s), y(v), f"{factor * s:.3g} {unit}: {v:.6g}") for s, v in trace]
    return Chart(
        width=_WIDTH,
        height=_HEIGHT,
        plot=(_LEFT, _TOP, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM),
        path="".join([*steps, f"H{x(end)}"]),
        dots=dots if len(dots) <= _MOST_DOTS else [],
        x_ticks=[Tick(x(t / factor), _text(t)) for t in _ticks(0, end * factor, 7)],
        y_ticks=[Tick(y(t), _text(t)) for t in _ticks(low, high, 5)],
        x_title=f"time ({unit})",
        summary=f"The score rose from {scores[0]:.6g} to {scores[-1]:.6g} in "
        f"{count(len(trace) - 1, 'improvement')}.",
    )


def price_chart(data: dict[str, Any]) -> Chart | None:
    """Edges that would bear a price, and false ones to expect at it; both axes are logarithmic."""
    price = data["price"]
    if price is None:
        return None
    lowest = _LEAST_SHOWN
    costs, *counts = zip(*price["curve"], strict=True)
    highest = max(10.0, *counts[0], *counts[1])
    x = _Scale(costs[0], costs[-1], _LEFT, _WIDTH - _RIGHT)
    y = _Scale(math.log10(lowest), math.log10(highest), _HEIGHT - _BOTTOM, _TOP)
    edges, false = (
        "M"
        + "L".join(
            f"{x(c)} {y(math.log10(max(v, lowest)))}" for c, v in zip(costs, values, strict=True)
        )
        for values in counts
    )
    powers = range(round(math.log10(lowest)), math.floor(math.log10(highest)) + 1)
    return Chart(
        width=_WIDTH,
        height=_HEIGHT,
        plot=(_LEFT, _TOP, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM),
        path=edges,
        dots=[],
        x_ticks=[Tick(x(t), _text(t)) for t in _ticks(costs[0], costs[-1], 7)],
        y_ticks=[Tick(y(power), _text(10.0**power)) for power in powers],
        x_title="price of an edge (log N)",
        summary=f"At the price taken, {price['taken']:.3g} log N, "
        f"{count(data['summary']['n_edges'], 'edge')}, of which "
        f"{about(price['expected_false'])} are to be expected false.",
        second=false,
        mark=x(price["taken"]),
    )


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two bounds: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def _text(value: float) -> str:
    return f"{value:,.6g}"
