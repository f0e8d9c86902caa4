"""The scikit-learn estimator: its own promises, and all that scikit-learn asks of one."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from qwo.discovery import discover
from qwo.errors import (
    ArgumentError,
    ConstantColumnError,
    DataWarning,
    InputError,
    LinearDependenceError,
    MissingValuesError,
    NonNumericError,
)
from qwo.estimator import QWO
from qwo.graph import Knowledge, to_cpdag
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.simulation import simulate

NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def data():
    return simulate("er", n_variables=6, n_samples=500, degree=2, random_state=7)[0]


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data, columns=NAMES)


@pytest.fixture(scope="module")
def fitted(frame):
    return QWO(random_state=0).fit(frame)


# The checks feed tiny samples, of which the audit warns.
@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
@parametrize_with_checks([QWO(), QWO(search="grasp", covariance_estimator="ledoit-wolf")])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_check_estimator_as_a_whole():
    results = check_estimator(QWO(), on_skip=None)
    assert len(results) > 30
    # One check is for array libraries other than NumPy, and is only run on request.
    others = {r["check_name"]: r["status"] for r in results if r["status"] != "passed"}
    assert others in ({}, {"check_array_api_input": "skipped"})


def test_exactly_dependent_columns_are_refused_unless_shrunk():
    # What the check that is skipped above feeds: it passes with shrinkage only.
    data, _ = make_classification(n_samples=30, n_features=10, random_state=42)
    with pytest.raises(LinearDependenceError, match="'X9' = constant"):
        QWO().fit(data)
    with pytest.warns(DataWarning, match="linearly dependent"):
        model = QWO(covariance_estimator="oas", random_state=0).fit(data)
    assert model.status_ == "converged"


def test_fit_is_discover(frame, fitted):
    found = discover(frame, random_state=0)
    np.testing.assert_array_equal(fitted.cpdag_, found.cpdag)
    np.testing.assert_array_equal(fitted.dag_, found.dag)
    np.testing.assert_array_equal(fitted.order_, found.order)
    assert fitted.score_ == found.score
    assert fitted.n_edges_ == found.n_edges > 0
    assert fitted.status_ == "converged"
    assert fitted.n_features_in_ == 6


def test_parameters_reach_the_search(data):
    model = QWO(
        search="grasp", engine="qwo", alpha=0.01, restarts=1, start="random", random_state=3
    ).fit(data)
    params = model.discovery_.params
    assert (params["search"], params["engine"], params["alpha"]) == ("grasp", "qwo", 0.01)
    assert (params["restarts"], params["start"], params["random_state"]) == (1, "random", 3)
    dense = QWO(penalty_discount=0.1, random_state=0).fit(data)
    assert dense.n_edges_ > model.n_edges_
    extended = QWO(penalty_discount=0.1, gamma=5.0, random_state=0).fit(data)
    assert extended.discovery_.params["gamma"] == 5.0
    assert extended.n_edges_ < dense.n_edges_


def test_causal_graph_has_two_arrows_for_an_undirected_edge(fitted):
    graph = fitted.causal_graph_
    assert isinstance(graph, nx.DiGraph)
    assert list(graph.nodes) == NAMES
    arrows = {(NAMES[i], NAMES[j]) for i, j in zip(*np.nonzero(fitted.cpdag_), strict=True)}
    assert set(graph.edges) == arrows
    assert (fitted.cpdag_ == 2).any()
    assert (fitted.cpdag_ == 1).any()


def test_adjacency_matrix_is_the_cpdag_with_names(fitted):
    table = fitted.adjacency_matrix_
    assert list(table.index) == list(table.columns) == NAMES
    np.testing.assert_array_equal(table.to_numpy(), fitted.cpdag_)


def test_adjacency_matrix_without_pandas(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    model = QWO(random_state=0).fit(data)
    assert model.adjacency_matrix_ is model.cpdag_


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_frames_of_all_kinds(make, frame, fitted):
    other = make(frame)
    model = QWO(random_state=0).fit(other)
    assert list(model.feature_names_in_) == NAMES
    assert list(model.causal_graph_.nodes) == NAMES
    np.testing.assert_array_equal(model.cpdag_, fitted.cpdag_)
    assert model.score(other) == pytest.approx(fitted.score(frame), rel=1e-12)


def test_names_that_are_not_strings(data, fitted):
    model = QWO(random_state=0).fit(pd.DataFrame(data))
    assert not hasattr(model, "feature_names_in_")
    assert list(model.causal_graph_.nodes) == ["0", "1", "2", "3", "4", "5"]
    assert model.score(pd.DataFrame(data)) == fitted.score(pd.DataFrame(data, columns=NAMES))


def test_arrays_have_no_feature_names(data):
    model = QWO(random_state=0).fit(data)
    assert not hasattr(model, "feature_names_in_")
    assert list(model.causal_graph_.nodes) == ["X0", "X1", "X2", "X3", "X4", "X5"]
    # A second fit forgets the names of the first.
    assert not hasattr(QWO().fit(pd.DataFrame(data, columns=NAMES)).fit(data), "feature_names_in_")


def test_score_is_the_mean_gaussian_log_density(data):
    train, test = data[:300], data[300:]
    model = QWO(random_state=0).fit(train)
    density = multivariate_normal(train.mean(axis=0), model.sem_.implied_covariance())
    assert model.score(test) == pytest.approx(density.logpdf(test).mean(), rel=1e-9)
    assert model.score(train) == pytest.approx(model.sem_.fit.log_likelihood / 300, rel=1e-12)


def test_grid_search_chooses_a_penalty_that_is_neither_too_small_nor_too_large():
    data, dag, _ = simulate("er", n_variables=8, n_samples=150, degree=2, random_state=2)
    grid = GridSearchCV(QWO(random_state=0), {"penalty_discount": [0.01, 3.0, 300.0]}, cv=4)
    grid.fit(data)
    assert grid.best_params_ == {"penalty_discount": 3.0}
    np.testing.assert_array_equal(grid.best_estimator_.cpdag_ != 0, to_cpdag(dag) != 0)


def test_the_graph_does_not_depend_on_a_scaler_before_it(frame, fitted):
    scaled = make_pipeline(StandardScaler(), QWO(random_state=0)).fit(frame)
    np.testing.assert_array_equal(scaled[-1].cpdag_, fitted.cpdag_)


def test_clone_keeps_knowledge_and_start(frame):
    knowledge = Knowledge(tiers=[["f", "e", "d"], ["c", "b", "a"]])
    model = clone(QWO(knowledge=knowledge, start=NAMES, random_state=0)).fit(frame)
    assert model.get_params()["knowledge"] == knowledge
    assert model.discovery_.params["start"] == "given"
    later = model.dag_[:3, 3:]
    assert not later.any()
    assert QWO(random_state=0).fit(frame).dag_[:3, 3:].any()


def test_pickle_keeps_everything(fitted, frame):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.cpdag_, fitted.cpdag_)
    assert copy.score(frame) == fitted.score(frame)
    assert copy.discovery_.params == fitted.discovery_.params
    assert copy.discovery_.versions == fitted.discovery_.versions
    assert not copy.discovery_.order.flags.writeable
    with pytest.raises(TypeError):
        copy.discovery_.params["alpha"] = 1


@pytest.mark.parametrize("n_jobs", [None, 2, -1])
def test_the_same_seed_gives_the_same_graph(data, n_jobs):
    one = QWO(random_state=5).fit(data)
    two = QWO(random_state=np.int64(5), n_jobs=n_jobs).fit(data)
    np.testing.assert_array_equal(one.order_, two.order_)


def test_random_states_of_scikit_learn(data):
    seeds = [
        QWO(random_state=np.random.RandomState(1)).fit(data).discovery_.params["random_state"]
        for _ in range(2)
    ]
    assert seeds[0] == seeds[1]
    with pytest.raises(ArgumentError, match="random_state is 'luck'"):
        QWO(random_state="luck").fit(data)


def test_shrinkage_for_more_variables_than_samples():
    wide = simulate("er", n_variables=30, n_samples=20, degree=2, random_state=0)[0]
    model = QWO(covariance_estimator="ledoit-wolf", gamma=0.5, random_state=0).fit(wide)
    assert model.discovery_.params["covariance_estimator"] == "ledoit-wolf"
    assert np.isfinite(model.score(wide))
    with pytest.warns(DataWarning, match="30 variables but only 20 samples"):
        QWO(gamma=0.5, random_state=0).fit(wide)


def test_the_data_are_left_alone(data):
    before = data.copy()
    QWO(random_state=0).fit(data).score(data)
    np.testing.assert_array_equal(data, before)


def test_what_is_wrong_with_a_frame_is_said_by_name(frame):
    cases = [
        (frame.assign(b=[f"text {k}" for k in range(len(frame))]), NonNumericError, "'b'"),
        (frame.assign(c=1.0), ConstantColumnError, "'c'"),
        (frame.assign(d=np.nan), MissingValuesError, "'d'"),
    ]
    for bad, error, name in cases:
        with pytest.raises(error, match=name):
            QWO().fit(bad)


def test_what_is_wrong_with_an_array(data):
    holes = data.copy()
    holes[3, 2] = np.inf
    with pytest.raises(MissingValuesError, match="'X2'"):
        QWO().fit(holes)
    for bad, message in [
        (data[:2], "2 sample"),
        (data[:, :1], "1 feature"),
        (data[0], "2D array"),
        ([[1, 2], [3]], "inhomogeneous"),
    ]:
        with pytest.raises(InputError, match=message):
            QWO().fit(bad)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        QWO().fit(csr_array(data))


@pytest.mark.parametrize("make", [str, Path, lambda _: Moments.from_covariance(np.eye(2), 9)])
@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_files_and_moments_belong_to_discover(make):
    with pytest.raises(InputError, match=r"qwo\.discover takes files and Moments"):
        QWO().fit(make("data.csv"))


def test_score_wants_the_variables_of_fit(data, frame, fitted):
    with pytest.raises(NotFittedError):
        QWO().score(data)
    with pytest.raises(InputError, match="same order"):
        fitted.score(frame[NAMES[::-1]])
    with pytest.raises(InputError, match="4 features"):
        QWO(random_state=0).fit(data).score(data[:, :4])
    holes = frame.copy()
    holes.loc[2, "e"] = np.nan
    with pytest.raises(MissingValuesError, match="'e'"):
        fitted.score(holes)


@pytest.mark.parametrize(
    "parameters",
    [
        {"search": "luck"},
        {"engine": "luck"},
        {"penalty_discount": -1.0},
        {"restarts": -1},
        {"n_jobs": 0},
        {"covariance_estimator": "luck"},
        {"start": "luck"},
    ],
    ids=lambda parameters: next(iter(parameters)),
)
def test_wrong_parameters(data, parameters):
    with pytest.raises(ArgumentError, match=str(next(iter(parameters.values())))):
        QWO(**parameters).fit(data)


def test_an_engine_object_belongs_to_its_own_data(data):
    with pytest.raises(ArgumentError, match="holds data"):
        QWO(engine=BicEngine(Moments.from_data(data))).fit(data)


def with_gaps() -> np.ndarray:
    data, _, _ = simulate("er", n_variables=5, n_samples=300, degree=2, random_state=4)
    values = np.array(data)
    values[::25, 1] = np.nan
    return values


def test_missing_values_as_discover_treats_them():
    values = with_gaps()
    with pytest.raises(MissingValuesError):
        QWO().fit(values)
    for missing in ("drop", "em"):
        with pytest.warns(DataWarning):
            expected = discover(values, random_state=0, missing=missing)
        with pytest.warns(DataWarning):
            model = QWO(random_state=0, missing=missing).fit(values)
        np.testing.assert_array_equal(model.cpdag_, expected.cpdag)
        assert model.score_ == expected.score
    assert expected.params["n_samples"] > 288


def test_messages_name_the_parameter_as_it_is_called_here(data):
    with pytest.raises(ArgumentError, match=r"^covariance_estimator is 'luck'"):
        QWO(covariance_estimator="luck").fit(data)
    doubled = np.column_stack([data, data[:, 0] + data[:, 1]])
    with pytest.raises(LinearDependenceError, match=r" covariance_estimator='ledoit-wolf'"):
        QWO().fit(doubled)
    # Two warnings, one of which is about gamma.
    with pytest.warns(DataWarning) as warned:
        QWO(random_state=0, restarts=0).fit(data[:5])
    texts = [str(warning.message) for warning in warned]
    assert any("Try: covariance_estimator='ledoit-wolf'" in text for text in texts)
    assert all(warning.filename == __file__ for warning in warned if "Cure" in str(warning.message))
