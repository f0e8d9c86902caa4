"""Random linear models with hidden common causes, and their exact moments."""

import numpy as np

import qwo
from qwo.graph.pag import mag_of_dag, pag_of_mag


def random_model(seed, n, hidden, degree=2.0):
    """DAG on n measured variables and hidden roots behind them, coefficients, covariance."""
    rng = np.random.default_rng(seed)
    size = n + hidden
    dag = np.zeros((size, size), np.int8)
    order = rng.permutation(n)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < degree / max(n - 1, 1), 1)
    for h in range(n, size):
        dag[h, rng.choice(n, size=rng.integers(2, min(n, 4) + 1), replace=False)] = 1
    slopes = dag * rng.uniform(0.4, 1.0, dag.shape) * rng.choice([-1, 1], dag.shape)
    total = np.linalg.inv(np.eye(size) - slopes)
    covariance = total.T @ np.diag(rng.uniform(1, 3, size)) @ total
    return dag, total, covariance[:n, :n]


def true_pag(dag, n, knowledge=None):
    return pag_of_mag(mag_of_dag(dag, range(n, len(dag)))[0], knowledge)


def exact(covariance):
    return qwo.Moments.from_covariance(covariance, float("inf"))
