"""How sure pairs are, how the score of a search rose, and what penalties leave, as charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.drawing.axes import PLAIN_TEXT, SMALL, local_style, open_axes, size_in_points
from qwo.drawing.style import Palette, label_texts
from qwo.errors import ArgumentError, ShapeError
from qwo.graph.marks import MARKS
from qwo.text import count
from qwo.types import FloatArray, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_LABEL = 14
_BETWEEN = {text: f" {mark.symbol} " for text, mark in MARKS.items()} | {"": ", "}


def plot_support(
    bootstrap: Any, *, most: int = 40, threshold: float | None = 0.5, ax: Axes | None = None
) -> Axes:
    """A bar for each pair: the shares of resamples with either direction and with none.

    The surest links come first. Pairs are written as the graph of all data has them, with a
    question mark at arrows whose direction is not settled; those that are not adjacent in
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
    """
    with local_style():
        records = bootstrap.to_records()[:most]
        if not records:
            raise ArgumentError("no pair is adjacent in any resample; there is nothing to draw")
        ax, palette = open_axes(ax, 6.4, 0.19 * len(records) + 1.3)
        _draw_shares(ax, records, palette)
        if threshold is not None:
            ax.axvline(threshold, color=palette.ink, linewidth=0.8, linestyle=(0, (4, 3)))
        _label_pairs(ax, bootstrap.names, records, palette)
        ax.set_xlim(0, 1)
        ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.set_xlabel("share of the resamples")
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=SMALL, handlelength=1.2
        )
        return ax


def _draw_shares(ax: Axes, records: Any, palette: Palette) -> None:
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
    _label_rows(ax, texts)
    for text, record in zip(ax.get_yticklabels(), records, strict=True):
        text.set_color(palette.ink if record.reference else palette.outline)


def _label_rows(ax: Axes, texts: Sequence[str]) -> None:
    """Write a text beside each row, the first one at the top."""
    ax.set_yticks(np.arange(len(texts)), texts, fontsize=SMALL, **PLAIN_TEXT)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(texts) - 0.4, -0.6)


def plot_causes(causes: Any, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """A line for each possible cause of an outcome: estimate or range, and interval.

    Parameters
    ----------
    causes : Causes
        What `Discovery.causes_of` returned.
    most : int
        How many causes are shown at most.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.
    """
    with local_style():
        shown = list(causes)[:most]
        if not shown:
            raise ArgumentError(f"{causes.headline} There is nothing to draw")
        ax, palette = open_axes(ax, 6.4, 0.28 * len(shown) + 1.1)
        for place, effect in enumerate(shown):
            # In standard deviations, so that causes of different units can be compared.
            ends = effect.per_deviation
            colour = palette.positive if effect.standardized >= 0 else palette.negative
            alpha = 1.0 if effect.excludes_zero else 0.45
            ax.plot(ends[:2], [place, place], color=palette.ink, linewidth=1.2, alpha=alpha)
            thick: dict[str, Any] = {"linewidth": 5.0, "solid_capstyle": "round"}
            ax.plot(ends[2:], [place, place], color=colour, alpha=alpha, **thick)
        ax.axvline(0, color=palette.outline, linewidth=0.8, linestyle=(0, (4, 3)))
        _label_rows(ax, label_texts([effect.cause for effect in shown], 24))
        ax.set_xlabel(f"effect on {causes.outcome}, in standard deviations", **PLAIN_TEXT)
        return ax


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
    """
    with local_style():
        trace = np.asarray(discovery.trace, dtype=np.float64).reshape(-1, 2)
        if not len(trace):
            raise ArgumentError("the trace is empty; wanted at least the score at the start")
        ax, palette = open_axes(ax, 6.0, 3.6)
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


def _remark(discovery: Any, trace: FloatArray) -> str:
    status = getattr(discovery, "status", "")
    after = f"{trace[-1, 1]:.6g} after {count(len(trace) - 1, 'improvement')}"
    return f"{after}, {status}" if status else after


_FONT_SIZES = (4.5, 9.0)
_LABEL_SHARE = 0.3


def plot_penalty_path(
    path: Any, *, chosen: Any = None, labels: bool | None = None, ax: Axes | None = None
) -> Axes:
    """The number of edges against the penalty, and the adjacencies that make it up.

    The step line counts the edges. Below it there is a bar for each adjacency, along the penalties
    at which it is there; those that bear the largest penalties come lowest, so that they are the
    ones to trust most.

    Parameters
    ----------
    path : PenaltyPath
        What `penalty_path` returned, or anything with ``penalties``, ``discoveries``, of which
        each has a ``cpdag``, and ``names``.
    chosen : float or PenaltyChoice, optional
        A penalty to mark, such as ``path.choose()``.
    labels : bool, optional
        Whether to write the names at the bars; by default, if there is room for them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    """
    with local_style():
        bars = _Bars.of(path)
        n_bars, n_edges = len(bars.pairs), bars.n_edges()
        ax, palette = open_axes(ax, 6.8, min(max(0.17 * n_bars + 1.4, 3.4), 10.0))
        _draw_penalties(ax, bars, palette)
        ax.stairs(
            n_edges,
            bars.borders,
            baseline=None,
            color=palette.ink,
            linewidth=1.6,
            label="number of edges",
            gid="count",
        )
        if chosen is not None:
            penalty = float(getattr(chosen, "penalty", chosen))
            ax.axvline(penalty, color=palette.negative, lw=1.4, ls="--", label="chosen penalty")
        if bars.logarithmic:
            _log_scale(ax, bars.borders[0], bars.borders[-1])
        ax.set_xlim(bars.borders[0], bars.borders[-1])
        ax.set_ylim(0, max(n_bars, int(n_edges.max()), 1) * 1.03 + 0.5)
        ax.locator_params(axis="y", integer=True)
        ax.set_xlabel("penalty discount")
        ax.set_ylabel("number of edges")
        ax.legend(loc="upper right", fontsize=SMALL)
        _label_bars(ax, bars, path.names, palette, labels)
        return ax


