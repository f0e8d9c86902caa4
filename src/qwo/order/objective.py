"""Objectives: what an order costs, as a sum over the pairs (i, j) with i before j.

Each pair is charged by r², the squared partial correlation of i and j given everything else before
j. With all edges drawn the likelihood is the same for every order, log det S, so that an order can
only win by what it may leave out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError
from qwo.types import FloatArray

ObjectiveName = Literal["likelihood", "edges"]


@dataclass(frozen=True)
class EdgeCount:
    """The number of edges of G^π: how often r² > τ. The paper's objective; it has wide plateaus."""

    def row_costs(self, squared: FloatArray, tau: float) -> FloatArray:
        """Sums over the last axis of a matrix of r²."""
        return np.asarray(np.count_nonzero(squared > tau, axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class CappedLikelihood:
    """The capped likelihood N Σ h(min(r², τ)) with h(x) = x + x²/2.

    Leaving a pair out loses -N log(1 - r²) of twice the log-likelihood, which N h(r²) follows
    closely below τ; drawing it costs its penalty, which is that loss at τ. The sum approximates
    the BIC of G^π and has no plateaus.

    Attributes
    ----------
    n_samples : float
        N, finite.
    """

    n_samples: float

    def row_costs(self, squared: FloatArray, tau: float) -> FloatArray:
        """Sums over the last axis of a matrix of r²."""
        capped = np.minimum(squared, tau)
        return np.asarray(self.n_samples * np.sum(capped + capped**2 / 2, axis=-1))


Objective = EdgeCount | CappedLikelihood


def objective_for(name: ObjectiveName, n_samples: float) -> Objective:
    """The objective of a name for N samples.

    The capped likelihood divided by its cap tends to the number of edges as N grows. With an exact
    covariance, N = ∞, both names therefore mean the number of edges.
    """
    if name not in get_args(ObjectiveName):
        choices = ", ".join(repr(choice) for choice in get_args(ObjectiveName))
        raise ArgumentError(f"objective must be one of {choices}; got {name!r}", option="objective")
    if name == "edges" or math.isinf(n_samples):
        return EdgeCount()
    return CappedLikelihood(n_samples)


def squared_partial_correlations(
    order: Sequence[int] | npt.NDArray[np.integer], factor: FloatArray, precisions: FloatArray
) -> FloatArray:
    """r²(k, i) = L[k, i]² / D[k, i], and 0 unless i stands before place k.

    L, the factor, and D, the precisions, have rows by place and columns by variable.
    """
    squared = np.divide(factor**2, precisions, out=np.zeros_like(factor), where=precisions > 0)
    squared[np.arange(len(factor)), np.asarray(order)] = 0.0
    return squared
