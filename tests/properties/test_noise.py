"""Costs by the density of residuals, their search and evidence, against definitions."""

from __future__ import annotations

import importlib
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import qwo
from qwo import _core
from qwo.columns.curves import curve_of
from qwo.columns.recipes import Coding, with_curves
from qwo.curved.noise import (
    NoiseModel,
    TurnedGraph,
    arrow_strengths,
    turn_by_noise,
    unrounded,
    vuong,
)
from qwo.graph import to_cpdag
from qwo.graph.dag import parents_of
from qwo.moments.curves import RowSample
from qwo.search.control import Control
from tests.helpers.curved_data import NOISES, additive_data, standardised
from tests.helpers.noise_reference import lack, log_density, noise_cost

SEEDS = st.integers(0, 100_000)


def model_of(rows: np.ndarray, size: int = 1, weights: np.ndarray | None = None) -> NoiseModel:
    coding = Coding.plain(rows.shape[1])
    curved = with_curves(coding, rows, size)
    even = unrounded(RowSample(rows, weights, len(rows)), coding)
    return NoiseModel.of(even, coding, curved, 2.0)


@settings(max_examples=6, deadline=None)
@given(
    seed=SEEDS,
    noise=st.sampled_from(list(NOISES)),
    spread=st.sampled_from([0.0, 0.8]),
    weighted=st.booleans(),
)
def test_costs_are_those_of_the_definition(
    *, seed: int, noise: str, spread: float, weighted: bool
) -> None:
    rows, _ = additive_data("mixed", 4, 150, seed, noise=noise)
    rows[:, 3] = standardised(rows[:, 3] * np.exp(spread * rows[:, 0]))
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 150).astype(float) if weighted else np.ones(150)
    model = model_of(rows, 3, weights)
    share = weights / weights.sum()
    columns = np.concatenate([curve_of(x, 3).columns(x) for x in rows.T], axis=1).T
    columns = columns - (columns @ share)[:, None]
    columns /= np.sqrt(columns**2 @ share)[:, None]
    for child, parents in ((0, ()), (3, (0,)), (1, (0, 2, 3))):
        wanted = noise_cost(columns, weights, [0, 3, 6, 9], model.price, (child, parents))
        found = model.cost.cost(child, list(parents))
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-5)
        by_row = model.rows([(child, parents)])
        price = model.price * 3 * len(parents)
        assert weights @ by_row + price == pytest.approx(found, rel=1e-9, abs=1e-6)


def test_the_density_is_a_kernel_density_that_leaves_rows_out() -> None:
    z = standardised(np.random.default_rng(1).gamma(3.0, size=400))
    h = 0.9 * min(1.0, np.subtract(*np.quantile(z, [0.75, 0.25])) / 1.349) * 400**-0.2
    values = []
    for width in (h, h / 2):
        kernel = np.exp(-0.5 * ((z[:, None] - z) / width) ** 2) / (width * np.sqrt(2 * np.pi))
        np.fill_diagonal(kernel, 0.0)
        t3 = 0.02 * (2 / (np.pi * np.sqrt(3))) / (1 + z**2 / 3) ** 2
        values.append(np.log(0.98 * kernel.sum(axis=1) / 399 + t3))
    exact = max(values, key=np.sum)
    found = log_density(z, np.ones(400))
    assert np.abs(found - exact).mean() < 0.02


def test_gaussian_residuals_cost_what_a_gaussian_does_up_to_a_constant() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4000, 3))
    rows = np.column_stack([x[:, 0], x[:, 0] + x[:, 1], x[:, 1] - x[:, 2]])
    model = model_of(rows)
    r = np.corrcoef(rows.T)
    gain = model.cost.cost(1, []) - model.cost.cost(1, [0]) + model.price
    assert gain == pytest.approx(-4000 * np.log(1 - r[0, 1] ** 2), abs=25)


@pytest.mark.parametrize("noise", ["exponential", "uniform"])
def test_the_search_finds_the_best_of_all_dags(noise: str) -> None:
    rows, _ = additive_data("linear", 4, 400, 5, noise=noise)
    model = model_of(rows)
    best = min(
        sum(
            min(
                model.cost.cost(v, list(own))
                for k in range(place + 1)
                for own in itertools.combinations(sorted(order[:place]), k)
            )
            for place, v in enumerate(order)
        )
        for order in itertools.permutations(range(4))
    )
    search = model.search(np.arange(4), ~np.eye(4, dtype=bool), None, 0)
    while not search.run(1.0):
        pass
    assert search.cost == pytest.approx(best, abs=1e-6)


def test_turned_graphs_have_the_effect_before_the_cause_and_cost_more() -> None:
    rows, dag = additive_data("linear", 6, 800, 2, noise="exponential")
    model = model_of(rows)
    allowed = ~np.eye(6, dtype=bool)
    turned = turn_by_noise(
        [model], [dag], [np.arange(6)], [allowed], None, seed=0, control=Control()
    )
    assert (turned.dag == dag).all()
    now = turned.search.cost
    for i, j in zip(*np.nonzero(dag), strict=True):
        other = turned.search.turned(int(i), int(j))
        assert int(i) not in other[j]
        reach = np.linalg.matrix_power(np.eye(6) + _matrix(other), 6) > 0
        assert not reach[i, j]
        cost = sum(model.cost.cost(v, own) for v, own in enumerate(other))
        assert cost > now
    assert turned.search.cost == now
    told = arrow_strengths(turned, dag)
    assert (told["z"][dag != 0] > 3).all()
    assert all(np.isnan(own[dag == 0]).all() for own in told.values())


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, spread=st.sampled_from([0.0, 0.6]), weighted=st.booleans())
def test_what_a_model_lacks_is_that_of_the_definition(
    *, seed: int, spread: float, weighted: bool
) -> None:
    rows, dag = additive_data("mixed", 4, 300, seed, noise="laplace")
    rows[:, 2] = standardised(rows[:, 2] * np.exp(spread * np.abs(rows[:, 0])))
    weights = np.random.default_rng(seed).integers(1, 3, 300) * 1.0 if weighted else np.ones(300)
    model, parents = model_of(rows, 2, weights), parents_of(dag)
    left = [model.cost.left(v, own) for v, own in enumerate(parents)]
    wanted = lack(rows, weights, left, dag)
    assert model.fit(parents).lack([3, 1, 0, 2]) == pytest.approx(wanted, rel=1e-6)


