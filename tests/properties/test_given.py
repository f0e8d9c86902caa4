"""Given variables: first in every order, never explained, free to be parents."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search.control import bic_insertion
from tests.helpers.bic_oracle import TOLERANCE, local_cost, sample
from tests.helpers.block_data import block_cost, mixed
from tests.helpers.core_searches import compiled_search

SEEDS = st.integers(0, 10_000)
FIRST = [6, 1, 4]


def check(engine: BicEngine) -> None:
    order = engine.order.tolist()
    assert set(order[:3]) == set(FIRST)
    assert not engine.dag()[:, FIRST].any()


def shake(engine: BicEngine, rng: np.random.Generator, steps: int) -> None:
    for _ in range(steps):
        v = int(rng.choice(np.setdiff1d(np.arange(engine.n_variables), FIRST)))
        engine.move(v, int(rng.integers(3, engine.n_variables)))


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, listed=st.booleans())
def test_children_are_explained_from_all_before_them(*, seed: int, listed: bool) -> None:
    rng = np.random.default_rng(seed)
    lists = [np.delete(np.arange(9), v) for v in range(9)] if listed else None
    engine = BicEngine(
        sample(seed, 9, 200, 4.0), given=FIRST, order=rng.permutation(9), candidates=lists
    )
    mark, before = engine.mark(), engine.cost
    shake(engine, rng, 12)
    check(engine)
    order, total = engine.order.tolist(), 0.0
    for place, v in enumerate(order[3:], 3):
        parents = engine.parents(v).tolist()
        now = local_cost(engine, v, parents)
        total += now
        for u in order[:place]:
            changed = [p for p in parents if p != u] if u in parents else [*parents, u]
            assert local_cost(engine, v, changed) >= now - TOLERANCE
    assert engine.cost == pytest.approx(total, abs=TOLERANCE)
    for v in range(9):
        changes = engine.scan(v)
        assert np.isinf(changes).sum() == (8 if v in FIRST else 3)
    assert engine.undo(mark) == before


@pytest.mark.parametrize("seed", range(6))
def test_searches_end_where_those_with_tiers_do(seed: int) -> None:
    moments = sample(seed, 10, 400, 3.0)
    given_first = BicEngine(moments, given=FIRST)
    names = [f"v{i}" for i in range(10)]
    first = [names[i] for i in FIRST]
    rest = [name for name in names if name not in first]
    apart = [(a, b) for a in first for b in first if a != b]
    knowledge = Knowledge(tiers=[first, rest], forbidden=apart).resolve(names)
    tiers = BicEngine(moments, knowledge=knowledge)
    for engine in (given_first, tiers):
        bic_insertion(engine, restarts=20, random_state=0)
    check(given_first)
    assert given_first.cost == pytest.approx(tiers.cost, abs=TOLERANCE)


@pytest.mark.parametrize("late", [False, True])
def test_searches_with_lists_states_and_blocks_leave_them_alone(late: bool) -> None:
    moments, sizes = mixed(3, [0, 3, 2, 0, 0, 4, 3, 0, 2, 0], chance=0.5)
    short = [np.array([(v + 1) % 10]) for v in range(10)]
    engine = BicEngine(moments, block_sizes=sizes, given=FIRST, candidates=short, all_at_first=late)
    everyone = BicEngine(moments, block_sizes=sizes, given=FIRST)
    twin = pickle.loads(pickle.dumps(engine))
    for each in (engine, twin, everyone):
        bic_insertion(each, restarts=45, random_state=0)
        check(each)
    assert twin.cost == engine.cost
    assert everyone.cost == pytest.approx(engine.cost, abs=TOLERANCE)
    total = sum(block_cost(engine, sizes, v, engine.parents(v).tolist()) for v in range(10))
    assert engine.cost == pytest.approx(total, abs=TOLERANCE)


def test_only_children_are_shuffled_and_turned() -> None:
    engine = BicEngine(sample(4, 12, 300, 4.0), given=FIRST)
    search = compiled_search(engine, 1, tucks=True)
    while not search.run(1.0):
        pass
    for v in np.setdiff1d(np.arange(12), FIRST).tolist():
        search.begin_restart(v, 12)
        check(engine)
        search.run(1.0)
        search.end_restart()
        engine._sets.reroot(v)
        check(engine)
    for v in FIRST:
        with pytest.raises(ArgumentError, match="given"):
            search.begin_restart(v, 3)
        assert not engine._sets.reroot(v) or not engine.dag()[:, FIRST].any()


def test_moves_of_given_variables_are_refused() -> None:
    moments = sample(5, 9, 200, 3.0)
    engine = BicEngine(moments, given=FIRST)
    check(engine)
    with pytest.raises(KnowledgeError):
        engine.move(FIRST[0], 5)
    with pytest.raises(KnowledgeError):
        engine.move(0, 1)
    required = Knowledge(required=[("v0", "v6")]).resolve([f"v{i}" for i in range(9)])
    with pytest.raises(KnowledgeError, match="given"):
        BicEngine(moments, given=FIRST, knowledge=required)


def test_a_lagged_copy_is_a_parent() -> None:
    rng = np.random.default_rng(0)
    series = np.zeros((500, 2))
    for t in range(1, 500):
        series[t] = series[t - 1] @ np.array([[0.6, 0.5], [0.0, 0.6]]) + rng.standard_normal(2)
    both = np.hstack([series[1:], series[:-1]])
    moments = Moments.from_covariance(np.cov(both.T), len(both))
    engine = BicEngine(moments, given=[2, 3])
    bic_insertion(engine, random_state=0)
    dag = engine.dag()
    assert dag[2, 0] == dag[2, 1] == dag[3, 1] == 1
    assert dag[3, 0] == 0
