"""Medians of repeated single-threaded runs, growth exponents, and tables for the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

# Everything runs in one thread, whose processor time leaves out what else the machine is doing.
clock = (
    time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
)


def seconds(task: Callable[[], object], repeats: int = 5, calls: int = 1) -> float:
    """The median over `repeats` runs of the time of one of `calls` calls inside a task."""
    task()
    times = []
    for _ in range(repeats):
        start = clock()
        task()
        times.append((clock() - start) / calls)
    return median(times)


def growth_exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of log time over log size: time ~ sizeᵏ."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def readable(duration: float) -> str:
    """A duration with three digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that is also valid Markdown."""
    widths = [max(len(line[k]) for line in (header, *rows)) for k in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    print(line(header))
    print("|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    for row in rows:
        print(line(row))
    print()
