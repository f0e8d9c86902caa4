"""Threads of BLAS, only where they pay.

BLAS starts its threads for matrices of a hundred rows already, and after each product they spin for
some milliseconds in wait of the next. On small data that costs more processor time than the whole
search, and makes nothing faster.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401 (brings a BLAS of its own, which must be there to be found)
from threadpoolctl import ThreadpoolController

WORTH_THREADS = 5e8
"""Multiplications from which on a second thread saves time."""


@contextmanager
def blas_threads_for(multiplications: float) -> Iterator[None]:
    """Keep BLAS to one thread for as long as this lasts, if the work is small."""
    if multiplications >= WORTH_THREADS:
        yield
        return
    _single.begin()
    try:
        yield
    finally:
        _single.end()


class _SingleThread:
    """A limit that holds for the whole process, from the first who wants it to the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._limit: Any = None

    def begin(self) -> None:
        with self._lock:
            if self._wanted == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._wanted += 1

    def end(self) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0:
                self._limit.restore_original_limits()


_single = _SingleThread()


@cache
def _controller() -> Any:
    """Of all BLAS libraries of the process; to find them takes milliseconds."""
    return ThreadpoolController()
