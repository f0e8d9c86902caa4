"""Distances between graphs, on examples worked out by hand and by their properties."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.errors import GraphError
from qwo.graph import (
    Agreement,
    adjacency_agreement,
    arrowhead_agreement,
    exact_recovery,
    pshd,
    shd,
    skeleton_f1,
    to_cpdag,
    to_dag,
)
from tests.oracles.random_models import random_dag

# 0 → 1 → 2, its CPDAG 0 — 1 — 2, and the collider 0 → 1 ← 2 plus 2 → 3.
CHAIN = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
COLLIDER = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])


def test_worked_example():
    assert adjacency_agreement(CHAIN, COLLIDER) == Agreement(2, 0, 1)
    assert skeleton_f1(CHAIN, COLLIDER) == pytest.approx(0.8)
    assert shd(CHAIN, COLLIDER) == 2
    # The CPDAGs are 0 — 1 — 2 and 0 → 1 ← 2 — 3: two types change, one edge is added.
    assert pshd(CHAIN, COLLIDER) == pytest.approx(3 / 4)
    assert arrowhead_agreement(CHAIN, COLLIDER) == Agreement(1, 1, 2)
    assert arrowhead_agreement(to_cpdag(CHAIN), to_cpdag(COLLIDER)) == Agreement(0, 0, 2)


def test_scores_from_counts():
    agreement = Agreement(3, 1, 2)
    assert agreement.precision == pytest.approx(3 / 4)
    assert agreement.recall == pytest.approx(3 / 5)
    assert agreement.f1 == pytest.approx(2 / (4 / 3 + 5 / 3))


def test_nothing_claimed_and_nothing_to_find_is_perfect():
    assert Agreement(0, 0, 0).f1 == 1
    assert Agreement(0, 0, 4).precision == 1
    assert Agreement(0, 0, 4).f1 == 0


def test_members_of_one_class_have_no_distance():
    rng = np.random.default_rng(2)
    for _ in range(20):
        dag = random_dag(rng, 7)
        member = to_dag(to_cpdag(dag))
        assert pshd(member, dag) == pshd(to_cpdag(dag), dag) == 0
        assert exact_recovery(member, dag)
        assert exact_recovery(to_cpdag(dag), dag)


def test_distances_are_symmetric_and_count_pairs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b = random_dag(rng, 7), random_dag(rng, 7)
        assert shd(a, b) == shd(b, a)
        assert pshd(a, b) == pshd(b, a) == shd(to_cpdag(a), to_cpdag(b)) / 7
        assert skeleton_f1(a, b) == skeleton_f1(b, a)
        pairs = sum((a[i, j], a[j, i]) != (b[i, j], b[j, i]) for i in range(7) for j in range(i))
        assert shd(a, b) == pairs
        assert exact_recovery(a, b) == (pshd(a, b) == 0)


def test_an_edge_turned_round_counts_once():
    assert shd([[0, 1], [0, 0]], [[0, 0], [1, 0]]) == 1


def test_graphs_of_different_size_are_refused():
    with pytest.raises(GraphError, match="4 and 2"):
        shd(CHAIN, np.zeros((2, 2)))
