"""`qwo.discover`: what a user can rely on."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import qwo
from qwo.errors import ArgumentError, KnowledgeError
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.search import Progress
from qwo.search.control import SearchOutcome

discover_module = import_module("qwo.discovery.discover")

SEARCHES = ["auto", "insertion", "grasp", "hill-climbing"]
ENGINES = ["auto", "bic", "qwo", "reference"]


def drawn(seed: int = 0, n: int = 12, n_samples: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    simulation = qwo.simulate("er", n_variables=n, n_samples=n_samples, degree=3, random_state=seed)
    return simulation.data, simulation.dag


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_combination_gives_a_consistent_result(search: str, engine: str) -> None:
    data, _ = drawn()
    found = qwo.discover(data, search=search, engine=engine, random_state=0, restarts=2)
    assert found.status == "converged"
    assert found.names == tuple(f"X{k}" for k in range(12))
    assert sorted(found.order.tolist()) == list(range(12))
    place = np.argsort(found.order)
    for cause, effect in np.argwhere(found.dag):
        assert place[cause] < place[effect]
    assert np.array_equal(found.cpdag, qwo.to_cpdag(found.dag))
    assert found.n_edges == found.dag.sum() == len(found.edges)
    price = found.params["penalty_discount"] or 2.0
    scored = qwo.score_graph(data, found.dag, penalty_discount=price)
    assert found.score == pytest.approx(scored.score, abs=1e-5)
    assert found.params["random_state"] == 0
    assert found.versions["qwo"] == qwo.__version__


def test_the_default_finds_the_class_of_a_strong_model() -> None:
    data, dag = drawn(1, n_samples=20_000)
    found = qwo.discover(data, random_state=0)
    assert np.array_equal(found.cpdag, qwo.to_cpdag(dag))


def test_every_kind_of_input_gives_the_same_graph(tmp_path: Path) -> None:
    data, _ = drawn()
    names = [f"gene {k}" for k in range(12)]
    frame = pd.DataFrame(data, columns=names)
    frame.to_csv(tmp_path / "table.csv", index=False, float_format="%.17g")
    reference = qwo.discover(data, random_state=0)
    moments = qwo.Moments.from_data(data)
    for other in (frame, tmp_path / "table.csv", str(tmp_path / "table.csv"), moments):
        found = qwo.discover(other, random_state=0)
        assert np.array_equal(found.cpdag, reference.cpdag)
    assert qwo.discover(frame, random_state=0).names == tuple(names)


def test_same_seed_same_result_for_any_number_of_threads() -> None:
    data, _ = drawn(3, n=25)
    first = qwo.discover(data, random_state=5, restarts=60)
    for jobs in (1, 3):
        again = qwo.discover(data, random_state=5, restarts=60, n_jobs=jobs)
        assert np.array_equal(first.order, again.order)
        assert first.score == again.score


def test_a_seed_is_drawn_and_recorded() -> None:
    data, _ = drawn()
    found = qwo.discover(data)
    again = qwo.discover(data, random_state=found.params["random_state"])
    assert np.array_equal(found.order, again.order)


def test_the_result_is_frozen() -> None:
    found = qwo.discover(drawn()[0], random_state=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.score = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.cpdag[0, 1] = 1
    with pytest.raises(TypeError):
        found.params["search"] = "none"  # type: ignore[index]


def test_the_result_prints_its_edges() -> None:
    data, _ = drawn()
    found = qwo.discover(data, random_state=0)
    lines = str(found).splitlines()
    assert f"{found.n_edges} edges" in lines[0]
    assert len(lines) == 1 + found.n_edges
    assert all(" --> " in line or " --- " in line for line in lines[1:])


@pytest.mark.parametrize("search", SEARCHES[1:])
def test_the_keyboard_returns_the_best_so_far(search: str) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    data, _ = drawn(0, n=60)
    found = qwo.discover(data, search=search, callback=interrupt, random_state=0)
    assert found.status == "interrupted"
    assert found.n_edges == found.dag.sum()


@pytest.mark.parametrize("search", SEARCHES[1:])
def test_the_callback_stops(search: str) -> None:
    data, _ = drawn(0, n=60)
    found = qwo.discover(data, search=search, callback=lambda _: True, random_state=0)
    assert found.status == "stopped"


@pytest.mark.parametrize("search", SEARCHES[1:])
def test_time_limits_are_kept_at_500_variables(search: str) -> None:
    data, _ = drawn(0, n=500, n_samples=1500)
    moments = qwo.Moments.from_data(data)
    limit = 0.3
    worked = []
    with threadpool_limits(1):
        # A busy machine may take the processor away: the least that was worked is what counts.
        for _ in range(3):
            start = time.process_time()
            found = qwo.discover(moments, search=search, time_limit=limit, random_state=0)
            worked.append(time.process_time() - start)
    assert found.status in ("time limit", "converged")
    assert min(worked) <= 1.1 * limit + 0.1


def test_progress_bar_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    qwo.discover(drawn(0, n=60)[0], progress=True, random_state=0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "score" in captured.err
    assert "best" in captured.err


def test_exact_moments_give_the_true_class() -> None:
    for seed in range(5):
        model = qwo.simulation.random_model("er", n_variables=10, degree=3, random_state=seed)
        moments = qwo.Moments.from_covariance(model.covariance(), None)
        found = qwo.discover(moments, random_state=0)
        assert np.array_equal(found.cpdag, qwo.to_cpdag(model.dag))
        assert math.isnan(found.score)


def test_more_variables_than_samples_uses_the_extended_bic_and_says_so() -> None:
    simulation = qwo.simulate("er", n_variables=60, n_samples=50, degree=2, random_state=0)
    with pytest.warns(qwo.DataWarning):
        moments = qwo.Moments.from_data(simulation.data)
    with pytest.warns(qwo.DataWarning, match="gamma = 0.5"):
        found = qwo.discover(moments, penalty_discount=2.0, random_state=0)
    plain = qwo.discover(moments, penalty_discount=2.0, gamma=0.0, random_state=0)
    assert found.params["gamma"] == 0.5
    assert found.n_edges < plain.n_edges


def test_knowledge_is_strictly_kept_by_every_search_and_engine() -> None:
    data, _ = drawn(4)
    knowledge = qwo.Knowledge(
        tiers=[[0, 1, 2, 3], [4, 5, 6, 7]], forbidden=[(8, 9)], required=[(10, 11)], leaves=[5]
    )
    resolved = knowledge.resolve([f"X{k}" for k in range(12)])
    for search in SEARCHES[1:]:
        for engine in ("bic", "qwo"):
            found = qwo.discover(
                data, search=search, engine=engine, knowledge=knowledge, random_state=0
            )
            resolved.check_dag(found.dag)
            assert found.cpdag[10, 11] == 1
            assert found.cpdag[11, 10] == 0
            assert not (found.cpdag[4:8, 0:4] == 1).any()


def test_knowledge_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.txt"
    path.write_text("/knowledge\nforbiddirect\nX0 X1\nX1 X0\n")
    found = qwo.discover(drawn()[0], knowledge=path, random_state=0)
    assert found.cpdag[0, 1] == found.cpdag[1, 0] == 0


def test_knowledge_may_be_a_dictionary_and_directs_edges_across_untiered_variables() -> None:
    covariance = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    moments = qwo.Moments.from_covariance(covariance, 1000, names=["a", "m", "b"])
    found = qwo.discover(moments, knowledge={"tiers": [["a"], ["b"]]}, random_state=0)
    assert found.edges == (("a", "---", "m"), ("m", "-->", "b"))


def test_contradictory_knowledge_is_refused_before_the_search() -> None:
    knowledge = qwo.Knowledge(required=[("X0", "X1"), ("X1", "X2"), ("X2", "X0")])
    with pytest.raises(KnowledgeError, match="X0"):
        qwo.discover(drawn()[0], knowledge=knowledge)


def test_an_engine_of_the_users_own() -> None:
    data, _ = drawn(2, n=6)
    moments = qwo.Moments.from_data(data)

    def score(variable: int, parents: tuple[int, ...]) -> float:
        s, chosen = moments.correlation, list(parents)
        explained = 0.0
        if chosen:
            cross = s[chosen, variable]
            explained = cross @ np.linalg.solve(s[np.ix_(chosen, chosen)], cross)
        size = moments.n_samples
        return float(-size * math.log(1 - explained) - 2 * len(chosen) * math.log(size))

    mine = qwo.discover(data, engine=LocalScoreEngine(score, 6), random_state=0)
    assert mine.params["engine"] == "LocalScoreEngine"
    same = qwo.discover(data, penalty_discount=2, random_state=0)
    assert mine.score == pytest.approx(same.score, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"search": "annealing"}, "search is 'annealing'; wanted one of"),
        ({"engine": "tpu"}, "engine is 'tpu'; wanted one of"),
        ({"engine": object()}, "does not follow the protocol.*permute"),
        ({"engine": "bic", "alpha": 0.01}, "engine='qwo'"),
        ({"restarts": -1}, "restarts"),
        ({"restarts": 1.5}, "restarts"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"time_limit": "1 min"}, "time_limit"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"penalty_discount": 0.0}, "penalty_discount"),
        ({"penalty_discount": "cheap"}, "penalty_discount is 'cheap'; wanted"),
        ({"gamma": "x"}, "gamma is 'x'; wanted a number"),
        ({"gamma": -1}, "gamma"),
        ({"gamma": math.nan}, "gamma"),
        ({"alpha": 1.5}, "alpha"),
        ({"random_state": -1}, "random_state is -1; wanted a whole number from 0"),
        ({"random_state": "one"}, "random_state"),
        ({"n_jobs": 10**30}, "n_jobs is 10*; wanted"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"knowledge": 3}, "knowledge is a int"),
        ({"method": "grasp"}, "method"),
        ({"version": 3, "search": "grasp"}, "version is 3"),
        ({"version": 0}, "version is 0, which search 'insertion'"),
        ({"depth": 0.5, "search": "grasp"}, "depth"),
        ({"reach": 0, "search": "hill-climbing"}, "reach"),
        ({"objective": "edges"}, "objective is 'edges', which engine 'bic'"),
        ({"method": "qwo-grasp", "alpha": 0.5}, "alpha is 0.5, but the method"),
        ({"method": "qwo-hc", "search": "grasp"}, "'qwo-hc' takes 'hill-climbing'"),
        ({"start": "alphabetical"}, "alphabetical"),
        ({"start": [0, 1]}, "order"),
    ],
)
def test_wrong_arguments_are_refused_by_name(wrong: dict[str, object], match: str) -> None:
    with pytest.raises(qwo.InputError, match=match):
        qwo.discover(drawn()[0], **wrong)  # type: ignore[arg-type]


def test_cures_named_in_messages_are_parameters() -> None:
    data, _ = drawn()
    data[3, 2] = np.nan
    with pytest.raises(qwo.InputError, match="missing='drop'"):
        qwo.discover(data)
    with pytest.warns(qwo.DataWarning, match="left out"):
        found = qwo.discover(data, missing="drop", random_state=0)
    assert found.params["n_samples"] == 999
    dependent = np.column_stack([data[4:], data[4:, 0] + data[4:, 1]])
    with pytest.raises(qwo.InputError, match="covariance_estimator='ledoit-wolf'"):
        qwo.discover(dependent)
    with pytest.warns(qwo.DataWarning, match="dependent"):
        shrunk = qwo.discover(dependent, covariance_estimator="ledoit-wolf", random_state=0)
    assert shrunk.params["covariance_estimator"] == "ledoit-wolf"


def test_the_result_survives_pickling() -> None:
    found = qwo.discover(drawn()[0], random_state=0)
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.cpdag, found.cpdag)
    assert again.params == found.params


def test_an_engine_for_other_data_is_refused() -> None:
    with pytest.raises(ArgumentError, match="6 variables, the data 12"):
        qwo.discover(drawn()[0], engine=LocalScoreEngine(lambda *_: 0.0, 6))


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import qwo

data = np.random.default_rng(0).normal(size=(400, 300)) @ np.tri(300)
moments = qwo.Moments.from_data(data)
rounds = []
def callback(progress):
    rounds.append(progress.round)
    if len(rounds) == 2:
        os.kill(os.getpid(), signal.SIGINT)
found = qwo.discover(moments, random_state=0, callback=callback, **eval(sys.argv[1]))
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(found.status, found.n_edges > 0)
"""


