"""The trace of the search as a small chart in SVG."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from qwo.text import count

_WIDTH, _HEIGHT = 720.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 14.0, 40.0
_MOST_DOTS = 60


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    text: str


class Chart(NamedTuple):
    """A step curve between two axes."""

    width: float
    height: float
    plot: tuple[float, float, float, float]
    path: str
    dots: list[tuple[float, float, str]]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_title: str
    summary: str


class _Scale(NamedTuple):
    """From values to pixels, between the value at the first pixel and that at the last."""

    start: float
    stop: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (value - self.start) / (self.stop - self.start)
        return round(self.first + share * (self.last - self.first), 1)


def trace_chart(data: dict[str, Any]) -> Chart | None:
    """The best score so far against time; None if the search left fewer than two points."""
    trace = [(seconds, score) for seconds, score in data["trace"] if score is not None]
    if len(trace) < 2:
        return None
    end = max(data["summary"]["seconds"], trace[-1][0])
    unit, factor = ("s", 1.0) if end >= 1 else ("ms", 1000.0)
    scores = [score for _, score in trace]
    pad = 0.08 * (max(scores) - min(scores)) or 1.0
    low, high = min(scores) - pad, max(scores) + pad
    x = _Scale(0, end, _LEFT, _WIDTH - _RIGHT)
    y = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    steps = [f"M{x(trace[0][0])} {y(trace[0][1])}"]
    steps += [f"H{x(seconds)}V{y(score)}" for seconds, score in trace[1:]]
    dots = [(x(s), y(v), f"{factor * s:.3g} {unit}: {v:.6g}") for s, v in trace]
    return Chart(
        width=_WIDTH,
        height=_HEIGHT,
        plot=(_LEFT, _TOP, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM),
        path="".join([*steps, f"H{x(end)}"]),
        dots=dots if len(dots) <= _MOST_DOTS else [],
        x_ticks=[Tick(x(t / factor), _text(t)) for t in _ticks(0, end * factor, 7)],
        y_ticks=[Tick(y(t), _text(t)) for t in _ticks(low, high, 5)],
        x_title=f"time ({unit})",
        summary=f"The score rose from {scores[0]:.6g} to {scores[-1]:.6g} in "
        f"{count(len(trace) - 1, 'improvement')}.",
    )


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two bounds: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def _text(value: float) -> str:
    return f"{value:,.6g}"
