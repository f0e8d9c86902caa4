"""Markov equivalence classes by trying every orientation of every edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

Graph = npt.NDArray[np.int8]


def all_dags(n: int) -> Iterator[Graph]:
    """Every DAG on n vertices."""
    pairs = list(combinations(range(n), 2))
    for kinds in product((None, False, True), repeat=len(pairs)):
        chosen = [
            (p, forward) for p, forward in zip(pairs, kinds, strict=True) if forward is not None
        ]
        graph = _oriented(n, chosen)
        if is_acyclic(graph):
            yield graph


def equivalence_class(dag: Graph) -> list[Graph]:
    """Every DAG with the skeleton and the v-structures of the given one."""
    n = len(dag)
    pairs = [(i, j) for i, j in combinations(range(n), 2) if dag[i, j] or dag[j, i]]
    wanted = colliders(dag)
    graphs = (
        _oriented(n, zip(pairs, directions, strict=True))
        for directions in product((False, True), repeat=len(pairs))
    )
    return [graph for graph in graphs if is_acyclic(graph) and colliders(graph) == wanted]


def is_acyclic(graph: Graph) -> bool:
    """Whether the adjacency matrix is nilpotent."""
    power = np.linalg.matrix_power(graph.astype(np.int64), len(graph))
    return not power.any()


def colliders(dag: Graph) -> set[tuple[int, int, int]]:
    """All (i, k, j), i < j, with i → k ← j and no edge between i and j."""
    n = len(dag)
    return {
        (i, k, j)
        for i, j in combinations(range(n), 2)
        for k in range(n)
        if dag[i, k] and dag[j, k] and not dag[i, j] and not dag[j, i]
    }


def union_graph(dags: Iterable[Graph]) -> Graph:
    """The partially directed graph of a set of DAGs: directed where they all agree."""
    total = np.array(list(dags)).any(axis=0)
    return np.where(total & total.T, 2, total).astype(np.int8)


def _oriented(n: int, edges: Iterable[tuple[tuple[int, int], bool]]) -> Graph:
    graph = np.zeros((n, n), dtype=np.int8)
    for (i, j), forward in edges:
        graph[(i, j) if forward else (j, i)] = 1
    return graph
