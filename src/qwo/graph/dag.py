"""Directed acyclic graphs as matrices: ``A[i, j] = 1`` means i → j, in input column order.

Matrices are what users see; the algorithms work on adjacency lists drawn from them once, so that
beyond reading the n×n matrix each costs time in the number of edges, not in n².
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.errors import GraphError
from qwo.types import Adjacency, Indices, Mask

Names = Sequence[str] | None


class AdjacencyLists(NamedTuple):
    """Parents and children of every vertex, each in increasing order."""

    parents: list[list[int]]
    children: list[list[int]]


def adjacency_lists(adjacency: npt.ArrayLike) -> AdjacencyLists:
    """The parents and the children of every vertex, read off the non-zero entries."""
    matrix = np.asarray(adjacency)
    tails, heads = np.nonzero(matrix)
    return edge_lists(tails, heads, len(matrix))


def edge_lists(tails: Indices, heads: Indices, n: int) -> AdjacencyLists:
    """The parents and the children of vertices 0, …, n - 1, from the ends of each edge."""
    by_head = np.lexsort((tails, heads))
    by_tail = np.lexsort((heads, tails))
    return AdjacencyLists(
        parents=_group(heads[by_head], tails[by_head], n),
        children=_group(tails[by_tail], heads[by_tail], n),
    )


def _group(keys: Indices, values: Indices, n: int) -> list[list[int]]:
    """``values`` gathered by their sorted ``keys`` 0, …, n - 1."""
    bounds = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))]).tolist()
    listed: list[int] = values.tolist()
    return [listed[bounds[k] : bounds[k + 1]] for k in range(n)]


def check_dag(adjacency: npt.ArrayLike, names: Names = None) -> Adjacency:
    """The adjacency matrix of a directed acyclic graph, once it is proved to be one.

    Parameters
    ----------
    adjacency : array-like, n×n
        Entries 0 and 1 of any numeric type; ``A[i, j] = 1`` means i → j.
    names : sequence of str, optional
        Names for the messages; column numbers otherwise.

    Returns
    -------
    ndarray of int8
        The same matrix; the very same object if it was an int8 array already.

    Raises
    ------
    GraphError
        If it is not square, has other entries, or has a cycle, which the message shows as a path.
    """
    matrix = check_codes(adjacency, largest=1, names=names)
    topological_order(matrix, names)
    return matrix


def check_codes(graph: npt.ArrayLike, largest: int, names: Names = None) -> Adjacency:
    """A square int8 matrix whose entries are 0, …, ``largest``."""
    given = np.asarray(graph)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise GraphError(
            f"the matrix of a graph must be square, with one row and one column for each variable; "
            f"got shape {given.shape}"
        )
    if names is not None and len(names) != len(given):
        raise GraphError(f"got {len(names)} names for a graph with {len(given)} variables")
    if given.dtype.kind not in "biuf":
        raise GraphError(f"the matrix of a graph must be numeric; got dtype {given.dtype}")
    with np.errstate(invalid="ignore"):
        matrix: Adjacency = given.astype(np.int8, copy=False)
    wrong = matrix != given if matrix is not given else None
    if wrong is not None and wrong.any():
        _refuse_entry(given, wrong, largest, names)
    if matrix.size and (matrix.min() < 0 or matrix.max() > largest):
        _refuse_entry(given, (matrix < 0) | (matrix > largest), largest, names)
    return matrix


def _refuse_entry(given: npt.NDArray[np.generic], wrong: Mask, largest: int, names: Names) -> None:
    i, j = (int(k) for k in np.argwhere(wrong)[0])
    codes = "0 and 1" if largest == 1 else "0, 1 (i → j) and 2 (undirected, both entries)"
    cure = "1 for every edge i → j, as (coefficients != 0) gives"
    if largest == 1 and given[i, j] == 2:
        cure = "a DAG; 2 marks an undirected edge, so take a member of the class with to_dag first"
    raise GraphError(
        f"entries must be {codes}; the one for {label(i, names)} → {label(j, names)} is "
        f"{given[i, j]}; give {cure}",
        columns=[label(i, names), label(j, names)],
    )


def label(vertex: int, names: Names) -> str:
    """The name of a vertex, or its number where there are no names."""
    return str(vertex) if names is None else str(names[vertex])


def topological_order(adjacency: npt.ArrayLike, names: Names = None) -> Indices:
    """The lexicographically first order that puts i before j for every edge i → j.

    Kahn's algorithm: among the vertices whose parents are all placed, take the smallest.
    """
    return np.array(ordered_lists(adjacency, names)[0], dtype=np.intp)


def ordered_lists(
    adjacency: npt.ArrayLike, names: Names = None
) -> tuple[list[int], AdjacencyLists]:
    """The topological order of a DAG, and its adjacency lists."""
    lists = adjacency_lists(adjacency)
    order = sort_vertices(lists, ranks=range(len(lists.parents)))
    if len(order) < len(lists.parents):
        cycle = find_cycle(lists.parents, placed=order)
        path = [label(v, names) for v in [*cycle, cycle[0]]]
        raise GraphError(
            f"the graph has a cycle: {' → '.join(path)}; remove or reverse one of its edges",
            columns=path[:-1],
        )
    return order, lists


def sort_vertices(lists: AdjacencyLists, ranks: Sequence[int]) -> list[int]:
    """The topological order that always takes the free vertex of the smallest rank.

    Vertices on a cycle and behind it are never free and are left out.
    """
    waiting = [len(parents) for parents in lists.parents]
    free = [(ranks[v], v) for v, count in enumerate(waiting) if count == 0]
    heapq.heapify(free)
    order = []
    while free:
        _, v = heapq.heappop(free)
        order.append(v)
        for child in lists.children[v]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(free, (ranks[child], child))
    return order


def find_cycle(parents: Sequence[Sequence[int]], placed: Sequence[int]) -> list[int]:
    """A directed cycle among the vertices that a topological sort could not place.

    Each of them has a parent that was not placed either, so a walk against the arrows comes round.
    """
    done = set(placed)
    v = next(k for k in range(len(parents)) if k not in done)
    walk: list[int] = []
    step: dict[int, int] = {}
    while v not in step:
        step[v] = len(walk)
        walk.append(v)
        v = next(p for p in parents[v] if p not in done)
    cycle = walk[step[v] :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def is_topological(order: npt.ArrayLike, adjacency: npt.ArrayLike) -> bool:
    """Whether every edge of the graph points forward in the order."""
    sequence = np.asarray(order)
    place = np.empty(len(sequence), dtype=np.intp)
    place[sequence] = np.arange(len(sequence))
    tails, heads = np.nonzero(np.asarray(adjacency))
    return bool(np.all(place[tails] < place[heads]))


def parents(adjacency: Adjacency, vertex: int) -> Indices:
    """Pa(vertex): all i with i → vertex."""
    return np.flatnonzero(adjacency[:, vertex])


def children(adjacency: Adjacency, vertex: int) -> Indices:
    """All j with vertex → j."""
    return np.flatnonzero(adjacency[vertex])


def ancestors(adjacency: Adjacency, vertex: int) -> Indices:
    """Anc(vertex): all i ≠ vertex with a directed path from i to vertex."""
    return _reached(adjacency.T, vertex)


def descendants(adjacency: Adjacency, vertex: int) -> Indices:
    """All j ≠ vertex with a directed path from vertex to j."""
    return _reached(adjacency, vertex)


def _reached(adjacency: Adjacency, start: int) -> Indices:
    """Breadth-first search along the rows, without the start."""
    seen = np.zeros(len(adjacency), dtype=np.bool_)
    seen[start] = True
    frontier = np.array([start])
    while frontier.size:
        frontier = np.flatnonzero(adjacency[frontier].any(axis=0) & ~seen)
        seen[frontier] = True
    seen[start] = False
    return np.flatnonzero(seen)


def ancestor_matrix(adjacency: npt.ArrayLike) -> Mask:
    """The transitive closure: entry (i, j) says whether i is an ancestor of j, i ≠ j."""
    order, lists = ordered_lists(adjacency)
    return reachability(lists.children, order)


def reachability(child_lists: Sequence[Sequence[int]], order: Sequence[int]) -> Mask:
    """Which vertex reaches which over at least one edge, given a topological order.

    A vertex reaches its children and what they reach: one union of rows for each edge.
    """
    reach = np.zeros((len(order), len(order)), dtype=np.bool_)
    for v in reversed(order):
        for child in child_lists[v]:
            reach[v] |= reach[child]
            reach[v, child] = True
    return reach


def skeleton(graph: npt.ArrayLike) -> Adjacency:
    """The symmetric 0/1 matrix of adjacent pairs; of a DAG or of a CPDAG."""
    matrix = np.asarray(graph)
    linked = np.zeros(matrix.shape, dtype=np.int8)
    i, j = np.nonzero(matrix)
    linked[i, j] = linked[j, i] = 1
    return linked


def v_structures(adjacency: npt.ArrayLike) -> list[tuple[int, int, int]]:
    """All (i, k, j) with i → k ← j, i < j, and i and j not adjacent, sorted."""
    listed = adjacency_lists(adjacency).parents
    known = [set(pa) for pa in listed]
    return sorted(
        (i, k, j)
        for k, pa in enumerate(listed)
        for i, j in combinations(pa, 2)
        if i not in known[j] and j not in known[i]
    )


def covered_edges(adjacency: npt.ArrayLike) -> list[tuple[int, int]]:
    r"""All i → j with Pa(i) = Pa(j) \ {i}: those whose reversal stays in the equivalence class."""
    known = [set(pa) for pa in adjacency_lists(adjacency).parents]
    return sorted((i, j) for j, pa in enumerate(known) for i in pa if pa == known[i] | {i})


def moral_graph(adjacency: npt.ArrayLike) -> Adjacency:
    """The skeleton with an edge added between any two parents of one child (symmetric 0/1)."""
    moral = skeleton(adjacency)
    for pa in adjacency_lists(adjacency).parents:
        moral[np.ix_(pa, pa)] = 1
    np.fill_diagonal(moral, 0)
    return moral


def markov_boundary(adjacency: Adjacency, vertex: int) -> Indices:
    """Parents, children and the children's other parents of a vertex."""
    boundary = (adjacency[:, vertex] != 0) | (adjacency[vertex] != 0)
    boundary |= adjacency[:, children(adjacency, vertex)].any(axis=1)
    boundary[vertex] = False
    return np.flatnonzero(boundary)
