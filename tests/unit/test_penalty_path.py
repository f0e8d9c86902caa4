"""Paths of graphs over penalties, and the choice of one of them."""

from __future__ import annotations

import math
import os
import pickle
import signal
import time
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from qwo.discovery import discover
from qwo.errors import (
    ArgumentError,
    ConstantColumnError,
    DataWarning,
    InputError,
    NonNumericError,
    SampleSizeError,
)
from qwo.estimator import PenaltyPath, penalty_path
from qwo.graph import Knowledge, shd, to_cpdag
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.sem import fit_sem, score_graph
from qwo.simulation import simulate

FEW = (8.0, 3.0, 1.0)

discover_module: Any = import_module("qwo.discovery.discover")
"""The package shows the function under this name."""


@pytest.fixture(scope="module")
def sample():
    return simulate("er", n_variables=10, n_samples=200, degree=3, random_state=4)


@pytest.fixture(scope="module")
def data(sample):
    return sample[0]


@pytest.fixture(scope="module")
def path(data):
    return penalty_path(data, random_state=0)


def test_default_penalties_fall_from_16_to_the_textbook(path):
    assert isinstance(path, PenaltyPath)
    np.testing.assert_allclose(path.penalties, 2.0 ** (np.arange(9)[::-1] / 2))
    assert 2.0 in path.penalties
    assert not path.penalties.flags.writeable
    assert repr(path).startswith("<PenaltyPath: 10 variables, penalties 16 to 1, ")


def test_penalties_are_sorted_and_taken_once(data):
    path = penalty_path(data, iter([2, 5, 2.0]), random_state=0)
    assert path.penalties.tolist() == [5.0, 2.0]
    assert len(path.discoveries) == 2


@pytest.mark.parametrize(
    ("n_variables", "degree", "n_samples", "seed"),
    [(10, 3, 200, 1), (30, 4, 300, 0), (30, 4, 300, 3), (25, 8, 400, 2)],
)
def test_no_worse_than_searches_on_their_own(n_variables, degree, n_samples, seed):
    data, _, _ = simulate(
        "er", n_variables=n_variables, degree=degree, n_samples=n_samples, random_state=seed
    )
    moments = Moments.from_data(data)
    path = penalty_path(moments, random_state=0)
    for penalty, found in zip(path.penalties, path.discoveries, strict=True):
        cold = discover(moments, penalty_discount=penalty, random_state=0)
        assert found.score >= cold.score - 1e-7 * abs(cold.score)


def test_better_than_searches_on_their_own_where_those_get_stuck():
    data, _, _ = simulate(
        "er", n_variables=20, degree=8, n_samples=200, standardize=True, random_state=5
    )
    options: dict[str, Any] = {"random_state": 0, "restarts": 0}
    path = penalty_path(data, [16, 8, 4], **options)
    own = [discover(data, penalty_discount=c, **options).score for c in path.penalties]
    assert (path.scores - own).max() > 1.0


@pytest.mark.parametrize("options", [{}, {"search": "grasp"}, {"gamma": 1.0}])
def test_each_graph_is_the_best_of_the_path_and_edges_only_appear(data, options):
    path = penalty_path(data, restarts=0, random_state=0, **options)
    price = 2 * options.get("gamma", 0.0) * math.log(10)
    for penalty, found in zip(path.penalties, path.discoveries, strict=True):
        own = score_graph(data, found.dag, penalty).score
        assert found.score == pytest.approx(own, rel=1e-10)
        assert found.params["penalty_discount"] == penalty
        np.testing.assert_array_equal(found.cpdag, to_cpdag(found.dag))
        rivals = [
            score_graph(data, other.dag, penalty).score - price * other.n_edges
            for other in path.discoveries
        ]
        assert own - price * found.n_edges >= max(rivals) - 1e-6
    assert (np.diff(path.n_edges) >= 0).all()


def test_edges_are_listed_as_they_appear(path):
    adjacent = [found.cpdag != 0 for found in path.discoveries]
    adjacent = [matrix | matrix.T for matrix in adjacent]
    seen = {}
    for i in range(10):
        for j in range(i + 1, 10):
            where = [k for k, matrix in enumerate(adjacent) if matrix[i, j]]
            if where:
                seen[path.names[i], path.names[j]] = (path.penalties[where[0]], len(where) / 9)
    assert {(e.first, e.second): (e.penalty, e.share) for e in path.edges} == seen
    appearing = [edge.penalty for edge in path.edges]
    assert appearing == sorted(appearing, reverse=True)
    assert len(set(appearing)) > 1
    table = path.edges_table()
    assert list(table.columns) == ["first", "second", "penalty", "share"]
    assert [tuple(row) for row in table.itertuples(index=False)] == [*path.edges]


