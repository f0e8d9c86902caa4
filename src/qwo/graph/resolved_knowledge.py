"""Background knowledge about the variables of one data set, as matrices that searches can use.

`resolve` makes them of what the user knows: names looked up, contradictions refused.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from qwo.errors import KnowledgeError
from qwo.graph.dag import (
    adjacency_lists,
    edge_lists,
    find_cycle,
    parents_of,
    reachability,
    sort_vertices,
)
from qwo.names import Variable, as_column
from qwo.types import Indices, Mask

if TYPE_CHECKING:
    from qwo.graph.knowledge import Knowledge

Edge = tuple[Variable, Variable]


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

    def among(self, chosen: Indices) -> ResolvedKnowledge:
        """What holds of some of the variables alone: precedence, and edges that are required.

        An edge that is forbidden between two of them may stand there for a path through others.
        """
        part = np.ix_(chosen, chosen)
        before = self.before[part]
        names = tuple(self.names[v] for v in chosen)
        return ResolvedKnowledge(names, before.T.copy(), self.required[part], before)

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


def search_limits(knowledge: ResolvedKnowledge | None, allowed: Mask) -> dict[str, Any]:
    """Who of the allowed may cause whom, who comes before whom, and required parents, for the core.

    Entry (i, j) of the matrices is about i and j in this order.
    """
    before = required = np.zeros_like(allowed)
    if knowledge is not None:
        before, required = knowledge.before, knowledge.required
        allowed = (allowed & knowledge.allowed_parents) | required
    return {
        "may_cause": np.ascontiguousarray(allowed).astype(np.uint8),
        "precedes": np.ascontiguousarray(before).astype(np.uint8),
        "required": parents_of(required),
    }


def resolve(knowledge: Knowledge, names: Sequence[str]) -> ResolvedKnowledge:
    """The matrices of the knowledge over ``names``; see `Knowledge.resolve`."""
    lookup = VariableLookup(names)
    tier_of = _tier_numbers(knowledge.tiers, lookup)
    required = _edge_matrix("required", knowledge.required, lookup)
    forbidden = np.zeros_like(required)
    for reason, edges in _prohibitions(knowledge, tier_of, lookup):
        _refuse_contradiction(required & edges, reason, lookup.names)
        forbidden |= edges
    before = _precedence(required, tier_of, lookup.names)
    forbidden |= before.T
    np.fill_diagonal(forbidden, False)
    return ResolvedKnowledge(lookup.names, forbidden, required, before)


class VariableLookup:
    """Column numbers of variables given by name, number or pattern."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def find(self, field: str, variable: Variable) -> list[int]:
        """The columns that a variable stands for: one, or all that match its ``*``."""
        if isinstance(variable, str) and variable in self._index:
            return [self._index[variable]]
        if isinstance(variable, str) and is_pattern(variable):
            expression = re.compile(".*".join(map(re.escape, variable.split("*"))))
            found = [i for i, name in enumerate(self.names) if expression.fullmatch(name)]
            if found:
                return found
            raise KnowledgeError(f"{field}: no column matches {variable!r}", [variable])
        return [as_column(self.names, variable, field, KnowledgeError)]

    def find_all(self, field: str, variables: Iterable[Variable]) -> list[int]:
        """The columns of several variables together."""
        return [i for variable in variables for i in self.find(field, variable)]


def is_pattern(variable: Variable) -> bool:
    """Whether a variable may stand for several columns."""
    return isinstance(variable, str) and "*" in variable


def _tier_numbers(tiers: Sequence[Sequence[Variable]], lookup: VariableLookup) -> Indices:
    """The position in ``tiers`` of each column, -1 for none."""
    tier_of = np.full(len(lookup), -1, dtype=np.intp)
    for t, tier in enumerate(tiers):
        for i in lookup.find_all(f"tiers[{t}]", tier):
            if tier_of[i] not in (-1, t):
                raise KnowledgeError(
                    f"{lookup.names[i]!r} is in tiers[{tier_of[i]}] and in tiers[{t}]; keep one",
                    columns=[lookup.names[i]],
                )
            tier_of[i] = t
    return tier_of


def _edge_matrix(field: str, edges: Iterable[Edge], lookup: VariableLookup) -> Mask:
    matrix = np.zeros((len(lookup), len(lookup)), dtype=np.bool_)
    for cause, effect in edges:
        tails, heads = lookup.find(field, cause), lookup.find(field, effect)
        if tails == heads and not (is_pattern(cause) or is_pattern(effect)):
            name = lookup.names[tails[0]]
            raise KnowledgeError(f"{field}: {name!r} cannot cause itself", columns=[name])
        matrix[np.ix_(tails, heads)] = True
    np.fill_diagonal(matrix, False)
    return matrix


