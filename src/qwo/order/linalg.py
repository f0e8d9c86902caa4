"""Dense algebra: the inverse of a correlation matrix, of its Cholesky factor, and regressions.

On the host this is LAPACK without the GIL, through the C interface of SciPy. The wrappers in
`scipy.linalg.lapack` hold the GIL for as long as a factorisation takes, and other threads wait.
`scipy.linalg.cython_lapack` exports the same routines as C functions, and ctypes releases the GIL
while it calls one. Another array module, such as CuPy, computes the same from its own Cholesky
factor: see `qwo.compute`.

The inverse also shows who may become a parent of whom, where thousands of variables need lists of
candidates. The parents of v in an order are among the variables that depend on v given all others
of its prefix. In a good order these are the Markov boundary of v, which shows in the inverse; in a
poor one, with few variables before v, those that it is correlated with. Where most are correlated
with most, lists cannot foresee what a poor order needs, and should not come in before the first
descent of the search has ended: see `are_crowded`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import cython_lapack

from qwo import _core
from qwo.compute import to_host
from qwo.moments.sums import mirror_lower
from qwo.order.blocks import net_gains, whitened_within
from qwo.order.edge_test import BicRule
from qwo.order.problem import ORACLE_SAMPLES
from qwo.order.score import Score
from qwo.types import Adjacency, FloatArray, Indices

RIDGE = 0.01
"""Weight of the identity in the mixture that stands in for a singular correlation matrix."""

Routine = Literal["dpotrf", "dtrtri", "dpotri"]


def precision_matrix(correlation: FloatArray, n_samples: float, xp: Any = np) -> FloatArray:
    """The inverse of the correlation matrix, or of its mixture with the identity: see `RIDGE`.

    The mixture is taken where there is no inverse, as always for n ≥ N. It takes n³ operations and
    the memory of the result. Matrix and result are arrays of `xp`, which computes.
    """
    inverse: FloatArray = xp.array(correlation, order="C")
    if len(correlation) < n_samples and _inverted(inverse, xp):
        return inverse
    xp.multiply(correlation, 1 - RIDGE, out=inverse)
    each = xp.arange(len(inverse))
    inverse[each, each] += RIDGE
    _inverted(inverse, xp)
    return inverse


SWEPT = 128
"""Columns that are swept at a time where somebody may stop: 2 n² times as many operations."""


def swept_inverse(
    correlation: FloatArray, n_samples: float, go_on: Callable[[], bool]
) -> FloatArray | None:
    """The same by blocks of columns, asking before each; None if stopped.

    Gauss and Jordan's elimination in place, whose pivots are what is left of blocks given those
    before them. It takes 2 n³ operations.
    """
    n = len(correlation)
    mixed = n >= n_samples
    while True:
        inverse = np.array(correlation, order="C")
        if mixed:
            inverse *= 1 - RIDGE
            inverse[np.arange(n), np.arange(n)] += RIDGE
        try:
            for start in range(0, n, SWEPT):
                if not go_on():
                    return None
                own = slice(start, min(start + SWEPT, n))
                pivot = np.linalg.inv(np.linalg.cholesky(inverse[own, own]))
                pivot = pivot.T @ pivot
                below, across = inverse[:, own].copy(), pivot @ inverse[own]
                inverse -= below @ across
                inverse[own] = across
                inverse[:, own] = -below @ pivot
                inverse[own, own] = pivot
        except np.linalg.LinAlgError:
            if mixed:
                raise
            mixed = True
            continue
        return (inverse + inverse.T) / 2


def inverse_cholesky(matrix: FloatArray, xp: Any = np) -> tuple[FloatArray, int]:
    """L with L S Lᵀ = I, lower triangular, and 0.

    Or, where S is not positive definite, the number of the first leading block that is not. The
    memory of S, C-contiguous and the host's, is used; `xp` computes.
    """
    if xp is not np:
        half = _inverse_factor(xp.asarray(matrix), xp)
        if half is not None:
            return to_host(half), 0
    failed = invert_cholesky(matrix)
    return np.tril(matrix), failed


def regressions(
    correlation: FloatArray, dag: Adjacency
) -> Iterator[tuple[int, Indices, FloatArray, float]]:
    """Each variable with its parents, their coefficients, and the variance that they leave.

    Everything is on the scale of correlations.
    """
    for child, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        cross = correlation[parents, child]
        slopes = np.linalg.solve(correlation[parents][:, parents], cross)
        yield child, parents, slopes, 1.0 - float(cross @ slopes)


class Explained(NamedTuple):
    """What the edges of a DAG explain.

    causes, effects: the edges, by effect; shares: r² of each given the other parents.
    variances: what the parents of each variable leave, on the scale of correlations.
    """

    causes: Indices
    effects: Indices
    shares: FloatArray
    variances: FloatArray


def edges_by_effect(dag: Adjacency) -> tuple[Indices, Indices]:
    """Causes and effects of the edges, ordered by effect."""
    causes, effects = np.divmod(np.flatnonzero(dag != 0), max(len(dag), 1))
    by_effect = np.argsort(effects, kind="stable")
    return causes[by_effect], effects[by_effect]


def explained(correlation: FloatArray, dag: Adjacency) -> Explained:
    """What the edges of a DAG explain, from the inverse for each family."""
    causes, effects = edges_by_effect(dag)
    ends = np.cumsum(np.bincount(effects, minlength=len(dag)))
    return Explained(causes, effects, *_core.explained(correlation, causes, ends))


def mixture_weights(
    kernels: FloatArray, known: FloatArray, visible: FloatArray, rounds: int
) -> FloatArray:
    """The weights w of k kernels K at m points beside a known density, by so many rounds of EM.

    In each round w_j becomes w_j Σ_i K_ij / (known_i + Σ_l K_il w_l) / visible_j; `visible` is the
    share of each kernel that can be seen.
    """
    return _core.mixture_weights(kernels, known, visible, rounds)


def _inverted(matrix: FloatArray, xp: Any) -> bool:
    """Replace a positive definite matrix by its inverse; one that is not so is spoilt."""
    if xp is np:
        if _apply("dpotrf", matrix) or _apply("dpotri", matrix):
            return False
        mirror_lower(matrix)
        return True
    half = _inverse_factor(matrix, xp)
    if half is None:
        return False
    xp.matmul(half.T, half, out=matrix)
    # What rounds differently on both sides of the diagonal is averaged.
    matrix += matrix.T.copy()
    matrix /= 2
    return True


def _inverse_factor(matrix: FloatArray, xp: Any) -> Any:
    """L with L S Lᵀ = I by an array module; None where S is not positive definite."""
    try:
        lower = xp.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    # CuPy need not raise: what it leaves is no number then.
    if not bool((xp.diagonal(lower) > 0).all()) or not bool(xp.isfinite(lower[-1]).all()):
        return None
    return xp.tril(xp.linalg.inv(lower))


def invert_cholesky(matrix: FloatArray) -> int:
    """Replace the lower triangle of a symmetric matrix S by that of L, where L S Lᵀ = I.

    S is C-contiguous; only its lower triangle is read and written. The result is 0, or the number k
    of the first leading k×k block that is not positive definite.
    """
    return _apply("dpotrf", matrix) or _apply("dtrtri", matrix)


def _apply(name: Routine, matrix: FloatArray) -> int:
    """Run a LAPACK routine on the lower triangle of a matrix; what it has to say, 0 if nothing."""
    n = len(matrix)
    if matrix.shape != (n, n) or not matrix.flags.c_contiguous or not matrix.flags.writeable:
        raise ValueError(f"wanted a writeable C-contiguous square matrix; got {matrix.shape}")
    size, info = ctypes.c_int(n), ctypes.c_int(0)
    # A row is a column to LAPACK, so that our lower triangle is its upper one.
    which = (b"U", b"N") if name == "dtrtri" else (b"U",)
    order = ctypes.byref(size)
    address = ctypes.c_void_p(matrix.ctypes.data)
    _routine(name, len(which) + 4)(*which, order, address, order, ctypes.byref(info))
    return info.value


@cache
def _routine(name: Routine, n_arguments: int) -> Callable[..., None]:
    """A LAPACK routine; all of its arguments are pointers."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule: Any = cython_lapack.__pyx_capi__[name]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    arguments = [ctypes.c_void_p] * n_arguments
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *arguments)(address)
    return routine