@pytest.mark.parametrize(
    "options", ["{'restarts': 5000, 'n_jobs': 2}", "{'restarts': 5000}", "{'search': 'grasp'}"]
)
def test_ctrl_c_in_a_real_process_returns_the_best_graph_so_far(options: str) -> None:
    """The signal used to reach the thread pool, and the result was lost."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED, options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "interrupted True\n", done.stderr


def test_ctrl_c_after_the_last_look_at_it_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that runs many short searches must hear of it, or it would run on."""

    def search(_plan: object, engine: BicEngine, *_: object) -> SearchOutcome:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return SearchOutcome(engine.order, engine.cost, "converged", (), 0, 0)

    monkeypatch.setattr(discover_module, "run_search", search)
    assert qwo.discover(drawn()[0], random_state=0).status == "interrupted"


@pytest.mark.parametrize("engine", ["bic", "qwo", "reference"])
def test_the_score_is_that_of_the_graph_for_every_engine(engine: str) -> None:
    """An engine may know variances of its order, which are not those of its DAG."""
    data, _ = drawn(3, n=7)
    found = qwo.discover(data, engine=engine, penalty_discount=2.0, random_state=0)
    scored = qwo.score_graph(data, found.dag, penalty_discount=2.0)
    assert found.score == pytest.approx(scored.score, rel=1e-9)
