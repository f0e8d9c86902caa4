"""How often each edge was found so far: two matrices of counts, however many replicates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np
import numpy.typing as npt

from qwo.types import Adjacency, Mask

Counts = npt.NDArray[np.int32]
Outcomes = Adjacency

EdgeNumbers = npt.NDArray[np.int64]

Z_95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class Outcome(IntEnum):
    """What became of a replicate."""

    PENDING = 0
    CONVERGED = 1
    TIME_LIMIT = 2
    DEGENERATE = 3


@dataclass(frozen=True, eq=False)
class Batch:
    """Replicates that were run one after the other.

    Attributes
    ----------
    numbers, outcomes : list of int
        The replicates that came to an end, and how.
    directed, undirected : ndarray of int
        The places i·n + j of all entries 1 and of all entries 2 of their CPDAGs, one after the
        other.
    reason : str
        Why one of them had no graph; empty if all had.
    interrupted : bool
        Whether the keyboard has ended the batch.
    """

    numbers: list[int]
    outcomes: list[int]
    directed: EdgeNumbers
    undirected: EdgeNumbers
    reason: str
    interrupted: bool


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of edges over replicates; sums of integers, so that their order does not matter.

    Attributes
    ----------
    directed : ndarray of int32, n×n
        Entry (i, j) counts i → j.
    undirected : ndarray of int32, n×n
        Entry (i, j), like (j, i), counts i — j.
    outcomes : ndarray of int8
        What became of each replicate.
    """

    directed: Counts
    undirected: Counts
    outcomes: Outcomes

    @classmethod
    def empty(cls, n_variables: int, n_resamples: int) -> Self:
        """No replicate yet."""
        none = np.zeros((n_variables, n_variables), dtype=np.int32)
        return cls(none, none, np.zeros(n_resamples, dtype=np.int8))

    @property
    def n_counted(self) -> int:
        """How many replicates have a graph."""
        return count_graphs(self.outcomes)

    def plus(self, batch: Batch) -> Tally:
        """The counts with those of a batch.

        A new tally, so that an interrupt finds either the one or the other and nothing between.
        """
        outcomes = self.outcomes.copy()
        outcomes[batch.numbers] = batch.outcomes
        return Tally(
            _counted(self.directed, batch.directed),
            _counted(self.undirected, batch.undirected),
            outcomes,
        )

    def pending(self, numbers: range) -> list[int]:
        """Those of some replicates that are still to be run."""
        chosen = np.arange(numbers.start, numbers.stop, numbers.step)
        still: list[int] = chosen[have(self.outcomes[chosen], Outcome.PENDING)].tolist()
        return still

    def margin(self) -> float:
        """The largest `half_width` of the shares of all edges and adjacencies."""
        adjacent = self.directed + self.directed.T + self.undirected
        counts = (adjacent, self.directed, self.undirected)
        total = self.n_counted
        # It is largest for the share that is nearest to a half.
        nearest = min(int(np.abs(2 * c - total).min(initial=total)) for c in counts)
        return half_width((total - nearest) / 2, total)


def half_width(count: float, total: int) -> float:
    """Half the width of Wilson's 95 % interval for a probability, from a count; 1 for no data.

    Unlike that of the normal approximation it does not vanish for counts of 0.
    """
    if total == 0:
        return 1.0
    share, squared = count / total, Z_95**2
    variance = share * (1 - share) / total + squared / (4 * total**2)
    return float(Z_95 * np.sqrt(variance) / (1 + squared / total))


def have(outcomes: Outcomes, outcome: Outcome) -> Mask:
    """Which replicates have an outcome.

    NumPy asks an object that it compares with for attributes, and forgets all that is raised
    meanwhile, Ctrl-C included; of a number it asks nothing.
    """
    which: Mask = outcomes == int(outcome)
    return which


def count_graphs(outcomes: Outcomes) -> int:
    """How many replicates have a graph."""
    found = have(outcomes, Outcome.CONVERGED) | have(outcomes, Outcome.TIME_LIMIT)
    return int(found.sum())


def _counted(counts: Counts, places: EdgeNumbers) -> Counts:
    """The counts with one more for each mention of a place."""
    more = counts.copy()
    found, times = np.unique(places, return_counts=True)
    more.ravel()[found] += times.astype(np.int32)
    return more
