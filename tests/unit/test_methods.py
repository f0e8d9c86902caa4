"""The paper's methods by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

import qwo
from qwo.order.qwo import QwoEngine
from qwo.reproduction.methods import Problem, run_method
from qwo.search import grasp, hill_climbing, start_order

METHODS = {
    "qwo-grasp": ("grasp0/qwo", {"search": "grasp", "version": 0, "depth": 3}),
    "qwo-hc": ("hc/qwo", {"search": "hill-climbing", "reach": 5, "objective": "edges"}),
}


def problem(seed: int, n: int = 15) -> Problem:
    data, dag, _ = qwo.simulate("er", n_variables=n, n_samples=400, degree=3, random_state=seed)
    return Problem(data=data, moments=qwo.Moments.from_data(data), truth=dag)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_a_method_is_its_explicit_options_and_that_of_the_experiments(
    method: str, seed: int
) -> None:
    drawn = problem(seed)
    named, options = METHODS[method]
    n = drawn.moments.n_variables
    found = qwo.discover(drawn.moments, method=method, random_state=seed)
    explicit = qwo.discover(
        drawn.moments,
        engine="qwo",
        alpha=2 / n**2,
        start="markov-boundary",
        random_state=seed,
        **options,
    )
    run = run_method(named, drawn, seed, math.inf)
    assert np.array_equal(found.dag, explicit.dag)
    assert np.array_equal(found.order, explicit.order)
    assert np.array_equal(found.dag, run.graph)
    assert found.params["method"] == method
    assert found.params["alpha"] == 2 / n**2
    assert found.params["objective"] == "edges"


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_the_search_on_edge_counts_of_the_factor(method: str) -> None:
    drawn = problem(9)
    order = start_order("markov-boundary", drawn.moments.correlation, 400.0)
    engine = QwoEngine(drawn.moments, alpha=2 / 15**2, objective="edges", order=order)
    if method == "qwo-grasp":
        grasp(engine, version=0, depth=3, random_state=9)
    else:
        hill_climbing(engine, distance=5, random_state=9)
    found = qwo.discover(drawn.moments, method=method, random_state=9)
    assert np.array_equal(found.dag, engine.dag())
    assert found.n_edges == engine.cost


def test_version_and_depth_reach_grasp() -> None:
    drawn = problem(3, n=30)
    wide = [
        qwo.discover(drawn.moments, search="grasp", version=v, depth=d, random_state=0)
        for v, d in ((0, 1), (2, 3), (2, math.inf))
    ]
    assert len({found.order.tobytes() for found in wide}) > 1
    assert [found.params["depth"] for found in wide] == [1, 3, math.inf]


def test_reach_reaches_hill_climbing() -> None:
    drawn = problem(3, n=30)
    orders = {
        qwo.discover(drawn.moments, search="hill-climbing", reach=k, random_state=0).order.tobytes()
        for k in (1, 5, 29)
    }
    assert len(orders) == 3


def test_a_bootstrap_of_a_method_uses_it_throughout() -> None:
    drawn = problem(1)
    named = qwo.bootstrap(drawn.data, method="qwo-grasp", n_resamples=6, random_state=1)
    explicit = qwo.bootstrap(
        drawn.data,
        search="grasp",
        version=0,
        depth=3,
        engine="qwo",
        objective="edges",
        alpha=2 / 15**2,
        start="markov-boundary",
        restarts=0,
        n_resamples=6,
        random_state=1,
    )
    assert np.array_equal(named.directed_counts, explicit.directed_counts)
    assert named.fingerprint == explicit.fingerprint
