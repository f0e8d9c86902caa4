"""Many independent runs of one function: in this process, in several, or on a cluster."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
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

POLL = 0.02
"""Seconds between two looks at whether to stop."""

WATCH_SECONDS = 1.0
"""How often a worker looks whether the process that it works for is still there."""

CONNECT_SECONDS = 10.0
"""How long a scheduler has to answer, unless there is less time altogether."""

WORKER_SECONDS = 30.0
"""The same for the first worker of a cluster that has none yet."""

MOST_LOSSES = 3
"""How often in a row a cluster may lose what all tasks share, with its last worker."""


def run_many(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
    stop: Callable[[], bool] | None = None,
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
    stop : callable, optional
        Asked before each result, and on a cluster many times a second while there is none; once it
        returns True, the iterator ends.
    """
    if cluster is not None:
        return _on_cluster(function, tasks, cluster, stop)
    workers = count_workers(n_jobs)
    if workers == 1 or len(tasks) < 2:
        return _until(stop, ((k, function(task)) for k, task in enumerate(tasks)))
    return _until(stop, _in_processes(function, tasks, workers))


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
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    cluster: Any,
    stop: Callable[[], bool] | None,
) -> Iterator[tuple[int, Result]]:
    """A window of tasks slides over them all, so that the scheduler never holds more."""
    with cluster_client(cluster) as client:
        with _faults_named(client):
            runs = _ClusterRuns(client, function, tasks)
            waiting = iter(range(len(tasks)))
            for k in islice(waiting, TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))):
                runs.start(k)
        try:
            while runs.wait(stop):
                with _faults_named(client):
                    result = runs.take()
                    for k in islice(waiting, 0 if result is None else 1):
                        runs.start(k)
                if result is not None:
                    yield result
        finally:
            runs.cancel()


class _ClusterRuns:
    """Tasks on a cluster that have been started and not yet taken back."""

    def __init__(self, client: Any, function: Callable[..., Any], tasks: Sequence[Any]) -> None:
        self._client = client
        self._function = function
        self._tasks = tasks
        self._futures = _distributed().as_completed(loop=client.loop)
        self._origins: dict[str, tuple[int, Any]] = {}
        self._losses = 0
        self._shared = self._send()

    def start(self, k: int) -> None:
        """Start task k."""
        future = self._client.submit(_numbered, self._shared, k, self._tasks[k], pure=False)
        self._origins[future.key] = k, self._shared
        self._futures.add(future)

    def wait(self, stop: Callable[[], bool] | None) -> bool:
        """Wait for one to end; False if none is left, or if asked to stop."""
        while stop is not None and not self._futures.has_ready():
            if stop() or self._futures.is_empty():
                return False
            time.sleep(POLL)
        return not self._futures.is_empty()

    def take(self) -> tuple[int, Any] | None:
        """The result of the next one to end; None if it was lost, and is started again."""
        future = next(self._futures)
        k, shared = self._origins.pop(future.key)
        try:
            result: tuple[int, Any] = future.result()
        except CancelledError:
            # Dask repeats tasks, but what was sent to workers is gone with the last that had it.
            if shared is self._shared:
                self._losses += 1
                if self._losses > MOST_LOSSES:
                    raise
                self._shared = self._send()
            self.start(k)
            return None
        self._losses = 0
        return result

    def cancel(self) -> None:
        """Give up those that are left, unless the cluster has."""
        if self._client.status == "running":
            self._client.cancel(list(self._futures.futures))

    def _send(self) -> Any:
        """What all tasks share goes to the workers once, not with every task."""
        return self._client.scatter(self._function, broadcast=True, hash=False)


@contextmanager
def cluster_client(cluster: Any, seconds: float | None = None) -> Iterator[Any]:
    """A client of a Dask cluster: the one given, or one for this block alone to an address.

    Parameters
    ----------
    cluster : dask.distributed.Client or str
        The client, or the address of the scheduler.
    seconds : float, optional
        How long the cluster has to answer, if that is less than usual.

    Raises
    ------
    ClusterError
        If nobody answers, or if there are no workers.
    """
    limit = math.inf if seconds is None else seconds
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        if cluster.status != "running":
            raise ClusterError(
                f"cluster is a client that is {cluster.status}; wanted one that is connected",
                option="cluster",
            )
        _await_worker(cluster, min(limit, WORKER_SECONDS))
        yield cluster
    elif isinstance(cluster, str) and cluster.strip():
        with _connected(distributed, cluster, min(limit, CONNECT_SECONDS)) as client:
            _await_worker(client, min(limit, WORKER_SECONDS))
            yield client
    else:
        seen = repr(cluster) if isinstance(cluster, str) else f"a {type(cluster).__name__}"
        raise ArgumentError(
            f"cluster is {seen}; wanted a dask.distributed.Client or the address of a scheduler, "
            "such as 'tcp://10.0.0.1:8786'",
            option="cluster",
        )


def _connected(distributed: Any, address: str, seconds: float) -> Any:
    """A client that no other code of this process takes for its own."""
    try:
        _look_up(address, seconds)
        return distributed.Client(address, set_as_default=False, timeout=seconds)
    except (OSError, ValueError, MemoryError) as error:
        raise ClusterError(
            f"cluster is {address!r}, where no scheduler of Dask answers "
            f"({str(error) or f'silent for {seconds:g} s'}); wanted an address such as "
            "'tcp://10.0.0.1:8786', as dask scheduler prints it",
            option="cluster",
        ) from error


def _look_up(address: str, seconds: float) -> None:
    """Shake hands with a scheduler; a client of Dask would wait for minutes if it is none.

    In a thread of its own, as notebooks have an event loop running in theirs.
    """
    import asyncio

    distributed = _distributed()

    async def shake_hands() -> None:
        options = distributed.Security().get_connection_args("client")
        greeting = distributed.comm.connect(address, timeout=seconds, deserialize=False, **options)
        comm = await asyncio.wait_for(greeting, seconds)
        await comm.close()

    failure: list[Exception] = []

    def run() -> None:
        try:
            asyncio.run(shake_hands())
        except (OSError, ValueError, MemoryError) as error:
            failure.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + 1)
    if thread.is_alive() or failure:
        raise failure[0] if failure else TimeoutError


def _await_worker(client: Any, seconds: float) -> None:
    """Wait for a worker; one task wakes clusters that grow with the work."""
    with _faults_named(client):
        if client.nthreads():
            return
        try:
            client.submit(int, pure=False).result(timeout=max(seconds, 0.1))
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


def _until(
    stop: Callable[[], bool] | None, results: Generator[tuple[int, Result]]
) -> Iterator[tuple[int, Result]]:
    with closing(results):
        while stop is None or not stop():
            try:
                yield next(results)
            except StopIteration:
                return


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


def _numbered(function: Callable[[Task], Result], k: int, task: Task) -> tuple[int, Result]:
    return k, function(task)
