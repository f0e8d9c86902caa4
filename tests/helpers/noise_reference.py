"""The cost of a family by the density of its residuals, spelled out: the slow reference."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

GRID = np.linspace(-10.0, 10.0, 512)
"""For fewer than 4000 rows."""
STEP = GRID[1] - GRID[0]


def tail(z: np.ndarray | float) -> np.ndarray | float:
    """A little of a t distribution with three degrees of freedom."""
    return 0.02 * (2 / (math.pi * math.sqrt(3))) / (1 + np.square(z) / 3) ** 2


def log_density(z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log density at each z: kernels of two widths on a grid, each row left out of its own."""
    at = np.clip((z + 10) / STEP, 0, len(GRID) - 1.001)
    left = at.astype(int)
    share = at - left
    mass = np.zeros(len(GRID))
    np.add.at(mass, left, weights * (1 - share))
    np.add.at(mass, left + 1, weights * share)
    total, before = weights.sum(), np.concatenate([[0], np.cumsum(mass)[:-1]])
    low = np.flatnonzero(before < 0.25 * total).max()
    high = np.flatnonzero(before < 0.75 * total).max()
    silverman = 0.9 * min(1.0, max(high - low, 1) * STEP / 1.349) * total**-0.2
    used = np.flatnonzero(mass)
    best, likeliest = np.empty(0), -math.inf
    for width in (1.0, 0.5):
        h = max(width * silverman, 2 * STEP)
        reach = int(4 * h / STEP)
        apart = np.abs(np.arange(len(GRID))[:, None] - np.arange(len(GRID)))
        kernel = np.where(apart <= reach, np.exp(-0.5 * (apart * STEP / h) ** 2), 0.0)
        f = np.maximum(kernel @ mass - 1, 0) * 0.98 / ((total - 1) * h * math.sqrt(2 * math.pi))
        logs = np.zeros(len(GRID))
        inside = slice(used[0], used[-1] + 1)
        logs[inside] = np.log(f + tail(GRID))[inside]
        if mass @ logs > likeliest:
            best, likeliest = logs, float(mass @ logs)
    found = (1 - share) * best[left] + share * best[left + 1]
    return np.where(np.abs(z) < 10 - STEP, found, np.log(tail(z)))


def log_square(z: np.ndarray) -> np.ndarray:
    """log z², straight between the points of the grid."""
    return np.interp(z, GRID, np.log(np.maximum(GRID**2, 1e-4)))


def noise_cost(
    columns: np.ndarray, weights: np.ndarray, starts: list[int], price: float, family: tuple
) -> float:
    """What a variable costs with some parents; columns are those of all variables, each a row."""
    child, parents = family
    ends = [*starts[1:], len(columns)]
    given = [c for p in parents for c in range(starts[p], ends[p])]
    total = weights.sum()
    residuals = columns[starts[child]]
    if given:
        gram = (columns[given] * weights) @ columns[given].T / total + 1e-9 * np.eye(len(given))
        cross = (columns[given] * weights) @ residuals / total
        residuals = residuals - np.linalg.solve(gram, cross) @ columns[given]
    scale = math.sqrt(weights @ residuals**2 / total)
    z = residuals / scale
    value = 2 * total * math.log(scale) - 2 * weights @ log_density(z, weights)
    if parents:
        firsts = columns[[starts[p] for p in parents]]
        gram = (firsts * weights) @ firsts.T / total + 1e-9 * np.eye(len(parents))
        cross = (firsts * weights) @ log_square(z) / total
        slopes = np.linalg.solve(gram, cross)
        if 0.5 * total * (slopes @ cross) >= price * len(parents):
            spread = np.clip(slopes @ firsts, -4, 4)
            own = z * np.exp(-spread / 2)
            again = math.sqrt(weights @ own**2 / total)
            other = 2 * total * math.log(scale * again) + weights @ spread
            other += price * len(parents) - 2 * weights @ log_density(own / again, weights)
            value = min(value, other)
    return float(value + price * len(given))


def polynomials(ranks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Legendre's, with mean 0, variance 1 and no correlation, one in a row."""
    found = np.polynomial.legendre.legvander(2 * ranks - 1, 4)[:, 1:].T
    found = found - np.average(found, axis=1, weights=weights)[:, None]
    covariance = (found * weights) @ found.T / weights.sum()
    return np.linalg.solve(np.linalg.cholesky(covariance), found)


def beyond_chance(statistic: float, free: int) -> float:
    """What a statistic has more than its mean, if that is not by chance."""
    return statistic - free if statistic - free > 1.5 * math.sqrt(2 * free) else 0.0


def lack(rows: np.ndarray, weights: np.ndarray, left: list[np.ndarray], dag: np.ndarray) -> float:
    """What all families could gain if residuals depended on causes or each other.

    rows without ties; left: residuals of each variable in units of their spread.
    """
    # A row that counts twice stands twice among ranks.
    times = weights.astype(int)
    spread = np.repeat(np.arange(len(rows)), times)
    ranks = np.array([(rankdata(x[spread]) - 0.5)[np.cumsum(times) - 1] for x in rows.T])
    ranks /= weights.sum()
    own = []
    for v, residuals in enumerate(left):
        z = np.array(residuals)
        for u in np.flatnonzero(dag[:, v]):
            classes = [ranks[u] * 12 // 1 == k for k in range(12)]
            means = [np.average(z[k], weights=weights[k]) for k in classes]
            squares = sum(weights[k].sum() * m**2 for k, m in zip(classes, means, strict=True))
            if beyond_chance(squares, 11):
                z = z - np.select(classes, means)
        own.append(polynomials(ndtr(z), weights))
    pairs = [(own[v], polynomials(ranks[u], weights)) for u, v in np.argwhere(dag)]
    pairs += [(own[v], own[u]) for v in range(len(own)) for u in range(v)]
    products = [(a * weights) @ b.T / math.sqrt(weights.sum()) for a, b in pairs]
    return sum(beyond_chance(float((product**2).sum()), 16) for product in products)
