"""Posteriors over DAGs and orders without sampling: by enumeration and by sums over subsets."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from qwo.bayes.scores import FamilyScore
from qwo.types import Adjacency, FloatArray, Mask


def all_dags(n: int) -> Adjacency:
    """Every DAG on n variables, one matrix after the other."""
    pairs = list(combinations(range(n), 2))
    marks = np.array(list(product((0, 1, 2), repeat=len(pairs))))
    graphs = np.zeros((len(marks), n, n), dtype=np.int8)
    for k, (i, j) in enumerate(pairs):
        graphs[:, i, j] = marks[:, k] == 1
        graphs[:, j, i] = marks[:, k] == 2
    return graphs[~closures(graphs)[:, range(n), range(n)].any(axis=1)]


def closures(graphs: Adjacency) -> Mask:
    """For each graph, who reaches whom by a directed path."""
    reached = graphs.astype(np.float32)
    for _ in range(graphs.shape[1]):
        reached = np.minimum(reached + reached @ graphs, 1)
    return reached > 0


def family_scores(score: FamilyScore) -> FloatArray:
    """Entry (v, S): the log score of v with the parents whose bits are set in S; -inf with v."""
    n = score.n_variables
    table = np.full((n, 1 << n), -np.inf)
    for v in range(n):
        for S in range(1 << n):
            if not S >> v & 1:
                P = [u for u in range(n) if S >> u & 1]
                logs = 2 * np.log(
                    np.diag(np.linalg.cholesky(score.matrix[np.ix_([*P, v], [*P, v])]))
                )
                table[v, S] = score.constants[len(P)] - score.exponents[len(P)] * logs[-1]
                table[v, S] -= score.determinant * logs[:-1].sum()
    return table


def dag_weights(score: FamilyScore, dags: Adjacency) -> FloatArray:
    """The probability of each DAG."""
    table = family_scores(score)
    codes = np.einsum("i,dij->dj", 1 << np.arange(score.n_variables), dags)
    logs = table[np.arange(score.n_variables), codes].sum(axis=1)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _subset_sums(values: FloatArray) -> FloatArray:
    """Sums over subsets along the last axis."""
    sums = values.copy()
    size = sums.shape[-1]
    for b in range(size.bit_length() - 1):
        with_bit = np.flatnonzero(np.arange(size) >> b & 1)
        sums[..., with_bit] += sums[..., with_bit ^ (1 << b)]
    return sums


def edges_by_sinks(score: FamilyScore) -> FloatArray:
    """P(i → j) over all DAGs, by inclusion and exclusion of sinks (Tian and He 2009), O(3ⁿ)."""
    n = score.n_variables
    table = family_scores(score)
    raw = np.exp(table - table.max(axis=1, keepdims=True)).astype(np.longdouble)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    # Problem 0 has all sets of parents; the others only those with one edge.
    problems = np.repeat(raw[None], len(pairs) + 1, axis=0)
    for k, (i, j) in enumerate(pairs, start=1):
        problems[k, j, np.flatnonzero(~(np.arange(1 << n) >> i) & 1)] = 0
    sums = _subset_sums(problems)
    total = np.zeros((len(problems), 1 << n), dtype=np.longdouble)
    total[:, 0] = 1
    for S in range(1, 1 << n):
        T = S
        while T:
            term = total[:, S ^ T] * (1 if T.bit_count() & 1 else -1)
            for v in range(n):
                if T >> v & 1:
                    term = term * sums[:, v, S ^ T]
            total[:, S] += term
            T = (T - 1) & S
    edges = np.zeros((n, n))
    for k, (i, j) in enumerate(pairs, start=1):
        edges[i, j] = total[k, -1] / total[0, -1]
    return edges


def edges_by_orders(score: FamilyScore) -> FloatArray:
    """P(i → j) if an order has the weight Π_v Σ_{P before v} s(v, P), by sums over prefixes."""
    n = score.n_variables
    table = family_scores(score)
    raw = np.exp((table - table.max(axis=1, keepdims=True)).astype(np.longdouble))
    Z = _subset_sums(raw)
    prefix, suffix = np.zeros((2, 1 << n), dtype=np.longdouble)
    prefix[0] = suffix[-1] = 1
    sets = list(product(range(1 << n), range(n)))
    for S, v in sets:
        if not S >> v & 1:
            prefix[S | 1 << v] += prefix[S] * Z[v, S]
    for S, v in reversed(sets):
        if not S >> v & 1:
            suffix[S] += suffix[S | 1 << v] * Z[v, S]
    edges = np.zeros((n, n), dtype=np.longdouble)
    for i in range(n):
        with_i = _subset_sums(np.where(np.arange(1 << n) >> i & 1, raw, 0))
        for S, j in sets:
            if i != j and not S >> j & 1:
                edges[i, j] += prefix[S] * with_i[j, S] * suffix[S | 1 << j]
    return (edges / prefix[-1]).astype(np.float64)
