"""The arrays of the package by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
"""Real numbers: data, moments, coefficients."""

Adjacency = npt.NDArray[np.int8]
"""The matrix of a graph: 1 = i → j; 2, in both entries, = undirected."""

Indices = npt.NDArray[np.intp]
"""Column numbers, or places in an order."""

Mask = npt.NDArray[np.bool_]
"""Which entries are meant."""


def read_only(array: FloatArray) -> FloatArray:
    """The array itself, which nobody can write to any more."""
    array.setflags(write=False)
    return array
