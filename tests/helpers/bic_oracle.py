"""The exact BIC by plain least squares, to hold the engine against."""

from __future__ import annotations

import math

import numpy as np

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.simulation import simulate

TOLERANCE = 1e-6
"""On costs of size N·n; one edge costs about 15."""


def sample(seed: int, n: int, n_samples: int, degree: float) -> Moments:
    drawn = simulate(
        "er", n_variables=n, n_samples=n_samples, degree=degree, standardize=True, random_state=seed
    )
    return Moments.from_data(drawn.data)


def agree_with_slow(fast: BicEngine, slow: LocalScoreEngine) -> None:
    """Both are greedy; the fast one goes on growing after it has dropped a parent."""
    assert fast.cost <= slow.cost + TOLERANCE
    if fast.cost > slow.cost - TOLERANCE:
        assert np.array_equal(fast.dag(), slow.dag())


def local_cost(engine: BicEngine, child: int, parents: list[int]) -> float:
    """N log σ² + penalty·k by a plain least-squares fit."""
    s = engine.moments.correlation
    variance = s[child, child]
    if parents:
        cross = s[parents, child]
        variance -= cross @ np.linalg.solve(s[np.ix_(parents, parents)], cross)
    return engine.n_samples * math.log(variance) + engine.penalty * len(parents)
