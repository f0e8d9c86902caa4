"""A child is explained in its first column, by all of its parents: core against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.columns.curves import curve_of, natural_splines, roughness
from qwo.curved.sizes import curved_moments, wanted_columns
from qwo.graph import to_cpdag
from qwo.moments import Moments
from qwo.moments.curves import RowSource, leading_columns
from qwo.options import ReadOptions
from qwo.order.bic import BicEngine
from qwo.order.blocks import BlockScore
from qwo.search.control import bic_insertion
from tests.helpers.curved_data import additive_data
from tests.helpers.exact_dag import least_cost
from tests.helpers.random_knowledge import random_knowledge

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")
SEEDS = st.integers(0, 100_000)


def full_moments(data: object, size: int = 6) -> Moments:
    source = RowSource(data, ReadOptions(), Moments.from_data(data), "the test")
    return curved_moments(source, source.sample(), size)


def mixed_rows(seed: int, n_rows: int = 300) -> dict[str, object]:
    """Two numbers, a category of three levels, a binary column and a count."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n_rows)
    level = np.digitize(x + rng.standard_normal(n_rows), [-0.7, 0.7])
    y = np.cos(2 * x) + 0.5 * level + rng.standard_normal(n_rows)
    coin = (y + rng.standard_normal(n_rows) > 0).astype(float)
    return {
        "x": x,
        "level": np.array(["low", "middle", "high"])[level],
        "y": y,
        "coin": coin,
        "count": rng.poisson(np.exp(0.3 * x)).astype(float),
    }


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 7), size=st.integers(1, 6), mixed=st.booleans())
def test_costs_are_those_of_the_definition(*, seed: int, n: int, size: int, mixed: bool) -> None:
    import pandas as pd

    data = pd.DataFrame(mixed_rows(seed)) if mixed else additive_data("smooth", n, 200, seed)[0]
    moments = leading_columns(full_moments(data), size)
    n = moments.n_variables
    engine, reference = BicEngine(moments), BlockScore(moments)
    rng = np.random.default_rng(seed)
    for child in range(n):
        others = [u for u in range(n) if u != child]
        parents = rng.permutation(others)[: rng.integers(0, n)].tolist()
        assert engine.family_cost(child, parents) == pytest.approx(
            -reference(child, parents), abs=1e-6
        )
    engine.reset(rng.permutation(n))
    total = sum(-reference(v, engine.parents(v).tolist()) for v in range(n))
    assert engine.cost == pytest.approx(total, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 5), told=st.booleans(), mixed=st.booleans())
def test_the_best_of_all_dags_is_that_of_dynamic_programming(
    *, seed: int, n: int, told: bool, mixed: bool
) -> None:
    import pandas as pd

    rows = mixed_rows(seed, 120)
    data = pd.DataFrame(rows) if mixed else additive_data("mixed", n, 120, seed, degree=2)[0]
    moments = leading_columns(full_moments(data), 3)
    n = moments.n_variables
    known = random_knowledge(np.random.default_rng(seed), n) if told else None
    engine, reference = BicEngine(moments, knowledge=known), BlockScore(moments)
    assert engine.take_best()
    least = least_cost(n, lambda v, p: -reference(v, list(p)), known, engine.max_parents)
    assert engine.cost == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_without_proof_comes_to_the_best_of_all(seed: int) -> None:
    rows, _ = additive_data(("smooth", "mixed")[seed % 2], 8, 500, seed, degree=4)
    moments = leading_columns(full_moments(rows), 4)
    best, engine = BicEngine(moments), BicEngine(moments)
    assert best.take_best()
    least = np.inf
    for again in range(3):
        engine.reset(np.random.default_rng(again).permutation(8))
        bic_insertion(engine, restarts=0, random_state=again)
        assert engine.cost >= best.cost - 1e-6
        least = min(least, engine.cost)
    assert least == pytest.approx(best.cost, abs=1e-6)


def test_one_column_is_the_linear_search_to_the_last_bit() -> None:
    rows, _ = additive_data("smooth", 6, 300, 3)
    linear = Moments.from_data(rows)
    single = leading_columns(full_moments(rows), 1)
    assert np.allclose(single.correlation, linear.correlation, atol=1e-12)
    ours, plain = BicEngine(single), BicEngine(linear)
    assert ours.cost == pytest.approx(plain.cost, abs=1e-7)


