"""Random graphs, covariances and orders for the tests, all from one generator."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Graph = npt.NDArray[np.int8]
Matrix = npt.NDArray[np.float64]


def random_dag(rng: np.random.Generator, n: int, density: float = 0.5) -> Graph:
    """A DAG with each edge present with the given probability, in a random causal order."""
    ordered = np.triu(rng.random((n, n)) < density, 1)
    order = rng.permutation(n)
    return ordered[np.ix_(order, order)].astype(np.int8)


def random_covariance(rng: np.random.Generator, n: int) -> Matrix:
    """A dense, well conditioned covariance matrix."""
    factor = rng.standard_normal((n, 2 * n))
    return factor @ factor.T / (2 * n) + 0.1 * np.eye(n)


def model_covariance(rng: np.random.Generator, dag: Graph) -> Matrix:
    """The exact covariance of a linear model on a DAG: weights ±[0.5, 1.5], variances [1, 2]."""
    n = len(dag)
    weights = dag * rng.uniform(0.5, 1.5, (n, n)) * rng.choice([-1.0, 1.0], (n, n))
    mixing = np.linalg.inv(np.eye(n) - weights.T)
    return mixing @ np.diag(rng.uniform(1, 2, n)) @ mixing.T


def to_correlation(covariance: Matrix) -> Matrix:
    """The correlation matrix of a covariance matrix."""
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale)
