"""The QWO engine against the definitions: factor, graph, updates, undo, drift, invariances.

Random covariances and orders are drawn from a seed, so that a failing example is one number.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo import _core
from qwo.graph import is_topological
from qwo.moments import Moments
from qwo.order.edge_test import AbsoluteTolerance
from qwo.order.objective import squared_partial_correlations
from qwo.order.qwo import QwoEngine, inverse_cholesky
from qwo.order.reference import (
    coefficient_matrix,
    order_dag_by_definition,
    order_dag_by_separation,
    order_factor_by_definition,
    order_factor_from_basis,
    prefix_precisions_by_definition,
    qwo,
    qwo_by_matrix_products,
    whitening_matrix,
)
from qwo.order.reference_engine import ReferenceEngine
from tests.oracles.random_models import (
    model_covariance,
    random_covariance,
    random_dag,
    to_correlation,
)

EXACT = {"rtol": 1e-10, "atol": 1e-10}
N_SAMPLES = 300.0
OBJECTIVES = ("likelihood", "edges")

random_cases = given(n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
few = settings(max_examples=25, deadline=None, derandomize=True)


def draw(n, seed):
    """A generator, moments with a dense, well conditioned correlation matrix, and an order."""
    rng = np.random.default_rng(seed)
    correlation = to_correlation(random_covariance(rng, n))
    np.fill_diagonal(correlation, 1.0)
    return rng, Moments.from_covariance(correlation, N_SAMPLES), rng.permutation(n)


def engine_of(moments, order, **options):
    return QwoEngine(moments, penalty_discount=2.0, order=order, **options)


def state(engine):
    """All that a move may change."""
    factor = engine._factor
    return (factor.rows(), factor.precisions(), engine.order, engine.cost, factor.exchanges)


def assert_identical(one, other):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def random_change(rng, engine):
    """Some change of the order, as a call without arguments."""
    n = engine.n_variables
    a, b = (int(i) for i in rng.integers(0, n, 2))
    start, stop = min(a, b), max(a, b) + 1
    block = rng.permutation(engine.order[start:stop])
    return (
        lambda: engine.move(a, b),
        lambda: engine.swap(a, b),
        lambda: engine.permute(start, block),
        lambda: engine.tuck(a, b),
    )[int(rng.integers(4))]


@random_cases
@few
def test_factor_and_precisions_are_their_definitions(n, seed):
    """Sections 1 and 2: L, D; Lᵀ L = S⁻¹ and L S Lᵀ = I."""
    _, moments, order = draw(n, seed)
    factor = engine_of(moments, order)._factor
    rows, s = factor.rows(), moments.correlation
    np.testing.assert_allclose(rows, order_factor_by_definition(order, s), **EXACT)
    np.testing.assert_allclose(
        factor.precisions(), prefix_precisions_by_definition(order, s), **EXACT
    )
    np.testing.assert_allclose(rows.T @ rows, np.linalg.inv(s), **EXACT)
    np.testing.assert_allclose(rows @ s @ rows.T, np.eye(n), **EXACT)


@random_cases
@few
def test_engine_equals_algorithm_1_equals_definition(n, seed):
    """G^π, B = I - QW, residual variances and cost, all three ways."""
    _, moments, order = draw(n, seed)
    w = whitening_matrix(moments.correlation)
    q = qwo(order, w)
    for objective in OBJECTIVES:
        engine = engine_of(moments, order, objective=objective)
        reference = ReferenceEngine(moments, penalty_discount=2.0, objective=objective, order=order)
        expected = order_dag_by_definition(order, moments.correlation, engine.tau)
        np.testing.assert_array_equal(engine.dag(), expected)
        np.testing.assert_array_equal(reference.dag(), expected)
        assert engine.n_edges == reference.n_edges == expected.sum()
        assert is_topological(order, expected)
        np.testing.assert_allclose(engine.coefficients(), coefficient_matrix(q, w).T, **EXACT)
        np.testing.assert_allclose(engine.residual_variances(), np.sum(q * q, axis=1), **EXACT)
        assert engine.cost == pytest.approx(reference.cost, rel=1e-10, abs=1e-10)


@random_cases
@few
def test_the_factor_holds_qw_and_q(n, seed):
    """P QW Pᵀ is triangular with unit diagonal, exactly; Q Qᵀ is diagonal; Q is Algorithm 1's."""
    _, moments, order = draw(n, seed)
    rows = engine_of(moments, order)._factor.rows()
    qw = np.empty_like(rows)
    qw[order] = rows / rows[np.arange(n), order][:, None]
    permuted = qw[np.ix_(order, order)]
    np.testing.assert_array_equal(np.triu(permuted, 1), 0)
    np.testing.assert_array_equal(np.diag(permuted), 1)
    w = whitening_matrix(moments.correlation)
    q = np.linalg.solve(w.T, qw.T).T
    np.testing.assert_allclose(q @ q.T, np.diag(np.diag(q @ q.T)), **EXACT)
    np.testing.assert_allclose(q, qwo(order, w), **EXACT)
    np.testing.assert_allclose(order_factor_from_basis(order, q, w), rows, **EXACT)


