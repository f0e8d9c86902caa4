"""Random additive models whose edges are curves or lines, with noise of several shapes."""

from __future__ import annotations

import numpy as np

NOISES = {
    "gauss": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t5": lambda rng, n: rng.standard_t(5, size=n),
}


def standardised(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def curve(x: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """A function of unit variance: a line, or a random smooth one."""
    if kind == "mixed":
        kind = "linear" if rng.random() < 0.5 else "smooth"
    if kind == "linear":
        return x * rng.choice([-1, 1])
    waves, shifts = rng.standard_normal(100), rng.uniform(0, 2 * np.pi, 100)
    return standardised(np.cos(np.outer(x, waves) + shifts) @ rng.standard_normal(100))


def additive_data(
    kind: str, n: int, n_rows: int, seed: int, *, noise: str = "gauss", degree: float = 3.0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the DAG behind them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    dag = np.zeros((n, n), np.int8)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < degree / (n - 1), 1)
    rows = np.empty((n_rows, n))
    for v in order:
        x = rng.uniform(0.5, 1.0) * standardised(NOISES[noise](rng, n_rows))
        for u in np.flatnonzero(dag[:, v]):
            x = x + rng.uniform(0.5, 1.0) * curve(rows[:, u], kind, rng)
        rows[:, v] = standardised(x)
    return rows, dag
