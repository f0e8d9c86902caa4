"""Directed acyclic graphs as matrices: ``A[i, j] = 1`` means i → j, in input column order.

Matrices are what users see; the algorithms work on adjacency lists drawn from them once, so that
beyond reading the n×n matrix each costs time in the number of edges, not in n².
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.errors import GraphError, OrderError
from qwo.names import Variable, as_column, default_names
from qwo.text import short
from qwo.types import Adjacency, Indices, Mask

Names = Sequence[str] | None


def named_matrix(graph: Any, kind: str = "dag") -> tuple[npt.NDArray[Any], Names]:
    """The matrix and the names of anything that `qwo.graph.as_graph` takes.

    Arrays and nested lists are taken as they are, and have no names. ``kind`` says which graph of
    a result is meant, ``"dag"`` or ``"cpdag"``.
    """
    if isinstance(graph, list | tuple):
        try:
            graph = np.asarray(graph)
        except ValueError as error:
            raise GraphError(
                "the matrix of a graph must have rows of one length; got lists of several"
            ) from error
    if isinstance(graph, np.ndarray):
        return _square(graph), None
    # What gives a matrix its names is made of matrices itself, and lies above this module.
    from qwo.graph.coercion import as_graph

    found = as_graph(graph, kind=kind)
    return found.matrix, found.names


def _square(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(
            f"the matrix of a graph must be square, with one row and one column for each variable; "
            f"got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"the matrix of a graph must be numeric; got dtype {matrix.dtype}")
    return matrix


def matrix_of(graph: Any, kind: str = "dag") -> npt.NDArray[Any]:
    """The matrix alone; see `named_matrix`."""
    return named_matrix(graph, kind)[0]


def vertex(variable: object, n: int, names: Names, role: str) -> int:
    """The number of one of n variables that is given by number, or by name where there are any."""
    if names is None:
        names = default_names(n) if isinstance(variable, str) else ("",) * n
    return as_column(names, variable, role)


ROWS_AT_ONCE = 1024
"""Rows of a matrix that are looked through together: a few megabytes."""


class AdjacencyLists(NamedTuple):
    """Parents and children of every vertex, each in increasing order."""

    parents: list[list[int]]
    children: list[list[int]]


def adjacency_lists(graph: Any) -> AdjacencyLists:
    """The parents and the children of every vertex, read off the non-zero entries."""
    matrix = matrix_of(graph)
    return edge_lists(*entries_of(matrix), len(matrix))


def parents_of(graph: Any) -> list[list[int]]:
    """The parents of every vertex."""
    return adjacency_lists(graph).parents


def entries_of(matrix: Adjacency | Mask) -> tuple[Indices, Indices]:
    """Rows and columns of the entries that are not 0, row by row.

    What `numpy.nonzero` gives, in a tenth of the time where thousands of variables have few edges.
    """
    n = len(matrix)
    found = [
        np.flatnonzero(matrix[first : first + ROWS_AT_ONCE] != 0) + first * n
        for first in range(0, n, ROWS_AT_ONCE)
    ]
    rows, columns = np.divmod(np.concatenate(found) if found else np.empty(0, np.intp), max(n, 1))
    return rows, columns


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


def check_dag(graph: Any, names: Names = None) -> Adjacency:
    """The adjacency matrix of a directed acyclic graph, once it is proved to be one.

    Parameters
    ----------
    graph : matrix, or anything that `as_graph` takes
        A matrix has entries 0 and 1 of any numeric type; ``A[i, j] = 1`` means i → j.
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
    matrix = check_codes(graph, largest=1, names=names)
    topological_order(matrix, names)
    return matrix


def check_codes(graph: Any, largest: int, names: Names = None) -> Adjacency:
    """A square int8 matrix whose entries are 0, …, ``largest``."""
    given, own = named_matrix(graph, "dag" if largest == 1 else "cpdag")
    names = own if names is None else names
    if names is not None and len(names) != len(given):
        raise GraphError(f"got {len(names)} names for a graph with {len(given)} variables")
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


def topological_order(graph: Any, names: Names = None) -> Indices:
    """The lexicographically first order that puts i before j for every edge i → j.

    Kahn's algorithm: among the vertices whose parents are all placed, take the smallest.
    """
    return np.array(ordered_lists(graph, names)[0], dtype=np.intp)


def ordered_lists(graph: Any, names: Names = None) -> tuple[list[int], AdjacencyLists]:
    """The topological order of a DAG, and its adjacency lists."""
    lists = adjacency_lists(graph)
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


