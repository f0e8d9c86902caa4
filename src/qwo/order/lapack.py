"""LAPACK without the GIL, through the C interface of SciPy.

The wrappers in `scipy.linalg.lapack` hold the GIL for as long as a factorisation takes, and other
threads wait. `scipy.linalg.cython_lapack` exports the same routines as C functions, and ctypes
releases the GIL while it calls one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy.linalg import cython_lapack

from qwo.types import FloatArray

Routine = Literal["dpotrf", "dtrtri", "dpotri"]


def invert_cholesky(matrix: FloatArray) -> int:
    """Replace the lower triangle of a symmetric matrix S by that of L, where L S Lᵀ = I.

    Parameters
    ----------
    matrix : ndarray, n×n, C-contiguous
        S; only its lower triangle is read and written.

    Returns
    -------
    int
        0, or the number k of the first leading k×k block that is not positive definite.
    """
    n = _check(matrix)
    # A row is a column to LAPACK, so that our lower triangle is its upper one.
    size, info = ctypes.c_int(n), ctypes.c_int(0)
    address = ctypes.c_void_p(matrix.ctypes.data)
    _routine("dpotrf", 5)(b"U", ctypes.byref(size), address, ctypes.byref(size), ctypes.byref(info))
    if info.value == 0:
        _routine("dtrtri", 6)(
            b"U", b"N", ctypes.byref(size), address, ctypes.byref(size), ctypes.byref(info)
        )
    return info.value


def invert(matrix: FloatArray) -> int:
    """Replace a positive definite symmetric matrix by its inverse.

    Parameters
    ----------
    matrix : ndarray, n×n, C-contiguous
        The matrix; spoilt if there is no inverse.

    Returns
    -------
    int
        0, or the number k of the first leading k×k block that is not positive definite.
    """
    n = _check(matrix)
    size, info = ctypes.c_int(n), ctypes.c_int(0)
    address = ctypes.c_void_p(matrix.ctypes.data)
    steps: tuple[Routine, ...] = ("dpotrf", "dpotri")
    for name in steps:
        _routine(name, 5)(b"U", ctypes.byref(size), address, ctypes.byref(size), ctypes.byref(info))
        if info.value:
            return info.value
    _mirror(matrix)
    return 0


def _mirror(matrix: FloatArray) -> None:
    """Copy the lower triangle to the upper one, a few rows at a time."""
    n, step = len(matrix), 64
    for start in range(0, n, step):
        stop = min(start + step, n)
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
        square = matrix[start:stop, start:stop]
        square[:] = np.tril(square) + np.tril(square, -1).T


def _check(matrix: FloatArray) -> int:
    n = len(matrix)
    if matrix.shape != (n, n) or not matrix.flags.c_contiguous or not matrix.flags.writeable:
        raise ValueError(f"wanted a writeable C-contiguous square matrix; got {matrix.shape}")
    return n


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
