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


def strengths_of(moments: Moments, dag: Adjacency, children: Indices) -> FloatArray:
    """By how much each variable raises twice the log-likelihood of each child, or would raise it.

    That of a parent beside the other parents, and of any other variable beside all of them, as a
    straight line; NaN where one of the two has several columns, and for a variable and itself.
    """
    correlation, coding = moments.correlation, moments.coding
    single = coding.sizes == 1
    found = np.full((len(dag), len(children)), np.nan)
    for k, child in enumerate(children.tolist()):
        if not single[child]:
            continue
        parents = np.flatnonzero(dag[:, child])
        own, columns = int(coding.starts[child]), coding.columns_of(parents)
        inverse, across = inverse_of(correlation[np.ix_(columns, columns)]), correlation[columns]
        slopes = inverse @ across[:, own]
        left = max(1 - float(across[:, own] @ slopes), 1e-12)
        spread = 1 - np.einsum("pc,pq,qc->c", across, inverse, across, optimize=True)
        told = (correlation[own] - slopes @ across) ** 2 / np.maximum(spread, 1e-9)
        raised = -np.log1p(-np.minimum(told / left, 1 - 1e-12))
        raised[columns] = np.log1p(slopes**2 / np.maximum(np.diagonal(inverse), 1e-300) / left)
        found[single, k] = moments.n_samples * raised[coding.starts[single]]
        found[child, k] = np.nan
    return found


def inverse_of(among: FloatArray) -> FloatArray:
    """The inverse, or that of Moore and Penrose where columns follow from each other."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(among))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(among, hermitian=True))
    return np.asarray(root.T @ root)
