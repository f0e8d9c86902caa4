"""How often pairs of variables are adjacent in resamples, and how their edges are directed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.graph.marks import MARKS
from qwo.layout.labels import PLAIN_TEXT, label_texts
from qwo.plot.style import Palette, local_style, open_axes, palette_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_LABEL = 14
_BETWEEN = {text: f" {mark.symbol} " for text, mark in MARKS.items()} | {"": ", "}


def plot_support(
    bootstrap: Any, *, most: int = 40, threshold: float | None = 0.5, ax: Axes | None = None
) -> Axes:
    """A bar for each pair: the shares of resamples with either direction and with none.

    The surest links come first. Pairs are written as the graph of all data has them, with a
    question mark at arrows that are little surer than a coin toss; those that are not adjacent in
    it are faint.

    Parameters
    ----------
    bootstrap : Bootstrap
        What `bootstrap` returned, or anything with ``names`` and ``to_records()`` as it has.
    most : int
        How many pairs are shown at most.
    threshold : float, optional
        Where to draw a line; none if None.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.

    Returns
    -------
    matplotlib.axes.Axes
    """
    with local_style():
        records = bootstrap.to_records()[:most]
        if not records:
            raise ArgumentError("no pair is adjacent in any resample; there is nothing to draw")
        ax = open_axes(ax, 6.4, 0.19 * len(records) + 1.3)
        palette = palette_for(ax)
        _draw_bars(ax, records, palette)
        if threshold is not None:
            ax.axvline(threshold, color=palette.ink, linewidth=0.8, linestyle=(0, (4, 3)))
        _label_pairs(ax, bootstrap.names, records, palette)
        ax.set_xlim(0, 1)
        ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.set_xlabel("share of the resamples")
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8.5, handlelength=1.2
        )
        return ax


def _draw_bars(ax: Axes, records: Any, palette: Palette) -> None:
    places = np.arange(len(records))
    left = np.zeros(len(records))
    for label, field, colour in (
        ("first → second", "arrow", palette.positive),
        ("first ← second", "reverse", palette.negative),
        ("direction not determined", "undirected", palette.bar),
    ):
        shares = np.array([getattr(record, field) for record in records])
        ax.barh(places, shares, left=left, height=0.76, color=colour, label=label)
        left += shares


def _label_pairs(ax: Axes, names: Sequence[str], records: Any, palette: Palette) -> None:
    shown = dict(zip(names, label_texts(names, _LONGEST_LABEL), strict=True))
    texts = [
        f"{shown[record.first]}{_BETWEEN[record.reference]}{shown[record.second]}"
        + " ?" * record.coin_toss
        for record in records
    ]
    ax.set_yticks(np.arange(len(records)), texts, fontsize=8.5, **PLAIN_TEXT)
    for text, record in zip(ax.get_yticklabels(), records, strict=True):
        text.set_color(palette.ink if record.reference else palette.outline)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(records) - 0.4, -0.6)
