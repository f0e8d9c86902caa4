"""The likelihood of linear models on directed graphs that may have cycles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qwo._core import CyclicGraphs
from qwo.types import FloatArray


def cyclic_coefficients(correlation: FloatArray, graph: npt.NDArray[np.generic]) -> FloatArray:
    """The coefficients of the largest Gaussian likelihood: row i is the equation of variable i.

    By block coordinate descent (Drton, Fox and Wang 2019) from two starts; likelihoods of graphs
    with cycles may have several optima. Entry (i, j) of the graph is not 0 for i → j.
    """
    none = np.zeros(graph.shape, dtype=np.uint8)
    graphs = CyclicGraphs(
        np.ascontiguousarray(correlation), samples=1.0, price=0.0, may=none, must=none
    )
    return graphs.coefficients(as_mask(graph))


def as_mask(graph: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """A graph as the core takes it."""
    return np.ascontiguousarray(graph != 0).astype(np.uint8)