class _Bars(NamedTuple):
    """What there is at each penalty."""

    pairs: Indices
    """The pairs of variables that are adjacent at some penalty, the most durable first."""
    codes: Indices
    """What joins them at each penalty: 0 nothing, 1 an arrow, 2 an undirected edge."""
    borders: FloatArray
    """Each penalty stands for what is between two of these."""
    logarithmic: bool

    @classmethod
    def of(cls, path: Any) -> _Bars:
        penalties = np.asarray(path.penalties, dtype=np.float64)
        cpdags = np.array([discovery.cpdag for discovery in path.discoveries])
        n = len(path.names)
        if not len(penalties) or cpdags.shape != (len(penalties), n, n):
            raise ShapeError(
                f"the path has {len(penalties)} penalties, {n} names and CPDAGs of shape "
                f"{cpdags.shape}; wanted at least one penalty, and an n×n matrix for each"
            )
        ascending = np.argsort(penalties, kind="stable")
        penalties, cpdags = penalties[ascending], cpdags[ascending]
        either = np.maximum(cpdags, cpdags.transpose(0, 2, 1))
        pairs = np.argwhere(np.triu(either.any(axis=0), 1))
        codes = either[:, pairs[:, 0], pairs[:, 1]].T.astype(np.intp)
        last = np.where(codes > 0, np.arange(len(penalties)), -1).max(axis=1, initial=-1)
        durable = np.lexsort((-(codes > 0).sum(axis=1), -last))
        logarithmic = bool(penalties[0] > 0 and penalties[-1] > 4 * penalties[0])
        borders = _borders(np.log(penalties) if logarithmic else penalties)
        borders = np.exp(borders) if logarithmic else borders
        return cls(pairs[durable], codes[durable], borders, logarithmic)

    def n_edges(self) -> Indices:
        """The number of edges at each penalty."""
        return np.asarray(np.sum(self.codes > 0, axis=0), dtype=np.intp)

    def runs(self, code: int) -> Iterator[tuple[int, float, float]]:
        """The row of each bar of the given code, and the penalties where it begins and ends."""
        edge = np.diff((self.codes == code).astype(np.int8), axis=1, prepend=0, append=0)
        rows, starts = np.nonzero(edge == 1)
        _, ends = np.nonzero(edge == -1)
        for row, start, end in zip(rows.tolist(), starts, ends, strict=True):
            yield row, float(self.borders[start]), float(self.borders[end])


def _borders(places: FloatArray) -> FloatArray:
    """The middles between places, and as much beyond the first and the last."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    middles = (places[1:] + places[:-1]) / 2
    first, last = 2 * places[0] - middles[0], 2 * places[-1] - middles[-1]
    return np.array([first, *middles, last])


def _draw_penalties(ax: Axes, bars: _Bars, palette: Palette) -> None:
    from matplotlib.collections import PolyCollection

    for code, colour, title in (
        (1, palette.positive, "directed"),
        (2, palette.bar, "direction not determined"),
    ):
        boxes = [
            [(left, row + 0.15), (right, row + 0.15), (right, row + 0.85), (left, row + 0.85)]
            for row, left, right in bars.runs(code)
        ]
        if boxes:
            shapes = PolyCollection(boxes, facecolors=colour, linewidths=0, label=title, gid=title)
            ax.add_collection(shapes, autolim=False)


def _log_scale(ax: Axes, first: float, last: float) -> None:
    """A logarithmic axis with plain numbers where there are penalties."""
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log")
    powers = np.arange(np.floor(np.log10(first)), np.ceil(np.log10(last)) + 1)
    ticks = np.outer(10.0**powers, [1, 2, 5]).ravel()
    ticks = ticks[(first <= ticks) & (ticks <= last)]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())


def _label_bars(
    ax: Axes, bars: _Bars, names: Sequence[str], palette: Palette, labels: bool | None
) -> None:
    """Write the names of each pair behind its bar, and make room for those at the right."""
    room = size_in_points(ax)[1] / max(ax.get_ylim()[1], 1)
    size = min(max(0.75 * room, _FONT_SIZES[0]), _FONT_SIZES[1])
    if labels is False or (labels is None and size > room):
        return
    first, last = bars.borders[0], bars.borders[-1]
    if bars.logarithmic:
        ax.set_xlim(first, last * (last / first) ** _LABEL_SHARE)
    else:
        ax.set_xlim(first, last + (last - first) * _LABEL_SHARE)
    texts = label_texts(names, _LONGEST_LABEL)
    for row, ((i, j), codes) in enumerate(zip(bars.pairs, bars.codes, strict=True)):
        end = bars.borders[np.flatnonzero(codes)[-1] + 1]
        ax.annotate(
            f"{texts[i]} – {texts[j]}",
            (end, row + 0.5),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=palette.ink,
            annotation_clip=False,
            **PLAIN_TEXT,
        )
