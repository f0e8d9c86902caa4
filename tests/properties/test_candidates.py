"""The exact BIC engine with lists of candidates, against the one without and the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import ArgumentError
from qwo.graph.knowledge import Knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.candidates import are_crowded, candidate_parents
from qwo.order.linalg import precision_matrix
from qwo.order.local_score import LocalScoreEngine
from qwo.search.control import bic_insertion
from qwo.simulation import simulate
from qwo.types import Indices
from tests.helpers import bic_oracle
from tests.helpers.bic_oracle import TOLERANCE, agree_with_slow, local_cost
from tests.helpers.core_searches import compiled_search

SEEDS = st.integers(0, 10_000)


def sample(seed: int, n: int = 12, n_samples: int = 300, degree: float = 4.0) -> Moments:
    return bic_oracle.sample(seed, n, n_samples, degree)


def everyone(n: int) -> list[Indices]:
    return [np.delete(np.arange(n), v) for v in range(n)]


def few(rng: np.random.Generator, n: int, size: int) -> list[Indices]:
    return [np.sort(rng.choice(others, size, replace=False)) for others in everyone(n)]


def assert_no_step_improves(engine: BicEngine, allowed: list[Indices]) -> None:
    """No addition of an allowed predecessor and no removal lowers the cost of any variable."""
    order = engine.order.tolist()
    for place, v in enumerate(order):
        parents = engine.parents(v).tolist()
        assert set(parents) <= set(order[:place]) & set(allowed[v].tolist())
        now = local_cost(engine, v, parents)
        for u in set(order[:place]) & set(allowed[v].tolist()):
            changed = [p for p in parents if p != u] if u in parents else [*parents, u]
            assert local_cost(engine, v, changed) >= now - TOLERANCE


def shake(engine: BicEngine, rng: np.random.Generator, steps: int) -> None:
    n = engine.n_variables
    for _ in range(steps):
        engine.move(int(rng.integers(n)), int(rng.integers(n)))


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_with_everyone_a_candidate_nothing_differs_by_a_bit(seed: int) -> None:
    moments, rng = sample(seed), np.random.default_rng(seed)
    order = rng.permutation(12)
    full = BicEngine(moments, order=order)
    listed = BicEngine(moments, order=order, candidates=everyone(12))
    for _ in range(12):
        v, place = int(rng.integers(12)), int(rng.integers(12))
        np.testing.assert_array_equal(listed.scan(v), full.scan(v))
        assert listed.move(v, place) == full.move(v, place)
        np.testing.assert_array_equal(listed.coefficients(), full.coefficients())
    assert not any(listed.renew(v) for v in range(12))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("degree", [4.0, 9.0])
def test_with_everyone_a_candidate_the_search_finds_the_same(seed: int, degree: float) -> None:
    """But for the exact last steps, which sparse graphs without lists have, and which only gain."""
    moments = sample(seed, n=40, n_samples=1000, degree=degree)
    order = np.random.default_rng(seed).permutation(40)
    full = BicEngine(moments, order=order)
    listed = BicEngine(moments, order=order, candidates=everyone(40))
    first, second = (bic_insertion(e, restarts=5, random_state=seed) for e in (full, listed))
    assert first.cost <= second.cost + TOLERANCE
    if degree > 4:
        assert second.order.tolist() == first.order.tolist()
        assert second.cost == first.cost
        np.testing.assert_array_equal(listed.dag(), full.dag())


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_parent_sets_are_the_best_that_the_lists_allow(seed: int) -> None:
    moments, rng = sample(seed), np.random.default_rng(seed)
    lists = few(rng, 12, 5)
    engine = BicEngine(moments, order=rng.permutation(12), candidates=lists)
    shake(engine, rng, 10)
    assert_no_step_improves(engine, lists)
    total = sum(local_cost(engine, v, engine.parents(v).tolist()) for v in range(12))
    assert engine.cost == pytest.approx(total, abs=TOLERANCE)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_reset_agrees_with_the_slow_engine_restricted_to_the_lists(seed: int) -> None:
    moments, rng = sample(seed, n=8), np.random.default_rng(seed)
    order, lists = rng.permutation(8), few(rng, 8, 4)
    fast = BicEngine(moments, order=order, candidates=lists)

    def score(v: int, parents: tuple[int, ...]) -> float:
        if not set(parents) <= set(lists[v].tolist()):
            return -1e12
        return -local_cost(fast, v, list(parents))

    slow = LocalScoreEngine(score, 8)
    slow.reset(order)
    agree_with_slow(fast, slow)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_scan_foretells_every_move_and_undo_is_exact(seed: int) -> None:
    moments, rng = sample(seed, n=9), np.random.default_rng(seed)
    engine = BicEngine(moments, order=rng.permutation(9), candidates=few(rng, 9, 5))
    shake(engine, rng, 4)
    before, coefficients, order = engine.cost, engine.coefficients(), engine.order.tolist()
    for v in range(9):
        changes = engine.scan(v)
        for place in range(9):
            mark = engine.mark()
            assert engine.move(v, place) - before == pytest.approx(changes[place], abs=TOLERANCE)
            engine.undo(mark)
            assert engine.cost == before
            assert engine.order.tolist() == order
            np.testing.assert_array_equal(engine.coefficients(), coefficients)
        np.testing.assert_array_equal(engine.scan(v), changes)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_ends_where_no_variable_at_all_would_help(seed: int) -> None:
    """Lists of three hold too little; renewal makes up for it."""
    moments, rng = sample(seed, n=30, n_samples=600), np.random.default_rng(seed)
    lists = few(rng, 30, 3)
    engine = BicEngine(moments, order=rng.permutation(30), candidates=lists)
    bic_insertion(engine, restarts=0, random_state=seed)
    assert_no_step_improves(engine, everyone(30))
    assert not any(engine.renew(v) for v in range(30))
    assert max(len(engine.candidates(v)) for v in range(30)) > 3


def test_renewal_keeps_the_cost_true_and_copies_apart() -> None:
    moments, rng = sample(3, n=20), np.random.default_rng(3)
    engine = BicEngine(moments, order=rng.permutation(20), candidates=few(rng, 20, 3))
    twin, lists = engine.copy(), [engine.candidates(v).tolist() for v in range(20)]
    before, coefficients = twin.cost, twin.coefficients()
    assert sum(engine.renew(v) for v in range(20)) > 5
    total = sum(local_cost(engine, v, engine.parents(v).tolist()) for v in range(20))
    assert engine.cost == pytest.approx(total, abs=TOLERANCE)
    assert engine.cost < before
    assert twin.cost == before
    np.testing.assert_array_equal(twin.coefficients(), coefficients)
    assert [twin.candidates(v).tolist() for v in range(20)] == lists
    shake(twin, rng, 10)
    shake(engine, rng, 10)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_lists_that_come_in_late_change_nothing_when_they_do(seed: int) -> None:
    moments, rng = sample(seed), np.random.default_rng(seed)
    order, lists = rng.permutation(12), few(rng, 12, 4)
    full = BicEngine(moments, order=order)
    late = BicEngine(moments, order=order, candidates=lists, all_at_first=True)
    for _ in range(6):
        v, place = int(rng.integers(12)), int(rng.integers(12))
        assert late.move(v, place) == full.move(v, place)
        np.testing.assert_array_equal(late.scan(v), full.scan(v))
    late._sets.narrow()
    assert late.cost == full.cost
    np.testing.assert_array_equal(late.coefficients(), full.coefficients())
    allowed = [np.union1d(own, full.parents(v)) for v, own in enumerate(lists)]
    assert [late.candidates(v).tolist() for v in range(12)] == [own.tolist() for own in allowed]
    shake(late, rng, 10)
    assert_no_step_improves(late, allowed)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_brings_the_lists_in(seed: int) -> None:
    moments, rng = sample(seed, n=60, n_samples=600), np.random.default_rng(seed)
    engine = BicEngine(
        moments, order=rng.permutation(60), candidates=few(rng, 60, 3), all_at_first=True
    )
    search = compiled_search(engine, seed, tucks=True)
    while search.phase == "descent":
        search.run(0.0)
    assert search.phase == "renewal"
    for v in range(60):
        parents, own = engine.parents(v).tolist(), engine.candidates(v).tolist()
        assert set(parents) <= set(own)
        assert len(own) <= 3 + len(parents)
    while not search.run(1.0):
        pass
    assert_no_step_improves(engine, everyone(60))


def test_crowds_are_told_from_sparse_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qwo.order.candidates.CROWDED", 20)
    sparse, dense = (sample(0, n=50, n_samples=1000, degree=degree) for degree in (2, 10))
    assert not are_crowded(sparse.correlation, sparse.n_samples)
    assert are_crowded(dense.correlation, dense.n_samples)
    assert are_crowded(dense.correlation, math.inf)


def known(rng: np.random.Generator, moments: Moments) -> ResolvedKnowledge:
    a, b, c, d, e, f = (int(v) for v in rng.permutation(moments.n_variables)[:6])
    knowledge = Knowledge(required=[(a, b), (c, b)], forbidden=[(a, d), (d, e), (e, f), (f, e)])
    return knowledge.resolve(moments.names)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, late=st.booleans())
def test_knowledge_is_kept_whatever_the_lists_say(*, seed: int, late: bool) -> None:
    moments, rng = sample(seed), np.random.default_rng(seed)
    knowledge = known(rng, moments)
    start = knowledge.topological_start(rng.permutation(12))
    lists = few(rng, 12, 3)
    engine = BicEngine(
        moments, knowledge=knowledge, order=start, candidates=lists, all_at_first=late
    )
    for v in range(12):
        own = engine.candidates(v)
        assert set(np.flatnonzero(knowledge.required[:, v])) <= set(own)
        assert knowledge.allowed_parents[own, v].all()
    for _ in range(10):
        v = int(rng.integers(12))
        first, last = knowledge.place_range(engine.order, v)
        engine.move(v, int(rng.integers(first, last + 1)))
        knowledge.check_dag(engine.dag())
    outcome = bic_insertion(engine, knowledge=knowledge, restarts=3, random_state=seed)
    knowledge.check_dag(engine.dag())
    assert knowledge.allows_order(outcome.order)
    for v in range(12):
        assert knowledge.allowed_parents[engine.candidates(v), v].all()


def test_candidates_are_the_largest_correlations_of_both_kinds() -> None:
    moments = sample(0, n=30)
    precision = precision_matrix(moments.correlation, moments.n_samples)
    scales = np.sqrt(np.diag(precision))
    partial, marginal = np.abs(precision / np.outer(scales, scales)), np.abs(moments.correlation)
    for v, own in enumerate(
        candidate_parents(moments.correlation, precision, 31.5, partial=3, marginal=4)
    ):
        expected: set[int] = set()
        for sizes, count in ((partial[v], 3), (marginal[v], 4)):
            ranked = [u for u in np.argsort(-sizes).tolist() if u != v]
            expected |= set(ranked[:count])
        assert own.tolist() == sorted(expected)


def test_a_hub_gets_all_its_neighbours_for_candidates() -> None:
    n, n_samples = 60, 20_000
    dag = np.zeros((n, n), dtype=np.int8)
    dag[1:, 0] = 1
    moments = Moments.from_data(simulate(dag, n_samples=n_samples, random_state=0).data)
    precision = precision_matrix(moments.correlation, n_samples)
    lists = candidate_parents(moments.correlation, precision, n_samples, partial=5, marginal=5)
    assert lists[0].tolist() == list(range(1, n))


def test_short_of_candidates_everyone_is_one() -> None:
    moments = sample(0, n=5)
    precision = precision_matrix(moments.correlation, moments.n_samples)
    lists = candidate_parents(moments.correlation, precision, moments.n_samples)
    assert [own.tolist() for own in lists] == [own.tolist() for own in everyone(5)]


@pytest.mark.parametrize("n_samples", [1000, 20])
def test_precision_is_the_inverse_of_the_matrix_or_of_its_mixture(n_samples: int) -> None:
    n = 70
    correlation = np.corrcoef(np.random.default_rng(0).standard_normal((n_samples, n)).T)
    inverse = precision_matrix(correlation, n_samples)
    target = correlation if n < n_samples else 0.99 * correlation + 0.01 * np.eye(n)
    np.testing.assert_allclose(inverse @ target, np.eye(n), atol=1e-9)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_a_singular_matrix_gets_a_precision_too() -> None:
    correlation = np.ones((3, 3))
    inverse = precision_matrix(correlation, 100.0)
    np.testing.assert_allclose(
        inverse @ (0.99 * correlation + 0.01 * np.eye(3)), np.eye(3), atol=1e-9
    )


@pytest.mark.parametrize("lists", [[np.array([1])], [np.array([9])] * 12])
def test_wrong_lists_are_refused(lists: list[Indices]) -> None:
    with pytest.raises(ArgumentError, match="candidates"):
        BicEngine(sample(0, n=8), candidates=lists[:8])
