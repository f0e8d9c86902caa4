"""Vertices in layers, so that edges point down, are short and cross seldom; bends in long ones.

The edges come from a graph, or from two that are compared.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.causal_graph import CausalGraph, ends_of, marks_of
from qwo.graph.coercion import as_graph, is_nameless
from qwo.graph.cpdag import as_cpdag
from qwo.graph.dag import edge_lists, is_topological, sort_vertices, topological_order
from qwo.graph.marks import HEAD
from qwo.graph.pdag import to_dag
from qwo.types import Adjacency, Indices, Mask

Pairs = Indices


def assign_layers(n_vertices: int, edges: Pairs) -> Indices:
    """The layers y that minimise Σ (y_j - y_i) over the edges i → j, subject to y_j - y_i ≥ 1.

    There are no more layers than the longest path needs. The constraints are totally unimodular,
    so the linear programme has an integral solution (Gansner et al., 1993). Vertices that can
    move without changing the sum go where there is most room.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

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
    """The vertices 0, …, n - 1 and, from n on, a bend wherever an edge passes through a layer."""

    n_vertices: int
    layer: list[int]
    chains: tuple[tuple[int, ...], ...]
    """For each edge the points it runs through, from its tail, down to its head."""
    above: list[list[int]]
    below: list[list[int]]
    """What each point is joined to in the layer above, and in the one below."""

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
        for upper, lower in graph.links().tolist():
            below[upper].append(lower)
            above[lower].append(upper)
        return graph

    def links(self) -> Pairs:
        """The pieces of all edges, each from one layer to the next."""
        pieces = [link for chain in self.chains for link in pairwise(chain)]
        return np.array(pieces, dtype=np.intp).reshape(-1, 2)


_SWEEPS = 24
_PATIENCE = 4


