"""qwo.order_dag: the graph of an order with its fitted model, from any kind of data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from qwo.errors import ArgumentError, ColumnNameError, OrderError
from qwo.graph import topological_order
from qwo.moments import Moments
from qwo.order.edge_test import BicRule
from qwo.order.order_dag import order_dag
from qwo.order.reference import order_dag_by_definition, order_dag_by_separation
from qwo.simulation import random_model, simulate

DEFINED = pytest.mark.parametrize("engine", ["qwo", "reference"])


@pytest.fixture
def sample():
    return simulate("er", n_variables=8, n_samples=2000, degree=3, random_state=4)


@DEFINED
def test_the_graph_is_that_of_the_definition(sample, engine):
    order = np.random.default_rng(0).permutation(8)
    result = order_dag(sample.data, order, penalty_discount=2.0, engine=engine)
    expected = order_dag_by_definition(
        order, np.corrcoef(sample.data.T), BicRule(2.0).threshold(8, 2000)
    )
    np.testing.assert_array_equal(result.dag, expected)
    np.testing.assert_array_equal(result.order, order)
    assert result.n_edges == expected.sum()
    assert result.dag.dtype == np.int8


@DEFINED
def test_oracle_moments_give_the_model_back(engine):
    """In a causal order G^π is the graph itself, and the fit its coefficients and variances."""
    model = random_model("er", n_variables=12, degree=3, random_state=1)
    moments = Moments.from_precision(model.precision())
    result = order_dag(moments, topological_order(model.dag), engine=engine)
    np.testing.assert_array_equal(result.dag, model.dag)
    np.testing.assert_allclose(result.coefficients, model.coefficients, atol=1e-9)
    np.testing.assert_allclose(result.residual_variances, model.noise_variances, rtol=1e-9)
    backwards = topological_order(model.dag)[::-1]
    np.testing.assert_array_equal(
        order_dag(moments, backwards, engine=engine).dag,
        order_dag_by_separation(backwards, model.dag),
    )


def test_the_fit_is_the_regression_on_the_parents_in_data_units(sample):
    data = sample.data * np.array([1, 10, 0.1, 1, 100, 1, 1, 0.01])
    result = order_dag(data, range(8), alpha=0.01)
    centred = data - data.mean(axis=0)
    assert result.n_edges > 0
    for child in range(8):
        parents = np.flatnonzero(result.dag[:, child])
        slopes, *_ = np.linalg.lstsq(centred[:, parents], centred[:, child], rcond=None)
        np.testing.assert_allclose(result.coefficients[parents, child], slopes, rtol=1e-8)
        assert np.count_nonzero(result.coefficients[:, child]) == len(parents)
        residual = centred[:, child] - centred[:, parents] @ slopes
        assert result.residual_variances[child] == pytest.approx(residual.var(), rel=1e-8)


def test_names_and_numbers_mean_the_same(sample):
    frame = pd.DataFrame(sample.data, columns=list("abcdefgh"))
    by_name = order_dag(frame, list("hgfedcba"))
    by_number = order_dag(frame, [7, 6, 5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(by_name.dag, by_number.dag)
    assert by_name.names == tuple("abcdefgh")
    assert "8 variables" in repr(by_name)
    assert "'h', 'g'" in repr(by_name)


def test_the_paper_s_level_is_the_default(sample):
    order = list(range(8))
    np.testing.assert_array_equal(
        order_dag(sample.data, order).dag, order_dag(sample.data, order, alpha=2 / 64).dag
    )


def test_the_result_is_read_only(sample):
    result = order_dag(sample.data, range(8))
    with pytest.raises(ValueError, match="read-only"):
        result.dag[0, 1] = 1
    with pytest.raises(AttributeError):
        result.dag = np.zeros((8, 8))


def test_wrong_orders_are_refused(sample):
    frame = pd.DataFrame(sample.data, columns=list("abcdefgh"))
    with pytest.raises(ColumnNameError, match="no variable is called 'z'") as caught:
        order_dag(frame, list("abcdefgz"))
    assert caught.value.columns == ("z",)
    with pytest.raises(OrderError, match="missing: 'h'") as caught:
        order_dag(frame, list("abcdefg"))
    assert caught.value.columns == ("h",)
    with pytest.raises(OrderError, match="7 of them different; missing: 'h'"):
        order_dag(frame, list("abcdefga"))
    with pytest.raises(OrderError, match=r"missing: \[7\]"):
        order_dag(frame, [0, 1, 2, 3, 4, 5, 6, 8])


def test_the_bic_engine_finds_the_model_of_a_causal_order(sample):
    order = topological_order(sample.dag)
    result = order_dag(sample.data, order, engine="bic")
    np.testing.assert_array_equal(result.dag, sample.dag)
    np.testing.assert_array_equal(
        result.dag, order_dag(sample.data, order, engine="bic", penalty_discount=2.0).dag
    )
    assert order_dag(sample.data, order, engine="bic", penalty_discount=1e6).n_edges == 0


def test_wrong_options_are_refused(sample):
    with pytest.raises(
        ArgumentError,
        match=r"alpha is 0\.1, .* which the exact BIC has not\nTry: engine='qwo' has one",
    ):
        order_dag(sample.data, range(8), engine="bic", alpha=0.1)
    with pytest.raises(ArgumentError, match=r"engine must be one of 'qwo'.*got 'fast'"):
        order_dag(sample.data, range(8), engine="fast")
    with pytest.raises(ArgumentError, match="give one of them"):
        order_dag(sample.data, range(8), alpha=0.1, penalty_discount=1.0)
