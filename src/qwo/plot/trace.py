"""How the score of a search rose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.plot.style import local_style, open_axes, palette_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MARKERS = 60


def plot_trace(discovery: Any, *, ax: Axes | None = None) -> Axes:
    """The best score so far against time: a step at each improvement.

    Parameters
    ----------
    discovery : Discovery
        What `discover` returned, or anything with a ``trace`` of pairs (seconds, score) and,
        optionally, the ``seconds`` of the whole call and a ``status``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    with local_style():
        trace = np.asarray(discovery.trace, dtype=np.float64).reshape(-1, 2)
        if not len(trace):
            raise ArgumentError("the trace is empty; wanted at least the score at the start")
        ax = open_axes(ax, 6.0, 3.6)
        palette = palette_for(ax)
        times, scores = trace.T
        end = max(float(getattr(discovery, "seconds", times[-1])), float(times[-1]))
        unit, factor = ("s", 1.0) if end >= 1 else ("ms", 1000.0)
        ax.step(
            factor * np.append(times, end),
            np.append(scores, scores[-1]),
            where="post",
            color=palette.positive,
            linewidth=1.8,
            gid="score",
        )
        if len(trace) <= _MOST_MARKERS:
            ax.plot(factor * times, scores, "o", color=palette.positive, markersize=4)
        ax.annotate(
            _remark(discovery, trace),
            (1, scores[-1]),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 5),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=9,
            color=palette.ink,
        )
        ax.margins(y=0.12)
        ax.set_xlim(left=0)
        ax.set_xlabel(f"time ({unit})")
        ax.set_ylabel("score of the best order (higher is better)")
        ax.grid(axis="y", color=palette.faint, linewidth=0.5)
        ax.set_axisbelow(True)
        return ax


def _remark(discovery: Any, trace: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    improvements = len(trace) - 1
    count = f"{improvements} improvement" + ("" if improvements == 1 else "s")
    status = getattr(discovery, "status", "")
    return f"{trace[-1, 1]:.6g} after {count}" + (f", {status}" if status else "")
