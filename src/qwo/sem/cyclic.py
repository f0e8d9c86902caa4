"""Linear models on graphs with cycles: x = a + B x + e, fitted by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from qwo.errors import SampleSizeError
from qwo.graph.causal_graph import CausalGraph
from qwo.moments import Moments
from qwo.names import Variable, as_column
from qwo.order.linalg import cyclic_coefficients
from qwo.sem.structural import EdgeEstimate, StructuralModel
from qwo.text import aligned, number, p_value
from qwo.types import Adjacency, FloatArray, Mask


@dataclass(frozen=True, eq=False, repr=False)
class CyclicSem(StructuralModel):
    """Linear structural equations with cycles, at their equilibrium; made by `fit_sem`.

    moments: what it was fitted to. dag: the graph, 1 for i → j. coefficients: entry (i, j) belongs
    to i → j, in the units of the data. standard_errors: from the expected information; NaN where
    there is no edge, infinite where the data do not determine coefficients, 0 for exact moments.
    """

    moments: Moments
    dag: Adjacency
    coefficients: FloatArray
    standard_errors: FloatArray

    @cached_property
    def noise_variances(self) -> FloatArray:
        """The variance of the noise of each equation."""
        rows = np.eye(len(self.dag)) - self.coefficients.T
        return np.asarray(np.einsum("ij,jk,ik->i", rows, self.moments.covariance, rows))

    @cached_property
    def edges(self) -> tuple[EdgeEstimate, ...]:
        """Every edge with its coefficient, standard error, z and p-value."""
        found = []
        for i, j in np.argwhere(self.dag).tolist():
            b, error = float(self.coefficients[i, j]), float(self.standard_errors[i, j])
            z = b / error if error > 0 else math.nan
            ends, whole = (self.names[i], self.names[j]), self.standardized_coefficients[i, j]
            found.append(EdgeEstimate(*ends, b, error, z, float(2 * norm.sf(abs(z))), float(whole)))
        return tuple(found)

    @cached_property
    def total_effects(self) -> FloatArray:
        """(I - B)^-1: entry (i, j) is what a unit of disturbance of i adds to j in the end."""
        return np.asarray(np.linalg.inv(np.eye(len(self.dag)) - self.coefficients))

    def effect(self, cause: Variable, effect: Variable) -> float:
        """By how much the effect changes in the end if the cause is set a unit higher and held.

        Held, the cause is no longer part of its cycles: the total effect of a disturbance over
        that of the disturbance on the cause itself.
        """
        i, j = as_column(self.names, cause, "cause"), as_column(self.names, effect, "effect")
        return float(self.total_effects[i, j] / self.total_effects[i, i])

    @cached_property
    def spectral_radius(self) -> float:
        """Of the coefficients: below 1 disturbances die out."""
        return float(np.abs(np.linalg.eigvals(self.coefficients)).max())

    @cached_property
    def condition_number(self) -> float:
        """Of I - B of standardised variables: digits of the covariance that the effects lose."""
        return float(np.linalg.cond(np.eye(len(self.dag)) - self.standardized_coefficients))

    @cached_property
    def standardized_coefficients(self) -> FloatArray:
        """B with every variable in units of its standard deviation; (i, j) belongs to i → j."""
        return np.asarray(self.coefficients / self._in_units(np.ones_like(self.coefficients)))

    @cached_property
    def log_determinant(self) -> float:
        """Of the implied covariance matrix: Σ log ω_i - 2 log |det(I - B)|."""
        rows = np.eye(len(self.dag)) - self.coefficients
        return float(np.log(self.noise_variances).sum() - 2 * np.linalg.slogdet(rows)[1])

    def implied_covariance(self) -> FloatArray:
        """The covariance matrix (I - B)⁻ᵀ Ω (I - B)⁻¹ under the model."""
        return np.asarray((self.total_effects.T * self.noise_variances) @ self.total_effects)

    def log_likelihood(self, data: Any) -> FloatArray:
        """The log-density of each row of data, as `LinearSem.log_likelihood` reads them."""
        rows = self._rows(data) - np.nan_to_num(self.moments.means)
        noise = rows @ (np.eye(len(self.dag)) - self.coefficients)
        squares = (noise**2 / self.noise_variances).sum(axis=1)
        constant = len(self.dag) * math.log(2 * math.pi) + self.log_determinant
        return np.asarray(-(squares + constant) / 2)

    @cached_property
    def chi_square(self) -> tuple[float, int, float]:
        """Likelihood ratio against the unrestricted covariance, degrees of freedom, p-value."""
        n = len(self.dag)
        free = float(np.linalg.slogdet(self.moments.covariance)[1])
        ratio = self.n_samples * (self.log_determinant - free)
        df = n * (n - 1) // 2 - int(self.dag.sum())
        return ratio, df, float(chi2.sf(ratio, df)) if df > 0 else math.nan

    def __str__(self) -> str:
        ratio, df, p = self.chi_square
        rows = [["cause", "effect", "coefficient", "error", "z", "p"]]
        for e in self.edges:
            numbers = map(number, (e.coefficient, e.standard_error, e.t))
            rows.append([e.cause, e.effect, *numbers, p_value(e.p_value)])
        told = (
            f"spectral radius {self.spectral_radius:.3f}, condition number "
            f"{self.condition_number:.1f}; chi-square {ratio:.1f} on {df} degrees of freedom, "
            f"p {p_value(p)}"
        )
        return "\n".join([repr(self), *aligned(rows, left=2), told])


def fit_cyclic(moments: Moments, graph: CausalGraph) -> CyclicSem:
    """The linear model of the largest likelihood on a graph with cycles."""
    moments.require_columns("a model with cycles")
    graph.require_directed()
    if moments.n_samples <= moments.n_variables + 2:
        raise SampleSizeError("a model with cycles takes more samples than variables")
    matrix = graph.matrix.copy()
    matrix.setflags(write=False)
    b = cyclic_coefficients(moments.correlation, matrix)
    errors = np.full(b.shape, math.nan)
    errors[b != 0] = _errors(b, moments)
    units = moments.scales / moments.scales[:, None]
    return CyclicSem(moments, matrix, b.T * units, errors.T * units)


def _errors(b: FloatArray, moments: Moments) -> FloatArray:
    """Standard errors of the coefficients, row by row."""
    matrix = information(b, moments.correlation, np.ones(len(b), dtype=bool))
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    with np.errstate(divide="ignore"):
        weights = np.where(values > 1e-10 * values[-1], 1 / values, math.inf)
        squares = np.where(vectors**2 > 1e-12, vectors**2, 0.0)
        variances = np.where(squares > 0, squares * weights, 0.0).sum(axis=1)
    return np.asarray(np.sqrt(variances / moments.n_samples) / scale)


def information(coefficients: FloatArray, covariance: FloatArray, rows: Mask) -> FloatArray:
    """The expected Fisher information of one sample about the coefficients of some equations.

    Row i of B is the equation of i; ω_i is the variance of its noise, A = (I - B)^-1. Of B_ij and
    B_kl it is [i = k] Σ_jl / ω_i + A_jk A_li, of B_ij and log ω_k it is [i = k] A_ji, and ½ of each
    log ω; returned is what is left for the coefficients when the ω are estimated too.
    """
    system = np.eye(len(coefficients)) - coefficients
    total = np.linalg.inv(system)
    noise = np.einsum("ij,jk,ik->i", system, covariance, system)
    i, j = np.nonzero((coefficients != 0) & rows[:, None])
    same = i[:, None] == i[None, :]
    matrix = same * covariance[np.ix_(j, j)] / noise[i][:, None]
    matrix += total[np.ix_(j, i)] * total[np.ix_(j, i)].T
    own = total[j, i]
    matrix -= 2 * same * np.outer(own, own)
    return np.asarray(matrix, dtype=np.float64)
