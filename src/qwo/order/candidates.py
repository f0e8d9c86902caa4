"""Candidates for the parents of each variable, for searches over thousands of variables.

The parents of v in an order are among the variables that depend on v given all others of its
prefix. In a good order these are the Markov boundary of v, which shows in the inverse of the
correlation matrix; in a poor one, with few variables before v, those that it is correlated with.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qwo.graph.dag import Indices

Matrix = npt.NDArray[np.float64]

PARTIAL, MARGINAL = 50, 200
"""How many candidates a variable gets for their partial and their marginal correlation.

With these the search ends with the scores of one without lists: n = 700 … 5000, average degree 2 to
8, N = n/2 … 10n. With 100 for 200 it did so up to degree 4, but not at degree 8.
"""


def candidate_parents(
    correlation: Matrix, precision: Matrix, *, partial: int = PARTIAL, marginal: int = MARGINAL
) -> list[Indices]:
    """For each variable those with the largest partial and marginal correlations, ascending.

    Parameters
    ----------
    correlation : ndarray, n×n
        The correlation matrix.
    precision : ndarray, n×n
        Its inverse, as `qwo.order.precision.precision_matrix` has it.
    partial, marginal : int
        How many are taken for their correlation with the variable given all others, and for that
        given nothing.
    """
    scales = 1.0 / np.sqrt(np.diag(precision))
    return [
        np.union1d(
            _largest(precision[v] * scales, v, partial), _largest(correlation[v], v, marginal)
        )
        for v in range(len(correlation))
    ]


def _largest(values: Matrix, v: int, count: int) -> Indices:
    """The variables other than v with the largest values by magnitude."""
    sizes = np.abs(values)
    sizes[v] = -1.0
    n = len(sizes)
    return np.argpartition(sizes, n - 1 - min(count, n - 1))[n - min(count, n - 1) :]