def tree_order(association: FloatArray, root: int) -> Indices:
    """Variables breadth first through the maximum spanning tree of |association|, from a root."""
    return np.array(_core.tree_order(np.ascontiguousarray(association), root), dtype=np.intp)


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


ROWS_AT_ONCE = 256
"""Rows that are ranked together: few calls for a device, and few megabytes for the host."""


def are_crowded(correlation: FloatArray, n_samples: float, xp: Any = np) -> bool:
    """Whether variables are correlated with so many others that lists should come in late."""
    threshold = BicRule().threshold(len(correlation), min(n_samples, ORACLE_SAMPLES))
    counts = [
        to_host(xp.count_nonzero(correlation[rows] ** 2 > threshold, axis=1)) - 1
        for rows in _batches(len(correlation))
    ]
    return bool(np.median(np.concatenate(counts)) > CROWDED)


def candidate_parents(
    correlation: FloatArray,
    precision: FloatArray,
    n_samples: float,
    *,
    partial: int = PARTIAL,
    marginal: int = MARGINAL,
    xp: Any = np,
) -> list[Indices]:
    """For each variable those with the largest partial and marginal correlations, ascending.

    So many are taken for their correlation given all others (`partial`; more, if more are
    significant with what N leaves after conditioning on n variables) and given nothing
    (`marginal`). Both matrices are arrays of `xp`; the lists are in the host's memory.
    """
    n = len(correlation)
    left = min(n_samples, ORACLE_SAMPLES) - n
    threshold = BicRule().threshold(n, left) if left >= 2 else 1.0
    scales = 1.0 / xp.sqrt(xp.diagonal(precision))
    lists: list[Indices] = []
    for rows in _batches(n):
        given_all = precision[rows] * scales * scales[rows, None]
        significant = to_host(xp.count_nonzero(given_all**2 > threshold, axis=1)) - 1
        counts = np.maximum(partial, np.minimum(significant, MOST_SIGNIFICANT))
        alone = np.full(len(counts), marginal)
        lists += _either(
            _largest(given_all, rows, counts, xp), _largest(correlation[rows], rows, alone, xp)
        )
    return lists


