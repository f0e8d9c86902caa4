"""BLAS is kept to one thread where the work is small, and only for as long as that lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import qwo
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


def test_curves_are_searched_drawn_and_followed_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of BLAS spun between small products: 18 curves took 4.6 seconds for .2."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(600)
    rows = np.column_stack([x, np.sin(2 * x) + 0.4 * rng.standard_normal(600)])
    seen: list[set[int]] = []

    def spy(own: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            seen.append(threads())
            return own(*given, **named)

        return watched

    monkeypatch.setattr(np.linalg, "eigh", spy(np.linalg.eigh))
    monkeypatch.setattr(np.linalg, "pinv", spy(np.linalg.pinv))
    found = qwo.discover(rows, relations="curved", random_state=0)
    steps = [lambda: found.curve("X0", "X1"), found.fit().summary, lambda: found.effect("X0", "X1")]
    assert {1} in seen
    for step in steps:
        before = len(seen)
        step()
        assert len(seen) > before
    assert all(own == {1} for own in seen)
    assert threads() == {2}
