"""From what the user knows to matrices: names looked up, contradictions refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qwo.errors import KnowledgeError
from qwo.graph.dag import edge_lists, find_cycle, reachability, sort_vertices
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.names import Variable, as_column
from qwo.types import Indices, Mask

if TYPE_CHECKING:
    from qwo.graph.knowledge import Knowledge

Edge = tuple[Variable, Variable]


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
