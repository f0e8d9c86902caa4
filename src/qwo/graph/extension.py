"""Members of an equivalence class: DAGs with the skeleton, arrows and v-structures of a PDAG."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from qwo.checks import at_least
from qwo.errors import GraphError, list_names
from qwo.graph.dag import Names, label
from qwo.graph.pdag import PartialDag, check_pdag, meek_closure
from qwo.types import Adjacency


def to_dag(pdag: Any, names: Names = None) -> Adjacency:
    """A consistent extension: a DAG with the same skeleton, arrows and v-structures.

    Dor and Tarsi's algorithm (1992): find a vertex without children whose undirected neighbours
    are adjacent to everything else next to it, point their edges at it, take it out, repeat.
    Only the neighbours of what was taken out can have become such a vertex.

    Parameters
    ----------
    pdag : matrix, or anything that `as_graph` takes
        A CPDAG or any other partially directed graph: 1 = i → j, 2 = undirected (both entries).
    names : sequence of str, optional
        Variable names, for messages only.

    Raises
    ------
    GraphError
        If there is no such DAG.
    """
    matrix = check_pdag(pdag, names)
    graph = PartialDag.from_matrix(matrix)
    dag: Adjacency = (matrix == 1).astype(np.int8)
    left = set(range(len(matrix)))
    candidates = list(reversed(range(len(matrix))))
    while candidates:
        sink = candidates.pop()
        if sink not in left or not _can_come_last(graph, sink):
            continue
        dag[list(graph.neighbours[sink]), sink] = 1
        candidates += sorted(graph.linked(sink), reverse=True)
        graph.remove(sink)
        left.remove(sink)
    if left:
        stuck = [label(v, names) for v in sorted(left)]
        raise GraphError(
            f"no DAG has the skeleton, arrows and v-structures of this graph: the edges between "
            f"{list_names(stuck)} always close a cycle or make a new v-structure",
            columns=stuck,
        )
    return dag


def _can_come_last(graph: PartialDag, vertex: int) -> bool:
    """Whether all edges may point at the vertex without a new v-structure."""
    if graph.children[vertex]:
        return False
    linked = graph.linked(vertex)
    return all(linked <= graph.linked(u) | {u} for u in graph.neighbours[vertex])


def enumerate_dags(pdag: Any, limit: int | None = None) -> Iterator[Adjacency]:
    """All DAGs that extend a PDAG consistently, each once; the first ``limit`` of them if given.

    An edge that Meek's rules leave undirected points either way in some member, so orienting one
    edge at a time and closing again never runs into a dead end.

    Raises
    ------
    GraphError
        At once, if there is no such DAG.
    """
    most = None if limit is None else min(at_least("limit", limit, 0), sys.maxsize)
    to_dag(pdag)
    return islice(_members(meek_closure(pdag)), most)


def _members(closed: Adjacency) -> Iterator[Adjacency]:
    stack = [closed]
    while stack:
        graph = stack.pop()
        undirected = np.argwhere(np.triu(graph == 2))
        if not undirected.size:
            yield graph
            continue
        i, j = undirected[0]
        for tail, head in ((j, i), (i, j)):
            branch = graph.copy()
            branch[tail, head], branch[head, tail] = 1, 0
            stack.append(meek_closure(branch))
