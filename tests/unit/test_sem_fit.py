"""Fitted linear models and scores of graphs, against statsmodels, semopy and definitions."""

from __future__ import annotations

import math
import pickle
import sys
from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from statsmodels.regression.linear_model import OLS

from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    DataWarning,
    GraphError,
    InputError,
    LinearDependenceError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
)
from qwo.graph import to_cpdag
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.sem import fit_sem, score_graph
from qwo.simulation import simulate

NAMES = ("a", "b", "c", "d")
COVARIANCE = np.array(
    [[4.0, 0.3, 2.2, 1.1], [0.3, 1.0, 0.9, 0.2], [2.2, 0.9, 5.0, 2.0], [1.1, 0.2, 2.0, 3.0]]
)
GIVEN = Moments.from_covariance(COVARIANCE, 200, NAMES)


def graph(*edges):
    """The DiGraph on a, b, c, d with edges such as "ab" for a → b."""
    result = nx.DiGraph()
    result.add_nodes_from(NAMES)
    result.add_edges_from(tuple(edge) for edge in edges)
    return result


@pytest.fixture
def case():
    """Data far from standardised, their DAG, and the model."""
    data, dag, _ = simulate("er", n_variables=7, n_samples=120, degree=4, random_state=5)
    data = data * np.logspace(-3, 3, 7) + np.linspace(-50, 80, 7)
    return data, dag, fit_sem(data, dag)


@pytest.fixture
def ordinary(case):
    """The same regressions by statsmodels."""
    data, dag, _ = case
    return [
        OLS(data[:, v], np.column_stack([np.ones(len(data)), data[:, dag[:, v] == 1]])).fit()
        for v in range(data.shape[1])
    ]


def test_edges_agree_with_statsmodels(case, ordinary):
    _, dag, sem = case
    edges = iter(sem.edges)
    for v, reference in enumerate(ordinary):
        for k, p in enumerate(np.flatnonzero(dag[:, v]), start=1):
            edge = next(edges)
            assert (edge.cause, edge.effect) == (f"X{p}", f"X{v}")
            assert edge.coefficient == pytest.approx(reference.params[k], rel=1e-8)
            assert edge.standard_error == pytest.approx(reference.bse[k], rel=1e-8)
            assert edge.t == pytest.approx(reference.tvalues[k], rel=1e-8)
            assert edge.p_value == pytest.approx(reference.pvalues[k], rel=1e-8, abs=1e-300)
    assert next(edges, None) is None


def test_nodes_agree_with_statsmodels(case, ordinary):
    _, dag, sem = case
    for v, (node, reference) in enumerate(zip(sem.nodes, ordinary, strict=True)):
        assert node.parents == tuple(f"X{p}" for p in np.flatnonzero(dag[:, v]))
        assert node.intercept == pytest.approx(reference.params[0], rel=1e-8)
        assert node.intercept_error == pytest.approx(reference.bse[0], rel=1e-8)
        assert node.unbiased_variance == pytest.approx(reference.scale, rel=1e-8)
        assert node.residual_variance == pytest.approx(reference.ssr / 120, rel=1e-8)
        assert node.r_squared == pytest.approx(reference.rsquared, rel=1e-8, abs=1e-12)
        assert node.df == reference.df_resid


def test_likelihood_and_criteria_agree_with_statsmodels(case, ordinary):
    _, dag, sem = case
    likelihood = sum(reference.llf for reference in ordinary)
    k = dag.sum() + 2 * 7
    assert sem.fit.log_likelihood == pytest.approx(likelihood, rel=1e-10)
    assert sem.fit.n_parameters == k
    assert sem.fit.aic == pytest.approx(2 * k - 2 * likelihood, rel=1e-10)
    assert sem.fit.bic == pytest.approx(k * math.log(120) - 2 * likelihood, rel=1e-10)


def test_matrices_hold_what_the_records_say(case):
    data, dag, sem = case
    for edge in sem.edges:
        i, j = sem.names.index(edge.cause), sem.names.index(edge.effect)
        assert sem.coefficients[i, j] == pytest.approx(edge.coefficient, rel=1e-14)
        assert sem.standard_errors[i, j] == pytest.approx(edge.standard_error, rel=1e-14)
        assert sem.standardized_coefficients[i, j] == edge.standardized
        deviations = data.std(axis=0)
        assert edge.standardized == pytest.approx(
            edge.coefficient * deviations[i] / deviations[j], rel=1e-12
        )
    for matrix in (sem.coefficients, sem.standard_errors, sem.standardized_coefficients):
        np.testing.assert_array_equal(matrix != 0, dag == 1)
    np.testing.assert_allclose(sem.intercepts, [node.intercept for node in sem.nodes])
    np.testing.assert_allclose(sem.r_squared, [node.r_squared for node in sem.nodes])
    assert sem.n_edges == len(sem.edges) == dag.sum()


