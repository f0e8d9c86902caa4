"""Causal effects in a linear model: direct, total, and by adjustment.

With B[i, j] the coefficient of i → j, entry (x, y) of T = (I - B)⁻¹ sums the products of
coefficients over all directed paths from x to y: the change of y when x is set one unit higher.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Unpack

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import stdtrit

from qwo.arguments import ReadArguments
from qwo.errors import ArgumentError, ColumnNameError, list_names
from qwo.graph.cpdag import descendants_given, to_cpdag
from qwo.graph.dag import descendants, topological_order
from qwo.moments import Moments, as_moments
from qwo.names import Variable, as_column, as_pair
from qwo.options import SHARE
from qwo.sem.linear_sem import LinearSem
from qwo.sem.regression import (
    Regression,
    contrasts,
    inverse_factor,
    partial_slopes,
    siblings,
    t_test,
)
from qwo.types import FloatArray

DOUBT = 0.001
"""p-values below this of an effect that the graph denies are worth a word."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An estimated effect of one variable on another, in the units of the data.

    Attributes
    ----------
    cause, effect : str
        The variables.
    estimate, standard_error : float
        The effect of one unit of the cause. The error is 0 where the graph alone makes the effect
        0, and where moments are exact (N = ∞); there is nothing to test then.
    df : float
        Degrees of freedom of Student's t distribution; infinite for the normal distribution.
    note : str
        What else is to be known: that the graph has no path, that the data speak against it, or
        that other DAGs of its class have other effects.
    """

    cause: str
    effect: str
    estimate: float
    standard_error: float
    df: float = math.inf
    note: str = ""

    @property
    def statistic(self) -> float:
        """The estimate in units of its standard error (t, or z with infinite df)."""
        return float(t_test(self.estimate, self.standard_error, self.df).statistic)

    @property
    def p_value(self) -> float:
        """Two-sided p-value for the hypothesis of no effect."""
        return float(t_test(self.estimate, self.standard_error, self.df).p_value)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of a level between 0 and 1."""
        SHARE.checked("level", level)
        margin = float(stdtrit(self.df, (1 + level) / 2)) * self.standard_error
        return self.estimate - margin, self.estimate + margin

    def __float__(self) -> float:
        return self.estimate

    def __str__(self) -> str:
        return f"{self.cause} → {self.effect}: {self.sized()}"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.cause)} → {escape(self.effect)}</b>: {escape(self.sized())}</p>"

    def sized(self) -> str:
        """The estimate with its interval, p-value and note, without the names."""
        stated = f"{self.estimate:.4g}"
        if self.standard_error > 0:
            low, high = self.interval()
            stated += f", 95 % [{low:.4g}, {high:.4g}], p = {self.p_value:.3g}"
        elif not self.note:
            stated += ", exactly"
        return f"{stated} ({self.note})" if self.note else stated


@dataclass(frozen=True, slots=True, eq=False)
class EffectMatrix:
    """Total effects of all variables on all variables.

    Attributes
    ----------
    names : tuple of str
        The variables.
    estimates, standard_errors : ndarray of shape (n, n)
        Entry (x, y) belongs to the effect of x on y; the diagonal is 1 with error 0.
    """

    names: tuple[str, ...]
    estimates: FloatArray
    standard_errors: FloatArray

    def effect(self, cause: Variable, effect: Variable) -> Effect:
        """The entry of two variables, by name or column number."""
        x, y = as_pair(self.names, cause, effect)
        size, error = float(self.estimates[x, y]), float(self.standard_errors[x, y])
        return Effect(self.names[x], self.names[y], size, error)


def direct_effect(sem: LinearSem, cause: Variable, effect: Variable) -> Effect:
    """The coefficient of the edge cause → effect; 0 with error 0 where there is no such edge."""
    x, y = _ends(sem, cause, effect)
    size, error = float(sem.coefficients[x, y]), float(sem.standard_errors[x, y])
    note = "" if sem.dag[x, y] else "there is no such edge in this DAG"
    return Effect(sem.names[x], sem.names[y], size, error, sem.equations[y].df, note)


