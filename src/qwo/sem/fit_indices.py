"""How well a linear Gaussian model on a DAG fits: likelihood, information criteria, fit indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chndtr, chndtrinc

from qwo.columns.recipes import Coding
from qwo.errors import InputError
from qwo.inspection.findings import PivotedCholesky
from qwo.moments import Moments
from qwo.sem.regression import Regression
from qwo.types import FloatArray


@dataclass(frozen=True, slots=True)
class ModelFit:
    """Likelihood and fit indices of a model with q edges on n variables and N samples.

    The model is compared with the saturated one, whose covariance matrix is the sample's, and with
    the empty one, whose variables are independent. F = log|Σ̂| - log|S| + tr(S Σ̂⁻¹) - n is the
    discrepancy of implied and sample covariance matrix; at the maximum the trace is n.

    Attributes
    ----------
    log_likelihood : float
        Maximum of the Gaussian log-likelihood ℓ, with all constants.
    n_parameters : int
        q + 2n: coefficients, intercepts and residual variances.
    aic, bic : float
        2k - 2ℓ and k log N - 2ℓ for k parameters; lower is better.
    chi_square, df, p_value : float
        N · F with n(n - 1)/2 - q degrees of freedom, one for each edge that is absent: the
        likelihood ratio against the saturated model. The p-value is NaN where there are none.
    cfi : float
        Comparative fit index 1 - δ / max(δ₀, δ), where δ = max(F - df / N, 0) and δ₀ is that of
        the empty model.
    rmsea : float
        Root mean square error of approximation √(δ / df); 0 where df is 0.
    rmsea_interval : (float, float)
        Its 90 % confidence interval, by the noncentral χ² distribution.
    srmr : float
        Standardised root mean square residual: the root of the mean square of (s_ij - σ̂_ij) /
        √(s_ii s_jj) over i ≤ j.

    Notes
    -----
    The sample size enters as N, not as N - 1; programs differ in this. Variables without parents
    are independent of each other, as the DAG says; other programs may by default let them
    correlate. With N = ∞ the likelihood, the criteria and χ² are NaN, the indices are those of the
    population. With N ≤ n the saturated likelihood is infinite: χ² and what follows from it is NaN.
    """

    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    chi_square: float
    df: int
    p_value: float
    cfi: float
    rmsea: float
    rmsea_interval: tuple[float, float]
    srmr: float


def model_fit(
    moments: Moments,
    equations: Sequence[Regression],
    implied_correlation: FloatArray,
    coding: Coding,
) -> ModelFit:
    """The fit of the model with these equations, one for each variable.

    In the empty model the columns of a variable are correlated, where some have several.
    """
    n, n_samples = moments.n_variables, moments.n_samples
    n_edges = sum(len(equation.predictors) for equation in equations)
    n_parameters = n_edges + 2 * n
    df_empty = n * (n - 1) // 2
    df = df_empty - n_edges
    likelihood = log_likelihood(moments, equations)
    log_det = _log_determinant(moments.correlation)
    # Rounding can leave a saturated model a hair better than saturated.
    discrepancy = float(np.maximum(log_residual_variance(equations) - log_det, 0.0))
    excess = _excess(discrepancy, df, n_samples)
    within, inner = within_blocks(moments, coding)
    empty = _excess(within - log_det, df_empty - inner, n_samples)
    excess_empty = float(np.maximum(empty, excess))
    chi_square = math.nan if moments.is_oracle else n_samples * discrepancy
    return ModelFit(
        log_likelihood=likelihood,
        n_parameters=n_parameters,
        aic=2 * n_parameters - 2 * likelihood,
        bic=bic(likelihood, n_parameters, n_samples),
        chi_square=chi_square,
        df=df,
        p_value=float(chdtrc(df, chi_square)) if df else math.nan,
        cfi=1.0 if excess_empty == 0 else 1.0 - excess / excess_empty,
        rmsea=math.sqrt(excess / df) if df else 0.0,
        rmsea_interval=_rmsea_interval(discrepancy, df, n_samples),
        srmr=_srmr(moments.correlation, implied_correlation),
    )


def within_blocks(moments: Moments, coding: Coding) -> tuple[float, int]:
    """The log determinants of the blocks of columns, and how many pairs of columns they have."""
    blocks = [coding.columns_of([v]) for v in np.flatnonzero(coding.sizes > 1).tolist()]
    log_dets = [np.linalg.slogdet(moments.correlation[np.ix_(own, own)])[1] for own in blocks]
    return float(sum(log_dets)), sum(len(own) * (len(own) - 1) // 2 for own in blocks)


def log_residual_variance(equations: Sequence[Regression]) -> float:
    """Σ_v log σ̂²_v over the standardised variables: log|Σ̂| on the correlation scale."""
    return float(np.log([equation.residual_variance for equation in equations]).sum())


def log_likelihood(moments: Moments, equations: Sequence[Regression]) -> float:
    """-N/2 Σ_v (log 2π σ̂²_v + 1), in the units of the data; NaN for N = ∞."""
    if moments.is_oracle:
        return math.nan
    log_variances = log_residual_variance(equations) + 2 * float(np.log(moments.scales).sum())
    constant = moments.n_variables * (math.log(2 * math.pi) + 1)
    return -moments.n_samples / 2 * (log_variances + constant)


def bic(likelihood: float, n_parameters: int, n_samples: float) -> float:
    """The Bayesian information criterion k log N - 2ℓ; lower is better."""
    return n_parameters * math.log(n_samples) - 2 * likelihood


def _log_determinant(correlation: FloatArray) -> float:
    """log|R|; NaN where R is numerically singular."""
    cholesky = PivotedCholesky.of(correlation)
    if cholesky.rank < len(correlation):
        return math.nan
    return 2 * float(np.log(cholesky.factor.diagonal()).sum())


def _excess(discrepancy: float, df: int, n_samples: float) -> float:
    """δ: the discrepancy beyond what chance brings, per sample."""
    return float(np.maximum(discrepancy - df / n_samples, 0.0))


def _rmsea_interval(discrepancy: float, df: int, n_samples: float) -> tuple[float, float]:
    """The 90 % interval √(λ / (N df)), where χ² is at the 95 % and 5 % points of χ²(df, λ)."""
    if df == 0:
        return 0.0, 0.0
    if math.isinf(n_samples) or math.isnan(discrepancy):
        exact = math.sqrt(discrepancy / df)
        return exact, exact
    chi_square = n_samples * discrepancy
    # The distribution function falls as λ grows: without a root the bound is at λ = 0.
    low, high = (
        float(chndtrinc(chi_square, df, level)) if chndtr(chi_square, df, 0) > level else 0.0
        for level in (0.95, 0.05)
    )
    return math.sqrt(low / (n_samples * df)), math.sqrt(high / (n_samples * df))


def _srmr(sample: FloatArray, implied: FloatArray) -> float:
    """Root mean square of the residual correlations, the diagonal included."""
    square = np.square(sample - implied)
    n = len(square)
    total = (square.sum() + square.trace()) / 2
    return math.sqrt(total / (n * (n + 1) / 2))


def row_log_likelihood(
    moments: Moments, equations: Sequence[Regression], rows: FloatArray
) -> FloatArray:
    """The log-density of each row: the sum over variables of that given their parents."""
    moments.require_seen("the likelihood of rows")
    if np.isnan(moments.means).any():
        raise InputError(
            "the model was fitted to moments without means, so that rows have no likelihood; fit "
            "it to data, or pass Moments.from_covariance(…, means=…)"
        )
    scores = np.asfortranarray((rows - moments.means) / moments.scales)
    distance = np.zeros(len(rows))
    constant = moments.n_variables * math.log(2 * math.pi)
    for equation in equations:
        explained = scores[:, equation.predictors] @ equation.slopes
        residual = scores[:, equation.target] - explained
        distance += np.square(residual) / equation.residual_variance
        constant += math.log(equation.residual_variance)
        constant += 2 * math.log(moments.scales[equation.target])
    return -(distance + constant) / 2