def test_row_likelihoods_are_those_of_the_implied_normal_distribution(case):
    data, dag, _ = case
    data = data / np.logspace(-3, 2, 7)  # scipy needs scales that are not too far apart
    sem, rows = fit_sem(data, dag), data[:10] + 1.0
    expected = multivariate_normal(sem.implied_means, sem.implied_covariance()).logpdf(rows)
    np.testing.assert_allclose(sem.log_likelihood(rows), expected, rtol=1e-7)
    assert sem.log_likelihood(data).sum() == pytest.approx(sem.fit.log_likelihood, rel=1e-10)


# χ², its p-value, CFI and RMSEA by semopy 2.3.11 (MLW objective; a ~~ 0*b where both are roots).
SEMOPY = {
    ("ac", "bc", "cd"): (8.5930752256, 0.0352202096, 0.9630969147, 0.0967917105),
    ("ab", "bc", "cd"): (55.6314095318, 0.0, 0.6527382027, 0.2969171854),
}


@pytest.mark.parametrize("edges", SEMOPY)
def test_fit_indices_agree_with_semopy(edges):
    """Its optimiser stops at a relative 1e-5, and its RMSEA divides by N - 1."""
    chi_square, p_value, cfi, rmsea = SEMOPY[edges]
    fit = fit_sem(GIVEN, graph(*edges)).fit
    assert fit.chi_square == pytest.approx(chi_square, rel=1e-5)
    assert fit.df == 3
    assert fit.p_value == pytest.approx(p_value, abs=1e-6)
    assert fit.cfi == pytest.approx(cfi, abs=1e-6)
    assert fit.rmsea * math.sqrt(200 / 199) == pytest.approx(rmsea, rel=1e-5)
    low, high = fit.rmsea_interval
    assert 0 < low < fit.rmsea < high


def test_fit_indices_agree_with_their_definitions():
    sem = fit_sem(GIVEN, graph("ac", "bc", "cd"))
    implied = sem.implied_covariance()
    discrepancy = (
        np.linalg.slogdet(implied)[1]
        - np.linalg.slogdet(COVARIANCE)[1]
        + np.trace(COVARIANCE @ np.linalg.inv(implied))
        - 4
    )
    assert sem.fit.chi_square == pytest.approx(200 * discrepancy, rel=1e-10)
    scales = np.sqrt(np.diag(COVARIANCE))
    residuals = ((COVARIANCE - implied) / np.outer(scales, scales))[np.tril_indices(4)]
    assert sem.fit.srmr == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-12)


def test_rmsea_interval_is_the_noncentral_one():
    from scipy.stats import ncx2

    fit = fit_sem(GIVEN, graph("ac", "bc", "cd")).fit
    levels = [ncx2.cdf(fit.chi_square, 3, 200 * 3 * bound**2) for bound in fit.rmsea_interval]
    np.testing.assert_allclose(levels, [0.95, 0.05], rtol=1e-9)


def test_complete_graph_is_saturated():
    sem = fit_sem(GIVEN, graph("ab", "ac", "ad", "bc", "bd", "cd"))
    np.testing.assert_allclose(sem.implied_covariance(), COVARIANCE, rtol=1e-12)
    fit = sem.fit
    assert (fit.df, fit.cfi, fit.rmsea, fit.rmsea_interval) == (0, 1.0, 0.0, (0.0, 0.0))
    assert fit.chi_square == pytest.approx(0, abs=1e-10)
    assert math.isnan(fit.p_value)
    assert fit.srmr == pytest.approx(0, abs=1e-12)


def test_empty_graph_is_the_baseline():
    fit = fit_sem(GIVEN, graph()).fit
    correlation = GIVEN.correlation
    assert fit.chi_square == pytest.approx(-200 * np.linalg.slogdet(correlation)[1], rel=1e-12)
    assert (fit.df, fit.cfi) == (6, 0.0)


