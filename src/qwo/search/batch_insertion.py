"""Insertion search in batches, for an engine that scans and moves many variables at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from qwo.errors import KnowledgeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.device import GpuEngine
from qwo.search.control import TOLERANCE, Control, Progress, Stopped
from qwo.search.result import SearchOutcome, Status
from qwo.types import Indices

SMALLEST, LARGEST = 8, 128
"""Sizes of a batch. In a rough order nearly every mover improves and their ways cross, so that few
are moved at a time; in a settled one few improve, and scanning many together is cheaper."""


def batch_insertion(
    engine: GpuEngine,
    *,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that putting a single variable elsewhere does not improve.

    Rounds over all variables in random order, in batches: those that improve move to their best
    places at once where their ways do not cross, and come again in the next batch where they do. A
    round that moves nothing is the last. The result is a function of start and seed alone.

    Parameters
    ----------
    engine : GpuEngine
        At the order to start from; left at the order found.
    knowledge : ResolvedKnowledge, optional
        Places that it forbids are never taken.
    control : Control, optional
        Time limit and callback.
    random_state : None, int or Generator
        Seed or source of randomness.
    """
    if knowledge is not None and not knowledge.allows_order(engine.order):
        raise KnowledgeError(
            "the start order contradicts the knowledge; take knowledge.topological_start(order)"
        )
    search = _Batches(engine, knowledge, control or Control())
    status: Status = "converged"
    rng = np.random.default_rng(random_state)
    try:
        while search.round(rng.permutation(engine.n_variables)):
            # Rounding has grown with the rotations; a new factor has none of it.
            engine.reset(engine.order)
    except Stopped as stopped:
        status = stopped.status
    except KeyboardInterrupt:
        status = "interrupted"
    return search.outcome(status)


class _Batches:
    """The rounds of one search. Every move improves, so that the engine is always at the best."""

    def __init__(
        self, engine: GpuEngine, knowledge: ResolvedKnowledge | None, control: Control
    ) -> None:
        self._engine = engine
        self._knowledge = knowledge
        self._control = control
        self._cost = engine.cost
        self._tolerance = TOLERANCE * max(abs(self._cost), 1.0)
        self._trace = [(control.seconds, self._cost)]
        self._size = SMALLEST
        self._rounds = self._moves = self._scans = 0

    def round(self, variables: Indices) -> bool:
        """Scan all variables until none of them waits; whether any moved."""
        queue = deque(variables.tolist())
        before = self._moves
        while queue:
            self._check()
            batch = [queue.popleft() for _ in range(min(self._size, len(queue)))]
            result = self._engine.improve(batch, tolerance=self._tolerance, **self._ranges(batch))
            queue.extendleft(reversed(result.waiting.tolist()))
            self._scans += len(batch)
            self._moves += len(result.moved)
            self._adapt(len(result.moved), len(result.waiting))
            if len(result.moved):
                self._cost += result.change
                self._trace.append((self._control.seconds, self._cost))
        self._rounds += 1
        return self._moves > before

    def outcome(self, status: Status) -> SearchOutcome:
        """What was found."""
        return SearchOutcome(
            order=self._engine.order,
            cost=self._engine.cost,
            status=status,
            trace=tuple(self._trace),
            n_moves=self._moves,
            n_evaluations=self._scans * self._engine.n_variables,
        )

    def _adapt(self, moved: int, waiting: int) -> None:
        if waiting > moved:
            self._size = max(self._size // 2, SMALLEST)
        elif moved == waiting == 0:
            self._size = min(self._size * 2, LARGEST)

    def _ranges(self, batch: list[int]) -> dict[str, Indices]:
        if self._knowledge is None:
            return {}
        order = self._engine.order
        low, high = np.array([self._knowledge.place_range(order, v) for v in batch]).T
        return {"lowest": low, "highest": high}

    def _check(self) -> None:
        if self._control.is_due():
            seconds = self._control.seconds
            self._control.report(
                Progress("insertion", self._rounds, self._cost, self._cost, seconds)
            )
