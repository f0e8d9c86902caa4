"""Linear structural equations with independent noise: implied covariance and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from qwo.errors import ArgumentError, ShapeError
from qwo.graph.dag import adjacency_lists, is_acyclic, topological_order
from qwo.names import as_column, at_least, check_size, default_names, generator, is_choice
from qwo.types import Adjacency, FloatArray

BLOCK_ROWS = 4096
"""Rows that pass through the structural equations together: a few columns of them stay in cache."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """Structural equations X_j = Σ_i B[i, j] X_i + e_j with independent noise e_j of mean 0.

    Attributes
    ----------
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` means i → j.
    coefficients : ndarray of shape (n, n)
        B; zero wherever `dag` is.
    noise_variances : ndarray of shape (n,)
        Var e_j.
    """

    dag: Adjacency
    coefficients: FloatArray
    noise_variances: FloatArray

    @property
    def n_variables(self) -> int:
        """Number of variables n."""
        return len(self.dag)

    def covariance(self) -> FloatArray:
        """The exact covariance matrix (I - B)⁻ᵀ Ω (I - B)⁻¹ of the variables."""
        if not is_acyclic(self.dag):
            total = np.linalg.inv(np.eye(self.n_variables) - self.coefficients)
            return np.asarray((total.T * self.noise_variances) @ total)
        return implied_covariance(self.coefficients, self.noise_variances)

    def precision(self) -> FloatArray:
        """The exact inverse covariance matrix (I - B) Ω⁻¹ (I - B)ᵀ of the variables."""
        loading = np.eye(self.n_variables) - self.coefficients
        half = loading / np.sqrt(self.noise_variances)
        precision: FloatArray = half @ half.T
        return precision

    def sample(
        self, n_samples: int, noise: str = "gaussian", random_state: Any = None
    ) -> FloatArray:
        """Independent draws of all variables, one per row.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        noise : {"gaussian", "exponential", "gumbel", "uniform"}
            Shape of the noise, which has mean 0 and the model's variances in every case.
        random_state : None, int or numpy.random.Generator
            Seed or source of randomness.
        """
        rows = at_least("n_samples", n_samples, 1)
        check_size(f"a table of {rows} rows", 8 * rows * self.n_variables)
        data = noise_source(noise)(generator(random_state), (rows, self.n_variables))
        data *= np.sqrt(self.noise_variances)
        if not is_acyclic(self.dag):
            return np.asarray(data @ np.linalg.inv(np.eye(self.n_variables) - self.coefficients))
        parents = adjacency_lists(self.dag).parents
        equations = [
            (child, parents[child], self.coefficients[parents[child], child])
            for child in topological_order(self.dag).tolist()
            if parents[child]
        ]
        for start in range(0, rows, BLOCK_ROWS):
            # Variables in rows, so that each equation reads and writes contiguous memory.
            block = np.ascontiguousarray(data[start : start + BLOCK_ROWS].T)
            for child, causes, weights in equations:
                block[child] += weights @ block[causes]
            data[start : start + BLOCK_ROWS] = block.T
        return data


def implied_covariance(coefficients: npt.ArrayLike, noise_variances: npt.ArrayLike) -> FloatArray:
    """The exact covariance matrix (I - B)⁻ᵀ Ω (I - B)⁻¹ of X_j = Σ_i B[i, j] X_i + e_j.

    Parameters
    ----------
    coefficients : array-like of shape (n, n)
        B, with ``B[i, j]`` for i → j; its non-zero entries form a directed acyclic graph.
    noise_variances : array-like of shape (n,)
        The diagonal Ω of the noise.
    """
    matrix = np.asarray(coefficients, dtype=np.float64)
    variances = np.asarray(noise_variances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ShapeError(f"coefficients has shape {matrix.shape}; wanted a square matrix")
    if variances.shape != (len(matrix),):
        raise ShapeError(f"noise_variances has shape {variances.shape}; wanted ({len(matrix)},)")
    if not (np.isfinite(matrix).all() and np.isfinite(variances).all() and (variances > 0).all()):
        raise ArgumentError("coefficients must be finite, and noise_variances finite and positive")
    order = topological_order(matrix != 0)
    # In causal order I - B is triangular with unit diagonal: substitution, no elimination.
    triangle = np.eye(len(matrix)) - matrix[np.ix_(order, order)]
    effects = solve_triangular(
        triangle, np.diag(np.sqrt(variances[order])), trans="T", unit_diagonal=True
    )
    covariance = np.empty_like(matrix)
    covariance[np.ix_(order, order)] = effects @ effects.T
    return covariance


Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]


def noise_source(kind: str) -> Draw:
    """The source of noise with mean 0 and variance 1."""
    if not is_choice(kind, _SHAPES):
        raise ArgumentError(f"noise is {kind!r}; wanted one of {', '.join(map(repr, _SHAPES))}")
    return _SHAPES[kind]


def _exponential(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.standard_exponential(shape)
    draws -= 1.0
    return draws


def _gumbel(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.gumbel(size=shape)
    draws -= np.euler_gamma
    draws *= math.sqrt(6) / math.pi
    return draws


def _uniform(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.random(shape)
    draws -= 0.5
    draws *= math.sqrt(12)
    return draws


_SHAPES: dict[str, Draw] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "exponential": _exponential,
    "gumbel": _gumbel,
    "uniform": _uniform,
}


Change = Literal["shift", "perfect", "variance", "slopes"]
"""The mean moves by a standard deviation of the variable; it is set, two of them off, whatever its
causes; the standard deviation of its noise is 2.5 times what it was; effects of its causes turn
round and are half as strong."""

Interventions = Mapping[str, Sequence[str | int] | Mapping[str | int, Change]]


def refuse_beside(*, standardize: bool, cycles: int) -> None:
    """Raise if what is asked for does not go with interventions."""
    if standardize or cycles:
        raise ArgumentError(
            "interventions do not go with standardize or cycles: conditions differ in means and "
            "scales, and change equations of an acyclic graph; leave one of them out",
            option="interventions",
        )


def sample_conditions(
    model: LinearModel, interventions: Any, n_samples: int, noise: str, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Rows of each condition; one without variables is the model as it is."""
    if not isinstance(interventions, Mapping) or not interventions:
        raise ArgumentError(
            f"interventions is {interventions!r}; wanted the variables that each condition touches,"
            ' such as {"control": [], "drug": ["X2"]}',
            option="interventions",
        )
    return {
        str(label): _changed(model, touched, n_samples, noise, rng)
        for label, touched in interventions.items()
    }


def _changed(
    model: LinearModel,
    touched: Sequence[str | int] | Mapping[str | int, Change],
    n_samples: int,
    noise: str,
    rng: np.random.Generator,
) -> FloatArray:
    names, spread = default_names(model.n_variables), np.sqrt(np.diagonal(model.covariance()))
    effects, variances = model.coefficients.copy(), model.noise_variances.copy()
    mean = np.zeros(model.n_variables)
    listed = [touched] if isinstance(touched, str) else touched
    changes = listed if isinstance(listed, Mapping) else dict.fromkeys(listed, "shift")
    for variable, change in changes.items():
        v = as_column(names, variable, "interventions")
        if change not in get_args(Change):
            raise ArgumentError(
                f"interventions has {change!r} for {names[v]!r}; wanted one of "
                f"{', '.join(map(repr, get_args(Change)))}",
                option="interventions",
            )
        if change == "perfect":
            effects[:, v], mean[v] = 0.0, 2 * spread[v]
        elif change == "shift":
            mean[v] = spread[v]
        elif change == "variance":
            variances[v] *= 2.5**2
        else:
            effects[:, v] *= -0.5
    changed = LinearModel(model.dag, effects, variances)
    moved = np.linalg.solve((np.eye(len(mean)) - effects).T, mean)
    return np.asarray(changed.sample(n_samples, noise, rng) + moved)
