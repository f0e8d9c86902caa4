"""Dense algebra: the inverse of a correlation matrix, of its Cholesky factor, and regressions.

On the host this is LAPACK without the GIL, through the C interface of SciPy. The wrappers in
`scipy.linalg.lapack` hold the GIL for as long as a factorisation takes, and other threads wait.
`scipy.linalg.cython_lapack` exports the same routines as C functions, and ctypes releases the GIL
while it calls one. Another array module, such as CuPy, computes the same from its own Cholesky
factor: see `qwo.compute`.

What every engine asks of the compiled core stands here too: its version, and the orders it takes.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
from scipy.linalg import cython_lapack

from qwo import _core
from qwo.compute import to_host
from qwo.errors import ArgumentError, OrderError
from qwo.moments.sums import mirror_lower
from qwo.types import Adjacency, FloatArray, Indices


def versions() -> dict[str, Any]:
    """Versions of qwo, Python, NumPy and SciPy, and the configuration of the compiled core."""
    core = dict(_core.build_config())
    return {
        "qwo": core.pop("version"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "core": core,
    }


def as_integers(values: Sequence[int] | Indices) -> npt.NDArray[np.int64]:
    """Integers as the array that the core takes."""
    try:
        given = np.asarray(values)
    except ValueError as error:  # as for rows of unequal lengths
        raise OrderError(f"wanted a sequence of integers: {error}") from error
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
        raise OrderError(
            f"wanted a sequence of integers; got shape {given.shape} of dtype {given.dtype}"
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def check_order(order: Sequence[int] | Indices, n_variables: int) -> Indices:
    """An order as an index array of its own; refused if it is no permutation of 0 … n - 1."""
    indices = np.array(as_integers(order), dtype=np.intp)
    if len(indices) != n_variables:
        raise OrderError(
            f"an order lists each of the {n_variables} variables once; got {len(indices)}"
        )
    if not np.array_equal(np.sort(indices), np.arange(n_variables)):
        raise OrderError(
            f"an order lists each of 0 … {n_variables - 1} once; "
            f"missing: {sorted(set(range(n_variables)) - set(indices.tolist()))[:5]}"
        )
    return indices


def check_kernels(name: str | None) -> str:
    """The name of kernels that there are, as the core takes it; "" for the fastest."""
    if name is None:
        return ""
    if name not in _core.available_kernels():
        raise ArgumentError(
            f"kernels must be one of {', '.join(_core.available_kernels())} on this processor; "
            f"got {name!r}"
        )
    return name


RIDGE = 0.01
"""Weight of the identity in the mixture that stands in for a singular correlation matrix."""

Routine = Literal["dpotrf", "dtrtri", "dpotri"]


def precision_matrix(correlation: FloatArray, n_samples: float, xp: Any = np) -> FloatArray:
    """The inverse of the correlation matrix, or of its mixture with the identity: see `RIDGE`.

    The mixture is taken where there is no inverse, as always for n ≥ N. It takes n³ operations and
    the memory of the result. Matrix and result are arrays of `xp`, which computes.
    """
    inverse: FloatArray = xp.array(correlation, order="C")
    for ridge in (0.0, RIDGE) if len(correlation) < n_samples else (RIDGE,):
        if ridge:
            xp.multiply(correlation, 1 - ridge, out=inverse)
            each = xp.arange(len(inverse))
            inverse[each, each] += ridge
        if xp is not np:
            half = _inverse_factor(inverse, xp)
            if half is None:
                continue
            xp.matmul(half.T, half, out=inverse)
            # What rounds differently on both sides of the diagonal is averaged.
            inverse += inverse.T.copy()
            inverse /= 2
            break
        # A matrix that is not positive definite is spoilt.
        if not _apply("dpotrf", inverse) and not _apply("dpotri", inverse):
            mirror_lower(inverse)
            break
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


def explained(
    correlation: FloatArray,
    dag: Adjacency,
    sizes: Indices | None = None,
    leading: Indices | None = None,
) -> Explained:
    """What the edges of a DAG explain, from the inverse for each family.

    Of blocks, of so many columns as a parent and the leading ones of these as a child: 1 - Λ for
    r², and the geometric mean over columns of what is left.
    """
    columns = np.ones(len(dag), np.intp) if sizes is None else sizes
    leads = (columns if leading is None else leading).tolist()
    # In the order of effects; through the transposed matrix this would take ten times as long.
    causes, effects = np.divmod(np.flatnonzero(dag != 0), max(len(dag), 1))
    by_effect = np.argsort(effects, kind="stable")
    causes, effects = causes[by_effect], effects[by_effect]
    ends = np.cumsum(np.bincount(effects, minlength=len(dag)))
    found = _core.explained(correlation, causes, ends, columns.tolist(), leads)
    return Explained(causes, effects, *found)


mixture_weights = _core.mixture_weights
"""The weights w of k kernels K at m points beside a known density, by so many rounds of EM.

In each round w_j becomes w_j Σ_i K_ij / (known_i + Σ_l K_il w_l) / visible_j; `visible` is the
share of each kernel that can be seen.
"""


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


def score_bound(correlation: FloatArray, n_samples: float, price: float) -> float:
    """-N log |R| - Σ over a maximum spanning tree of min(price, -N log(1 - r²)).

    No DAG fits better than all edges together, -N log |R|. If the edges of a DAG leave m pieces
    that no path joins, it has n - m edges at least, and loses what the pieces tell of each other.
    By the chain rule that is at least the sum of m - 1 pairs' -N log(1 - r²), one across each
    join, for which edges of the maximum spanning tree of these numbers can be taken (Chow and Liu's
    tree): at least its m - 1 smallest. The best m leaves out those edges that are not worth their
    price. O(n³); infinite if the matrix is singular.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    sign, log_det = np.linalg.slogdet(correlation)
    if sign <= 0:
        return float("inf")
    squares = np.minimum(correlation**2, 1 - 1e-15)
    np.fill_diagonal(squares, 0.0)
    worth = -n_samples * np.log1p(-squares)
    # The sparse routine takes 0 for no edge: where nothing is worth anything nothing is lost.
    tree = -minimum_spanning_tree(-worth).data
    return float(-n_samples * log_det - np.minimum(tree, price).sum())


CyclicGraphs = _core.CyclicGraphs
"""The likelihood of linear models on directed graphs that may have cycles."""


def cyclic_coefficients(correlation: FloatArray, graph: npt.NDArray[np.generic]) -> FloatArray:
    """The coefficients of the largest Gaussian likelihood: row i is the equation of variable i.

    By block coordinate descent (Drton, Fox and Wang 2019) from two starts; likelihoods of graphs
    with cycles may have several optima. Entry (i, j) of the graph is not 0 for i → j.
    """
    return cyclic_graphs(correlation, 1.0, 0.0).coefficients(as_mask(graph))


def cyclic_graphs(correlation: FloatArray, n_samples: float, price: float) -> CyclicGraphs:
    """The costs of all directed graphs, and the descent over them."""
    may = as_mask(~np.eye(len(correlation), dtype=bool))
    return CyclicGraphs(
        np.ascontiguousarray(correlation),
        samples=n_samples,
        price=price,
        may=may,
        must=np.zeros_like(may),
    )


def as_mask(graph: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """A graph as the core takes it."""
    return np.ascontiguousarray(graph != 0).astype(np.uint8)
