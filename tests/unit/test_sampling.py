"""Class sizes and uniform draws, against the list of all members."""

from __future__ import annotations

from collections import Counter
from math import factorial

import numpy as np
import pytest
from scipy.stats import chisquare

from qwo.errors import GraphError, InputError
from qwo.graph import enumerate_dags, meek_closure, to_cpdag
from qwo.graph.sampling import class_size, sample_dag, sample_dags
from tests.oracles.equivalence import all_dags
from tests.oracles.random_models import random_dag

PATH = np.array([[0, 2, 0, 0], [2, 0, 2, 0], [0, 2, 0, 2], [0, 0, 2, 0]], dtype=np.int8)


def chordal_cpdag(rng, n, density):
    """The CPDAG of a DAG without v-structures: each vertex takes parents from one clique."""
    dag = np.zeros((n, n), dtype=np.int8)
    for v in range(1, n):
        u = int(rng.integers(v))
        clique = np.flatnonzero(dag[:, u])
        dag[[u, *clique[rng.random(clique.size) < density]], v] = 1
    order = rng.permutation(n)
    return to_cpdag(dag[np.ix_(order, order)])


def test_every_class_on_four_vertices():
    sizes = Counter(to_cpdag(dag).tobytes() for dag in all_dags(4))
    for key, size in sizes.items():
        assert class_size(np.frombuffer(key, dtype=np.int8).reshape(4, 4)) == size


@pytest.mark.parametrize("seed", range(30))
def test_sizes_of_random_classes(seed):
    rng = np.random.default_rng(seed)
    for cpdag in (to_cpdag(random_dag(rng, 7, rng.uniform(0.2, 0.7))), chordal_cpdag(rng, 7, 0.6)):
        assert class_size(cpdag) == sum(1 for _ in enumerate_dags(cpdag))


def test_sizes_known_in_closed_form():
    assert class_size(np.zeros((3, 3))) == 1
    assert class_size(np.where(np.eye(30), 0, 2)) == factorial(30)  # any order of a clique
    assert (
        class_size(np.where(np.eye(50, k=1) + np.eye(50, k=-1), 2, 0)) == 50
    )  # any root of a path
    two_cliques = np.zeros((60, 60), dtype=np.int8)
    two_cliques[:30, :30] = two_cliques[30:, 30:] = np.where(np.eye(30), 0, 2)
    assert class_size(two_cliques) == factorial(30) ** 2


@pytest.mark.parametrize("seed", range(6))
def test_draws_are_uniform(seed):
    rng = np.random.default_rng(seed)
    cpdag = chordal_cpdag(rng, 6, 0.7)
    members = {dag.tobytes() for dag in enumerate_dags(cpdag)}
    counts = Counter(dag.tobytes() for dag in sample_dags(cpdag, 40 * len(members), seed))
    assert set(counts) <= members
    assert chisquare([counts[key] for key in members]).pvalue > 1e-3


def test_draws_from_large_classes_are_members():
    cpdag = chordal_cpdag(np.random.default_rng(0), 80, 0.95)
    assert class_size(cpdag) > 2**64
    draws = list(sample_dags(cpdag, 5, 1))
    assert all(np.array_equal(to_cpdag(dag), cpdag) for dag in draws)
    assert len({dag.tobytes() for dag in draws}) == 5


def test_the_seed_decides():
    first, second = (sample_dag(PATH, 3) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.int8
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(sample_dag(PATH, rng), first)
    assert len({sample_dag(PATH, rng).tobytes() for _ in range(40)}) == 4


def test_graphs_with_background_knowledge():
    informed = np.where(np.eye(5), 0, 2).astype(np.int8)
    informed[0, 1], informed[1, 0] = 1, 0
    informed = meek_closure(informed)
    assert class_size(informed) == factorial(5) // 2
    counts = Counter(dag.tobytes() for dag in sample_dags(informed, 3000, 0))
    assert len(counts) == 60
    with pytest.raises(GraphError, match="not a CPDAG, and more than 10 DAGs"):
        class_size(informed, limit=10)


def test_graphs_without_any_dag():
    square = np.array([[0, 2, 0, 2], [2, 0, 2, 0], [0, 2, 0, 2], [2, 0, 2, 0]])
    with pytest.raises(GraphError, match="no DAG has"):
        class_size(square)
    with pytest.raises(GraphError, match="no DAG has"):
        sample_dag(square, 0)


@pytest.mark.parametrize("wrong", ["x", 1.5, -1, [3], bool])
def test_limits_that_are_no_whole_numbers_are_refused(wrong):
    graph = [[0, 2], [2, 0]]
    with pytest.raises(InputError, match="limit"):
        enumerate_dags(graph, limit=wrong)
    with pytest.raises(InputError, match="limit"):
        class_size(graph, limit=wrong)
    with pytest.raises(InputError, match="n_samples"):
        sample_dags(graph, wrong)
    with pytest.raises(InputError, match="random_state"):
        sample_dag(graph, "seed")


def test_a_limit_beyond_every_class_is_no_limit():
    assert len(list(enumerate_dags([[0, 2], [2, 0]], limit=10**30))) == 2
