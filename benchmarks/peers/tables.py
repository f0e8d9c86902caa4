"""The results as tables in Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import pandas as pd

from benchmarks.peers.analysis import FEWEST, REFERENCE, CellFigures, Loss
from benchmarks.peers.cells import Profile
from benchmarks.peers.markdown import markdown_table, short
from benchmarks.peers.methods import METHODS
from benchmarks.peers.study import ABSENT, CUT_OFF, DATA_SET, DONE, FAILED, TIMEOUT

CHIEF = (REFERENCE, "qwo, 0 restarts", "FLOP, 20 restarts", "FLOP, 0 restarts", "Tetrad BOSS")

_FIGURES = (
    "method",
    "data sets",
    "SHD",
    "ours − this",
    "exact",
    "score gap",
    "adjacency P / R",
    "arrowhead P / R",
    "AID",
    "CPU s",
    "times ours",
    "memory MB",
)


def cell_table(figures: CellFigures) -> str:
    """All methods on one cell."""
    return markdown_table(_FIGURES, [_method_row(figures, str(m)) for m in figures.means.index])


def _method_row(figures: CellFigures, method: str) -> list[str]:
    mean: Any = figures.means.loc[method]
    difference = "" if method == REFERENCE else str(figures.difference(method))
    return [
        method,
        f"{mean['runs']:.0f}",
        f"{mean['shd']:.1f}",
        difference,
        f"{mean['exact']:.0%}",
        number(mean["gap"], ".1f"),
        f"{mean['adjacency_precision']:.2f} / {mean['adjacency_recall']:.2f}",
        f"{mean['arrowhead_precision']:.2f} / {mean['arrowhead_recall']:.2f}",
        number(mean["aid"], ".3f"),
        short(mean["cpu"]),
        _ratio(figures.time_ratio(method)),
        f"{max(mean['memory'], 0.0) / 1e6:.0f}",
    ]


def _ratio(value: float) -> str:
    return "" if math.isnan(value) else short(value)


def number(value: float, style: str) -> str:
    """A number, or nothing where there is none."""
    return "" if math.isnan(value) else format(value, style)


def overview(all_figures: Sequence[CellFigures]) -> str:
    """SHD, score gap and time of the methods that come first, one line a cell."""
    header = ["data", "data sets", *(f"{name}: SHD; gap; s" for name in CHIEF)]
    rows = []
    for figures in all_figures:
        runs = figures.means["runs"].max()
        cells = [_brief(figures, name) for name in CHIEF]
        rows.append([figures.cell.title, f"{runs:.0f}", *cells])
    return markdown_table(header, rows)


def _brief(figures: CellFigures, method: str) -> str:
    if method in figures.means.index:
        mean: Any = figures.means.loc[method]
        distance = f"{figures.comparable_shd[method]:.1f}"
        return f"{distance}; {number(mean['gap'], '.1f')}; {short(mean['cpu'])}"
    if method not in figures.statuses.index:
        return ""
    return str(figures.statuses.loc[method].idxmax())


def coverage(profile: Profile, all_figures: Sequence[CellFigures]) -> str:
    """How much of a profile there are results of."""
    runs = sum(int(figures.means["runs"].sum()) for figures in all_figures)
    said = f"{runs} graphs on {len(all_figures)} of {len(profile.cells)} kinds of data."
    reached = {figures.cell for figures in all_figures}
    missing = Counter(cell.section for cell in profile.cells if cell not in reached)
    left = "; ".join(f"{count} of the section “{section}”" for section, count in missing.items())
    return f"{said} Not reached yet: {left}." if missing else said


_SCORES = (
    "peer",
    "kinds of data",
    "we are more accurate",
    "it is more accurate",
    "too close to tell",
    "too few runs",
    "its time / ours: median",
    "lowest",
    "highest",
)


def scoreboard(all_figures: Sequence[CellFigures]) -> str:
    """How often the intervals of SHD favour us or a peer, and ratios of time, over all cells."""
    rows = []
    for peer, method in METHODS.items():
        cells = [figures for figures in all_figures if _are_both_there(figures, peer)]
        if method.tool == "qwo" or not cells:
            continue
        differences = [figures.difference(peer) for figures in cells]
        ratios = [figures.time_ratio(peer) for figures in cells]
        better = sum(difference.is_negative for difference in differences)
        worse = sum(difference.is_positive for difference in differences)
        few = sum(difference.count < FEWEST for difference in differences)
        counts = len(cells), better, worse, len(cells) - better - worse - few, few
        times = map(short, (median(ratios), min(ratios), max(ratios)))
        rows.append([peer, *map(str, counts), *times])
    return markdown_table(_SCORES, rows)


def _are_both_there(figures: CellFigures, peer: str) -> bool:
    return figures.difference(peer).count > 0


def sortability_table(all_figures: Sequence[CellFigures]) -> str:
    """How much the data give away of the causal order."""
    rows = [
        [
            figures.cell.title,
            number(figures.data("varsortability"), ".2f"),
            number(figures.data("r2sortability"), ".2f"),
        ]
        for figures in all_figures
    ]
    return markdown_table(("data", "var-sortability", "R²-sortability"), rows)


_ACCURACY = (
    "data",
    "peer",
    "shared data sets",
    "our SHD",
    "its SHD",
    "difference",
    "our gap − its gap",
    "its time / ours",
)


def accuracy_losses(found: Sequence[Loss]) -> str:
    """Where a peer is more accurate."""
    rows = []
    for loss in found:
        if loss.is_in_accuracy:
            shared = loss.figures.values(loss.peer, "shd")
            ours = loss.figures.values(REFERENCE, "shd").reindex(shared.index)
            rows.append(
                [
                    loss.figures.cell.title,
                    loss.peer,
                    str(loss.difference.count),
                    f"{ours.mean():.1f}",
                    f"{shared.mean():.1f}",
                    str(loss.difference),
                    str(loss.gap) if loss.gap.count else "",
                    short(loss.time_ratio),
                ]
            )
    return markdown_table(_ACCURACY, rows, texts=2)


_TIME = (
    "data",
    "peer",
    "shared data sets",
    "SHD, ours − its",
    "our ms",
    "its ms",
    "our ms, 0 restarts",
    "our gap − its gap",
)


def time_losses(found: Sequence[Loss]) -> str:
    """Where a peer is faster and not less accurate."""
    rows = []
    for loss in found:
        if loss.is_in_time:
            means = loss.figures.means["cpu"]
            rows.append(
                [
                    loss.figures.cell.title,
                    loss.peer,
                    str(loss.difference.count),
                    str(loss.difference),
                    short(1e3 * means[REFERENCE]),
                    short(1e3 * means[loss.peer]),
                    _ratio(1e3 * means.get("qwo, 0 restarts", math.nan)),
                    str(loss.gap) if loss.gap.count else "",
                ]
            )
    return markdown_table(_TIME, rows, texts=2)


def failure_table(all_figures: Sequence[CellFigures]) -> str:
    """Runs that gave no graph."""
    rows = []
    for figures in all_figures:
        counts = figures.statuses.reindex(columns=[DONE, TIMEOUT, CUT_OFF, FAILED, ABSENT])
        counts = counts.fillna(0).astype(int)
        for method in METHODS:
            if method in counts.index and counts.loc[method].drop(DONE).any():
                shown = [str(value) if value else "" for value in counts.loc[method]]
                reason = _reason(figures, method)
                rows.append([figures.cell.title, method, *shown[:-1], reason])
    header = ("data", "method", "graphs", "timeouts", "cut off", "errors", "what it said")
    return markdown_table(header, rows, texts=2)


def _reason(figures: CellFigures, method: str) -> str:
    errors = figures.errors(method)
    return f"“{errors[0][:90]}”" if errors else ""


def version_table(table: pd.DataFrame) -> str:
    """The versions of all tools, and those that are absent."""
    rows = table[table["method"] != DATA_SET]
    lines = list(_versions(rows))
    absent = sorted(set(METHODS) - set(rows.loc[rows["status"] != ABSENT, "method"]))
    said = f"\n\nNot run: {', '.join(absent)}." if absent else ""
    return markdown_table(("method", "version"), lines, texts=2) + said


def _versions(rows: pd.DataFrame) -> Iterator[list[str]]:
    builds: dict[str, list[str]] = {}
    for method in METHODS:
        found = rows.loc[(rows["method"] == method) & (rows["build"] != ""), "build"]
        for build in sorted(set(found)):
            builds.setdefault(build, []).append(method)
    for build, methods in builds.items():
        yield [", ".join(methods), build]
