"""The insertion scan against its definition: move there, look at the cost, come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo import _core
from qwo.errors import DataWarning
from qwo.moments import Moments
from qwo.order.protocol import EngineBase
from qwo.order.qwo import QwoEngine
from qwo.order.reference import order_factor_by_definition, prefix_precisions_by_definition
from tests.oracles.random_models import (
    model_covariance,
    random_covariance,
    random_dag,
    to_correlation,
)

EXACT = {"rtol": 1e-9, "atol": 1e-9}
OBJECTIVES = pytest.mark.parametrize("objective", ["likelihood", "edges"])
KERNELS = pytest.mark.parametrize("kernels", _core.available_kernels())

random_cases = given(n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
few = settings(max_examples=25, deadline=None, derandomize=True)


def draw(n, seed):
    rng = np.random.default_rng(seed)
    return rng, to_correlation(random_covariance(rng, n)), rng.permutation(n)


def make_engine(n, seed, **options):
    rng, correlation, order = draw(n, seed)
    return rng, QwoEngine(correlation, 300.0, penalty_discount=2.0, order=order, **options)


def by_brute_force(engine, variable):
    """The scan of the protocol's base class: one move and one undo for each place."""
    return EngineBase.scan(engine, variable)


def moved(order, v, place):
    rest = [u for u in order if u != v]
    return [*rest[:place], v, *rest[place:]]


@KERNELS
@OBJECTIVES
@random_cases
@few
def test_scan_equals_brute_force(kernels, objective, n, seed):
    """All n changes of the cost, with every instruction set, to 1e-9."""
    rng, engine = make_engine(n, seed, objective=objective, kernels=kernels)
    variable = int(rng.integers(n))
    before = engine._factor.rows()
    changes = engine.scan(variable)
    np.testing.assert_array_equal(engine._factor.rows(), before)
    np.testing.assert_allclose(changes, by_brute_force(engine, variable), **EXACT)
    assert changes[np.flatnonzero(engine.order == variable)[0]] == 0


@OBJECTIVES
@random_cases
@few
def test_scans_of_several_variables_share_a_pass(objective, n, seed):
    """More variables than a batch holds, with repetitions; each row is the variable's own scan."""
    rng, engine = make_engine(n, seed, objective=objective)
    variables = rng.integers(0, n, int(rng.integers(0, 20)))
    changes = engine.scan_many(variables)
    assert changes.shape == (len(variables), n)
    for variable, row in zip(variables, changes, strict=True):
        np.testing.assert_allclose(row, engine.scan(int(variable)), **EXACT)


@OBJECTIVES
@random_cases
@few
def test_scan_of_an_exact_covariance(objective, n, seed):
    """Many partial correlations are zero: counts of edges must not stumble over rounding."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n, min(1.0, 3 / n))
    engine = QwoEngine(model_covariance(rng, dag), objective=objective, order=rng.permutation(n))
    for variable in rng.integers(0, n, 3):
        np.testing.assert_array_equal(
            engine.scan(int(variable)), by_brute_force(engine, int(variable))
        )


@OBJECTIVES
def test_scans_between_many_moves(objective):
    """Columns are packed anew from time to time, which neither scans nor moves may notice."""
    n = 12
    rng, engine = make_engine(n, 7, objective=objective)
    for step in range(600):
        engine.move(int(rng.integers(n)), int(rng.integers(n)))
        if step % 20 == 0:
            variable = int(rng.integers(n))
            changes = engine.scan_many([variable, int(rng.integers(n))])[0]
            np.testing.assert_allclose(changes, engine.scan(variable), **EXACT)
            np.testing.assert_allclose(changes, by_brute_force(engine, variable), **EXACT)
            expected = order_factor_by_definition(engine.order, engine.moments.correlation)
            np.testing.assert_allclose(engine._factor.rows(), expected, **EXACT)


@random_cases
@few
def test_rows_on_the_way_to_the_left(n, seed):
    """Section 4, leftwards: the mover's row at each place, and the row of each passed variable."""
    rng, s, order = draw(n, seed)
    p = int(rng.integers(n))
    v = order[p]
    rows = order_factor_by_definition(order, s)
    precisions = prefix_precisions_by_definition(order, s)
    acc, res = np.eye(n)[v], s[v, v]
    for j in range(p):
        there = moved(order, v, j)
        new = order_factor_by_definition(there, s)
        new_precisions = prefix_precisions_by_definition(there, s)
        before = precisions[j - 1] if j > 0 else np.zeros(n)
        x = acc / np.sqrt(res)
        np.testing.assert_allclose(x, new[j], **EXACT)
        np.testing.assert_allclose(before + x**2, new_precisions[j], **EXACT)
        g = rows[j] @ s[:, v]
        acc, old, res = acc - g * rows[j], res, res - g * g
        x1 = acc / np.sqrt(res)
        y = np.sqrt(res / old) * rows[j] - g / np.sqrt(old) * x1
        np.testing.assert_allclose(y, new[j + 1], **EXACT)
        np.testing.assert_allclose(precisions[j] + x1**2, new_precisions[j + 1], **EXACT)


