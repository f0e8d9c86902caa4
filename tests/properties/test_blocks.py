"""Variables with blocks of columns, against regressions by definition."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qwo
from qwo.discovery.resolve import dense_algebra, resolve
from qwo.errors import ArgumentError
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.options import SearchOptions
from qwo.order.bic import BicEngine
from qwo.order.blocks import pairwise_gains
from qwo.order.candidates import block_candidates
from qwo.order.score import BIC
from qwo.search import Control
from qwo.search.control import bic_insertion
from tests.helpers.bic_oracle import sample
from tests.helpers.block_data import block_cost, least_cost, log_det_given, mixed, nested

SEEDS = st.integers(0, 10_000)
LEVELS = [0, 4, 3, 2, 0, 5, 3, 0]
TOLERANCE = 1e-6


def shake(engine: BicEngine, rng: np.random.Generator, steps: int) -> None:
    n = engine.n_variables
    for _ in range(steps):
        engine.move(int(rng.integers(n)), int(rng.integers(n)))


def engine_of(
    table: tuple[Moments, list[int]],
    rng: np.random.Generator,
    *,
    listed: bool = False,
    c: float = 2,
) -> BicEngine:
    moments, sizes = table
    n = len(sizes)
    lists = [np.delete(np.arange(n), v) for v in range(n)] if listed else None
    return BicEngine(
        moments,
        penalty_discount=c,
        block_sizes=sizes,
        order=rng.permutation(n),
        candidates=lists,
    )


def total(engine: BicEngine, sizes: list[int]) -> float:
    return sum(block_cost(engine, sizes, v, engine.parents(v).tolist()) for v in range(len(sizes)))


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, listed=st.booleans(), c=st.sampled_from([0.1, 1.0, 2.0]))
def test_costs_are_those_of_the_definition_and_no_step_improves(
    *, seed: int, listed: bool, c: float
) -> None:
    rng = np.random.default_rng(seed)
    moments, sizes = mixed(seed, LEVELS)
    engine = engine_of((moments, sizes), rng, listed=listed, c=c)
    mark, before, scan = engine.mark(), engine.cost, engine.scan(1)
    shake(engine, rng, 12)
    assert engine.cost == pytest.approx(total(engine, sizes), abs=TOLERANCE)
    order = engine.order.tolist()
    for place, v in enumerate(order):
        parents = engine.parents(v).tolist()
        now = block_cost(engine, sizes, v, parents)
        for u in order[:place]:
            changed = [p for p in parents if p != u] if u in parents else [*parents, u]
            assert block_cost(engine, sizes, v, changed) >= now - TOLERANCE
    assert engine.undo(mark) == before
    np.testing.assert_array_equal(engine.scan(1), scan)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_scans_tell_the_change_of_the_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = engine_of(mixed(seed, LEVELS), rng)
    shake(engine, rng, 5)
    for v in range(len(LEVELS)):
        changes = engine.scan(v)
        for place in range(len(LEVELS)):
            mark, cost = engine.mark(), engine.cost
            assert engine.move(v, place) - cost == pytest.approx(changes[place], abs=TOLERANCE)
            engine.undo(mark)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_families_cost_what_the_definition_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moments, sizes = mixed(seed, LEVELS)
    engine = engine_of((moments, sizes), rng)
    dag = np.triu(rng.random((8, 8)) < 0.4, 1).astype(np.int8)
    for v in range(8):
        parents = np.flatnonzero(dag[:, v]).tolist()
        expected = block_cost(engine, sizes, v, parents)
        assert engine.family_cost(v, parents) == pytest.approx(expected, abs=TOLERANCE)
    pairs = pairwise_gains(moments.correlation, np.array(sizes))
    for u, v in itertools.permutations(range(8), 2):
        expected = -log_det_given(moments.correlation, sizes, v, [u])
        assert pairs[u, v] == pytest.approx(expected, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, c=st.sampled_from([0.2, 1.0]))
def test_what_others_determine_is_left_out_and_comes_back(seed: int, c: float) -> None:
    rng = np.random.default_rng(seed)
    moments, sizes = nested(seed)
    engine = engine_of((moments, sizes), rng, c=c)
    for _ in range(15):
        shake(engine, rng, 1)
        assert engine.cost == pytest.approx(total(engine, sizes), abs=1e-5)
    for v, count in itertools.product(range(5), range(5)):
        for parents in itertools.combinations([u for u in range(5) if u != v], count):
            expected = block_cost(engine, sizes, v, list(parents))
            assert engine.family_cost(v, parents) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_equivalent_graphs_cost_the_same_even_where_levels_are_nested(seed: int) -> None:
    for moments, sizes in (mixed(seed, [4, 3, 0, 2]), nested(seed)):
        engine = BicEngine(moments, block_sizes=sizes)
        n = len(sizes)
        for u, v in itertools.combinations(range(n), 2):
            for chosen in itertools.product([False, True], repeat=n):
                shared = [w for w in range(n) if chosen[w] and w not in (u, v)]
                forth = engine.family_cost(u, shared) + engine.family_cost(v, [*shared, u])
                back = engine.family_cost(v, shared) + engine.family_cost(u, [*shared, v])
                assert forth == pytest.approx(back, abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_exact_optimum_of_small_tables(seed: int) -> None:
    moments, sizes = mixed(seed, [0, 3, 2, 4, 0, 3])
    engine = BicEngine(moments, block_sizes=sizes)
    outcome = bic_insertion(engine, restarts=20, random_state=0)
    assert outcome.status == "converged"
    assert engine.cost == pytest.approx(least_cost(engine, sizes), abs=TOLERANCE)
    assert engine.cost == pytest.approx(total(engine, sizes), abs=TOLERANCE)


def test_blocks_of_one_column_are_no_blocks() -> None:
    moments = sample(3, 10, 200, 3.0)
    plain, blocks = BicEngine(moments), BicEngine(moments, block_sizes=[1] * 10)
    for engine in (plain, blocks):
        bic_insertion(engine, restarts=3, random_state=1)
    assert plain.cost == blocks.cost
    np.testing.assert_array_equal(plain.dag(), blocks.dag())
    np.testing.assert_array_equal(plain.coefficients(), blocks.coefficients())


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_single_columns_beside_a_block_cost_what_they_do_alone(seed: int) -> None:
    """One block of two columns that nothing depends on changes nothing else."""
    rng = np.random.default_rng(seed)
    plain = sample(seed, 8, 200, 3.0)
    matrix = np.eye(10)
    matrix[:8, :8] = plain.correlation
    ones = np.ones(10)
    names = tuple(f"c{i}" for i in range(10))
    wider = Moments(names, plain.n_samples, 0 * ones, ones, matrix)
    order = rng.permutation(9)
    with_block = BicEngine(wider, block_sizes=[1] * 8 + [2], order=order)
    alone = BicEngine(plain, order=order[order != 8])
    for _ in range(10):
        v = int(rng.integers(8))
        place = int(rng.integers(9))
        with_block.move(v, place)
        rest = with_block.order[with_block.order != 8].tolist()
        alone.move(v, rest.index(v))
        assert with_block.cost == pytest.approx(alone.cost, abs=TOLERANCE)


def test_knowledge_is_about_variables() -> None:
    moments, sizes = mixed(5, LEVELS, chance=0.7)
    names = [f"v{i}" for i in range(8)]
    knowledge = Knowledge(
        forbidden=[("v1", "v2"), ("v5", "v0")], required=[("v6", "v3")], tiers=[["v4"], names[:4]]
    ).resolve(names)
    engine = BicEngine(moments, block_sizes=sizes, knowledge=knowledge)
    bic_insertion(engine, restarts=5, random_state=0)
    dag = engine.dag()
    assert dag[6, 3] == 1
    assert not (dag & knowledge.forbidden).any()
    knowledge.check_dag(dag)
    assert engine.cost == pytest.approx(total(engine, sizes), abs=TOLERANCE)


def test_states_copies_and_threads_agree_to_the_last_bit() -> None:
    moments, sizes = mixed(7, LEVELS * 2, n_rows=300)
    engine = BicEngine(moments, block_sizes=sizes)
    twins = [engine.copy(), pickle.loads(pickle.dumps(engine)), engine.copy()]
    bic_insertion(engine, restarts=45, random_state=3)
    for twin, jobs in zip(twins, (1, 1, 2), strict=True):
        bic_insertion(twin, restarts=45, random_state=3, n_jobs=jobs)
        assert twin.cost == engine.cost
        np.testing.assert_array_equal(twin.order, engine.order)
        np.testing.assert_array_equal(twin.coefficients(), engine.coefficients())


@pytest.mark.parametrize("late", [False, True])
def test_lists_are_repaired_by_renewal(late: bool) -> None:
    moments, sizes = mixed(11, LEVELS * 2, n_rows=600)
    everyone = BicEngine(moments, block_sizes=sizes)
    short = [np.array([(v + 1) % 16]) for v in range(16)]
    listed = BicEngine(moments, block_sizes=sizes, candidates=short, all_at_first=late)
    for engine in (everyone, listed):
        bic_insertion(engine, restarts=20, random_state=0)
    assert listed.cost == pytest.approx(everyone.cost, abs=TOLERANCE)
    assert listed.cost == pytest.approx(total(listed, sizes), abs=TOLERANCE)


def test_candidates_are_those_that_explain_most_given_nothing_or_all_others() -> None:
    moments, sizes = mixed(13, LEVELS * 2, n_rows=600)
    matrix, n = moments.correlation, 16
    inverse = np.linalg.inv(matrix)
    lists, crowded = block_candidates(
        matrix, inverse, np.array(sizes), 600, score=BIC(2), partial=2, marginal=2
    )
    assert not crowded
    for v in range(n):
        others = [u for u in range(n) if u != v]
        prices = {u: 2 * math.log(600) * sizes[u] * sizes[v] for u in others}
        alone = {u: -600 * log_det_given(matrix, sizes, v, [u]) - prices[u] for u in others}
        assert set(sorted(others, key=alone.__getitem__)[-2:]) <= set(lists[v].tolist())
        rest = {u: [w for w in others if w != u] for u in others}
        gains = {
            u: log_det_given(matrix, sizes, v, rest[u]) - log_det_given(matrix, sizes, v, others)
            for u in others
        }
        left = 600 - len(matrix)
        net = {u: gains[u] - 2 * math.log(left) * sizes[u] * sizes[v] / left for u in others}
        assert set(sorted(others, key=net.__getitem__)[-2:]) <= set(lists[v].tolist())
        assert v not in lists[v]
    engine = BicEngine(moments, block_sizes=sizes, candidates=lists)
    everyone = BicEngine(moments, block_sizes=sizes)
    for each in (engine, everyone):
        bic_insertion(each, random_state=0)
    assert engine.cost == pytest.approx(everyone.cost, abs=TOLERANCE)


@pytest.mark.parametrize("limit", [None, 1e-9])
def test_long_tables_of_categories_have_lists(
    limit: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=(400, 12))
    for v in range(1, 12):
        codes[:, v] = np.where(rng.random(400) < 0.5, codes[:, v - 1], codes[:, v])
    table = pd.DataFrame({f"x{v}": np.array(list("abc"))[codes[:, v]] for v in range(12)})
    moments = qwo.Moments.from_data(table)
    assert moments.has_blocks
    options = SearchOptions(engine="bic")
    assert dense_algebra(resolve(options, moments), moments).candidates is None
    monkeypatch.setattr("qwo.discovery.resolve.ALL_CANDIDATES_UP_TO", 5)
    plan = resolve(options, moments)
    dense = dense_algebra(plan, moments, Control(time_limit=limit))
    assert dense.hurried == (limit is not None)
    assert dense.candidates is not None
    assert len(dense.candidates) == 12
    found = qwo.discover(moments, random_state=0)
    monkeypatch.undo()
    assert found.score == pytest.approx(qwo.discover(moments, random_state=0).score)


def test_few_rows_bound_the_columns_of_the_parents() -> None:
    moments, sizes = mixed(2, LEVELS, n_rows=40, chance=0.9)
    engine = BicEngine(moments, block_sizes=sizes, penalty_discount=0.01)
    for v in range(8):
        assert sum(sizes[p] for p in engine.parents(v)) + sizes[v] - 1 <= 13
    one = BicEngine(moments, block_sizes=sizes, penalty_discount=0.01, max_parents=1)
    assert one.dag().sum(axis=0).max() == 1


def test_gamma_is_per_edge() -> None:
    moments, sizes = mixed(9, LEVELS)
    engine = BicEngine(moments, block_sizes=sizes, score=BIC(1.0, gamma=0.7))
    assert engine.n_edges > 3
    assert engine.cost == pytest.approx(total(engine, sizes), abs=TOLERANCE)


def test_coefficients_are_those_of_the_columns() -> None:
    moments, sizes = mixed(4, LEVELS)
    engine = BicEngine(moments, block_sizes=sizes)
    s, slopes = moments.correlation, engine.coefficients()
    columns = np.split(np.arange(len(s)), np.cumsum(sizes)[:-1])
    for v, left in enumerate(engine.residual_covariances()):
        parents = [i for p in engine.parents(v) for i in columns[p]]
        expected = np.linalg.solve(s[np.ix_(parents, parents)], s[np.ix_(parents, columns[v])])
        np.testing.assert_allclose(slopes[np.ix_(parents, columns[v])], expected, atol=1e-10)
        explained = s[np.ix_(columns[v], parents)] @ expected
        np.testing.assert_allclose(left, np.eye(sizes[v]) - explained, atol=1e-10)


@pytest.mark.parametrize(
    "sizes", [[2, 2, 2], [0, 3, 4], [7], [1.5, 5.5], [], [-1, 8], [[3, 4]], [4, 3]]
)
def test_wrong_blocks_are_refused(sizes: list[int]) -> None:
    with pytest.raises((ArgumentError, ValueError)):
        BicEngine(sample(1, 7, 100, 3.0), block_sizes=sizes)


def test_blocks_and_several_moments_are_refused_by_name() -> None:
    moments, sizes = mixed(1, [0, 3, 2])
    with pytest.raises(ArgumentError, match="block_sizes"):
        BicEngine([moments, moments], block_sizes=sizes)
