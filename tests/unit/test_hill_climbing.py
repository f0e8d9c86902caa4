"""Hill climbing: local optimality, the distance, randomness."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph import Knowledge
from qwo.search import Control, hill_climbing
from tests.helpers.plain_engine import PlainEngine
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import model_covariance, random_dag, to_correlation

TAU = 1e-16


def make_engine(seed, n=9, density=0.3):
    rng = np.random.default_rng(seed)
    correlation = to_correlation(model_covariance(rng, random_dag(rng, n, density)))
    engine = PlainEngine(correlation, TAU)
    engine.reset(rng.permutation(n))
    return engine


def costs_of_exchanges(engine, distance, allows=lambda _: True):
    n, order = engine.n_variables, engine.order
    for i in range(n):
        for j in range(i + 1, min(i + distance + 1, n)):
            exchanged = order.copy()
            exchanged[[i, j]] = order[[j, i]]
            if allows(exchanged):
                yield engine.reset(exchanged)


@pytest.mark.parametrize("distance", [1, 3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_no_exchange_within_the_distance_improves_the_result(seed, distance):
    engine = make_engine(seed)
    start = engine.cost
    outcome = hill_climbing(engine, distance=distance, random_state=seed)
    assert outcome.status == "converged"
    assert outcome.cost <= start
    assert min(costs_of_exchanges(engine, distance)) >= outcome.cost


def test_exchanges_stay_within_the_distance():
    """Two variables at the ends, everything between them independent: one exchange improves."""
    edges = np.zeros((5, 5))
    edges[[0, 4], 2] = 0.9, -0.7
    loading = np.linalg.inv(np.eye(5) - edges.T)
    correlation = to_correlation(loading @ loading.T)
    start = [2, 1, 3, 0, 4]
    near, far = PlainEngine(correlation, TAU), PlainEngine(correlation, TAU)
    assert near.reset(start) == far.reset(start) == 3
    assert hill_climbing(near, distance=3, random_state=0).cost == 3
    assert hill_climbing(far, distance=4, random_state=0).cost == 2
    assert far.order[-1] == 2


def test_the_last_pass_is_a_full_one():
    """Stopping takes one look at every pair since the last improvement, no more and no less."""
    engine = make_engine(0)
    looks = []
    hill_climbing(engine, distance=4, random_state=0)
    n_pairs = sum(min(4, 8 - i) for i in range(9))
    outcome = hill_climbing(
        engine, distance=4, control=Control(callback=looks.append), random_state=1
    )
    assert outcome.n_moves == 0
    assert outcome.n_evaluations == n_pairs
    assert outcome.trace[0][1] == outcome.cost


def test_the_first_improvement_is_random():
    found = {tuple(hill_climbing(make_engine(3), random_state=seed).order) for seed in range(6)}
    again = [tuple(hill_climbing(make_engine(3), random_state=5).order) for _ in range(2)]
    assert len(found) > 1
    assert again[0] == again[1]


@pytest.mark.parametrize("seed", range(5))
def test_with_knowledge_it_converges_among_the_allowed_orders(seed):
    engine = make_engine(seed)
    knowledge = random_knowledge(np.random.default_rng(seed), 9)
    engine.reset(knowledge.topological_start(engine.order))
    outcome = hill_climbing(engine, knowledge=knowledge, random_state=seed)
    assert knowledge.allows_order(outcome.order)
    others = list(costs_of_exchanges(engine, 5, knowledge.allows_order))
    assert min(others, default=np.inf) >= outcome.cost


def test_bad_arguments_are_refused():
    with pytest.raises(ArgumentError, match="distance is 0; wanted a whole number from 1 up"):
        hill_climbing(make_engine(0), distance=0)
    engine = make_engine(0, n=3)
    engine.reset([2, 1, 0])
    knowledge = Knowledge(tiers=[[0], [1, 2]]).resolve("abc")
    with pytest.raises(KnowledgeError, match="topological_start"):
        hill_climbing(engine, knowledge=knowledge)
