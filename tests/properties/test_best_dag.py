"""The best of all DAGs that are allowed, against dynamic programming in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.graph import to_cpdag
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.simulation import simulate
from tests.helpers.block_data import mixed
from tests.helpers.exact_dag import gaussian_cost, least_cost
from tests.helpers.random_knowledge import random_knowledge

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")
SEEDS = st.integers(0, 100_000)


def sample(seed: int, n: int, rows: int, degree: float = 2.5) -> Moments:
    degree = min(degree, n - 1)
    drawn = simulate("er", n_variables=n, n_samples=rows, degree=degree, random_state=seed)
    return Moments.from_data(drawn.data)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 6), rows=st.sampled_from([8, 15, 60, 400]), told=st.booleans())
def test_the_best_dag_keeps_to_knowledge_and_the_most_parents(
    *, seed: int, n: int, rows: int, told: bool
) -> None:
    moments = sample(seed, n, rows)
    knowledge = random_knowledge(np.random.default_rng(seed), n) if told else None
    engine = BicEngine(moments, penalty_discount=1.0, knowledge=knowledge)
    assert engine.take_best()
    least = least_cost(n, gaussian_cost(moments, engine.penalty), knowledge, engine.max_parents)
    assert engine.cost == pytest.approx(least, abs=1e-6)
    if knowledge is not None:
        knowledge.check_dag(engine.dag())
        assert knowledge.allows_order(engine.order)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, most=st.integers(0, 3), told=st.booleans())
def test_the_best_dag_of_blocks(*, seed: int, most: int, told: bool) -> None:
    moments, sizes = mixed(seed, [3, 0, 2, 0, 4], 300)
    knowledge = random_knowledge(np.random.default_rng(seed), 5) if told else None
    engine = BicEngine(moments, block_sizes=sizes, knowledge=knowledge, max_parents=most)
    if not engine.take_best():
        return  # a combination of levels determines another
    least = least_cost(5, gaussian_cost(moments, engine.penalty, sizes), knowledge, most)
    assert engine.cost == pytest.approx(least, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_the_best_dag_with_moments_of_their_own_and_given_variables(seed: int) -> None:
    n, rng = 5, np.random.default_rng(seed)
    sets = [sample(seed, n, 90), sample(seed, n, 400)]
    which = rng.integers(2, size=n)
    given = np.flatnonzero(rng.random(n) < 0.3)
    engine = BicEngine(sets, moments_of=which, given=given)
    prices = [engine.score.price(n, float(own.n_samples)) for own in sets]
    costs = [gaussian_cost(own, price) for own, price in zip(sets, prices, strict=True)]

    def local(v: int, parents: tuple[int, ...]) -> float:
        if v in given:
            return np.inf if set(parents) - set(given.tolist()) or parents else 0.0
        return costs[which[v]](v, parents)

    assert engine.take_best()
    assert engine.cost == pytest.approx(least_cost(n, local), abs=1e-6)
    assert set(engine.order[: len(given)].tolist()) == set(given.tolist())


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, n=st.integers(3, 9))
def test_the_class_of_the_best_dag_does_not_depend_on_the_order_of_columns(
    seed: int, n: int
) -> None:
    moments = sample(seed, n, 50, 3)
    shuffled = np.random.default_rng(seed).permutation(n)
    classes = []
    for order in (np.arange(n), shuffled):
        engine = BicEngine(moments.select([moments.names[i] for i in order]))
        assert engine.take_best()
        back = np.argsort(order)
        classes.append(to_cpdag(engine.dag())[np.ix_(back, back)])
    np.testing.assert_array_equal(*classes)