def total_effect(sem: LinearSem, cause: Variable, effect: Variable) -> Effect:
    """T[x, y]: the sum over directed paths of the products of their coefficients.

    The standard error is that of the delta method. ∂T[x, y]/∂B[i, j] = T[x, i] T[j, y], and the
    coefficients of different equations are uncorrelated, so that the variance is
    Σ_j T[j, y]² · t_jᵀ V_j t_j, with V_j the covariance matrix of the coefficients into j and t_j
    the entries T[x, i] of its parents i. For one path of two edges this is Sobel's formula.
    The test is normal. Time is linear in the edges, for parents few in number.

    Parameters
    ----------
    sem : LinearSem
        The model.
    cause, effect : str or int
        Variables by name or column number; contrasts of categories such as ``"race=black"``.
    """
    x, y = _ends(sem, cause, effect)
    equations = [sem.equations[j] for j in topological_order(sem.dag)]
    from_cause, to_effect = np.zeros(sem.n_variables), np.zeros(sem.n_variables)
    from_cause[x] = to_effect[y] = 1.0
    for equation in equations:
        from_cause[equation.target] += from_cause[equation.predictors] @ equation.slopes
    for equation in reversed(equations):
        to_effect[equation.predictors] += to_effect[equation.target] * equation.slopes
    weights = _squares(sem, to_effect[:, None])[:, 0]
    variance = sum(
        weights[equation.target] * _slope_variance(sem.moments, equation, from_cause)
        for equation in equations
        if weights[equation.target] and from_cause[equation.predictors].any()
    )
    unit = sem.moments.scales[y] / sem.moments.scales[x]
    estimate, error = from_cause[y] * unit, math.sqrt(variance) * unit
    note = _total_note(sem, x, y)
    return Effect(sem.names[x], sem.names[y], float(estimate), float(error), note=note)


def _check_model(sem: object) -> None:
    if not isinstance(sem, LinearSem):
        raise ArgumentError(
            f"sem is a {type(sem).__name__}; wanted the model that fit_sem(data, graph) gives"
        )


def _ends(sem: LinearSem, cause: Variable, effect: Variable) -> tuple[int, int]:
    """The columns of two variables, or contrasts of them."""
    _check_model(sem)
    return contrasts(sem.variables.names, sem.coding, cause, effect)


def _squares(sem: LinearSem, effects: FloatArray) -> FloatArray:
    """What the columns of `effects` make of the variances of residuals: their squares.

    The residuals of a category's columns are correlated. They share their predictors, so that
    their part stands at the first of them, in units of its variance.
    """
    result = np.square(effects)
    for v in np.flatnonzero(sem.coding.sizes > 1).tolist():
        own = sem.coding.columns_of([v])
        first = int(own[0])
        parents = sem.equations[first].predictors
        between = sem.moments.correlation[np.ix_(parents, own)]
        slopes = sem.standardized_coefficients[np.ix_(parents, own)]
        left = sem.moments.correlation[np.ix_(own, own)] - slopes.T @ between
        form = np.einsum("iy,ij,jy->y", effects[own], left, effects[own])
        result[own] = 0.0
        result[first] = form / sem.equations[first].residual_variance
    return result


def _total_note(sem: LinearSem, x: int, y: int) -> str:
    """What a total effect in one DAG leaves unsaid."""
    notes = []
    if not (descendants(sem.dag, x) == y).any():
        notes.append("no directed path leads there in this DAG")
        parents = [*sem.equations[x].predictors.tolist(), *siblings(sem.coding, x)]
        if y not in parents and not sem.moments.is_oracle:
            given = partial_slopes(sem.moments, x, parents, np.array([y]))
            slope, p = float(given.slopes[0]), t_test(given.slopes, given.errors, given.df).p_value
            if p[0] < DOUBT:
                notes.append(
                    f"the data speak against that: given the parents of {sem.names[x]}, "
                    f"{sem.names[y]} changes by {slope:.4g}; an edge may be missing"
                )
    if _others_differ(sem, x, y):
        notes.append("other DAGs of its class may have other effects, which qwo.ida lists")
    return "; ".join(notes)


