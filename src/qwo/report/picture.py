"""The graph as a still picture in SVG, for pages without scripts and for paper."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qwo.plot.curves import arrow, edge_curves
from qwo.report.drawing import Drawing
from qwo.types import FloatArray

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
    lines: list[Line]
    shapes: list[Shape]


def picture(drawing: Drawing, data: dict[str, Any]) -> Picture:
    """The still picture of a graph that is laid out."""
    layout = drawing.layout
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
        lines,
        shapes,
    )


def _line(curve: FloatArray, edge: dict[str, Any], largest: float) -> Line:
    slope = edge.get("standardized")
    width = _PLAIN if slope is None else _THINNEST + (_THICKEST - _THINNEST) * abs(slope) / largest
    kind = "" if slope is None else "positive" if slope >= 0 else "negative"
    head = ""
    if edge["type"] == "-->":
        curve, corners = arrow(curve, _HEAD_LENGTH + width, _HEAD_WIDTH + width)
        head = _points(corners)
        kind += " toss" if edge.get("coin_toss") else ""
    else:
        kind += " undirected"
    start, *rest = np.round(curve, 1).tolist()
    path = f"M{start[0]} {start[1]}C{_points(np.array(rest))}"
    title = f"{edge['source']} {'→' if head else '—'} {edge['target']}"
    return Line(path, head, kind.strip(), round(width, 2), title)


def _shape(drawing: Drawing, v: int, name: str) -> Shape:
    x, y = np.round(drawing.layout.centres[v] + _MARGIN, 1).tolist()
    width, height = np.round(drawing.layout.sizes[v], 1).tolist()
    texts = drawing.labels[v].split("\n") if drawing.boxes else []
    lines = [(round(1.2 * (k - (len(texts) - 1) / 2), 2), text) for k, text in enumerate(texts)]
    return Shape(x, y, width, height, lines, name)


def _points(points: FloatArray) -> str:
    return " ".join(f"{x},{y}" for x, y in np.round(points, 1).tolist())