def test_names_knowledge_and_search_are_kept(data):
    frame = pd.DataFrame(data, columns=list("abcdefghij"))
    knowledge = Knowledge(forbidden=[("a", "b")], required=[("i", "j")])
    path = penalty_path(frame, FEW, knowledge=knowledge, search="insertion", random_state=0)
    assert path.names == tuple("abcdefghij")
    for found in path.discoveries:
        assert found.dag[0, 1] == 0
        assert found.dag[8, 9] == 1
        assert found.params["search"] == "insertion"


@pytest.mark.parametrize("method", ["held-out", "bic"])
def test_the_same_seed_gives_the_same_choice_for_any_number_of_jobs(data, method):
    one = penalty_path(data, FEW, random_state=1)
    two = penalty_path(data, FEW, random_state=1, n_jobs=2)
    for found, again in zip(one.discoveries, two.discoveries, strict=True):
        np.testing.assert_array_equal(found.order, again.order)
    first = one.choose(method)
    second = two.choose(method, n_jobs=2)
    np.testing.assert_array_equal(first.values, second.values)
    assert first.penalty == second.penalty
    if method != "bic":
        other = one.choose(method, random_state=2)
        assert (first.values != other.values).any()


def test_processes_give_the_same_choice_as_threads(data):
    path = penalty_path(data, FEW, random_state=1)
    with parallel_config(backend="loky"):
        there = path.choose("held-out", n_jobs=2)
    np.testing.assert_array_equal(there.values, path.choose("held-out").values)


def test_without_a_seed_the_one_drawn_is_kept(data):
    path = penalty_path(data, FEW)
    again = penalty_path(data, FEW, random_state=path.settings.options.random_state)
    np.testing.assert_array_equal(path.scores, again.scores)


def test_choice_by_bic(path, data):
    choice = path.choose("bic")
    bics = [score_graph(data, found.dag).bic for found in path.discoveries]
    empty = score_graph(data, np.zeros((10, 10), dtype=np.int8)).bic
    np.testing.assert_allclose(choice.values, np.array(bics) - empty, rtol=1e-9)
    chosen = path.penalties.tolist().index(choice.penalty)  # neighbours may have the same graph
    assert bics[chosen] == pytest.approx(min(bics), rel=1e-9)
    assert choice.discovery is path.discoveries[chosen]


def test_held_out_likelihood_is_that_of_rows_left_out(data):
    path = penalty_path(data, FEW, random_state=3)
    choice = path.choose("held-out", n_folds=4)
    folds = np.array_split(np.random.default_rng(3).permutation(200), 4)
    total = np.zeros(3)
    for fold in folds:
        others = np.delete(np.arange(200), fold)
        training = penalty_path(data[others], FEW, random_state=3)
        for k, found in enumerate(training.discoveries):
            total[k] += fit_sem(data[others], found).log_likelihood(data[fold]).sum()
    np.testing.assert_allclose(choice.values, total / 200, rtol=1e-12)
    assert choice.penalty == FEW[int(np.argmax(total))]
    assert repr(choice).startswith("<PenaltyChoice by held-out: penalty_discount ")


def test_the_choice_is_near_the_best_of_the_path():
    data, dag, _ = simulate("er", n_variables=12, n_samples=300, degree=3, random_state=8)
    path = penalty_path(data, (300.0, 30.0, 3.0, 0.3), random_state=0)
    distances = [shd(found.cpdag, to_cpdag(dag)) for found in path.discoveries]
    choice = path.choose("held-out")
    assert choice.penalty in (30.0, 3.0)
    assert shd(choice.discovery.cpdag, to_cpdag(dag)) <= min(distances) + 1
    assert max(distances) > min(distances) + 5


def test_fewer_samples_than_variables():
    wide, _, _ = simulate("er", n_variables=30, n_samples=25, degree=1, random_state=1)
    with pytest.warns(DataWarning) as caught:
        path = penalty_path(wide, (8.0, 2.0), random_state=0)
    # Once for the data and once for the extended BIC, not for each search.
    assert len(caught) == 2
    assert {found.params["gamma"] for found in path.discoveries} == {0.5}
    assert path.settings.options.gamma == 0.5
    for method in ("held-out", "bic"):
        assert path.choose(method).penalty in (8.0, 2.0)


def test_a_covariance_estimator_is_used_for_parts_too():
    wide, _, _ = simulate("er", n_variables=12, n_samples=40, degree=1, random_state=1)
    plain = penalty_path(wide, (8.0, 2.0), random_state=0)
    shrunk = penalty_path(wide, (8.0, 2.0), random_state=0, covariance_estimator="oas")
    assert shrunk.discoveries[0].params["covariance_estimator"] == "oas"
    assert (plain.choose("held-out").values != shrunk.choose("held-out").values).all()


def test_moments_have_no_rows_to_draw(data):
    path = penalty_path(Moments.from_data(data), FEW, random_state=0)
    assert path.choose("bic").penalty in FEW
    with pytest.raises(InputError, match="call penalty_path with the data themselves"):
        path.choose("held-out")


