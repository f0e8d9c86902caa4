"""A layered graph made proper: every edge joins neighbouring layers, by way of bends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from qwo.plot.layout.layers import Pairs
from qwo.types import Indices, Mask

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
