"""The searches of the paper's published code, with its habits to be switched on one at a time.

The published code differs from the paper in four ways that change its figures:

- GRaSP tucks along every edge, covered or not, and never follows a tuck that leaves the number of
  edges equal. Hill climbing tries pairs from the left and begins again after each improvement.
- Its edge test compares |⟨q, w⟩| with the threshold for a partial correlation. With the inverse
  covariance scaled to a unit diagonal, as there, that number is the partial correlation times a
  factor of at most 1: edges are missed.
- After an improvement the search goes on with the Q of the first order, so that later rows of Q are
  projected on rows that belong to other variables.
- All edges out of one variable get the same weight (`make_problem` with ``weights="parent"``).

This is a model of that behaviour written from its description, for one purpose: to see which habit
moves which figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from qwo.moments import Moments
from qwo.order.edge_test import FisherZ
from qwo.search import start_order
from qwo.types import Adjacency, FloatArray

Parents = dict[int, frozenset[int]]
Change = tuple[int, list[int]]
"""A place, and the variables that are to stand from there on."""

HILL_CLIMBING_DISTANCE = 5


@dataclass(frozen=True)
class Habits:
    """Which habits of the published code are switched on, besides its way to search."""

    its_test: bool = False
    stale_basis: bool = False


@dataclass(frozen=True, eq=False)
class _Trial:
    order: list[int]
    basis: FloatArray
    parents: Parents

    @property
    def n_edges(self) -> int:
        return sum(len(parents) for parents in self.parents.values())


def published_search(
    search: str, moments: Moments, habits: Habits, seed: int, check: Callable[[], object]
) -> Adjacency:
    """The DAG that the published way to search, "grasp" or "hc", ends with.

    ``check`` is called before each trial, and may raise to end the search.
    """
    geometry = _Geometry(moments, habits.its_test)
    changes = _tucks if search == "grasp" else _exchanges
    rng = np.random.default_rng(seed)
    order = start_order("markov-boundary", moments.correlation, moments.n_samples).tolist()
    state = geometry.fit(_Trial(order, geometry.whitening[order], {}), 0, order)
    first = state.basis
    while True:
        better = _first_improvement(geometry, state, changes(state, rng), check)
        if better is None:
            return _dag(state)
        state = replace(better, basis=first) if habits.stale_basis else better


def _first_improvement(
    geometry: _Geometry, state: _Trial, changes: Iterator[Change], check: Callable[[], object]
) -> _Trial | None:
    """The state after the first change that saves an edge."""
    for start, block in changes:
        check()
        tried = geometry.fit(state, start, block)
        if tried.n_edges < state.n_edges:
            return tried
        # The change is taken back by computing the rows anew, from whatever rows follow them.
        kept = geometry.fit(state, start, state.order[start : start + len(block)])
        state = replace(state, basis=kept.basis)
    return None


class _Geometry:
    """The whitening vectors, scaled to length 1, and the test of an edge."""

    def __init__(self, moments: Moments, its_test: bool) -> None:
        values, vectors = eigh(moments.correlation)
        precision = (vectors / values) @ vectors.T
        scale = np.sqrt(np.diag(precision))
        values, vectors = eigh(precision / np.outer(scale, scale))
        self.whitening: FloatArray = (vectors * np.sqrt(values)) @ vectors.T
        self._its_test = its_test
        self._tau = FisherZ(None).threshold(moments.n_variables, moments.n_samples)

    def fit(self, state: _Trial, start: int, block: list[int]) -> _Trial:
        """The state with other variables from a place on; other rows of the basis stay."""
        stop = start + len(block)
        order = [*state.order[:start], *block, *state.order[stop:]]
        basis, parents = state.basis.copy(), dict(state.parents)
        for place in range(stop - 1, start - 1, -1):
            later, vector = basis[place + 1 :], self.whitening[order[place]]
            row = vector - (later @ vector) @ later
            basis[place] = row / np.linalg.norm(row)
            parents[order[place]] = self._parents(order, place, basis)
        return _Trial(order, basis, parents)

    def _parents(self, order: list[int], place: int, basis: FloatArray) -> frozenset[int]:
        before = np.array(order[:place], dtype=np.intp)
        vectors = self.whitening[before]
        squared = np.square(vectors @ basis[place])
        if not self._its_test:
            # What is left of the vectors once the later rows are projected out: the diagonal of
            # the inverse covariance of the first variables.
            squared /= 1.0 - np.square(vectors @ basis[place + 1 :].T).sum(axis=1)
        return frozenset(before[squared > self._tau].tolist())


def _tucks(state: _Trial, rng: np.random.Generator) -> Iterator[Change]:
    """GRaSP's tucks along all edges, child by child, in random order."""
    for stop in rng.permutation(len(state.order)).tolist():
        child = state.order[stop]
        for parent in rng.permutation(sorted(state.parents[child])).tolist():
            start = state.order.index(parent)
            block = state.order[start : stop + 1]
            ancestors = _ancestors(child, state.parents)
            movers = [v for v in block[1:] if v in ancestors]
            yield start, movers + [v for v in block if v not in movers]


def _ancestors(child: int, parents: Parents) -> set[int]:
    found, waiting = {child}, [child]
    while waiting:
        new = parents[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def _exchanges(state: _Trial, rng: np.random.Generator) -> Iterator[Change]:  # noqa: ARG001
    """Exchanges of two places at most `HILL_CLIMBING_DISTANCE` apart, from the left."""
    n = len(state.order)
    for i in range(n):
        for j in range(i + 1, min(i + HILL_CLIMBING_DISTANCE, n - 1) + 1):
            block = state.order[i : j + 1]
            yield i, [block[-1], *block[1:-1], block[0]]


def _dag(state: _Trial) -> Adjacency:
    dag = np.zeros((len(state.order), len(state.order)), dtype=np.int8)
    for child, parents in state.parents.items():
        dag[sorted(parents), child] = 1
    return dag
