"""Weights of rows give the moments of the rows; the consensus is a DAG that keeps knowledge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qwo.graph import check_dag, to_cpdag
from qwo.graph.dag import skeleton
from qwo.moments import Moments
from qwo.resample import merge
from qwo.resample.draws import (
    Scheme,
    draw_scatter,
    square_root,
    weighted_moments,
)
from qwo.resample.options import DataRows, Prepared, prepare
from qwo.resample.support import consensus, half_width, majority_marks
from tests.helpers.random_knowledge import random_knowledge
from tests.helpers.sample import sample_moments
from tests.oracles.random_models import random_dag

pytestmark = pytest.mark.filterwarnings("ignore:there are only")
SEEDS = st.integers(0, 2**32 - 1)
RESAMPLINGS = ("halves", "subsamples", "replacement")


def random_table(rng: np.random.Generator, n_rows: int, n: int) -> np.ndarray:
    mixing = rng.normal(size=(n, n)) / np.sqrt(n) + np.eye(n)
    offset, scale = 10 * rng.normal(size=n), np.exp(3 * rng.normal(size=n))
    return (rng.normal(size=(n_rows, n)) @ mixing + offset) * scale


def prepared_for(data: object, resampling: str, fraction: float | None = None) -> Prepared:
    return prepare(DataRows.of(data, {}), resampling, fraction)


@given(SEEDS, st.integers(12, 700), st.integers(2, 6), st.sampled_from(RESAMPLINGS))
@settings(max_examples=60, deadline=None)
def test_weights_give_the_moments_of_the_rows(
    seed: int, n_rows: int, n: int, resampling: str
) -> None:
    rng = np.random.default_rng(seed)
    values = random_table(rng, n_rows, n)
    prepared = prepared_for(values, resampling)
    size = n_rows if resampling == "replacement" else prepared.size
    assert abs(size - n_rows / 2) <= 0.5 or resampling == "replacement"
    number = int(rng.integers(100))
    weights = Scheme(resampling, n_rows, size).weights(seed, number)
    assert weights.sum() == size
    assert resampling == "replacement" or weights.max() == 1
    assume(np.count_nonzero(weights) > n)
    drawn = prepared.source.draw(seed, number)
    rows = sample_moments(np.repeat(values, weights, axis=0))
    assert drawn.n_samples == rows.n_samples == size
    np.testing.assert_allclose(drawn.correlation, rows.correlation, rtol=0, atol=1e-10)
    np.testing.assert_allclose(drawn.scales, rows.scales, rtol=1e-10)
    np.testing.assert_allclose(drawn.means, rows.means, rtol=0, atol=1e-10 * rows.scales.max())


@given(SEEDS, st.integers(6, 300), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_halves_complete_one_another(seed: int, n_rows: int, pair: int) -> None:
    scheme = Scheme("halves", n_rows, n_rows // 2)
    first, second = scheme.weights(seed, 2 * pair), scheme.weights(seed, 2 * pair + 1)
    assert first.sum() == second.sum() == n_rows // 2
    assert (first + second).max() == 1
    assert (first + second == 0).sum() == n_rows % 2
    assume(n_rows > 20)
    assert (scheme.weights(seed, 2 * pair + 2) != first).any()


@given(SEEDS, st.integers(12, 300), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_a_half_is_the_same_whatever_was_drawn_before(seed: int, n_rows: int, pair: int) -> None:
    values = random_table(np.random.default_rng(seed), n_rows, 4)
    alone, in_turn = (prepared_for(values, "halves").source for _ in range(2))
    second = alone.draw(seed, 2 * pair + 1)
    for source in (alone, in_turn):
        first, again = source.draw(seed, 2 * pair), source.draw(seed, 2 * pair + 1)
        np.testing.assert_array_equal(again.correlation, second.correlation)
        np.testing.assert_array_equal(again.means, second.means)
        assert (first.correlation != second.correlation).any()


@given(SEEDS, st.integers(-9, 9))
@settings(max_examples=40, deadline=None)
def test_a_column_that_hardly_varies_in_a_half_keeps_its_digits(seed: int, power: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(61, 3))
    values[:, 2] = values[:, 0] + rng.normal(size=61)
    values[0, 2] += 10.0**power
    halves = prepared_for(values, "halves")
    for number in range(4):
        weights = Scheme("halves", 61, 30).weights(seed, number)
        rows = sample_moments(np.repeat(values, weights, axis=0))
        drawn = halves.source.draw(seed, number)
        np.testing.assert_allclose(drawn.scales, rows.scales, rtol=1e-6)
        np.testing.assert_allclose(drawn.correlation, rows.correlation, rtol=0, atol=1e-6)


@given(SEEDS, st.integers(2, 400))
@settings(max_examples=20, deadline=None)
def test_weights_of_one_are_the_table_itself(seed: int, n_rows: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n_rows, 3))
    found, whole = weighted_moments(values, np.ones(n_rows, dtype=np.int64)), sample_moments(values)
    assert found is not None
    np.testing.assert_allclose(found.correlation, whole.correlation, rtol=0, atol=1e-12)


def test_a_wishart_matrix_has_the_mean_and_variance_of_its_distribution() -> None:
    rng = np.random.default_rng(1)
    correlation = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 1.0]])
    for freedom in (2.0, 7.0, 7.5):
        whole = int(freedom) if freedom <= 2 else freedom
        drawn = np.array(
            [draw_scatter(rng, square_root(correlation), freedom) for _ in range(8000)]
        )
        np.testing.assert_allclose(drawn.mean(axis=0), whole * correlation, atol=0.25)
        squared = correlation**2 + np.ones((3, 3))
        np.testing.assert_allclose(drawn.var(axis=0) / (whole * squared), 1, atol=0.15)


@given(SEEDS, st.integers(2, 12), st.integers(0, 100))
@settings(max_examples=100, deadline=None)
def test_replicates_that_agree_are_their_own_consensus(seed: int, n: int, percent: int) -> None:
    rng = np.random.default_rng(seed)
    cpdag = to_cpdag(random_dag(rng, n, 0.3))
    directed, undirected = (cpdag == 1).astype(float), (cpdag == 2).astype(float)
    dag = consensus(directed, undirected, percent / 100 or 0.01, None)
    np.testing.assert_array_equal(to_cpdag(dag), cpdag)


@given(SEEDS, st.integers(2, 12), st.floats(0.05, 1))
@settings(max_examples=150, deadline=None)
def test_a_consensus_is_acyclic_and_has_all_adjacencies(
    seed: int, n: int, threshold: float
) -> None:
    rng = np.random.default_rng(seed)
    graphs = [to_cpdag(random_dag(rng, n, 0.4)) for _ in range(int(rng.integers(1, 8)))]
    directed = np.mean([graph == 1 for graph in graphs], axis=0)
    undirected = np.mean([graph == 2 for graph in graphs], axis=0)
    dag = check_dag(consensus(directed, undirected, threshold, None))
    expected = directed + directed.T + undirected >= threshold - 1e-12
    np.testing.assert_array_equal(skeleton(dag), expected)
    marks = majority_marks(directed, undirected, threshold)
    np.testing.assert_array_equal(marks != 0, (marks != 0) & expected)


@given(SEEDS, st.integers(3, 10), st.floats(0.05, 1))
@settings(max_examples=150, deadline=None)
def test_a_consensus_keeps_knowledge_whatever_the_replicates_say(
    seed: int, n: int, threshold: float
) -> None:
    rng = np.random.default_rng(seed)
    known = random_knowledge(rng, n)
    # Shares that no replicates with this knowledge could have, except that they avoid what it
    # forbids: the worst case.
    shares = rng.random((n, n)) / 2
    shares[known.forbidden | np.eye(n, dtype=bool)] = 0
    known.check_dag(consensus(shares, np.zeros((n, n)), threshold, known))


@given(SEEDS, st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_shards_in_any_order_make_the_whole(seed: int, n_shards: int) -> None:
    from qwo.resample import bootstrap

    rng = np.random.default_rng(seed)
    data = random_table(rng, 60, 3)
    options = {"n_resamples": 7, "random_state": seed, "restarts": 0}
    whole = bootstrap(data, **options)
    shards = [bootstrap(data, shard=(k + 1, n_shards), **options) for k in range(n_shards)]
    merged = merge([shards[k] for k in rng.permutation(n_shards)])
    np.testing.assert_array_equal(merged.directed_counts, whole.directed_counts)
    np.testing.assert_array_equal(merged.undirected_counts, whole.undirected_counts)
    np.testing.assert_array_equal(merged.outcomes, whole.outcomes)
    assert (merged.status, dict(merged.params)) == (whole.status, dict(whole.params))


@given(st.integers(1, 5000), st.data())
def test_the_interval_of_a_share(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, total))
    width = half_width(count, total)
    assert 0 < width <= half_width(total / 2, total) < 1
    assert width == pytest.approx(half_width(total - count, total))


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (50, 100), (81, 263), (1, 1)])
def test_the_interval_is_wilsons(count: int, total: int) -> None:
    # Its ends are the probabilities p with (share - p)² = z² p (1 - p) / total.
    z, share = 1.959963984540054, count / total
    ends = np.roots([1 + z**2 / total, -(2 * share + z**2 / total), share**2])
    assert half_width(count, total) == pytest.approx(abs(ends[0] - ends[1]) / 2, rel=1e-12)


def test_the_interval_of_a_published_example() -> None:
    # Newcombe (1998), table I: 81 of 263 and 15 of 148, Wilson's score without continuity.
    for count, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        assert half_width(count, total) == pytest.approx((high - low) / 2, abs=6e-5)


def test_parametric_moments_are_near_those_they_come_from() -> None:
    moments = Moments.from_covariance([[4.0, 1.2], [1.2, 1.0]], n_samples=400)
    prepared = prepared_for(moments, "replacement", 0.5)
    drawn = [prepared.source.draw(3, number) for number in range(300)]
    assert {one.n_samples for one in drawn} == {200.0}
    covariance = np.mean([one.covariance for one in drawn], axis=0)
    np.testing.assert_allclose(covariance, moments.covariance * 199 / 200, rtol=0.05)


@pytest.mark.parametrize("n_rows", [40, 41])
def test_halves_of_moments_are_distributed_as_halves_of_normal_rows(n_rows: int) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(n_rows, 2)) @ np.array([[1.0, 0.8], [0.0, 1.0]])
    moments = Moments.from_data(values)
    sources = [prepared_for(data, "halves").source for data in (values, moments)]
    rows, model = (
        np.array([source.draw(1, number).covariance for number in range(1600)]).reshape(-1, 8)
        for source in sources
    )
    np.testing.assert_allclose(model.mean(axis=0), rows.mean(axis=0), rtol=0.03)
    # The halves of a cut together have what there is: one that has more leaves less to the other.
    np.testing.assert_allclose(np.corrcoef(model.T), np.corrcoef(rows.T), atol=0.15)
    assert np.corrcoef(model.T)[0, 4] < -0.85
    np.testing.assert_allclose(model.std(axis=0), rows.std(axis=0), rtol=0.25)


def test_halves_of_regularised_moments_of_few_rows_can_be_drawn() -> None:
    values = np.random.default_rng(2).normal(size=(12, 20))
    moments = Moments.from_data(values, covariance_estimator="oas")
    source = prepared_for(moments, "halves").source
    assert source.draw(0, 1).n_samples == 6
