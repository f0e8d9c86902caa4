"""Models with known coefficients and rows of them: those of the prior, and with strong edges only.

A model of the prior has a DAG with probability proportional to κ^edges, κ = 1/(2(n - 1)), and
coefficients and variances of BGe with T = tI. The other is a random graph of average degree 3 whose
coefficients are at least 0.5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import qwo
from qwo.graph.dag import topological_order
from qwo.types import Adjacency, FloatArray, Mask

PRIOR_T = 0.1
Sample = tuple[FloatArray, FloatArray]


def prior_dag(n: int, rng: np.random.Generator) -> Adjacency:
    """A DAG with probability proportional to κ^edges, by adding and dropping single edges."""
    odds = 1 / (2 * (n - 1))
    dag = np.zeros((n, n), dtype=np.int8)
    for _ in range(40 * n * n):
        i, j = rng.integers(n, size=2)
        if dag[i, j]:
            dag[i, j] = 0
        elif i != j and not dag[j, i] and rng.random() < odds and not reaches(dag, j, i):
            dag[i, j] = 1
    return dag


def reaches(dag: Adjacency, start: int, end: int) -> bool:
    stack, seen = [start], {start}
    while stack:
        v = stack.pop()
        if v == end:
            return True
        fresh = set(np.flatnonzero(dag[v]).tolist()) - seen
        seen |= fresh
        stack += fresh
    return False


def prior_sample(n: int, n_samples: int, rng: np.random.Generator) -> Sample:
    """Rows of a model with a DAG of the prior and coefficients of BGe with T = tI, and those."""
    dag = prior_dag(n, rng)
    rows, coefficients = np.zeros((n_samples, n)), np.zeros((n, n))
    for v in topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        variance = PRIOR_T / 2 / rng.gamma((len(parents) + 3) / 2)
        coefficients[parents, v] = rng.normal(size=len(parents)) * np.sqrt(variance / PRIOR_T)
        noise = np.sqrt(variance) * rng.normal(size=n_samples)
        rows[:, v] = rows @ coefficients[:, v] + noise
    return rows, coefficients


def er_sample(n: int, n_samples: int, rng: np.random.Generator) -> Sample:
    data, _, coefficients = qwo.simulate(
        "er",
        n_variables=n,
        n_samples=n_samples,
        degree=3,
        standardize=True,
        random_state=int(rng.integers(2**31)),
    )
    return data, coefficients


MODELS: dict[str, Callable[[int, int, np.random.Generator], Sample]] = {
    "prior": prior_sample,
    "er": er_sample,
}


def paths(dag: Mask) -> Mask:
    """Where a directed path leads."""
    closure = dag.copy()
    for _ in range(int(np.ceil(np.log2(len(dag))))):
        closure |= (closure.astype(np.float32) @ closure.astype(np.float32)) > 0
    return closure


def total(coefficients: FloatArray) -> FloatArray:
    """Total effects (I - B)⁻¹, exactly zero where there is no path."""
    effects = np.linalg.inv(np.eye(len(coefficients)) - coefficients)
    return np.where(paths(coefficients != 0), effects, 0.0)