def is_acyclic(graph: npt.NDArray[Any]) -> bool:
    """Whether the non-zero entries of a matrix are the edges of a graph without cycles."""
    left = graph != 0
    while len(left):
        sources = ~left.any(axis=0)
        if not sources.any():
            return False
        left = left[~sources][:, ~sources]
    return True


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


def is_topological(order: npt.ArrayLike, graph: Any) -> bool:
    """Whether every edge of the graph points forward in the order."""
    matrix = matrix_of(graph)
    try:
        sequence = np.asarray(order)
        proper = np.array_equal(np.sort(sequence), np.arange(len(matrix)))
    except (TypeError, ValueError):
        proper = False
    if not proper:
        raise OrderError(
            f"the order must have each of 0 to {len(matrix) - 1} once; got {short(repr(order))}"
        )
    place = np.empty(len(sequence), dtype=np.intp)
    place[sequence.astype(np.intp)] = np.arange(len(sequence))
    tails, heads = entries_of(matrix)
    return bool(np.all(place[tails] < place[heads]))


def parents(graph: Any, variable: Variable) -> Indices:
    """Pa(variable): all i with i → variable."""
    matrix, v = _at(graph, variable)
    return np.flatnonzero(matrix[:, v])


def children(graph: Any, variable: Variable) -> Indices:
    """All j with variable → j."""
    matrix, v = _at(graph, variable)
    return np.flatnonzero(matrix[v])


def ancestors(graph: Any, variable: Variable) -> Indices:
    """Anc(variable): all i ≠ variable with a directed path from i to variable."""
    matrix, v = _at(graph, variable)
    return _reached(matrix.T, v)


def descendants(graph: Any, variable: Variable) -> Indices:
    """All j ≠ variable with a directed path from variable to j."""
    return _reached(*_at(graph, variable))


def _at(graph: Any, variable: Variable) -> tuple[Adjacency, int]:
    matrix, names = named_matrix(graph)
    return matrix, vertex(variable, len(matrix), names, "variable")


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


def ancestor_matrix(graph: Any) -> Mask:
    """The transitive closure: entry (i, j) says whether i is an ancestor of j, i ≠ j."""
    order, lists = ordered_lists(graph)
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


def closure(edges: Mask) -> Mask:
    """Which vertex reaches which over at least one edge, cycles or not (Warshall 1962)."""
    reach = edges.copy()
    for k in range(len(reach)):
        reach |= np.outer(reach[:, k], reach[k])
    return reach


def skeleton(graph: Any) -> Adjacency:
    """The symmetric 0/1 matrix of adjacent pairs; of a DAG or of a CPDAG."""
    matrix = matrix_of(graph, "cpdag")
    linked = np.zeros(matrix.shape, dtype=np.int8)
    i, j = entries_of(matrix)
    linked[i, j] = linked[j, i] = 1
    return linked


def v_structures(graph: Any) -> list[tuple[int, int, int]]:
    """All (i, k, j) with i → k ← j, i < j, and i and j not adjacent, sorted."""
    listed = adjacency_lists(graph).parents
    known = [set(pa) for pa in listed]
    return sorted(
        (i, k, j)
        for k, pa in enumerate(listed)
        for i, j in combinations(pa, 2)
        if i not in known[j] and j not in known[i]
    )


def covered_edges(graph: Any) -> list[tuple[int, int]]:
    r"""All i → j with Pa(i) = Pa(j) \ {i}: those whose reversal stays in the equivalence class."""
    known = [set(pa) for pa in adjacency_lists(graph).parents]
    return sorted((i, j) for j, pa in enumerate(known) for i in pa if pa == known[i] | {i})


def moral_graph(graph: Any) -> Adjacency:
    """The skeleton with an edge added between any two parents of one child (symmetric 0/1)."""
    moral = skeleton(graph)
    for pa in adjacency_lists(graph).parents:
        moral[np.ix_(pa, pa)] = 1
    np.fill_diagonal(moral, 0)
    return moral


def markov_boundary(graph: Any, variable: Variable) -> Indices:
    """Parents, children and the children's other parents of a variable."""
    matrix, v = _at(graph, variable)
    boundary = (matrix[:, v] != 0) | (matrix[v] != 0)
    boundary |= matrix[:, np.flatnonzero(matrix[v])].any(axis=1)
    boundary[v] = False
    return np.flatnonzero(boundary)
