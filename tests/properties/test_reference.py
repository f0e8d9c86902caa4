"""Every theorem, lemma and remark of the paper, and the identities of the order factor.

Random covariances and orders are drawn from a seed, so that a failing example is one number.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import CovarianceError
from qwo.graph import is_topological, same_equivalence_class, topological_order
from qwo.order.edge_test import AbsoluteTolerance
from qwo.order.reference import (
    coefficient_matrix,
    graph_of,
    order_dag_by_definition,
    order_dag_by_separation,
    order_factor_by_definition,
    order_factor_from_basis,
    partial_correlation,
    prefix_precisions_by_definition,
    qwo,
    qwo_by_matrix_products,
    whitening_matrix,
)
from tests.oracles.equivalence import equivalence_class
from tests.oracles.random_models import (
    model_covariance,
    random_covariance,
    random_dag,
    to_correlation,
)

SPELLINGS = pytest.mark.parametrize("algorithm", [qwo, qwo_by_matrix_products])
TAU = AbsoluteTolerance().tolerance
EXACT = {"rtol": 1e-9, "atol": 1e-9}

random_cases = given(n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
few = settings(max_examples=40, deadline=None, derandomize=True)


def draw(n, seed):
    """A generator, a dense covariance and an order."""
    rng = np.random.default_rng(seed)
    return rng, random_covariance(rng, n), rng.permutation(n)


def off_diagonal(matrix):
    return matrix - np.diag(np.diag(matrix))


@random_cases
@few
def test_whitening_whitens(n, seed):
    _, covariance, _ = draw(n, seed)
    w = whitening_matrix(covariance)
    np.testing.assert_allclose(w @ covariance @ w.T, np.eye(n), **EXACT)
    np.testing.assert_allclose(w, w.T, **EXACT)
    assert np.all(np.linalg.eigvalsh(w) > 0)


def test_a_singular_covariance_has_no_whitening_matrix():
    with pytest.raises(CovarianceError, match="singular"):
        whitening_matrix(np.ones((3, 3)))


@random_cases
@few
def test_every_orthogonal_q_gives_a_model_of_x(n, seed):
    """Theorem "Characterizing B(X)", from Q to B."""
    rng, covariance, _ = draw(n, seed)
    rotation = np.linalg.qr(rng.standard_normal((n, n)))[0]
    q = rng.uniform(0.5, 2, (n, 1)) * rotation
    mixing = np.linalg.inv(np.eye(n) - coefficient_matrix(q, whitening_matrix(covariance)))
    np.testing.assert_allclose(mixing @ np.diag(np.diag(q @ q.T)) @ mixing.T, covariance, **EXACT)


@random_cases
@few
def test_every_model_of_x_has_its_orthogonal_q(n, seed):
    """Theorem "Characterizing B(X)", from B to the only possible Q."""
    rng = np.random.default_rng(seed)
    b = 0.5 * off_diagonal(rng.standard_normal((n, n))) / n
    mixing = np.linalg.inv(np.eye(n) - b)
    variances = rng.uniform(0.5, 2, n)
    w = whitening_matrix(mixing @ np.diag(variances) @ mixing.T)
    q = (np.eye(n) - b) @ np.linalg.inv(w)
    np.testing.assert_allclose(q @ q.T, np.diag(variances), **EXACT)
    np.testing.assert_allclose(coefficient_matrix(q, w), b, **EXACT)


@SPELLINGS
@random_cases
@few
def test_algorithm_1_is_sound(algorithm, n, seed):
    """Theorem "Soundness": Q has orthogonal rows, QW is triangular in the order, its diagonal 1."""
    _, covariance, order = draw(n, seed)
    w = whitening_matrix(covariance)
    q = algorithm(order, w)
    np.testing.assert_allclose(off_diagonal(q @ q.T), 0, **EXACT)
    permuted = (q @ w)[np.ix_(order, order)]
    np.testing.assert_allclose(np.triu(permuted, 1), 0, **EXACT)
    np.testing.assert_allclose(np.diag(permuted), 1, **EXACT)


@random_cases
@few
def test_the_coefficients_of_an_order_are_unique(n, seed):
    """Theorem "main": whatever square root of the precision matrix stands in for W, B is the same.

    They are also the coefficients of the regressions on the predecessors.
    """
    rng, covariance, order = draw(n, seed)
    w = whitening_matrix(covariance)
    other = np.linalg.qr(rng.standard_normal((n, n)))[0] @ w
    b = coefficient_matrix(qwo(order, w), w)
    np.testing.assert_allclose(coefficient_matrix(qwo(order, other), other), b, **EXACT)
    for place, v in enumerate(order):
        before = order[:place]
        slopes = np.linalg.solve(covariance[np.ix_(before, before)], covariance[before, v])
        np.testing.assert_allclose(b[v, before], slopes, **EXACT)
    assert is_topological(order, graph_of(b, 1e-9))


@SPELLINGS
@given(
    n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0.2, 0.5, 0.8])
)
@few
def test_the_graph_is_the_order_dag(algorithm, n, seed, density):
    """Theorem "main": G(I - QW) is G^π, by partial correlations and by d-separation."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n, density)
    covariance = model_covariance(rng, dag)
    correlation = to_correlation(covariance)
    order = rng.permutation(n)
    w = whitening_matrix(correlation)
    expected = order_dag_by_definition(order, correlation, TAU)
    np.testing.assert_array_equal(order_dag_by_separation(order, dag), expected)
    np.testing.assert_array_equal(
        graph_of(coefficient_matrix(algorithm(order, w), w), 1e-9), expected
    )


