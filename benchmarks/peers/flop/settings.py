"""What is compared: the settings, how often each tool runs, and what is to be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Tool = Literal["qwo", "flop", "retired"]
"""Retired runs, of earlier states of qwo, count only as graphs that are known."""

PENALTY_DISCOUNT = 2.0
CURVE_RESTARTS = (0, 1, 5, 20, 100)


class Job(NamedTuple):
    """One run of a tool on one data set. Options that are None are left to the tool."""

    tool: Tool
    setting: str
    seed: int
    restarts: int | None
    gamma: float | None = None
    repeat: int = 0


@dataclass(frozen=True)
class Setting:
    """A kind of data, and the runs on it.

    n, degree, n_samples: An Erdős–Rényi graph over n variables of this average degree, and N
        samples.
    data_sets: how many data sets; their seeds count up from 0.
    flop_restarts: restarts of FLOP in the table.
    flop_repeats: runs of FLOP on each data set: it takes no seed, and its results vary.
    speed_goal: wanted ratio of FLOP's processor time to ours; None where FLOP refuses the data.
    curve_data_sets: how many data sets take part in the plot of accuracy against time.
    curve_repeats: runs of FLOP on each of them.
    """

    n: int
    degree: int
    n_samples: int
    data_sets: int
    flop_restarts: int
    flop_repeats: int
    speed_goal: int | None
    curve_data_sets: int = 0
    curve_repeats: int = 2

    @property
    def name(self) -> str:
        return f"n = {self.n}, degree {self.degree}, N = {self.n_samples}"

    @property
    def is_wide(self) -> bool:
        """Whether there are more variables than samples."""
        return self.n > self.n_samples

    def jobs(self) -> Iterator[Job]:
        """All runs, data set by data set."""
        for seed in range(self.data_sets):
            yield from dict.fromkeys(self._jobs_of(seed))

    def _jobs_of(self, seed: int) -> Iterator[Job]:
        yield Job("qwo", self.name, seed, None)
        yield Job("qwo", self.name, seed, 0)
        if self.is_wide:
            yield Job("qwo", self.name, seed, None, gamma=0.0)
        for repeat in range(self.flop_repeats):
            yield Job("flop", self.name, seed, self.flop_restarts, repeat=repeat)
        if seed < self.curve_data_sets:
            for restarts in CURVE_RESTARTS:
                yield Job("qwo", self.name, seed, restarts)
                for repeat in range(self.curve_repeats):
                    yield Job("flop", self.name, seed, restarts, repeat=repeat)


STANDARD = (
    Setting(200, 2, 150, 20, 20, 1, None),
    Setting(50, 8, 1000, 20, 20, 3, 20, curve_data_sets=10),
    Setting(100, 2, 10_000, 20, 20, 3, 40),
    Setting(100, 4, 10_000, 20, 20, 3, 40, curve_data_sets=5),
    Setting(150, 2, 10_000, 5, 20, 3, 40),
    Setting(150, 4, 10_000, 5, 20, 3, 40, curve_data_sets=3),
    Setting(300, 4, 10_000, 5, 20, 2, 50),
    Setting(500, 4, 5000, 5, 0, 2, 20),
    Setting(1000, 4, 5000, 5, 0, 2, 20),
)

SMOKE = (
    replace(STANDARD[0], data_sets=2),
    replace(STANDARD[1], data_sets=2, flop_repeats=2, curve_data_sets=1, curve_repeats=1),
    replace(STANDARD[3], data_sets=1, flop_repeats=2, curve_data_sets=0),
    Setting(300, 4, 10_000, 1, 0, 1, None),
)

PROFILES = {"smoke": SMOKE, "standard": STANDARD}
