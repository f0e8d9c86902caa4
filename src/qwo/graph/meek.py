"""Meek's rules: every direction that follows from the arrows that are there.

C. Meek, Causal inference and causal explanation with background knowledge, UAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from qwo.graph.pdag import PartialDag, check_pdag
from qwo.types import Adjacency


def meek_closure(pdag: Any) -> Adjacency:
    """The graph with every undirected edge directed whose direction all extensions share.

    Meek's rules 1 to 4 until none applies. They miss nothing if the graph holds the v-structures
    of an equivalence class and any further arrows that are consistent with it (his theorem 4).
    """
    graph = PartialDag.from_matrix(check_pdag(pdag))
    _close(graph)
    return graph.to_matrix()


def _close(graph: PartialDag) -> None:
    pending = list(graph.undirected_edges())
    while pending:
        i, j = pending.pop()
        for tail, head in ((i, j), (j, i)):
            if head in graph.neighbours[tail] and _follows(graph, tail, head):
                graph.orient(tail, head)
                pending.extend(_edges_to_revisit(graph, tail, head))


def _follows(graph: PartialDag, a: int, b: int) -> bool:
    """Whether a rule turns a — b into a → b."""
    # Rule 1: c → a, c and b not adjacent. The other direction would make a v-structure at a.
    if any(not graph.adjacent(c, b) for c in graph.parents[a]):
        return True
    # Rule 2: a → c → b. The other direction would close a cycle.
    if graph.children[a] & graph.parents[b]:
        return True
    between = graph.neighbours[a] & graph.parents[b]
    # Rule 3: a — c → b and a — d → b, c and d not adjacent. With b → a, both must point at a.
    if any(not graph.adjacent(c, d) for c, d in combinations(between, 2)):
        return True
    # Rule 4: a — d → c → b and a — c, d and b not adjacent. With b → a, c → a and then d → a.
    return any(
        not graph.adjacent(d, b) for c in between for d in graph.parents[c] & graph.neighbours[a]
    )


def _edges_to_revisit(graph: PartialDag, tail: int, head: int) -> Iterator[tuple[int, int]]:
    """The undirected edges whose rules the new arrow tail → head can complete.

    It takes part in rules 1 to 3 for edges at one of its ends, and as d → c of rule 4 for edges
    at a common neighbour of both.
    """
    for v in {tail, head} | (graph.neighbours[tail] & graph.neighbours[head]):
        yield from ((v, u) for u in graph.neighbours[v])
