"""A class from tests: FCI's steps from the edges of a DAG, each test at the penalty of an edge.

With exact correlations it is the true class. P. Spirtes, C. Meek, T. S. Richardson, Causal
inference in the presence of latent variables and selection bias (UAI 1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from qwo.graph.dag import ancestor_matrix
from qwo.graph.marks import CIRCLE, HEAD
from qwo.graph.pag import orient_by_sets
from qwo.types import Adjacency, FloatArray, Mask


def pag_from_tests(
    correlation: FloatArray, n_samples: float, price: float, dag: Adjacency
) -> Adjacency:
    """The marks that the tests imply; with few rows they need not be those of any class."""
    least = -np.expm1(-price / n_samples)
    # A pair that is linked in the true graph depends given any set, so given all others.
    precision = np.linalg.inv(correlation)
    given_all = precision**2 > least * np.outer(np.diag(precision), np.diag(precision))
    linked = ((dag != 0) | (dag.T != 0) | given_all) & ~np.eye(len(dag), dtype=bool)
    sets = _sets_of_dag(dag, linked)
    for rounds in range(2):
        marks = _colliders(linked, sets)
        for x, y in np.argwhere(np.triu(linked)).tolist():
            if rounds == 0:
                pools = [set(np.flatnonzero(linked[v]).tolist()) - {x, y} for v in (x, y)]
            else:
                pools = [possible_separators(marks, v) - {x, y} for v in (x, y)]
            found = _separating(correlation, least, x, y, pools)
            if found is not None:
                linked[x, y] = linked[y, x] = False
                sets[x, y, list(found)] = sets[y, x, list(found)] = True
    return orient_by_sets(_colliders(linked, sets), sets)


def _separating(
    correlation: FloatArray, least: float, x: int, y: int, pools: list[set[int]]
) -> tuple[int, ...] | None:
    """The smallest set within one of the pools that separates the two; None if none does."""
    tried = set()
    for size in range(max(map(len, pools)) + 1):
        for pool in pools:
            for chosen in combinations(sorted(pool), size):
                if chosen not in tried:
                    tried.add(chosen)
                    if partial_correlation(correlation, x, y, chosen) ** 2 < least:
                        return chosen
    return None


def partial_correlation(correlation: FloatArray, x: int, y: int, given: Iterable[int]) -> float:
    """The correlation of two variables given others."""
    chosen = [x, y, *given]
    block = np.linalg.inv(correlation[np.ix_(chosen, chosen)])
    return float(-block[0, 1] / np.sqrt(block[0, 0] * block[1, 1]))


def _sets_of_dag(dag: Adjacency, linked: Mask) -> Mask:
    """For each pair without an edge, the parents of whichever is no cause of the other."""
    n = len(dag)
    sets = np.zeros((n, n, n), bool)
    causes = ancestor_matrix(dag)
    for x, y in combinations(range(n), 2):
        if not linked[x, y]:
            later = x if causes[y, x] else y
            sets[x, y] = sets[y, x] = dag[:, later] != 0
    return sets


def _colliders(linked: Mask, sets: Mask) -> Adjacency:
    """Circles, and arrowheads at z from x and y without an edge, if z does not separate them."""
    marks = np.where(linked, CIRCLE, 0).astype(np.int8)
    for x, y in np.argwhere(np.triu(~linked, 1)).tolist():
        for z in np.flatnonzero(linked[x] & linked[y] & ~sets[x, y]):
            marks[x, z] = marks[y, z] = HEAD
    return marks


def possible_separators(marks: Adjacency, x: int) -> set[int]:
    """Possible-d-sep: ends of paths from x whose inner vertices are colliders or in triangles."""
    seen: set[tuple[int, int]] = set()
    stack = [(x, int(v)) for v in np.flatnonzero(marks[x])]
    while stack:
        u, v = stack.pop()
        if (u, v) in seen:
            continue
        seen.add((u, v))
        for w in np.flatnonzero(marks[v]).tolist():
            collides = marks[u, v] == HEAD and marks[w, v] == HEAD
            if w not in (u, x) and (marks[u, w] or collides):
                stack.append((v, w))
    return {v for _, v in seen}
