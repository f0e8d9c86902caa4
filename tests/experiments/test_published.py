"""The model of the published code: right where no habit is switched on, wrong where one is."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.order.qwo import QwoEngine
from qwo.reproduction.methods import make_problem
from qwo.reproduction.published import Habits, _Geometry, _Trial, published_search

RUN = {
    "graph": "er",
    "degree": 4,
    "n_variables": 12,
    "n_samples": 2000,
    "noise": "gaussian",
    "covariance": "sample",
    "seed": 3,
}


def fitted(geometry, order):
    blank = _Trial(order, geometry.whitening[order], {})
    return geometry.fit(blank, 0, order)


def adjacency(state):
    dag = np.zeros((len(state.order), len(state.order)), dtype=np.int8)
    for child, parents in state.parents.items():
        dag[sorted(parents), child] = 1
    return dag


@pytest.fixture(scope="module")
def moments():
    return make_problem(RUN).moments


def test_without_habits_it_is_the_order_dag(moments):
    rng = np.random.default_rng(0)
    geometry = _Geometry(moments, its_test=False)
    for _ in range(5):
        order = rng.permutation(12).tolist()
        np.testing.assert_array_equal(
            adjacency(fitted(geometry, order)), QwoEngine(moments, order=order).dag()
        )


def test_a_changed_block_equals_a_new_start(moments):
    geometry = _Geometry(moments, its_test=False)
    order = list(range(12))
    moved = [*order[:3], *order[3:8][::-1], *order[8:]]
    changed = geometry.fit(fitted(geometry, order), 3, moved[3:8])
    fresh = fitted(geometry, moved)
    assert changed.parents == fresh.parents
    np.testing.assert_allclose(changed.basis, fresh.basis, atol=1e-12)


def test_its_test_misses_edges_and_adds_none(moments):
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(10):
        order = rng.permutation(12).tolist()
        ours = adjacency(fitted(_Geometry(moments, its_test=False), order))
        theirs = adjacency(fitted(_Geometry(moments, its_test=True), order))
        assert (theirs <= ours).all()
        missed += int((ours - theirs).sum())
    assert missed > 0


@pytest.mark.parametrize("search", ["grasp", "hc"])
def test_a_search_ends_and_the_stale_basis_matters(search):
    problem = make_problem(RUN | {"n_variables": 24})
    found = {
        stale: published_search(
            search, problem.moments, Habits(its_test=True, stale_basis=stale), 0, lambda: None
        )
        for stale in (False, True)
    }
    assert not np.array_equal(found[False], found[True])
    assert found[False].sum() >= problem.truth.sum() // 2


def test_one_weight_for_all_edges_out_of_a_variable():
    problem = make_problem(RUN | {"weights": "parent"})
    plain = make_problem(RUN)
    np.testing.assert_array_equal(problem.truth, plain.truth)
    assert not np.allclose(problem.moments.correlation, plain.moments.correlation)