@random_cases
@few
def test_a_compatible_member_of_the_class_is_the_order_dag(n, seed):
    """Remark after the definition of G^π."""
    rng = np.random.default_rng(seed)
    n = min(n, 5)
    dag = random_dag(rng, n)
    correlation = to_correlation(model_covariance(rng, dag))
    for member in equivalence_class(dag):
        order = topological_order(member)
        np.testing.assert_array_equal(order_dag_by_definition(order, correlation, TAU), member)
        np.testing.assert_array_equal(order_dag_by_separation(order, dag), member)


@pytest.mark.parametrize("seed", range(8))
def test_the_sparsest_orders_are_those_of_the_class(seed):
    """Raskutti and Uhler: π minimises |E^π| if and only if it is an order of a DAG in [G*]."""
    rng = np.random.default_rng(seed)
    n = 4 + seed % 2
    dag = random_dag(rng, n)
    covariance = to_correlation(model_covariance(rng, dag))
    members = equivalence_class(dag)
    for order in permutations(range(n)):
        order_dag = order_dag_by_definition(order, covariance, TAU)
        assert order_dag.sum() >= dag.sum()
        fits = any(is_topological(order, member) for member in members)
        assert (order_dag.sum() == dag.sum()) == fits
        assert same_equivalence_class(order_dag, dag) == fits


@SPELLINGS
@random_cases
@few
def test_only_the_rows_of_the_changed_block_change(algorithm, n, seed):
    """Lemma on blocks: an update from idx_l to idx_r equals a rebuild and leaves the rest alone."""
    rng, covariance, order = draw(n, seed)
    w = whitening_matrix(covariance)
    q = algorithm(order, w)
    kept = q.copy()
    first, last = sorted(rng.integers(0, n, 2))
    changed = order.copy()
    changed[first : last + 1] = rng.permutation(changed[first : last + 1])
    updated = algorithm(changed, w, first, last, q)
    np.testing.assert_allclose(updated, algorithm(changed, w), **EXACT)
    outside = np.delete(order, np.s_[first : last + 1])
    np.testing.assert_array_equal(updated[outside], q[outside])
    np.testing.assert_array_equal(q, kept)


@random_cases
@few
def test_both_spellings_of_algorithm_1_agree(n, seed):
    _, covariance, order = draw(n, seed)
    w = whitening_matrix(covariance)
    np.testing.assert_allclose(qwo_by_matrix_products(order, w), qwo(order, w), **EXACT)


