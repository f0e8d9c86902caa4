"""The inverse Cholesky factor by LAPACK, called without the GIL."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.order.linalg import invert_cholesky, regressions, residual_variances
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
    np.testing.assert_allclose(residual_variances(correlation, drawn.dag), single, rtol=1e-12)
    np.testing.assert_array_equal(residual_variances(correlation, 0 * drawn.dag), 1.0)
