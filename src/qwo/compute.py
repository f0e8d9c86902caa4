"""Where and by how many the work is done: array modules, threads of BLAS, workers.

NumPy on the host and CuPy on a CUDA device are array modules with the same functions, so that what
takes one as a parameter runs on either; the results differ in rounding alone.
"""

from __future__ import annotations

import math
import operator
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.linalg  # noqa: F401 (brings a BLAS of its own, which must be there to be found)
from threadpoolctl import ThreadpoolController

from qwo.errors import ArgumentError, EngineError, optional_module

Device = Literal["cpu", "gpu"]

_present: ContextVar[Any] = ContextVar("array module", default=np)


def array_module(device: str = "cpu") -> Any:
    """NumPy, or CuPy; errors say that it is not installed, or that there is no CUDA device."""
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


class _Limits:
    """How many need BLAS to keep to one thread, and how many threads it had before."""

    lock = threading.Lock()
    needed_by = 0
    before: ClassVar[list[tuple[Any, int]]] = []


@contextmanager
def one_blas_thread(multiplications: float = 0.0, limit: float | None = None) -> Iterator[None]:
    """Keep BLAS to one thread for as long as this lasts, unless the work is large.

    Who has a time limit, so that the result depends on the clock anyway, keeps to one thread on
    busy machines too, where threads wait long for each other.

    Sums then do not depend on the number of threads. And BLAS starts its threads for matrices of a
    hundred rows already, where after each product they spin for some milliseconds in wait of the
    next: on small data that costs more processor time than the whole search.

    Most libraries have one pool for the process: the first who needs the limit sets it, and the
    last lifts it. Those with OpenMP have one for each thread of Python.
    """
    waits = limit is not None and hasattr(os, "getloadavg")
    if multiplications >= WORTH_THREADS and not (waits and os.getloadavg()[0] > processors()):
        yield
        return
    own, shared = _libraries()
    mine = _kept_to_one(own)
    with _Limits.lock:
        if not _Limits.needed_by:
            _Limits.before = _kept_to_one(shared)
        _Limits.needed_by += 1
    try:
        yield
    finally:
        _set_threads(mine)
        with _Limits.lock:
            _Limits.needed_by -= 1
            if not _Limits.needed_by:
                _set_threads(_Limits.before)


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """The BLAS libraries that each thread has threads of, and those that the process has.

    To find them takes milliseconds.
    """
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [one for one in found if getattr(one, "threading_layer", "") == "openmp"]
    return own, [one for one in found if one not in own]


def _kept_to_one(libraries: Iterable[Any]) -> list[tuple[Any, int]]:
    """How many threads those libraries had that had several."""
    several = [(own, count) for own in libraries if (count := own.get_num_threads()) > 1]
    _set_threads((library, 1) for library, _ in several)
    return several


def _set_threads(wanted: Iterable[tuple[Any, int]]) -> None:
    for library, number in wanted:
        if library.get_num_threads() == number:
            continue
        # Of a shared pool threadpoolctl 3.8 lets only the thread that was first set the size.
        release = getattr(library, "clear_controlling_thread", lambda **_: None)
        release(force=True)
        library.set_num_threads(number)
        release()


def processors() -> int:
    """How many processors this process may use, as joblib counts them, which takes longer."""
    given = os.environ.get("LOKY_MAX_CPU_COUNT", "")
    found = [int(given)] if given.isdecimal() else []
    own = getattr(os, "sched_getaffinity", None)
    found.append(len(own(0)) if own else os.cpu_count() or 1)
    root = Path("/sys/fs/cgroup")
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((root / name).read_text() for name in files).split()
            found.append(math.ceil(int(quota) / int(period)))
        except (OSError, ValueError):
            continue
    return max(min(number for number in found if number > 0), 1)


def count_workers(n_jobs: int | None) -> int:
    """How many workers ``n_jobs`` means, threads or processes: None is 1, -1 all processors."""
    try:
        number = 1 if n_jobs is None else operator.index(n_jobs)
        if "joblib" in sys.modules:  # who may have set a limit
            workers = int(sys.modules["joblib"].effective_n_jobs(number))
        else:
            workers = number if number >= 0 else max(processors() + 1 + number, 1)
    except (TypeError, ValueError):
        workers = 0
    if not 1 <= workers <= MOST_WORKERS:
        raise ArgumentError(
            f"n_jobs is {n_jobs!r}; wanted a whole number of workers, {MOST_WORKERS} at most, or "
            "-1 for one per processor",
            option="n_jobs",
        )
    return workers
