"""Linear structural equations with independent noise: implied covariance and samples.

In a structural autoregression, x_t = Σ_k B_kᵀ x_{t-k} + e_t for k = 0 … L, entry (k, i, j) of the
coefficients belongs to the effect of i, k steps earlier, on j. B_0, the effects within one step, is
acyclic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from qwo.errors import ArgumentError, ShapeError
from qwo.graph.dag import adjacency_lists, is_acyclic, topological_order
from qwo.names import as_column, at_least, check_choice, check_size, default_names, generator
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
        data = draw_noise(noise, random_state, (rows, self.n_variables))
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


_SHAPES = {
    "gaussian": ("standard_normal", 0.0, 1.0),
    "exponential": ("standard_exponential", 1.0, 1.0),
    "gumbel": ("gumbel", np.euler_gamma, math.sqrt(6) / math.pi),
    "uniform": ("random", 0.5, math.sqrt(12)),
}
"""Of each shape of noise what draws it, its mean, and what makes its variance 1."""


def draw_noise(kind: str, rng: Any, shape: tuple[int, int]) -> FloatArray:
    """Noise with mean 0 and variance 1."""
    check_choice("noise", kind, _SHAPES)
    method, mean, factor = _SHAPES[kind]
    draws: FloatArray = getattr(generator(rng), method)(size=shape)
    if (mean, factor) != (0.0, 1.0):
        draws -= mean
        draws *= factor
    return draws


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


BURN_IN = 300
LARGEST_ROOT = 0.995
TRIES = 200


class SeriesSimulation(NamedTuple):
    """Rows in the order of time (or units × rows × variables), the edges by lag, coefficients."""

    data: FloatArray
    graph: Adjacency
    coefficients: FloatArray


@dataclass(frozen=True, eq=False)
class StructuralAutoregression:
    """Coefficients (L + 1)×n×n and noise variances of a structural autoregression."""

    coefficients: FloatArray
    noise_variances: FloatArray

    @property
    def n_variables(self) -> int:
        """How many series there are."""
        return len(self.noise_variances)

    def reduced(self) -> tuple[FloatArray, FloatArray]:
        """A_1 … A_L with x_t = Σ_k x_{t-k} A_k + u_t (rows), and the covariance of u."""
        inverse = np.linalg.inv(np.eye(self.n_variables) - self.coefficients[0])
        effects = np.array([own @ inverse for own in self.coefficients[1:]])
        return effects, inverse.T @ np.diag(self.noise_variances) @ inverse

    def largest_root(self) -> float:
        """The largest modulus of the roots: below 1 if the series are stationary."""
        companion = self._companion(max(len(self.coefficients) - 1, 1))
        return float(np.abs(np.linalg.eigvals(companion)).max())

    def _companion(self, n_lags: int) -> FloatArray:
        n, (effects, _) = self.n_variables, self.reduced()
        matrix = np.zeros((n * n_lags, n * n_lags))
        for k, own in enumerate(effects):
            matrix[:n, k * n : (k + 1) * n] = own.T
        matrix[n:, :-n] = np.eye(n * (n_lags - 1))
        return matrix

    def covariance(self, n_lags: int) -> FloatArray:
        """The stationary covariance of (x_t, x_{t-1}, …, x_{t-L}) for so many lags."""
        from scipy.linalg import solve_discrete_lyapunov

        size = max(n_lags + 1, len(self.coefficients) - 1, 1)
        n, companion = self.n_variables, self._companion(size)
        noise = np.zeros_like(companion)
        noise[:n, :n] = self.reduced()[1]
        whole = np.asarray(solve_discrete_lyapunov(companion, noise))
        wanted = n * (n_lags + 1)
        return (whole + whole.T)[:wanted, :wanted] / 2

    def sample(self, n_rows: int, rng: np.random.Generator, noise: str = "gaussian") -> FloatArray:
        """So many rows of a series that has run for a while."""
        effects, _ = self.reduced()
        n, total = self.n_variables, n_rows + BURN_IN
        shocks = draw_noise(noise, rng, (total, n)) * np.sqrt(self.noise_variances)
        shocks = shocks @ np.linalg.inv(np.eye(n) - self.coefficients[0])
        rows = np.zeros((total, n))
        for t in range(total):
            rows[t] = shocks[t]
            for k, own in enumerate(effects[: min(t, len(effects))], 1):
                rows[t] += rows[t - k] @ own
        return rows[BURN_IN:]


def simulate_series(
    *,
    n_variables: int,
    n_samples: int,
    lags: int = 3,
    edges: float = 1.0,
    contemporaneous: float = 0.3,
    autocorrelation: tuple[float, float] = (0.3, 0.9),
    strength: tuple[float, float] = (0.2, 0.5),
    noise: str = "gaussian",
    units: int | None = None,
    random_state: Any = None,
) -> SeriesSimulation:
    """Rows of a random structural autoregression, which is stationary.

    Parameters
    ----------
    n_variables, n_samples : int
        Variables and rows; with `units`, rows of each.
    lags : int
        The largest lag L.
    edges : float
        Edges a variable, besides the effect of its own last row.
    contemporaneous : float
        Share of these edges without a lag.
    autocorrelation : (float, float)
        Range of the coefficient of each variable's own last row.
    strength : (float, float)
        Range of the sizes of the other coefficients; signs are random.
    noise : str
        As for `qwo.simulate`.
    units : int, optional
        So many series of the same model, each with means of its own.
    random_state : None, int or Generator
        Seed or source of randomness.

    Returns
    -------
    SeriesSimulation
        ``data``, ``graph`` and ``coefficients``: entry (k, i, j) of the latter two belongs to the
        effect of i, k rows earlier, on j.
    """
    if n_variables < 2 or lags < 1 or n_samples < 1:
        raise ArgumentError(
            f"n_variables is {n_variables}, lags {lags}, n_samples {n_samples}; wanted two "
            "variables, one lag and one row at least",
            option="n_variables",
        )
    rng = np.random.default_rng(random_state)
    for _ in range(TRIES):
        ranges = autocorrelation, strength
        shape, wanted = (lags, n_variables), round(edges * n_variables)
        coefficients = _random_coefficients(rng, shape, wanted, contemporaneous, ranges)
        model = StructuralAutoregression(coefficients, rng.uniform(0.5, 2.0, n_variables) ** 2)
        if model.largest_root() < LARGEST_ROOT:
            break
    else:
        raise ArgumentError(
            f"none of {TRIES} random models is stationary; ask for weaker effects, or less "
            "autocorrelation"
        )
    graph: Adjacency = (coefficients != 0).astype(np.int8)
    if units is None:
        return SeriesSimulation(model.sample(n_samples, rng, noise), graph, coefficients)
    parts = [
        model.sample(n_samples, rng, noise) + rng.normal(0, 2, n_variables) for _ in range(units)
    ]
    return SeriesSimulation(np.array(parts), graph, coefficients)


def _random_coefficients(
    rng: np.random.Generator,
    shape: tuple[int, int],
    edges: int,
    contemporaneous: float,
    ranges: tuple[tuple[float, float], tuple[float, float]],
) -> FloatArray:
    (lags, n), (autocorrelation, strength) = shape, ranges
    coefficients = np.zeros((lags + 1, n, n))
    place = rng.permutation(n)
    coefficients[1, np.arange(n), np.arange(n)] = rng.uniform(*autocorrelation, n)
    for _ in range(edges):
        i, j = rng.choice(n, 2, replace=False)
        k = 0 if rng.random() < contemporaneous else int(rng.integers(1, lags + 1))
        if k == 0 and place[i] > place[j]:
            i, j = j, i
        coefficients[k, i, j] = rng.choice([-1, 1]) * rng.uniform(*strength)
    return coefficients
