"""The correlations of one sample, those that a graph implies, and those of draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from qwo.moments import Moments
from qwo.resample.draws import draw_scatter, square_root
from qwo.simulation.linear_model import implied_covariance
from qwo.types import Adjacency, FloatArray, Indices


@dataclass(frozen=True, eq=False)
class Correlations:
    """What one sample says: the correlations of columns, and N.

    A category is a block of columns, whitened: uncorrelated with each other, as in
    `qwo.order.blocks`. ``sizes`` is how many each variable has; one, if not given.
    """

    matrix: FloatArray
    n_samples: float
    sizes: Indices | None = None

    @classmethod
    def of(cls, moments: Moments) -> Correlations:
        """Those of data."""
        matrix, sizes = moments.whitened()
        return cls(matrix, moments.n_samples, sizes if moments.has_blocks else None)

    @cached_property
    def columns(self) -> list[Indices]:
        """The columns of each variable."""
        sizes = np.ones(len(self.matrix), dtype=np.intp) if self.sizes is None else self.sizes
        return np.split(np.arange(len(self.matrix)), np.cumsum(sizes)[:-1])

    def all_of(self, variables: Indices) -> Indices:
        """The columns of some variables together."""
        none = np.empty(0, dtype=np.intp)
        return np.concatenate([none, *(self.columns[v] for v in variables)])

    def among(self, chosen: Indices) -> Correlations:
        """Those of some variables alone."""
        part = self.all_of(chosen)
        sizes = None if self.sizes is None else self.sizes[chosen]
        return Correlations(self.matrix[np.ix_(part, part)], self.n_samples, sizes)

    def drawn(self, covariance: FloatArray, rng: np.random.Generator) -> Correlations:
        """Those of a normal sample of as many rows from a distribution of the same columns."""
        scatter = draw_scatter(rng, square_root(covariance), self.n_samples - 1)
        scales = np.sqrt(scatter.diagonal())
        matrix = np.asarray(scatter / np.outer(scales, scales))
        if self.sizes is not None:
            roots = [np.linalg.cholesky(matrix[np.ix_(own, own)]) for own in self.columns]
            basis = np.linalg.inv(block_diag(*roots))
            matrix = basis @ matrix @ basis.T
        return Correlations(matrix, self.n_samples, self.sizes)

    def regression(self, v: int, parents: Indices) -> tuple[FloatArray, FloatArray]:
        """Slopes of the columns of v on those of its parents, and what is left of them."""
        own, given = self.columns[v], self.all_of(parents)
        cross = self.matrix[np.ix_(given, own)]
        slopes = np.asarray(np.linalg.solve(self.matrix[np.ix_(given, given)], cross), np.float64)
        return slopes, np.asarray(self.matrix[np.ix_(own, own)] - cross.T @ slopes)

    def implied(self, dag: Adjacency) -> FloatArray:
        """The covariance matrix of the columns under a graph with its fitted coefficients."""
        n = len(self.matrix)
        slopes, left = np.zeros((n, n)), np.zeros((n, n))
        for v, column in enumerate(dag.T):
            parents, own = np.flatnonzero(column), self.columns[v]
            found, rest = self.regression(v, parents)
            slopes[np.ix_(self.all_of(parents), own)] = found
            left[np.ix_(own, own)] = rest
        if self.sizes is None:
            return implied_covariance(slopes, np.maximum(left.diagonal(), 1e-12))
        total = np.linalg.inv(np.eye(n) - slopes)
        return np.asarray(total.T @ left @ total)
