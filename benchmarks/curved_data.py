"""Random additive models with curves, lines and noise of several shapes; numpy alone.

Random graphs of mean degree 3; every variable is standardised as it is made; an edge is w f(x) with
f of unit variance and w from 0.5 to 1; noise has 0.5 to 1 standard deviations.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

KINDS = ("linear", "half linear", "random", "sine", "square", "network")
OTHER_KINDS = ("saturating", "steps", "products", "bent", "multiplied", "counts")
"""Kinds that nothing was chosen on. Additive are the first two, curves that level off or jump; then
products of two causes beside lines, lines seen through a bent scale, lines whose noise multiplies,
and lines of which half of the variables are rounded to few values."""
NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "gauss": lambda rng, n: rng.standard_normal(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "t5": lambda rng, n: rng.standard_t(5, size=n),
    "spread": lambda rng, n: rng.standard_normal(n),
}


def unit(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / max(float(x.std()), 1e-9)


def _curve(x: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "half linear":
        kind = "linear" if rng.random() < 0.5 else "random"
    if kind in ("linear", "products", "bent", "multiplied", "counts"):
        return x * rng.choice([-1, 1])
    if kind in ("saturating", "steps"):
        steps = (x[:, None] > rng.normal(size=2)) @ rng.choice([-1.0, 1.0, 2.0], 2)
        rising = 1 / (1 + np.exp(-rng.uniform(1.5, 4) * (x - rng.uniform(-1, 1))))
        return unit(steps if kind == "steps" else rising) * rng.choice([-1, 1])
    if kind == "square":
        bend = rng.choice([-1, 1]) * rng.uniform(0.3, 1)
        return unit(rng.choice([-1, 1]) * x + bend * (x**2 - 1))
    if kind == "sine":
        if rng.random() < 0.5:
            return unit(np.tanh(rng.uniform(1, 3) * x + rng.normal()))
        return unit(np.sin(rng.uniform(1, 2.5) * x + rng.uniform(0, 2 * np.pi)))
    waves, shifts = rng.standard_normal(100), rng.uniform(0, 2 * np.pi, 100)
    return unit(np.cos(np.outer(x, waves) + shifts) @ rng.standard_normal(100))


def _seen(own: np.ndarray, causes: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """What is made of the sum of effects and noise."""
    if kind == "products" and causes.shape[1] > 1:
        return own + rng.uniform(0.5, 1.0) * causes[:, 0] * causes[:, 1]
    if kind == "bent":
        return np.sign(own) * np.abs(own) ** 1.5 if rng.random() < 0.5 else np.exp(0.5 * own)
    if kind == "multiplied":
        return own * np.exp(0.4 * rng.normal(size=len(own)))
    if kind == "counts" and rng.random() < 0.5:
        return np.round(own * rng.choice([0.7, 1.5]))
    return own


def data_set(kind: str, noise: str, n: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the DAG behind them; with noise "spread" it grows with the first cause."""
    rng = np.random.default_rng([zlib.crc32(f"{kind} {noise}".encode()), n, rows, seed])
    order = rng.permutation(n)
    dag = np.zeros((n, n), np.int8)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < min(1.0, 3 / (n - 1)), 1)
    x = np.empty((rows, n))
    for v in order:
        parents = np.flatnonzero(dag[:, v])
        own = rng.uniform(0.5, 1.0) * unit(NOISES[noise](rng, rows))
        if noise == "spread" and len(parents):
            own = own * np.exp(0.4 * x[:, parents[0]])
        if kind == "network" and len(parents):
            weights = rng.normal(size=(len(parents), 50)) * 1.5
            joint = np.tanh(x[:, parents] @ weights + rng.normal(size=50)) @ rng.normal(size=50)
            own = own + 0.8 * np.sqrt(len(parents)) * unit(joint)
        else:
            for u in parents:
                own = own + rng.uniform(0.5, 1.0) * _curve(x[:, u], kind, rng)
        x[:, v] = unit(_seen(own, x[:, parents], kind, rng))
    return x, dag


def distances(found: np.ndarray, dag: np.ndarray) -> dict[str, int]:
    """How far a graph with open edges is from a DAG."""
    there, true = (found != 0) | (found.T != 0), (dag != 0) | (dag.T != 0)
    upper = np.triu(np.ones_like(true), 1)
    arrows = (found == 1) & (found.T == 0)
    right, wrong = int((arrows & (dag == 1)).sum()), int((arrows & (dag.T == 1)).sum())
    missed, extra = int((true & ~there & upper).sum()), int((there & ~true & upper).sum())
    open_ = int((there & true & upper).sum()) - right - wrong
    shd = missed + extra + wrong + open_
    return {"shd": shd, "missed": missed, "extra": extra, "reversed": wrong, "open": open_}