def _others_differ(sem: LinearSem, x: int, y: int) -> bool:
    """Whether the class has DAGs with other parents of x, and DAGs in which x causes y."""
    x, y = sem.coding.owners[[x, y]].tolist()
    cpdag = to_cpdag(sem.variable_dag) if sem.known_class is None else sem.known_class
    if not (cpdag[x] == 2).any():
        return False
    definite = np.flatnonzero(cpdag[:, x] == 1).tolist()
    return bool(descendants_given(cpdag, x, definite)[y])


def total_effects(sem: LinearSem) -> EffectMatrix:
    """T = (I - B)⁻¹ with the standard errors of `total_effect`, for all pairs together."""
    _check_model(sem)
    order = topological_order(sem.dag)
    ordered = np.ix_(order, order)
    # In causal order I - B is triangular with unit diagonal: substitution, no elimination.
    triangle = np.eye(sem.n_variables) - sem.standardized_coefficients[ordered]
    effects = np.empty_like(triangle)
    effects[ordered] = solve_triangular(triangle, np.eye(sem.n_variables), unit_diagonal=True)
    steps = np.zeros_like(effects)
    for equation in sem.equations:
        if len(equation.predictors):
            steps[:, equation.target] = _slope_variance(sem.moments, equation, effects.T)
    variances = steps @ _squares(sem, effects)
    units = sem.moments.scales / sem.moments.scales[:, None]
    return EffectMatrix(sem.names, effects * units, np.sqrt(variances) * units)


def _slope_variance(moments: Moments, equation: Regression, weights: FloatArray) -> FloatArray:
    """tᵀ V t, with V the covariance matrix of the slopes and t the predictors' rows of weights."""
    label = repr(moments.names[equation.target])
    half = inverse_factor(moments, label, equation.predictors) @ weights[equation.predictors]
    variance: FloatArray = np.square(half).sum(axis=0) * (equation.residual_variance / equation.df)
    return variance


def adjusted_effect(
    data: Any,
    cause: Variable,
    effect: Variable,
    adjust: Iterable[Variable] = (),
    **reading: Unpack[ReadArguments],
) -> Effect:
    """The coefficient of the cause when the effect is regressed on it and on ``adjust``.

    It is the total effect if ``adjust`` is a valid adjustment set, such as the parents of the
    cause; whether it is one is for a graph to say. Standard error and test are those of ordinary
    least squares.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments.
    cause, effect : str or int
        Variables by name or column number.
    adjust : iterable of str or int
        Variables to hold fixed.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.options.ReadOptions`.
    """
    moments = as_moments(data, **reading)
    names, coding = moments.names, moments.coding
    x, y = contrasts(names, coding, cause, effect)
    if isinstance(adjust, str):
        raise ColumnNameError(f"adjust is the single string {adjust!r}; wanted a list of variables")
    fixed = sorted({as_column(names, variable, "adjust") for variable in adjust})
    both = [names[v] for v in coding.owners[[x, y]].tolist() if v in fixed]
    if both:
        raise ColumnNameError(
            f"adjust has {list_names(both)}, which is the cause or the effect; leave it out", both
        )
    beside = [*coding.columns_of(fixed).tolist(), *siblings(coding, x)]
    columns = moments.as_columns()
    found = partial_slopes(columns, x, beside, np.array([y]))
    size, error = float(found.slopes[0]), float(found.errors[0])
    return Effect(columns.names[x], columns.names[y], size, error, found.df)
