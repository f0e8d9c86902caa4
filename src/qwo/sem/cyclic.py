"""Linear models on graphs with cycles: x = B x + e, fitted by maximum likelihood."""

from __future__ import annotations

import numpy as np

from qwo.types import FloatArray, Mask


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