@random_cases
@few
def test_any_square_root_of_the_precision_matrix_gives_the_same_coefficients(n, seed):
    """Uniqueness: the engine needs no W, since B does not depend on which one is taken."""
    rng, moments, order = draw(n, seed)
    rotation = np.linalg.qr(rng.standard_normal((n, n)))[0]
    w = rotation @ whitening_matrix(moments.correlation)
    b = coefficient_matrix(qwo_by_matrix_products(order, w), w)
    np.testing.assert_allclose(engine_of(moments, order).coefficients(), b.T, **EXACT)


@given(n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
@few
def test_an_exchange_of_neighbours_is_one_rotation(n, seed):
    """Section 3, with both formulas for the one row of D that changes."""
    rng, moments, order = draw(n, seed)
    k = int(rng.integers(n - 1))
    a = order[k]
    engine = engine_of(moments, order)
    before, d_before = engine._factor.rows(), engine._factor.precisions()
    engine.swap(k, k + 1)
    after, d_after = engine._factor.rows(), engine._factor.precisions()
    u, w = before[k], before[k + 1]
    c, s = np.array([u[a], w[a]]) / np.hypot(u[a], w[a])
    np.testing.assert_allclose(after[k], c * w - s * u, **EXACT)
    np.testing.assert_allclose(after[k + 1], c * u + s * w, **EXACT)
    np.testing.assert_allclose(d_after[k], d_before[k + 1] - after[k + 1] ** 2, **EXACT)
    np.testing.assert_allclose(d_after[k], d_before[k] - u**2 + after[k] ** 2, **EXACT)
    assert after[k][a] == 0
    assert d_after[k][a] == 0
    assert engine._factor.exchanges == 1


@random_cases
@few
def test_only_the_rows_of_the_changed_block_change(n, seed):
    """The block lemma, bit for bit, and that the block equals Algorithm 1's update of it."""
    rng, moments, order = draw(n, seed)
    engine = engine_of(moments, order)
    rows, precisions, *_ = state(engine)
    first, last = sorted(rng.integers(0, n, 2))
    changed = order.copy()
    changed[first : last + 1] = rng.permutation(changed[first : last + 1])
    engine.permute(int(first), changed[first : last + 1])
    outside = np.delete(np.arange(n), np.s_[first : last + 1])
    np.testing.assert_array_equal(engine._factor.rows()[outside], rows[outside])
    np.testing.assert_array_equal(engine._factor.precisions()[outside], precisions[outside])
    w = whitening_matrix(moments.correlation)
    updated = qwo_by_matrix_products(changed, w, first, last, qwo(order, w))
    np.testing.assert_allclose(
        engine._factor.rows(), order_factor_from_basis(changed, updated, w), **EXACT
    )


@random_cases
@few
def test_any_sequence_of_changes_equals_a_rebuild(n, seed):
    """Moves, swaps, permutations, tucks and undos; L, D, cost and graph to 1e-10."""
    rng, moments, order = draw(n, seed)
    for objective in OBJECTIVES:
        engine = engine_of(moments, order, objective=objective)
        for _ in range(30):
            mark = engine.mark()
            cost = random_change(rng, engine)()
            assert cost == engine.cost
            if rng.random() < 0.3:
                engine.undo(mark)
            else:
                engine.release(mark)
        rebuilt = engine_of(moments, engine.order, objective=objective)
        for left, right in zip(state(engine)[:4], state(rebuilt)[:4], strict=True):
            np.testing.assert_allclose(left, right, **EXACT)
        np.testing.assert_array_equal(engine.dag(), rebuilt.dag())


@random_cases
@few
def test_the_order_after_a_change_is_the_one_asked_for(n, seed):
    """Every change, tucks included, leads where the plain methods of the reference engine do."""
    rng, moments, order = draw(n, seed)
    engine = engine_of(moments, order)
    reference = ReferenceEngine(moments, penalty_discount=2.0, order=order)
    for _ in range(6):
        a, b = (int(i) for i in rng.integers(0, n, 2))
        for name in ("move", "swap", "tuck"):
            costs = [getattr(each, name)(a, b) for each in (engine, reference)]
            assert costs[0] == pytest.approx(costs[1], rel=1e-9, abs=1e-9)
            np.testing.assert_array_equal(engine.order, reference.order)
    for v in range(n):
        np.testing.assert_array_equal(engine.parents(v), reference.parents(v))
        np.testing.assert_array_equal(engine.parents(v), np.flatnonzero(engine.dag()[:, v]))


@random_cases
@few
def test_undo_is_exact(n, seed):
    """Marks nest; whatever happens after one, undo restores every bit."""
    rng, moments, order = draw(n, seed)
    engine = engine_of(moments, order)
    marks, states = [], []
    for _ in range(60):
        event = rng.random()
        if event < 0.2:
            states.append(state(engine))
            marks.append(engine.mark())
        elif event < 0.3 and marks:
            level = int(rng.integers(len(marks)))
            engine.undo(marks[level])
            assert_identical(state(engine), states[level])
            del marks[level:], states[level:]
        elif event < 0.4 and marks:
            level = int(rng.integers(len(marks)))
            now = state(engine)
            engine.release(marks[level])
            assert_identical(state(engine), now)
            del marks[level:], states[level:]
        else:
            random_change(rng, engine)()
    if marks:
        engine.undo(marks[0])
        assert_identical(state(engine), states[0])
        np.testing.assert_array_equal(engine.order[np.argsort(engine.order)], np.arange(n))


@random_cases
@few
def test_units_do_not_matter(n, seed):
    """Rescaling by powers of two changes no bit; by other factors, nothing beyond rounding."""
    rng, moments, order = draw(n, seed)
    engine = engine_of(moments, order)
    for scales, exactly in ((2.0 ** rng.integers(-9, 9, n), True), (rng.uniform(0.1, 9, n), False)):
        rescaled = engine_of(
            Moments.from_covariance(moments.correlation * np.outer(scales, scales), N_SAMPLES),
            order,
        )
        np.testing.assert_array_equal(rescaled.dag(), engine.dag())
        assert rescaled.cost == pytest.approx(engine.cost, rel=0 if exactly else 1e-9)


@random_cases
@few
def test_the_order_of_the_columns_does_not_matter(n, seed):
    """Columns in another order: the same graph, coefficients and cost, permuted."""
    rng, moments, order = draw(n, seed)
    columns = rng.permutation(n)
    engine = engine_of(moments, order)
    permuted = engine_of(
        Moments.from_covariance(moments.correlation[np.ix_(columns, columns)], N_SAMPLES),
        np.argsort(columns)[order],
    )
    pairs = np.ix_(columns, columns)
    np.testing.assert_array_equal(permuted.dag(), engine.dag()[pairs])
    np.testing.assert_allclose(permuted.coefficients(), engine.coefficients()[pairs], **EXACT)
    assert permuted.cost == pytest.approx(engine.cost, rel=1e-12)


@given(
    n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0.1, 0.3, 0.6])
)
@few
def test_oracle_covariances_give_the_order_dag_of_d_separation(n, seed, density):
    """G^π from the exact covariance of a random DAG is G^π by d-separation, after moves too."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n, density * min(1.0, 8 / n))
    engine = QwoEngine(model_covariance(rng, dag), order=rng.permutation(n))
    assert engine.tau == AbsoluteTolerance().tolerance
    for _ in range(2):
        expected = order_dag_by_separation(engine.order, dag)
        np.testing.assert_array_equal(engine.dag(), expected)
        assert engine.cost == engine.n_edges == expected.sum()
        for _ in range(10):
            random_change(rng, engine)()


@pytest.mark.parametrize("rebuilding", [True, False])
def test_drift_after_10_000_random_moves(rebuilding):
    """|L S Lᵀ - I| stays below 1e-8, with the engine's rebuilds and without."""
    n = 20
    rng, moments, order = draw(n, 1)
    engine = engine_of(moments, order)
    factor = engine._factor
    for _ in range(10_000):
        variable, place = int(rng.integers(n)), int(rng.integers(n))
        (engine if rebuilding else factor).move(variable, place)
    assert (factor.exchanges < 100 * n * n) == rebuilding
    assert engine.drift() < 1e-12
    fresh = engine_of(moments, engine.order)
    np.testing.assert_allclose(factor.rows(), fresh._factor.rows(), **EXACT)
    np.testing.assert_allclose(factor.precisions(), fresh._factor.precisions(), **EXACT)
    assert engine.cost == pytest.approx(fresh.cost, rel=1e-10)
    np.testing.assert_array_equal(engine.dag(), fresh.dag())


