"""What each condition touched, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.drawing.axes import PLAIN_TEXT, SMALL, local_style, open_axes, palette_for
from qwo.drawing.style import label_texts
from qwo.errors import ArgumentError
from qwo.regimes.result import REPORTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        ax = open_axes(ax, min(0.34 * n_columns + 3.0, 14.0), min(0.3 * n_rows + 1.9, 11.0))
        palette = palette_for(ax)
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