def ordered_layers(graph: ProperGraph, points: Sequence[int]) -> Layers:
    """The layers of a connected part of the graph, each in an order that makes few crossings.

    Barycentre sweeps down and up with exchanges of neighbours (Sugiyama et al., 1981; Gansner et
    al., 1993), from several starts, of which the best is kept. The starts are drawn from a fixed
    seed: the same graph always gets the same picture.
    """
    rng = np.random.default_rng(0)
    part = set(points)
    starts = 1 + min(11, 3000 // (1 + sum(len(graph.below[v]) for v in part)))
    best: Layers = []
    fewest = -1
    for attempt in range(starts):
        roots = sorted(part) if attempt == 0 else rng.permutation(sorted(part)).tolist()
        layers = _swept(graph, _depth_first(graph, roots))
        crossings = count_crossings(graph, layers)
        if fewest < 0 or crossings < fewest:
            best, fewest = layers, crossings
        if fewest == 0:
            break
    return best


def count_crossings(graph: ProperGraph, layers: Layers) -> int:
    """How many pairs of links cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {v: k for k, v in enumerate(lower)}
        seen: list[int] = []
        for v in upper:
            ends = sorted(place[u] for u in graph.below[v])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _depth_first(graph: ProperGraph, roots: Sequence[int]) -> Layers:
    """The points by the time at which a depth-first walk along the links meets them."""
    top = min(graph.layer[v] for v in roots)
    layers: Layers = [[] for _ in range(max(graph.layer[v] for v in roots) - top + 1)]
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        v = stack.pop()
        if v in seen:
            continue
        seen.add(v)
        layers[graph.layer[v] - top].append(v)
        stack += reversed(graph.above[v] + graph.below[v])
    return layers


def _swept(graph: ProperGraph, layers: Layers) -> Layers:
    """The best order met in sweeps down and up."""
    small = sum(map(len, layers)) < 1000
    place = {v: k for layer in layers for k, v in enumerate(layer)}
    best = [list(layer) for layer in layers]
    fewest = count_crossings(graph, layers)
    since = 0
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = graph.above if downwards else graph.below
        for layer in layers if downwards else reversed(layers):
            _sort_by_barycentre(layer, neighbours, place)
        if small:
            _exchange(graph, layers, place)
        crossings = count_crossings(graph, layers)
        since += 1
        if crossings < fewest:
            best, fewest, since = [list(layer) for layer in layers], crossings, 0
        if fewest == 0 or since == _PATIENCE:
            break
    return best


def _sort_by_barycentre(
    layer: list[int], neighbours: list[list[int]], place: dict[int, int]
) -> None:
    """Sort the points by the mean place of their neighbours; those without keep their places."""
    free = [k for k, v in enumerate(layer) if neighbours[v]]
    mean = {
        layer[k]: sum(place[u] for u in neighbours[layer[k]]) / len(neighbours[layer[k]])
        for k in free
    }
    for k, v in zip(free, sorted(mean, key=mean.__getitem__), strict=True):
        layer[k] = v
    place.update((v, k) for k, v in enumerate(layer))


def _exchange(graph: ProperGraph, layers: Layers, place: dict[int, int]) -> None:
    """Exchange neighbours in a layer while that removes crossings."""
    improved = True
    while improved:
        improved = False
        for layer in layers:
            for k in range(len(layer) - 1):
                left, right = layer[k], layer[k + 1]
                if _gain(graph, place, left, right) > 0:
                    layer[k], layer[k + 1] = right, left
                    place[left], place[right] = k + 1, k
                    improved = True


def _gain(graph: ProperGraph, place: dict[int, int], left: int, right: int) -> int:
    """How many crossings fewer there are once two neighbours have changed places."""
    gain = 0
    for neighbours in (graph.above, graph.below):
        for u in neighbours[left]:
            for w in neighbours[right]:
                gain += (place[u] > place[w]) - (place[u] < place[w])
    return gain


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Edges in a fixed sequence."""

    tails: Indices
    heads: Indices
    """The ends of each edge; those of an undirected one in either order."""
    undirected: Mask
    downward: Pairs
    """The ends of each edge by their places in a causal order; together without a cycle."""
    marks: Adjacency | None = None
    """What each edge has at its upper and its lower end, where some have more than an arrow."""

    @classmethod
    def of(cls, matrix: Adjacency, order: Indices) -> EdgeSet:
        """The edges of a graph in row order."""
        tails, heads = ends_of(matrix)
        place = np.argsort(order)
        forth = place[tails] < place[heads]
        upper, lower = np.where(forth, tails, heads), np.where(forth, heads, tails)
        ends = None
        if matrix.max(initial=0) > 2:
            marks = marks_of(matrix)
            ends = np.column_stack([marks[lower, upper], marks[upper, lower]])
        down = np.column_stack([upper, lower])
        return cls(tails, heads, matrix[tails, heads] == 2, down, ends)

    def head_ends(self) -> Indices:
        """1 where the arrowhead is at the lower end, -1 at the upper end, 0 without one."""
        pointing = np.where(self.downward[:, 1] == self.heads, 1, -1)
        return np.where(self.undirected, 0, pointing)


def causal_order(source: Any, graph: CausalGraph) -> Indices:
    """An order that all arrows of the graph follow: that of the source if it has one that does.

    Otherwise that of a member of the equivalence class, or, if the graph stands for no class, any
    that the arrows allow; of a graph with cycles, one against which few arrows point.
    """
    arrows = graph.matrix == 1
    if graph.kind == "cyclic":
        return _least_backward(arrows)
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


def downward_ends(graph: CausalGraph) -> tuple[Indices, Indices]:
    """The ends of each edge of a MAG or PAG, so that together they have no cycle.

    → and o→ begin where they do; the others, which look alike from both ends, where the former
    allow it.
    """
    marks = graph.marks
    place = np.argsort(topological_order((marks == HEAD) & (marks.T != HEAD)))
    tails, heads = graph.ends()
    swapped = place[tails] > place[heads]
    return np.where(swapped, heads, tails), np.where(swapped, tails, heads)


def _least_backward(arrows: Mask) -> Indices:
    """An order with few arrows against it (Eades, Lin and Smyth 1993)."""
    left, first, last = set(range(len(arrows))), [], []
    while left:
        own = sorted(left)
        part = arrows[np.ix_(own, own)]
        into, out = part.sum(axis=0), part.sum(axis=1)
        sinks = [v for v, k in zip(own, out, strict=True) if k == 0]
        if sinks:
            last.append(sinks[-1])
            left.remove(sinks[-1])
            continue
        best = own[int(np.argmax(np.where(into == 0, len(own) + out, out - into)))]
        first.append(best)
        left.remove(best)
    return np.array([*first, *last[::-1]], dtype=np.intp)


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
