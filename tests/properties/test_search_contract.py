"""What every search owes on every engine: its order, its cost, its seed, its limits, knowledge."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.search import Control, grasp, hill_climbing, insertion, start_order
from qwo.search.control import bic_insertion
from qwo.simulation import simulate
from tests.helpers.random_knowledge import random_knowledge

N_VARIABLES, N_SAMPLES = 7, 400

SEARCHES = {
    "hill-climbing": hill_climbing,
    "grasp": grasp,
    "grasp-paper": partial(grasp, version=0, depth=3),
    "insertion": insertion,
    "insertion-iterated": partial(insertion, perturbations=5),
    "compiled-insertion": bic_insertion,
    "compiled-insertion-chains": partial(bic_insertion, restarts=50, n_jobs=2),
}


def log_residual_variance(correlation, variable, parents):
    both = [variable, *parents]
    _, whole = np.linalg.slogdet(correlation[np.ix_(both, both)])
    _, part = np.linalg.slogdet(correlation[np.ix_(parents, parents)])
    return whole - part


def bic(correlation, variable, parents):
    """The local score whose negative sum is the cost of the exact BIC engine."""
    fit = -N_SAMPLES * log_residual_variance(correlation, variable, parents)
    return fit - 2 * np.log(N_SAMPLES) * len(parents)


def scored(moments, knowledge):
    score = partial(bic, moments.correlation)
    return LocalScoreEngine(score, moments.n_variables, knowledge=knowledge)


ENGINES = {
    "qwo-likelihood": lambda moments, _: QwoEngine(moments, objective="likelihood"),
    "qwo-edges": lambda moments, _: QwoEngine(moments, objective="edges"),
    "reference": lambda moments, _: ReferenceEngine(moments, objective="likelihood"),
    "bic": lambda moments, knowledge: BicEngine(moments, knowledge=knowledge),
    "local-score": scored,
}

COMBINATIONS = [
    (search, engine)
    for search in SEARCHES
    for engine in ENGINES
    if engine == "bic" or not search.startswith("compiled")
]


@pytest.fixture(params=COMBINATIONS, ids="-".join)
def combination(request):
    return request.param


@pytest.fixture
def search(combination):
    return SEARCHES[combination[0]]


@pytest.fixture
def engine_name(combination):
    return combination[1]


@pytest.fixture
def make_engine(engine_name):
    return ENGINES[engine_name]


def draw(seed):
    data, _, _ = simulate(n_variables=N_VARIABLES, n_samples=N_SAMPLES, degree=3, random_state=seed)
    return Moments.from_data(data)


def cost_of_state(engine_name, moments, engine):
    """The cost, from nothing but the order or the DAG that the engine is in."""
    if engine_name in ("bic", "local-score"):
        dag = engine.dag()
        return -sum(
            bic(moments.correlation, v, np.flatnonzero(dag[:, v]).tolist()) for v in range(len(dag))
        )
    return type(engine)(
        moments, objective="edges" if engine_name == "qwo-edges" else "likelihood"
    ).reset(engine.order)


@pytest.mark.parametrize("seed", range(3))
def test_the_outcome_is_the_state_of_the_engine(search, engine_name, make_engine, seed):
    moments = draw(seed)
    engine = make_engine(moments, None)
    start = engine.reset(start_order("random", moments.correlation, N_SAMPLES, random_state=seed))
    outcome = search(engine, random_state=seed)
    assert sorted(outcome.order) == list(range(N_VARIABLES))
    np.testing.assert_array_equal(outcome.order, engine.order)
    assert outcome.cost == engine.cost <= start
    assert outcome.cost == pytest.approx(cost_of_state(engine_name, moments, engine), rel=1e-9)
    assert outcome.status == "converged"
    assert outcome.trace[0][1] == start
    assert outcome.trace[-1][1] == pytest.approx(outcome.cost)
    place = np.argsort(outcome.order)
    tails, heads = np.nonzero(engine.dag())
    assert (place[tails] < place[heads]).all()


def test_no_mark_is_left(search, make_engine):
    """Otherwise an engine would remember every later change for ever."""
    engine = make_engine(draw(0), None)
    first = engine.mark()
    engine.release(first)
    search(engine, random_state=0)
    assert engine.mark() == first


def test_the_seed_decides(search, make_engine):
    moments = draw(1)
    outcomes = [search(make_engine(moments, None), random_state=7) for _ in range(2)]
    np.testing.assert_array_equal(outcomes[0].order, outcomes[1].order)
    assert outcomes[0].cost == outcomes[1].cost
    assert outcomes[0].n_evaluations == outcomes[1].n_evaluations
    assert [cost for _, cost in outcomes[0].trace] == [cost for _, cost in outcomes[1].trace]


@pytest.mark.parametrize("seed", range(4))
def test_knowledge_is_never_violated(search, engine_name, make_engine, seed):
    """At no moment that a callback sees, nor in the end; by the DAG too if the engine knows it."""
    moments = draw(seed)
    knowledge = random_knowledge(np.random.default_rng(seed), N_VARIABLES)
    engine = make_engine(moments, knowledge)
    engine.reset(
        start_order(
            "random", moments.correlation, N_SAMPLES, knowledge=knowledge, random_state=seed
        )
    )

    def watch(_):
        assert knowledge.allows_order(engine.order)

    control = Control(callback=watch)
    outcome = search(engine, knowledge=knowledge, control=control, random_state=seed)
    assert knowledge.allows_order(outcome.order)
    if engine_name in ("bic", "local-score"):
        knowledge.check_dag(engine.dag())


def test_no_time_means_no_search(search, make_engine):
    engine = make_engine(draw(2), None)
    start = engine.order
    outcome = search(engine, control=Control(time_limit=0), random_state=0)
    assert outcome.status == "time limit"
    assert outcome.n_evaluations == outcome.n_moves == 0
    np.testing.assert_array_equal(outcome.order, start)