def test_a_gain_is_the_difference_of_costs_with_categories_too() -> None:
    # Coefficients of a category are as many as it has columns, times those of a parent.
    rng = np.random.default_rng(3)
    a = rng.exponential(size=600)
    level = np.digitize(0.7 * a + rng.standard_normal(600), [0.5, 1.0, 2.0])
    c = a + np.array([0.0, 2.0, -1.0, 4.0])[level] + rng.exponential(size=600)
    table = pd.DataFrame({"a": a, "c": c, "d": np.array(list("pqrs"))[level]})
    told = []

    def spy(turned: TurnedGraph, dag: np.ndarray) -> dict[str, np.ndarray]:
        told.append((turned, arrow_strengths(turned, dag)))
        return told[-1][1]

    module = importlib.import_module("qwo.discovery.curved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "arrow_strengths", spy)
        known = qwo.Knowledge(forbidden=[("d", "a")])
        qwo.discover(table, arrows="noise", knowledge=known, random_state=0)
    turned, found = told[0]
    arrows = np.argwhere(np.isfinite(found["gains"]))
    assert len(arrows)
    for i, j in arrows:
        other = turned.search.turned(int(i), int(j))
        gain = turned.model.of_dag(other) - turned.search.cost
        assert found["gains"][i, j] == pytest.approx(gain, abs=1e-6)


def _matrix(parents: list[list[int]]) -> np.ndarray:
    matrix = np.zeros((len(parents),) * 2)
    for v, own in enumerate(parents):
        matrix[own, v] = 1
    return matrix


def test_the_best_member_is_of_the_class_and_costs_least_of_it() -> None:
    from qwo.graph.pdag import enumerate_dags

    rows, dag = additive_data("linear", 6, 500, 8, noise="laplace", degree=2)
    model = model_of(rows)
    members = list(enumerate_dags(to_cpdag(dag)))
    least = min(model.of_dag(parents_of(member)) for member in members)
    start = members[-1]
    search = model.search(np.arange(6), ~np.eye(6, dtype=bool), None, 0)
    from qwo.graph.dag import topological_order

    search.take(topological_order(start).astype(np.int64), parents_of(start))
    search.to_best_member()
    assert (to_cpdag(search.dag()) == to_cpdag(dag)).all()
    assert search.cost == pytest.approx(least, abs=1e-6)


def test_vuongs_z_is_gain_over_its_error() -> None:
    d, w = np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.0, 1.0])
    assert vuong(d, w, 13.0) == pytest.approx(13 / np.sqrt(1 * 1.25**2 + 2 * 0.75**2 + 0.25**2))


def test_wrong_calls_of_the_core_are_refused() -> None:
    columns, gram = np.zeros((2, 5)), np.eye(2)
    with pytest.raises(Exception, match="for each column"):
        _core.NoiseCost.create(columns, gram, [4], [1.0] * 4, [1, 1], [True, True], 1.0)
    cost = _core.NoiseCost.create(
        np.random.default_rng(0).standard_normal((2, 5)),
        gram,
        [5],
        [1.0] * 5,
        [1, 1],
        [True] * 2,
        1.0,
    )
    for call in (
        lambda: cost.cost(2, []),
        lambda: cost.cost(0, [0]),
        lambda: cost.rows(0, [7]),
    ):
        with pytest.raises(Exception, match=r"variable|parent"):
            call()


def test_what_a_model_lacks_is_the_gain_of_one_with_a_dependence() -> None:
    """Next to the squared correlations of polynomials of ranks, one by one; with ties, too."""
    rng = np.random.default_rng(5)
    x = np.round(rng.standard_normal(1500) / 0.08) * 0.08
    y = 0.5 * x + (1 + 0.5 * np.abs(x)) * rng.standard_normal(1500)
    model, parents = model_of(np.column_stack([x, y])), [[], [0]]
    lack = model.fit(parents).lack([1])
    left = model.cost.left(1, [0])
    polynomials = []
    for places in (np.array([(x < own).mean() + (x == own).mean() / 2 for own in x]), ndtr(left)):
        powers = np.vander(places - 0.5, 5, increasing=True)
        polynomials.append(np.linalg.qr(powers)[0][:, 1:])
    expected = 1500 * ((polynomials[0].T @ polynomials[1]) ** 2).sum() - 16
    assert lack == pytest.approx(expected, rel=1e-6)
    assert lack > 50
    even = model_of(np.column_stack([x, 0.5 * x + rng.standard_normal(1500)]))
    assert even.fit(parents).lack([0, 1]) == 0


def test_one_row_far_from_all_others_leaves_fewer_functions() -> None:
    rng = np.random.default_rng(0)
    x = np.append(np.exp(rng.standard_normal(1500)), 1e6)
    rows = np.column_stack([x, rng.standard_normal(1501), rng.standard_normal(1501)])
    found = qwo.discover(rows, relations="curved", random_state=0)
    assert found.n_edges == 0
