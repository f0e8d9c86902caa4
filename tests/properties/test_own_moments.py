"""Each child from moments of its own, against plain regressions."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import ArgumentError
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search.control import bic_insertion
from qwo.simulation import simulate

N = 7
SIZES = 200, 90, 500
SEEDS = st.integers(0, 10_000)


def regimes(seed: int) -> list[Moments]:
    """The same graph in three samples, with the noise and the size of each."""
    model = simulate("er", n_variables=N, n_samples=10, degree=3, random_state=seed)
    rng = np.random.default_rng(seed)
    samples = []
    for size in SIZES:
        noise = rng.standard_normal((size, N)) * rng.uniform(0.5, 2.0, N)
        rows = noise @ np.linalg.inv(np.eye(N) - model.coefficients)
        samples.append(Moments.from_data(rows))
    return samples


def local_cost(engine: BicEngine, own: Moments, child: int, parents: list[int]) -> float:
    """N log σ² + price·k, all of them the child's, by a plain regression."""
    s, size = own.correlation, float(own.n_samples)
    left = s[child, child]
    if parents:
        left -= s[parents, child] @ np.linalg.solve(s[np.ix_(parents, parents)], s[parents, child])
    return size * math.log(left) + engine.score.price(N, size) * len(parents)


def shake(engine: BicEngine, rng: np.random.Generator, steps: int) -> None:
    for _ in range(steps):
        engine.move(int(rng.integers(N)), int(rng.integers(N)))


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, listed=st.booleans())
def test_costs_are_those_of_the_childrens_own_regressions(*, seed: int, listed: bool) -> None:
    rng = np.random.default_rng(seed)
    sets, which = regimes(seed), rng.integers(3, size=N)
    lists = [np.delete(np.arange(N), v) for v in range(N)] if listed else None
    engine = BicEngine(sets, moments_of=which, order=rng.permutation(N), candidates=lists)
    mark, before = engine.mark(), engine.cost
    shake(engine, rng, 12)
    order = engine.order.tolist()
    total = 0.0
    for place, v in enumerate(order):
        own, parents = sets[which[v]], engine.parents(v).tolist()
        now = local_cost(engine, own, v, parents)
        total += now
        for u in order[:place]:
            changed = [p for p in parents if p != u] if u in parents else [*parents, u]
            assert local_cost(engine, own, v, changed) >= now - 1e-6
    assert engine.cost == pytest.approx(total, abs=1e-7)
    assert engine.undo(mark) == before


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_scans_tell_the_change_of_the_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = BicEngine(regimes(seed), moments_of=rng.integers(3, size=N))
    shake(engine, rng, 5)
    for v in range(N):
        changes = engine.scan(v)
        for place in range(N):
            mark, cost = engine.mark(), engine.cost
            assert engine.move(v, place) - cost == pytest.approx(changes[place], abs=1e-7)
            engine.undo(mark)


def test_equal_sets_are_one_set_to_the_last_bit() -> None:
    moments = regimes(3)[0]
    one, two = BicEngine(moments), BicEngine([moments, moments], moments_of=[0, 1, 0, 1, 1, 0, 1])
    for engine in (one, two):
        shake(engine, np.random.default_rng(0), 20)
    assert one.cost == two.cost
    for v in range(N):
        np.testing.assert_array_equal(one.scan(v), two.scan(v))


def test_searches_and_pickles_keep_the_sets() -> None:
    engine = BicEngine(regimes(5), moments_of=[0, 1, 2, 0, 1, 2, 0])
    twin = pickle.loads(pickle.dumps(engine))
    for each in (engine, twin):
        bic_insertion(each, restarts=3, random_state=0)
    assert twin.cost == engine.cost
    assert engine.copy().cost == engine.cost


def test_a_variable_that_is_constant_in_the_childs_rows_is_never_a_parent() -> None:
    moments = regimes(6)[0]
    still = np.array(moments.correlation)
    still[2, :] = still[:, 2] = 0.0
    constant = Moments(moments.names, 200.0, moments.means, moments.scales, still)
    engine = BicEngine([moments, constant], moments_of=[1, 1, 0, 1, 1, 1, 1])
    for _ in range(3):
        shake(engine, np.random.default_rng(1), 10)
        assert not any(2 in engine.parents(v).tolist() for v in range(N) if v != 2)
    assert math.isfinite(engine.cost)


@pytest.mark.parametrize("which", [[0] * 6, [3] * N, [-1] * N, [0.5] * N])
def test_wrong_assignments_are_refused(which: list[int]) -> None:
    with pytest.raises((ArgumentError, ValueError)):
        BicEngine(regimes(1), moments_of=which)
    with pytest.raises(ArgumentError, match="at least"):
        BicEngine([])
