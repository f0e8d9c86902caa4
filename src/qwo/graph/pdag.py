"""Partially directed graphs: matrices with 1 = i → j and 2 = undirected (in both entries)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.dag import Names, adjacency_lists, check_codes, label
from qwo.types import Adjacency


def check_pdag(graph: Any, names: Names = None) -> Adjacency:
    """The int8 matrix of a partially directed graph, once its codes are proved to fit.

    Whether the directed edges form a cycle, or the graph is complete in any sense, is not asked.
    """
    matrix = check_codes(graph, largest=2, names=names)
    tails, heads = np.nonzero(matrix)
    forth, back = matrix[tails, heads], matrix[heads, tails]
    wrong = (back != np.where(forth == 2, 2, 0)) | (tails == heads)
    if wrong.any():
        i, j = int(tails[wrong][0]), int(heads[wrong][0])
        if i == j:
            raise GraphError(f"{label(i, names)} has an edge to itself; set the diagonal to 0")
        raise GraphError(
            f"the entries for {label(i, names)} and {label(j, names)} are "
            f"{matrix[i, j]} and {matrix[j, i]}; "
            f"give 1 and 0 for {label(i, names)} → {label(j, names)}, or 2 and 2 for undirected",
            columns=[label(i, names), label(j, names)],
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
