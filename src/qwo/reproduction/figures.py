"""Figures of the paper's curves: a row for each measure, a column for each kind of graph.

Ours are coloured, with a band of one standard deviation; what the paper's figures show is grey and
lies behind. A cross ends a curve whose next point was cut off. The paper's figures have rows and
columns exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qwo.drawing.style import LIGHT
from qwo.errors import optional_module
from qwo.reproduction.aggregate import AXES, Cells, Point, growth_points
from qwo.reproduction.paper import load_paper_figures
from qwo.text import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEGREES = (2, 3, 4)
MEASURES = {"skf1": "SKF1", "pshd": "PSHD", "cpu": "seconds (ours: CPU)"}
PUBLISHED_METRIC = {"skf1": "SKF1", "pshd": "PSHD", "cpu": "time_s"}

BLUE, ORANGE, GREEN, PURPLE = LIGHT.positive, LIGHT.negative, "#009e73", LIGHT.reverse
GREY = "#9aa2ab"


class Curve(NamedTuple):
    """A curve: what it is called, its parameters, its colour, line and marker."""

    label: str
    wanted: Mapping[str, Any]
    colour: str
    line: str = "-"
    marker: str = "o"


class Published(NamedTuple):
    """A curve of the paper."""

    method: str
    line: str
    marker: str


class FigurePlan(NamedTuple):
    """The curves of a figure, and those of the paper behind them."""

    name: str
    curves: tuple[Curve, ...]
    published: tuple[Published, ...] = ()


GAUSSIAN = {"kind": "search", "noise": "gaussian", "covariance": "sample", "weights": None}
HIGH_DIMENSIONAL = GAUSSIAN | {"graph": "er", "n_samples": 10_000}


def _method(label: str, method: str, colour: str, line: str, marker: str, **data: Any) -> Curve:
    return Curve(label, HIGH_DIMENSIONAL | data | {"method": method}, colour, line, marker)


HC_QWO = _method("HC-QWO", "hc/qwo", BLUE, "--", "s")
GRASP_QWO = _method("GRaSP₂-QWO", "grasp2/qwo", BLUE, "-", "o")
GRASP0_QWO = _method("GRaSP₀-QWO", "grasp0/qwo", GREEN, "-.", "^")
HC_BIC = _method("HC-BIC, our engine", "hc/bic", ORANGE, "--", "s")
GRASP0_BIC = _method("GRaSP₀-BIC, our engine", "grasp0/bic", ORANGE, "-.", "^")
GRASP_BIC = _method("GRaSP₂-BIC, our engine", "grasp2/bic", ORANGE, "-", "o")
HC_RANDOM = _method("HC-BIC, our engine, random start", "hc-random/bic", GREEN, ":", "^")
HC_CL = _method("HC-BIC, causal-learn's score", "hc/cl-bic", PURPLE, "--", "s")
GRASP_CL = _method("GRaSP-BIC, causal-learn", "cl-grasp/cl-bic", PURPLE, "-", "o")
FLOP = _method("FLOP, 20 restarts, Gaussian", "flop", LIGHT.ink, "-.", "v")
PAPER_QWO = (Published("HC-QWO", "--", "s"), Published("grasp-QWO", "-", "o"))
PAPER_BIC = (Published("HC-BIC", "--", "s"), Published("grasp-BIC", "-", "o"))


def _noisy(noise: str) -> FigurePlan:
    ours = (HC_QWO, GRASP0_QWO, GRASP_QWO, HC_BIC, GRASP_BIC)
    curves = [c._replace(wanted={**c.wanted, "noise": noise}) for c in ours]
    gaussian = [
        c._replace(label=f"{c.label}, Gaussian noise", colour=GREY, marker="")
        for c in (HC_QWO, GRASP0_QWO, GRASP_QWO)
    ]
    return FigurePlan(noise, (*gaussian, *curves))


PLANS = (
    FigurePlan("gaussian-qwo", (HC_QWO, GRASP0_QWO, GRASP_QWO), PAPER_QWO),
    FigurePlan(
        "gaussian-bic", (HC_BIC, HC_RANDOM, GRASP0_BIC, GRASP_BIC, HC_CL, GRASP_CL), PAPER_BIC
    ),
    FigurePlan(
        "oracle",
        (
            *(
                c._replace(colour=GREY, label=f"{c.label}, sample")
                for c in (HC_QWO, GRASP0_QWO, GRASP_QWO)
            ),
            *(
                c._replace(wanted={**c.wanted, "covariance": "oracle"}, label=f"{c.label}, oracle")
                for c in (HC_QWO, GRASP0_QWO, GRASP_QWO)
            ),
        ),
    ),
    _noisy("exponential"),
    _noisy("gumbel"),
    FigurePlan(
        "default-search",
        (
            _method("Gaussian", "default", BLUE, "-", "o"),
            FLOP,
            _method("exponential", "default", ORANGE, "--", "s", noise="exponential"),
            _method("Gumbel", "default", GREEN, "-.", "^", noise="gumbel"),
            _method("oracle covariance", "default", PURPLE, ":", "D", covariance="oracle"),
        ),
        PAPER_QWO,
    ),
)


def draw_figures(cells: Cells, folder: Path) -> list[str]:
    """Draw every figure that there are results for; the names of the files."""
    drawn = []
    for plan in PLANS:
        figure = _figure(plan, cells)
        if figure is not None:
            drawn.append(_save(figure, folder, plan.name))
    growth = _growth(cells)
    if growth is not None:
        drawn.append(_save(growth, folder, "growth"))
    return drawn


def _save(figure: Figure, folder: Path, name: str) -> str:
    # Without the versions of the libraries the same results give the same file.
    with whole_file(folder / f"{name}.png") as made:
        figure.savefig(made, dpi=130, format="png", metadata={"Software": None})
    return f"{name}.png"


def _new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    optional_module("matplotlib", "figures need")
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharex="col", sharey="row")


def _figure(plan: FigurePlan, cells: Cells) -> Figure | None:
    found = {
        (curve.label, degree): cells.select(degree=degree, **curve.wanted)
        for curve in plan.curves
        for degree in DEGREES
    }
    new = [curve.label for curve in plan.curves if curve.colour != GREY]
    if not any(
        cell.complete for (label, _), column in found.items() if label in new for cell in column
    ):
        return None
    figure, panels = _new_figure(len(MEASURES), len(DEGREES), (10.0, 8.2))
    for row, (metric, label) in zip(panels, MEASURES.items(), strict=True):
        row[0].set_ylabel(label)
        for axes, degree in zip(row, DEGREES, strict=True):
            _draw_published(axes, plan.published, f"ER{degree}", metric)
            for curve in plan.curves:
                _draw(axes, curve, found[curve.label, degree], metric)
            _finish(axes, metric)
    for axes, degree in zip(panels[0], DEGREES, strict=True):
        axes.set_title(f"ER{degree}")
    for axes in panels[-1]:
        axes.set_xlabel("n")
    _legend(figure, panels)
    return figure


def _draw(axes: Axes, curve: Curve, cells: Sequence[Point], metric: str) -> None:
    ended = [cell for cell in cells if cell.complete]
    if not ended:
        return
    sizes = [cell.run["n_variables"] for cell in ended]
    means = [cell.mean(metric) for cell in ended]
    axes.plot(
        sizes,
        means,
        color=curve.colour,
        linestyle=curve.line,
        linewidth=1.4,
        marker=curve.marker,
        markersize=4,
        label=curve.label,
    )
    if curve.colour != GREY:
        low, high = _band(ended, metric)
        axes.fill_between(sizes, low, high, color=curve.colour, alpha=0.12, linewidth=0)
    if any(cell.cut_at is not None for cell in cells):
        axes.plot(sizes[-1:], means[-1:], marker="x", markersize=9, mew=2, color=curve.colour)


def _band(cells: Iterable[Point], metric: str) -> tuple[list[float], list[float]]:
    """One standard deviation to both sides; times stay above a tenth of their mean."""
    low, high = [], []
    for cell in cells:
        mean, deviation = cell.mean(metric), cell.deviation(metric)
        floor = mean / 10 if metric == "cpu" else 0.0
        low.append(max(mean - deviation, floor))
        high.append(min(mean + deviation, 1.0) if metric == "skf1" else mean + deviation)
    return low, high


def _draw_published(axes: Axes, curves: Sequence[Published], graph: str, metric: str) -> None:
    for curve in curves:
        points = [
            (p.n_variables, p.value)
            for p in load_paper_figures()
            if (p.graph, p.metric, p.method) == (graph, PUBLISHED_METRIC[metric], curve.method)
            and p.value is not None
        ]
        axes.plot(
            *zip(*points, strict=True),
            color=GREY,
            linestyle=curve.line,
            marker=curve.marker,
            markersize=4,
            markerfacecolor="white",
            linewidth=1.2,
            label=f"{curve.method.replace('grasp', 'GRaSP')}, the paper",
            zorder=1,
        )


def _finish(axes: Axes, metric: str) -> None:
    if metric == "cpu":
        axes.set_yscale("log")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, panels: Any) -> None:
    entries: dict[str, Any] = {}
    for axes in panels.flat:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", ncols=4, frameon=False
    )


GROWTH_LINES = {
    "order-factor": ("QWO, our order factor", BLUE, "-", "o"),
    "algorithm-1": ("QWO, the paper's Algorithm 1", GREEN, "-.", "^"),
    "bic": ("BIC, our engine", ORANGE, "-", "s"),
    "cl-bic": ("BIC, causal-learn", PURPLE, "-", "D"),
    "cl-bdeu": ("BDeu, causal-learn", LIGHT.retyped, "--", "v"),
    "cl-cv": ("CV General, causal-learn", LIGHT.ink, ":", "P"),
}


def _growth(cells: Cells) -> Figure | None:
    """Processor time of building and updating G^π over n, d and N."""
    kinds = [("initial", "n"), ("update", "n"), ("update", "d"), ("initial", "N")]
    titles = ["initial construction", "update", "update", "initial construction"]
    if not cells.select(kind="growth"):
        return None
    figure, panels = _new_figure(1, len(kinds), (11.5, 3.9))
    for axes, (phase, vary), title in zip(panels[0], kinds, titles, strict=True):
        for module, (label, colour, line, marker) in GROWTH_LINES.items():
            found = growth_points(cells, module, phase, vary)
            points = [(c.run[AXES[vary]], c.mean("cpu")) for c in found]
            if points:
                style = {"color": colour, "linestyle": line, "marker": marker, "markersize": 4}
                axes.plot(*zip(*points, strict=True), label=label, **style)
        axes.set_xscale("log")
        axes.set_xlabel(vary)
        axes.set_title(title, fontsize=10)
        _finish(axes, "cpu")
    panels[0, 0].set_ylabel("CPU seconds")
    _legend(figure, panels)
    return figure
