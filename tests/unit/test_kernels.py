"""The instruction sets of the compiled core: what there is, and that padding is no matter."""

from __future__ import annotations

import numpy as np
import pytest

from qwo import _core
from qwo.moments import Moments
from qwo.order.objective import squared_partial_correlations
from qwo.order.qwo import QwoEngine
from qwo.order.reference import order_factor_by_definition, prefix_precisions_by_definition
from tests.oracles.random_models import random_covariance

KERNELS = pytest.mark.parametrize("kernels", _core.available_kernels())


def test_the_portable_kernels_are_always_there_and_come_last():
    names = _core.available_kernels()
    assert names[-1] == "portable"
    assert len(set(names)) == len(names)
    assert _core.build_config()["kernels"] == names[0]


def test_the_fastest_kernels_are_the_default():
    engine = QwoEngine(np.eye(3), 100.0)
    assert engine._factor.kernels == _core.available_kernels()[0]
    assert QwoEngine(np.eye(3), 100.0, kernels="portable")._factor.kernels == "portable"


def test_the_core_refuses_unknown_kernels_and_wrong_arrays():
    with pytest.raises(ValueError, match="no kernels named 'mmx'"):
        _core.OrderFactor(np.eye(2), 0.1, True, 1.0, "mmx")
    with pytest.raises(TypeError):
        _core.OrderFactor(np.eye(2, dtype=np.float32), 0.1, True, 1.0)


@KERNELS
@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65])
def test_rows_of_every_length(kernels, n):
    """Vectors hold 2, 4 or 8 numbers: lengths about their multiples, against the definitions."""
    rng = np.random.default_rng(n)
    moments = Moments.from_covariance(random_covariance(rng, n), 500)
    for objective in ("likelihood", "edges"):
        engine = QwoEngine(
            moments, alpha=0.2, objective=objective, kernels=kernels, order=rng.permutation(n)
        )
        engine.move(int(rng.integers(n)), int(rng.integers(n)))
        rows, precisions = engine._factor.rows(), engine._factor.precisions()
        order, s = engine.order, moments.correlation
        np.testing.assert_allclose(rows, order_factor_by_definition(order, s), atol=1e-10)
        np.testing.assert_allclose(
            precisions, prefix_precisions_by_definition(order, s), atol=1e-10
        )
        squared = squared_partial_correlations(order, rows, precisions)
        expected = engine.objective.row_costs(squared, engine.tau).sum()
        assert engine.cost == pytest.approx(expected, rel=1e-12)
        assert engine.n_edges == np.count_nonzero(squared > engine.tau)
