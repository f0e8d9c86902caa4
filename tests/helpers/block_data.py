"""Tables with nominal variables as whitened blocks of columns, and their costs by definition."""

from __future__ import annotations

import itertools

import numpy as np

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.types import FloatArray, Indices

FLOOR = 1e-12


def whitened(raw: FloatArray, sizes: list[int]) -> FloatArray:
    """Columns with unit covariance within each block, whose columns must be independent."""
    parts = []
    for block in np.split(raw, np.cumsum(sizes)[:-1], axis=1):
        centred = block - block.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred / len(raw))
        parts.append(centred @ vectors / np.sqrt(values))
    return np.concatenate(parts, axis=1)


def moments_of(columns: FloatArray) -> Moments:
    """Moments of whitened columns, with 1 and 0 where they belong."""
    matrix = columns.T @ columns / len(columns)
    names = tuple(f"c{i}" for i in range(len(matrix)))
    np.fill_diagonal(matrix, 1.0)
    ones = np.ones(len(matrix))
    return Moments(names, float(len(columns)), 0 * ones, ones, matrix)


def indicators(codes: Indices) -> FloatArray:
    return (codes[:, None] == np.unique(codes)[1:]).astype(float)


def mixed(
    seed: int, levels: list[int], n_rows: int = 400, chance: float = 0.45
) -> tuple[Moments, list[int]]:
    """A random table: a variable with 0 levels is continuous, others are drawn from a softmax."""
    rng = np.random.default_rng(seed)
    blocks: list[FloatArray] = []
    for v, count in enumerate(levels):
        causes = [blocks[u] for u in range(v) if rng.random() < chance]
        width = max(count, 1)
        mean = sum((c @ rng.normal(0, 1.0, (c.shape[1], width)) for c in causes), 0.0)
        noisy = mean + (rng.gumbel if count else rng.normal)(size=(n_rows, width))
        blocks.append(indicators(noisy.argmax(axis=1)) if count else noisy)
    sizes = [block.shape[1] for block in blocks]
    return moments_of(whitened(np.concatenate(blocks, axis=1), sizes)), sizes


def nested(seed: int, n_rows: int = 300) -> tuple[Moments, list[int]]:
    """City within country, the country with its levels renamed and shuffled, and two more."""
    rng = np.random.default_rng(seed)
    city = rng.integers(6, size=n_rows)
    country, again = city // 2, np.array([2, 0, 1])[city // 2]
    noise = rng.standard_normal(n_rows) + 0.5 * (city == 1)
    shade = rng.integers(2, size=n_rows) | (noise > 1)
    blocks = [indicators(city), indicators(country), indicators(again), noise[:, None]]
    blocks.append(indicators(shade))
    sizes = [block.shape[1] for block in blocks]
    return moments_of(whitened(np.concatenate(blocks, axis=1), sizes)), sizes


def log_det_given(matrix: FloatArray, sizes: list[int], child: int, parents: list[int]) -> float:
    """log det of the residual covariance of a regression by pseudo-inverse, floored."""
    columns = np.split(np.arange(len(matrix)), np.cumsum(sizes)[:-1])
    own = columns[child]
    left = matrix[np.ix_(own, own)]
    if parents:
        given = np.concatenate([columns[p] for p in parents])
        values, vectors = np.linalg.eigh(matrix[np.ix_(given, given)])
        kept = vectors[:, values > 1e-11] / np.sqrt(values[values > 1e-11])
        shares = kept.T @ matrix[np.ix_(given, own)]
        left = left - shares.T @ shares
    return float(np.log(np.maximum(np.linalg.eigvalsh(left), FLOOR)).sum())


def block_cost(engine: BicEngine, sizes: list[int], child: int, parents: list[int]) -> float:
    """The cost of a family by definition."""
    parameters = sizes[child] * sum(sizes[p] for p in parents)
    gamma = getattr(engine.score, "gamma", 0.0)
    price = getattr(engine.score, "penalty_discount", 2.0) * np.log(
        engine.n_samples
    ) * parameters + 2 * gamma * np.log(len(sizes)) * len(parents)
    fit = log_det_given(engine.moments.correlation, sizes, child, parents)
    return float(engine.n_samples * fit + price)


def least_cost(engine: BicEngine, sizes: list[int]) -> float:
    """The cost of the best DAG, by dynamic programming over sets of variables."""
    n = len(sizes)
    best: list[dict[frozenset[int], float]] = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        own: dict[frozenset[int], float] = {}
        for count in range(n):
            for chosen in itertools.combinations(others, count):
                subset = frozenset(chosen)
                smaller = [own[subset - {u}] for u in chosen]
                own[subset] = min([block_cost(engine, sizes, v, list(chosen)), *smaller])
        best.append(own)
    cost = {frozenset[int](): 0.0}
    for count in range(1, n + 1):
        for chosen in itertools.combinations(range(n), count):
            subset = frozenset(chosen)
            cost[subset] = min(cost[subset - {v}] + best[v][subset - {v}] for v in chosen)
    return cost[frozenset(range(n))]
