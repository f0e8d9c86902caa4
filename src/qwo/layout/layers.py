"""Vertices in layers, so that edges point down and are short, and bends where long ones pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from qwo.graph.dag import edge_lists, sort_vertices
from qwo.types import Indices, Mask

Pairs = Indices


def assign_layers(n_vertices: int, edges: Pairs) -> Indices:
    """The layers y that minimise Σ (y_j - y_i) over the edges i → j, subject to y_j - y_i ≥ 1.

    There are no more layers than the longest path needs. The constraints are totally unimodular,
    so the linear programme has an integral solution (Gansner et al., 1993). Vertices that can
    move without changing the sum go where there is most room.

    Parameters
    ----------
    n_vertices : int
    edges : ndarray of int, m×2
        The ends (i, j) of each edge of an acyclic graph.
    """
    longest = _longest_paths(n_vertices, edges)
    if not len(edges):
        return longest
    tails, heads = edges.T
    rows = np.arange(len(edges))
    ones = np.ones(len(edges))
    # Before SciPy 1.15 `milp` takes no wider indices.
    places = np.tile(rows, 2).astype(np.int32), np.concatenate([heads, tails]).astype(np.int32)
    drops = csr_array((np.concatenate([ones, -ones]), places), shape=(len(edges), n_vertices))
    in_degree = np.bincount(heads, minlength=n_vertices)
    out_degree = np.bincount(tails, minlength=n_vertices)
    try:
        solved = milp(
            in_degree - out_degree,
            constraints=LinearConstraint(drops, lb=1),
            bounds=Bounds(0, int(longest.max())),
        )
        layers = np.rint(np.asarray(solved.x, dtype=np.float64)).astype(np.intp)
    except (ValueError, TypeError, RuntimeError):
        # No picture is lost for want of a better one: the longest paths are layers too.
        return longest
    if solved.status != 0:
        return longest
    return _balanced(layers, edges, np.flatnonzero(in_degree == out_degree))


def _longest_paths(n_vertices: int, edges: Pairs) -> Indices:
    """The number of edges on the longest path into each vertex."""
    lists = edge_lists(edges[:, 0], edges[:, 1], n_vertices)
    length = [0] * n_vertices
    for v in sort_vertices(lists, range(n_vertices)):
        length[v] = max((length[u] + 1 for u in lists.parents[v]), default=0)
    return np.array(length, dtype=np.intp)


def _balanced(layers: Indices, edges: Pairs, movable: Indices) -> Indices:
    """The layers after each movable vertex went to the emptiest one its neighbours allow."""
    lists = edge_lists(edges[:, 0], edges[:, 1], len(layers))
    y: list[int] = layers.tolist()
    population = np.bincount(layers).tolist()
    for v in movable.tolist():
        highest = max((y[u] + 1 for u in lists.parents[v]), default=y[v])
        lowest = min((y[u] - 1 for u in lists.children[v]), default=y[v])
        population[y[v]] -= 1
        y[v] = min(range(highest, lowest + 1), key=lambda k: (population[k], k))
        population[y[v]] += 1
    return np.array(y, dtype=np.intp)


Layers = list[list[int]]


@dataclass(frozen=True)
class ProperGraph:
    """The vertices 0, …, n - 1 and, from n on, a bend wherever an edge passes through a layer.

    Attributes
    ----------
    n_vertices : int
        How many of the points are vertices.
    layer : list of int
        The layer of every point.
    chains : tuple of tuple of int
        For each edge the points it runs through, from its tail, down to its head.
    above, below : list of list of int
        The points that each point is joined to in the layer above and in the one below.
    """

    n_vertices: int
    layer: list[int]
    chains: tuple[tuple[int, ...], ...]
    above: list[list[int]]
    below: list[list[int]]

    @classmethod
    def from_layers(cls, layers: Indices, edges: Pairs) -> ProperGraph:
        """The graph with bends in place of the layers that long edges skip."""
        layer: list[int] = layers.tolist()
        chains = []
        for i, j in edges.tolist():
            first = len(layer)
            layer += range(layer[i] + 1, layer[j])
            chains.append((i, *range(first, len(layer)), j))
        above: list[list[int]] = [[] for _ in layer]
        below: list[list[int]] = [[] for _ in layer]
        graph = cls(len(layers), layer, tuple(chains), above, below)
        for upper, lower in graph.links():
            below[upper].append(lower)
            above[lower].append(upper)
        return graph

    def links(self) -> Iterator[tuple[int, int]]:
        """The pieces of all edges, each from one layer to the next."""
        for chain in self.chains:
            yield from pairwise(chain)

    def is_bend(self) -> Mask:
        """Which of the points are bends."""
        return np.arange(len(self.layer)) >= self.n_vertices
