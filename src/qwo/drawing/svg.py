"""The painter of pages: graphs, matrices and charts in SVG, coloured by the classes of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np

from qwo.drawing.scene import Scene
from qwo.drawing.style import label_texts, readable, text_width
from qwo.types import FloatArray

_MARGIN = 12.0
_LINE = 1.2


class Line(NamedTuple):
    """How an edge looks: the classes of line and head, and what is said of it."""

    kind: str
    width: float
    head: int
    title: str
    ends: tuple[int, int] | None = None
    """What it has at both ends, from above, if not an arrowhead alone."""


def graph_svg(scene: Scene, lines: Sequence[Line], names: Sequence[str], title: str) -> str:
    """A graph as a still picture, the lines in the order of the edges of the scene."""
    heads = np.array([line.head for line in lines], dtype=np.intp)
    widths = np.array([line.width for line in lines])
    parts = []
    marks = None
    if any(line.ends is not None for line in lines):
        marks = np.array([line.ends for line in lines], dtype=np.int8)
    for line, stroke in zip(lines, scene.strokes(heads, widths, marks), strict=True):
        curve = stroke.curve
        start, *rest = (np.round(curve + _MARGIN, 1)).tolist()
        tip = "".join(
            f'<polygon class="{kind} {line.kind}" points="{_points(shape + _MARGIN)}"/>'
            for kind, shapes in (("head", (stroke.head, stroke.second)), ("ring", stroke.rings))
            for shape in shapes
            if shape is not None
        )
        path = f"M{start[0]} {start[1]}C{_points(np.array(rest))}"
        parts.append(
            f'<g>{_title(line.title)}<path class="edge {line.kind}" '
            f'stroke-width="{line.width:.4g}" d="{path}"/>{tip}</g>'
        )
    size = round(scene.growth * scene.font, 1)
    for v, name in enumerate(names):
        parts.append(f'<g font-size="{size}">{_title(name)}{_node(scene, v)}</g>')
    width, height = (round(side + 2 * _MARGIN, 1) for side in scene.layout.extent)
    return _svg(width, height, title, parts)


def _node(scene: Scene, v: int) -> str:
    """A box with the lines of its label, or a dot."""
    x, y = np.round(scene.layout.centres[v] + _MARGIN, 1).tolist()
    width, height = np.round(scene.growth * scene.layout.sizes[v], 1).tolist()
    if not scene.boxes:
        return f'<circle class="node" cx="{x}" cy="{y}" r="{height / 2:.4g}"/>'
    left, top = round(x - width / 2, 1), round(y - height / 2, 1)
    box = (
        f'<rect class="node" x="{left}" y="{top}" width="{width}" height="{height}" '
        f'rx="{0.32 * height:.3g}"/>'
    )
    texts = scene.labels[v].split("\n")
    shifts = [round(_LINE * (k - (len(texts) - 1) / 2), 2) for k in range(len(texts))]
    rows = zip(shifts, texts, strict=True)
    return box + "".join(f'<text x="{x}" y="{y}" dy="{k}em">{escape(t)}</text>' for k, t in rows)


_CELLS = (3.0, 20.0)
_MATRIX_SIDE = 620.0
_SMALLEST_CELL = 7.0
"""Of a cell beside which a name can be read."""


class Square(NamedTuple):
    """A cell of a matrix: where it is, its class, how strong its colour, and what is said of it."""

    row: int
    column: int
    kind: str
    strength: float
    title: str


def matrix_svg(names: Sequence[str], cells: Iterable[Square], title: str) -> str:
    """A matrix with a row for each cause and a column for each effect; rings where kinds say so."""
    n = len(names)
    side = min(max(_MATRIX_SIDE / n, _CELLS[0]), _CELLS[1])
    font = min(0.75 * side, 12.0)
    labels = label_texts(names, 16) if side >= _SMALLEST_CELL else []
    corner = round(max((font * text_width(label) for label in labels), default=0.0) + 30, 1)
    whole, middle = round(n * side, 1), round(n * side / 2, 1)
    parts = [
        f'<g transform="translate({corner} {corner})">',
        f'<path class="frame" d="M0 0H{whole}V{whole}H0ZL{whole} {whole}"/>',
        *(_square(cell, side) for cell in cells),
        *(_row_and_column(label, (k + 0.5) * side, font) for k, label in enumerate(labels)),
        _twice("effect", "cause", middle, 14 - corner, 'text-anchor="middle" font-size="12"'),
        "</g>",
    ]
    return _svg(corner + whole + 2, corner + whole + 2, title, parts)


def _square(cell: Square, side: float) -> str:
    x, y, ring = cell.column * side, cell.row * side, ""
    if "ring" in cell.kind:
        middle = f'cx="{x + side / 2:.1f}" cy="{y + side / 2:.1f}"'
        ring = f'<circle class="ring" {middle} r="{0.24 * side:.1f}"/>'
    return (
        f'<g>{_title(cell.title)}<rect class="cell {cell.kind}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{side:.1f}" height="{side:.1f}" fill-opacity="{cell.strength:.2f}"/>{ring}</g>'
    )


def _row_and_column(label: str, at: float, font: float) -> str:
    """The name of a variable before its row and, turned, above its column."""
    size, text = f'font-size="{font:.1f}" dy="0.35em"', escape(label)
    return (
        f'<text x="-5" y="{at:.1f}" text-anchor="end" {size}>{text}</text>'
        f'<text transform="translate({at:.1f} -5) rotate(-90)" {size}>{text}</text>'
    )


def _twice(above: str, beside: str, at: float, away: float, look: str) -> str:
    """What columns and rows are."""
    return (
        f'<text x="{at}" y="{away:.1f}" {look}>{above}</text>'
        f'<text transform="translate({away:.1f} {at}) rotate(-90)" {look}>{beside}</text>'
    )


_WIDTH, _HEIGHT = 720.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 14.0, 40.0
_MOST_DOTS = 60


@dataclass(frozen=True)
class Scale:
    """From values to pixels along one side of a chart; logarithmic if wanted."""

    start: float
    stop: float
    upwards: bool = False
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value, which is no less than the start of a logarithmic scale."""
        first, last = (_HEIGHT - _BOTTOM, _TOP) if self.upwards else (_LEFT, _WIDTH - _RIGHT)
        start, stop = self.start, self.stop
        if self.log:
            start, stop, value = (math.log10(max(v, self.start)) for v in (start, stop, value))
        return round(first + (value - start) / (stop - start) * (last - first), 1)

    def ticks(self, most: int) -> list[float]:
        """Round numbers on it: powers of ten, or steps of 1, 2 or 5 times one."""
        if self.log:
            powers = map(math.log10, (self.start, self.stop))
            first, last = (math.floor(power + 1e-9) for power in powers)
            return [10.0**power for power in range(first, last + 1)]
        rough = (self.stop - self.start) / most
        power = 10 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        first, last = math.ceil(self.start / step), math.floor(self.stop / step)
        return [k * step for k in range(first, last + 1)]


