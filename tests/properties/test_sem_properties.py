"""What holds of every linear model: equivalence, units, path sums, derivatives, sampling.

Models are drawn from a seed, so that a failing example is one number.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from qwo.graph import enumerate_dags, to_cpdag
from qwo.moments import Moments
from qwo.sem import fit_sem, ida, score_graph, total_effects
from tests.oracles.random_models import model_covariance, random_covariance, random_dag

random_cases = given(n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
few = settings(max_examples=40, deadline=None, derandomize=True)


def draw(n, seed):
    """A generator, moments that no sparse model fits exactly, and a DAG."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal(n)
    moments = Moments.from_covariance(random_covariance(rng, n), 50 + n, means=means)
    return rng, moments, random_dag(rng, n)


@random_cases
@few
def test_equivalent_dags_have_the_same_fit(n, seed):
    _, moments, dag = draw(n, seed)
    cpdag = to_cpdag(dag)
    first = fit_sem(moments, dag)
    for member in enumerate_dags(cpdag, limit=5):
        sem = fit_sem(moments, member)
        np.testing.assert_allclose(sem.implied_covariance(), first.implied_covariance(), atol=1e-10)
        assert math.isclose(sem.fit.log_likelihood, first.fit.log_likelihood, rel_tol=1e-10)
        assert math.isclose(
            score_graph(moments, member).score, score_graph(moments, cpdag).score, abs_tol=1e-8
        )


@random_cases
@few
def test_the_likelihood_is_that_of_the_implied_covariance(n, seed):
    _, moments, dag = draw(n, seed)
    sem = fit_sem(moments, dag)
    implied = sem.implied_covariance()
    sign, log_det = np.linalg.slogdet(implied)
    trace = np.trace(moments.covariance @ np.linalg.inv(implied))
    expected = -moments.n_samples / 2 * (n * math.log(2 * math.pi) + log_det + trace)
    assert sign == 1
    assert math.isclose(sem.fit.log_likelihood, expected, rel_tol=1e-10)
    rows = sem.sample(4, seed)
    densities = multivariate_normal(sem.implied_means, implied).logpdf(rows)
    np.testing.assert_allclose(sem.log_likelihood(rows), densities, rtol=1e-8, atol=1e-8)


@random_cases
@few
def test_the_implied_covariance_agrees_with_the_sample_along_edges(n, seed):
    """Each variable keeps its covariances with its parents as far as theirs are kept."""
    _, moments, dag = draw(n, seed)
    sem = fit_sem(moments, dag)
    b = sem.coefficients
    mixing = np.linalg.inv(np.eye(n) - b)
    expected = mixing.T @ np.diag(sem.residual_variances) @ mixing
    np.testing.assert_allclose(sem.implied_covariance(), expected, rtol=1e-10, atol=1e-12)
    # Normal equations: residuals are uncorrelated with the parents in the sample.
    residual_covariance = moments.covariance @ (np.eye(n) - b)
    np.testing.assert_allclose(residual_covariance[dag == 1], 0, atol=1e-12)


@random_cases
@few
def test_units_do_not_matter(n, seed):
    rng, moments, dag = draw(n, seed)
    units = 10.0 ** rng.uniform(-100, 100, n)
    scaled = Moments(
        moments.names,
        moments.n_samples,
        moments.means * units,
        moments.scales * units,
        moments.correlation,
    )
    plain, large = fit_sem(moments, dag), fit_sem(scaled, dag)
    for one, other in zip(plain.edges, large.edges, strict=True):
        assert (one.t, one.p_value, one.standardized) == (
            other.t,
            other.p_value,
            other.standardized,
        )
    ratio = units / units[:, None]
    np.testing.assert_allclose(large.coefficients, plain.coefficients * ratio, rtol=1e-12)
    np.testing.assert_allclose(
        total_effects(large).standard_errors,
        total_effects(plain).standard_errors * ratio,
        rtol=1e-10,
    )
    for field in ("chi_square", "cfi", "rmsea", "srmr"):
        assert getattr(plain.fit, field) == getattr(large.fit, field)
    assert score_graph(moments, dag).score == score_graph(scaled, dag).score


@random_cases
@few
def test_total_effects_are_sums_over_paths(n, seed):
    _, moments, dag = draw(n, seed)
    sem = fit_sem(moments, dag)
    power, paths = np.eye(n), np.eye(n)
    for _ in range(n):
        power = power @ sem.coefficients
        paths += power
    np.testing.assert_allclose(total_effects(sem).estimates, paths, rtol=1e-9, atol=1e-12)


@given(n=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
@few
def test_standard_errors_of_total_effects_are_the_delta_method(n, seed):
    """The gradient by central differences, with the covariance matrix of each equation."""
    _, moments, dag = draw(n, seed)
    sem = fit_sem(moments, dag)
    variance = np.zeros((n, n))
    for v in range(n):
        parents = np.flatnonzero(dag[:, v])
        block = np.linalg.inv(moments.covariance[np.ix_(parents, parents)])
        block *= sem.nodes[v].unbiased_variance / moments.n_samples
        gradient = [_derivative(sem.coefficients, p, v) for p in parents]
        for i, first in enumerate(gradient):
            for j, second in enumerate(gradient):
                variance += first * second * block[i, j]
    errors = total_effects(sem).standard_errors
    np.testing.assert_allclose(errors, np.sqrt(np.maximum(variance, 0)), rtol=1e-5, atol=1e-8)


def _derivative(coefficients, i, j, step=1e-5):
    """∂(I - B)⁻¹ / ∂B[i, j]."""
    change = np.zeros_like(coefficients)
    change[i, j] = step
    eye = np.eye(len(coefficients))
    ahead = np.linalg.inv(eye - coefficients - change)
    behind = np.linalg.inv(eye - coefficients + change)
    return (ahead - behind) / (2 * step)


@random_cases
@few
def test_a_larger_dag_never_fits_worse(n, seed):
    rng, moments, dag = draw(n, seed)
    smaller = dag * (rng.random((n, n)) < 0.7)
    full, part = fit_sem(moments, dag).fit, fit_sem(moments, smaller).fit
    assert full.log_likelihood >= part.log_likelihood - 1e-8
    assert full.chi_square <= part.chi_square + 1e-8
    assert part.df - full.df == dag.sum() - smaller.sum()
    low, high = full.rmsea_interval
    assert low <= full.rmsea <= high
    assert 0 <= full.cfi <= 1


@random_cases
@few
def test_the_truth_fits_exact_moments(n, seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n)
    exact = Moments.from_covariance(model_covariance(rng, dag), None)
    sem = fit_sem(exact, dag)
    np.testing.assert_allclose(sem.implied_covariance(), exact.covariance, rtol=1e-9, atol=1e-9)
    assert sem.fit.rmsea < 1e-5
    assert sem.fit.srmr < 1e-10


@random_cases
@few
def test_the_effect_in_a_dag_is_among_those_of_its_class(n, seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n)
    exact = Moments.from_covariance(model_covariance(rng, dag), None)
    truth = total_effects(fit_sem(exact, dag))
    x, y = rng.permutation(n)[:2].tolist()
    possible = ida(exact, to_cpdag(dag), x, y).estimates
    assert np.abs(possible - truth.estimates[x, y]).min() < 1e-8
