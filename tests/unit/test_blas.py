"""BLAS is kept to one thread where the work is small, and only for as long as that lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from qwo.blas import WORTH_THREADS, blas_threads_for

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
    with blas_threads_for(SMALL):
        assert threads() == {1}
    assert threads() == {2}


def test_large_work_gets_all() -> None:
    with blas_threads_for(WORTH_THREADS):
        assert threads() == {2}


def test_an_error_restores_the_threads() -> None:
    with pytest.raises(ZeroDivisionError), blas_threads_for(SMALL):
        _ = 1 / 0
    assert threads() == {2}


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_whoever_leaves_last_the_threads_are_restored(first_leaves_first: bool) -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with blas_threads_for(SMALL):
            entered.set()
            leave.wait(10)

    beside = threading.Thread(target=other)
    with blas_threads_for(SMALL):
        beside.start()
        assert entered.wait(10)
        if not first_leaves_first:
            leave.set()
            beside.join()
            assert threads() == {1}
    assert threads() == {2}
    leave.set()
    beside.join()
    assert threads() == {2}


def test_within_itself_it_lasts_as_long_as_the_outer_one() -> None:
    with blas_threads_for(SMALL):
        with blas_threads_for(SMALL):
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}
