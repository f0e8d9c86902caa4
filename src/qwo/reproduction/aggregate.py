"""Runs of the same point put together: means, deviations, and whether the point was cut off."""

from __future__ import annotations

import csv
import io
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import linregress, t

from qwo.reproduction.store import Row, run_key
from qwo.reproduction.tasks import CUT_OFF, DONE

METRICS = ("skf1", "pshd", "cpu")
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
    """All runs of one point: the same parameters but for the seed.

    Attributes
    ----------
    run : mapping
        The parameters that they share.
    values : mapping
        For each metric, the values of the runs that ended, by seed.
    cut_off : bool
        Whether one exceeded its budget.
    """

    run: Mapping[str, Any]
    values: Mapping[str, Mapping[int, float]]
    cut_off: bool

    @property
    def count(self) -> int:
        """How many runs ended."""
        return len(self.values["cpu"])

    def mean(self, metric: str) -> float:
        """The mean of a metric."""
        return statistics.fmean(self.values[metric].values())

    def deviation(self, metric: str) -> float:
        """The standard deviation of a metric; 0 for a single run."""
        values = list(self.values[metric].values())
        return statistics.stdev(values) if len(values) > 1 else 0.0


class Cells:
    """The cells of a store, to be found by their parameters."""

    def __init__(self, rows: Iterable[Row]) -> None:
        groups: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            groups[run_key({k: v for k, v in row.run.items() if k != "seed"})].append(row)
        self._cells = [_cell(group) for group in groups.values()]

    def select(self, **wanted: Any) -> list[Point]:
        """Cells whose parameters are as wanted, small ones first; a missing one counts as None."""
        found = [
            cell
            for cell in self._cells
            if all(cell.run.get(name) == value for name, value in wanted.items())
        ]
        return sorted(found, key=lambda cell: int(cell.run["n_variables"]))

    def find(self, **wanted: Any) -> Point | None:
        """The only such cell that has results, if there is one."""
        found = [cell for cell in self.select(**wanted) if cell.count]
        return found[0] if len(found) == 1 else None


def _cell(rows: Sequence[Row]) -> Point:
    run = {k: v for k, v in rows[0].run.items() if k != "seed"}
    ended = [row for row in rows if row.outcome["status"] == DONE]
    values = {
        metric: _values(ended, metric) for metric in (*METRICS, "pshd_reversed", "memory", "scores")
    }
    return Point(run, values, any(row.outcome["status"] == CUT_OFF for row in rows))


def _values(rows: Iterable[Row], metric: str) -> dict[int, float]:
    found = {row.run["seed"]: row.outcome.get(metric) for row in rows}
    return {seed: value for seed, value in found.items() if value is not None}


def paired_difference(first: Point, second: Point, metric: str) -> tuple[float, float]:
    """Mean of first - second over the graphs that both have, and twice its standard error."""
    seeds = first.values[metric].keys() & second.values[metric].keys()
    differences = [first.values[metric][s] - second.values[metric][s] for s in sorted(seeds)]
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    return statistics.fmean(differences), 2 * spread / max(len(differences), 1) ** 0.5


def cells_as_csv(cells: Iterable[Point]) -> str:
    """A line for each cell of searches: parameters, graphs, means and deviations."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = [f"{metric}_{part}" for metric in METRICS for part in ("mean", "sd")]
    writer.writerow([*_LABELS, "graphs", "cut_off", *figures, "peak_memory"])
    for cell in cells:
        labels = [cell.run.get(name, "") for name in _LABELS]
        numbers = [""] * len(figures)
        if cell.count:
            numbers = [f"{f(m):.6g}" for m in METRICS for f in (cell.mean, cell.deviation)]
        memory = max(cell.values["memory"].values(), default="")
        writer.writerow([*labels, cell.count, int(cell.cut_off), *numbers, memory])
    return text.getvalue()


AXES = {"n": "n_variables", "d": "block", "N": "n_samples"}
"""What a measurement may vary: variables, length of the block, samples."""

LARGEST = 3
"""Only so many of the largest sizes count: the growth at small ones is that of fixed costs."""


class Exponent(NamedTuple):
    """A slope with the half-width of its 95 % interval, and the sizes that it is over."""

    slope: float
    half_width: float
    sizes: tuple[int, ...]


def growth_exponent(
    cells: Cells,
    module: str,
    phase: str,
    vary: str,
    density: str | None = None,
    *,
    scale: str | None = None,
) -> Exponent | None:
    """The exponent of a module's processor time; None without two sizes.

    ``scale`` is ``"common"`` for the sizes that all modules share.
    """
    found = cells.select(
        kind="growth", method=module, phase=phase, vary=vary, density=density, scale=scale
    )
    ended = sorted((c for c in found if c.count), key=lambda c: int(c.run[AXES[vary]]))[-LARGEST:]
    if len(ended) < 2:
        return None
    points = np.log(
        [(c.run[AXES[vary]], seconds) for c in ended for seconds in c.values["cpu"].values()]
    )
    fit = linregress(*points.T)
    freedom = len(points) - 2
    width = float(t.ppf(0.975, freedom) * fit.stderr) if freedom > 0 else float("nan")
    return Exponent(float(fit.slope), width, tuple(int(c.run[AXES[vary]]) for c in ended))


def common_seconds(cells: Cells, module: str, phase: str, density: str | None, n: int) -> float:
    """The mean processor time of a module at one of the sizes that all share; NaN if not run."""
    found = cells.find(
        kind="growth",
        method=module,
        phase=phase,
        vary="n",
        density=density,
        scale="common",
        n_variables=n,
    )
    return found.mean("cpu") if found else float("nan")
