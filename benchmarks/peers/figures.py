"""Plots: accuracy against time on each cell, and how time, accuracy and memory grow with size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from benchmarks.peers.analysis import CellFigures
from benchmarks.peers.methods import METHODS

STYLES: dict[str, tuple[str, str]] = {
    "qwo": ("#1f5fa8", "o"),
    "qwo, plain BIC": ("#1f5fa8", "D"),
    "qwo GRaSP": ("#6fa8dc", "v"),
    "FLOP": ("#c05a1e", "s"),
    "Tetrad BOSS": ("#2e7d32", "^"),
    "Tetrad GRaSP": ("#81b784", "v"),
    "causal-learn GRaSP": ("#b39ddb", "v"),
    "causal-learn BOSS": ("#7b4fb5", "^"),
    "causal-learn GES": ("#4a2c82", "P"),
    "XGES": ("#c2185b", "X"),
    "pgmpy hill climbing": ("#a1887f", "<"),
    "pgmpy GES": ("#6d4c41", "P"),
    "DAGMA": ("#f0a500", "*"),
    "DirectLiNGAM": ("#009fb0", "d"),
    "var-sort-regress": ("#bdbdbd", "."),
    "R²-sort-regress": ("#757575", "."),
}
COLUMNS = 4
FAR_FROM_ZERO = 3.0
STYLE: Any = {"font.size": 8.5, "axes.spines.top": False, "axes.spines.right": False}


def plot_section(section: Sequence[CellFigures], path: Path) -> None:
    """A panel for each cell: mean SHD over processor seconds; hollow for fewer data sets."""
    rows = math.ceil(len(section) / COLUMNS)
    columns = max(math.ceil(len(section) / rows), 2)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.1 * columns, 2.9 * rows + 0.9), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).flatten()
        handles: dict[str, Line2D] = {}
        for axes, figures in zip(panels, section, strict=False):
            handles |= _accuracy_panel(axes, figures)
        for axes in panels[len(section) :]:
            axes.set_axis_off()
        for k in range(0, len(section), columns):
            panels[k].set_ylabel("mean SHD of the CPDAG")
        _legend(figure, handles, columns)
        figure.savefig(path, dpi=130)


def _accuracy_panel(axes: Axes, figures: CellFigures) -> dict[str, Line2D]:
    means = figures.means.assign(shd=figures.comparable_shd)
    handles: dict[str, Line2D] = {}
    for family, members in _families(means).items():
        colour, marker = STYLES[family]
        size = 8 if marker in "*." else 5
        emphasis = 3 if family == "qwo" else 2
        axes.plot(members["cpu"], members["shd"], color=colour, linewidth=1.1, zorder=emphasis)
        everywhere = members["runs"] == means["runs"].max()
        for chosen, face in ((members[everywhere], colour), (members[~everywhere], "white")):
            (handle,) = axes.plot(
                chosen["cpu"],
                chosen["shd"],
                linestyle="none",
                color=colour,
                marker=marker,
                markersize=size,
                markerfacecolor=face,
                zorder=emphasis + 0.5,
            )
            handles.setdefault(family, handle)
    axes.set_title(_wrapped(figures.cell.title), fontsize=8.5)
    axes.set_xlabel("CPU seconds")
    _whole_decades(axes, means["cpu"])
    _scale_distances(axes, float(means["shd"].min()), float(means["shd"].max()))
    return handles


def _whole_decades(axes: Axes, seconds: pd.Series) -> None:
    """A logarithmic axis that shows at least one decade."""
    axes.set_xscale("log")
    lowest = 10.0 ** math.floor(math.log10(seconds.min()))
    axes.set_xlim(0.8 * lowest, 1.25 * 10.0 ** math.ceil(math.log10(seconds.max())))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _families(means: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The methods of one tool that differ in effort, by time."""
    family = [METHODS[str(name)].family for name in means.index]
    groups = {str(name): group.sort_values("cpu") for name, group in means.groupby(family)}
    return {name: groups[name] for name in STYLES if name in groups}


