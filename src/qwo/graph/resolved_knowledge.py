"""Background knowledge about the variables of one data set, as matrices that searches can use."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qwo.errors import KnowledgeError
from qwo.graph.dag import adjacency_lists, find_cycle
from qwo.types import Indices, Mask


@dataclass(frozen=True, eq=False)
class ResolvedKnowledge:
    """Forbidden edges, required edges, and the precedence that every order must respect.

    A required edge fixes the order of its ends, and tiers are kept in sequence. A forbidden edge
    does not restrict the order, only the parents. The matrices are read-only.

    Attributes
    ----------
    names : tuple of str
        The variables.
    forbidden : ndarray of bool, n×n
        Entry (i, j) says that i → j must not be in the graph, because it is forbidden or because
        j must come before i.
    required : ndarray of bool, n×n
        Entry (i, j) says that i → j must be in the graph.
    before : ndarray of bool, n×n
        Entry (i, j) says that i must come before j: a strict partial order, transitively closed.
    """

    names: tuple[str, ...]
    forbidden: Mask
    required: Mask
    before: Mask

    def __post_init__(self) -> None:
        for matrix in (self.forbidden, self.required, self.before):
            matrix.setflags(write=False)

    @property
    def allowed_parents(self) -> Mask:
        """Entry (i, j) says that i may be a parent of j."""
        allowed = ~self.forbidden
        np.fill_diagonal(allowed, False)
        return allowed

    def allows_order(self, order: npt.ArrayLike) -> bool:
        """Whether the order puts i before j wherever the knowledge says so."""
        sequence = np.asarray(order)
        return not np.tril(self.before[np.ix_(sequence, sequence)]).any()

    def place_range(self, order: npt.ArrayLike, variable: int) -> tuple[int, int]:
        """First and last place to which a variable may move in an allowed order.

        It may pass everything between the last variable that must come before it and the first
        that must come after it.
        """
        sequence = np.asarray(order)
        earlier = np.flatnonzero(self.before[sequence, variable])
        later = np.flatnonzero(self.before[variable, sequence])
        first = int(earlier[-1]) + 1 if earlier.size else 0
        last = int(later[0]) - 1 if later.size else len(sequence) - 1
        return first, last

    def topological_start(self, preferred: npt.ArrayLike | None = None) -> Indices:
        """The allowed order that follows a preferred one as far as it can.

        Again and again, of all variables that nothing holds back, the one that the preferred order
        has first: an order that is allowed comes back unchanged.

        Parameters
        ----------
        preferred : sequence of int, optional
            All variables in the order wished for; input column order otherwise.
        """
        wish = np.arange(len(self.names)) if preferred is None else np.asarray(preferred)
        return np.array(_sort(self.before, wish), dtype=np.intp)

    def check_dag(self, dag: npt.ArrayLike) -> None:
        """Raise `KnowledgeError` unless the knowledge allows the DAG.

        It must have all required edges, no forbidden edge, and a topological order that is allowed.
        """
        present = np.asarray(dag) != 0
        for edges, complaint in (
            (self.required & ~present, "required, but not in the graph"),
            (self.forbidden & present, "in the graph, but forbidden"),
        ):
            if edges.any():
                raise KnowledgeError(self._complaint(edges, complaint))
        order = _sort(present | self.before, np.arange(len(self.names)))
        if len(order) < len(self.names):
            cycle = find_cycle(adjacency_lists(present | self.before).parents, placed=order)
            raise KnowledgeError(self._backward_path(cycle, present))

    def _complaint(self, edges: Mask, complaint: str, limit: int = 3) -> str:
        pairs = np.argwhere(edges)
        shown = [f"{self.names[i]} → {self.names[j]}" for i, j in pairs[:limit]]
        more = f" and {len(pairs) - limit} more" if len(pairs) > limit else ""
        return f"{', '.join(shown)}{more}: {complaint}"

    def _backward_path(self, cycle: Sequence[int], present: Mask) -> str:
        ends = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        steps = [
            f"{self.names[i]} → {self.names[j]}"
            if present[i, j]
            else f"{self.names[i]} must come before {self.names[j]}"
            for i, j in ends
        ]
        return f"the graph contradicts the tiers: {', '.join(steps)}"


def _sort(constraints: Mask, preferred: Indices) -> list[int]:
    """Topological order of a dense relation by preferred rank; what is on a cycle is left out."""
    rank = np.empty(len(preferred), dtype=np.intp)
    rank[preferred] = np.arange(len(preferred))
    waiting = np.count_nonzero(constraints, axis=0)
    free: list[int] = np.sort(rank[waiting == 0]).tolist()
    order = []
    while free:
        v = int(preferred[heapq.heappop(free)])
        order.append(v)
        waiting -= constraints[v]
        for released in rank[constraints[v] & (waiting == 0)].tolist():
            heapq.heappush(free, released)
    return order
