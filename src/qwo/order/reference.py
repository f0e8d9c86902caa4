"""The paper's objects as the paper defines them: slow, obvious, and what tests compare with.

Notation: π is ``order`` (``order[k]`` is the variable at place k, counted from 0), W ``whitening``,
Q ``order_basis``, G^π the order DAG. Row v of Q and of B = I - QW belongs to variable v.

The paper asks for P_π QW P_πᵀ to be "upper triangular". Its entry (i, j) is ⟨q_π(i), w_π(j)⟩, and
what the paper derives and uses is that this vanishes for j > i. By its definition of P_π the matrix
is QW[order][:, order], which is then lower triangular in the usual reading of rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qwo.errors import CovarianceError
from qwo.graph.adjustment import d_separated
from qwo.types import Adjacency, FloatArray

Order = Sequence[int] | npt.NDArray[np.integer]


def whitening_matrix(covariance: npt.ArrayLike) -> FloatArray:
    """W = U S^(-1/2) Uᵀ, where Cov(X) = U S Uᵀ is the singular value decomposition."""
    matrix = np.asarray(covariance, dtype=np.float64)
    u, s, _ = np.linalg.svd(matrix)
    if s[-1] <= len(s) * np.finfo(np.float64).eps * s[0]:
        raise CovarianceError(
            f"the covariance matrix is singular: its singular values go from {s[0]:.3g} down to "
            f"{s[-1]:.3g}; remove variables that are combinations of others, or shrink it"
        )
    return np.asarray((u / np.sqrt(s)) @ u.T)


def qwo(
    order: Order,
    whitening: FloatArray,
    idx_l: int | None = None,
    idx_r: int | None = None,
    order_basis: FloatArray | None = None,
) -> FloatArray:
    """Algorithm 1: the matrix Q with orthogonal rows for which G(I - QW) is compatible with π.

    Gram–Schmidt on the columns of W from the last place of the order to the first. The graph of
    line 8 is ``graph_of(coefficient_matrix(Q, W), tolerance)``.

    Parameters
    ----------
    order : sequence of int
        The order π.
    whitening : ndarray, n×n
        The whitening matrix W.
    idx_l, idx_r : int, optional
        First and last place, from 0 and inclusive, of the block of the order that has changed;
        all places if not given.
    order_basis : ndarray, n×n, optional
        Q of the order before the change. It is not modified.

    Returns
    -------
    ndarray, n×n
        Q; row ``order[k]`` belongs to the variable at place k.
    """
    n = len(order)
    first = 0 if idx_l is None else idx_l
    last = n - 1 if idx_r is None else idx_r
    q = np.zeros((n, n)) if order_basis is None else order_basis.copy()
    for i in range(last, first - 1, -1):
        w = whitening[:, order[i]]
        r = w.copy()
        for j in range(i + 1, n):
            later = q[order[j]]
            r -= (w @ later) / (later @ later) * later
        q[order[i]] = r / (r @ w)
    return q


def qwo_by_matrix_products(
    order: Order,
    whitening: FloatArray,
    idx_l: int | None = None,
    idx_r: int | None = None,
    order_basis: FloatArray | None = None,
) -> FloatArray:
    """Algorithm 1 with the sum of line 5 as two matrix products; otherwise the same as `qwo`.

    O(n²) for each place of the block: the fair opponent in benchmarks.
    """
    places = np.asarray(order)
    n = len(places)
    first = 0 if idx_l is None else idx_l
    last = n - 1 if idx_r is None else idx_r
    by_place = np.zeros((n, n)) if order_basis is None else order_basis[places]
    square = np.zeros(n)
    square[last + 1 :] = np.einsum("ij,ij->i", by_place[last + 1 :], by_place[last + 1 :])
    for i in range(last, first - 1, -1):
        w = whitening[:, places[i]]
        later = by_place[i + 1 :]
        r = w - ((later @ w) / square[i + 1 :]) @ later
        by_place[i] = r / (r @ w)
        square[i] = by_place[i] @ by_place[i]
    q = np.empty((n, n))
    q[places] = by_place
    return q


def coefficient_matrix(order_basis: FloatArray, whitening: FloatArray) -> FloatArray:
    """B = I - QW: row j holds the coefficients of variable j on its causes."""
    return np.eye(len(whitening)) - order_basis @ whitening


def graph_of(coefficients: FloatArray, tolerance: float = 0.0) -> Adjacency:
    """G(B), whose adjacency matrix is the support of Bᵀ: i → j where |B[j, i]| > tolerance."""
    return (np.abs(coefficients.T) > tolerance).astype(np.int8)


def partial_correlation(
    correlation: FloatArray, i: int, j: int, given: Sequence[int] = ()
) -> float:
    """The correlation of i and j given other variables, from the inverse of their sub-matrix."""
    chosen = [i, j, *given]
    precision = np.linalg.inv(correlation[np.ix_(chosen, chosen)])
    return float(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))


def order_dag_by_definition(order: Order, correlation: FloatArray, tau: float) -> Adjacency:
    """G^π by its definition: i → j where i precedes j and is dependent on it given the others.

    Dependent means that their squared partial correlation given all other predecessors of j
    exceeds tau.
    """
    dag = np.zeros(correlation.shape, dtype=np.int8)
    for place, j in enumerate(order):
        for i in order[:place]:
            others = [v for v in order[:place] if v != i]
            dag[i, j] = partial_correlation(correlation, int(i), int(j), others) ** 2 > tau
    return dag


def order_dag_by_separation(order: Order, dag: npt.ArrayLike) -> Adjacency:
    """G^π by its definition, for a distribution that is independent where a DAG d-separates."""
    result = np.zeros((len(order), len(order)), dtype=np.int8)
    for place, j in enumerate(order):
        for i in order[:place]:
            others = [v for v in order[:place] if v != i]
            result[i, j] = not d_separated(dag, int(i), int(j), others)
    return result


def order_factor_by_definition(order: Order, correlation: FloatArray) -> FloatArray:
    """L: row k holds the coefficients of the standardised residual of ``order[k]``.

    The residual is that of the regression on its predecessors. Rows by place, columns by variable.
    """
    factor = np.zeros(correlation.shape)
    for k, v in enumerate(order):
        before = list(order[:k])
        cross = correlation[before, v]
        slopes = np.linalg.solve(correlation[np.ix_(before, before)], cross)
        deviation = np.sqrt(correlation[v, v] - cross @ slopes)
        factor[k, v] = 1 / deviation
        factor[k, before] = -slopes / deviation
    return factor


def prefix_precisions_by_definition(order: Order, correlation: FloatArray) -> FloatArray:
    """D: entry (k, i) is entry (i, i) of the inverse covariance of the first k + 1 variables.

    It is 0 if i is not among them. Rows by place, columns by variable.
    """
    precisions = np.zeros(correlation.shape)
    for k in range(len(order)):
        prefix = list(order[: k + 1])
        inverse = np.linalg.inv(correlation[np.ix_(prefix, prefix)])
        precisions[k, prefix] = inverse.diagonal()
    return precisions


def order_factor_from_basis(
    order: Order, order_basis: FloatArray, whitening: FloatArray
) -> FloatArray:
    """L from Q and W: row ``order[k]`` of QW divided by the length of that row of Q."""
    places = np.asarray(order)
    rows = order_basis[places]
    return np.asarray(rows @ whitening / np.linalg.norm(rows, axis=1, keepdims=True))