def _prohibitions(
    knowledge: Knowledge, tier_of: Indices, lookup: VariableLookup
) -> Iterator[tuple[str, Mask]]:
    """Each kind of forbidden edges, with the words that say why."""
    yield "it is forbidden too", _edge_matrix("forbidden", knowledge.forbidden, lookup)
    tail_tier, head_tier = tier_of[:, None], tier_of[None, :]
    yield "{effect!r} is in an earlier tier", (tail_tier > head_tier) & (head_tier >= 0)
    inside = np.isin(tier_of, knowledge.forbidden_within_tiers)[:, None] & (tail_tier == head_tier)
    np.fill_diagonal(inside, False)
    yield "their tier has no edges inside", inside
    edges = np.zeros_like(inside)
    edges[:, lookup.find_all("roots", knowledge.roots)] = True
    yield "{effect!r} is a root, which nothing causes", edges
    edges = np.zeros_like(inside)
    edges[lookup.find_all("leaves", knowledge.leaves)] = True
    yield "{cause!r} is a leaf, which causes nothing", edges


def _refuse_contradiction(edges: Mask, reason: str, names: Sequence[str]) -> None:
    """Raise for the first edge that is required and forbidden."""
    if edges.any():
        cause, effect = (names[i] for i in np.argwhere(edges)[0])
        why = reason.format(cause=cause, effect=effect)
        raise KnowledgeError(
            f"{cause} → {effect} is required, but {why}; drop one of the two",
            columns=[cause, effect],
        )


def _precedence(required: Mask, tier_of: Indices, names: Sequence[str]) -> Mask:
    """Which variable must come before which: the closure of required edges and tier order.

    Between tiers t and t + 1 stands an extra vertex n + t behind the one and before the other, so
    that the graph to be closed has about n edges for the tiers and not n².
    """
    n, n_tiers = len(tier_of), int(tier_of.max(initial=-1)) + 1
    causes, effects = np.nonzero(required)
    earlier = np.flatnonzero((tier_of >= 0) & (tier_of < n_tiers - 1))
    later = np.flatnonzero(tier_of > 0)
    gates = n + np.arange(max(n_tiers - 1, 0))
    lists = edge_lists(
        np.concatenate([causes, earlier, gates[:-1], n + tier_of[later] - 1]),
        np.concatenate([effects, n + tier_of[earlier], gates[1:], later]),
        n + len(gates),
    )
    order = sort_vertices(lists, ranks=range(n + len(gates)))
    if len(order) < n + len(gates):
        _refuse_cycle(find_cycle(lists.parents, placed=order), names)
    return reachability(lists.children, order)[:n, :n]


def _refuse_cycle(cycle: list[int], names: Sequence[str]) -> None:
    """Raise for a cycle in which numbers from n on are boundaries between tiers.

    Boundaries, and variables between two of them, only stand for the order of the tiers.
    """
    n = len(names)
    around = [*cycle[-1:], *cycle, *cycle[:1]]
    stops = [k for k, v in enumerate(cycle) if v < n and (around[k] < n or around[k + 2] < n)]
    steps = []
    for k, following in pairwise([*stops, stops[0] + len(cycle)]):
        v, w = names[cycle[k]], names[cycle[following % len(cycle)]]
        required = following == k + 1
        steps.append(f"{v} → {w} is required" if required else f"{v} is in a tier before {w}")
    raise KnowledgeError(
        f"the knowledge contradicts itself: {', '.join(steps)}; drop one of these",
        columns=[names[cycle[k]] for k in stops],
    )


class Precedence:
    """A strict partial order, as one bit mask for each variable: who must come after it.

    Python integers are the bit sets: a question about a block costs one operation for each of its
    variables, whatever their number in all.
    """

    def __init__(self, knowledge: ResolvedKnowledge) -> None:
        self._after = [_mask(row.nonzero()[0].tolist()) for row in knowledge.before]
        self._before = [_mask(row.nonzero()[0].tolist()) for row in knowledge.before.T]

    @classmethod
    def of(cls, knowledge: ResolvedKnowledge | None) -> Self | None:
        """None where nothing restricts the order, so that a search need not ask."""
        if knowledge is None or not knowledge.before.any():
            return None
        return cls(knowledge)

    def allows_swap(self, block: Sequence[int]) -> bool:
        """Whether the first and the last variable of a block may be exchanged."""
        members = _mask(block)
        return not (self._after[block[0]] & members or self._before[block[-1]] & members)

    def allows_passing(self, stayers: Iterable[int], movers: Iterable[int]) -> bool:
        """Whether all movers may go before all stayers that they stood behind."""
        ahead = _mask(movers)
        return not any(self._after[v] & ahead for v in stayers)


def _mask(variables: Iterable[int]) -> int:
    members = 0
    for v in variables:
        members |= 1 << v
    return members


_STORED = ("forbidden", "required", "before")
KNOWLEDGE_LAYOUT = {f"knowledge_{name}?": ("bool", "nn") for name in _STORED}
"""Knowledge in files, as `qwo.archives` has it."""


def knowledge_arrays(knowledge: ResolvedKnowledge | None) -> dict[str, Mask]:
    """Knowledge as arrays to be stored; nothing if there is none."""
    if knowledge is None:
        return {}
    return {f"knowledge_{name}": getattr(knowledge, name) for name in _STORED}


def stored_knowledge(names: tuple[str, ...], arrays: Mapping[str, Any]) -> ResolvedKnowledge | None:
    """The knowledge about variables of these names in arrays that were stored."""
    if "knowledge_before" not in arrays:
        return None
    return ResolvedKnowledge(names, *(arrays[f"knowledge_{name}"] for name in _STORED))
