"""BLAS is kept to one thread where the work is small, and only for as long as that lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from qwo.compute import WORTH_THREADS, one_blas_thread

SMALL = WORTH_THREADS / 2


def threads() -> set[int]:
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.num_threads for library in libraries}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("this BLAS has no second thread to give")
        yield


def test_small_work_gets_one_thread() -> None:
    with one_blas_thread(SMALL):
        assert threads() == {1}
    assert threads() == {2}


def test_large_work_gets_all() -> None:
    with one_blas_thread(WORTH_THREADS):
        assert threads() == {2}


def test_an_error_restores_the_threads() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread(SMALL):
        _ = 1 / 0
    assert threads() == {2}


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_the_limit_lasts_as_long_as_anyone_needs_it(first_leaves_first: bool) -> None:
    """Lifted by the first that ended, it let BLAS spin in the searches of other threads."""
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with one_blas_thread(SMALL):
            entered.set()
            leave.wait(10)

    beside = threading.Thread(target=other)
    with one_blas_thread(SMALL):
        beside.start()
        assert entered.wait(10)
        if not first_leaves_first:
            leave.set()
            beside.join()
            assert threads() == {1}
    assert threads() == ({1} if first_leaves_first else {2})
    leave.set()
    beside.join()
    assert threads() == {2}


def test_within_itself_it_lasts_as_long_as_the_outer_one() -> None:
    with one_blas_thread(SMALL):
        with one_blas_thread(SMALL):
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_any_thread_can_set_the_limit() -> None:
    """Only the first that ever did so could, and searches in other threads let BLAS spin."""
    seen: list[set[int]] = []

    def other() -> None:
        with one_blas_thread(SMALL):
            seen.append(threads())

    with one_blas_thread(SMALL):
        pass
    beside = threading.Thread(target=other)
    beside.start()
    beside.join()
    assert seen == [{1}]
    assert threads() == {2}
