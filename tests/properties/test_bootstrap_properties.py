"""Weights of rows give the moments of the rows; the consensus is a DAG that keeps knowledge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qwo.graph import check_dag, to_cpdag
from qwo.graph.dag import skeleton
from qwo.moments import Moments
from qwo.moments.covariance import sample_moments
from qwo.resample.consensus import consensus, majority_marks
from qwo.resample.merging import merge
from qwo.resample.preparation import prepare
from qwo.resample.tally import half_width
from qwo.resample.weighted import draw_weights, weighted_moments
from qwo.resample.wishart import draw_scatter, square_root
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import random_dag

SEEDS = st.integers(0, 2**32 - 1)


def random_table(rng: np.random.Generator, n_rows: int, n: int) -> np.ndarray:
    mixing = rng.normal(size=(n, n)) / np.sqrt(n) + np.eye(n)
    offset, scale = 10 * rng.normal(size=n), np.exp(3 * rng.normal(size=n))
    return (rng.normal(size=(n_rows, n)) @ mixing + offset) * scale


@given(SEEDS, st.integers(12, 700), st.integers(2, 6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_weights_give_the_moments_of_the_rows(
    seed: int, n_rows: int, n: int, replace: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = random_table(rng, n_rows, n)
    size = n_rows if replace else n_rows // 2
    prepared = prepare(
        values,
        sample_fraction=size / n_rows,
        replace=replace,
        estimator="plain",
        missing="raise",
    )
    weights = draw_weights(np.random.default_rng(seed), n_rows, size, replace=replace)
    assert weights.sum() == size
    assert replace or weights.max() == 1
    assume(np.count_nonzero(weights) > n)
    drawn = prepared.source.draw(np.random.default_rng(seed))
    rows = sample_moments(np.repeat(values, weights, axis=0))
    assert drawn.n_samples == rows.n_samples == size
    np.testing.assert_allclose(drawn.correlation, rows.correlation, rtol=0, atol=1e-10)
    np.testing.assert_allclose(drawn.scales, rows.scales, rtol=1e-10)
    np.testing.assert_allclose(drawn.means, rows.means, rtol=0, atol=1e-10 * rows.scales.max())


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


def test_parametric_moments_are_near_those_they_come_from() -> None:
    moments = Moments.from_covariance([[4.0, 1.2], [1.2, 1.0]], n_samples=400)
    prepared = prepare(
        moments, sample_fraction=0.5, replace=True, estimator="plain", missing="raise"
    )
    drawn = [prepared.source.draw(np.random.default_rng(k)) for k in range(300)]
    assert {one.n_samples for one in drawn} == {200.0}
    covariance = np.mean([one.covariance for one in drawn], axis=0)
    np.testing.assert_allclose(covariance, moments.covariance * 199 / 200, rtol=0.05)
