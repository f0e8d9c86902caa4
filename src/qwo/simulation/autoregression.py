"""Structural autoregressions with known truth: x_t = Σ_k B_kᵀ x_{t-k} + e_t, k = 0 … L.

Entry (k, i, j) of the coefficients belongs to the effect of i, k steps earlier, on j. B_0, the
effects within one step, is acyclic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import ArgumentError
from qwo.simulation.linear_model import noise_source
from qwo.types import Adjacency, FloatArray

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
        shocks = noise_source(noise)(rng, (total, n)) * np.sqrt(self.noise_variances)
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
