"""Directed acyclic graphs to simulate from: Erdős–Rényi, scale-free, or given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from qwo.checks import at_least, between, check_size
from qwo.errors import ArgumentError, GraphError
from qwo.graph.dag import check_dag
from qwo.graph.formats.reading import is_file
from qwo.graph.formats.registry import format_of_text
from qwo.types import Adjacency, Indices

Edges = tuple[Indices, Indices]


def random_dag(
    kind: str, n_variables: int | None, degree: float, shuffle: bool, rng: np.random.Generator
) -> Adjacency:
    """Edges between positions of a causal order, and a random variable for each position."""
    draw = _GRAPHS.get(kind)
    if draw is None:
        raise ArgumentError(
            f"graph is {kind!r}; wanted one of {', '.join(map(repr, _GRAPHS))}, the matrix of a "
            "DAG, or a networkx.DiGraph"
        )
    if n_variables is None:
        raise ArgumentError(
            f"n_variables is missing: say how many variables the {kind!r} graph has"
        )
    n = at_least("n_variables", n_variables, 1)
    check_size(f"the matrix of {n} variables", n * n)
    causes, effects = draw(n, between("degree", degree, 0, n - 1), rng)
    order = rng.permutation(n) if shuffle else np.arange(n)
    dag = np.zeros((n, n), dtype=np.int8)
    dag[order[causes], order[effects]] = 1
    return dag


def _erdos_renyi(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """Each pair with probability degree / (n - 1): a binomial number of distinct pairs."""
    n_pairs = n * (n - 1) // 2
    n_edges = rng.binomial(n_pairs, degree / (n - 1)) if n > 1 else 0
    rank = rng.choice(n_pairs, n_edges, replace=False, shuffle=False) if n_edges else np.arange(0)
    # Pair (i, j) with i < j has rank j(j - 1)/2 + i.
    later = ((1 + np.sqrt(1 + 8 * rank)) / 2).astype(np.intp)
    return rank - later * (later - 1) // 2, later


def _scale_free_out(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """Arrivals take earlier positions as parents, by 1 + out-degree; see `random_model`."""
    weight = np.ones(n)
    causes: list[Indices] = [np.arange(0)]
    counts = np.zeros(n, dtype=np.intp)
    edges_each = _edges_per_arrival(n, degree)
    for arrival in range(1, n):
        count = min(arrival, math.floor(edges_each + rng.random()))
        # The first of independent exponential clocks with rates `weight` to ring: successive
        # sampling without replacement, in one pass.
        clocks = rng.standard_exponential(arrival) / weight[:arrival]
        chosen = np.argpartition(clocks, count - 1)[:count] if count else causes[0]
        weight[chosen] += 1
        causes.append(chosen)
        counts[arrival] = count
    return np.concatenate(causes), np.repeat(np.arange(n), counts)


def _scale_free_in(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """The mirror image of `_scale_free_out`: the hubs are effects, and come last."""
    causes, effects = _scale_free_out(n, degree, rng)
    return n - 1 - effects, n - 1 - causes


def _edges_per_arrival(n: int, degree: float) -> float:
    """The m with Σ_{t < n} min(t, m) = degree · n / 2."""
    target = degree * n / 2
    whole = np.arange(n)
    reached = whole * (whole + 1) / 2 + (n - 1 - whole) * whole
    base = int(np.searchsorted(reached, target, side="right")) - 1
    left = n - 1 - base
    return base + (target - reached[base]) / left if left else float(base)


_GRAPHS: dict[str, Callable[[int, float, np.random.Generator], Edges]] = {
    "er": _erdos_renyi,
    "scale-free": _scale_free_in,
    "scale-free-in": _scale_free_in,
    "scale-free-out": _scale_free_out,
}


def given_dag(graph: Any, n_variables: int | None) -> Adjacency:
    """The matrix of a given graph, which is checked to be acyclic and of the size announced."""
    dag = check_dag(graph)
    if n_variables is not None and n_variables != len(dag):
        raise ArgumentError(
            f"n_variables is {n_variables}, but the given graph has {len(dag)}; leave "
            "n_variables out"
        )
    if len(dag) == 0:
        raise GraphError("the given graph has no variables")
    return dag.copy()


def is_kind(graph: object) -> bool:
    """Whether this is a kind of random graph by name, or no graph that a file or text could give.

    A string is the name of a file if there is one of this name, as for `qwo.graph.read_graph`.
    """
    if not isinstance(graph, str):
        return False
    return graph in _GRAPHS or not (is_file(graph) or format_of_text(graph))
