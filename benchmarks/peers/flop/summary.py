"""Figures of a tool in a setting, over data sets and repeated runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.peers.flop.records import Record
from benchmarks.peers.flop.settings import Setting, Tool
from qwo.reproduction.aggregate import Interval, interval

SAME_SCORE = 1e-3
"""Scores that differ by less belong to the same class, or are a matter of rounding."""

DataSet = tuple[str, int]


@dataclass(frozen=True)
class Result:
    """A record with a graph, and what its score lacks to the best one known on its data set."""

    record: Record
    shd: int
    gap: float

    @property
    def data_set(self) -> DataSet:
        return self.record.setting, self.record.seed


Value = Callable[[Result], float]


@dataclass(frozen=True)
class Figures:
    """Means over data sets of means over runs; `worst` and `memory` are the largest of all."""

    results: Sequence[Result]

    @property
    def shd(self) -> float:
        return fmean(self.shd_by_data_set.values())

    @property
    def worst(self) -> int:
        return max(result.shd for result in self.results)

    @property
    def skf1(self) -> float:
        return self._mean(lambda result: result.record.skf1 or 0.0)

    @property
    def exact(self) -> float:
        return self._mean(lambda result: float(bool(result.record.exact)))

    @property
    def gap(self) -> float:
        return self._mean(lambda result: result.gap)

    @property
    def cpu(self) -> float:
        return self._mean(lambda result: result.record.cpu)

    @property
    def memory(self) -> float:
        return max(result.record.memory for result in self.results)

    @property
    def shd_by_data_set(self) -> dict[DataSet, float]:
        return self._by_data_set(lambda result: float(result.shd))

    def _mean(self, value: Value) -> float:
        return fmean(self._by_data_set(value).values())

    def _by_data_set(self, value: Value) -> dict[DataSet, float]:
        groups: dict[DataSet, list[float]] = {}
        for result in self.results:
            groups.setdefault(result.data_set, []).append(value(result))
        return {data_set: fmean(values) for data_set, values in groups.items()}


class Summary:
    """All results of a benchmark."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.refusals = [record for record in records if record.error]
        scored = [(r, r.shd, r.score) for r in records if r.shd is not None and r.score is not None]
        best: dict[DataSet, float] = {}
        for record, _, score in scored:
            data_set = record.setting, record.seed
            best[data_set] = max(score, best.get(data_set, -math.inf))
        self.results = [
            Result(record, distance, _gap(best[record.setting, record.seed] - score))
            for record, distance, score in scored
        ]

    def figures(
        self,
        setting: Setting,
        tool: Tool,
        restarts: int | None,
        *,
        gamma: float | None = None,
        data_sets: int | None = None,
    ) -> Figures | None:
        """The figures of one way to call a tool, if there are results of it."""
        results = [
            result
            for result in self.results
            if result.record.setting == setting.name
            and result.record.tool == tool
            and result.record.restarts == restarts
            and result.record.gamma == gamma
            and (data_sets is None or result.record.seed < data_sets)
        ]
        return Figures(results) if results else None


def paired_difference(first: Figures, second: Figures) -> Interval:
    """The difference of SHD over the data sets of both."""
    ours, theirs = first.shd_by_data_set, second.shd_by_data_set
    return interval([ours[data_set] - theirs[data_set] for data_set in ours.keys() & theirs.keys()])


def best_by_data_set(figures: Figures) -> Mapping[DataSet, Result]:
    """The run with the best score on each data set."""
    best: dict[DataSet, Result] = {}
    for result in sorted(figures.results, key=lambda result: -result.gap):
        best[result.data_set] = result
    return best


def _gap(difference: float) -> float:
    return difference if difference > SAME_SCORE else 0.0
