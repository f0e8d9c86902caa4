"""Dense algebra: the inverse of a correlation matrix, of its Cholesky factor, and regressions.

On the host this is LAPACK without the GIL, through the C interface of SciPy. The wrappers in
`scipy.linalg.lapack` hold the GIL for as long as a factorisation takes, and other threads wait.
`scipy.linalg.cython_lapack` exports the same routines as C functions, and ctypes releases the GIL
while it calls one. Another array module, such as CuPy, computes the same from its own Cholesky
factor: see `qwo.compute`.
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