def test_members_of_a_class_cost_the_same_only_on_whole_blocks() -> None:
    rows, _ = additive_data("smooth", 4, 500, 1)
    moments = leading_columns(full_moments(rows), 4)
    whitened, sizes = moments.as_whitened()
    whole, first = BicEngine(whitened, block_sizes=sizes), BicEngine(moments)

    def cost(engine: BicEngine, dag: np.ndarray) -> float:
        return sum(engine.family_cost(v, np.flatnonzero(dag[:, v])) for v in range(4))

    chain, fork = np.zeros((4, 4), np.int8), np.zeros((4, 4), np.int8)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = 1
    fork[1, 0] = fork[1, 2] = fork[2, 3] = 1
    assert (to_cpdag(chain) == to_cpdag(fork)).all()
    assert cost(whole, chain) == pytest.approx(cost(whole, fork), abs=1e-8)
    assert abs(cost(first, chain) - cost(first, fork)) > 1


def test_another_basis_of_the_same_functions_changes_nothing() -> None:
    rows, _ = additive_data("smooth", 5, 300, 2)
    moments = leading_columns(full_moments(rows), 4)
    rng = np.random.default_rng(0)
    turn = np.eye(20)
    for v in range(5):
        turn[4 * v + 1 : 4 * v + 4, 4 * v + 1 : 4 * v + 4] = np.linalg.qr(
            rng.standard_normal((3, 3))
        )[0]
    own, sizes = moments.as_whitened()
    matrix = turn.T @ own.correlation @ turn
    turned = Moments(own.names, own.n_samples, own.means, own.scales, (matrix + matrix.T) / 2)
    leading = np.ones(5, int)
    a = BicEngine(own, block_sizes=sizes, leading=leading)
    b = BicEngine(turned, block_sizes=sizes, leading=leading)
    for child in range(5):
        parents = [u for u in range(5) if u != child][:3]
        assert a.family_cost(child, parents) == pytest.approx(b.family_cost(child, parents))


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=st.integers(2, 8), rows=st.sampled_from([30, 500]))
def test_functions_are_orthonormal_nested_and_ever_rougher(
    *, seed: int, size: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    x = 3 + 5 * rng.gamma(2.0, size=rows)
    curve = curve_of(x, size)
    assert curve is not None
    assert curve.size == size
    columns = curve.columns(x)
    assert (columns[:, 0] == x).all()
    columns[:, 0] = (x - x.mean()) / x.std()
    assert np.allclose(columns.T @ columns / rows, np.eye(size), atol=1e-6)
    assert np.allclose(columns.mean(axis=0), 0, atol=1e-8)
    knots, matrix = np.array(curve.knots), np.array(curve.matrix)
    bent = np.diagonal(matrix.T @ roughness(knots) @ matrix)
    assert (np.diff(bent) > -1e-9 * bent[-1]).all()
    shorter = curve.leading(size - 1)
    if size > 2:
        assert shorter is not None
        assert np.allclose(shorter.columns(x), curve.columns(x)[:, :-1], atol=1e-9)
    else:
        assert shorter is None


def test_splines_are_linear_beyond_the_knots_and_roughness_is_their_second_derivative() -> None:
    knots = np.array([-1.5, -0.4, 0.1, 0.9, 1.7])
    far = natural_splines(np.array([2.0, 3.0, 4.0]), knots)
    assert np.allclose(np.diff(far, 2, axis=0), 0, atol=1e-9)
    grid = np.linspace(-1.5, 1.7, 200_001)
    step = grid[1] - grid[0]
    second = np.diff(natural_splines(grid, knots), 2, axis=0) / step**2
    assert np.allclose(second.T @ second * step, roughness(knots), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("different", "columns"), [(2, 1), (3, 2), (4, 3), (40, 6)])
def test_few_different_values_have_few_columns(different: int, columns: int) -> None:
    values = np.random.default_rng(0).integers(0, different, 500).astype(float)
    curve = curve_of(values, 6)
    assert (1 if curve is None else curve.size) == columns


def test_no_pair_wants_a_curve_on_linear_data() -> None:
    for seed in range(5):
        rows, _ = additive_data("linear", 8, 500, seed)
        assert wanted_columns(full_moments(rows), 2.0).max() == 1
        rows, _ = additive_data("smooth", 8, 500, seed)
        assert wanted_columns(full_moments(rows), 2.0).max() > 1
