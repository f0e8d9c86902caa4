"""Direct, total and adjusted effects and their standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.regression.linear_model import OLS

from qwo.errors import ArgumentError, ColumnNameError, InputError, SampleSizeError
from qwo.moments import Moments
from qwo.sem import (
    Effect,
    adjusted_effect,
    direct_effect,
    fit_sem,
    ida,
    total_effect,
    total_effects,
)
from qwo.simulation import LinearModel, simulate

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
DIAMOND = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])


@pytest.fixture
def chain():
    data, dag, _ = simulate(CHAIN, n_samples=80, random_state=1)
    return fit_sem(data * [1, 100, 0.1], dag)


def test_one_path_of_two_edges_is_sobels_formula(chain):
    first, second = chain.edges
    effect = total_effect(chain, "X0", "X2")
    assert effect.estimate == pytest.approx(first.coefficient * second.coefficient, rel=1e-12)
    expected = math.hypot(
        second.coefficient * first.standard_error, first.coefficient * second.standard_error
    )
    assert effect.standard_error == pytest.approx(expected, rel=1e-12)
    assert effect.p_value == pytest.approx(2 * norm.sf(abs(effect.estimate / expected)), rel=1e-10)
    low, high = effect.interval(0.9)
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.95) * expected, rel=1e-10)


def test_a_single_edge_is_its_own_total_effect(chain):
    edge = chain.edges[0]
    direct, total = direct_effect(chain, 0, 1), total_effect(chain, 0, 1)
    assert direct.estimate == total.estimate == edge.coefficient
    assert direct.standard_error == edge.standard_error
    assert total.standard_error == pytest.approx(edge.standard_error, rel=1e-12)
    assert direct.p_value == pytest.approx(edge.p_value, rel=1e-12)
    assert (direct.df, total.df) == (78, math.inf)


def test_no_path_means_no_effect_and_says_why(chain):
    for effect, reason in (
        (total_effect(chain, 2, 0), "no directed path leads there in this DAG"),
        (direct_effect(chain, 0, 2), "there is no such edge in this DAG"),
    ):
        assert (effect.estimate, effect.standard_error) == (0, 0)
        assert math.isnan(effect.p_value)
        assert effect.interval() == (0, 0)
        assert f": 0 ({reason}" in str(effect)


def test_a_total_effect_says_that_other_dags_of_the_class_differ(chain):
    assert "other DAGs of its class may have other effects" in total_effect(chain, 2, 0).note
    assert "other DAGs of its class may have other effects" in total_effect(chain, 0, 2).note
    collider = fit_sem(
        Moments.from_covariance(np.eye(3) + 0.1, 50), [[0, 1, 0], [0] * 3, [0, 1, 0]]
    )
    assert total_effect(collider, 0, 1).note == ""


def test_an_edge_that_the_data_want_and_the_graph_lacks_is_pointed_out(chain):
    sparse = fit_sem(chain.moments, [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    note = total_effect(sparse, 1, 2).note
    assert "the data speak against that" in note
    assert "an edge may be missing" in note
    slope = adjusted_effect(chain.moments, 1, 2, [0]).estimate
    assert f"changes by {slope:.4g}" in note
    possible = ida(chain.moments, sparse.dag, 1, 2)
    assert possible.directed.tolist() == [False]
    assert "an edge may be missing" in str(possible)
    assert possible[0].estimate == pytest.approx(slope)


@pytest.mark.parametrize("wrong", [None, "model", [[0, 1], [0, 0]], 3])
def test_what_is_no_model_is_refused(wrong):
    for function in (total_effect, direct_effect):
        with pytest.raises(InputError, match="wanted the model that fit_sem"):
            function(wrong, 0, 1)
    with pytest.raises(InputError, match="wanted the model that fit_sem"):
        total_effects(wrong)


def test_paths_add_up_in_the_diamond():
    data, dag, _ = simulate(DIAMOND, n_samples=60, random_state=3)
    sem = fit_sem(data, dag)
    b = sem.coefficients
    expected = b[0, 1] * b[1, 3] + b[0, 2] * b[2, 3]
    assert total_effect(sem, 0, 3).estimate == pytest.approx(expected, rel=1e-12)


def test_all_pairs_agree_with_one_at_a_time():
    data, dag, _ = simulate("er", n_variables=12, n_samples=200, degree=4, random_state=2)
    sem = fit_sem(data, dag)
    matrix = total_effects(sem)
    np.testing.assert_array_equal(matrix.estimates.diagonal(), 1)
    np.testing.assert_array_equal(matrix.standard_errors.diagonal(), 0)
    for x in range(12):
        for y in range(12):
            if x != y:
                one, many = total_effect(sem, x, y), matrix.effect(x, y)
                assert many.estimate == pytest.approx(one.estimate, rel=1e-10, abs=1e-14)
                assert many.standard_error == pytest.approx(one.standard_error, rel=1e-10)


def test_standard_errors_are_the_spread_over_samples():
    rng = np.random.default_rng(7)
    weights = DIAMOND * np.array([[0, 0.8, -0.5, 0], [0, 0, 0, 1.2], [0, 0, 0, 0.7], [0, 0, 0, 0]])
    model = LinearModel(DIAMOND.astype(np.int8), weights, np.ones(4))
    effects = [
        total_effect(fit_sem(model.sample(100, random_state=rng), DIAMOND), 0, 3)
        for _ in range(1500)
    ]
    spread = np.std([effect.estimate for effect in effects])
    assert np.mean([effect.standard_error for effect in effects]) == pytest.approx(spread, rel=0.06)
    truth = 0.8 * 1.2 - 0.5 * 0.7
    covered = [low < truth < high for low, high in (effect.interval() for effect in effects)]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)


def test_adjustment_agrees_with_statsmodels():
    data, _, _ = simulate("er", n_variables=5, n_samples=70, degree=3, random_state=4)
    names = ["u", "v", "w", "x", "y"]
    moments = Moments.from_data(data + 10, names)
    design = np.column_stack([np.ones(70), data[:, [3, 0, 2]]])
    reference = OLS(data[:, 4], design).fit()
    effect = adjusted_effect(moments, "x", 4, adjust=["w", 0, "u"])
    assert effect.estimate == pytest.approx(reference.params[1], rel=1e-8)
    assert effect.standard_error == pytest.approx(reference.bse[1], rel=1e-8)
    assert effect.statistic == pytest.approx(reference.tvalues[1], rel=1e-8)
    assert effect.p_value == pytest.approx(reference.pvalues[1], rel=1e-8)
    np.testing.assert_allclose(effect.interval(), reference.conf_int()[1], rtol=1e-8)
    assert (effect.cause, effect.effect, effect.df) == ("x", "y", 66)


def test_adjusting_for_the_parents_gives_the_total_effect_of_exact_moments():
    data, dag, _ = simulate("er", n_variables=8, n_samples=100, degree=4, random_state=6)
    sem = fit_sem(data, dag)
    exact = Moments.from_covariance(sem.implied_covariance(), None)
    matrix = total_effects(sem)
    for x in range(8):
        parents = np.flatnonzero(dag[:, x])
        for y in set(range(8)) - {x, *parents.tolist()}:
            effect = adjusted_effect(exact, x, y, adjust=parents)
            assert effect.estimate == pytest.approx(matrix.estimates[x, y], abs=1e-9)
            assert effect.standard_error == 0


def test_an_effect_that_is_determined_exactly_has_hardly_any_error():
    for seed in range(30):
        x, z = np.random.default_rng(seed).standard_normal((2, 50))
        correlation = np.corrcoef([x, x + z, z])
        moments = Moments(("x", "y", "z"), 50.0, np.zeros(3), np.ones(3), correlation)
        assert 0 <= adjusted_effect(moments, "x", "y", ["z"]).standard_error < 1e-7


def test_an_effect_reads_well():
    effect = Effect("dose", "outcome", 1.5, 0.5)
    assert str(effect) == "dose → outcome: 1.5, 95 % [0.52, 2.48], p = 0.0027"
    assert float(effect) == 1.5
    assert effect.statistic == 3


def test_arguments_that_are_refused(chain):
    with pytest.raises(ColumnNameError, match="did you mean 'X1'"):
        total_effect(chain, "X0", "X11")
    with pytest.raises(ColumnNameError, match="no column 3; columns are numbered 0 to 2"):
        total_effect(chain, 3, 0)
    with pytest.raises(ColumnNameError, match="both 'X0'"):
        direct_effect(chain, 0, "X0")
    with pytest.raises(ColumnNameError, match="cause is True"):
        direct_effect(chain, True, 0)
    with pytest.raises(ColumnNameError, match="adjust has 'X2'"):
        adjusted_effect(chain.moments, 0, 2, adjust=["X2"])
    with pytest.raises(ColumnNameError, match="single string"):
        adjusted_effect(chain.moments, 0, 2, adjust="X1")
    with pytest.raises(ArgumentError, match="level is 95"):
        total_effect(chain, 0, 2).interval(95)
    tiny = Moments(("a", "b", "c"), 3.0, np.zeros(3), np.ones(3), np.eye(3))
    with pytest.raises(SampleSizeError, match=r"'c' on 2 variables \('b', 'a'\)"):
        adjusted_effect(tiny, "a", "c", ["b"])


@pytest.mark.parametrize(("first", "second"), [(1e160, 1e-160), (1e200, 1.0), (1.0, 1e-200)])
def test_units_beyond_the_range_of_numbers_are_refused(first, second):
    data = simulate(CHAIN, n_samples=100, random_state=0).data * [first, second, 1.0]
    for question in (
        lambda: fit_sem(data, CHAIN),
        lambda: ida(data, CHAIN, 0, 2),
        lambda: adjusted_effect(data, 0, 2),
    ):
        with pytest.raises(InputError, match="too large or too small"):
            question()
    good = fit_sem(data, CHAIN, transform="standardize")
    assert math.isfinite(total_effect(good, 0, 2).estimate)
