"""BDeu of raw numbers in closed form, where every value is a category of its own.

Let all N values of every variable differ, and α be the equivalent sample size. Without parents a
variable has one configuration with N counts of 1, and the score of causal-learn is

    log Γ(α) - log Γ(α + N) + N log(α / N),

about -2 N log N. With any parents at all, every row is a configuration of its own, with one count:

    N (log(α / (q N)) - log(α / q)) = -N log N,

whatever the parents and however many there are. So a first parent gains N log N, a second one
nothing, and the prior on structures, which favours few parents, leaves exactly one. Which one the
data do not say: the scores of all predecessors are equal. Every graph that is found is a tree with
n - 1 edges, and if t of the e true edges are among them,

    SKF1 = 2 t / (n - 1 + e).
"""

from __future__ import annotations

import statistics
from functools import cache

import numpy as np

from qwo.datasets import load_network
from qwo.graph import pshd

TREES = 200
"""How many random trees the mean PSHD is over."""


def true_edges_found(skf1: float, n: int, e: int) -> int:
    """The t that an SKF1 of a tree with n - 1 edges belongs to, next to it."""
    return round(skf1 * (n - 1 + e) / 2)


@cache
def raw_bdeu(graph: str, metric: str) -> str | None:
    """What BDeu of raw values gives on average on a network: a tree with parents at random.

    Each pair of variables is an edge with probability 2/n, so that e·2/n of the e true edges are
    among its n - 1, and SKF1 = 2t / (n - 1 + e) is 4e / (n(n - 1 + e)) on average.
    """
    if graph == "ER2":
        return None
    truth = load_network(graph.lower()).dag
    n, e = len(truth), int(truth.sum())
    if metric == "SKF1":
        return f"{4 * e / (n * (n - 1 + e)):.2f} by formula"
    rng = np.random.default_rng(0)
    distances = []
    for _ in range(TREES):
        tree, order = np.zeros_like(truth), rng.permutation(n)
        for k in range(1, n):
            tree[order[rng.integers(k)], order[k]] = 1
        distances.append(pshd(tree, truth))
    return f"{statistics.fmean(distances):.2f} by {TREES} random trees"