@random_cases
@few
def test_rows_on_the_way_to_the_right(n, seed):
    """Section 4, rightwards: the row of each passed variable, and the mover's row at each place."""
    rng, s, order = draw(n, seed)
    p = int(rng.integers(n))
    v = order[p]
    rows = order_factor_by_definition(order, s)
    d = prefix_precisions_by_definition(order, s)
    acc, x = rows[p, v] * rows[p], rows[p]
    for j in range(p + 1, n):
        there = moved(order, v, j)
        new = order_factor_by_definition(there, s)
        new_precisions = prefix_precisions_by_definition(there, s)
        y = np.sqrt(d[j - 1, v] / d[j, v]) * rows[j] - rows[j, v] / np.sqrt(d[j, v]) * x
        acc = acc + rows[j, v] * rows[j]
        x = acc / np.sqrt(d[j, v])
        np.testing.assert_allclose(y, new[j - 1], **EXACT)
        np.testing.assert_allclose(d[j] - x**2, new_precisions[j - 1], **EXACT)
        np.testing.assert_allclose(x, new[j], **EXACT)
        np.testing.assert_allclose(d[j], new_precisions[j], **EXACT)


@OBJECTIVES
def test_scan_of_200_variables(objective):
    n = 200
    rng = np.random.default_rng(3)
    data = rng.standard_normal((600, n)) + rng.standard_normal((600, 1))
    engine = QwoEngine(
        Moments.from_data(data), alpha=0.05, objective=objective, order=rng.permutation(n)
    )
    variables = engine.order[[0, 77, n - 1]]
    changes = engine.scan_many(variables)
    for variable, row in zip(variables, changes, strict=True):
        np.testing.assert_allclose(row, by_brute_force(engine, int(variable)), rtol=0, atol=1e-7)


@OBJECTIVES
def test_scan_of_nearly_collinear_variables_is_finite(objective):
    """Copies with noise of 1e-5: residual variances of 1e-10 times the rest."""
    rng = np.random.default_rng(4)
    data = rng.standard_normal((500, 4)) @ rng.standard_normal((4, 12))
    data += 1e-5 * rng.standard_normal(data.shape)
    with pytest.warns(DataWarning, match="nearly singular"):
        moments = Moments.from_data(data)
    engine = QwoEngine(moments, penalty_discount=1.0, objective=objective)
    changes = engine.scan_many(engine.order)
    assert np.isfinite(changes).all()
    for variable in engine.order:
        brute = by_brute_force(engine, int(variable))
        np.testing.assert_allclose(changes[variable], brute, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("threads", [2, 3, 40])
def test_threads_change_no_bit(threads):
    _, engine = make_engine(30, 5)
    expected = engine.scan_many(np.arange(30))
    engine.threads = threads
    np.testing.assert_array_equal(engine.scan_many(np.arange(30)), expected)
    np.testing.assert_array_equal(engine.scan_many([7]), expected[[7]])
    assert engine.scan_many([]).shape == (0, 30)
