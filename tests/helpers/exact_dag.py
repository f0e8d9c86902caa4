"""The least cost of all DAGs that are allowed, by dynamic programming over sets, spelled out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.types import FloatArray

LocalCost = Callable[[int, tuple[int, ...]], float]


def subsets(items: Iterable[int], most: int) -> Iterable[tuple[int, ...]]:
    chosen = list(items)
    return (s for k in range(min(most, len(chosen)) + 1) for s in combinations(chosen, k))


def gaussian_cost(moments: Moments, penalty: float, sizes: list[int] | None = None) -> LocalCost:
    """N log det of the residual covariance, and a price for each parameter."""
    s = moments.correlation
    sizes = [1] * len(s) if sizes is None else sizes
    ends = np.cumsum(sizes)
    columns = [list(range(end - k, end)) for k, end in zip(sizes, ends.tolist(), strict=True)]

    def cost(v: int, parents: tuple[int, ...]) -> float:
        own, others = columns[v], [c for p in parents for c in columns[p]]
        left: FloatArray = s[np.ix_(own, own)]
        if others:
            cross = s[np.ix_(others, own)]
            left = left - cross.T @ np.linalg.solve(s[np.ix_(others, others)], cross)
        price = penalty * len(own) * len(others)
        return float(moments.n_samples * np.linalg.slogdet(left)[1] + price)

    return cost


def least_cost(
    n: int, local: LocalCost, knowledge: ResolvedKnowledge | None = None, most: int | None = None
) -> float:
    """Σ of local costs over the best DAG: the last of a set has its best parents among the rest."""
    most = n - 1 if most is None else most
    family: dict[tuple[int, frozenset[int]], float] = {}
    for v in range(n):
        others = [u for u in range(n) if u != v]
        must: set[int] = set()
        if knowledge is not None:
            others = [u for u in others if knowledge.allowed_parents[u, v]]
            must = set(np.flatnonzero(knowledge.required[:, v]).tolist())
        for parents in subsets(others, max(most, len(must))):
            if must <= set(parents):
                family[v, frozenset(parents)] = local(v, parents)
    best = {frozenset[int](): 0.0}
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            whole = frozenset(chosen)
            best[whole] = min(_last(v, whole - {v}, best, family, knowledge) for v in chosen)
    return best[frozenset(range(n))]


def _last(
    v: int,
    rest: frozenset[int],
    best: dict[frozenset[int], float],
    family: dict[tuple[int, frozenset[int]], float],
    knowledge: ResolvedKnowledge | None,
) -> float:
    if knowledge is not None and any(
        u not in rest for u in np.flatnonzero(knowledge.before[:, v]).tolist()
    ):
        return math.inf
    own = min(
        (cost for (u, parents), cost in family.items() if u == v and parents <= rest),
        default=math.inf,
    )
    return best[rest] + own
