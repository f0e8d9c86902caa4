"""Insertion search: take a variable out of the order and put it where it costs least.

Every engine gives the cost of all places of a variable in one scan. Around that stands an iterated
local search: a few variables are thrown elsewhere, only what this touched is repaired, and the
result is kept if it is no worse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.options import WHOLE_FROM_0, WHOLE_FROM_1
from qwo.order.protocol import Changes, OrderEngine
from qwo.search.control import Control, Run, SearchOutcome, bic_insertion, supervise
from qwo.types import Indices

LEAST_REACH = 5
"""Places that few variables are thrown over: over one alone, a search of six ends where it was."""


@runtime_checkable
class ManyScans(Protocol):
    """An engine for which several scans at once may be faster than one by one."""

    @property
    def scans_at_once(self) -> int:
        """How many at a time are the fastest for each of them."""

    def scan_many(self, variables: Sequence[int] | Indices) -> Changes:
        """The scans of several variables, one row for each."""


def insertion(
    engine: OrderEngine,
    *,
    perturbations: int = 0,
    thrown: int = 3,
    reach: int | None = None,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that putting a single variable elsewhere does not improve, perturbed and repaired.

    Parameters
    ----------
    engine : OrderEngine
        At the order to start from; left at the order found.
    perturbations : int
        How often the order found is perturbed and repaired.
    thrown : int
        How many variables a perturbation moves.
    reach : int, optional
        Over how many places at most; if not given a quarter of all, and at least `LEAST_REACH`.
    knowledge : ResolvedKnowledge, optional
        Places that it forbids are never taken.
    control : Control, optional
        Time limit and callback.
    random_state : None, int or Generator
        Seed or source of randomness.
    """
    farthest = max(engine.n_variables // 4, LEAST_REACH) if reach is None else reach
    WHOLE_FROM_0.checked("perturbations", perturbations)
    WHOLE_FROM_1.checked("thrown", thrown)
    WHOLE_FROM_1.checked("reach", farthest)
    rng = np.random.default_rng(random_state)

    def search(run: Run) -> None:
        insert = _Insertion(run, knowledge, rng)
        insert.descend()
        for _ in range(perturbations):
            insert.perturb(thrown, farthest)

    return supervise("insertion", engine, search, control=control, knowledge=knowledge)


class _Insertion:
    """The moves of an insertion search."""

    def __init__(
        self, run: Run, knowledge: ResolvedKnowledge | None, rng: np.random.Generator
    ) -> None:
        self._run = run
        self._engine = run.engine
        self._knowledge = knowledge
        self._rng = rng
        self._moves = 0
        self._most_at_once = run.engine.scans_at_once if isinstance(run.engine, ManyScans) else 1

    def descend(self) -> None:
        """Rounds over all variables, in random order, until one improves nothing."""
        before = np.inf
        while self._run.best < before:
            before = self._run.best
            for v, changes in self._scanned(self._rng.permutation(self._engine.n_variables)):
                if self._improve(v, changes):
                    self._keep()
            self._run.next_round()

    def _scanned(self, variables: Indices) -> Iterator[tuple[int, Changes]]:
        """Each variable with what its moves would change when its turn comes.

        While nothing moves, more and more are scanned at once; what a move has outdated is scanned
        again. So the search takes the same course as one by one.
        """
        size, done = 1, 0
        while done < len(variables):
            self._run.check()
            batch, moves = variables[done : done + size], self._moves
            for v, changes in zip(batch.tolist(), self._scan(batch), strict=True):
                yield v, changes
                done += 1
                if self._moves > moves:
                    break
            size = 1 if self._moves > moves else min(2 * size, self._most_at_once)

    def _scan(self, variables: Indices) -> Iterable[Changes]:
        if len(variables) > 1 and isinstance(self._engine, ManyScans):
            return self._engine.scan_many(variables)
        return [self._engine.scan(v) for v in variables.tolist()]

    def perturb(self, thrown: int, reach: int) -> None:
        """Throw variables elsewhere and repair what that touched."""
        touched: set[int] = set()
        for v in self._rng.choice(self._engine.n_variables, thrown).tolist():
            place = self._place(v) + int(self._rng.integers(-reach, reach + 1))
            first, last = self._places(v)
            touched |= self._move(v, min(max(place, first), last))
        self._repair(touched)
        self._keep()
        self._run.next_round()

    def _keep(self) -> None:
        """Go on from the present state unless it is worse than the best: equals are welcome."""
        cost = self._engine.cost
        if cost <= self._run.best + self._run.tolerance:
            self._run.accept(cost)
        else:
            self._run.roll_back()

    def _repair(self, touched: Iterable[int]) -> None:
        """Improve queued variables; what a move touches is queued again."""
        queue = deque(sorted(touched))
        waiting = set(queue)
        while queue:
            v = queue.popleft()
            waiting.remove(v)
            self._run.check()
            for u in sorted(self._improve(v, self._engine.scan(v)) - waiting):
                queue.append(u)
                waiting.add(u)

    def _improve(self, variable: int, scanned: Changes) -> set[int]:
        """Move a variable to its best place, if that is better; what the move touched."""
        run = self._run
        first, last = self._places(variable)
        changes = scanned[first : last + 1]
        run.evaluations += len(changes)
        best = int(np.argmin(changes))
        if changes[best] >= -run.tolerance:
            return set()
        return self._move(variable, first + best)

    def _move(self, variable: int, place: int) -> set[int]:
        """Move a variable; it, those whose parents changed, and these parents are touched."""
        self._moves += 1
        now = self._place(variable)
        passed = self._engine.order[min(now, place) : max(now, place) + 1].tolist()
        before = [self._engine.parents(v) for v in passed]
        self._engine.move(variable, place)
        touched = {variable}
        for v, old in zip(passed, before, strict=True):
            new = self._engine.parents(v)
            if not np.array_equal(old, new):
                touched.update([v, *old.tolist(), *new.tolist()])
        return touched

    def _place(self, variable: int) -> int:
        return int(np.flatnonzero(self._engine.order == variable)[0])

    def _places(self, variable: int) -> tuple[int, int]:
        """First and last place that a variable may take."""
        if self._knowledge is None:
            return 0, self._engine.n_variables - 1
        return self._knowledge.place_range(self._engine.order, variable)


INSERTION_SEARCHES: dict[str, Callable[..., SearchOutcome]] = {
    "by scans": insertion,
    "compiled": bic_insertion,
}
"""Insertion searches by the names that engines give them; see `insertion_search_of`."""


def insertion_search_of(engine: OrderEngine) -> Callable[..., SearchOutcome]:
    """The insertion search that an engine names in ``insertion_search``; by scans if it does not.

    An engine knows nothing of searches but the name of the one that was made for it.
    """
    return INSERTION_SEARCHES[getattr(engine, "insertion_search", "by scans")]
