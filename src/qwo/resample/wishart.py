"""Covariance matrices of samples from a normal distribution: the Wishart distribution."""

from __future__ import annotations

import numpy as np

from qwo.types import FloatArray


def square_root(correlation: FloatArray) -> FloatArray:
    """A matrix F with F Fᵀ = R, for a semidefinite R of any rank."""
    values, vectors = np.linalg.eigh(correlation)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def draw_scatter(rng: np.random.Generator, root: FloatArray, freedom: float) -> FloatArray:
    """A Wishart matrix with scale F Fᵀ and so many degrees of freedom.

    Bartlett's decomposition: F A Aᵀ Fᵀ with A lower triangular, normal below the diagonal and χ on
    it. With fewer degrees of freedom than variables, where it does not exist, the sum of as many
    squares as there are whole degrees of freedom.
    """
    n = len(root)
    if freedom > n - 1:
        triangle = np.tril(rng.standard_normal((n, n)), -1)
        np.fill_diagonal(triangle, np.sqrt(rng.chisquare(freedom - np.arange(n))))
        factor = root @ triangle
    else:
        factor = root @ rng.standard_normal((n, int(freedom)))
    scatter: FloatArray = factor @ factor.T
    return scatter
