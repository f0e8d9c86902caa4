"""The exact BIC engine against regressions by definition, over random data, orders and moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo import _core
from qwo.errors import DataWarning
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.sem.fit import score_graph
from qwo.simulation import simulate
from tests.helpers import bic_oracle
from tests.helpers.bic_oracle import TOLERANCE, agree_with_slow, local_cost

SEEDS = st.integers(0, 10_000)


def sample(seed: int, n: int = 7, n_samples: int = 200, degree: float = 3.0) -> Moments:
    return bic_oracle.sample(seed, n, n_samples, degree)


def cost_of_dag(engine: BicEngine) -> float:
    return sum(local_cost(engine, v, engine.parents(v).tolist()) for v in range(engine.n_variables))


def shake(engine: BicEngine, rng: np.random.Generator, steps: int) -> None:
    n = engine.n_variables
    for _ in range(steps):
        kind = rng.integers(4)
        if kind == 0:
            engine.move(int(rng.integers(n)), int(rng.integers(n)))
        elif kind == 1:
            engine.swap(*(int(k) for k in rng.integers(n, size=2)))
        elif kind == 2:
            start = int(rng.integers(n - 1))
            engine.permute(start, rng.permutation(engine.order[start : start + 3]))
        else:
            child = int(rng.integers(n))
            for parent in engine.parents(child)[:1].tolist():
                engine.tuck(parent, child)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_cost_is_that_of_the_regressions_after_any_moves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = BicEngine(sample(seed), order=rng.permutation(7))
    shake(engine, rng, 15)
    assert engine.cost == pytest.approx(cost_of_dag(engine), abs=TOLERANCE)
    coefficients, variances = engine.coefficients(), engine.residual_variances()
    s = engine.moments.correlation
    for v in range(7):
        parents = engine.parents(v)
        expected = np.linalg.solve(s[np.ix_(parents, parents)], s[parents, v])
        np.testing.assert_allclose(coefficients[parents, v], expected, atol=1e-9)
        assert variances[v] == pytest.approx(1 - s[parents, v] @ expected, abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_no_single_addition_or_removal_improves_a_parent_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = BicEngine(sample(seed), order=rng.permutation(7))
    shake(engine, rng, 10)
    order = engine.order.tolist()
    for place, v in enumerate(order):
        parents = engine.parents(v).tolist()
        now = local_cost(engine, v, parents)
        for u in order[:place]:
            changed = [p for p in parents if p != u] if u in parents else [*parents, u]
            assert local_cost(engine, v, changed) >= now - TOLERANCE
        assert set(parents) <= set(order[:place])


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_undo_restores_bit_for_bit_and_marks_nest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = BicEngine(sample(seed), order=rng.permutation(7))
    states = []
    for _ in range(3):
        states.append((engine.mark(), engine.order, engine.cost, engine.coefficients()))
        shake(engine, rng, 4)
    engine.release(states.pop()[0])
    for mark, order, cost, coefficients in reversed(states):
        engine.undo(mark)
        assert engine.order.tolist() == order.tolist()
        assert engine.cost == cost
        assert np.array_equal(engine.coefficients(), coefficients)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_scan_foretells_every_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = BicEngine(sample(seed), order=rng.permutation(7))
    shake(engine, rng, 5)
    before = engine.cost
    for v in range(7):
        changes = engine.scan(v)
        for place in range(7):
            mark = engine.mark()
            assert engine.move(v, place) - before == pytest.approx(changes[place], abs=TOLERANCE)
            engine.undo(mark)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_reset_agrees_with_the_slow_engine_on_the_same_score(seed: int) -> None:
    moments = sample(seed, n=6)
    order = np.random.default_rng(seed).permutation(6)
    fast = BicEngine(moments, order=order)
    slow = LocalScoreEngine(lambda v, parents: -local_cost(fast, v, list(parents)), 6)
    slow.reset(order)
    agree_with_slow(fast, slow)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_columns_in_another_order_and_units_give_the_same_dag(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = simulate("er", n_variables=7, n_samples=200, degree=3, random_state=seed)
    permutation, order = rng.permutation(7), rng.permutation(7)
    engine = BicEngine(Moments.from_data(drawn.data), order=order)
    place = np.argsort(permutation)
    changed = drawn.data[:, permutation] * 10.0 ** rng.integers(-3, 4, size=7)
    other = BicEngine(Moments.from_data(changed), order=place[order])
    assert np.array_equal(other.dag(), engine.dag()[np.ix_(permutation, permutation)])
    assert other.cost == pytest.approx(engine.cost, abs=TOLERANCE)


@pytest.mark.parametrize("kernels", _core.available_kernels())
def test_every_instruction_set_finds_the_same_parents(kernels: str) -> None:
    moments = sample(3, n=60, n_samples=500)
    rng = np.random.default_rng(0)
    order = rng.permutation(60)
    engine = BicEngine(moments, order=order, kernels=kernels)
    portable = BicEngine(moments, order=order, kernels="portable")
    for v in range(0, 60, 7):
        np.testing.assert_allclose(engine.scan(v), portable.scan(v), atol=TOLERANCE)
        engine.move(v, 59 - v)
        portable.move(v, 59 - v)
    assert np.array_equal(engine.dag(), portable.dag())
    assert engine.cost == pytest.approx(portable.cost, abs=TOLERANCE)


def test_nearly_collinear_data_keep_their_digits() -> None:
    """Degree 16 and weights up to 2 leave residual variances of 1e-9 on the correlation scale."""
    with pytest.warns(DataWarning, match="nearly singular"):
        moments = sample(0, n=100, n_samples=5000, degree=16)
    rng = np.random.default_rng(0)
    engine = BicEngine(moments, order=rng.permutation(100))
    for v in rng.permutation(100)[:30].tolist():
        engine.move(v, int(np.argmin(engine.scan(v))))
    assert engine.residual_variances().min() < 1e-4
    assert engine.cost == pytest.approx(cost_of_dag(engine), abs=0.05)


def test_more_variables_than_samples() -> None:
    with pytest.warns(DataWarning, match="samples"):
        moments = sample(1, n=60, n_samples=40)
    engine = BicEngine(moments)
    assert engine.max_parents == 40 // 3
    assert engine.dag().sum(axis=0).max() <= engine.max_parents
    assert engine.cost == pytest.approx(cost_of_dag(engine), abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_constraints_hold_in_every_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moments = sample(seed)
    a, b, c, d = (int(v) for v in rng.permutation(7)[:4])
    knowledge = Knowledge(required=[(a, b)], forbidden=[(a, c), (b, d)]).resolve(moments.names)
    start = knowledge.topological_start(rng.permutation(7))
    engine = BicEngine(moments, knowledge=knowledge, order=start)
    for _ in range(12):
        v = int(rng.integers(7))
        changes = engine.scan(v)
        first, last = knowledge.place_range(engine.order, v)
        assert np.isfinite(changes[first : last + 1]).all()
        assert np.isinf(np.delete(changes, np.arange(first, last + 1))).all()
        engine.move(v, int(rng.integers(first, last + 1)))
        knowledge.check_dag(engine.dag())
        assert knowledge.allows_order(engine.order)


def test_cost_is_the_negative_score() -> None:
    moments = sample(5)
    engine = BicEngine(moments, penalty_discount=1.5)
    assert -engine.cost == pytest.approx(score_graph(moments, engine.dag(), 1.5).score, abs=1e-6)


def test_gamma_adds_two_gamma_log_n_to_an_edge() -> None:
    moments = sample(5)
    plain, extended = BicEngine(moments), BicEngine(moments, gamma=0.5)
    assert extended.penalty - plain.penalty == pytest.approx(math.log(7))


@pytest.mark.parametrize(
    "wrong", [{"penalty_discount": 0.0}, {"gamma": -1.0}, {"max_parents": -1}, {"kernels": "none"}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"wanted|kernels"):
        BicEngine(sample(0), **wrong)  # type: ignore[arg-type]


def test_a_parent_is_exchanged_for_a_better_one() -> None:
    """A copy of a cause that came first once kept the cause out for good."""
    rng = np.random.default_rng(3)
    cause = rng.normal(size=500)
    data = np.column_stack([cause + 0.1 * rng.normal(size=500), cause, rng.normal(size=500)])
    data[:, 2] += data[:, 1]
    copy, cause_, effect = range(3)
    engine = BicEngine(Moments.from_data(data), order=[copy, effect, cause_])
    engine.move(cause_, 0)
    assert engine.parents(effect).tolist() == [copy]
    fresh = BicEngine(Moments.from_data(data), order=engine.order)
    mark = engine.mark()
    before = engine.cost
    assert engine._sets.exchange(effect, 0.0)
    assert engine.parents(effect).tolist() == [cause_] == fresh.parents(effect).tolist()
    assert engine.cost == pytest.approx(fresh.cost, rel=1e-12)
    assert not engine._sets.exchange(effect, 0.0)
    assert engine.undo(mark) == before
    assert engine.parents(effect).tolist() == [copy]
