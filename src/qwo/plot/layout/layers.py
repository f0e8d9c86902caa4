"""A layer for every vertex of an acyclic graph, so that the edges point down and are short."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from qwo.graph.dag import edge_lists, sort_vertices
from qwo.types import Indices

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
    drops = csr_array(
        (np.concatenate([ones, -ones]), (np.tile(rows, 2), np.concatenate([heads, tails]))),
        shape=(len(edges), n_vertices),
    )
    in_degree = np.bincount(heads, minlength=n_vertices)
    out_degree = np.bincount(tails, minlength=n_vertices)
    solved = milp(
        in_degree - out_degree,
        constraints=LinearConstraint(drops, lb=1),
        bounds=Bounds(0, int(longest.max())),
    )
    layers = np.rint(np.asarray(solved.x)).astype(np.intp)
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
