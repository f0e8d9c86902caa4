"""Steps within the equivalence class, crossover and shuffles: what they keep, and exact returns."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.graph.cpdag import to_cpdag
from qwo.graph.dag import is_topological
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search.control import bic_insertion
from qwo.simulation import simulate
from tests.helpers.core_searches import compiled_restarts, compiled_search
from tests.helpers.random_knowledge import random_knowledge

SIZE = 14
SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=60, deadline=None)


def settled(seed: int, *, known: bool = False, listed: bool = False, start: int = 0) -> BicEngine:
    """An engine that a search without restarts has left; other starts lead to other optima."""
    rng = np.random.default_rng([seed, start])
    drawn = simulate("er", n_variables=SIZE, n_samples=120, degree=3, random_state=seed)
    knowledge = random_knowledge(np.random.default_rng(seed), SIZE) if known else None
    order = rng.permutation(SIZE)
    candidates = None
    if listed:
        others = [np.delete(np.arange(SIZE), v) for v in range(SIZE)]
        candidates = [np.sort(rng.choice(own, 5, replace=False)) for own in others]
    engine = BicEngine(
        Moments.from_data(drawn.data),
        knowledge=knowledge,
        order=order if knowledge is None else knowledge.topological_start(order),
        candidates=candidates,
    )
    bic_insertion(engine, restarts=0, tucks=False, knowledge=knowledge, random_state=seed)
    return engine


def assert_sound(engine: BicEngine, seed: int, *, known: bool) -> None:
    """The order fits the DAG, the cost is that of the parents, the knowledge is kept."""
    dag, order = engine.dag(), engine.order
    assert is_topological(order, dag)
    variances = engine.residual_variances()
    cost = engine.n_samples * np.log(variances).sum() + engine.penalty * dag.sum()
    assert engine.cost == pytest.approx(cost, rel=1e-9)
    if known:
        knowledge = random_knowledge(np.random.default_rng(seed), SIZE)
        assert knowledge.allows_order(order)
        knowledge.check_dag(dag)


@FEW
@given(seed=SEEDS, known=st.booleans(), listed=st.booleans(), v=st.integers(0, SIZE - 1))
def test_a_step_within_the_class_costs_nothing(
    *, seed: int, known: bool, listed: bool, v: int
) -> None:
    engine = settled(seed, known=known, listed=listed)
    before, cost, order = engine.dag(), engine.cost, engine.order
    if not engine._sets.reroot(v):
        assert known or listed
        np.testing.assert_array_equal(engine.order, order)
        np.testing.assert_array_equal(engine.dag(), before)
        return
    assert_sound(engine, seed, known=known)
    assert engine.cost <= cost + 1e-8 * abs(cost)
    if engine.cost > cost - 1e-6:
        cpdag = to_cpdag(before)
        np.testing.assert_array_equal(to_cpdag(engine.dag()), cpdag)
        # All that is left of the parents are compelled ones.
        assert set(engine.parents(v)) == set(np.flatnonzero(cpdag[:, v] == 1))


@FEW
@given(seed=SEEDS, known=st.booleans(), listed=st.booleans(), v=st.integers(0, SIZE - 1))
def test_a_step_within_the_class_is_undone_exactly(
    *, seed: int, known: bool, listed: bool, v: int
) -> None:
    engine = settled(seed, known=known, listed=listed)
    twin = engine.copy()
    mark = engine.mark()
    engine._sets.reroot(v)
    engine.undo(mark)
    assert engine.cost == twin.cost
    assert engine.order.tolist() == twin.order.tolist()
    np.testing.assert_array_equal(engine.coefficients(), twin.coefficients())
    for u in range(SIZE):
        np.testing.assert_array_equal(engine.scan(u), twin.scan(u))


@FEW
@given(seed=SEEDS, known=st.booleans(), listed=st.booleans())
def test_crossover_never_ends_worse_than_either(*, seed: int, known: bool, listed: bool) -> None:
    first, second = (settled(seed, known=known, listed=listed, start=k) for k in (0, 1))
    if second.cost < first.cost:
        first, second = second, first
    before = first.cost
    crossed = first._sets.cross(second._sets, 1e-3)
    assert first.cost <= before - 1e-3 if crossed else first.cost == before
    assert_sound(first, seed, known=known)


@FEW
@given(seed=SEEDS, v=st.integers(0, SIZE - 1))
def test_variables_differ_where_the_classes_do(*, seed: int, v: int) -> None:
    first, second = (settled(seed, start=start) for start in (0, 1))
    same = np.array_equal(to_cpdag(first.dag()), to_cpdag(second.dag()))
    assert (not first._sets.differing(second._sets)) == same
    assert first._sets.differing(second._sets) == second._sets.differing(first._sets)
    again = first.copy()
    if again._sets.reroot(v) and again.cost > first.cost - 1e-6:
        assert not again._sets.differing(first._sets)


def test_a_collider_is_seen_at_its_variable_alone() -> None:
    """Two paths over the same variables; in one of them all directions follow from a collider."""
    one_way, two_ways = list(range(6)), [0, 1, 5, 4, 3, 2]
    path = BicEngine(Moments.from_covariance(_path_covariance([]), 1000), order=one_way)
    other = BicEngine(Moments.from_covariance(_path_covariance([2]), 1000), order=two_ways)
    assert path.n_edges == other.n_edges == 5
    assert path._sets.differing(other._sets) == [2]


def _path_covariance(colliders: list[int]) -> np.ndarray:
    """Of six variables in a row, each with the next; from a collider on the arrows come back."""
    effects = np.zeros((6, 6))
    for k in range(5):
        forward = not colliders or k < colliders[0]
        effects[(k, k + 1) if forward else (k + 1, k)] = 0.7
    total = np.linalg.inv(np.eye(6) - effects)
    return np.asarray(total.T @ total)


def test_crossover_joins_what_each_has_best() -> None:
    """Two unconnected halves, each laid out well by one engine only."""
    rng = np.random.default_rng(0)
    data = np.column_stack([_collider(rng), _collider(rng)])
    moments = Moments.from_data(data)
    good, bad = [0, 1, 2], [2, 1, 0]
    first = BicEngine(moments, order=[*good, *(3 + v for v in bad)])
    second = BicEngine(moments, order=[*bad, *(3 + v for v in good)])
    best = BicEngine(moments, order=[*good, *(3 + v for v in good)])
    assert first.cost > best.cost + 1.0
    assert first._sets.cross(second._sets, 1e-3)
    assert first.cost == pytest.approx(best.cost)


def _collider(rng: np.random.Generator) -> np.ndarray:
    cause = rng.normal(size=(500, 2))
    return np.column_stack([cause, cause.sum(axis=1) + rng.normal(size=500)])


@FEW
@given(seed=SEEDS, known=st.booleans(), listed=st.booleans(), size=st.integers(0, SIZE))
def test_a_restart_that_fails_is_undone_exactly(
    *, seed: int, known: bool, listed: bool, size: int
) -> None:
    engine = settled(seed, known=known, listed=listed)
    twin = engine.copy()
    search = compiled_search(engine, seed, tucks=False, at_optimum=True)
    search.begin_restart(seed % SIZE, size)
    assert_sound(engine, seed, known=known)
    while not search.run(1e-9):
        pass
    better = search.end_restart()
    assert_sound(engine, seed, known=known)
    assert engine.cost <= twin.cost + 1e-2
    if better or engine.order.tolist() != twin.order.tolist():
        return
    assert engine.cost == pytest.approx(twin.cost, abs=1e-9)
    np.testing.assert_allclose(engine.coefficients(), twin.coefficients(), atol=1e-12)


@FEW
@given(seed=SEEDS, known=st.booleans(), tries=st.integers(1, 3))
def test_restarts_around_doubtful_variables_end_and_never_worsen(
    *, seed: int, known: bool, tries: int
) -> None:
    engine = settled(seed, known=known)
    before = engine.cost
    n_doubtful = len(engine.doubtful())
    restarts = compiled_restarts(engine, seed, tries=tries)
    while not restarts.run(0.01):
        pass
    assert restarts.n_made >= tries * n_doubtful
    assert engine.cost <= before + 1e-2 * restarts.n_made
    assert (engine.cost < before - 1e-2) == (restarts.n_improved > 0)
    assert_sound(engine, seed, known=known)


def _doubtful(engine: BicEngine) -> list[int]:
    """By the definition: cycles of up to four edges, and edges worth less than ten prices."""
    dag = engine.dag()
    skeleton = nx.Graph((dag + dag.T).astype(int))
    found = {v for cycle in nx.simple_cycles(skeleton, length_bound=4) for v in cycle}
    for child in range(len(dag)):
        parents = engine.parents(child).tolist()
        kept = engine.family_cost(child, parents)
        for parent in parents:
            others = [p for p in parents if p != parent]
            if engine.family_cost(child, others) - kept < 10 * engine.penalty:
                found |= {child, parent}
    return sorted(found)


@FEW
@given(seed=SEEDS, known=st.booleans(), listed=st.booleans())
def test_short_cycles_and_weak_edges_are_doubtful(*, seed: int, known: bool, listed: bool) -> None:
    engine = settled(seed, known=known, listed=listed)
    assert engine.doubtful().tolist() == _doubtful(engine)


@pytest.mark.parametrize(
    ("rows", "edges", "doubtful"),
    [
        (10_000, [(0, 1), (1, 2), (2, 3)], []),
        (30, [(0, 1), (1, 2), (2, 3)], [0, 1, 2, 3]),
        (10_000, [(0, 1), (1, 2), (0, 2), (2, 3)], [0, 1, 2]),
        (10_000, [(0, 1), (1, 2), (0, 3), (3, 2), (2, 4)], [0, 1, 2, 3]),
        (10_000, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], []),
    ],
    ids=["path", "weak", "triangle", "square", "pentagon"],
)
def test_doubt_of_small_graphs(
    rows: int, edges: list[tuple[int, int]], doubtful: list[int]
) -> None:
    n = 1 + max(max(edge) for edge in edges)
    coefficients = np.zeros((n, n))
    coefficients[tuple(np.transpose(edges))] = 1.0
    mixing = np.linalg.inv(np.eye(n) - coefficients)
    engine = BicEngine(Moments.from_covariance(mixing.T @ mixing, rows), order=range(n))
    assert engine.doubtful().tolist() == doubtful


def test_restarts_may_keep_to_some_variables() -> None:
    """Around others there is one only where something has changed."""
    engine = settled(3)
    bic_insertion(engine, restarts=60, random_state=0)
    restarts = compiled_restarts(engine, 0, tries=2, centres=np.array([1, 4]))
    assert restarts.run(60.0)
    assert restarts.n_improved == 0
    assert restarts.n_made == 4


def test_restarts_that_all_lead_back_end_early() -> None:
    """Without any edge, whatever is shuffled comes to the same."""
    engine = BicEngine(Moments.from_covariance(np.eye(8), 100))
    restarts = compiled_restarts(engine, 0, length=20)
    assert restarts.run(60.0)
    assert restarts.n_made == 10
    assert (restarts.n_near, restarts.n_improved) == (0, 0)


def test_a_restart_that_is_left_ends() -> None:
    engine = settled(1)
    restarts = compiled_restarts(engine, 0, length=5)
    restarts.run(0.0)
    restarts.end()
    assert engine.mark() == 0
