"""Parents of a graph found: no variable has better ones among those that are no descendants."""

from __future__ import annotations

import numpy as np
import pytest

import qwo
from benchmarks.thin import draw
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.simulation import random_model
from qwo.types import Indices
from tests.helpers.core_searches import compiled_search


def settled(moments: Moments, seed: int) -> BicEngine:
    """An engine that descent, tucks, turns and sweeps from a random order have left."""
    order = np.random.default_rng(seed).permutation(moments.n_variables)
    engine = BicEngine(moments, penalty_discount=2.0, order=order)
    search = compiled_search(engine, seed, tucks=True)
    while not search.run(1.0):
        pass
    return engine


def with_descendants_last(engine: BicEngine, v: int) -> Indices:
    """The order with a variable and its descendants after all others."""
    dag, order, follows = engine.dag(), engine.order, {v}
    for u in order.tolist():
        if not follows.isdisjoint(np.flatnonzero(dag[:, u]).tolist()):
            follows.add(u)
    return order[np.argsort(np.isin(order, list(follows)), kind="stable")]


@pytest.mark.parametrize("seed", [0, 8, 27])
def test_no_parents_found_anew_are_better(seed: int) -> None:
    """In the last two, one set of parents once kept out a better one."""
    model = random_model("er", n_variables=30, degree=8, random_state=seed)
    engine = settled(Moments.from_data(model.sample(300, random_state=seed)), seed)
    for v in range(30):
        order = with_descendants_last(engine, v)
        anew = BicEngine(engine.moments, penalty_discount=2.0, order=order)
        cost = engine.family_cost(v, engine.parents(v))
        assert anew.family_cost(v, anew.parents(v)) >= cost - 1e-6


@pytest.mark.parametrize("seed", [3, 4])
def test_no_exchange_in_another_member_of_the_class_is_better(seed: int) -> None:
    """In the second, an edge pays only where another variable is the root of its piece."""
    data, _ = draw(("tree-strong", 30, seed))
    engine = settled(Moments.from_data(data), seed)
    for root in range(30):
        member = engine.copy()
        assert member._sets.reroot(root)
        for child in np.flatnonzero(member.dag()[root]).tolist():
            assert not member._sets.exchange(child, 1e-6)


def test_a_dense_graph_is_not_left_with_the_wrong_parents_of_one_variable() -> None:
    """Four parents stood for two others: 612 points short, and below the score of the truth."""
    data, dag = draw(("er-8", 200, 3))
    found = qwo.discover(data, penalty_discount=2.0, restarts=0, random_state=0)
    assert found.score > qwo.score_graph(Moments.from_data(data), dag).score


def test_parents_come_from_behind_if_they_are_no_descendants() -> None:
    rng = np.random.default_rng(6)
    cause, noise = rng.normal(size=(2, 500))
    copy = cause + 0.1 * rng.normal(size=500)
    copied, effect, true = range(3)
    engine = BicEngine(Moments.from_data(np.column_stack([copy, cause + noise, cause])))
    assert engine.parents(effect).tolist() == engine.parents(true).tolist() == [copied]
    mark, before = engine.mark(), engine.cost
    assert engine._sets.exchange(effect, 0.0)
    assert engine.order.tolist() == [copied, true, effect]
    assert engine.parents(effect).tolist() == [true]
    fresh = BicEngine(engine.moments, order=engine.order)
    assert engine.cost < before
    assert engine.cost == pytest.approx(fresh.cost)
    assert engine.undo(mark) == before
    assert engine.order.tolist() == [copied, effect, true]
