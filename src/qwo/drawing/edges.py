"""The edges of a graph from above to below, and how those of two graphs differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.drawing.layers import Pairs
from qwo.errors import GraphError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph, is_nameless
from qwo.graph.cpdag import as_cpdag
from qwo.graph.dag import is_topological, topological_order
from qwo.graph.pdag import to_dag
from qwo.types import Adjacency, Indices, Mask


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Edges in a fixed sequence."""

    tails: Indices
    heads: Indices
    """The ends of each edge; those of an undirected one in either order."""
    undirected: Mask
    downward: Pairs
    """The ends of each edge by their places in a causal order; together without a cycle."""

    @classmethod
    def of(cls, matrix: Adjacency, order: Indices) -> EdgeSet:
        """The edges of a partially directed graph in row order."""
        tails, heads = np.nonzero(matrix)
        once = (matrix[tails, heads] == 1) | (tails < heads)
        tails, heads = tails[once], heads[once]
        place = np.argsort(order)
        forth = place[tails] < place[heads]
        upper, lower = np.where(forth, tails, heads), np.where(forth, heads, tails)
        return cls(tails, heads, matrix[tails, heads] == 2, np.column_stack([upper, lower]))

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


DIFFERENCES = ("correct", "missing", "extra", "reversed", "directed in one graph only")
"""What an edge of either graph is, in a comparison of an estimate with the truth."""

CORRECT, MISSING, EXTRA, REVERSED, RETYPED = range(5)


@dataclass(frozen=True, eq=False)
class Differences:
    """All edges of either of two graphs, those that the estimate has as it has them."""

    names: tuple[str, ...]
    edges: EdgeSet
    kinds: Indices
    """The number of each edge's kind in `DIFFERENCES`."""

    def counted(self) -> list[str]:
        """How many edges there are of each kind, in words."""
        count = np.bincount(self.kinds, minlength=len(DIFFERENCES))
        return [f"{number} {title}" for number, title in zip(count, DIFFERENCES, strict=True)]


def differences(estimated: object, truth: object, *, as_given: bool = False) -> Differences:
    """Where an estimated graph, or else its CPDAG, differs from the true one; matched by name."""
    named = next((graph for graph in (truth, estimated) if not is_nameless(graph)), None)
    true = as_graph(truth, None if named is None else as_graph(named).names)
    ours, theirs = as_graph(estimated, true.names).matrix, true.matrix
    if not as_given:
        ours, theirs = as_cpdag(ours, true.names), as_cpdag(theirs, true.names)
    union = np.where((ours == 0) & (ours.T == 0), theirs, ours)
    edges = EdgeSet.of(union, causal_order(truth, true))
    return Differences(true.names, edges, _kinds(edges, ours, theirs))


def _kinds(edges: EdgeSet, ours: Adjacency, theirs: Adjacency) -> Indices:
    """What each edge of the union is, given the estimated and the true matrix."""
    i, j = edges.tails, edges.heads
    kind = np.full(len(i), CORRECT)
    kind[(ours[i, j] == 2) != (theirs[i, j] == 2)] = RETYPED
    kind[(ours[i, j] == 1) & (theirs[j, i] == 1)] = REVERSED
    kind[(theirs[i, j] == 0) & (theirs[j, i] == 0)] = EXTRA
    kind[(ours[i, j] == 0) & (ours[j, i] == 0)] = MISSING
    return kind
