"""A `BicEngine` that was pickled, or has taken up a state, is a copy to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search.control import bic_insertion
from qwo.simulation import simulate
from qwo.types import Indices
from tests.helpers.core_searches import compiled_search
from tests.helpers.random_knowledge import random_knowledge

SIZE = 16
SEEDS = st.integers(0, 10_000)


def make_engine(seed: int, *, listed: bool, known: bool, late: bool = False) -> BicEngine:
    """An engine on data with so many edges that parents are dropped again at the first order."""
    rng = np.random.default_rng(seed)
    drawn = simulate("er", n_variables=SIZE, n_samples=150, degree=8, random_state=seed)
    knowledge = random_knowledge(rng, SIZE) if known else None
    order = rng.permutation(SIZE)
    return BicEngine(
        Moments.from_data(drawn.data),
        knowledge=knowledge,
        order=order if knowledge is None else knowledge.topological_start(order),
        candidates=few(rng) if listed else None,
        all_at_first=late,
    )


def few(rng: np.random.Generator) -> list[Indices]:
    others = [np.delete(np.arange(SIZE), v) for v in range(SIZE)]
    return [np.sort(rng.choice(own, 4, replace=False)) for own in others]


def wander(engine: BicEngine, rng: np.random.Generator) -> None:
    """A search, and some moves that knowledge allows."""
    bic_insertion(engine, restarts=int(rng.integers(3)), random_state=rng)
    for _ in range(int(rng.integers(6))):
        v = int(rng.integers(SIZE))
        engine.move(v, int(rng.choice(np.flatnonzero(np.isfinite(engine.scan(v))))))


def assert_equal(twin: BicEngine, engine: BicEngine) -> None:
    assert twin.cost == engine.cost
    assert twin.order.tolist() == engine.order.tolist()
    np.testing.assert_array_equal(twin.coefficients(), engine.coefficients())
    for v in range(SIZE):
        assert twin.candidates(v).tolist() == engine.candidates(v).tolist()
        np.testing.assert_array_equal(twin.scan(v), engine.scan(v))


def assert_search_equal(twin: BicEngine, engine: BicEngine, seed: int) -> None:
    found, wanted = (bic_insertion(e, restarts=4, random_state=seed) for e in (twin, engine))
    assert [cost for _, cost in found.trace] == [cost for _, cost in wanted.trace]
    assert (found.n_moves, found.n_evaluations) == (wanted.n_moves, wanted.n_evaluations)
    assert_equal(twin, engine)


@settings(max_examples=30, deadline=None)
@given(
    seed=SEEDS,
    listed=st.booleans(),
    known=st.booleans(),
    late=st.booleans(),
    wandered=st.booleans(),
)
def test_an_engine_that_was_pickled_goes_on_like_a_copy(
    *, seed: int, listed: bool, known: bool, late: bool, wandered: bool
) -> None:
    engine = make_engine(seed, listed=listed, known=known, late=late)
    if wandered:
        wander(engine, np.random.default_rng(seed))
    twin, copy = pickle.loads(pickle.dumps(engine)), engine.copy()
    assert_equal(twin, engine)
    assert_search_equal(twin, copy, seed)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, listed=st.booleans(), known=st.booleans())
def test_an_engine_takes_up_what_a_copy_has_come_to(
    *, seed: int, listed: bool, known: bool
) -> None:
    engine = make_engine(seed, listed=listed, known=known)
    bic_insertion(engine, restarts=0, random_state=seed)
    copy = engine.copy()
    search = compiled_search(copy, seed, tucks=False, at_optimum=True)
    for v in range(5):
        search.begin_restart(v, 8)
        while not search.run(1.0):
            pass
        search.end_restart()
    mark = engine.mark()
    assert engine.load(copy.state()) == copy.cost
    assert_equal(engine, copy)
    assert engine.mark() == mark
    engine.release(mark)
    assert_search_equal(engine, copy, seed)


def test_knowledge_goes_along() -> None:
    rng = np.random.default_rng(3)
    knowledge = random_knowledge(rng, SIZE)
    engine = make_engine(3, listed=False, known=True)
    twin = pickle.loads(pickle.dumps(engine))
    bic_insertion(twin, restarts=3, knowledge=knowledge, random_state=0)
    knowledge.check_dag(twin.dag())
