"""The QWO engine and the reference engine: arguments, errors, objectives, marks, rebuilds."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from qwo.errors import (
    ArgumentError,
    DataWarning,
    EngineError,
    InputError,
    OrderError,
    SampleSizeError,
)
from qwo.moments import Moments
from qwo.order import qwo as module
from qwo.order.edge_test import BicRule, FisherZ
from qwo.order.objective import CappedLikelihood, EdgeCount, objective_for
from qwo.order.protocol import EngineBase, OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from tests.oracles.random_models import random_covariance

ENGINES = pytest.mark.parametrize("engine_class", [QwoEngine, ReferenceEngine])


@pytest.fixture
def moments():
    rng = np.random.default_rng(0)
    return Moments.from_covariance(random_covariance(rng, 8), 200, names=list("abcdefgh"))


@ENGINES
def test_engines_follow_the_protocol(engine_class, moments):
    engine = engine_class(moments)
    assert isinstance(engine, OrderEngine)
    assert engine.n_variables == 8
    np.testing.assert_array_equal(engine.order, range(8))
    engine.order[0] = 5
    np.testing.assert_array_equal(engine.order, range(8))
    assert engine.dag().dtype == np.int8


@ENGINES
def test_a_matrix_and_its_moments_give_the_same_engine(engine_class, moments):
    from_matrix = engine_class(moments.covariance, 200.0, penalty_discount=1.0)
    from_moments = engine_class(moments, penalty_discount=1.0)
    assert from_matrix.cost == pytest.approx(from_moments.cost, rel=1e-12)
    np.testing.assert_array_equal(from_matrix.dag(), from_moments.dag())
    assert math.isinf(engine_class(moments.covariance).moments.n_samples)


@ENGINES
def test_the_edge_test_becomes_a_threshold(engine_class, moments):
    assert engine_class(moments).tau == FisherZ().threshold(8, 200)
    assert engine_class(moments, alpha=0.1).tau == FisherZ(0.1).threshold(8, 200)
    assert engine_class(moments, penalty_discount=3).tau == BicRule(3).threshold(8, 200)


@ENGINES
def test_arguments_out_of_range_are_refused(engine_class, moments):
    with pytest.raises(ArgumentError, match=r"objective.*'bic'"):
        engine_class(moments, objective="bic")
    with pytest.raises(ArgumentError, match="give one of them"):
        engine_class(moments, alpha=0.1, penalty_discount=2)
    with pytest.raises(ArgumentError, match="n_samples is 100, which goes with a matrix"):
        engine_class(moments, 100)
    with pytest.raises(OrderError, match="each of 0 … 7 once"):
        engine_class(moments, order=[0] * 8)


def test_unknown_kernels_are_refused(moments):
    with pytest.raises(ArgumentError, match=r"portable.*got 'mmx'"):
        QwoEngine(moments, kernels="mmx")


def test_a_singular_matrix_is_refused_with_a_cure():
    data = np.random.default_rng(1).standard_normal((11, 12))
    with pytest.warns(DataWarning):
        wide = Moments.from_data(data)
    with pytest.raises(
        EngineError, match=r"n = 12.*N = 11.*\n.*engine='bic'.*ledoit-wolf"
    ) as caught:
        QwoEngine(wide, penalty_discount=1.0)
    assert isinstance(caught.value, InputError)
    assert set(caught.value.columns) < set(wide.names)
    shrunk = Moments.from_data(data, covariance_estimator="ledoit-wolf")
    assert QwoEngine(shrunk, penalty_discount=1.0).n_variables == 12


def test_a_matrix_that_is_singular_up_to_rounding_is_refused():
    """The Cholesky factorisation may well succeed; what it divides by gives it away."""
    correlation = np.full((3, 3), 1 - 1e-14)
    np.fill_diagonal(correlation, 1.0)
    moments = Moments(("x", "y", "z"), 100.0, np.zeros(3), np.ones(3), correlation)
    with pytest.raises(EngineError, match="singular"):
        QwoEngine(moments, penalty_discount=1.0)


@pytest.mark.filterwarnings("ignore:there are only 13 samples")
def test_fishers_test_needs_more_samples_than_variables():
    with pytest.raises(SampleSizeError, match="N ≥ n \\+ 2"):
        QwoEngine(random_covariance(np.random.default_rng(0), 12), 13.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.move(8, 0), "variable 8 is out of range: wanted 0 to 7"),
        (lambda e: e.move(0, -1), "place -1"),
        (lambda e: e.swap(0, 8), "place 8"),
        (lambda e: e.tuck(-1, 0), "variable -1"),
        (lambda e: e.scan(8), "variable 8"),
        (lambda e: e.scan_many([0, 99]), "variable 99"),
        (lambda e: e.scan_many([0.5]), "integers"),
        (lambda e: e.parents(9), "variable 9"),
        (lambda e: e.permute(2, [0, 1]), "from place 2 on; variable 0 stands at place 0"),
        (lambda e: e.permute(-1, [7]), "place -1 is out of range"),
        (lambda e: e.permute(7, [7, 0]), "place 7 is out of range"),
        (lambda e: e.reset([0, 1]), "8 variables once"),
    ],
)
def test_what_is_not_there_is_refused(moments, call, message):
    engine = QwoEngine(moments)
    before = engine.cost
    with pytest.raises(OrderError, match=message):
        call(engine)
    assert engine.cost == before
    np.testing.assert_array_equal(engine.order, range(8))


@ENGINES
def test_ended_marks_are_refused(engine_class, moments):
    engine = engine_class(moments)
    outer, inner = engine.mark(), engine.mark()
    engine.undo(outer)
    for call in (engine.undo, engine.release):
        for mark in (outer, inner, -1):
            with pytest.raises(EngineError, match="has ended or never was"):
                call(mark)


@ENGINES
def test_reset_forgets_marks(engine_class, moments):
    engine = engine_class(moments)
    mark = engine.mark()
    engine.reset(range(7, -1, -1))
    with pytest.raises(EngineError):
        engine.undo(mark)


@ENGINES
def test_undo_after_release_goes_back_to_the_outer_mark(engine_class, moments):
    engine = engine_class(moments)
    cost, dag = engine.cost, engine.dag()
    outer = engine.mark()
    engine.move(0, 3)
    inner = engine.mark()
    engine.move(5, 1)
    engine.release(inner)
    assert engine.undo(outer) == cost
    np.testing.assert_array_equal(engine.order, range(8))
    np.testing.assert_array_equal(engine.dag(), dag)


def test_nothing_happens_where_nothing_is_asked(moments):
    engine = QwoEngine(moments)
    cost = engine.cost
    assert engine.move(3, 3) == cost
    assert engine.swap(2, 2) == cost
    assert engine.permute(4, []) == cost
    assert engine.permute(4, [4, 5, 6]) == cost
    assert engine.tuck(5, 2) == cost
    assert engine._factor.exchanges == 0


def test_a_swap_takes_2d_minus_1_exchanges(moments):
    engine = QwoEngine(moments)
    engine.swap(1, 6)
    assert engine._factor.exchanges == 9
    engine.move(0, 4)
    assert engine._factor.exchanges == 13


def test_tuck_moves_ancestors_only():
    """In 0 → 1 → 3 and an unrelated 2, tuck(0, 3) leaves 2 after 0."""
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 3] = 1.0
    mixing = np.linalg.inv(np.eye(4) - weights.T)
    engine = QwoEngine(mixing @ mixing.T)
    engine.tuck(0, 3)
    np.testing.assert_array_equal(engine.order, [1, 3, 0, 2])
    before = engine.order
    engine.tuck(0, 2)
    np.testing.assert_array_equal(engine.order, before)


def test_the_factor_is_rebuilt_when_due_and_never_under_a_mark(moments, monkeypatch):
    monkeypatch.setattr(module, "EXCHANGES_PER_ENTRY", 1)
    engine = QwoEngine(moments)
    mark = engine.mark()
    for _ in range(20):
        engine.move(0, 7)
        engine.move(0, 0)
    assert engine._factor.exchanges == 280
    engine.release(mark)
    cost = engine.swap(0, 1)
    assert engine._factor.exchanges == 0
    assert cost == engine.cost
    np.testing.assert_array_equal(engine.order, [1, 0, 2, 3, 4, 5, 6, 7])


def test_oracle_input_counts_edges_whatever_is_asked(moments):
    for objective in ("edges", "likelihood"):
        engine = QwoEngine(moments.correlation, objective=objective)
        assert engine.objective == EdgeCount()
        assert engine.cost == engine.n_edges == engine.dag().sum()
    assert objective_for("likelihood", 50) == CappedLikelihood(50)
    assert objective_for("edges", 50) == EdgeCount()


def test_objectives_by_hand():
    squared = np.array([[0.0, 0.5, 0.001], [0.002, 0.0, 0.9]])
    np.testing.assert_array_equal(EdgeCount().row_costs(squared, 0.01), [1, 1])
    cap = 0.01 + 0.01**2 / 2
    expected = 100 * np.array([cap + 0.001 + 0.001**2 / 2, cap + 0.002 + 0.002**2 / 2])
    np.testing.assert_allclose(CappedLikelihood(100).row_costs(squared, 0.01), expected)


def test_the_capped_likelihood_follows_the_likelihood_below_the_cap():
    """h(x) = x + x²/2 differs from -log(1 - x) by less than x³/2 for small x."""
    squared = np.linspace(0, 0.02, 30)[:, None]
    cost = CappedLikelihood(1000).row_costs(squared, 0.02)
    exact = -1000 * np.log1p(-squared[:, 0])
    assert np.all(np.abs(cost - exact) <= 1000 * squared[:, 0] ** 3 / 2 + 1e-12)


def test_no_edge_at_all_with_the_largest_threshold(moments):
    engine = QwoEngine(moments, penalty_discount=1e6, objective="edges")
    assert engine.cost == engine.n_edges == 0
    np.testing.assert_array_equal(engine.scan(3), 0)


def test_threads_with_an_engine_each():
    """Long calls run without the GIL: engines of their own give threads the same answers."""
    rng = np.random.default_rng(2)
    covariance = random_covariance(rng, 60)

    def run(seed):
        order = np.random.default_rng(seed).permutation(60)
        engine = QwoEngine(covariance, 500.0, penalty_discount=2.0, order=order)
        engine.move(5, 50)
        return engine.scan_many(range(60))

    alone = [run(seed) for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        for one, other in zip(alone, pool.map(run, range(4)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_reference_engine_scans_by_moving(moments):
    reference = ReferenceEngine(moments, penalty_discount=1.0)
    engine = QwoEngine(moments, penalty_discount=1.0)
    assert ReferenceEngine.scan is EngineBase.scan
    np.testing.assert_allclose(reference.scan(2), engine.scan(2), atol=1e-9)
    np.testing.assert_allclose(
        reference.residual_variances(), engine.residual_variances(), rtol=1e-10
    )
    with pytest.raises(OrderError, match="from place 0 on"):
        reference.permute(0, [5, 6])