@random_cases
@few
def test_residuals_of_the_whitening_columns_hold_the_prefix_precision(n, seed):
    """Lemma: E Eᵀ = Cov(X_[j])⁻¹, with E the residuals of w_1 … w_j on w_(j+1) … w_n."""
    rng, covariance, _ = draw(n, seed)
    j = int(rng.integers(1, n + 1))
    w = whitening_matrix(covariance)
    c, d = w[:j], w[j:]
    e = c - c @ np.linalg.pinv(d) @ d
    np.testing.assert_allclose(e @ e.T, np.linalg.inv(covariance[:j, :j]), **EXACT)


@random_cases
@few
def test_the_order_factor_holds_everything(n, seed):
    """Rows of L are uncorrelated residuals of variance 1; Lᵀ L = S⁻¹; L S Lᵀ = I; L from Q."""
    _, covariance, order = draw(n, seed)
    factor = order_factor_by_definition(order, covariance)
    np.testing.assert_allclose(factor.T @ factor, np.linalg.inv(covariance), **EXACT)
    np.testing.assert_allclose(factor @ covariance @ factor.T, np.eye(n), **EXACT)
    w = whitening_matrix(covariance)
    q = qwo(order, w)
    np.testing.assert_allclose(order_factor_from_basis(order, q, w), factor, **EXACT)
    own = factor[np.arange(n), order]
    np.testing.assert_allclose((q @ w)[order], factor / own[:, None], **EXACT)
    inverse_cholesky = np.linalg.inv(np.linalg.cholesky(covariance[np.ix_(order, order)]))
    np.testing.assert_allclose(factor[:, order], inverse_cholesky, **EXACT)


@random_cases
@few
def test_partial_correlations_are_read_off_the_factor(n, seed):
    """D_k = Σ_{j ≤ k} l_j², and r²(k, i) = l_k[i]² / D_k[i]."""
    _, covariance, order = draw(n, seed)
    factor = order_factor_by_definition(order, covariance)
    precisions = prefix_precisions_by_definition(order, covariance)
    np.testing.assert_allclose(np.cumsum(factor**2, axis=0), precisions, **EXACT)
    for k in range(1, n):
        for i in order[:k]:
            others = [v for v in order[:k] if v != i]
            r = partial_correlation(covariance, i, order[k], others)
            assert factor[k, i] ** 2 / precisions[k, i] == pytest.approx(r**2, abs=1e-9)


@random_cases
@few
def test_partial_correlation_is_the_correlation_of_residuals(n, seed):
    _, covariance, order = draw(max(n, 3), seed)
    i, j, given_ = int(order[0]), int(order[1]), order[2:].tolist()
    slopes = np.linalg.solve(covariance[np.ix_(given_, given_)], covariance[given_][:, [i, j]])
    residual = covariance[np.ix_([i, j], [i, j])] - covariance[[i, j]][:, given_] @ slopes
    expected = residual[0, 1] / np.sqrt(residual[0, 0] * residual[1, 1])
    assert partial_correlation(covariance, i, j, given_) == pytest.approx(expected)


def test_arrows_of_a_coefficient_matrix_go_from_cause_to_effect():
    """G(B) has the support of Bᵀ: B[j, i] belongs to i → j."""
    b = np.array([[0.0, 0.0], [0.7, 0.0]])
    np.testing.assert_array_equal(graph_of(b), [[0, 1], [0, 0]])


@pytest.mark.parametrize("seed", range(3))
def test_larger_oracles(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 20, 0.15)
    correlation = to_correlation(model_covariance(rng, dag))
    order = rng.permutation(20)
    by_separation = order_dag_by_separation(order, dag)
    np.testing.assert_array_equal(order_dag_by_definition(order, correlation, TAU), by_separation)
    factor = order_factor_by_definition(order, correlation)
    squared = np.divide(factor**2, np.cumsum(factor**2, axis=0), where=factor != 0, out=factor * 0)
    squared[np.arange(20), order] = 0
    np.testing.assert_array_equal((squared > TAU).astype(np.int8), by_separation[:, order].T)
