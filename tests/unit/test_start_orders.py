"""Start orders: each against its definition, knowledge, units, singular matrices, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qwo.errors import ArgumentError, OrderError
from qwo.graph import markov_boundary
from qwo.search.start import start_order
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import (
    model_covariance,
    random_covariance,
    random_dag,
    to_correlation,
)

RULES = [
    "markov-boundary",
    "conditional-variance",
    "reverse-conditional-variance",
    "r2",
    "spanning-tree",
]


def variance_given(correlation, v, others):
    given = [u for u in others if u != v]
    cross = correlation[given, v]
    explained = cross @ np.linalg.solve(correlation[np.ix_(given, given)], cross)
    return 1 - explained


@pytest.mark.parametrize("seed", range(4))
def test_markov_boundary_counts_the_boundary_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 9, 0.25)
    order = start_order("markov-boundary", to_correlation(model_covariance(rng, dag)), math.inf)
    sizes = [len(markov_boundary(dag, v)) for v in range(9)]
    assert order.tolist() == sorted(range(9), key=lambda v: (-sizes[v], v))


def test_markov_boundary_tests_at_the_level_of_the_paper():
    """With N = 200, a partial correlation of 0.05 is noise; with N = 100,000 it is an edge."""
    precision = np.array([[1, 0.05, 0.6], [0.05, 1, 0], [0.6, 0, 1]])
    correlation = to_correlation(np.linalg.inv(precision))
    assert start_order("markov-boundary", correlation, 200).tolist() == [0, 2, 1]
    assert start_order("markov-boundary", correlation, 100_000).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_conditional_variance_puts_the_best_explained_last(seed):
    correlation = to_correlation(random_covariance(np.random.default_rng(seed), 8))
    order = start_order("conditional-variance", correlation, 1000).tolist()
    for stop in range(8, 2, -1):  # of two, each explains the other equally well
        rest = order[:stop]
        assert order[stop - 1] == min(rest, key=lambda v: variance_given(correlation, v, rest))


@pytest.mark.parametrize("seed", range(4))
def test_reverse_conditional_variance_puts_the_worst_explained_first(seed):
    correlation = to_correlation(random_covariance(np.random.default_rng(seed), 8))
    order = start_order("reverse-conditional-variance", correlation, 1000).tolist()
    for start in range(6):
        rest = order[start:]
        assert rest[0] == max(rest, key=lambda v: variance_given(correlation, v, rest))


def test_r2_sorts_by_the_variance_given_all_others():
    correlation = to_correlation(random_covariance(np.random.default_rng(0), 8))
    order = start_order("r2", correlation, 1000)
    variances = [variance_given(correlation, v, range(8)) for v in order]
    assert variances == sorted(variances, reverse=True)


@pytest.mark.parametrize("rule", RULES)
def test_more_variables_than_samples(rule):
    data = np.random.default_rng(0).standard_normal((6, 10))
    correlation = np.corrcoef(data, rowvar=False)
    assert sorted(start_order(rule, correlation, 6)) == list(range(10))
    assert sorted(start_order(rule, np.ones((3, 3)), 100)) == [0, 1, 2]


@pytest.mark.parametrize("rule", [*RULES, "random"])
def test_knowledge_is_respected(rule):
    rng = np.random.default_rng(1)
    correlation = to_correlation(random_covariance(rng, 7))
    for _ in range(10):
        knowledge = random_knowledge(rng, 7)
        order = start_order(rule, correlation, 100, knowledge=knowledge, random_state=rng)
        assert knowledge.allows_order(order)


def test_random_orders_come_from_the_seed():
    first, second, other = (
        start_order("random", np.eye(20), 100, random_state=seed) for seed in (1, 1, 2)
    )
    assert first.tolist() == second.tolist() != other.tolist()
    assert sorted(first) == list(range(20))


def test_a_given_order_by_names_or_numbers():
    names = ["a", "b", "c"]
    for given in (["c", "a", "b"], [2, 0, 1], np.array([2, 0, 1]), ["c", 0, "b"]):
        assert start_order(given, np.eye(3), 100, names=names).tolist() == [2, 0, 1]


def test_bad_orders_are_refused():
    with pytest.raises(OrderError, match=r"'z'.*'a', 'b'") as caught:
        start_order(["a", "z"], np.eye(2), 100, names=["a", "b"])
    assert caught.value.columns == ("z",)
    with pytest.raises(OrderError, match="each of the 2 variables once; got 1"):
        start_order(["a"], np.eye(2), 100, names=["a", "b"])
    with pytest.raises(OrderError, match=r"missing: \[1\]"):
        start_order([0, 0], np.eye(2), 100)
    with pytest.raises(ArgumentError, match=r"'best'.*'markov-boundary'.*'random'"):
        start_order("best", np.eye(2), 100)
