"""The inverse Cholesky factor by LAPACK, called without the GIL."""

from __future__ import annotations

import numpy as np
import pytest

from qwo import _core
from qwo.errors import IndexRangeError, ShapeError
from qwo.order.linalg import explained, invert_cholesky, regressions
from qwo.simulation import simulate
from tests.oracles.random_models import random_covariance


@pytest.mark.parametrize("n", [1, 2, 7, 64, 150])
def test_the_inverse_factor_whitens(n):
    covariance = random_covariance(np.random.default_rng(n), n)
    factor = covariance.copy()
    assert invert_cholesky(factor) == 0
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ covariance @ lower.T, np.eye(n), atol=1e-10)
    np.testing.assert_array_equal(np.triu(factor, 1), np.triu(covariance, 1))


def test_the_first_block_that_is_not_positive_definite_is_told():
    matrix = np.eye(4)
    matrix[2, 2] = -1.0
    assert invert_cholesky(matrix) == 3


def test_other_layouts_are_refused():
    read_only = np.eye(3)
    read_only.flags.writeable = False
    for matrix in (np.ones((2, 3)), np.asfortranarray(np.arange(4.0).reshape(2, 2)), read_only):
        with pytest.raises(ValueError, match="C-contiguous square"):
            invert_cholesky(matrix)


def test_variances_of_all_variables_are_those_of_single_regressions():
    drawn = simulate("er", n_variables=25, n_samples=200, degree=5, random_state=2)
    correlation = np.corrcoef(drawn.data.T)
    single = [left for *_, left in regressions(correlation, drawn.dag)]
    np.testing.assert_allclose(explained(correlation, drawn.dag).variances, single, rtol=1e-12)
    np.testing.assert_array_equal(explained(correlation, 0 * drawn.dag).variances, 1.0)


def test_shares_are_squared_partial_correlations_given_the_other_parents():
    drawn = simulate("er", n_variables=12, n_samples=300, degree=4, random_state=3)
    correlation = np.corrcoef(drawn.data.T)
    found = explained(correlation, drawn.dag)
    assert len(found.shares) == drawn.dag.sum()
    for cause, effect, share in zip(found.causes, found.effects, found.shares, strict=True):
        family = [*np.flatnonzero(drawn.dag[:, effect]), effect]
        inverse = np.linalg.inv(correlation[np.ix_(family, family)])
        k = family.index(cause)
        assert share == pytest.approx(inverse[k, -1] ** 2 / (inverse[k, k] * inverse[-1, -1]))


def test_a_parent_that_others_determine_adds_nothing():
    correlation = np.array([[1.0, 1.0, 0.6], [1.0, 1.0, 0.6], [0.6, 0.6, 1.0]])
    dag = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    found = explained(correlation, dag)
    np.testing.assert_allclose(found.shares, 0.0, atol=1e-6)
    assert found.variances[2] == pytest.approx(1 - 0.36)


def test_a_variable_that_its_parent_determines_leaves_next_to_nothing():
    found = explained(np.ones((2, 2)), np.array([[0, 1], [0, 0]], dtype=np.int8))
    assert found.shares[0] == pytest.approx(1.0)
    assert 0 < found.variances[1] < 1e-12


def test_wrong_families_are_refused():
    two, ends, ones = np.eye(2), np.array([0, 1]), ([1, 1], [1, 1])
    with pytest.raises(IndexRangeError):
        _core.explained(two, np.array([2]), ends, *ones)
    with pytest.raises(IndexRangeError):
        _core.explained(two, np.array([0]), np.array([1, 0]), *ones)
    with pytest.raises(ShapeError):
        _core.explained(two, np.array([0]), np.array([0, 0, 1]), *ones)
    with pytest.raises(ShapeError):
        _core.explained(np.ones((2, 3)), np.array([0]), ends, *ones)
    for sizes, leading in (([1], [1]), ([2, 1], [1, 1]), ([1, 1], [1, 2]), ([1, 1], [1])):
        with pytest.raises(ShapeError):
            _core.explained(two, np.array([0]), ends, sizes, leading)


def test_between_blocks_shares_are_those_of_wilks() -> None:
    rng = np.random.default_rng(4)
    sizes, leading = np.array([2, 3, 1, 3, 2]), np.array([1, 3, 1, 2, 2])
    mixed = rng.standard_normal((11, 11)) @ rng.standard_normal((11, 400))
    correlation = np.corrcoef(mixed)
    dag = np.triu(np.ones((5, 5), np.int8), 1)
    dag[0, 3] = 0
    found = explained(correlation, dag, sizes, leading)
    ends = np.cumsum(sizes)
    columns = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    def left(child: int, parents: list[int]) -> float:
        own = columns[child][: leading[child]]
        given = np.concatenate([columns[u] for u in parents]) if parents else np.empty(0, int)
        cross = correlation[np.ix_(given, own)]
        slopes = np.linalg.solve(correlation[np.ix_(given, given)], cross)
        return float(np.linalg.det(correlation[np.ix_(own, own)] - cross.T @ slopes))

    for v in range(1, 5):
        parents = np.flatnonzero(dag[:, v]).tolist()
        assert found.variances[v] == pytest.approx(left(v, parents) ** (1 / leading[v]))
    for u, v, share in zip(found.causes, found.effects, found.shares, strict=True):
        parents = np.flatnonzero(dag[:, v]).tolist()
        fewer = [p for p in parents if p != u]
        assert share == pytest.approx(1 - left(v, parents) / left(v, fewer), abs=1e-9)
