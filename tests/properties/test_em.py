"""Maximum likelihood with missing values: the definition, closed forms and complete data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from qwo.moments.em import EmFit, fit_em
from tests.helpers.sample import sample_moments

SEEDS = st.integers(0, 2**32 - 1)
MODEST = settings(max_examples=25, deadline=None)


def sample(rng: np.random.Generator, n_rows: int, n: int) -> np.ndarray:
    return rng.standard_normal((n_rows, n)) @ (np.eye(n) + 0.4 * rng.standard_normal((n, n))) + 2.0


def incomplete(seed: int, share: float) -> np.ndarray:
    """Correlated data with holes, none of its rows empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    data = sample(rng, int(rng.integers(60, 150)), n)
    data[rng.random(data.shape) < share] = np.nan
    return data[~np.isnan(data).all(axis=1)]


def covariance(fit: EmFit) -> np.ndarray:
    return fit.moments.correlation * np.outer(fit.moments.scales, fit.moments.scales)


def loglik(data: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> float:
    """The log-likelihood of the values that are there, row by row: the definition."""
    total = 0.0
    for row in data:
        seen = np.isfinite(row)
        total += multivariate_normal(means[seen], covariances[np.ix_(seen, seen)]).logpdf(row[seen])
    return total


@MODEST
@given(SEEDS, st.floats(0.01, 0.35))
def test_the_likelihood_never_falls(seed, share):
    fit = fit_em(incomplete(seed, share))
    assert np.diff(fit.loglik).min(initial=0.0) >= -1e-9 * np.abs(fit.loglik).max()


@MODEST
@given(SEEDS, st.floats(0.01, 0.25))
def test_the_likelihood_is_that_of_the_definition(seed, share):
    data = incomplete(seed, share)
    fit = fit_em(data)
    # The last value was taken on the scale of standardised columns, within the last step.
    units = np.log(np.nanstd(data, axis=0)) @ np.isfinite(data).sum(axis=0)
    expected = loglik(data, fit.moments.means, covariance(fit))
    assert fit.loglik[-1] - units == pytest.approx(expected, rel=1e-7)


@settings(max_examples=4, deadline=None)
@example(2046)  # nearly singular
@given(SEEDS)
def test_the_likelihood_is_stationary(seed):
    data = incomplete(seed, 0.15)[:, :3]
    data = data[~np.isnan(data).all(axis=1)]
    fit = fit_em(data)
    n = data.shape[1]
    lower = np.tril_indices(n)
    factor = np.linalg.cholesky(covariance(fit))

    def at(parameters: np.ndarray) -> float:
        matrix = np.zeros((n, n))
        matrix[lower] = parameters[n:]
        return loglik(data, parameters[:n], matrix @ matrix.T) / len(data)

    best = np.concatenate([fit.moments.means, factor[lower]])
    # Central differences: the curvature of a nearly singular estimate is no slope.
    steps = 1e-6 * np.eye(len(best))
    slope = [(at(best + step) - at(best - step)) / 2e-6 for step in steps]
    assert np.abs(slope).max() < 1e-4


@MODEST
@given(SEEDS)
def test_complete_data_give_the_closed_form(seed):
    data = incomplete(seed, 0.0)
    fit = fit_em(data)
    plain = sample_moments(data)
    np.testing.assert_allclose(fit.moments.correlation, plain.correlation, atol=1e-12)
    np.testing.assert_allclose(fit.moments.means, plain.means, rtol=1e-10)
    np.testing.assert_allclose(fit.moments.scales, plain.scales, rtol=1e-12)
    assert fit.moments.n_samples == pytest.approx(len(data))


@MODEST
@given(SEEDS)
def test_a_monotone_pattern_gives_the_closed_form(seed):
    """Anderson 1957: the regression of the incomplete columns on the complete ones."""
    rng = np.random.default_rng(seed)
    data = sample(rng, 120, 4)
    data[80:, 2:] = np.nan
    fit = fit_em(data)
    x, y = data[:, :2], data[:80, 2:]
    means, spread = x.mean(axis=0), np.cov(x.T, bias=True)
    both = np.cov(data[:80].T, bias=True)
    slopes = np.linalg.solve(both[:2, :2], both[:2, 2:])
    rest = both[2:, 2:] - both[2:, :2] @ slopes
    expected = np.block(
        [[spread, spread @ slopes], [slopes.T @ spread, rest + slopes.T @ spread @ slopes]]
    )
    centre = np.concatenate([means, y.mean(axis=0) + (means - x[:80].mean(axis=0)) @ slopes])
    np.testing.assert_allclose(covariance(fit), expected, atol=1e-5 * np.diag(expected).max())
    np.testing.assert_allclose(fit.moments.means, centre, atol=1e-5)


@MODEST
@given(SEEDS)
def test_units_and_order_change_nothing_else(seed):
    data = incomplete(seed, 0.1)
    rng = np.random.default_rng(seed)
    factors = 10.0 ** rng.uniform(-90, 90, data.shape[1])
    rows = rng.permutation(len(data))
    columns = rng.permutation(data.shape[1])
    plain, other = fit_em(data), fit_em((data * factors)[rows][:, columns])
    np.testing.assert_allclose(
        other.moments.correlation, plain.moments.correlation[np.ix_(columns, columns)], atol=1e-6
    )
    np.testing.assert_allclose(
        other.moments.scales, (plain.moments.scales * factors)[columns], rtol=1e-6
    )
    assert other.moments.n_samples == pytest.approx(plain.moments.n_samples, rel=1e-5)


@MODEST
@given(SEEDS, st.floats(0.02, 0.2))
def test_the_effective_size_lies_between_complete_rows_and_all_rows(seed, share):
    data = incomplete(seed, share)
    complete = int(np.isfinite(data).all(axis=1).sum())
    size = fit_em(data).moments.n_samples
    assert complete - 1e-6 <= size <= len(data) + 1e-6


def test_false_edges_are_as_rare_as_the_effective_size_says():
    """Squared partial correlations that are truly zero have mean 1 / effective size."""
    rng = np.random.default_rng(0)
    squares, sizes = [], []
    for _ in range(60):
        # X0 → X1 → … → X5: all pairs but neighbours are independent given the rest.
        data = rng.standard_normal((400, 6))
        for k in range(1, 6):
            data[:, k] += 0.8 * data[:, k - 1]
        data[rng.random(data.shape) < 0.2] = np.nan
        fit = fit_em(data[~np.isnan(data).all(axis=1)])
        precision = np.linalg.inv(fit.moments.correlation)
        partial = precision / np.sqrt(np.outer(np.diag(precision), np.diag(precision)))
        squares.append((partial[np.triu_indices(6, 2)] ** 2).mean())
        sizes.append(fit.moments.n_samples)
    implied = 1 / np.mean(squares)
    assert np.mean(sizes) == pytest.approx(implied, rel=0.25)
    assert np.mean(sizes) < 300  # 400 · 0.8 = 320 values in each column


def test_a_step_that_is_too_long_is_taken_back(monkeypatch):
    data = incomplete(5, 0.2)
    right = fit_em(data)

    def far_away(*points):
        last = points[-1]
        return type(last)(last.means + 3.0, last.covariance * 4.0)

    monkeypatch.setattr("qwo.moments.em._extrapolated", far_away)
    slow = fit_em(data)
    assert len(slow.loglik) > len(right.loglik)
    assert np.diff(slow.loglik).min() >= -1e-9 * np.abs(slow.loglik).max()
    np.testing.assert_allclose(slow.moments.correlation, right.moments.correlation, atol=1e-5)


def test_many_rows_with_few_patterns_agree_with_one_chunk_for_each(monkeypatch):
    rng = np.random.default_rng(3)
    data = sample(rng, 300, 4)
    data[:100, 0] = np.nan
    data[100:200, 1:3] = np.nan
    whole = fit_em(data)
    monkeypatch.setattr("qwo.moments.em.CHUNK_ENTRIES", 8)
    monkeypatch.setattr("qwo.moments.em.CHUNK_ENTRIES", 8)
    cut = fit_em(data)
    np.testing.assert_allclose(cut.moments.correlation, whole.moments.correlation, atol=1e-12)
    assert math.isclose(cut.moments.n_samples, whole.moments.n_samples, rel_tol=1e-9)
