"""The pictures of a report: the graph, its matrix, the graph beside the truth, and two charts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.drawing.layers import MISSING, differences
from qwo.drawing.scene import PAGE_FONT, Scene, line_widths, page_scene
from qwo.drawing.svg import Chart, Line, Scale, Square, graph_svg, matrix_svg
from qwo.graph.marks import HEAD, MARKS
from qwo.report.contents import Contents
from qwo.report.remarks import WEAK
from qwo.sem.outcome import Causes
from qwo.text import about, count, number, short
from qwo.types import FloatArray

if TYPE_CHECKING:
    from qwo.curved.partial import PartialEffect
    from qwo.discovery import Discovery
    from qwo.series.result import LaggedEffects

_MOST_ROWS = 1000
"""Variables beyond which the matrix shows nothing any more."""

_MOST_IN_TIME = 30
_MOST_COMPARED = 120
"""Variables beyond which a comparison can no longer be read."""

_PALEST = 0.3
_LEAST_SHOWN = 0.01
"""False edges below which a curve is not followed."""


def picture(scene: Scene, data: dict[str, Any]) -> str:
    """The still picture of a graph that is laid out."""
    slopes = [edge.get("standardized") for edge in data["edges"]]
    sizes = np.array([np.nan if slope is None else slope for slope in slopes], dtype=np.float64)
    largest = np.nanmax(np.abs(sizes), initial=0.0) or 1.0
    widths = line_widths(sizes, largest, PAGE_FONT).tolist()
    mixed = any(max(MARKS[edge["type"]].codes) > 2 for edge in data["edges"])
    names = [variable["name"] for variable in data["variables"]]
    lines = []
    for edge, width, upper in zip(data["edges"], widths, scene.edges[:, 0].tolist(), strict=True):
        line = _line(edge, width, mixed=mixed)
        # An arrow of a cycle may point upwards.
        up = edge["source"] != names[upper] and not mixed
        lines.append(line._replace(head=-line.head) if up else line)
    summary = data["summary"]
    title = f"Causal graph of {summary['n_variables']} variables and {summary['n_edges']} edges"
    return graph_svg(scene, lines, names, title)


def _line(edge: dict[str, Any], width: float, *, mixed: bool) -> Line:
    mark, head = MARKS[edge["type"]], MARKS[edge["type"]].ends[1] == HEAD
    # Where conditions direct edges, colours say why arrows point as they do, and not the sign.
    colour = f"by-{edge['reason'] or 'none'}" if "reason" in edge else sign_of(edge)
    kinds = [colour, "" if head or mixed else "undirected"]
    kinds += ["toss"] if head and edge.get("coin_toss") else []
    kinds += ["weak"] if edge.get("p_link", edge.get("link", 1.0)) < WEAK else []
    title = f"{edge['source']} {mark.symbol} {edge['target']}"
    ends = mark.ends if mixed else None
    return Line(" ".join(filter(None, kinds)), width, int(head), title, ends)


def sign_of(edge: dict[str, Any]) -> str:
    """The sign of the coefficient; several coefficients have none together."""
    slope = edge.get("standardized")
    if slope is None or edge.get("contrasts"):
        return ""
    return "positive" if slope >= 0 else "negative"


class Figure(NamedTuple):
    """A picture with what stands below it."""

    svg: str
    caption: str


def figures(contents: Contents, data: dict[str, Any]) -> list[Figure]:
    """The matrix, and the graph beside the truth where that is known."""
    n = contents.discovery.n_variables
    result = []
    if n <= _MOST_ROWS:
        order = contents.discovery.order.tolist()
        said = "Heat map: a row for each cause, a column for each effect, in causal order."
        names = [contents.discovery.names[v] for v in order]
        caption = "The matrix of the graph, in causal order: the stronger a colour, the larger the "
        caption += "standardized coefficient; a ring where the direction is open."
        result.append(Figure(matrix_svg(names, _cells(contents, data), said), caption))
    if contents.truth is not None and n <= _MOST_COMPARED:
        result.append(_compared(contents))
    if contents.discovery.series is not None and n <= _MOST_IN_TIME:
        result.append(_in_time(contents.discovery.series))
    return result


def _in_time(series: LaggedEffects) -> Figure:
    """Effects of earlier rows in columns of time."""
    from matplotlib import pyplot as plt

    from qwo.plot import plot_unrolled

    drawn = plot_unrolled(series).get_figure(root=True)
    assert drawn is not None
    text = io.StringIO()
    drawn.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(drawn)
    svg = text.getvalue()
    caption = "Effects in time: a column for each step, blue for positive and red for negative "
    caption += "effects; lines where the direction within a step is open."
    return Figure(svg[svg.index("<svg") :], caption)


def _cells(contents: Contents, data: dict[str, Any]) -> Iterator[Square]:
    place = np.argsort(contents.discovery.order).tolist()
    largest = max((abs(edge.get("standardized") or 0) for edge in data["edges"]), default=0) or 1
    for i, j, edge in zip(*contents.ends, data["edges"], strict=True):
        size = edge.get("standardized")
        strength = 1.0 if size is None else _PALEST + (1 - _PALEST) * abs(size) / largest
        title = f"{edge['source']} {MARKS[edge['type']].symbol} {edge['target']}"
        title += "" if size is None else f": {number(size)}"
        undirected = MARKS[edge["type"]].ends[1] != HEAD
        kind = f"{sign_of(edge)}{' ring' * undirected}".strip()
        yield Square(place[i], place[j], kind, strength, title)
        if undirected:
            yield Square(place[j], place[i], "ring", 0.0, title)


def _compared(contents: Contents) -> Figure:
    found = differences(contents.discovery, contents.truth)
    scene = page_scene(found.names, found.edges.downward)
    assert scene is not None
    kinds = ("correct", "missing", "extra", "reversed", "retyped")
    heads, undirected = found.edges.head_ends().tolist(), found.edges.undirected.tolist()
    lines = []
    for (i, j), kind, head, open_ in zip(
        found.edges.downward.tolist(), found.kinds.tolist(), heads, undirected, strict=True
    ):
        dashed = " undirected" if open_ or kind == MISSING else ""
        title = f"{found.names[i]} and {found.names[j]}: {kinds[kind]}"
        lines.append(Line(f"{kinds[kind]}{dashed}", 1.0 if kind == 0 else 2.0, head, title))
    said = "The graph found, with edges that are missing, extra or turned round marked."
    caption = f"The graph beside the truth: {', '.join(found.counted())}."
    return Figure(graph_svg(scene, lines, found.names, said), caption)


def trace_chart(data: dict[str, Any]) -> Chart | None:
    """The best score so far against time; None if the search left fewer than two points."""
    trace = [(seconds, score) for seconds, score in data["trace"] if score is not None]
    if len(trace) < 2:
        return None
    end = max(data["summary"]["seconds"], trace[-1][0])
    unit, factor = ("s", 1.0) if end >= 1 else ("ms", 1000.0)
    scores = [score for _, score in trace]
    pad = 0.08 * (max(scores) - min(scores)) or 1.0
    return Chart(
        x=Scale(0, end),
        y=Scale(min(scores) - pad, max(scores) + pad, upwards=True),
        curves=[trace],
        x_title=f"time ({unit})",
        summary=f"The score rose from {scores[0]:.6g} to {scores[-1]:.6g} in "
        f"{count(len(trace) - 1, 'improvement')}.",
        steps=True,
        factor=factor,
    )


_ROW, _LABELS, _WIDE, _MOST_CAUSES = 22, 170, 620, 30
"""Sizes of the chart of effects: height of a row, room for names, width, rows."""


def forest_chart(causes: Causes | None) -> str:
    """The effects on an outcome, each with its interval, in standard deviations; SVG."""
    if causes is None or not causes.effects:
        return ""
    shown = causes.effects[:_MOST_CAUSES]
    ends = [effect.per_deviation for effect in shown]
    low, high = min(0.0, *(min(e) for e in ends)), max(0.0, *(max(e) for e in ends))
    span = (high - low) or 1.0
    height = _ROW * len(shown) + 30

    def x(value: float) -> float:
        return round(_LABELS + (value - low) / span * (_WIDE - _LABELS - 20), 1)

    parts = [
        f'<svg viewBox="0 0 {_WIDE} {height}" role="img" aria-label="{escape(causes.headline)}">',
        f'<line class="zero" x1="{x(0)}" x2="{x(0)}" y1="4" y2="{height - 22}"/>',
    ]
    for row, (effect, values) in enumerate(zip(shown, ends, strict=True)):
        y = _ROW * row + 14
        first, last, inner, outer = (x(value) for value in values)
        kind = " negative" if effect.standardized < 0 else ""
        kind += "" if effect.excludes_zero else " unsure"
        label, title = escape(short(effect.cause, 24)), escape(str(effect))
        level = f'y1="{y}" y2="{y}"'
        parts += [
            f'<text x="{_LABELS - 10}" y="{y + 4}" text-anchor="end">{label}</text>',
            f'<line class="thin{kind}" x1="{first}" x2="{last}" {level}/>',
            f'<line class="thick{kind}" x1="{inner}" x2="{outer}" {level}>',
            f"<title>{title}</title></line>",
        ]
    for value in (low, 0.0, high):
        parts.append(
            f'<text class="tick" x="{x(value)}" y="{height - 6}" text-anchor="middle">'
            f"{value:.2g}</text>"
        )
    return "".join([*parts, "</svg>"])


def price_chart(data: dict[str, Any]) -> Chart | None:
    """Edges strong enough for each penalty, and false ones to expect at it; logarithmic."""
    price = data["price"]
    if price is None:
        return None
    costs, edges, false = zip(*price["curve"], strict=True)
    return Chart(
        x=Scale(costs[0], costs[-1]),
        y=Scale(_LEAST_SHOWN, max(10.0, *edges, *false), upwards=True, log=True),
        curves=[list(zip(costs, counts, strict=True)) for counts in (edges, false)],
        x_title="penalty of an edge (log N)",
        summary=f"At the penalty used, {price['taken']:.3g} log N, "
        + count(data["summary"]["n_edges"], "edge")
        + (
            "."
            if price["expected_false"] is None
            else f", of which {about(price['expected_false'])} are to be expected false."
        ),
        mark=price["taken"],
    )


_CURVE = (190, 84)
_MOST_CURVES = 60
"""Size of the small picture of a curve, and edges that have one."""


class DrawnRelation(NamedTuple):
    """An edge of the DAG: its curve as a picture, shares of variance, and evidence of its arrow."""

    cause: str
    effect: str
    svg: str
    linear: str
    curved: str
    z: str


def relations(discovery: Discovery) -> list[DrawnRelation]:
    """Edges with their curves, the most curved first; and what the noise says of each arrow."""
    curves, noise = discovery.curves, discovery.noise
    if curves is None and noise is None:
        return []
    evidence = {} if noise is None else {(a, b): z for a, b, *_, z in noise.records()}
    own = [] if curves is None else sorted(curves.records(), key=lambda row: -row[3])
    rows = own or [(a, b, np.nan, np.nan) for a, b in evidence]
    found = []
    for k, (cause, effect, line, bend) in enumerate(rows):
        svg = ""
        if curves is not None and k < _MOST_CURVES and curves.has_curve(effect):
            svg = _curve_svg(curves.curve(cause, effect))
        z = evidence.get((cause, effect), np.nan)
        linear, curved = ("" if np.isnan(share) else f"{share:.0%}" for share in (line, bend))
        told = "–" if np.isnan(z) else f"{z:.1f}"
        found.append(DrawnRelation(cause, effect, svg, linear, curved, told))
    return found


def _curve_svg(curve: PartialEffect) -> str:
    """A curve with its band, ends of both axes told; SVG."""
    wide, tall = _CURVE
    bottom, top = float(curve.low.min()), float(curve.high.max())
    pieces = curve.pieces()
    first, last = float(pieces[0][0, 0]), float(pieces[-1][0, -1])

    def points(x: FloatArray, y: FloatArray) -> str:
        across = 4 + (x - first) / ((last - first) or 1.0) * (wide - 8)
        down = 4 + (top - y) / ((top - bottom) or 1.0) * (tall - 22)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))

    drawn = [
        f'<polygon class="band" points="{points(np.r_[x, x[::-1]], np.r_[low, high[::-1]])}"/>'
        f'<polyline class="curve" points="{points(x, y)}"/>'
        for x, y, low, high in pieces
    ]
    said = (
        f"{curve.effect} against {curve.cause}: from {number(float(curve.y.min()))} to "
        f"{number(float(curve.y.max()))} beside its mean"
    )
    at = [curve.records()[k][0] for k in (0, -1)]
    ends = [(4, "start", at[0]), (wide - 4, "end", at[1])]
    texts = "".join(
        f'<text class="tick" x="{x}" y="{tall - 4}" text-anchor="{anchor}">'
        f"{escape(value if isinstance(value, str) else number(value))}</text>"
        for x, anchor, value in ends
    )
    return (
        f'<svg viewBox="0 0 {wide} {tall}" role="img" aria-label="{escape(said)}">'
        f"<title>{escape(said)}</title>{''.join(drawn)}{texts}</svg>"
    )
