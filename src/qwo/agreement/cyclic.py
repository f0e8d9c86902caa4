"""What a graph with cycles implies, and the check of it.

Linear models with independent noise have the independences that d-separation reads off the graph,
cycles or not (Spirtes 1995). If any set separates two variables, their ancestors do, of which the
neighbours of the one in the moral graph of the ancestors of both are enough. Not all that a graph
with cycles says is an independence: the overall fit is that of its implied covariance matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qwo.agreement.families import (
    Change,
    Correlations,
    Family,
    Independences,
    chance,
    partial_correlations,
)
from qwo.graph.dag import closure
from qwo.order.linalg import CyclicGraphs, as_mask, cyclic_graphs
from qwo.types import Adjacency, FloatArray, Indices, Mask


def separated_pairs(graph: Adjacency) -> Iterator[tuple[int, int, Indices]]:
    """Pairs that the graph says are independent, and given which variables: one set each."""
    edges = graph != 0
    above = closure(edges) | np.eye(len(graph), dtype=bool)
    for v in range(len(graph)):
        for u in range(v):
            own = np.flatnonzero(above[:, u] | above[:, v])
            part = edges[np.ix_(own, own)]
            moral = part | part.T | (part.astype(int) @ part.T.astype(int) > 0)
            first, second = np.searchsorted(own, [u, v])
            if not moral[first, second]:
                near = moral[second].copy()
                near[second] = False
                yield u, v, own[near]


def cyclic_independences(data: Correlations, graph: Adjacency) -> Independences:
    """The independences that d-separation reads off a directed graph, tested."""
    first, second, sets, partial, chances = [], [], [], [], []
    for u, v, given in separated_pairs(graph):
        found = partial_correlations(data.matrix, v, given)
        first.append(u)
        second.append(v)
        sets.append(given)
        partial.append(found[u])
        chances.append(chance(data, Family(v, given, found), np.array([u]))[0])
    pairs = np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)
    numbers = np.array(partial, dtype=np.float64), np.array(chances, dtype=np.float64)
    return Independences(*pairs, *numbers, tuple(sets))


@dataclass(frozen=True, eq=False)
class CyclicFit:
    """The model of the largest likelihood on a graph with cycles, for one sample."""

    data: Correlations
    graph: Adjacency
    price: float

    @cached_property
    def _graphs(self) -> CyclicGraphs:
        return cyclic_graphs(self.data.matrix, self.data.n_samples, self.price)

    @cached_property
    def _system(self) -> FloatArray:
        own = self._graphs.coefficients(as_mask(self.graph))
        return np.asarray(np.eye(len(self.graph)) - own)

    def implied(self) -> FloatArray:
        """(I - B)⁻¹ Ω (I - B)⁻ᵀ."""
        total = np.linalg.inv(self._system)
        return np.asarray(total * self._noise() @ total.T)

    def _noise(self) -> FloatArray:
        return np.asarray(np.einsum("ij,jk,ik->i", self._system, self.data.matrix, self._system))

    def deviance(self) -> float:
        """Twice the log-likelihood that it is short of the saturated model."""
        fitted = np.log(self._noise()).sum() - 2 * np.linalg.slogdet(self._system)[1]
        return float(self.data.n_samples * (fitted - np.linalg.slogdet(self.data.matrix)[1]))

    def improved(self) -> Adjacency:
        """The graph that single edges lead to while they raise the score."""
        self._graphs.start(as_mask(self.graph))
        self._graphs.descend(np.inf)
        return self._graphs.found()

    def wanted_changes(self, allowed: Mask | None, required: Mask | None) -> list[Change]:
        """Every edge that raises the score when it is added, removed or turned, the best first."""
        now, found = self._graphs.cost(as_mask(self.graph)), []
        for i, j in np.argwhere(~np.eye(len(self.graph), dtype=bool)).tolist():
            if self.graph[i, j] and (required is None or not required[i, j]):
                found.append(Change("remove", i, j, now - self._flipped((i, j))))
                if not self.graph[j, i] and (allowed is None or allowed[j, i]):
                    found.append(Change("turn", j, i, now - self._flipped((i, j), (j, i))))
            elif not self.graph[i, j] and (allowed is None or allowed[i, j]):
                found.append(Change("add", i, j, now - self._flipped((i, j))))
        least = 1e-3 * self.price
        return sorted((c for c in found if c.gain > least), key=lambda change: -change.gain)

    def _flipped(self, *edges: tuple[int, int]) -> float:
        other = as_mask(self.graph)
        for edge in edges:
            other[edge] ^= 1
        return float(self._graphs.cost(other))
