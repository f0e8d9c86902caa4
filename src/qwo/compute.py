"""Where and by how many the work is done: array modules, threads of BLAS, workers.

NumPy on the host and CuPy on a CUDA device are array modules with the same functions, so that what
takes one as a parameter runs on either; the results differ in rounding alone.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import scipy.linalg  # noqa: F401 (brings a BLAS of its own, which must be there to be found)
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from qwo.errors import ArgumentError, EngineError
from qwo.optional import optional_module

Device = Literal["cpu", "gpu"]

_present: ContextVar[Any] = ContextVar("array module", default=np)


def array_module(device: str = "cpu") -> Any:
    """NumPy, or CuPy if it is installed and finds a device.

    Raises
    ------
    MissingPackageError
        If CuPy is not installed.
    EngineError
        If there is no CUDA device.
    """
    if device not in get_args(Device):
        raise ArgumentError(f"device is {device!r}; wanted 'cpu' or 'gpu'", option="device")
    if device == "cpu":
        return np
    cupy = optional_module("cupy", "device 'gpu' needs", "cupy-cuda13x")
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise EngineError(f"device 'gpu' needs a CUDA device: {error}") from error
    if not found:
        raise EngineError("device 'gpu' needs a CUDA device, and there is none")
    return cupy


def to_host(array: Any) -> Any:
    """An array of either module as one of NumPy."""
    return array.get() if hasattr(array, "get") else array


@contextmanager
def computing_with(xp: Any) -> Iterator[None]:
    """Let the moments of rows be computed by an array module for as long as this lasts."""
    token = _present.set(xp)
    try:
        yield
    finally:
        _present.reset(token)


def present_module() -> Any:
    """The array module of the innermost `computing_with` of this thread; NumPy without one."""
    return _present.get()


WORTH_THREADS = 5e8
"""Multiplications from which on a second thread of BLAS saves time."""

MOST_WORKERS = 4096
"""More than any machine has processors; beyond, the number is a slip."""


class _OneThread:
    """The limit of BLAS to one thread, which holds for the whole process, and how many need it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._needed_by = 0
        self._before: list[tuple[Any, int]] = []

    def take(self) -> None:
        """Need the limit: the first sets it."""
        with self._lock:
            if not self._needed_by:
                self._before = _limited([own for own in _libraries() if not _is_per_thread(own)])
            self._needed_by += 1

    def give_back(self) -> None:
        """Need it no longer: the last lifts it."""
        with self._lock:
            self._needed_by -= 1
            if not self._needed_by:
                _restore(self._before)


_one_thread = _OneThread()


@contextmanager
def one_blas_thread(multiplications: float = 0.0) -> Iterator[None]:
    """Keep BLAS to one thread for as long as this lasts, unless the work is large.

    Sums then do not depend on the number of threads. And BLAS starts its threads for matrices of a
    hundred rows already, where after each product they spin for some milliseconds in wait of the
    next: on small data that costs more processor time than the whole search.
    """
    if multiplications >= WORTH_THREADS:
        yield
        return
    _one_thread.take()
    before = _limited([own for own in _libraries() if _is_per_thread(own)])
    try:
        yield
    finally:
        _restore(before)
        _one_thread.give_back()


@cache
def _libraries() -> list[Any]:
    """All BLAS libraries of the process; to find them takes milliseconds."""
    return [found for found in ThreadpoolController().lib_controllers if found.user_api == "blas"]


def _is_per_thread(library: Any) -> bool:
    """Whether each thread of Python has a limit of its own there."""
    return getattr(library, "threading_layer", "") == "openmp"


def _limited(libraries: list[Any]) -> list[tuple[Any, int]]:
    """Limit libraries to one thread; those that had more, and how many."""
    before = [(library, library.get_num_threads()) for library in libraries]
    before = [(library, number) for library, number in before if number != 1]
    _restore([(library, 1) for library, _ in before])
    return before


def _restore(threads: list[tuple[Any, int]]) -> None:
    for library, number in threads:
        # Of a shared pool threadpoolctl 3.8 lets only the thread that was first set the size.
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)
        library.set_num_threads(number)
        if release is not None:
            release()


def count_workers(n_jobs: int | None) -> int:
    """How many workers ``n_jobs`` means, threads or processes: None is 1, -1 all processors."""
    try:
        number = 1 if n_jobs is None else operator.index(n_jobs)
        workers = int(effective_n_jobs(number))
    except (TypeError, ValueError):
        workers = 0
    if not 1 <= workers <= MOST_WORKERS:
        raise ArgumentError(
            f"n_jobs is {n_jobs!r}; wanted a whole number of workers, {MOST_WORKERS} at most, or "
            "-1 for one per processor",
            option="n_jobs",
        )
    return workers