def test_files_are_read_once(data, tmp_path):
    file = tmp_path / "data.csv"
    pd.DataFrame(data).to_csv(file, index=False)
    path = penalty_path(file, FEW, random_state=0)
    file.unlink()
    same = penalty_path(data, FEW, random_state=0)
    np.testing.assert_allclose(path.choose().values, same.choose().values, rtol=1e-10)


def test_a_column_that_is_constant_in_a_part_is_named(data):
    rare = data.copy()
    rare[:, 4] = 0.0
    rare[17, 4] = 1.0
    path = penalty_path(rare, FEW, random_state=0)
    with pytest.raises(ConstantColumnError, match="'X4'"):
        path.choose("held-out")


def test_pickle(path):
    copy = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(copy.scores, path.scores)
    assert copy.edges == path.edges
    assert copy.choose("bic").penalty == path.choose("bic").penalty


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"penalties": []}, "there are none"),
        ({"penalties": [1, -2]}, "got -2"),
        ({"penalties": [1, math.nan]}, "got nan"),
        ({"penalties": "many"}, "'many'"),
        ({"penalties": 3.0}, "3.0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"engine": "luck"}, "luck"),
    ],
)
def test_wrong_arguments(data, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        penalty_path(data, **arguments)


def test_wrong_data(data):
    with pytest.raises(ArgumentError, match="holds data"):
        penalty_path(data, engine=BicEngine(Moments.from_data(data)))
    with pytest.raises(SampleSizeError, match="same graph under every penalty"):
        penalty_path(Moments.from_precision(np.eye(3)))
    with pytest.raises(NonNumericError, match="'word'"):
        penalty_path(pd.DataFrame({"x": [1.0, 2, 4], "y": [2.0, 1, 1], "word": ["a", "b", "c"]}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "luck"}, "luck"),
        ({"method": "held-out", "n_folds": 1}, "n_folds is 1"),
        ({"method": "held-out", "n_folds": 201}, "2 to 200"),
        ({"method": "stars"}, "stars"),
        ({"method": "held-out", "n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_wrong_choices(path, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        path.choose(**arguments)


def test_missing_values_are_left_out_of_folds_too(data):
    holes = np.array(data)
    holes[::20, 3] = np.nan
    kept = holes[~np.isnan(holes).any(axis=1)]
    with pytest.warns(DataWarning, match="10 of 200 rows"):
        path = penalty_path(holes, FEW, random_state=0, restarts=0, missing="drop")
    expected = penalty_path(kept, FEW, random_state=0, restarts=0)
    np.testing.assert_array_equal(path.scores, expected.scores)
    np.testing.assert_array_equal(path.choose().values, expected.choose().values)


def test_maximum_likelihood_with_missing_values_cannot_predict_rows(data):
    holes = np.array(data)
    holes[::20, 3] = np.nan
    with pytest.warns(DataWarning, match="missing"):
        path = penalty_path(holes, FEW, random_state=0, restarts=0, missing="em")
    with pytest.raises(InputError, match="predicts whole rows"):
        path.choose("held-out")
    assert path.choose("auto").penalty in FEW


def test_the_same_path_in_two_processes(data):
    alone = penalty_path(data, FEW, random_state=0)
    shared = penalty_path(data, FEW, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(alone.scores, shared.scores)
    for first, second in zip(alone.discoveries, shared.discoveries, strict=True):
        np.testing.assert_array_equal(first.dag, second.dag)


def test_messages_name_the_covariance_estimator(data):
    with pytest.raises(ArgumentError, match=r"^covariance_estimator is 'luck'"):
        penalty_path(data, FEW, covariance_estimator="luck")
    with pytest.raises(ArgumentError, match=r"^covariance_estimator is 'oas', but the Moments"):
        penalty_path(Moments.from_data(data), FEW, covariance_estimator="oas")


@pytest.mark.parametrize("at", [1, 2, 4])
def test_ctrl_c_ends_a_path(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """It ended one search, whose graph went into the path as if nothing had happened."""
    searches = 0
    search = discover_module.run_search

    def interrupted(*given: Any) -> Any:
        nonlocal searches
        searches += 1
        if searches == at:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        return search(*given)

    monkeypatch.setattr(discover_module, "run_search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        penalty_path(simulate("er", n_variables=6, n_samples=200, random_state=0).data)
    assert searches == at


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("method", {"method": np.array([1, 2])}),
        ("n_folds", {"method": "held-out", "n_folds": 2.5}),
        ("random_state", {"method": "held-out", "random_state": "x"}),
    ],
)
def test_a_choice_refuses_odd_values_by_name(name: str, given: dict[str, Any]) -> None:
    path = penalty_path(simulate("er", n_variables=4, n_samples=60, random_state=0).data, [2.0])
    with pytest.raises(InputError, match=f"^{name} is"):
        path.choose(**given)
