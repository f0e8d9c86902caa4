"""Accuracy against time for growing numbers of restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.peers.flop.records import Records
from benchmarks.peers.flop.settings import CURVE_RESTARTS, PROFILES, Setting, Tool
from benchmarks.peers.flop.summary import Figures, Summary

STYLES: dict[Tool, tuple[str, str, str, tuple[int, int]]] = {
    "flop": ("FLOP", "#c05a1e", "s", (5, 5)),
    "qwo": ("qwo", "#1f5fa8", "o", (0, -13)),
}
MEASURES: dict[str, Callable[[Figures], float]] = {
    "mean SHD of the CPDAG": lambda figures: figures.shd,
    "mean score gap": lambda figures: figures.gap,
}
LABEL_FACTOR = 1.35
"""Points nearer than this in time share the label of the first one."""


def draw_again(path: Path, results: Path) -> None:
    """The plot of the standard settings from the records that are kept."""
    plot_curves(PROFILES["standard"], Summary(Records(results).read()), path)


def plot_curves(settings: Sequence[Setting], summary: Summary, path: Path) -> None:
    """A column for each setting that has a curve: SHD and score gap over processor time."""
    shown = [setting for setting in settings if setting.curve_data_sets]
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(3.4 * len(shown), 5.4), layout="constrained")
        panels = figure.subplots(len(MEASURES), len(shown), squeeze=False, sharex="col")
        for row, (label, measure) in zip(panels, MEASURES.items(), strict=True):
            row[0].set_ylabel(label)
            for axes, setting in zip(row, shown, strict=True):
                _panel(axes, setting, summary, measure)
        for axes, setting in zip(panels[0], shown, strict=True):
            axes.set_title(f"{setting.name}\n({setting.curve_data_sets} data sets)", fontsize=9)
        for axes in panels[-1]:
            axes.set_xlabel("CPU seconds")
        panels[0, -1].legend(frameon=False, loc="upper right")
        figure.savefig(path, dpi=150)


def _panel(
    axes: Axes, setting: Setting, summary: Summary, measure: Callable[[Figures], float]
) -> None:
    highest = 1.0
    for tool, (name, colour, marker, offset) in STYLES.items():
        points = _points(setting, tool, summary, measure)
        seconds, values = [p[1] for p in points], [p[2] for p in points]
        axes.plot(seconds, values, color=colour, marker=marker, label=name, markersize=5)
        highest = max([highest, *values])
        labelled = 0.0
        for restarts, x, y in points:
            if x < LABEL_FACTOR * labelled:
                continue
            labelled = x
            axes.annotate(
                str(restarts),
                (x, y),
                xytext=offset,
                textcoords="offset points",
                ha="center",
                color=colour,
                fontsize=8,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    # Linear up to 1, so that a perfect 0 has a place.
    axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    axes.set_ylim(-0.9, highest * 2.2)
    axes.set_yticks([0, *(10.0**k for k in range(math.ceil(math.log10(highest * 2.2))))])
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.grid(alpha=0.3, which="major")


def _points(
    setting: Setting, tool: Tool, summary: Summary, measure: Callable[[Figures], float]
) -> list[tuple[int, float, float]]:
    """Restarts, seconds and the measure."""
    return [
        (restarts, figures.cpu, measure(figures))
        for restarts in CURVE_RESTARTS
        if (figures := summary.figures(setting, tool, restarts, data_sets=setting.curve_data_sets))
    ]


def _plain(value: float, _: int) -> str:
    return f"{value:g}"
