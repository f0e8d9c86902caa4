"""Candidates for the parents of each variable, for searches over thousands of variables.

The parents of v in an order are among the variables that depend on v given all others of its
prefix. In a good order these are the Markov boundary of v, which shows in the inverse of the
correlation matrix; in a poor one, with few variables before v, those that it is correlated with.

Where most are correlated with most, lists cannot foresee what a poor order needs. There, lists
should not come in before the first descent of the search has ended: see `are_crowded`.
"""

from __future__ import annotations

import numpy as np

from qwo.order.bic import ORACLE_SAMPLES
from qwo.order.edge_test import BicRule
from qwo.types import FloatArray, Indices

PARTIAL, MARGINAL = 50, 200
"""How many candidates a variable gets at least for their partial, and for their marginal
correlation.

With these, and lists that come in late where correlations are crowded, the search ends within an
edge's price or so of one in which all are candidates: n = 1100 … 2000, average degree 4 to 8 and
hubs, N = 5n.
"""

MOST_SIGNIFICANT = 1000
"""How many candidates a variable gets at most for their partial correlation. Hubs need hundreds:
with 50 for each, half of the searches with scale-free graphs ended far from the best score."""


CROWDED = 150
"""Graphs are crowded if more than half of the variables have more significant correlations than
this. At n = 1500 and N = 5n that is so from an average degree of 5 on; and there searches begin to
end far from the best score, by 80 edges' prices and more, if lists are there from the start."""


def are_crowded(correlation: FloatArray, n_samples: float) -> bool:
    """Whether variables are correlated with so many others that lists should come in late."""
    threshold = BicRule().threshold(len(correlation), min(n_samples, ORACLE_SAMPLES))
    counts = [np.count_nonzero(row**2 > threshold) - 1 for row in correlation]
    return bool(np.median(counts) > CROWDED)


def candidate_parents(
    correlation: FloatArray,
    precision: FloatArray,
    n_samples: float,
    *,
    partial: int = PARTIAL,
    marginal: int = MARGINAL,
) -> list[Indices]:
    """For each variable those with the largest partial and marginal correlations, ascending.

    Parameters
    ----------
    correlation : ndarray, n×n
        The correlation matrix.
    precision : ndarray, n×n
        Its inverse, as `qwo.order.precision.precision_matrix` has it.
    n_samples : float
        N; what is left of it after conditioning on n variables says which partial correlations are
        significant.
    partial, marginal : int
        How many are taken for their correlation with the variable given all others (more, if more
        are significant), and for that given nothing.
    """
    n = len(correlation)
    left = min(n_samples, ORACLE_SAMPLES) - n
    threshold = BicRule().threshold(n, left) if left >= 2 else 1.0
    scales = 1.0 / np.sqrt(np.diag(precision))
    lists = []
    for v in range(n):
        given_all = precision[v] * scales * scales[v]
        significant = int(np.count_nonzero(given_all**2 > threshold)) - 1
        count = max(partial, min(significant, MOST_SIGNIFICANT))
        lists.append(
            np.union1d(_largest(given_all, v, count), _largest(correlation[v], v, marginal))
        )
    return lists


def _largest(values: FloatArray, v: int, count: int) -> Indices:
    """The variables other than v with the largest values by magnitude."""
    sizes = np.abs(values)
    sizes[v] = -1.0
    n = len(sizes)
    return np.argpartition(sizes, n - 1 - min(count, n - 1))[n - min(count, n - 1) :]
