"""Restarts of one search on a Dask cluster: the graph is the same, whatever happens to workers."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo.discovery import Discovery, choices, discover
from qwo.errors import ArgumentError
from qwo.moments import Moments
from qwo.order import candidates
from qwo.order.bic import BicEngine
from qwo.search import Progress
from qwo.search.bic_insertion import _run_elsewhere, bic_insertion
from tests.cli.running import run
from tests.helpers.local_cluster import foreign_warnings, local_cluster

module = import_module("qwo.search.bic_insertion")
"""The package shows the function under this name."""

FOLDER = "QWO_TEST_FOLDER"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that the workers know of."""
    made = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(made))
        yield made


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Any]:
    assert folder.is_dir()
    with local_cluster() as made:
        yield made


def sample(seed: int, n: int = 30, n_samples: int = 200, degree: float = 6.0) -> Moments:
    drawn = qwo.simulate("er", n_variables=n, n_samples=n_samples, degree=degree, random_state=seed)
    return Moments.from_data(drawn.data)


def assert_same(there: Discovery, here: Discovery) -> None:
    assert there.status == here.status == "converged"
    assert there.score == here.score
    assert there.order.tolist() == here.order.tolist()
    np.testing.assert_array_equal(there.dag, here.dag)
    assert [score for _, score in there.trace] == [score for _, score in here.trace]