def test_200_variables():
    """The identities at a size where blocks, padding and all vector widths play their part."""
    n = 200
    rng = np.random.default_rng(5)
    data = rng.standard_normal((600, n)) + rng.standard_normal((600, 1))
    moments = Moments.from_data(data)
    order = rng.permutation(n)
    engine = engine_of(moments, order)
    for _ in range(50):
        random_change(rng, engine)()
    rows = engine._factor.rows()
    permuted = moments.correlation[np.ix_(engine.order, engine.order)]
    inverse = np.linalg.inv(np.linalg.cholesky(permuted))
    np.testing.assert_allclose(rows[:, engine.order], inverse, rtol=1e-8, atol=1e-10)
    squared = squared_partial_correlations(engine.order, rows, engine._factor.precisions())
    np.testing.assert_array_equal(engine.dag()[:, engine.order].T, squared > engine.tau)
    assert engine.cost == pytest.approx(engine.objective.row_costs(squared, engine.tau).sum())


@random_cases
@few
def test_every_instruction_set_agrees(n, seed):
    """Factor, cost and graph after the same changes: 1e-11 relative; edges the same away from τ."""
    results = []
    for name in _core.available_kernels():
        rng, moments, order = draw(n, seed)
        engine = engine_of(moments, order, kernels=name)
        for _ in range(10):
            random_change(rng, engine)()
        results.append(engine)
    first = results[0]
    squared = squared_partial_correlations(
        first.order, first._factor.rows(), first._factor.precisions()
    )
    decided = np.abs(squared - first.tau) > 1e-9
    for other in results[1:]:
        for left, right in zip(state(first)[:4], state(other)[:4], strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11)
        same = first.dag()[:, first.order].T == other.dag()[:, first.order].T
        assert same[decided].all()


@random_cases
@few
def test_inverse_cholesky_is_lower_triangular(n, seed):
    _, moments, order = draw(n, seed)
    factor = inverse_cholesky(moments, order)
    np.testing.assert_array_equal(np.triu(factor, 1), 0)
    permuted = moments.correlation[np.ix_(order, order)]
    np.testing.assert_allclose(factor @ permuted @ factor.T, np.eye(n), **EXACT)
