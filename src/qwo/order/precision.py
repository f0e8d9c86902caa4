"""The inverse of a correlation matrix, or of a stand-in where it has none."""

from __future__ import annotations

import numpy as np

from qwo.order.lapack import invert
from qwo.types import FloatArray

RIDGE = 0.01
"""Weight of the identity in the mixture that stands in for a singular correlation matrix."""


def precision_matrix(correlation: FloatArray, n_samples: float) -> FloatArray:
    """The inverse of the correlation matrix, or of its mixture with the identity: see `RIDGE`.

    The mixture is taken where there is no inverse, as always for n ≥ N. It takes n³ operations and
    the memory of the result.
    """
    inverse = np.array(correlation, order="C")
    if len(correlation) < n_samples and invert(inverse) == 0:
        return inverse
    np.multiply(correlation, 1 - RIDGE, out=inverse)
    np.fill_diagonal(inverse, inverse.diagonal() + RIDGE)
    invert(inverse)
    return inverse
