"""The best DAG of more variables than all sets can be gone through of, part by part.

Branch and bound lists the parent sets of each variable that no subset of theirs beats
(`cpp/qwo/family_table.hpp`); no best DAG has others. A variable that is in such a set may be a
cause; where these relations are no cycle, causes are settled before their effects, so that each
strongly connected part is a problem of its own (Fan, Malone and Yuan 2014), which is solved by
dynamic programming over the sets of its variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from qwo.graph.dag import is_acyclic, topological_order
from qwo.order.bic import BicEngine, BicState
from qwo.order.tables import family_table
from qwo.search.control import Control, Progress
from qwo.text import count
from qwo.types import Adjacency, FloatArray, Indices

MOST_PART = 24
"""Variables of a part: 2²⁴ sets take 1.5 GB and some ten seconds."""

Sets = npt.NDArray[np.uint64]
Table = tuple[Sets, FloatArray]


class BestByParts(NamedTuple):
    """The best DAG, or why it is not known."""

    dag: Adjacency | None
    why: str = ""


def best_by_parts(engine: BicEngine, control: Control) -> BestByParts:
    """The best DAG that the knowledge of an engine allows, with its score and data."""
    n, known = engine.n_variables, engine.knowledge
    allowed = ~np.eye(n, dtype=bool) if known is None else known.allowed_parents.copy()
    required = np.zeros((n, n), dtype=bool) if known is None else np.asarray(known.required)
    tables: list[Table] = []
    for v in range(n):
        if control.is_due():
            control.report(Progress("exact", v, engine.cost, engine.cost, control.seconds))
        must = np.flatnonzero(required[:, v])
        may = np.setdiff1d(np.flatnonzero(allowed[:, v]), [*must, v])
        found = family_table(engine, v, may, must)
        if found is None:
            return BestByParts(
                None, "the parent sets of a variable that matter are too many to be listed"
            )
        tables.append(found)
    relation = np.array([[_bit(_union(sets), u) for sets, _ in tables] for u in range(n)])
    _, label = connected_components(relation, connection="strong")
    largest = int(np.bincount(label).max())
    if largest > MOST_PART:
        return BestByParts(
            None, f"{count(largest, 'variable')} hang together, and up to {MOST_PART} are settled"
        )
    dag = np.zeros((n, n), dtype=np.int8)
    for group in np.unique(label):
        part = np.flatnonzero(label == group)
        own = [tables[v] for v in part]
        for v, parents in zip(part.tolist(), _settled(part, own), strict=True):
            dag[[u for u in range(n) if _bit(parents, u)], v] = 1
    if known is not None and not is_acyclic(dag.astype(bool) | known.before):
        return BestByParts(None, "the order that knowledge asks for may exclude the best graph")
    return BestByParts(dag)


def state_of(engine: BicEngine, dag: Adjacency, cost: float) -> BicState:
    """What an engine takes up to be at a DAG."""
    known = engine.knowledge
    order = topological_order(dag if known is None else (dag != 0) | known.before)
    lists = [np.flatnonzero(own) for own in dag.T]
    parents = np.concatenate(lists).astype(np.int64), np.cumsum([len(own) for own in lists])
    none = np.empty(0, dtype=np.int64), np.zeros(len(dag), dtype=np.int64)
    return order.astype(np.int64), (parents[0], parents[1].astype(np.int64)), none, cost


def _union(sets: Sets) -> int:
    return int(np.bitwise_or.reduce(sets, initial=0))


def _bit(number: int, place: int) -> bool:
    return bool(number >> place & 1)


def _settled(part: Indices, tables: list[Table]) -> list[int]:
    """The parent sets of the variables of a part, as bits, that cost least without a cycle."""
    k = len(part)
    ranked = []
    for sets, costs in tables:
        ranks = np.argsort(costs, kind="stable")
        ranked.append((sets[ranks], np.append(costs[ranks], np.inf)))
    # The cheapest set of parents within each set of the part, by its rank.
    kind = np.uint16 if max(len(sets) for sets, _ in ranked) < 65_535 else np.uint32
    first = np.empty((k, 1 << k), dtype=kind)
    for own, (sets, _) in zip(first, ranked, strict=True):
        own.fill(len(sets))
        np.minimum.at(own, _inside(sets, part), np.arange(len(sets), dtype=kind))
        for bit in range(k):
            halves = own.reshape(-1, 2, 1 << bit)
            np.minimum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    least = np.full(1 << k, np.inf)
    least[0] = 0.0
    last = np.zeros(1 << k, dtype=np.int8)
    sizes = np.bitwise_count(np.arange(1 << k, dtype=np.uint32))
    for size in range(1, k + 1):
        now = np.flatnonzero(sizes == size).astype(np.uint32)
        for v in range(k):
            own = now[(now >> v & 1) == 1]
            before = own ^ np.uint32(1 << v)
            cost = least[before] + ranked[v][1][first[v, before]]
            better = cost < least[own]
            least[own[better]] = cost[better]
            last[own[better]] = v
    chosen, left = [0] * k, (1 << k) - 1
    while left:
        v = int(last[left])
        left ^= 1 << v
        chosen[v] = int(ranked[v][0][first[v, left]])
    return chosen


def _inside(sets: Sets, part: Indices) -> npt.NDArray[np.int64]:
    """Each set's variables of a part, the part's k-th as bit k."""
    found = np.zeros(len(sets), dtype=np.int64)
    for k, u in enumerate(part):
        found |= ((sets >> np.uint64(u)) & np.uint64(1)).astype(np.int64) << k
    return found
