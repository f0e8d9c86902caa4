"""What chance alone draws at a price, what is known of each edge, and the price taken."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc

import qwo
from qwo.discovery.price import (
    FREEDOM_OF_A_PARENT,
    MANY_FREE,
    Evidence,
    NullEdges,
    as_quantile,
    edge_evidence,
    explained_in,
    price_range,
)
from qwo.errors import DataWarning, ShapeError
from qwo.graph import Knowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.blocks import BlockScore
from qwo.order.linalg import mixture_weights
from qwo.search.control import bic_insertion
from qwo.simulation import simulate
from qwo.types import FloatArray, Indices

Fitted = tuple[Moments, BicEngine, float]


def _prices(*values: float) -> FloatArray:
    return np.array(values)


def test_the_tail_is_that_of_a_partial_correlation_of_nothing() -> None:
    n_samples, n_parents, draws = 30, 3, 20_000
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((n_samples, n_parents + 1)))[0]
    basis = np.linalg.qr(np.column_stack([np.ones(n_samples), basis[:, :n_parents]]))[0]
    x, y = (rng.standard_normal((n_samples, draws)) for _ in range(2))
    x, y = (v - basis @ (basis.T @ v) for v in (x, y))
    share = (x * y).sum(0) ** 2 / ((x * x).sum(0) * (y * y).sum(0))
    strengths = -n_samples * np.log1p(-share)
    null = NullEdges(n_samples, np.ones(4), 0.5)
    for price in (1.0, 3.0, 6.0):
        # These parents were given, not chosen: each uses up one degree of freedom.
        exact = null.tail(_prices(price), _prices(n_parents / FREEDOM_OF_A_PARENT))[0]
        assert np.mean(strengths > price) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("n_samples", [MANY_FREE + 2, 100, 1000, 100_000])
def test_the_expansion_of_the_tail_is_the_tail(n_samples: int) -> None:
    strengths = np.linspace(0.5, 60, 50)
    chance = NullEdges(n_samples, np.ones(1), 0.5).tail(strengths, np.zeros(1))
    exact = betainc((n_samples - 2) / 2, 0.5, np.exp(-strengths / n_samples))
    np.testing.assert_allclose(chance, exact, rtol=1e-6)


def test_weights_of_real_effects_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    kernels, known, visible = rng.random((7, 5)), rng.random(7), rng.uniform(0.5, 1, 5)
    weights = np.full(5, 7 / 5)
    for _ in range(9):
        weights = weights * ((1 / (known + kernels @ weights)) @ kernels) / visible
    found = mixture_weights(kernels, known, visible, 9)
    np.testing.assert_allclose(found, weights, rtol=1e-12)
    nothing = mixture_weights(kernels[:0], known[:0], visible, 0)
    np.testing.assert_allclose(nothing, 1 / 5)
    with pytest.raises(ShapeError):
        mixture_weights(kernels, visible, known, 9)


def test_chance_draws_fewer_edges_at_a_higher_price() -> None:
    null = NullEdges(200.0, np.array([100.0, 300.0, 50.0]), 0.6)
    expected = null.expected(np.linspace(0, 60, 400))
    assert (np.diff(expected) < 0).all()
    assert expected[0] == pytest.approx(450)


def test_tests_that_are_one_give_one_chance_and_unlike_ones_two() -> None:
    z = np.array([3.0])

    def ways(null: NullEdges) -> float:
        return float(null.edges(z, np.array([0.5]))[0])

    assert ways(NullEdges(100.0, np.ones(1), 1.0)) == pytest.approx(1)
    assert ways(NullEdges(100.0, np.ones(1), 0.5)) == pytest.approx(1.66, abs=0.01)
    assert ways(NullEdges(100.0, np.ones(1), 0.5, 0.0)) == pytest.approx(1)
    # Where nearly all is explained, the order of a pair is not free.
    assert ways(NullEdges(100.0, np.ones(1), 0.01)) == pytest.approx(1.1, abs=0.01)


@pytest.mark.parametrize(("n", "n_samples", "c"), [(30, 200, 1.5), (40, 60, 1.5), (60, 40, 2.0)])
@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_as_many_edges_are_found_among_independent_columns(
    n: int, n_samples: int, c: float
) -> None:
    found = expected = 0.0
    for seed in range(12):
        data = np.random.default_rng([n, seed]).standard_normal((n_samples, n))
        moments = Moments.from_data(data)
        engine = BicEngine(moments, penalty_discount=c)
        bic_insertion(engine, restarts=0, random_state=0)
        price = c * math.log(n_samples)
        evidence = edge_evidence(moments, explained_in(moments, engine.dag()), engine.order, price)
        expected += evidence.by_chance(_prices(price))[0]
        found += engine.n_edges
    assert found / expected == pytest.approx(1, abs=0.2)


def _fitted(effect: tuple[float, float], n: int = 20, n_samples: int = 300) -> Fitted:
    data, _, _ = simulate(
        "er", n_variables=n, n_samples=n_samples, degree=3, weights=effect, random_state=3
    )
    moments = Moments.from_data(data)
    engine = BicEngine(moments)
    return moments, engine, 2 * math.log(n_samples)


def test_strengths_are_what_dropping_an_edge_costs() -> None:
    moments, engine, price = _fitted((0.5, 2.0))
    evidence = edge_evidence(moments, explained_in(moments, engine.dag()), engine.order, price)
    assert len(evidence.strengths) == engine.n_edges
    for cause, effect, strength in zip(
        evidence.causes, evidence.effects, evidence.strengths, strict=True
    ):
        parents = engine.parents(int(effect))
        with_it, without = (
            _residual(moments.correlation, int(effect), kept)
            for kept in (parents, parents[parents != cause])
        )
        assert strength == pytest.approx(300 * math.log(without / with_it), rel=1e-6, abs=1e-6)


def _residual(correlation: FloatArray, child: int, parents: Indices) -> float:
    cross = correlation[parents, child]
    return float(1 - cross @ np.linalg.solve(correlation[np.ix_(parents, parents)], cross))


def test_weak_edges_are_the_doubtful_ones() -> None:
    data = np.random.default_rng(1).standard_normal((400, 60))
    data[:, 1] += data[:, 0]
    moments = Moments.from_data(data)
    engine = BicEngine(moments, penalty_discount=1.0)
    evidence = edge_evidence(
        moments, explained_in(moments, engine.dag()), engine.order, math.log(400)
    )
    rates = evidence.false_rates
    assert ((rates >= 0) & (rates <= 1)).all()
    strongest = evidence.strengths.argmax()
    assert rates[strongest] < 0.01
    assert np.delete(rates, strongest).mean() > 0.7
    assert rates.sum() == pytest.approx(engine.n_edges - 1, rel=0.3)


def test_strong_effects_take_a_higher_price_than_none_that_is_needed() -> None:
    moments, engine, price = _fitted((0.5, 2.0), n=60, n_samples=120)
    bic_insertion(engine, restarts=0, random_state=0)
    evidence = edge_evidence(moments, explained_in(moments, engine.dag()), engine.order, price)
    assert evidence.best_price(4.5 * math.log(120)) > 1.2 * price
    few, engine, price = _fitted((0.5, 2.0), n=6, n_samples=2000)
    evidence = edge_evidence(few, explained_in(few, engine.dag()), engine.order, 2 * math.log(2000))
    assert evidence.best_price(4.5 * math.log(2000)) == pytest.approx(2 * math.log(2000))


def _fans(n_samples: float, siblings: int) -> Evidence:
    """Fifteen edges, some of which are hardly worth a high price; so many share an effect."""
    null = NullEdges(n_samples, np.array([1200.0]), 0.5)
    strengths = np.tile([18.0, 30.0, 90.0], 5)
    effects = np.repeat(np.arange(20, 35), siblings)[:15]
    price, n_parents = 2 * math.log(n_samples), np.full(15, float(siblings))
    kinds = np.zeros(15, np.intp)
    return Evidence((null,), price, np.arange(15), effects, strengths, n_parents, kinds)


@pytest.mark.parametrize(("n_samples", "less"), [(40, 1.3), (10_000, 0.0)])
def test_with_few_samples_parents_are_lost_together(n_samples: int, less: float) -> None:
    high = 5 * math.log(n_samples)
    alone, three = (_fans(n_samples, siblings).best_price(high) for siblings in (1, 3))
    assert alone - three == pytest.approx(less, abs=0.3)


def test_pairs_that_knowledge_keeps_apart_are_no_chance() -> None:
    moments, _, price = _fitted((0.5, 2.0))
    half = [list(moments.names[:10]), list(moments.names[10:])]
    known = Knowledge(
        forbidden=[(a, b) for x, y in (half, half[::-1]) for a in x for b in y]
    ).resolve(moments.names)
    apart = BicEngine(moments, knowledge=known)
    free = edge_evidence(moments, explained_in(moments, apart.dag()), apart.order, price)
    kept = edge_evidence(moments, explained_in(moments, apart.dag()), apart.order, price, known)
    assert free.nulls[0].pairs.sum() - kept.nulls[0].pairs.sum() == 100
    tiers = Knowledge(tiers=half).resolve(moments.names)
    in_tiers = BicEngine(moments, knowledge=tiers)
    kept = edge_evidence(
        moments, explained_in(moments, in_tiers.dag()), in_tiers.order, price, tiers
    )
    assert kept.nulls[0].pairs.sum() == 190 - in_tiers.n_edges
    assert kept.nulls[0].open_share == pytest.approx(90 / 190)


def test_no_edges_and_two_variables_have_evidence_too() -> None:
    moments = Moments.from_data(np.random.default_rng(0).standard_normal((50, 2)))
    empty = np.zeros((2, 2), np.int8)
    evidence = edge_evidence(moments, explained_in(moments, empty), np.arange(2), 2 * math.log(50))
    assert evidence.false_rates.shape == (0,)
    assert evidence.expected_false == 0
    assert evidence.by_chance(_prices(evidence.price))[0] == pytest.approx(0.006, rel=0.5)
    assert evidence.best_price(4.5 * math.log(50)) >= 2 * math.log(50)


def test_prices_rise_where_chance_would_crowd_the_search() -> None:
    unit = math.log(100)
    for n in (1, 2, 10):
        assert price_range(np.ones(n, np.intp), 100, 0.0) == (2 * unit, 4.5 * unit)
    assert price_range(np.ones(10, np.intp), 100, 3.0) == (2 * unit + 3, 4.5 * unit + 3)
    null = NullEdges(100.0, np.array([3000 * 2999 / 2]), 1.0)
    low, high = price_range(np.ones(3000, np.intp), 100, 0.0)
    assert null.expected(_prices(low, high)) == pytest.approx([300, 0.01], rel=1e-3)


def test_prices_stay_only_where_chance_gives_little() -> None:
    stayed = 0
    for n, size in itertools.product((2, 5, 10, 30, 100, 300, 1000), (20, 30, 100, 1000, 10000)):
        null = NullEdges(float(size), np.array([n * (n - 1) / 2]), 1.0)
        low, high = price_range(np.ones(n, np.intp), size, 0.0)
        least, most = 2 * math.log(size), 4.5 * math.log(size)
        few, none = null.expected(_prices(least, most)) <= (0.1 * n, 0.01)
        assert (low == least, high == most) == (few, none)
        stayed += few and none
    assert 10 < stayed < 35


def test_pairs_that_knowledge_keeps_apart_crowd_no_search() -> None:
    names = [f"X{k}" for k in range(300)]
    apart = [(a, b) for k, a in enumerate(names) for j, b in enumerate(names) if j // 3 != k // 3]
    known = Knowledge(forbidden=apart).resolve(names)
    assert price_range(np.ones(300, np.intp), 50, 0.0)[0] > 3 * math.log(50)
    assert price_range(np.ones(300, np.intp), 50, 0.0, known)[0] == 2 * math.log(50)


def test_quantiles_are_finite_for_what_chance_never_reaches() -> None:
    assert np.isfinite(as_quantile(np.array([0.0, 1e-320, 1.0]))).all()


def _wide_table() -> tuple[FloatArray, FloatArray]:
    data, dag, _ = simulate("er", n_variables=100, n_samples=200, degree=4, random_state=1)
    return data, qwo.to_cpdag(dag)


def test_strong_effects_in_a_wide_table_have_fewer_false_edges() -> None:
    data, truth = _wide_table()
    habit = qwo.discover(data, penalty_discount=2.0, restarts=0, random_state=0)
    auto = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    assert habit.expected_false_edges > 5
    assert habit.expected_false_edges == pytest.approx(habit.edge_false_rates.sum())
    assert auto.expected_false_edges < 5
    assert auto.params["penalty_chosen"]
    assert not habit.params["penalty_chosen"]
    errors = [qwo.compare(found.cpdag, truth).shd_cpdag for found in (habit, auto)]
    assert errors[1] < errors[0] / 3


def test_auto_is_the_search_at_the_price_found_for_any_number_of_threads() -> None:
    data, _, _ = simulate("er", n_variables=30, n_samples=60, degree=3, random_state=2)
    options = {"restarts": 40, "random_state": 3}
    auto = qwo.discover(data, penalty_discount="auto", n_jobs=2, **options)
    price = auto.params["penalty_discount"]
    assert 2 < price < 4.5
    given = qwo.discover(data, penalty_discount=price, **options)
    assert (auto.dag == given.dag).all()
    assert auto.score == given.score
    assert auto.expected_false_edges == given.expected_false_edges


def test_exact_moments_need_no_price() -> None:
    model = qwo.simulation.random_model("er", n_variables=6, degree=2, random_state=0)
    moments = Moments.from_covariance(model.covariance(), None)
    found = qwo.discover(moments, penalty_discount="auto", random_state=0)
    assert found.params["penalty_discount"] == 2
    assert not found.params["penalty_chosen"]
    assert found.expected_false_edges == 0
    assert np.isnan(found.edge_false_rates).all()


def test_other_engines_keep_the_habit() -> None:
    data, _, _ = simulate("er", n_variables=5, n_samples=300, degree=2, random_state=0)
    found = qwo.discover(data, penalty_discount="auto", engine="qwo", random_state=0)
    assert found.params["penalty_discount"] == 2
    assert math.isnan(found.expected_false_edges)
    assert found.to_frame()["false_rate"].isna().all()


@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_a_chosen_price_takes_the_place_of_the_extended_bic() -> None:
    data, _, _ = simulate("er", n_variables=60, n_samples=40, degree=2, random_state=0)
    auto = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    assert auto.params["gamma"] == 0
    assert auto.params["penalty_discount"] > 2.5
    both = qwo.discover(data, penalty_discount="auto", gamma=0.5, restarts=0, random_state=0)
    assert both.params["gamma"] == 0.5
    assert both.evidence is not None
    wanted = both.params["penalty_discount"] * math.log(40) + math.log(60)
    assert both.evidence.price == pytest.approx(wanted)


def test_few_samples_keep_the_habit_and_say_so() -> None:
    data, _, _ = simulate("er", n_variables=4, n_samples=15, degree=2, random_state=0)
    with pytest.warns(DataWarning) as seen:
        found = qwo.discover(data, penalty_discount="auto", random_state=0)
    assert any("15 samples are too few to choose the penalty" in str(one.message) for one in seen)
    assert found.params["penalty_discount"] == 2
    assert not found.params["penalty_chosen"]


def test_the_effective_sample_size_counts() -> None:
    data, _, _ = simulate("er", n_variables=12, n_samples=300, degree=3, random_state=0)
    data[np.random.default_rng(0).random(data.shape) < 0.2] = np.nan
    with pytest.warns(DataWarning):
        found = qwo.discover(data, missing="em", penalty_discount="auto", random_state=0)
    assert found.evidence is not None
    assert found.evidence.nulls[0].n_samples == found.params["n_samples"] < 300


@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_rows_that_count_more_than_once_are_as_many_samples() -> None:
    data, _, _ = simulate("er", n_variables=60, n_samples=80, degree=2, random_state=3)
    counts = 1 + (np.arange(80) % 10 == 0)
    weighted = qwo.discover(data, weights=counts, random_state=0)
    repeated = qwo.discover(np.repeat(data, counts, axis=0), random_state=0)
    assert weighted.params["penalty_discount"] == repeated.params["penalty_discount"] > 2
    assert weighted.evidence is not None
    assert weighted.evidence.nulls[0].n_samples == counts.sum()
    assert repeated.evidence is not None
    rates = weighted.evidence.expected_false, repeated.evidence.expected_false
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


def test_knowledge_leaves_fewer_pairs_to_chance() -> None:
    data, dag, _ = simulate("er", n_variables=40, n_samples=80, degree=2, random_state=4)
    names = [f"X{k}" for k in range(40)]
    pairs = np.argwhere((dag + dag.T == 0) & ~np.eye(40, dtype=bool))
    apart = [(names[a], names[b]) for a, b in pairs if (a + b) % 4]
    free = qwo.discover(data, random_state=0)
    kept = qwo.discover(data, knowledge=Knowledge(forbidden=apart), random_state=0)
    assert kept.params["penalty_chosen"]
    assert kept.params["penalty_discount"] < free.params["penalty_discount"]
    assert kept.evidence is not None
    assert free.evidence is not None
    assert kept.evidence.nulls[0].pairs.sum() < 0.4 * free.evidence.nulls[0].pairs.sum()


def test_resamples_keep_the_price_of_all_data() -> None:
    data, _, _ = simulate("er", n_variables=20, n_samples=60, degree=3, random_state=5)
    options = {"n_resamples": 6, "restarts": 0, "random_state": 0}
    auto = qwo.bootstrap(data, penalty_discount="auto", **options)
    price = auto.reference.params["penalty_discount"]
    assert auto.params["penalty_discount"] == price > 2
    given = qwo.bootstrap(data, penalty_discount=price, **options)
    assert (auto.directed_counts == given.directed_counts).all()
    assert (auto.undirected_counts == given.undirected_counts).all()


def test_a_search_that_is_stopped_while_it_chooses_has_a_graph() -> None:
    data, _ = _wide_table()
    stopped = qwo.discover(data, penalty_discount="auto", callback=lambda _: True)
    assert stopped.status == "stopped"
    late = qwo.discover(data, penalty_discount="auto", time_limit=0.0)
    assert late.status == "time limit"
    assert late.dag.shape == (100, 100)


def test_lists_of_candidates_have_a_price_too() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((80, 1010))
    data[:, 500:1000] += 2 * data[:, :500]
    with pytest.warns(DataWarning, match="only 80 samples"):
        found = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    assert found.params["penalty_discount"] > 3
    assert found.n_edges == pytest.approx(500, abs=3)
    assert found.evidence is not None
    assert found.evidence.by_chance(_prices(found.evidence.price))[0] < 1


@pytest.mark.parametrize(("left", "right"), [(1, 3), (2, 2), (3, 4)])
def test_the_tail_of_blocks_is_that_of_their_likelihood_ratio(left: int, right: int) -> None:
    n_samples, n_parents, draws = 80, 2, 8000
    rng = np.random.default_rng(1)
    given = np.column_stack([np.ones(n_samples), rng.standard_normal((n_samples, n_parents))])
    basis = np.linalg.qr(given)[0]
    x, y = (rng.standard_normal((draws, n_samples, k)) for k in (left, right))
    x, y = (np.linalg.qr(v - basis @ (basis.T @ v))[0] for v in (x, y))
    shared = np.linalg.svd(np.swapaxes(x, 1, 2) @ y, compute_uv=False) ** 2
    strengths = -n_samples * np.log1p(-shared).sum(axis=1)
    null = NullEdges(n_samples, np.ones(1), 0.5, 1.0, left * right)
    for price in (1.0, 1.5, 2.0):
        exact = null.tail(_prices(left * right * price), _prices(n_parents / FREEDOM_OF_A_PARENT))[
            0
        ]
        assert np.mean(strengths > left * right * price) == pytest.approx(exact, rel=0.12)


def test_an_edge_of_many_coefficients_bears_a_price_for_each() -> None:
    null = NullEdges(200.0, np.array([100.0]), 0.5, 1.0, 6, 4.0)
    chance = null.tail(_prices(6 * 6 + 4), np.zeros(1))
    assert null.quantile(_prices(10.0)) == pytest.approx(as_quantile(chance))
    kinds, effects = np.zeros(1, np.intp), np.ones(1, np.intp)
    strengths, n_parents = _prices(6 * 6 + 4), np.ones(1)
    found = Evidence((null,), 10.0, effects - 1, effects, strengths, n_parents, kinds)
    assert found.worths.tolist() == [10]
    single = NullEdges(200.0, np.array([100.0]), 0.5)
    assert null.expected(_prices(10.0))[0] < single.expected(_prices(10.0))[0] / 10


def _categories(n_samples: int = 400) -> pd.DataFrame:
    """Categories of four levels: a and b make c, and five more have no part in it."""
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 4, n_samples) for name in "abdefgh"}
    table["c"] = np.where(rng.random(n_samples) < 0.4, (table["a"] + table["b"]) % 4, table["d"])
    levels = np.array(["north", "east", "south", "west"])
    return pd.DataFrame({name: levels[codes] for name, codes in table.items()})


def test_categories_have_a_price_and_rates_too() -> None:
    table = _categories()
    found = qwo.discover(table, restarts=0, random_state=0)
    assert found.params["penalty_chosen"]
    assert found.params["penalty_discount"] == 1.5
    evidence = found.evidence
    assert evidence is not None
    assert [null.n_coefficients for null in evidence.nulls] == [9]
    assert evidence.nulls[0].pairs.sum() + found.n_edges == 28
    assert (evidence.false_rates < 0.1).all()
    for cause, effect, strength in zip(
        evidence.causes, evidence.effects, evidence.strengths, strict=True
    ):
        score = BlockScore(Moments.from_data(table))
        parents = np.flatnonzero(found.dag[:, effect])
        without = parents[parents != cause].tolist()
        wanted = score.log_det(int(effect), without) - score.log_det(int(effect), parents.tolist())
        assert strength == pytest.approx(400 * wanted, rel=1e-6)


def test_a_path_of_categories_is_judged_from_a_lower_price_on() -> None:
    path = qwo.penalty_path(_categories(), [1, 1.5, 2, 3], restarts=0, random_state=0)
    choice = path.choose("auto")
    assert choice.penalty == 1.5
    assert np.isinf(choice.values[-1])


@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
def test_what_another_category_nearly_determines_has_a_finite_strength() -> None:
    table = _categories()
    table["region"] = table["a"].map({"north": "up", "east": "up", "south": "down", "west": "left"})
    table.loc[0, "region"] = "down" if table.loc[0, "region"] == "up" else "up"
    found = qwo.discover(table, restarts=0, random_state=0)
    evidence = found.evidence
    assert evidence is not None
    assert np.isfinite(evidence.strengths).all()
    assert np.isfinite(evidence.false_rates).all()
    assert {"a", "region"} in [{one, other} for one, _, other in found.edges]


def test_numbers_beside_categories_keep_the_price_up() -> None:
    table = _categories()
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.standard_normal((400, 60)), columns=[f"x{k}" for k in range(60)])
    found = qwo.discover(pd.concat([table, numbers], axis=1), restarts=0, random_state=0)
    evidence = found.evidence
    assert evidence is not None
    assert [null.n_coefficients for null in evidence.nulls] == [1, 3, 9]
    assert sum(null.pairs.sum() for null in evidence.nulls) + found.n_edges == 68 * 67 / 2
    assert found.params["penalty_discount"] > 1.8
    assert found.n_edges < 8
    again = Evidence.from_dict(evidence.to_dict())
    assert (again.false_rates == evidence.false_rates).all()


def test_evidence_survives_as_plain_numbers() -> None:
    moments, engine, price = _fitted((0.5, 2.0))
    evidence = edge_evidence(moments, explained_in(moments, engine.dag()), engine.order, price)
    again = Evidence.from_dict(evidence.to_dict())
    assert again.expected_false == evidence.expected_false
    assert (again.false_rates == evidence.false_rates).all()


def test_a_path_is_judged_as_a_single_search_is() -> None:
    data, _, _ = simulate("er", n_variables=30, n_samples=60, degree=3, random_state=2)
    path = qwo.penalty_path(data, [1, 2, 2.5, 3, 3.5, 4, 8], restarts=0, random_state=0)
    choice = path.choose("auto")
    single = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    assert choice.penalty == pytest.approx(single.params["penalty_discount"], abs=0.5)
    assert choice.discovery.params["penalty_discount"] == choice.penalty
    assert np.isinf(choice.values[-1])
    other = qwo.penalty_path(data, [2, 4], engine="qwo", search="grasp", random_state=0)
    with pytest.raises(qwo.InputError, match="the exact BIC alone has"):
        other.choose("auto")


def test_the_curve_shows_what_the_search_for_a_price_has_met() -> None:
    data, _ = _wide_table()
    found = qwo.discover(data, penalty_discount="auto", restarts=0, random_state=0)
    evidence = found.evidence
    assert evidence is not None
    assert len(evidence.weaker) > 3
    assert (evidence.weaker < evidence.price + 0.1).all()
    edges, false = evidence.curve(_prices(2 * math.log(200), evidence.price))
    assert edges[0] > edges[1]
    assert edges[1] == found.n_edges
    assert false[1] < found.expected_false_edges


@pytest.mark.parametrize("n", [2, 3])
def test_strong_edges_of_two_or_three_variables_stay(n: int) -> None:
    rng = np.random.default_rng(0)
    for rows in (40, 100):
        x = rng.standard_normal((rows, n))
        for k in range(1, n):
            x[:, k] += 2 * x[:, :k].sum(axis=1)
        found = qwo.discover(x, random_state=0)
        assert found.n_edges >= n - 1
        assert not found.weak_edges
        assert max(found.edge_false_rates) < 0.2


def test_chance_seldom_joins_two_variables() -> None:
    rng = np.random.default_rng(1)
    found = [qwo.discover(rng.standard_normal((60, 2)), random_state=0) for _ in range(40)]
    assert sum(own.n_edges for own in found) <= 2


def test_edges_into_a_variable_with_settled_causes_are_likelier() -> None:
    null = NullEdges(200.0, np.array([180.0]), 1.0)
    causes, strengths = np.arange(10), np.array([*[60.0] * 9, 12.0])
    parents, kinds = np.ones(10), np.zeros(10, np.intp)
    gathered, spread = (
        Evidence((null,), 10.6, causes, effects, strengths, parents, kinds).rates_by_strength
        for effects in (np.full(10, 19), np.arange(10, 20))
    )
    assert gathered[-1] < 0.6 * spread[-1]
    assert spread[-1] > 0.2


def test_strong_edges_of_few_variables_stay_where_nearly_all_are_joined() -> None:
    """Seven of the eight edges of the irises were left out, as standing in for others."""
    from sklearn.datasets import load_iris

    with pytest.warns(qwo.DataWarning):
        found = qwo.discover(load_iris(as_frame=True).frame)
    assert found.n_edges >= 7
    assert found.edge_false_rates.max() <= 0.5
