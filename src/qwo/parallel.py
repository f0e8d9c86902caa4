"""Many independent runs of one function: in this process, in several, or on a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from qwo.errors import ArgumentError
from qwo.optional import optional_module

Task = TypeVar("Task")
Result = TypeVar("Result")

TASKS_PER_THREAD = 3
"""How many tasks a cluster holds for each of its threads: enough to keep it busy."""


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


def count_workers(n_jobs: int | None) -> int:
    """How many workers ``n_jobs`` means: None is 1, -1 all processors."""
    try:
        return int(effective_n_jobs(n_jobs))
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"n_jobs is {n_jobs!r}; wanted a number of workers, or -1 for all processors"
        ) from error


def _in_processes(
    function: Callable[[Task], Result], tasks: Sequence[Task], workers: int
) -> Iterator[tuple[int, Result]]:
    # The configuration must not reach the code between two results, which is the caller's.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    results = pool(delayed(_numbered)(function, k, task) for k, task in enumerate(tasks))
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
) -> Iterator[tuple[int, Result]]:
    """A window of tasks slides over them all, so that the scheduler never holds more."""
    with cluster_client(cluster) as client:
        ahead = TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))
        # What all tasks share goes to the workers once, not with every task.
        shared = client.scatter(function, broadcast=True, hash=False)
        waiting = (
            client.submit(_numbered, shared, k, task, pure=False) for k, task in enumerate(tasks)
        )
        first = list(islice(waiting, ahead))
        running = _distributed().as_completed(first, loop=client.loop)
        try:
            for future in running:
                yield future.result()
                for following in islice(waiting, 1):
                    running.add(following)
        finally:
            client.cancel(list(running.futures))


@contextmanager
def cluster_client(cluster: Any) -> Iterator[Any]:
    """A client of a Dask cluster: the one given, or one for this block alone to an address."""
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
    elif isinstance(cluster, str):
        with _connected(distributed, cluster) as client:
            yield client
    else:
        raise ArgumentError(
            f"cluster is a {type(cluster).__name__}; wanted a dask.distributed.Client or the "
            "address of a scheduler, such as 'tcp://10.0.0.1:8786'"
        )


def _connected(distributed: Any, address: str) -> Any:
    """A client that no other code of this process takes for its own."""
    try:
        return distributed.Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"no scheduler of a Dask cluster answers at {address!r} ({error}); wanted an address "
            "such as 'tcp://10.0.0.1:8786', as dask scheduler prints it"
        ) from error


def _distributed() -> Any:
    return optional_module("distributed", "a cluster needs", "qwo[cluster]")


def _numbered(function: Callable[[Task], Result], k: int, task: Task) -> tuple[int, Result]:
    return k, function(task)
