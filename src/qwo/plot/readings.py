"""Pictures of readings: effects in time, curves, targets of conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.drawing.axes import PLAIN_TEXT, SMALL, local_style, open_axes, palette_for
from qwo.drawing.style import label_texts
from qwo.errors import ArgumentError
from qwo.graph.marks import LINE
from qwo.names import Variable, as_column, at_least
from qwo.regimes.result import REPORTED
from qwo.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from qwo.series.responses import ImpulseResponses

MOST_PANELS = 30
_MIDDLE: dict[str, Any] = {"ha": "center", "va": "center"}


def _effects_of(found: Any) -> Any:
    """The lagged effects of a result, or as they are given."""
    effects = getattr(found, "series", found)
    if effects is None or not hasattr(effects, "matrices"):
        raise ArgumentError("there are no lagged effects to draw; learn them: discover(lags=)")
    return effects


def plot_unrolled(found: Any, *, ax: Axes | None = None) -> Axes:
    """A row for each variable and a column for each step of time; arrows end in the present.

    Blue arrows are positive effects, red ones negative. Undirected edges of the present are lines.

    Parameters
    ----------
    found : Discovery or LaggedEffects
        What ``discover(lags=)`` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.
    """
    effects = _effects_of(found)
    with local_style():
        n, lags = len(effects.names), effects.lags
        ax, palette = open_axes(ax, 1.9 + 1.6 * (lags + 1), 0.9 + 0.55 * n)
        for k in range(lags + 1):
            ax.scatter(
                [-k] * n, -np.arange(n), s=60, color=palette.fill, ec=palette.outline, zorder=3
            )
        for row in effects.records():
            cause, mark, effect, lag, weight = row[:5]
            i, j = effects.names.index(cause), effects.names.index(effect)
            k = lag // effects.step
            bend = 0.35 if k == 0 else 0.18 * (i - j != 0) + (0.5 / k if i == j and k > 1 else 0.0)
            style = _arrow(ax, mark, weight, bend, 5)
            ax.annotate("", (0, -j), (-k, -i), arrowprops=style, zorder=2)
        ax.set_yticks(-np.arange(n), effects.names)
        labels = ["t", *(f"t−{k * effects.step}" for k in range(1, lags + 1))]
        ax.set_xticks(-np.arange(lags + 1), labels)
        ax.set_xlim(-lags - 0.4, 0.5)
        ax.set_ylim(-n + 0.4, 0.6)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        return ax


def plot_lags(found: Any, *, ax: Axes | None = None) -> Axes:
    """The variables around a circle, with the lags of each effect on its arrow.

    Effects at several lags share an arrow; those of a variable on itself are left out. Lines are
    undirected edges of the present.

    Parameters
    ----------
    found : Discovery or LaggedEffects
        What ``discover(lags=)`` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.
    """
    effects = _effects_of(found)
    with local_style():
        n = len(effects.names)
        size = min(3.4 + 0.22 * n, 11)
        ax, palette = open_axes(ax, size, size)
        turn = np.pi / 2 - 2 * np.pi * np.arange(n) / n
        places = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        joined: dict[tuple[int, int, str], list[tuple[int, float]]] = {}
        for cause, mark, effect, lag, weight, *_ in effects.records():
            i, j = effects.names.index(cause), effects.names.index(effect)
            if i != j:
                joined.setdefault((i, j, mark), []).append((lag, weight))
        boxes = []
        for place, name in zip(places, effects.names, strict=True):
            box = {"boxstyle": "round,pad=0.35", "fc": palette.fill, "ec": palette.outline}
            label = ax.text(place[0], place[1], name, bbox=box, color=palette.ink, **_MIDDLE)
            boxes.append(label.get_bbox_patch())
        for (i, j, mark), own in joined.items():
            _draw_effect(ax, places[[i, j]], (boxes[i], boxes[j]), mark, own)
        ax.set_xlim(-1.35, 1.35)
        ax.set_ylim(-1.25, 1.25)
        ax.set_aspect("equal")
        ax.axis("off")
        return ax


def _arrow(ax: Axes, mark: str, weight: float, bend: float, apart: float) -> dict[str, Any]:
    """How an effect is drawn: blue if positive, red if negative, a line if undirected."""
    palette = palette_for(ax)
    colour = palette.positive if weight > 0 else palette.negative
    return {
        "arrowstyle": "-" if mark == LINE else "-|>",
        "color": palette.edge if math.isnan(weight) else colour,
        "linewidth": 1.4,
        "shrinkA": apart,
        "shrinkB": apart,
        "connectionstyle": f"arc3,rad={bend}",
    }


def _draw_effect(
    ax: Axes, places: FloatArray, boxes: tuple[Any, Any], mark: str, own: list[tuple[int, float]]
) -> None:
    """An arrow or a line from box to box, with its lags; the strongest one has the colour.

    It is drawn after the boxes, which know where they end only then.
    """
    strongest = max(own, key=lambda pair: abs(pair[1]) if pair[1] == pair[1] else 0)[1]
    style = _arrow(ax, mark, strongest, 0.15, 2) | {"patchA": boxes[0], "patchB": boxes[1]}
    start, end = places
    ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style, zorder=4)
    along = end - start
    middle = (start + end) / 2 + 0.075 * np.array([along[1], -along[0]])
    text = ", ".join(str(lag) for lag, _ in sorted(own))
    box = {"boxstyle": "round,pad=0.15", "fc": ax.get_facecolor(), "ec": "none"}
    ax.text(middle[0], middle[1], text, fontsize=SMALL, bbox=box, zorder=5, **_MIDDLE)


def plot_responses(
    responses: ImpulseResponses,
    *,
    causes: Sequence[Variable] | None = None,
    effects: Sequence[Variable] | None = None,
) -> Any:
    """A panel for each cause and effect: the response step by step, with its band.

    Parameters
    ----------
    responses : ImpulseResponses
        What ``found.series.responses()`` returned.
    causes, effects : sequence of variables, optional
        Those to show; all if not given, up to 30 panels.
    """
    names = responses.names
    rows = [as_column(names, v, "causes") for v in (names if causes is None else causes)]
    columns = [as_column(names, v, "effects") for v in (names if effects is None else effects)]
    if len(rows) * len(columns) > MOST_PANELS:
        raise ArgumentError(
            f"{len(rows)} causes and {len(columns)} effects are {len(rows) * len(columns)} panels; "
            f"name fewer: {MOST_PANELS} can be read"
        )
    with local_style():
        from matplotlib import pyplot as plt

        size = (1.9 * len(columns) + 0.6, 1.5 * len(rows) + 0.5)
        figure, panels = plt.subplots(
            len(rows), len(columns), figsize=size, squeeze=False, sharex=True, layout="constrained"
        )
        steps = np.arange(responses.horizon + 1) * responses.step
        for r, i in enumerate(rows):
            for c, j in enumerate(columns):
                ax = panels[r, c]
                palette = palette_for(ax)
                own = responses.of(i, j)
                ax.axhline(0, color=palette.faint, linewidth=0.8)
                ax.fill_between(
                    steps, own[:, 1], own[:, 2], color=palette.positive, alpha=0.2, lw=0
                )
                ax.plot(steps, own[:, 0], color=palette.positive)
                ax.set_title(f"{names[i]} → {names[j]}", fontsize=SMALL)
                ax.tick_params(labelsize=SMALL)
        figure.supxlabel("rows after the shock", fontsize=SMALL)
        return panels


ACROSS = 4


def plot_curves(discovery: Any, *, most: int = 12) -> Figure:
    """How effects depend on causes: the curves of the most curved edges, with their bands.

    Parameters
    ----------
    discovery : Discovery
        What `discover` returned with ``relations="curved"``.
    most : int
        How many edges to draw.
    """
    curves = getattr(discovery, "curves", None)
    if curves is None or not curves.dag.any():
        raise ArgumentError(
            'there are no curves to draw: relations="curved" learns them, where there are edges'
        )
    rows = sorted(curves.records(), key=lambda row: -row[3])
    rows = [row for row in rows if curves.has_curve(row[1])][: at_least("most", most, 1)]
    with local_style():
        from matplotlib.figure import Figure

        down = math.ceil(len(rows) / ACROSS)
        across = min(len(rows), ACROSS)
        figure = Figure(figsize=(2.4 * across, 2.0 * down), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for ax, (cause, effect, _, _) in zip(grid, rows, strict=False):
            curve = curves.curve(cause, effect)
            for x, y, low, high in curve.pieces():
                ax.fill_between(x, low, high, color="C0", alpha=0.25, linewidth=0)
                ax.plot(x, y, color="C0")
            if curve.levels:
                ax.set_xticks(curve.x, curve.levels)
            ax.set_xlabel(cause)
            ax.set_ylabel(effect)
        for ax in grid[len(rows) :]:
            ax.set_axis_off()
    return figure


_LEAST = 0.01
"""Surprise per row below which cells are blank."""


def plot_targets(discovery: Any, *, ax: Axes | None = None) -> Axes:
    """How far the equation of each variable is from its usual one under each condition.

    The shade is the surprise per row (twice the Kullback–Leibler divergence, on a logarithmic
    scale); a dot marks a target, a ring a change that drift or curvature may explain.

    Parameters
    ----------
    discovery : Discovery
        What `discover` returned for rows of several conditions.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.
    """
    from matplotlib.colors import LogNorm

    found = getattr(discovery, "regimes", None)
    if found is None:
        raise ArgumentError("there are no conditions to draw; learn the graph with regime=")
    with local_style():
        n_rows, n_columns = len(found.labels), len(found.names)
        ax, palette = open_axes(
            ax, min(0.34 * n_columns + 3.0, 14.0), min(0.3 * n_rows + 1.9, 11.0)
        )
        surprise = np.maximum(found.changes.divergences, _LEAST)
        scale = LogNorm(_LEAST, max(float(surprise.max()), 10 * _LEAST))
        image = ax.imshow(surprise, cmap="Blues", norm=scale, aspect="auto")
        for kinds, filled in ((REPORTED, True), (("drift", "may be curvature"), False)):
            chosen = np.array([[status in kinds for status in row] for row in found.status])
            ends, starts = np.nonzero(chosen)
            # Dark cells take light marks.
            inks = ["white" if own > 0.6 else palette.ink for own in scale(surprise[chosen])]
            ax.scatter(
                starts,
                ends,
                s=22,
                facecolors=inks if filled else "none",
                edgecolors=inks,
                linewidths=0.8,
                gid="targets" if filled else "others",
            )
        ax.set_xticks(range(n_columns), label_texts(found.names, 16), rotation=90, **PLAIN_TEXT)
        ax.set_yticks(range(n_rows), label_texts(found.labels, 28), **PLAIN_TEXT)
        ax.tick_params(which="both", length=0)
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.02)
        bar.set_label("surprise per row", fontsize=SMALL)
        ax.set_xlabel("● target   ○ may be drift or curvature", fontsize=SMALL)
        return ax
