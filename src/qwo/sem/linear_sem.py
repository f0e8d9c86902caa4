"""The fitted linear model X_j = a_j + Σ_i B[i, j] X_i + e_j on a DAG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.graph.causal_graph import EDGE_HEADER
from qwo.graph.display import as_html
from qwo.moments import Moments
from qwo.sem.fit_indices import ModelFit, model_fit, row_log_likelihood
from qwo.sem.regression import JointTest, Regression, edge_tests, regress, t_test
from qwo.sem.structural import EdgeEstimate, StructuralModel
from qwo.simulation import LinearModel, implied_covariance
from qwo.text import aligned, fixed, number, p_value, records_frame, short
from qwo.types import Adjacency, FloatArray, read_only

if TYPE_CHECKING:
    import pandas as pd


class NodeEstimate(NamedTuple):
    """The equation of one variable given its parents.

    Attributes
    ----------
    name : str
        The variable.
    parents : tuple of str
        Its k parents, in column order.
    intercept, intercept_error : float
        The constant and its standard error; NaN where the means are unknown.
    residual_variance : float
        Maximum likelihood (divisor N): what the likelihood and the implied covariance use.
    unbiased_variance : float
        The same with divisor N - k - 1: what the standard errors use.
    r_squared : float
        Share of the variance that the parents explain.
    df : float
        Residual degrees of freedom N - k - 1.
    """

    name: str
    parents: tuple[str, ...]
    intercept: float
    intercept_error: float
    residual_variance: float
    unbiased_variance: float
    r_squared: float
    df: float


@dataclass(frozen=True, eq=False, repr=False)
class LinearSem(StructuralModel):
    """Linear structural equations on a DAG, fitted by maximum likelihood; made by `fit_sem`.

    Attributes
    ----------
    moments : Moments
        What it was fitted to.
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` for i → j; read-only.
    equations : tuple of Regression
        The regression of each variable on its parents, in column order, on the correlation scale.
    known_class : int8 ndarray of shape (n, n), optional
        The equivalence class that the DAG was taken from, where a result said so: with background
        knowledge it is narrower than that of the DAG alone.
    source : Moments, optional
        The moments of the variables, where some of them are blocks of columns. All else here is
        about columns then, which have names such as ``race=black``.
    """

    moments: Moments
    dag: Adjacency
    equations: tuple[Regression, ...]
    known_class: Adjacency | None = None
    source: Moments | None = None

    @property
    def variables(self) -> Moments:
        """The moments of the variables."""
        return self.moments if self.source is None else self.source

    @property
    def variable_dag(self) -> Adjacency:
        """The DAG on the variables."""
        first = self.coding.starts
        return self.dag[np.ix_(first, first)]

    @cached_property
    def standardized_coefficients(self) -> FloatArray:
        """B with every variable in units of its standard deviation; (i, j) belongs to i → j."""
        matrix = np.zeros((self.n_variables, self.n_variables))
        for equation in self.equations:
            matrix[equation.predictors, equation.target] = equation.slopes
        return read_only(matrix)

    @cached_property
    def edge_sizes(self) -> FloatArray:
        """Standardised coefficients between variables; (i, j) belongs to i → j.

        Where an edge has several, √(1 - exp(-G / N)) with G what it adds to twice the
        log-likelihood: the size of a coefficient that would add as much, without a sign.
        """
        if not self.coding.has_blocks:
            return self.standardized_coefficients
        first, single = self.coding.starts, self.coding.sizes == 1
        matrix = np.where(
            np.outer(single, single), self.standardized_coefficients[np.ix_(first, first)], 0.0
        )
        place = {name: k for k, name in enumerate(self.variables.names)}
        for test in self.edge_tests:
            i, j = place[test.cause], place[test.effect]
            if not (single[i] and single[j]):
                matrix[i, j] = np.sqrt(-np.expm1(-test.strength / self.n_samples))
        return read_only(matrix)

    @cached_property
    def coefficients(self) -> FloatArray:
        """B in the units of the data: entry (i, j) is the coefficient of i → j, 0 without edge."""
        return read_only(self._in_units(self.standardized_coefficients))

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Standard errors of the entries of `coefficients`; 0 without edge."""
        matrix = np.zeros((self.n_variables, self.n_variables))
        for equation in self.equations:
            matrix[equation.predictors, equation.target] = equation.errors
        return read_only(self._in_units(matrix))

    @cached_property
    def intercepts(self) -> FloatArray:
        """The constants a_j; NaN where the means are unknown."""
        return read_only(self.moments.means - self.moments.means @ self.coefficients)

    @cached_property
    def residual_variances(self) -> FloatArray:
        """Var e_j, maximum likelihood (divisor N)."""
        shares = np.array([equation.residual_variance for equation in self.equations])
        return read_only(shares * np.square(self.moments.scales))

    @cached_property
    def r_squared(self) -> FloatArray:
        """The share of each variable's variance that its parents explain."""
        return read_only(np.array([1 - equation.residual_variance for equation in self.equations]))

    @cached_property
    def edges(self) -> tuple[EdgeEstimate, ...]:
        """One record for each edge, by effect and then by cause, in column order."""
        return tuple(edge for equation in self.equations for edge in self._edges_into(equation))

    @cached_property
    def nodes(self) -> tuple[NodeEstimate, ...]:
        """One record for each variable, in column order."""
        return tuple(self._node(equation) for equation in self.equations)

    @cached_property
    def fit(self) -> ModelFit:
        """Likelihood, information criteria and fit indices of the whole model."""
        return model_fit(self.moments, self.chain, self._implied_correlation(), self.coding)

    @cached_property
    def chain(self) -> tuple[Regression, ...]:
        """Equations whose residuals are independent: each on those before it in its block, too."""
        first = self.coding.starts[self.coding.owners]
        return tuple(
            equation
            if first[v] == v
            else regress(self.moments, v, np.union1d(equation.predictors, np.arange(first[v], v)))
            for v, equation in enumerate(self.equations)
        )

    @cached_property
    def edge_tests(self) -> tuple[JointTest, ...]:
        """The test of all coefficients of each edge between variables together."""
        return edge_tests(self.variables, self.variable_dag)

    @property
    def implied_means(self) -> FloatArray:
        """The means under the model, which are those of the sample; NaN where unknown."""
        return self.moments.means

    def implied_covariance(self) -> FloatArray:
        """The covariance matrix (I - B)⁻ᵀ Ω (I - B)⁻¹ under the model."""
        scales = self.moments.scales
        return self._implied_correlation() * np.outer(scales, scales)

    def sample(self, n_samples: int, random_state: Any = None) -> FloatArray:
        """Independent Gaussian draws from the model, one per row, in column order.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : None, int or numpy.random.Generator
            Seed or source of randomness.

        Notes
        -----
        Means that are unknown, because the moments were given without them, are taken to be 0.
        """
        self.variables.require_columns("sample")
        shares = np.array([equation.residual_variance for equation in self.equations])
        model = LinearModel(self.dag, self.standardized_coefficients, shares)
        rows = model.sample(n_samples, random_state=random_state)
        rows *= self.moments.scales
        rows += np.nan_to_num(self.moments.means)
        return rows

    def log_likelihood(self, data: Any) -> FloatArray:
        """The log-density of each row of data, which need not be the data fitted to.

        Parameters
        ----------
        data : array-like, data frame, str or path
            The columns of an array are taken in the order of the model; those of a frame or file
            are found by name, and others may be there.

        Returns
        -------
        ndarray of shape (rows,)
            Its sum over the rows that the model was fitted to is ``fit.log_likelihood``.
        """
        return row_log_likelihood(self.moments, self.chain, self._rows(data))

    def nodes_table(self) -> pd.DataFrame:
        """`nodes` as a pandas data frame, with the names as its index."""
        return records_frame(NodeEstimate._fields, self.nodes).set_index("name")

    def __str__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        rows = (
            (cause, "→", effect, number(size), number(error), p_value(p))
            for cause, effect, size, error, _, p, _ in self.edges
        )
        header = (*EDGE_HEADER, "coefficient", "std. error", "p")
        return as_html(repr(self)[1:-1], self, (self.n_variables, self.n_edges), header, rows)

    def _implied_correlation(self) -> FloatArray:
        """The implied covariance matrix of the variables divided by the sample's deviations."""
        shares = [equation.residual_variance for equation in self.chain]
        matrix = np.zeros((len(shares), len(shares)))
        for equation in self.chain:
            matrix[equation.predictors, equation.target] = equation.slopes
        return implied_covariance(matrix, shares)

    def _edges_into(self, equation: Regression) -> list[EdgeEstimate]:
        effect, causes = equation.target, equation.predictors
        units = self.moments.scales[effect] / self.moments.scales[causes]
        test = t_test(equation.slopes, equation.errors, equation.df)
        numbers = zip(
            causes.tolist(),
            (equation.slopes * units).tolist(),
            (equation.errors * units).tolist(),
            test.statistic.tolist(),
            test.p_value.tolist(),
            equation.slopes.tolist(),
            strict=True,
        )
        name = self.names[effect]
        return [EdgeEstimate(self.names[cause], name, *rest) for cause, *rest in numbers]

    def _node(self, equation: Regression) -> NodeEstimate:
        v, k = equation.target, len(equation.predictors)
        variance = float(self.residual_variances[v])
        return NodeEstimate(
            name=self.names[v],
            parents=tuple(self.names[p] for p in equation.predictors),
            intercept=float(self.intercepts[v]),
            intercept_error=equation.intercept_error * float(self.moments.scales[v]),
            residual_variance=variance,
            # N / (N - k - 1), in a form that is 1 for N = ∞.
            unbiased_variance=variance / (1 - (k + 1) / self.n_samples),
            r_squared=1 - equation.residual_variance,
            df=equation.df,
        )


MAX_ROWS = 40
"""Rows of a table beyond this are counted, not shown."""

MAX_NAME = 24
"""Characters of a name that are shown."""


def summary(sem: LinearSem) -> str:
    """The fit of the model, its edges and its variables, as three blocks of text."""
    return "\n\n".join(filter(None, [_model(sem), _edges(sem), _nodes(sem), _coding(sem)]))


def _coding(sem: LinearSem) -> str:
    """The levels that categories are compared with."""
    pairs = zip(sem.variables.names, sem.coding.variables, strict=True)
    coded = [f"{name} ({v.levels[0]})" for name, v in pairs if v.size > 1]
    said = f"Categories are contrasts against their first level: {', '.join(coded)}"
    return said if coded else ""


def _model(sem: LinearSem) -> str:
    fit, n = sem.fit, sem.variables.n_variables
    n_samples = "∞" if sem.moments.is_oracle else f"{sem.n_samples:.10g}"
    low, high = fit.rmsea_interval
    lines = [
        [f"Linear SEM: {n} variables, {sem.n_edges} edges, N = {n_samples}"],
        [
            f"log-likelihood {fixed(fit.log_likelihood, 2)}",
            f"parameters {fit.n_parameters}",
            f"AIC {fixed(fit.aic, 2)}",
            f"BIC {fixed(fit.bic, 2)}",
        ],
        [f"chi-square {fixed(fit.chi_square, 2)} on {fit.df} df, p {p_value(fit.p_value)}"],
        [
            f"CFI {fixed(fit.cfi, 3)}",
            f"RMSEA {fixed(fit.rmsea, 3)} [{fixed(low, 3)}, {fixed(high, 3)}]",
            f"SRMR {fixed(fit.srmr, 3)}",
        ],
    ]
    return "\n".join("   ".join(line) for line in lines)


def _edges(sem: LinearSem) -> str:
    rows = [
        (
            f"{short(edge.cause, MAX_NAME)} → {short(edge.effect, MAX_NAME)}",
            number(edge.coefficient, 4),
            number(edge.standard_error, 4),
            fixed(edge.t, 2),
            p_value(edge.p_value),
            fixed(edge.standardized, 3),
        )
        for edge in sem.edges[:MAX_ROWS]
    ]
    header = ("edge", "coefficient", "std. error", "t", "p", "standardized")
    return _table(header, rows) + _more(len(sem.edges), "edges", ".edges")


def _nodes(sem: LinearSem) -> str:
    rows = [
        (
            short(node.name, MAX_NAME),
            number(node.intercept, 4),
            number(node.residual_variance, 4),
            fixed(node.r_squared, 3),
        )
        for node in sem.nodes[:MAX_ROWS]
    ]
    header = ("variable", "intercept", "residual variance", "R²")
    return _table(header, rows) + _more(len(sem.nodes), "variables", ".nodes")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns with two blanks between them: the first to the left, numbers to the right."""
    lines = aligned([header, *rows])
    return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:]])


def _more(count: int, what: str, where: str) -> str:
    return f"\n… {count - MAX_ROWS} more {what}; all are in {where}" if count > MAX_ROWS else ""
