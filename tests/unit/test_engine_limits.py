"""Where the exact BIC engine stops: most parents, worths of adding and keeping, missed candidates.

All from exact matrices, so that what is asked for lies on one side of a limit beyond doubt.
"""

from __future__ import annotations

import numpy as np
import pytest

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.score import BIC, worth_adding, worth_keeping
from qwo.types import FloatArray

SIZE = 500.0


def moments_of(covariance: FloatArray, n_samples: float = SIZE) -> Moments:
    scales = np.sqrt(np.diag(covariance))
    names = tuple(f"X{k}" for k in range(len(scales)))
    correlation = covariance / np.outer(scales, scales)
    np.fill_diagonal(correlation, 1.0)
    return Moments(names, n_samples, np.zeros(len(scales)), scales, correlation)


def linear(weights: FloatArray, noise: FloatArray | float = 1.0) -> FloatArray:
    """The covariance of X_j = Σ_i weights[i, j] X_i + e_j, with the variances of e."""
    mixing = np.linalg.inv(np.eye(len(weights)) - weights)
    return np.asarray(mixing.T @ np.diag(np.broadcast_to(noise, len(weights))) @ mixing)


def star(n: int) -> Moments:
    """The last variable is the sum of all others, and of noise."""
    weights = np.zeros((n, n))
    weights[:-1, -1] = np.linspace(1.0, 2.0, n - 1)
    return moments_of(linear(weights))


@pytest.mark.parametrize("most", [0, 1, 2, 4])
@pytest.mark.parametrize("listed", [False, True])
def test_a_variable_gets_as_many_parents_as_it_may_and_no_more(most: int, listed: bool) -> None:
    n = 6
    lists = [np.delete(np.arange(n), v) for v in range(n)] if listed else None
    engine = BicEngine(star(n), max_parents=most, candidates=lists)
    # The strongest, which come last here.
    assert engine.parents(n - 1).tolist() == list(range(n - 1 - most, n - 1))
    # Passing the child one after the other, they find it full, or leave room.
    engine.reset([n - 1, *range(n - 1)])
    for v in range(n - 1):
        engine.move(v, 0)
        assert len(engine.parents(n - 1)) == min(v + 1, most)
        assert max(len(engine.parents(u)) for u in range(n)) <= most


def test_a_full_fit_takes_no_one_who_comes_before_it() -> None:
    for most, parents in ((2, [0, 1]), (3, [0, 1, 2])):
        engine = BicEngine(star(5), max_parents=most, order=[0, 1, 4, 2, 3])
        assert engine.parents(4).tolist() == [0, 1]
        change = engine.scan(2)[2]
        before = engine.cost
        assert engine.move(2, 2) - before == pytest.approx(change, abs=1e-8)
        assert engine.parents(4).tolist() == parents


@pytest.mark.parametrize("discount", [0.5, 2.0])
def test_an_edge_is_drawn_just_above_its_worth(discount: float) -> None:
    tau = worth_adding(BIC(discount), 2, SIZE)
    for share, parents in ((1 - 1e-6, []), (1 + 1e-6, [0])):
        r = np.sqrt(tau * share)
        engine = BicEngine(moments_of(np.array([[1.0, r], [r, 1.0]])), penalty_discount=discount)
        assert engine.parents(1).tolist() == parents
        # The same when it comes to stand before the other by a move.
        engine.move(1, 0)
        assert engine.parents(0).tolist() == ([1] if parents else [])


@pytest.mark.parametrize("discount", [0.5, 2.0])
def test_a_parent_stays_just_above_its_worth(discount: float) -> None:
    """X0 = X1 + X2 + e stands for both at first; given them, X3 has r² with X0 as it is made."""
    tau = worth_adding(BIC(discount), 4, SIZE)
    assert worth_keeping(BIC(discount), 4, SIZE) == pytest.approx(tau / (1 - tau))
    for share, parents in ((0.99, [1, 2]), (1.01, [0, 1, 2])):
        r2 = tau * share
        # X3 = X1 + X2 + slope · e + noise of variance 0.1, e of variance 1
        slope = np.sqrt(0.1 * r2 / (1 - r2))
        weights = np.zeros((4, 4))  # of X1, X2, X0, X3, as the model makes them
        weights[:2, 2] = 1.0
        weights[:2, 3] = 1.0 - slope
        weights[2, 3] = slope
        order = [2, 0, 1, 3]
        covariance = linear(weights, np.array([1.0, 1.0, 1.0, 0.1]))[np.ix_(order, order)]
        engine = BicEngine(moments_of(covariance), penalty_discount=discount)
        assert engine.parents(3).tolist() == parents


def test_all_missed_candidates_are_taken_in_at_once() -> None:
    """Copies of ten causes are wanted before the causes are parents, and never after."""
    causes = 10
    n = 2 * causes + 1
    weights = np.zeros((n, n))
    for k in range(causes):
        weights[k, causes + k] = 1.0
        weights[k, -1] = 1.0
    noise = np.full(n, 1.0)
    noise[causes:-1] = 0.2
    no_one = [np.empty(0, np.int64)] * n
    engine = BicEngine(moments_of(linear(weights, noise), 5000.0), candidates=no_one)
    child = n - 1
    assert engine.candidates(child).size == 0
    assert engine.renew(child)
    assert engine.parents(child).tolist() == list(range(causes))
    assert engine.candidates(child).tolist() == list(range(2 * causes))
    assert not engine.renew(child)


def test_no_more_than_256_missed_candidates_are_taken_in_at_once() -> None:
    """Three hundred copies of one cause are all wanted, and after a few of them none is."""
    copies = 300
    n = copies + 1
    covariance = np.ones((n, n)) + 0.1 * np.eye(n)
    no_one = [np.empty(0, np.int64)] * n
    engine = BicEngine(moments_of(covariance), candidates=no_one)
    assert engine.renew(copies)
    assert 0 < len(engine.parents(copies)) < 30
    assert len(engine.candidates(copies)) == 256