def test_sampling_gives_the_implied_moments(case):
    _, _, sem = case
    rows = sem.sample(200_000, random_state=1)
    scales = sem.moments.scales
    np.testing.assert_allclose((rows.mean(axis=0) - sem.implied_means) / scales, 0, atol=0.02)
    error = (np.cov(rows.T) - sem.implied_covariance()) / np.outer(scales, scales)
    np.testing.assert_allclose(error, 0, atol=0.02)
    np.testing.assert_array_equal(sem.sample(5, 1), sem.sample(5, np.random.default_rng(1)))


def test_exact_moments_have_no_errors_and_no_likelihood():
    exact = Moments.from_covariance(COVARIANCE, None, NAMES)
    sem, sampled = fit_sem(exact, graph("ac", "bc")), fit_sem(GIVEN, graph("ac", "bc"))
    np.testing.assert_array_equal(sem.coefficients, sampled.coefficients)
    for edge in sem.edges:
        assert edge.standard_error == 0
        assert math.isnan(edge.t)
        assert math.isnan(edge.p_value)
    assert sem.nodes[2].unbiased_variance == sem.nodes[2].residual_variance
    fit = sem.fit
    assert all(map(math.isnan, (fit.log_likelihood, fit.aic, fit.bic, fit.chi_square)))
    assert fit.rmsea == pytest.approx(math.sqrt(sampled.fit.chi_square / 200 / 4), rel=1e-10)
    assert "N = ∞" in str(sem)
    assert np.isfinite(sem.sample(3, 0)).all()


def test_more_variables_than_samples():
    data, dag, _ = simulate("er", n_variables=30, n_samples=20, random_state=2)
    with pytest.warns(DataWarning, match="singular"):
        moments = Moments.from_data(data)
    fit = fit_sem(moments, dag).fit
    assert math.isfinite(fit.log_likelihood)
    undefined = (fit.chi_square, fit.p_value, fit.cfi, fit.rmsea, *fit.rmsea_interval)
    assert all(map(math.isnan, undefined))
    assert math.isfinite(fit.srmr)


# Graphs in all their forms


def test_forms_of_a_graph():
    expected = fit_sem(GIVEN, graph("ac", "bc", "cd")).edges
    matrix = nx.to_numpy_array(graph("ac", "bc", "cd"), nodelist=NAMES)
    shuffled = [2, 0, 3, 1]
    names = [NAMES[k] for k in shuffled]
    frame = pd.DataFrame(matrix[np.ix_(shuffled, shuffled)], index=names, columns=names)
    numbered = nx.relabel_nodes(graph("cd", "bc", "ac"), dict(zip(NAMES, range(4), strict=True)))
    for form in (
        matrix,
        matrix.astype(bool),
        matrix.tolist(),
        pd.DataFrame(matrix),
        frame,
        numbered,
        SimpleNamespace(dag=matrix),
        SimpleNamespace(dag=frame.to_numpy(), names=tuple(names)),
    ):
        assert fit_sem(GIVEN, form).edges == expected


def test_nodes_that_look_like_column_numbers_are_names_where_there_are_such_names():
    moments = Moments.from_covariance(COVARIANCE, 200, ["1", "0", "2", "3"])
    arcs = nx.DiGraph([(0, 2), (2, 3), (1, 3)])
    assert [edge[:2] for edge in fit_sem(moments, arcs).edges] == [
        ("0", "2"),
        ("1", "3"),
        ("2", "3"),
    ]
    arcs.add_node("1")
    with pytest.raises(InputError, match="'1' is there twice"):
        fit_sem(moments, arcs)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (np.zeros((3, 3)), "the graph has 3 variables, but the data have 4"),
        (graph("ab", "bc", "ca"), "cycle: a → b → c → a"),
        (to_cpdag(np.triu(np.ones((4, 4)), 1)), "to_dag first"),
        (nx.Graph(graph("ab")), "undirected"),
        (nx.DiGraph([("a", "z")]), "the graph has 'z', which is not among the variables wanted"),
        (nx.DiGraph([("a", "b")]), "lacks 'c', 'd'; add it without edges"),
        (pd.DataFrame(np.zeros((4, 4)), index=list("abcd"), columns=list("abdz")), "differ in"),
    ],
)
def test_graphs_that_are_refused(form, message):
    with pytest.raises(InputError, match=message):
        fit_sem(GIVEN, form)


# Regressions that are not determined


def test_too_few_samples_for_the_parents_of_a_variable():
    with pytest.warns(DataWarning):
        moments = Moments.from_covariance(COVARIANCE, 4, NAMES)
    with pytest.raises(
        SampleSizeError, match=r"regression of 'd' on 3 variables \('a', 'b', 'c'\)"
    ):
        fit_sem(moments, graph("ad", "bd", "cd"))
    assert fit_sem(moments, graph("bd", "cd")).nodes[3].df == 1


