"""`run_many`: the same results here, in other processes, and on a cluster that loses a worker."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo import parallel
from qwo.compute import count_workers
from qwo.errors import ArgumentError, ClusterError, InputError
from qwo.parallel import cluster_client, run_many
from qwo.resample import BootstrapProgress, bootstrap
from tests.helpers.local_cluster import foreign_warnings, local_cluster

SQUARES = [(k, k * k) for k in range(20)]


def square(number: int) -> int:
    return number * number


def slow_square(number: int) -> int:
    time.sleep(0.05)
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise InputError("three")
    return number


def place_of(table: np.ndarray, row: int) -> tuple[int, float, bool]:
    return os.getpid(), float(table[row].sum()), isinstance(table, np.memmap)


def kill_worker_once(folder: Path, number: int) -> int:
    """The square; but the first worker to come to 5 is killed, as by the system."""
    if number == 5:
        try:
            (folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return number * number


@pytest.mark.parametrize("n_jobs", [1, None, 2])
def test_every_task_once(n_jobs: int | None) -> None:
    assert sorted(run_many(square, range(20), n_jobs=n_jobs)) == SQUARES


def test_one_job_works_here_and_only_when_asked() -> None:
    seen: list[int] = []
    results = run_many(seen.append, range(5))
    assert seen == []
    next(results)
    assert seen == [0]


def test_one_task_needs_no_processes() -> None:
    [(_, (pid, _, _))] = run_many(partial(place_of, np.ones((1, 1))), [0], n_jobs=2)
    assert pid == os.getpid()


def test_processes_share_a_large_table_and_are_not_this_one() -> None:
    table = np.arange(400_000.0).reshape(4, -1)
    found = dict(run_many(partial(place_of, table), range(4), n_jobs=2))
    assert [found[k][1] for k in range(4)] == table.sum(axis=1).tolist()
    assert os.getpid() not in {pid for pid, _, _ in found.values()}
    assert all(shared for _, _, shared in found.values())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_a_task_is_the_callers(n_jobs: int) -> None:
    with pytest.raises(InputError, match="three"):
        list(run_many(fail_at_three, range(6), n_jobs=n_jobs))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_iterator_that_is_closed_early(n_jobs: int) -> None:
    results: Any = run_many(square, range(1000), n_jobs=n_jobs)
    k, found = next(results)
    assert found == k * k
    results.close()
    with pytest.raises(StopIteration):
        next(results)


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_a_number_of_workers_that_is_none(n_jobs: Any) -> None:
    with pytest.raises(ArgumentError, match="n_jobs"):
        count_workers(n_jobs)


def test_something_that_is_no_cluster() -> None:
    with pytest.raises(ArgumentError, match="cluster is a int"):
        list(run_many(square, range(3), cluster=8786))


@foreign_warnings
def test_an_address_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ArgumentError, match="where no scheduler of Dask"):
        list(run_many(square, range(3), cluster="tcp://127.0.0.1:9"))


@pytest.mark.parametrize("address", ["", "  ", "x://y", "nowhere"])
@foreign_warnings
def test_an_address_that_is_none(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ArgumentError, match="cluster is"):
        list(run_many(square, range(3), cluster=address))


@pytest.mark.parametrize("wrong", [0, 1.5, "two", 10**30, math.nan])
def test_numbers_of_workers_that_are_none(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="n_jobs is"):
        count_workers(wrong)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster() as made:
        yield made


@foreign_warnings
def test_on_a_cluster_by_client_and_by_address(cluster: Any) -> None:
    with cluster.get_client() as client:
        assert sorted(run_many(square, range(20), cluster=client)) == SQUARES
        with cluster_client(client) as same:
            assert same is client
    assert sorted(run_many(square, range(20), cluster=cluster.scheduler_address)) == SQUARES


@foreign_warnings
def test_a_task_that_fails_on_a_cluster(cluster: Any) -> None:
    with pytest.raises(InputError, match="three"):
        list(run_many(fail_at_three, range(6), cluster=cluster.scheduler_address))


@foreign_warnings
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing to kill a process with")
def test_a_cluster_repeats_what_was_lost_with_a_worker(cluster: Any, tmp_path: Path) -> None:
    task = partial(kill_worker_once, tmp_path)
    assert sorted(run_many(task, range(20), cluster=cluster.scheduler_address)) == SQUARES
    assert (tmp_path / "killed").exists()


@foreign_warnings
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing to kill a process with")
def test_what_the_last_worker_took_with_it_is_sent_again(tmp_path: Path) -> None:
    task = partial(kill_worker_once, tmp_path)
    with local_cluster(n_workers=1) as single, single.get_client() as client:
        assert sorted(run_many(task, range(20), cluster=client)) == SQUARES
    assert (tmp_path / "killed").exists()


@foreign_warnings
def test_a_cluster_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORKER_SECONDS", 0.5)
    refused = pytest.raises(ClusterError, match="has no workers")
    with local_cluster(n_workers=0) as empty, refused:
        list(run_many(square, range(3), cluster=empty.scheduler_address))


@foreign_warnings
def test_a_client_that_is_closed_is_refused(cluster: Any) -> None:
    client = cluster.get_client()
    client.close()
    with pytest.raises(ClusterError, match="a client that is closed"):
        list(run_many(square, range(3), cluster=client))


@foreign_warnings
def test_a_cluster_that_goes_in_the_middle_is_named(cluster: Any) -> None:
    client = cluster.get_client()
    results = run_many(slow_square, range(200), cluster=client)
    first = [next(results) for _ in range(3)]
    client.close()
    with pytest.raises(ClusterError, match="the Dask cluster has gone"):
        list(results)
    assert len(first) == 3


@foreign_warnings
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing to kill a process with")
def test_a_bootstrap_on_a_cluster_survives_a_worker(cluster: Any) -> None:
    data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, degree=2, random_state=3)
    here = bootstrap(data, n_resamples=60, random_state=3)
    victims = list(cluster.workers.values())

    def kill_one(_: object) -> None:
        if victims:
            os.kill(victims.pop().pid, signal.SIGKILL)
            victims.clear()

    with cluster.get_client() as client:
        client.wait_for_workers(2)
        there = bootstrap(data, n_resamples=60, random_state=3, dask=client, callback=kill_one)
    assert not victims
    assert there.status == "complete"
    np.testing.assert_array_equal(there.directed_counts, here.directed_counts)
    np.testing.assert_array_equal(there.undirected_counts, here.undirected_counts)


@foreign_warnings
def test_a_bootstrap_keeps_its_replicates_when_the_cluster_goes(
    cluster: Any, tmp_path: Path
) -> None:
    data, _, _ = qwo.simulate("er", n_variables=12, n_samples=300, random_state=3)
    file = tmp_path / "run.npz"
    client = cluster.get_client()

    def close_after_five(progress: BootstrapProgress) -> bool:
        if progress.n_done >= 5:
            client.close()
        return False

    with pytest.warns(qwo.DataWarning, match="what was counted until then is kept"):
        found = bootstrap(
            data,
            n_resamples=2000,
            random_state=3,
            dask=client,
            callback=close_after_five,
            checkpoint=file,
        )
    assert found.status == "incomplete"
    assert 5 <= found.n_done < 2000
    assert qwo.Bootstrap.load(file).n_done == found.n_done


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell who a process works for")
def test_workers_end_with_the_process_that_they_work_for() -> None:
    """A bootstrap that was killed left workers behind for minutes."""
    worker = (
        "import os, time; from qwo.parallel import _end_with; "
        "_end_with(os.getppid()); print('ready', flush=True); time.sleep(600)"
    )
    boss = (
        "import subprocess, sys, time; "
        f"print(subprocess.Popen([sys.executable, '-c', {worker!r}]).pid, flush=True); "
        "time.sleep(600)"
    )
    command = [sys.executable, "-c", boss]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        said = {parent.stdout.readline().strip() for _ in range(2)}
        child = int((said - {"ready"}).pop())
        parent.kill()
    deadline = time.monotonic() + 60
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except FileNotFoundError:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc").is_dir()
