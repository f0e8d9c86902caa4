"""Least squares from moments, and variables that are blocks of columns.

With R the correlation matrix, P the predictors and R_PP = L Lᵀ, the standardised slopes of y are
R_PP⁻¹ R_Py, its residual variance is σ² = 1 - |L⁻¹ R_Py|², and the covariance matrix of the slopes
is σ² R_PP⁻¹ / (N - k - 1) for k predictors: ordinary least squares with an intercept, exactly.
In the units of the data a slope is s_y / s_x times as large. N = ∞ makes every error 0.

A category enters an equation as the indicators of its levels but the first, so that the coefficient
of ``race=black`` is how much higher the effect is for black than for the reference. Where the
effect is a category itself, each of its levels but the first has an equation of its own:
coefficients are differences of probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.special import chdtrc, stdtr

from qwo.columns.recipes import Coding
from qwo.errors import (
    ColumnNameError,
    CovarianceError,
    Cure,
    LinearDependenceError,
    SampleSizeError,
    list_names,
)
from qwo.inspection.findings import TOLERANCE
from qwo.moments import Moments
from qwo.names import Variable, as_column
from qwo.order.blocks import BlockScore
from qwo.types import Adjacency, FloatArray, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Least squares of one standardised variable on k others; all by column number.

    ``errors`` are those of the slopes, ``intercept_error`` is in standard deviations of the target,
    ``residual_variance`` σ² with divisor N, ``df`` N - k - 1.
    """

    target: int
    predictors: Indices
    slopes: FloatArray
    errors: FloatArray
    intercept_error: float
    residual_variance: float
    df: float


def regress(moments: Moments, target: int, predictors: Indices) -> Regression:
    """The regression of a variable on others, which must be independent and leave it a rest."""
    correlation, centres = moments.correlation, moments.means / moments.scales
    label = repr(moments.names[target])
    df = residual_df(moments, label, predictors)
    if len(predictors) == 0:
        none = np.empty(0)
        error = float(np.sqrt(1.0 / df))
        return Regression(target, predictors, none, none, error, 1.0, df)
    inverse = inverse_factor(moments, label, predictors)
    half = inverse @ correlation[predictors, target]
    variance = float(1.0 - half @ half)
    if variance <= TOLERANCE:
        names = [moments.names[p] for p in predictors]
        raise LinearDependenceError(
            f"{label} is determined exactly by {list_names(names)}, so that its residual variance "
            f"is 0 and its likelihood infinite; leave out {label} or one of the others",
            [moments.names[target], *names],
        )
    unit = variance / df
    leverage = float(np.square(inverse @ centres[predictors]).sum())
    return Regression(
        target=target,
        predictors=predictors,
        slopes=inverse.T @ half,
        errors=np.sqrt(unit * np.square(inverse).sum(axis=0)),
        intercept_error=float(np.sqrt(unit * (1.0 + leverage))),
        residual_variance=variance,
        df=df,
    )


LARGEST_SCALE = 1e150
"""Of standard deviations: their squares and ratios stay within the range of numbers."""


def check_units(moments: Moments) -> None:
    """Refuse units in which variances or slopes would be 0, infinite or undefined."""
    odd = (moments.scales > LARGEST_SCALE) | (moments.scales < 1 / LARGEST_SCALE)
    if odd.any():
        columns = [moments.names[v] for v in np.flatnonzero(odd)]
        size = float(moments.scales[odd][0])
        raise CovarianceError(
            f"{list_names(columns)}: standard deviations such as {size:.3g} are too large or too "
            f"small to compute variances and slopes with; wanted {1 / LARGEST_SCALE:g} to "
            f"{LARGEST_SCALE:g}",
            columns,
            [Cure("transform", "standardize", "measures in standard deviations")],
        )


class PartialSlopes(NamedTuple):
    """Slopes of many targets on one predictor, and their errors, in the units of the data."""

    slopes: FloatArray
    errors: FloatArray
    df: float


def partial_slopes(
    moments: Moments, cause: int, adjust: Sequence[int], targets: Indices
) -> PartialSlopes:
    """The slope on ``cause`` in the regression of each target on it and ``adjust``.

    With the cause in the last place, its slope is the last entry of L⁻¹ R_Py divided by that of L:
    one factorisation and one product for all targets together.
    """
    check_units(moments)
    predictors = np.array([*adjust, cause], dtype=np.intp)
    label = repr(moments.names[targets[0]]) if len(targets) == 1 else "other variables"
    df = residual_df(moments, label, predictors)
    inverse = inverse_factor(moments, label, predictors)
    half = inverse @ moments.correlation[np.ix_(predictors, targets)]
    variance = np.maximum(1.0 - np.square(half).sum(axis=0), 0.0)
    units = moments.scales[targets] / moments.scales[cause] * inverse[-1, -1]
    return PartialSlopes(half[-1] * units, np.sqrt(variance / df) * units, df)