@pytest.mark.parametrize("r", [1.0, 1 - 1e-14])
def test_dependent_parents_and_exact_children(r):
    rng = np.random.default_rng(0)
    correlation = np.corrcoef(rng.standard_normal((4, 50)))
    correlation[0], correlation[:, 0] = correlation[1], correlation[:, 1]
    correlation[0, 0], correlation[0, 1], correlation[1, 0] = 1.0, r, r
    moments = Moments(NAMES, 50.0, np.zeros(4), np.ones(4), correlation)
    with pytest.raises(
        LinearDependenceError, match=r"'c' has linearly dependent .* 'a', 'b'"
    ) as why:
        fit_sem(moments, graph("ac", "bc"))
    assert set(why.value.columns) == {"a", "b"}
    with pytest.raises(LinearDependenceError, match="'b' is determined exactly by 'a'"):
        fit_sem(moments, graph("ab"))


# Rows that the model has not seen


def test_rows_are_matched_by_name_or_by_position(case):
    data, _, sem = case
    expected = sem.log_likelihood(data)
    frame = pd.DataFrame(data[:, ::-1], columns=sem.names[::-1]).assign(extra="text")
    np.testing.assert_allclose(sem.log_likelihood(frame), expected, rtol=1e-13)
    np.testing.assert_allclose(sem.log_likelihood(data.tolist()), expected, rtol=1e-13)


def test_rows_that_are_refused(case):
    data, dag, sem = case
    frame = pd.DataFrame(data, columns=sem.names)
    with pytest.raises(ColumnNameError, match="no such columns: 'X3'"):
        sem.log_likelihood(frame.drop(columns="X3"))
    with pytest.raises(NonNumericError, match="'X3'"):
        sem.log_likelihood(frame.assign(X3="text"))
    with pytest.raises(ShapeError, match="6 columns; wanted 7"):
        sem.log_likelihood(data[:, 1:])
    with pytest.raises(MissingValuesError, match="'X0'"):
        sem.log_likelihood(np.where(np.arange(7) == 0, np.nan, data))
    with pytest.raises(InputError, match="needs the rows"):
        sem.log_likelihood(sem.moments)
    without_means = Moments.from_covariance(np.cov(data.T), 120)
    with pytest.raises(InputError, match="without means"):
        fit_sem(without_means, dag).log_likelihood(data)


# Tables and text


def test_tables(case):
    _, _, sem = case
    edges, nodes = sem.edges_table(), sem.nodes_table()
    assert list(edges.columns) == list(sem.edges[0]._fields)
    assert list(edges.itertuples(index=False, name=None)) == list(sem.edges)
    assert list(nodes.index) == list(sem.names)
    assert nodes.loc["X3", "r_squared"] == sem.nodes[3].r_squared


