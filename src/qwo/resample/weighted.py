"""Moments of a resample, from how often it holds each row: the rows themselves are not copied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from qwo.moments.covariance import (
    BLOCK_ENTRIES,
    MIN_BLOCK_ROWS,
    Sample,
    mirror_lower,
    split_covariance,
)
from qwo.types import FloatArray

Weights = npt.NDArray[np.int64]

CONSTANT = 1e-13
"""A spread below this fraction of the mean is what rounding leaves of a constant column."""


def draw_weights(rng: np.random.Generator, n_rows: int, size: int, *, replace: bool) -> Weights:
    """How often each of N rows is in a resample: multinomial, or 0 and 1 without replacement."""
    if replace:
        return np.bincount(rng.integers(n_rows, size=size), minlength=n_rows)
    weights = np.zeros(n_rows, dtype=np.int64)
    weights[rng.choice(n_rows, size, replace=False, shuffle=False)] = 1
    return weights


def weighted_moments(values: FloatArray, weights: Weights) -> Sample | None:
    """Maximum-likelihood moments of rows that count several times, once or not at all.

    The scatter matrix Σ wᵣ (xᵣ - m)(xᵣ - m)ᵀ is a sum of products of blocks whose rows are scaled
    by √wᵣ. Only rows that are there are touched, in blocks that stay in the cache. The mean is
    known beforehand, so that no digits are lost by taking it off afterwards.

    Parameters
    ----------
    values : ndarray of shape (N, n), C-contiguous
        The table; squares of its entries must be representable.
    weights : ndarray of int, of length N
        How often each row counts.

    Returns
    -------
    Sample or None
        With ``n_samples`` the sum of the weights; None if a column is constant.
    """
    rows = np.flatnonzero(weights)
    counts = weights[rows].astype(np.float64)
    total = float(counts.sum())
    means = weights.astype(np.float64) @ values / total
    roots = np.sqrt(counts)[:, None]
    n_columns = values.shape[1]
    step = max(BLOCK_ENTRIES // n_columns, MIN_BLOCK_ROWS)
    buffer = np.empty((min(step, len(rows)), n_columns))
    scatter = np.zeros((n_columns, n_columns), order="F")
    for start in range(0, len(rows), step):
        chosen = rows[start : start + step]
        block = buffer[: len(chosen)]
        # Without a mode, NumPy gathers into a second buffer in case an index should be wrong.
        np.take(values, chosen, axis=0, out=block, mode="clip")
        block -= means
        block *= roots[start : start + step]
        scatter = dsyrk(1.0, block.T, beta=1.0, c=scatter, lower=1, overwrite_c=1)
    if (np.sqrt(np.diagonal(scatter) / total) <= CONSTANT * np.abs(means)).any():
        return None
    spans, correlation = split_covariance(mirror_lower(scatter))
    return Sample(total, means, spans / np.sqrt(total), correlation)
