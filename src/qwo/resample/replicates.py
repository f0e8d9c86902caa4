"""Replicates: the graphs of resamples, several at a time, as lists of the edges found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from qwo.discovery.discover import discover_as
from qwo.errors import InputError
from qwo.options import SearchOptions
from qwo.resample.sources import Source
from qwo.types import Adjacency

EdgeNumbers = npt.NDArray[np.int64]


class Outcome(IntEnum):
    """What became of a replicate."""

    PENDING = 0
    CONVERGED = 1
    TIME_LIMIT = 2
    DEGENERATE = 3


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a replicate needs besides its number; sent to each worker once.

    Attributes
    ----------
    source : Source
        What draws resamples.
    options : SearchOptions
        The search.
    seed : int
        The seed of all replicates; number r takes the r-th of its independent streams.
    """

    source: Source
    options: SearchOptions
    seed: int

    def replicate(self, number: int) -> tuple[Outcome, Adjacency | str] | None:
        """The outcome of a replicate with its CPDAG, or with the reason why there is none.

        None if the keyboard has interrupted the search.
        """
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        try:
            moments = self.source.draw(rng)
            options = replace(self.options, random_state=int(rng.integers(2**63)))
            found = discover_as(moments, options)
        except InputError as error:
            # The options have passed on all data: it is the resample that does not suit them.
            return Outcome.DEGENERATE, str(error)
        if found.status == "interrupted":
            return None
        if found.status == "time limit":
            return Outcome.TIME_LIMIT, found.cpdag
        return Outcome.CONVERGED, found.cpdag


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


def run_batch(problem: Problem, numbers: Sequence[int]) -> Batch:
    """The outcomes and the edges of some replicates.

    A worker gets the interrupt key as well as the process that it works for: nothing is raised
    here, and what is finished counts.
    """
    finished: list[tuple[int, Outcome, Adjacency | str]] = []
    interrupted = False
    try:
        for number in numbers:
            replicate = problem.replicate(number)
            if replicate is None:
                interrupted = True
                break
            finished.append((number, *replicate))
    except KeyboardInterrupt:
        interrupted = True
    graphs = [found for _, _, found in finished if not isinstance(found, str)]
    return Batch(
        numbers=[number for number, _, _ in finished],
        outcomes=[int(outcome) for _, outcome, _ in finished],
        directed=_places(graphs, 1),
        undirected=_places(graphs, 2),
        reason=next((found for _, _, found in finished if isinstance(found, str)), ""),
        interrupted=interrupted,
    )


def _places(graphs: Sequence[Adjacency], code: int) -> EdgeNumbers:
    """The flat places of a code in all graphs, one after the other."""
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *(np.flatnonzero(graph == code) for graph in graphs)])
