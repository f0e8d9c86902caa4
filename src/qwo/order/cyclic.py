"""The likelihood of linear models on directed graphs that may have cycles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qwo._core import CyclicGraphs
from qwo.types import FloatArray

__all__ = ["CyclicGraphs", "as_mask", "cyclic_coefficients", "cyclic_graphs"]


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
