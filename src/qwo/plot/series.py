"""Pictures of effects in time: unrolled in columns, around a circle with lags, and responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.drawing.axes import SMALL, local_style, open_axes, palette_for
from qwo.errors import ArgumentError
from qwo.graph.marks import LINE
from qwo.names import Variable, as_column
from qwo.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        ax = open_axes(ax, 1.9 + 1.6 * (lags + 1), 0.9 + 0.55 * n)
        palette = palette_for(ax)
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
        ax = open_axes(ax, size, size)
        palette = palette_for(ax)
        turn = np.pi / 2 - 2 * np.pi * np.arange(n) / n
        places = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        joined: dict[tuple[int, int, str], list[tuple[int, float]]] = {}
        for cause, mark, effect, lag, weight, *_ in effects.records():
            i, j = effects.names.index(cause), effects.names.index(effect)
            if i != j:
                joined.setdefault((i, j, mark), []).append((lag, weight))
        for (i, j, mark), own in joined.items():
            _draw_effect(ax, places[i], places[j], mark, own)
        for place, name in zip(places, effects.names, strict=True):
            box = {"boxstyle": "round,pad=0.35", "fc": palette.fill, "ec": palette.outline}
            ax.text(place[0], place[1], name, bbox=box, color=palette.ink, zorder=3, **_MIDDLE)
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
    ax: Axes, start: FloatArray, end: FloatArray, mark: str, own: list[tuple[int, float]]
) -> None:
    """An arrow or a line between two places, with its lags; the strongest one has the colour."""
    strongest = max(own, key=lambda pair: abs(pair[1]) if pair[1] == pair[1] else 0)[1]
    style = _arrow(ax, mark, strongest, 0.15, 13)
    ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style, zorder=1)
    along = end - start
    middle = (start + end) / 2 + 0.075 * np.array([along[1], -along[0]])
    text = ", ".join(str(lag) for lag, _ in sorted(own))
    box = {"boxstyle": "round,pad=0.15", "fc": ax.get_facecolor(), "ec": "none"}
    ax.text(middle[0], middle[1], text, fontsize=SMALL, bbox=box, zorder=2, **_MIDDLE)


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
