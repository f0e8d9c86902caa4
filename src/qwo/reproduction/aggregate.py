"""Runs of the same point put together: means, intervals, differences, and what was cut off."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import linregress, t

from qwo.reproduction.store import Row, run_key
from qwo.reproduction.tasks import CUT_OFF, DONE

METRICS = ("skf1", "pshd", "cpu")
TIMES = ("cpu", "search")
FEWEST = 5
"""Fewer runs than these tell nothing."""
_KEPT = (*METRICS, "search", "pshd_reversed", "memory", "scores", "edges")
_LABELS = (
    "graph",
    "degree",
    "n_variables",
    "n_samples",
    "noise",
    "covariance",
    "weights",
    "method",
)


@dataclass(frozen=True)
class Point:
    """All runs of the same parameters but for the seed.

    ``run`` has the parameters that they share, ``values`` for each metric those of the runs that
    ended, by seed, ``count`` how many did, ``tried`` how many were made, ``cut_at`` the largest
    budget that one exceeded. Times of older runs, which were stored without a commit, count only
    where there are fewer than `FEWEST` others: machine and code were not the same.
    """

    run: Mapping[str, Any]
    values: Mapping[str, Mapping[int, float]]
    count: int
    tried: int
    cut_at: float | None

    @property
    def complete(self) -> bool:
        """Whether there are runs and all ended: a mean over those that ended would flatter."""
        return self.count > 0 and self.cut_at is None

    def mean(self, metric: str) -> float:
        """The mean of a metric."""
        return statistics.fmean(self.values[metric].values())

    def deviation(self, metric: str) -> float:
        """The standard deviation of a metric; 0 for a single run."""
        values = list(self.values[metric].values())
        return statistics.stdev(values) if len(values) > 1 else 0.0


class Cells:
    """The points of a store, to be found by their parameters."""

    def __init__(self, rows: Iterable[Row]) -> None:
        groups: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            groups[run_key({k: v for k, v in row.run.items() if k != "seed"})].append(row)
        points = [_point(group) for _, group in sorted(groups.items())]
        self._points = sorted(points, key=lambda point: int(point.run["n_variables"]))
        self._by_method: dict[str, list[Point]] = defaultdict(list)
        for point in self._points:
            self._by_method[point.run["method"]].append(point)

    def select(self, **wanted: Any) -> list[Point]:
        """Points whose parameters are as wanted, small ones first; a missing one counts as None."""
        among = self._by_method[wanted["method"]] if "method" in wanted else self._points
        return [p for p in among if all(p.run.get(name) == v for name, v in wanted.items())]

    def find(self, **wanted: Any) -> Point | None:
        """The only such point that is complete, if there is one."""
        found = [point for point in self.select(**wanted) if point.complete]
        return found[0] if len(found) == 1 else None


def _point(rows: Sequence[Row]) -> Point:
    run = {k: v for k, v in rows[0].run.items() if k != "seed"}
    ended = {row.run["seed"]: dict(row.outcome) for row in rows if row.outcome["status"] == DONE}
    for outcome in ended.values():
        if "prepared" in outcome:
            outcome["search"] = outcome["cpu"] - outcome["prepared"]
    recent = {row.run["seed"] for row in rows if "commit" in row.record} & ended.keys()
    timed = recent if len(recent) >= FEWEST else ended.keys()
    values = {
        metric: {
            seed: found[metric]
            for seed, found in sorted(ended.items())
            if metric in found and (seed in timed or metric not in TIMES)
        }
        for metric in _KEPT
    }
    cut = [row.outcome["budget"] for row in rows if row.outcome["status"] == CUT_OFF]
    return Point(run, values, len(ended), len(rows), max(cut, default=None))


class Interval(NamedTuple):
    """A mean with the half-width of its confidence interval, from so many graphs.

    And its standard error, which is no number where there is one graph.
    """

    mean: float
    half: float
    graphs: int
    error: float = math.nan

    @property
    def low(self) -> float:
        """Its lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.mean + self.half


def interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Student's interval of a mean; without bounds for a single value."""
    count = len(values)
    if count < 2:
        return Interval(statistics.fmean(values), math.inf, count)
    error = statistics.stdev(values) / math.sqrt(count)
    half = float(t.ppf((1 + level) / 2, count - 1)) * error
    return Interval(statistics.fmean(values), half, count, error)


def paired(
    first: Point,
    second: Point,
    metric: str,
    level: float = 0.95,
    of: Callable[[float, float], float] = lambda a, b: a - b,
) -> Interval | None:
    """The mean of a function of two points over the graphs that both have; by default a - b."""
    one, other = first.values[metric], second.values[metric]
    seeds = sorted(one.keys() & other.keys())
    return interval([of(one[s], other[s]) for s in seeds], level) if seeds else None


def log_ratio(a: float, b: float) -> float:
    """The logarithm of a / b."""
    return math.log(a / b)


def cells_as_csv(points: Iterable[Point]) -> str:
    """A line for each point of searches: parameters, graphs, means and deviations.

    What was cut off has no means.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = [f"{metric}_{part}" for metric in METRICS for part in ("mean", "sd")]
    writer.writerow([*_LABELS, "graphs", "cut_off_at", *figures, "peak_memory"])
    for point in points:
        labels = [point.run.get(name, "") for name in _LABELS]
        numbers = [""] * len(figures)
        if point.complete:
            numbers = [f"{f(m):.6g}" for m in METRICS for f in (point.mean, point.deviation)]
        memory = max(point.values["memory"].values(), default="")
        writer.writerow([*labels, point.count, point.cut_at or "", *numbers, memory])
    return text.getvalue()


AXES = {"n": "n_variables", "d": "block", "N": "n_samples"}
"""What a measurement may vary: variables, length of the block, samples."""

LARGEST = 3
"""Only so many of the largest sizes count: the growth at small ones is that of fixed costs."""


class Exponent(NamedTuple):
    """A slope with the half-width of its 95 % interval, its sizes, and the graphs of each."""

    slope: float
    half_width: float
    sizes: tuple[int, ...]
    graphs: int


def growth_points(cells: Cells, module: str, phase: str, vary: str, **kind: Any) -> list[Point]:
    """The complete points of a module's steps, small sizes first.

    ``density`` is ``"dense"`` for degree n/2; ``scale`` is ``"common"`` for the sizes that all
    modules share.
    """
    wanted = {"density": None, "scale": None} | kind
    found = cells.select(kind="growth", method=module, phase=phase, vary=vary, **wanted)
    return sorted((p for p in found if p.complete), key=lambda p: int(p.run[AXES[vary]]))


def growth_exponent(points: Sequence[Point], vary: str) -> Exponent | None:
    """The exponent of processor time over the largest sizes; None without two."""
    largest = points[-LARGEST:]
    if len(largest) < 2:
        return None
    logs = np.log([(p.run[AXES[vary]], s) for p in largest for s in p.values["cpu"].values()])
    fit = linregress(*logs.T)
    freedom = len(logs) - 2
    width = float(t.ppf(0.975, freedom) * fit.stderr) if freedom > 0 else math.nan
    sizes = tuple(int(p.run[AXES[vary]]) for p in largest)
    return Exponent(float(fit.slope), width, sizes, min(p.count for p in largest))