@dataclass(frozen=True)
class Chart:
    """One or two curves, whose points are given, between two axes, and a place to look at."""

    x: Scale
    y: Scale
    curves: Sequence[Sequence[tuple[float, float]]]
    x_title: str
    summary: str
    steps: bool = False
    """Whether the curve keeps its value until the next point; then points are marked too."""
    factor: float = 1.0
    """What the numbers on the axis are multiplied by."""
    mark: float | None = None

    def svg(self) -> str:
        """The chart."""
        right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts = [f'<path class="axis" d="M{_LEFT} {bottom}H{right}"/>']
        for value in self.y.ticks(5):
            at, text = self.y(value), f"{value:,.6g}"
            parts.append(
                f'<path class="grid" d="M{_LEFT} {at}H{right}"/><text class="tick" '
                f'x="{_LEFT - 8}" y="{at}" text-anchor="end" dy="0.32em">{text}</text>'
            )
        for value in Scale(self.factor * self.x.start, self.factor * self.x.stop).ticks(7):
            at, text = self.x(value / self.factor), f"{value:,.6g}"
            parts.append(
                f'<path class="axis" d="M{at} {bottom}v5"/><text class="tick" x="{at}" '
                f'y="{bottom + 18}" text-anchor="middle">{text}</text>'
            )
        parts.append(
            f'<text class="tick" x="{right}" y="{bottom + 34}" text-anchor="end">'
            f"{self.x_title}</text>"
        )
        if self.mark is not None:
            parts.append(f'<path class="mark" d="M{self.x(self.mark)} {_TOP}V{bottom}"/>')
        for curve, kind in zip(self.curves, ("curve", "curve second"), strict=False):
            parts.append(f'<path class="{kind}" d="{self._path(curve)}"/>')
            if self.steps and len(curve) <= _MOST_DOTS:
                parts += [f'<circle class="dot" r="3.2" {self._place(point)}' for point in curve]
        return _svg(_WIDTH, _HEIGHT, self.summary, parts)

    def _path(self, curve: Sequence[tuple[float, float]]) -> str:
        (x, y), *rest = ((self.x(value), self.y(height)) for value, height in curve)
        if not self.steps:
            return f"M{x} {y}" + "".join(f"L{a} {b}" for a, b in rest)
        return f"M{x} {y}" + "".join(f"H{a}V{b}" for a, b in rest) + f"H{self.x(self.x.stop)}"

    def _place(self, point: tuple[float, float]) -> str:
        said = f"{self.factor * point[0]:.3g}: {point[1]:.6g}"
        return f'cx="{self.x(point[0])}" cy="{self.y(point[1])}">{_title(said)}</circle>'


def _svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg {size} role="img" aria-label="{escape(title)}">\n' + "\n".join(parts) + "\n</svg>"


def _title(text: str) -> str:
    """What is shown of a part when it is pointed at."""
    return f"<title>{escape(readable(text))}</title>"


def _points(points: FloatArray) -> str:
    return " ".join(f"{x},{y}" for x, y in np.round(points, 1).tolist())
