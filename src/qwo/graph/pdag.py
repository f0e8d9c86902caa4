"""Partially directed graphs, Meek's rules, and the DAGs that extend a graph.

1 = i → j, and 2 = undirected (in both entries).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from qwo.errors import GraphError, list_names
from qwo.graph.dag import Names, adjacency_lists, check_codes, check_dag, entries_of, label
from qwo.graph.marks import CODES
from qwo.names import at_least
from qwo.types import Adjacency


def check_pdag(graph: Any, names: Names = None, *, two_arrows: bool = False) -> Adjacency:
    """The int8 matrix of a partially directed graph, once its codes are proved to fit.

    Whether the directed edges form a cycle, or the graph is complete in any sense, is not asked.
    A pair may have `two_arrows`, one each way, where cycles are meant.
    """
    matrix = check_codes(graph, largest=2, names=names)
    tails, heads = entries_of(matrix)
    forth, back = matrix[tails, heads], matrix[heads, tails]
    wrong = (back != np.where(forth == 2, 2, 0)) | (tails == heads)
    if two_arrows:
        wrong &= (forth != 1) | (back != 1) | (tails == heads)
    if wrong.any():
        i, j = int(tails[wrong][0]), int(heads[wrong][0])
        if i == j:
            raise GraphError(f"{label(i, names)} has an edge to itself; set the diagonal to 0")
        raise GraphError(
            f"the entries for {label(i, names)} and {label(j, names)} are "
            f"{matrix[i, j]} and {matrix[j, i]}; "
            f"give 1 and 0 for {label(i, names)} → {label(j, names)}, or 2 and 2 for undirected; "
            "arrows both ways are a cycle, which JSON holds and qwo.fit_sem(data, graph) takes",
            columns=[label(i, names), label(j, names)],
        )
    return matrix


def check_mixed(graph: Any, names: Names = None) -> Adjacency:
    """The int8 matrix of a graph of any marks, once its codes are proved to fit."""
    largest = max(max(pair) for pair in CODES.values())
    matrix = check_codes(graph, largest=largest, names=names)
    if matrix.max(initial=0) <= 2:
        return check_pdag(matrix, names)
    tails, heads = entries_of(matrix)
    backs = np.zeros(largest + 1, dtype=np.int8)
    for forth, back in CODES.values():
        backs[forth] = back
    # The entry on the other side of an arrow is 0, which says nothing of where it came from.
    wrong = (matrix[heads, tails] != backs[matrix[tails, heads]]) | (tails == heads)
    if wrong.any():
        first, second = label(int(tails[wrong][0]), names), label(int(heads[wrong][0]), names)
        raise GraphError(
            f"the entries for {first} and {second} are no edge of a MAG or PAG; see "
            "qwo.graph.marks",
            columns=[first, second],
        )
    return matrix


@dataclass(frozen=True)
class PartialDag:
    """Parents, children and undirected neighbours of every vertex, as sets to be rewritten."""

    parents: list[set[int]]
    children: list[set[int]]
    neighbours: list[set[int]]

    @classmethod
    def from_matrix(cls, matrix: Adjacency) -> PartialDag:
        """The sets that a checked matrix describes."""
        directed = adjacency_lists(matrix == 1)
        undirected = adjacency_lists(matrix == 2)
        return cls(
            parents=[set(listed) for listed in directed.parents],
            children=[set(listed) for listed in directed.children],
            neighbours=[set(listed) for listed in undirected.children],
        )

    def to_matrix(self) -> Adjacency:
        """The matrix of the graph as it is now."""
        matrix = np.zeros((len(self.parents), len(self.parents)), dtype=np.int8)
        for v, listed in enumerate(self.children):
            matrix[v, list(listed)] = 1
        for v, listed in enumerate(self.neighbours):
            matrix[v, list(listed)] = 2
        return matrix

    def linked(self, vertex: int) -> set[int]:
        """Everything that an edge of any kind joins to the vertex."""
        return self.parents[vertex] | self.children[vertex] | self.neighbours[vertex]

    def adjacent(self, i: int, j: int) -> bool:
        """Whether an edge of any kind joins i and j."""
        return j in self.neighbours[i] or j in self.parents[i] or j in self.children[i]

    def undirected_edges(self) -> Iterator[tuple[int, int]]:
        """All undirected edges (i, j), i < j, in order."""
        for i, listed in enumerate(self.neighbours):
            yield from ((i, j) for j in sorted(listed) if i < j)

    def orient(self, tail: int, head: int) -> None:
        """Turn the undirected edge tail — head into tail → head."""
        self.neighbours[tail].remove(head)
        self.neighbours[head].remove(tail)
        self.children[tail].add(head)
        self.parents[head].add(tail)

    def remove(self, vertex: int) -> None:
        """Take the vertex and its edges out; its own sets are left empty."""
        for other in self.linked(vertex):
            self.parents[other].discard(vertex)
            self.children[other].discard(vertex)
            self.neighbours[other].discard(vertex)
        for listed in (self.parents, self.children, self.neighbours):
            listed[vertex].clear()


def meek_closure(pdag: Any) -> Adjacency:
    """The graph with every undirected edge directed whose direction all extensions share.

    Meek's rules 1 to 4 until none applies (C. Meek, Causal inference and causal explanation with
    background knowledge, UAI 1995). They miss nothing if the graph holds the v-structures
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


def to_dag(pdag: Any, names: Names = None) -> Adjacency:
    """A consistent extension: a DAG with the same skeleton, arrows and v-structures.

    Dor and Tarsi's algorithm (1992): find a vertex without children whose undirected neighbours
    are adjacent to everything else next to it, point their edges at it, take it out, repeat.
    Only the neighbours of what was taken out can have become such a vertex.

    Parameters
    ----------
    pdag : matrix, or anything that `as_graph` takes
        A CPDAG or any other partially directed graph: 1 = i → j, 2 = undirected (both entries). Of
        a result that has a DAG and its class, such as a `Discovery`, it is that DAG; of a bare
        class, such as ``found.cpdag``, the first that the algorithm meets: often another member.
    names : sequence of str, optional
        Variable names, for messages only.

    Raises
    ------
    GraphError
        If there is no such DAG.
    """
    if hasattr(pdag, "cpdag") and hasattr(pdag, "dag"):
        # Its coefficients, files and effects belong to this member.
        return check_dag(pdag.dag, names).copy()
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
