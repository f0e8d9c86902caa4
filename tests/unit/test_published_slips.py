"""Slips of the published implementation of the paper, one test for each: none is repeated here."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import qwo
from qwo.moments import Moments
from qwo.order.edge_test import FisherZ
from qwo.order.qwo import QwoEngine
from qwo.order.reference import order_dag_by_definition
from qwo.search import Control, grasp, hill_climbing, insertion
from qwo.simulation import random_model, simulate
from tests.helpers.plain_engine import PlainEngine
from tests.oracles.random_models import model_covariance, random_dag, to_correlation


@cache
def parsed_sources():
    paths = sorted(Path(qwo.__file__).parent.rglob("*.py"))
    return [(path.name, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def test_equal_moves_are_followed():
    """There, the branch for tucks that leave the number of edges equal was never reached.

    Where no single covered tuck improves the order any more, a sequence whose first tucks leave the
    number of edges equal often does.
    """
    rng = np.random.default_rng(3)
    stuck = freed = 0
    for _ in range(40):
        dag = random_dag(rng, 6, 0.4)
        correlation = to_correlation(model_covariance(rng, dag))
        shallow, deep = PlainEngine(correlation, 1e-16), PlainEngine(correlation, 1e-16)
        grasp(shallow, version=0, depth=1, random_state=0)
        deep.reset(shallow.order)
        before = deep.cost
        stuck += before > dag.sum()
        freed += grasp(deep, version=0, depth=3, random_state=0).cost < before
    assert freed > stuck / 2 > 2


@pytest.mark.parametrize("search", [grasp, hill_climbing, insertion])
def test_the_factor_is_never_stale(search):
    """There, after a move the caller went on with the factor of the order before.

    After every accepted move the engine's state is that of an engine built for this order, and the
    graph in the end is G^π, edge for edge.
    """
    data, _, _ = simulate(n_variables=12, n_samples=300, degree=4, random_state=5)
    moments = Moments.from_data(data)
    engine = QwoEngine(moments, objective="edges")
    engine.reset(np.random.default_rng(0).permutation(12))
    watched = []

    def watch(progress):
        fresh = QwoEngine(moments, objective="edges", order=engine.order)
        np.testing.assert_array_equal(engine.dag(), fresh.dag())
        np.testing.assert_allclose(engine.coefficients(), fresh.coefficients(), atol=1e-10)
        assert fresh.cost == progress.best_cost == engine.cost
        watched.append(progress.best_cost)

    outcome = search(engine, control=Control(callback=watch), random_state=1)
    assert len(set(watched)) > 3
    by_definition = order_dag_by_definition(outcome.order, moments.correlation, engine.tau)
    np.testing.assert_array_equal(engine.dag(), by_definition)
    assert outcome.cost == by_definition.sum()


def test_the_edge_test_holds_its_level():
    """There, |⟨q, w⟩| was compared with a threshold for correlations, which it is not.

    First and last of a chain of strong effects are independent given the middle. Their edge in G^π
    is drawn at the level asked for, whatever the strength and the units.
    """
    rng = np.random.default_rng(0)
    alpha, n_samples, repeats = 0.1, 50, 3000
    drawn = 0
    for _ in range(repeats):
        noise = rng.standard_normal((n_samples, 3))
        first = noise[:, 0]
        middle = 3 * first + noise[:, 1]
        data = np.column_stack([first, middle, 0.01 * (2 * middle + noise[:, 2])])
        engine = QwoEngine(np.cov(data, rowvar=False), n_samples, alpha=alpha)
        drawn += bool(engine.dag()[0, 2])
    assert drawn / repeats == pytest.approx(alpha, abs=0.02)


def test_thresholds_belong_to_the_engine():
    """There, the threshold was a global of the module, and the last one set held for everyone."""
    data, _, _ = simulate(n_variables=8, n_samples=100, degree=3, random_state=0)
    moments = Moments.from_data(data)
    lax, strict = QwoEngine(moments, alpha=0.5), QwoEngine(moments, alpha=1e-6)
    assert lax.tau == FisherZ(0.5).threshold(8, 100)
    assert strict.tau == FisherZ(1e-6).threshold(8, 100)
    assert lax.dag().sum() > strict.dag().sum()
    alone = QwoEngine(moments, alpha=0.5).dag()
    np.testing.assert_array_equal(lax.dag(), alone)


def test_no_function_changes_a_module():
    changed = [
        (name, node.names)
        for name, tree in parsed_sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Global)
    ]
    assert changed == []


def test_every_edge_has_a_weight_of_its_own():
    """There, all edges out of one parent got the same weight, by a slip in broadcasting."""
    model = random_model("er", n_variables=30, degree=8, random_state=0)
    weights = model.coefficients[model.dag == 1]
    assert len(np.unique(weights)) == len(weights)
    assert (model.dag.sum(axis=1) > 1).sum() > 10


def test_nothing_is_unpickled():
    """There, data came as pickles, which run whatever code their author put in."""
    unsafe = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
    found = []
    for name, tree in parsed_sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found += [(name, a.name) for a in node.names if a.name.split(".")[0] in unsafe]
            elif isinstance(node, ast.ImportFrom):
                found += [(name, node.module)] * ((node.module or "").split(".")[0] in unsafe)
            elif isinstance(node, ast.Attribute):
                found += [(name, node.attr)] * (node.attr in ("read_pickle", "load_pickle"))
            elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                allowed = not (isinstance(node.value, ast.Constant) and node.value.value is False)
                found += [(name, "allow_pickle")] * allowed
    assert found == []