def _scale_distances(axes: Axes, lowest: float, highest: float) -> None:
    """Logarithmic; where it comes near 0 linear up to 1, so that a perfect 0 has a place."""
    top = max(highest, 1.0) * 2
    decades = range(math.ceil(math.log10(top)))
    if lowest > FAR_FROM_ZERO:
        axes.set_yscale("log")
        axes.set_ylim(0.6 * lowest, top)
        wanted = [digit * 10.0**k for k in decades for digit in (1, 2, 5)]
        axes.set_yticks([tick for tick in wanted if 0.6 * lowest <= tick <= top])
    else:
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
        axes.set_ylim(-0.4, top)
        axes.set_yticks([0, *(10.0**k for k in decades)])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)


def _legend(figure: Figure, handles: dict[str, Line2D], columns: int) -> None:
    ordered = [name for name in STYLES if name in handles]
    figure.legend(
        [handles[name] for name in ordered],
        ordered,
        loc="outside lower center",
        ncols=min(len(ordered), 2 * columns),
        frameon=False,
        fontsize=8,
    )


def _wrapped(title: str) -> str:
    """The title in two lines."""
    parts = title.split(", ")
    half = (len(parts) + 1) // 2
    return ", ".join(parts[:half]) + "\n" + ", ".join(parts[half:])


SHOWN = (
    "qwo",
    "qwo GRaSP",
    "FLOP, 0 restarts",
    "FLOP, 20 restarts",
    "Tetrad BOSS",
    "Tetrad GRaSP",
    "causal-learn GRaSP",
    "causal-learn BOSS",
    "causal-learn GES",
    "XGES",
    "XGES-0",
    "pgmpy hill climbing",
    "pgmpy GES",
    "DAGMA",
    "DirectLiNGAM",
    "R²-sort-regress",
)
MEASURES = {
    "cpu": "CPU seconds",
    "shd": "mean SHD for each variable",
    "memory": "memory above the data, MB",
}


def plot_growth(section: Sequence[CellFigures], path: Path) -> None:
    """Time, accuracy and memory over the number of variables."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 4.6), layout="constrained")
        handles: dict[str, Line2D] = {}
        for axes, (name, label) in zip(figure.subplots(1, 3), MEASURES.items(), strict=True):
            for method in SHOWN:
                points = _growth(section, method, name)
                if points:
                    handles[method] = _curve(axes, method, points)
            axes.set_xscale("log")
            axes.set_yscale("symlog" if name == "shd" else "log", **_linear(name))
            if name == "shd":
                axes.set_ylim(bottom=-0.002)
            axes.set_xlabel("variables n")
            axes.set_ylabel(label)
            sizes = [figures.cell.kind.n for figures in section]
            axes.set_xticks(sizes, sizes, rotation=45 if len(sizes) > 5 else 0)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.grid(alpha=0.3)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=8,
            frameon=False,
            fontsize=8,
        )
        figure.savefig(path, dpi=130)


def _linear(name: str) -> dict[str, float]:
    return {"linthresh": 0.01, "linscale": 0.4} if name == "shd" else {}


def _growth(section: Sequence[CellFigures], method: str, name: str) -> list[tuple[int, float]]:
    points = []
    for figures in section:
        if method in figures.means.index:
            values = figures.comparable_shd if name == "shd" else figures.means[name]
            value = float(values[method])
            scale = {"shd": figures.cell.kind.n, "memory": 1e6}.get(name, 1)
            points.append((figures.cell.kind.n, value / scale))
    # Pages of memory are counted, so that a small call may seem to need none.
    return [(n, max(value, 0.01) if name == "memory" else value) for n, value in points]


def _curve(axes: Axes, method: str, points: list[tuple[int, float]]) -> Line2D:
    colour, marker = STYLES[METHODS[method].family]
    dashed = method in ("FLOP, 0 restarts", "XGES-0")
    (handle,) = axes.plot(
        [n for n, _ in points],
        [value for _, value in points],
        color=colour,
        marker=marker,
        markersize=5,
        linewidth=2 if method == "qwo" else 1.1,
        linestyle="--" if dashed else "-",
        zorder=3 if method == "qwo" else 2,
    )
    return handle
