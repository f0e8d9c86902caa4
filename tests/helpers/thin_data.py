"""Data of long and thin graphs: each variable depends on the few before it, columns shuffled."""

from __future__ import annotations

import numpy as np

from qwo.moments import Moments
from qwo.types import Adjacency


def band_data(
    n: int, width: int, seed: int, *, n_samples: int = 1000, low: float = 0.3, high: float = 1.0
) -> tuple[Moments, Adjacency]:
    """Moments and true graph of a path (width 1) or a band; every cause has variance 1."""
    rng = np.random.default_rng(seed)
    data = np.zeros((n_samples, n))
    dag = np.zeros((n, n), dtype=np.int8)
    for v in range(n):
        parents = np.arange(max(0, v - width), v)
        effects = rng.uniform(low, high, parents.size) * rng.choice([-1, 1], parents.size)
        drawn = data[:, parents] @ effects + rng.normal(size=n_samples)
        data[:, v] = (drawn - drawn.mean()) / drawn.std()
        dag[parents, v] = 1
    shuffled = rng.permutation(n)
    return Moments.from_data(data[:, shuffled]), dag[np.ix_(shuffled, shuffled)]
