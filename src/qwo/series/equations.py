"""Regressions of present variables on their parents: coefficients with standard errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qwo.moments.moments import Moments
from qwo.types import Adjacency, FloatArray, Indices


class Equations(NamedTuple):
    """Coefficients, standard errors and residual variances, in the units of the data.

    Entry (i, j) of the first two belongs to i → j, over variables; NaN where one of them has
    several columns, and 0 where there is no edge.
    """

    coefficients: FloatArray
    errors: FloatArray
    variances: FloatArray


def equations_of(moments: Moments, dag: Adjacency, children: Indices) -> Equations:
    """The equation of each child, by least squares; rows less coefficients are left for its noise.

    For a category of several levels there is no one coefficient.
    """
    coding, n = moments.coding, len(dag)
    covariance = moments.covariance
    coefficients, errors = np.zeros((n, n)), np.zeros((n, n))
    variances = np.full(len(children), np.nan)
    for k, child in enumerate(children.tolist()):
        parents = np.flatnonzero(dag[:, child])
        if coding.sizes[child] != 1:
            coefficients[parents, child] = errors[parents, child] = np.nan
            continue
        own, columns = int(coding.starts[child]), coding.columns_of(parents)
        among = covariance[np.ix_(columns, columns)]
        inverse = inverse_of(among)
        slopes = inverse @ covariance[columns, own]
        left = max(float(covariance[own, own] - covariance[columns, own] @ slopes), 0.0)
        free = max(moments.n_samples - len(columns) - 1, 1.0)
        scatter = left * moments.n_samples / free if np.isfinite(free) else left
        variances[k] = scatter
        spread = np.sqrt(np.maximum(scatter * np.diagonal(inverse), 0) / moments.n_samples)
        single = coding.sizes[parents] == 1
        starts = np.cumsum(coding.sizes[parents]) - coding.sizes[parents]
        coefficients[parents, child] = np.where(single, slopes[starts], np.nan)
        errors[parents, child] = np.where(single, spread[starts], np.nan)
    return Equations(coefficients, errors, variances)


def inverse_of(among: FloatArray) -> FloatArray:
    """The inverse, or that of Moore and Penrose where columns follow from each other."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(among))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(among, hermitian=True))
    return np.asarray(root.T @ root)