def residual_df(moments: Moments, target: str, predictors: Indices) -> float:
    """N - k - 1, once it is positive."""
    df = moments.n_samples - len(predictors) - 1
    if df <= 0:
        names = [moments.names[p] for p in predictors]
        raise SampleSizeError(
            f"the regression of {target} on {len(names)} variables ({list_names(names)}) needs "
            f"more than {len(names) + 1} samples; got {moments.n_samples:g}. Leave some of them "
            "out, or give more data",
            names,
        )
    return df


def inverse_factor(moments: Moments, target: str, predictors: Indices) -> FloatArray:
    """L⁻¹, lower triangular, where R_PP = L Lᵀ."""
    # The matrix is symmetric, so that its transpose, which LAPACK need not copy, is as good.
    matrix = moments.correlation[np.ix_(predictors, predictors)].T
    factor, info = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
    if info != 0 or np.square(factor.diagonal()).min(initial=1.0) <= TOLERANCE:
        names = [moments.names[p] for p in predictors]
        raise LinearDependenceError(
            f"the regression of {target} has linearly dependent predictors, {list_names(names)}, "
            "so that its coefficients are not determined; leave one of them out",
            names,
        )
    inverse: FloatArray = lapack.dtrtri(factor, lower=1, overwrite_c=1)[0]
    return inverse


class TTest(NamedTuple):
    """Estimates in units of their standard errors, and two-sided p-values."""

    statistic: FloatArray
    p_value: FloatArray


def t_test(estimates: npt.ArrayLike, errors: npt.ArrayLike, df: npt.ArrayLike) -> TTest:
    """Student's test that each estimate is 0; NaN where the error is 0, so that nothing is random.

    Infinite degrees of freedom stand for the normal distribution.
    """
    size, error = np.asarray(estimates, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    statistic = np.divide(size, error, out=np.full(size.shape, np.nan), where=error > 0)
    return TTest(statistic, 2.0 * stdtr(np.asarray(df, dtype=np.float64), -np.abs(statistic)))


class JointTest(NamedTuple):
    """The test of all coefficients of an edge together, by the χ² distribution.

    ``strength`` is what the edge adds to twice the log-likelihood, given the other parents; ``df``
    its number of coefficients.
    """

    cause: str
    effect: str
    strength: float
    df: int
    p_value: float


def edge_tests(moments: Moments, dag: Adjacency) -> tuple[JointTest, ...]:
    """The joint test of each edge of a DAG on the variables, by effect and then by cause."""
    score = BlockScore(moments)
    found = []
    for v in range(moments.n_variables):
        parents = np.flatnonzero(dag[:, v]).tolist()
        whole = score.log_det(v, parents)
        for u in parents:
            without = score.log_det(v, [p for p in parents if p != u])
            strength = moments.n_samples * (without - whole)
            df = int(score.sizes[u] * score.sizes[v])
            ends = moments.names[u], moments.names[v]
            found.append(JointTest(*ends, strength, df, float(chdtrc(df, strength))))
    return tuple(found)


def contrast(names: Sequence[str], coding: Coding, variable: Variable, role: str) -> int:
    """The column that a variable, or a contrast such as ``race=black``, stands for."""
    labels = coding.labels(names)
    if isinstance(variable, str) and variable not in names and variable in labels:
        return labels.index(variable)
    known = names if variable in names or not isinstance(variable, str) else (*names, *labels)
    v = as_column(tuple(dict.fromkeys(known)), variable, role)
    own = coding.columns_of([v]).tolist()
    if len(own) > 1:
        reference = coding.variables[v].levels[0]
        raise ColumnNameError(
            f"{role}: {names[v]!r} is a category with {len(own) + 1} levels; wanted one of its "
            f"contrasts against {reference!r}: {list_names(labels[c] for c in own)}",
            [names[v]],
        )
    return int(own[0])


def contrasts(
    names: Sequence[str], coding: Coding, cause: Variable, effect: Variable
) -> tuple[int, int]:
    """The columns of two different variables, or contrasts of them."""
    x, y = contrast(names, coding, cause, "cause"), contrast(names, coding, effect, "effect")
    if coding.owners[x] == coding.owners[y]:
        name = names[int(coding.owners[x])]
        raise ColumnNameError(f"cause and effect are both {name!r}; wanted two variables", [name])
    return x, y


def siblings(coding: Coding, column: int) -> list[int]:
    """The other columns of the variable that a column belongs to."""
    owners = coding.owners
    return [c for c in np.flatnonzero(owners == owners[column]).tolist() if c != column]
