"""Directed acyclic graphs: validation, orders, relatives, structures."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from qwo.errors import GraphError
from qwo.graph import (
    ancestor_matrix,
    ancestors,
    check_dag,
    children,
    covered_edges,
    descendants,
    is_topological,
    markov_boundary,
    moral_graph,
    parents,
    skeleton,
    topological_order,
    v_structures,
)
from qwo.graph.dag import entries_of
from tests.oracles.equivalence import all_dags, colliders, equivalence_class, is_acyclic
from tests.oracles.random_models import random_dag

SEEDS = range(20)


def chain(n):
    return np.eye(n, k=1, dtype=np.int8)


def test_check_dag_returns_int8():
    for given in (chain(3).astype(bool), chain(3).astype(float), chain(3).tolist(), chain(3)):
        matrix = check_dag(given)
        assert matrix.dtype == np.int8
        np.testing.assert_array_equal(matrix, chain(3))


def test_check_dag_keeps_an_int8_array():
    dag = chain(3)
    assert check_dag(dag) is dag


def test_empty_graph_is_a_dag():
    assert check_dag(np.zeros((0, 0))).shape == (0, 0)


def test_a_cycle_is_shown_as_a_path_with_names():
    graph = chain(5)
    graph[3, 1] = 1
    with pytest.raises(GraphError, match="b → c → d → b") as caught:
        check_dag(graph, names=list("abcde"))
    assert caught.value.columns == ("b", "c", "d")


def test_a_self_loop_is_a_cycle():
    graph = chain(3)
    graph[1, 1] = 1
    with pytest.raises(GraphError, match="1 → 1"):
        check_dag(graph)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cycle_shown_is_one(seed):
    rng = np.random.default_rng(seed)
    graph = (rng.random((8, 8)) < 0.25).astype(np.int8)
    np.fill_diagonal(graph, 0)
    if is_acyclic(graph):
        check_dag(graph)
        return
    with pytest.raises(GraphError) as caught:
        check_dag(graph)
    cycle = [int(name) for name in caught.value.columns]
    assert len(set(cycle)) == len(cycle)
    assert all(graph[i, j] for i, j in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.zeros((2, 3)), r"square.*\(2, 3\)"),
        (np.zeros(3), "square"),
        ([[0, 0.5], [0, 0]], "a → b is 0.5"),
        ([[0, 0], [-1, 0]], "b → a is -1"),
        ([[0, np.nan], [0, 0]], "a → b is nan"),
        ([[0, 257], [0, 0]], "a → b is 257"),
        ([[0, 2], [2, 0]], "to_dag"),
        ([["0", "1"], ["0", "0"]], "numeric"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(graph, message):
    with pytest.raises(GraphError, match=message):
        check_dag(graph, names=["a", "b"] if np.shape(graph) == (2, 2) else None)


def test_the_number_of_names_must_fit():
    with pytest.raises(GraphError, match="3 names for a graph with 2 variables"):
        check_dag(chain(2), names=list("abc"))


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_and_relatives_agree_with_networkx(seed):
    dag = random_dag(np.random.default_rng(seed), 12, 0.25)
    graph = nx.from_numpy_array(dag, create_using=nx.DiGraph)
    order = topological_order(dag)
    assert order.tolist() == list(nx.lexicographical_topological_sort(graph))
    assert is_topological(order, dag)
    closure = ancestor_matrix(dag)
    for v in range(12):
        assert set(parents(dag, v)) == set(graph.predecessors(v))
        assert set(children(dag, v)) == set(graph.successors(v))
        assert (
            set(ancestors(dag, v)) == nx.ancestors(graph, v) == set(np.flatnonzero(closure[:, v]))
        )
        assert (
            set(descendants(dag, v)) == nx.descendants(graph, v) == set(np.flatnonzero(closure[v]))
        )


def test_is_topological_sees_a_backward_edge():
    assert is_topological([0, 1, 2], chain(3))
    assert not is_topological([0, 2, 1], chain(3))


@pytest.mark.parametrize("seed", SEEDS)
def test_moral_graph_and_markov_boundary(seed):
    dag = random_dag(np.random.default_rng(seed), 9, 0.3)
    graph = nx.from_numpy_array(dag, create_using=nx.DiGraph)
    moral = nx.to_numpy_array(nx.moral_graph(graph), nodelist=range(9), weight=None)
    np.testing.assert_array_equal(moral_graph(dag), moral)
    for v in range(9):
        np.testing.assert_array_equal(markov_boundary(dag, v), np.flatnonzero(moral[v]))


def test_v_structures_of_every_small_dag():
    for dag in all_dags(4):
        assert v_structures(dag) == sorted(colliders(dag))


def test_covered_edges_are_those_whose_reversal_stays_in_the_class():
    for dag in all_dags(4):
        members = {member.tobytes() for member in equivalence_class(dag)}
        reversible = []
        for i, j in np.argwhere(dag):
            turned = dag.copy()
            turned[i, j], turned[j, i] = 0, 1
            if turned.tobytes() in members:
                reversible.append((i, j))
        assert covered_edges(dag) == reversible


def test_skeleton_of_dag_and_pdag():
    expected = chain(3) | chain(3).T
    np.testing.assert_array_equal(skeleton(chain(3)), expected)
    np.testing.assert_array_equal(skeleton(2 * expected), expected)


def test_large_sparse_graphs():
    n = 3000
    rng = np.random.default_rng(0)
    tails, heads = np.sort(rng.integers(0, n, (2, 5 * n)), axis=0)
    dag = np.zeros((n, n), dtype=np.int8)
    dag[tails, heads] = 1
    np.fill_diagonal(dag, 0)
    assert is_topological(topological_order(dag), dag)


def test_entries_are_those_of_nonzero() -> None:
    rng = np.random.default_rng(4)
    for n in (0, 1, 7, 1500):
        matrix = (rng.random((n, n)) < 2 / (n + 1)).astype(np.int8) * 2
        for given in (matrix, matrix.T, matrix != 0):
            expected = np.nonzero(given)
            assert all(
                np.array_equal(a, b) for a, b in zip(entries_of(given), expected, strict=True)
            )