def killed_once(*arguments: Any) -> Any:
    """A chain; but the first worker that begins one is killed, as by the system."""
    try:
        Path(os.environ[FOLDER], "killed").touch(exist_ok=False)
    except FileExistsError:
        return _run_elsewhere(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def waiting(*arguments: Any) -> Any:
    """A chain that does not begin until the test is over."""
    folder = Path(os.environ[FOLDER])
    (folder / "begun").touch()
    while not (folder / "over").exists():
        time.sleep(0.01)
    return _run_elsewhere(*arguments)


@foreign_warnings
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_the_same(seed: int, cluster: Any) -> None:
    moments = sample(seed, n=40, n_samples=100, degree=8.0)
    options: dict[str, Any] = {"restarts": 30 + 70 * seed, "random_state": seed}
    with cluster.get_client() as client:
        there = discover(moments, cluster=client, **options)
    here = discover(moments, **options)
    assert_same(there, here)
    assert there.params["penalty_chosen"]
    assert there.params["penalty_discount"] == here.params["penalty_discount"]
    assert there.expected_false_edges == here.expected_false_edges


@foreign_warnings
def test_the_search_is_the_same_where_restarts_find_much(cluster: Any) -> None:
    """Without tucks they do, so that what workers have found is taken up and followed up."""
    for seed in range(3):
        first, here, there = (BicEngine(sample(seed)) for _ in range(3))
        bic_insertion(first, tucks=False, restarts=0, random_state=seed)
        bic_insertion(here, tucks=False, restarts=90, random_state=seed)
        with cluster.get_client() as client:
            bic_insertion(there, tucks=False, restarts=90, random_state=seed, cluster=client)
        assert here.cost < first.cost - 10.0
        assert there.cost == here.cost
        assert there.order.tolist() == here.order.tolist()
        np.testing.assert_array_equal(there.coefficients(), here.coefficients())


@foreign_warnings
@pytest.mark.parametrize("seed", range(2))
def test_the_same_with_lists_of_candidates(
    seed: int, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "ALL_CANDIDATES_UP_TO", 50)
    monkeypatch.setitem(candidates.candidate_parents.__kwdefaults__, "partial", 6)
    monkeypatch.setitem(candidates.candidate_parents.__kwdefaults__, "marginal", 8)
    moments = sample(seed, n=60, n_samples=400)
    knowledge = qwo.Knowledge(tiers=[list(range(20)), list(range(20, 60))], required=[(2, 3)])
    options: dict[str, Any] = {"restarts": 60, "random_state": seed, "knowledge": knowledge}
    there = discover(moments, cluster=cluster.scheduler_address, **options)
    assert_same(there, discover(moments, **options))


@foreign_warnings
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing to kill a process with")
def test_a_worker_that_is_killed_loses_nothing(
    cluster: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = sample(1)
    here = discover(moments, restarts=100, random_state=1)
    monkeypatch.setattr(module, "_run_elsewhere", killed_once)
    with cluster.get_client() as client:
        client.wait_for_workers(2)
        there = discover(moments, restarts=100, random_state=1, cluster=client)
    assert (folder / "killed").exists()
    assert_same(there, here)


@foreign_warnings
def test_whoever_stops_the_search_gets_the_best_so_far(
    cluster: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = sample(2)
    monkeypatch.setattr(module, "_run_elsewhere", waiting)

    def stop(_: Progress) -> bool:
        return (folder / "begun").exists()

    try:
        found = discover(
            moments,
            restarts=100,
            random_state=2,
            cluster=cluster.scheduler_address,
            callback=stop,
        )
    finally:
        (folder / "over").touch()
    assert found.status == "stopped"
    assert found.score >= discover(moments, restarts=0, random_state=2).score


@foreign_warnings
def test_the_time_limit_is_kept(cluster: Any) -> None:
    moments = sample(3)
    found = discover(
        moments,
        restarts=10**7,
        random_state=3,
        time_limit=2.0,
        cluster=cluster.scheduler_address,
    )
    assert found.status == "time limit"
    assert found.seconds < 20.0
    once = discover(moments, restarts=0, random_state=3)
    assert found.score >= once.score - 1e-6


def test_a_chain_whose_time_is_up_says_so() -> None:
    engine = BicEngine(sample(0))
    bic_insertion(engine, restarts=0, tucks=False, random_state=0)
    late, done = (_run_elsewhere(engine, end, (1, 30)) for end in (0.0, float("inf")))
    assert not late.in_time
    assert late.cost == engine.cost
    assert done.in_time
    assert done.improved
    assert done.cost < engine.cost


@pytest.mark.parametrize("deadline", [0.0, float("inf")])
def test_the_best_of_the_chains_that_are_back_counts(
    deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of three is lost, as where a search is stopped, or comes too late."""
    returned = {}

    def two_of_three(chain: Any, tasks: list[Any], **_: Any) -> Iterator[tuple[int, Any]]:
        engine, _ = chain.args
        for k, end in ((2, float("inf")), (0, deadline)):
            returned[k] = _run_elsewhere(engine, end, tasks[k])
            yield k, returned[k]

    monkeypatch.setattr(module, "run_many", two_of_three)
    engine = BicEngine(sample(0))
    outcome = bic_insertion(engine, restarts=60, random_state=0, cluster="somewhere", tucks=False)
    assert outcome.status == ("time limit" if deadline == 0.0 else "converged")
    best = min(chain.cost for chain in returned.values())
    assert outcome.cost == engine.cost <= best + 1e-9 * abs(best)


@foreign_warnings
def test_few_restarts_run_here(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(module, "run_many")
    moments = sample(0)
    there = discover(moments, restarts=20, random_state=0, cluster=cluster.scheduler_address)
    assert_same(there, discover(moments, restarts=20, random_state=0))


@foreign_warnings
@pytest.mark.parametrize("options", [{"search": "grasp"}, {"engine": "qwo"}])
def test_other_searches_have_nothing_for_a_cluster(options: dict[str, Any], cluster: Any) -> None:
    with pytest.raises(ArgumentError, match="leave it out"):
        discover(sample(0), cluster=cluster.scheduler_address, **options)


def test_something_that_is_no_cluster() -> None:
    with pytest.raises(ArgumentError, match="cluster is a int"):
        discover(sample(0), cluster=8786)


@foreign_warnings
def test_the_estimator_passes_the_address_on(cluster: Any) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(100, 8)) @ rng.normal(size=(8, 8))
    here, there = (
        qwo.QWO(restarts=60, random_state=0, cluster=address).fit(data)
        for address in (None, cluster.scheduler_address)
    )
    assert_same(there.discovery_, here.discovery_)


@foreign_warnings
def test_on_the_command_line(cluster: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    drawn = qwo.simulate("er", n_variables=8, n_samples=100, degree=3, random_state=0)
    np.savetxt(table, drawn.data, delimiter=",", header=",".join("abcdefgh"), comments="")
    arguments = ("learn", table, "--restarts", 60, "--bootstrap", 5, "--json")
    results = [run(*arguments, *more) for more in ((), ("--cluster", cluster.scheduler_address))]
    here, there = (json.loads(result.stdout) for result in results)
    assert there["bootstrap"] == here["bootstrap"]
    assert there["score"] == here["score"]
    assert there["order"] == here["order"]