def test_tables_without_pandas_name_the_cure(case, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "pandas"'):
        case[2].edges_table()


def test_summary():
    text = str(fit_sem(GIVEN, graph("ac", "bc", "cd")))
    assert text == (
        "Linear SEM: 4 variables, 3 edges, N = 200\n"
        "log-likelihood -1470.10   parameters 11   AIC 2962.20   BIC 2998.48\n"
        "chi-square 8.59 on 3 df, p 0.035\n"
        "CFI 0.963   RMSEA 0.097 [0.023, 0.175]   SRMR 0.066\n"
        "\n"
        "edge   coefficient  std. error     t       p  standardized\n"
        "──────────────────────────────────────────────────────────\n"
        "a → c       0.4936      0.0648  7.61  <0.001         0.441\n"
        "b → c       0.7519      0.1297  5.80  <0.001         0.336\n"
        "c → d       0.4000      0.0471  8.49  <0.001         0.516\n"
        "\n"
        "variable  intercept  residual variance     R²\n"
        "─────────────────────────────────────────────\n"
        "a                 –             4.0000  0.000\n"
        "b                 –             1.0000  0.000\n"
        "c                 –             3.2373  0.353\n"
        "d                 –             2.2000  0.267"
    )


def test_summary_of_many_variables_with_long_names_stays_short():
    data, dag, _ = simulate("er", n_variables=60, n_samples=300, degree=4, random_state=0)
    moments = Moments.from_data(data, [f"{k} " + "long\n" * 1000 for k in range(60)])
    lines = str(fit_sem(moments, dag)).splitlines()
    assert len(lines) < 100
    assert max(map(len, lines)) < 120
    assert f"… {dag.sum() - 40} more edges; all are in .edges" in lines


def test_model_is_frozen_and_can_be_pickled(case):
    _, dag, sem = case
    with pytest.raises(FrozenInstanceError):
        sem.dag = dag
    for array in (sem.dag, sem.coefficients, sem.residual_variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert pickle.loads(pickle.dumps(sem)).edges == sem.edges
    assert repr(sem) == f"<LinearSem of 7 variables, {dag.sum()} edges, N = 120>"


# Scores


def test_score_agrees_with_its_definition(case):
    data, dag, sem = case
    total = 0.0
    scores = (data - data.mean(axis=0)) / data.std(axis=0)
    for v in range(7):
        parents = scores[:, dag[:, v] == 1]
        residual = scores[:, v] - parents @ np.linalg.lstsq(parents, scores[:, v])[0]
        total -= 120 * math.log(np.mean(residual**2))
    for c in (0.0, 1.0, 2.0):
        score = score_graph(data, dag, penalty_discount=c)
        assert float(score) == score.score
        assert score.score == pytest.approx(total - c * dag.sum() * math.log(120), rel=1e-10)
        assert (score.n_edges, score.penalty_discount) == (dag.sum(), c)
        assert score.log_likelihood == sem.fit.log_likelihood
        assert score.bic == sem.fit.bic


@pytest.mark.parametrize("c", [1.0, 2.0])
def test_score_is_what_the_search_maximises(case, c):
    _, _, sem = case
    engine = BicEngine(sem.moments, penalty_discount=c)
    assert score_graph(sem.moments, engine.dag(), c).score == pytest.approx(-engine.cost, rel=1e-9)


def test_score_and_bic_differ_by_a_constant_of_the_data(case):
    data, dag, _ = case
    constants = [
        score.score + score.bic
        for score in (score_graph(data, g, penalty_discount=1) for g in (dag, 0 * dag))
    ]
    assert constants[0] == pytest.approx(constants[1], rel=1e-12)
    assert score_graph(data, 0 * dag).score == 0


def test_an_equivalence_class_has_the_score_of_its_members(case):
    data, dag, _ = case
    cpdag = to_cpdag(dag)
    assert (cpdag == 2).any()
    score = score_graph(data, dag).score
    assert score_graph(data, cpdag).score == pytest.approx(score, rel=1e-12)
    arcs = nx.from_numpy_array((cpdag > 0).astype(int), create_using=nx.DiGraph)
    assert score_graph(data, arcs).score == pytest.approx(score, rel=1e-12)


def test_scores_that_are_refused(case):
    data, dag, _ = case
    with pytest.raises(ArgumentError, match="penalty_discount is -1"):
        score_graph(data, dag, penalty_discount=-1)
    with pytest.raises(SampleSizeError, match="no finite score"):
        score_graph(Moments.from_covariance(COVARIANCE, None, NAMES), graph("ab"))
    with pytest.raises(GraphError, match="cycle: a → b → c → a"):
        score_graph(GIVEN, graph("ab", "bc", "ca"))


class TestMissingValues:
    @pytest.fixture
    def holes(self, case):
        data, dag, _ = case
        gone = np.random.default_rng(0).random(data.shape) < 0.03
        return np.where(gone, np.nan, data), dag, ~gone.any(axis=1)

    @pytest.mark.parametrize("function", [fit_sem, score_graph])
    def test_they_are_an_error_unless_asked_for(self, holes, function):
        data, dag, _ = holes
        with pytest.raises(MissingValuesError, match="missing='drop'"):
            function(data, dag)

    @pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
    def test_incomplete_rows_are_left_out(self, holes):
        data, dag, whole = holes
        assert 30 < whole.sum() < 110
        kept = data[whole]
        model = fit_sem(data, dag, missing="drop")
        assert model.n_samples == whole.sum()
        np.testing.assert_array_equal(model.coefficients, fit_sem(kept, dag).coefficients)
        assert score_graph(data, dag, missing="drop") == score_graph(kept, dag)

    @pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
    def test_em_uses_what_they_have(self, holes):
        data, dag, whole = holes
        moments = Moments.from_data(data, missing="em")
        assert whole.sum() < moments.n_samples < len(data)
        model = fit_sem(data, dag, missing="em")
        assert model.n_samples == moments.n_samples
        np.testing.assert_array_equal(model.coefficients, fit_sem(moments, dag).coefficients)
        assert score_graph(data, dag, missing="em") == score_graph(moments, dag)
