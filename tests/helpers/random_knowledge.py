"""Random background knowledge that some order allows."""

from __future__ import annotations

import numpy as np

from qwo.graph import Knowledge, ResolvedKnowledge


def random_knowledge(rng: np.random.Generator, n: int) -> ResolvedKnowledge:
    """Tiers for some variables, and required and forbidden edges that agree with a hidden order."""
    hidden = rng.permutation(n).tolist()
    in_tiers = [v for v in hidden if rng.random() < 0.5]
    cut = int(rng.integers(0, len(in_tiers) + 1))
    pairs = [(hidden[i], hidden[j]) for i in range(n) for j in range(i + 1, n)]
    within = bool(rng.random() < 0.3)
    tier_of = {v: v in in_tiers[:cut] for v in in_tiers}
    required = [
        (i, j)
        for i, j in pairs
        if rng.random() < 1 / n and not (within and tier_of.get(i, 2) == tier_of.get(j, 3))
    ]
    forbidden = [edge for edge in pairs if edge not in required and rng.random() < 0.2]
    return Knowledge(
        tiers=[in_tiers[:cut], in_tiers[cut:]],
        required=required,
        forbidden=forbidden,
        forbidden_within_tiers=within,
    ).resolve([f"X{v}" for v in range(n)])
