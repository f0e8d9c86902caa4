"""The order of the points in each layer, such that few edges cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from qwo.layout.layers import Layers, ProperGraph

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
