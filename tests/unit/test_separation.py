"""d-separation, against its definition and against networkx."""

from __future__ import annotations

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest

from qwo.errors import GraphError
from qwo.graph import d_connected, d_separated
from tests.oracles.equivalence import all_dags
from tests.oracles.random_models import random_dag
from tests.oracles.separation import separated_by_paths

COLLIDER_WITH_CHILD = np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


def subsets(items):
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def test_a_collider_opens_by_itself_or_its_descendant():
    assert d_separated(COLLIDER_WITH_CHILD, 0, 1)
    assert not d_separated(COLLIDER_WITH_CHILD, 0, 1, [2])
    assert not d_separated(COLLIDER_WITH_CHILD, 0, 1, [3])


def test_a_chain_is_blocked_by_its_middle():
    assert not d_separated(COLLIDER_WITH_CHILD, 0, 3)
    assert d_separated(COLLIDER_WITH_CHILD, 0, 3, 2)


def test_every_statement_about_some_small_dags():
    for dag in list(all_dags(4))[::7]:
        for x, y in combinations(range(4), 2):
            for given in subsets([v for v in range(4) if v not in (x, y)]):
                expected = separated_by_paths(dag, x, y, set(given))
                assert d_separated(dag, x, y, given) == expected
                assert d_separated(dag, y, x, given) == expected


@pytest.mark.parametrize("seed", range(30))
def test_sets_agree_with_networkx(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 12, 0.2)
    graph = nx.from_numpy_array(dag, create_using=nx.DiGraph)
    for _ in range(20):
        x, y, given = np.split(rng.permutation(12)[:8], sorted(rng.integers(1, 8, 2)))
        if len(x) and len(y):
            sets = set(x.tolist()), set(y.tolist()), set(given.tolist())
            assert d_separated(dag, x, y, given) == nx.is_d_separator(graph, *sets)


def test_connected_vertices_leave_out_what_is_given():
    np.testing.assert_array_equal(
        d_connected(COLLIDER_WITH_CHILD, 0, [3]), [True, True, True, False]
    )


def test_sets_must_be_disjoint():
    with pytest.raises(GraphError, match=r"disjoint.*\[1\]"):
        d_separated(COLLIDER_WITH_CHILD, 0, 1, [1, 2])