def block_candidates(
    correlation: FloatArray,
    precision: FloatArray,
    sizes: Indices,
    n_samples: float,
    *,
    score: Score,
    leading: Indices | None = None,
    partial: int = PARTIAL,
    marginal: int = MARGINAL,
) -> tuple[list[Indices], bool]:
    """The same for variables that own blocks of columns, and whether they are crowded.

    Candidates are ranked by what they explain of a variable less what the edge would cost, given
    all others and given nothing. The correlations are those of columns whitened within each block.
    """
    size = min(n_samples, ORACLE_SAMPLES)
    n, left = len(sizes), max(size - len(correlation), 2.0)
    within = whitened_within(precision, sizes)
    # Given all others a variable is taken whole: given its own functions nothing is left of it.
    given_all = net_gains(within, sizes, sizes, left, score)
    lead = sizes if leading is None else leading
    given_nothing = net_gains(correlation, sizes, lead, size, score)
    everyone = slice(0, n)
    counts = np.maximum(partial, np.minimum((given_all > 0).sum(axis=1), MOST_SIGNIFICANT))
    lists = _either(
        _largest(given_all - given_all.min(), everyone, counts, np),
        _largest(given_nothing - given_nothing.min(), everyone, np.full(n, marginal), np),
    )
    crowded = bool(np.median((given_nothing > 0).sum(axis=1)) > CROWDED)
    return lists, crowded


def _batches(n: int) -> list[slice]:
    return [slice(first, min(first + ROWS_AT_ONCE, n)) for first in range(0, n, ROWS_AT_ONCE)]


def _either(first: list[Indices], second: list[Indices]) -> list[Indices]:
    """What is in one of two lists, ascending, for each variable."""
    return [np.unique(np.concatenate(both)) for both in zip(first, second, strict=True)]


def _largest(values: Any, rows: slice, counts: Indices, xp: Any) -> list[Indices]:
    """In each of some rows, so many other variables with the largest values by magnitude."""
    sizes = xp.abs(values)
    height, n = sizes.shape
    sizes[xp.arange(height), xp.arange(rows.start, rows.stop)] = -1.0
    counts = np.minimum(counts, n - 1)
    found: list[Indices] = [np.empty(0, dtype=np.intp)] * height
    for count in np.unique(counts).tolist():
        alike = np.flatnonzero(counts == count)
        ranked = xp.argpartition(sizes[xp.asarray(alike)], n - 1 - count, axis=1)
        for row, listed in zip(alike.tolist(), to_host(ranked[:, n - count :]), strict=True):
            found[row] = listed
    return found
