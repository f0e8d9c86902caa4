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


_held = threading.Lock()


@contextmanager
def blas_threads_for(multiplications: float) -> Iterator[None]:
    """Keep BLAS to one thread for as long as this lasts, if the work is small."""
    if multiplications >= WORTH_THREADS:
        yield
        return
    with one_blas_thread():
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread for as long as this lasts: sums then do not depend on their number.

    The limit holds for the whole process. The first to want it sets and lifts it: who comes
    meanwhile leaves it alone, since two that restore what they found would leave it for ever.
    """
    if not _held.acquire(blocking=False):
        yield
        return
    threads = [(library, library.get_num_threads()) for library in _libraries()]
    threaded = [(library, number) for library, number in threads if number != 1]
    try:
        for library, _ in threaded:
            library.set_num_threads(1)
        yield
    finally:
        for library, number in threaded:
            library.set_num_threads(number)
        _held.release()


@cache
def _libraries() -> list[Any]:
    """All BLAS libraries of the process; to find them takes milliseconds."""
    return [found for found in ThreadpoolController().lib_controllers if found.user_api == "blas"]
