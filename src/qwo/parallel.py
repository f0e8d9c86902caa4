"""Many independent runs of one function: in this process, in several, or on a cluster."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from itertools import islice
from threading import Thread
from typing import Any, TypeVar

from qwo.compute import count_workers
from qwo.errors import ArgumentError, ClusterError, optional_module

Task = TypeVar("Task")
Result = TypeVar("Result")

TASKS_PER_THREAD = 3
"""How many tasks a cluster holds for each of its threads: enough to keep it busy."""

WATCH_SECONDS = 1.0
"""How often a worker looks whether the process that it works for is still there."""

CONNECT_SECONDS = 10.0
"""How long a scheduler has to answer."""

WORKER_SECONDS = 30.0
"""The same for the first worker of a cluster that has none yet."""


def run_many(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
) -> Iterator[tuple[int, Result]]:
    """Pairs (k, ``function(tasks[k])``), in the order in which they are finished.

    Whoever needs the same result for any number of workers puts them in order by k, or adds them up
    in a way that does not depend on it. To stop early, close the iterator.

    Parameters
    ----------
    function : callable
        A function of one argument that can be sent to another process.
    tasks : sequence
        Its arguments.
    n_jobs : int, optional
        Processes, each with one BLAS thread; -1 for one per processor, 1 for none but this one.
    cluster : dask.distributed.Client or str, optional
        A Dask cluster to run on instead, or the address of its scheduler. It repeats what was lost
        with a worker.
    """
    if cluster is not None:
        return _on_cluster(function, tasks, cluster)
    workers = count_workers(n_jobs)
    if workers == 1 or len(tasks) < 2:
        return ((k, function(task)) for k, task in enumerate(tasks))
    return _in_processes(function, tasks, workers)


def _in_processes(
    function: Callable[[Task], Result], tasks: Sequence[Task], workers: int
) -> Generator[tuple[int, Result]]:
    from joblib import Parallel, delayed, parallel_config

    # The configuration must not reach the code between two results, which is the caller's.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    parent = os.getpid()
    results = pool(delayed(_watched)(parent, function, k, task) for k, task in enumerate(tasks))
    try:
        # Not "yield from", which would hand on an early end before its warning can be silenced.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _on_cluster(
    function: Callable[[Task], Result], tasks: Sequence[Task], cluster: Any
) -> Generator[tuple[int, Result]]:
    """A window of tasks slides over them all, so that the scheduler never holds more."""
    with cluster_client(cluster) as client, _faults_named(client):
        # What all tasks share goes to the workers once, not with every task; the scheduler keeps it
        # for a worker that takes the place of the last one.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            shared = client.submit(_itself, function, pure=False)
        futures = _distributed().as_completed(loop=client.loop)
        waiting = iter(enumerate(tasks))

        def start(count: int) -> None:
            for k, task in islice(waiting, count):
                futures.add(client.submit(_numbered, shared, k, task, pure=False))

        start(TASKS_PER_THREAD * max(1, sum(client.nthreads().values())))
        try:
            for future in futures:
                result = future.result()
                start(1)
                yield result
        finally:
            if client.status == "running":
                client.cancel(list(futures.futures))


@contextmanager
def cluster_client(cluster: Any) -> Iterator[Any]:
    """A client of a Dask cluster: the one given, or one for this block alone to an address.

    Parameters
    ----------
    cluster : dask.distributed.Client or str
        The client, or the address of the scheduler.

    Raises
    ------
    ClusterError
        If nobody answers, or if there are no workers.
    """
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        if cluster.status != "running":
            raise ClusterError(
                f"cluster is a client that is {cluster.status}; wanted one that is connected",
                option="cluster",
            )
        _await_worker(cluster)
        yield cluster
    elif isinstance(cluster, str) and cluster.strip():
        with _connected(distributed, cluster) as client:
            _await_worker(client)
            yield client
    else:
        seen = repr(cluster) if isinstance(cluster, str) else f"a {type(cluster).__name__}"
        raise ArgumentError(
            f"cluster is {seen}; wanted a dask.distributed.Client or the address of a scheduler, "
            "such as 'tcp://10.0.0.1:8786'",
            option="cluster",
        )


def _connected(distributed: Any, address: str) -> Any:
    """A client that no other code of this process takes for its own."""
    try:
        return distributed.Client(address, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, MemoryError) as error:
        raise ClusterError(
            f"cluster is {address!r}, where no scheduler of Dask answers "
            f"({str(error) or f'silent for {CONNECT_SECONDS:g} s'}); wanted an address such as "
            "'tcp://10.0.0.1:8786', as dask scheduler prints it",
            option="cluster",
        ) from error


def _await_worker(client: Any) -> None:
    """Wait for a worker; one task wakes clusters that grow with the work."""
    with _faults_named(client):
        if client.nthreads():
            return
        try:
            client.submit(int, pure=False).result(timeout=WORKER_SECONDS)
        except TimeoutError as error:
            raise ClusterError(
                f"the Dask cluster at {client.scheduler.address} has no workers; start some, with "
                "dask worker and that address"
            ) from error


@contextmanager
def _faults_named(client: Any) -> Iterator[None]:
    """What Dask raises once the cluster or the client has gone, in words."""
    try:
        yield
    except (Exception, CancelledError) as error:
        lost = isinstance(error, CancelledError) or type(error).__module__.startswith("distributed")
        if client.status == "running" and not lost:
            raise
        raise ClusterError(
            f"the Dask cluster has gone ({type(error).__name__}: {error})"
        ) from error


def _distributed() -> Any:
    return optional_module("distributed", "a cluster needs", "dask[distributed]")


def _watched(
    parent: int, function: Callable[[Task], Result], k: int, task: Task
) -> tuple[int, Result]:
    """A task in a process that ends with the one that it works for, even if that is killed."""
    _end_with(parent)
    return _numbered(function, k, task)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after another one: once for each that it has worked for."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _itself(function: Result) -> Result:
    return function


def _numbered(function: Callable[[Task], Result], k: int, task: Task) -> tuple[int, Result]:
    return k, function(task)
