"""The edges of a graph from above to below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.dag import is_topological, topological_order
from qwo.graph.extension import to_dag
from qwo.plot.layout.layers import Pairs
from qwo.types import Adjacency, Indices, Mask


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Edges in a fixed sequence.

    Attributes
    ----------
    tails, heads : ndarray of int
        The ends of each edge; those of an undirected one in either order.
    undirected : ndarray of bool
    downward : ndarray of int, m×2
        The ends of each edge by their places in a causal order; together without a cycle.
    """

    tails: Indices
    heads: Indices
    undirected: Mask
    downward: Pairs

    @classmethod
    def of(cls, matrix: Adjacency, order: Indices) -> EdgeSet:
        """The edges of a partially directed graph in row order."""
        i, j = np.nonzero(matrix)
        once = (matrix[i, j] == 1) | (i < j)
        return cls.between(i[once], j[once], matrix[i, j][once] == 2, order)

    @classmethod
    def between(cls, tails: Indices, heads: Indices, undirected: Mask, order: Indices) -> EdgeSet:
        """The edges with the given ends."""
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        forth = place[tails] < place[heads]
        upper, lower = np.where(forth, tails, heads), np.where(forth, heads, tails)
        return cls(tails, heads, undirected, np.column_stack([upper, lower]))

    def head_ends(self) -> Indices:
        """1 where the arrowhead is at the lower end, -1 at the upper end, 0 without one."""
        pointing = np.where(self.downward[:, 1] == self.heads, 1, -1)
        return np.where(self.undirected, 0, pointing)


def causal_order(source: Any, graph: CausalGraph) -> Indices:
    """An order that all arrows of the graph follow: that of the source if it has one that does.

    Otherwise that of a member of the equivalence class, or, if the graph stands for no class, any
    that the arrows allow.
    """
    arrows = graph.matrix == 1
    given = getattr(source, "order", None)
    if (
        isinstance(given, np.ndarray)
        and np.array_equal(np.sort(given), range(len(arrows)))
        and is_topological(given, arrows)
    ):
        return given
    try:
        return topological_order(to_dag(graph.matrix))
    except GraphError:
        return topological_order(arrows)
