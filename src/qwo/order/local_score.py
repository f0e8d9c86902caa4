"""An order engine for any decomposable score: parents by grow–shrink in the prefix.

The score of a DAG is the sum over its vertices of a local score of vertex and parents. Given an
order, each variable grows a parent set among those before it, one best addition at a time, and
shrinks it again, one best removal at a time. The set depends on the prefix alone, not on the path
of the search, so that undoing a move and starting anew give the same state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from qwo.errors import ArgumentError, EngineError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.linalg import check_order
from qwo.order.protocol import Changes, KeepsStates, as_index, check_block
from qwo.types import Indices, Mask

LocalScore = Callable[[int, tuple[int, ...]], float]
Parents = frozenset[int]


class _Kept(NamedTuple):
    order: tuple[int, ...]
    parents: tuple[Parents, ...]
    cost: float


class LocalScoreEngine(KeepsStates):
    """An order, the DAG that a local score gives it, and minus the score as the cost.

    Parameters
    ----------
    score : callable
        ``score(variable, parents)`` with the parents as an ascending tuple; finite. It is called
        once for each pair, and the answer is remembered.
    n_variables : int
        How many variables there are. The engine starts in the order 0, 1, …, or in the nearest
        that the knowledge allows.
    maximise : bool
        Whether a higher score is better.
    knowledge : ResolvedKnowledge, optional
        Forbidden parents are never taken; required ones that precede a variable are never dropped.
        That the order itself is allowed is for the search to see to.
    """

    _state: _Kept

    def __init__(
        self,
        score: LocalScore,
        n_variables: int,
        *,
        maximise: bool = True,
        knowledge: ResolvedKnowledge | None = None,
    ) -> None:
        if n_variables < 1:
            raise ArgumentError(
                f"n_variables is {n_variables}; wanted at least 1", option="n_variables"
            )
        if knowledge is not None and len(knowledge.names) != n_variables:
            raise EngineError(
                f"the knowledge is about {len(knowledge.names)} variables, the score about "
                f"{n_variables}; resolve the knowledge with the names of the same columns"
            )
        self._score = score
        self._sign = -1.0 if maximise else 1.0
        self._knowledge = knowledge
        self._costs: dict[tuple[int, Parents], float] = {}
        self._marks: list[_Kept] = []
        everyone = ~np.eye(n_variables, dtype=np.bool_)
        no_one = np.zeros_like(everyone)
        self._allowed = _columns(everyone if knowledge is None else knowledge.allowed_parents)
        self._required = _columns(no_one if knowledge is None else knowledge.required)
        self.reset(np.arange(n_variables) if knowledge is None else knowledge.topological_start())

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self._allowed)

    @property
    def order(self) -> Indices:
        """The present order, as a copy."""
        return np.array(self._state.order, dtype=np.intp)

    @property
    def cost(self) -> float:
        """Minus the score of the present DAG, or the score itself if it is to be minimised."""
        return self._state.cost

    @property
    def n_scores(self) -> int:
        """How often the score has been called."""
        return len(self._costs)

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order; marks are forgotten."""
        checked = tuple(check_order(order, self.n_variables).tolist())
        self._marks = []
        return self._fit(checked, [frozenset()] * len(checked), 0, len(checked))

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``."""
        start, variables = check_block(self.order, start, block)
        stop = start + len(variables)
        now = self._state
        order = (*now.order[:start], *variables.tolist(), *now.order[stop:])
        return self._fit(order, list(now.parents), start, stop)

    def scan(self, variable: int) -> Changes:
        """The change of the cost for each place; infinite where the knowledge forbids it."""
        if self._knowledge is None:
            return super().scan(variable)
        variable = as_index("variable", variable, self.n_variables)
        start = self._state
        first, last = self._knowledge.place_range(start.order, variable)
        changes = np.full(self.n_variables, np.inf)
        for place in range(first, last + 1):
            changes[place] = self.move(variable, place) - start.cost
            self._state = start
        return changes

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in the DAG of the present order, ascending."""
        v = as_index("variable", variable, self.n_variables)
        return np.array(sorted(self._state.parents[v]), dtype=np.intp)

    def _fit(self, order: tuple[int, ...], parents: list[Parents], start: int, stop: int) -> float:
        """Enter the state of an order, given the parents of those outside the places to fit."""
        prefix = set(order[:start])
        for v in order[start:stop]:
            parents[v] = self._grow_shrink(v, prefix)
            prefix.add(v)
        # An exact sum depends on the DAG alone, not on the order of its terms.
        cost = math.fsum(self._local_cost(v, chosen) for v, chosen in enumerate(parents))
        self._state = _Kept(order, tuple(parents), cost)
        return cost

    def _grow_shrink(self, variable: int, prefix: set[int]) -> Parents:
        required = self._required[variable] & prefix
        candidates = sorted(self._allowed[variable] & prefix)

        def additions(parents: Parents) -> Iterator[Parents]:
            return (parents | {u} for u in candidates if u not in parents)

        def removals(parents: Parents) -> Iterator[Parents]:
            return (parents - {u} for u in sorted(parents - required))

        return self._descend(variable, removals, self._descend(variable, additions, required))

    def _descend(
        self, variable: int, neighbours: Callable[[Parents], Iterator[Parents]], parents: Parents
    ) -> Parents:
        """Go from a parent set to its best neighbour until none is better; the first of equals."""
        cost = self._local_cost(variable, parents)
        for _ in range(self.n_variables):
            best = min(
                neighbours(parents), key=lambda s: self._local_cost(variable, s), default=parents
            )
            if self._local_cost(variable, best) >= cost:
                break
            parents, cost = best, self._local_cost(variable, best)
        return parents

    def _local_cost(self, variable: int, parents: Parents) -> float:
        known = self._costs.get((variable, parents))
        if known is not None:
            return known
        score = float(self._score(variable, tuple(sorted(parents))))
        if not math.isfinite(score):
            raise EngineError(
                f"the score of variable {variable} with parents {sorted(parents)} is {score}; "
                f"an order engine needs finite scores"
            )
        self._costs[variable, parents] = self._sign * score
        return self._sign * score


def _columns(matrix: Mask) -> list[Parents]:
    """For each column, the rows where it is true."""
    return [frozenset(np.flatnonzero(column).tolist()) for column in matrix.T]
