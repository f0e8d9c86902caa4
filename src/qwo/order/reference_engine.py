"""The reference engine: the paper's Algorithm 1 behind the engine protocol, as it is written.

It keeps Q, calls Algorithm 1 for the block of the order that has changed, and reads L and D off QW.
A change over d places costs O(n²d). Tests and benchmarks compare the QWO engine with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.moments import Moments
from qwo.order.edge_test import EdgeTest, edge_test
from qwo.order.linalg import check_order
from qwo.order.objective import ObjectiveName, objective_for, squared_partial_correlations
from qwo.order.protocol import KeepsStates, as_index, check_block
from qwo.order.qwo import as_given_moments
from qwo.order.reference import (
    coefficient_matrix,
    order_factor_from_basis,
    qwo_by_matrix_products,
    whitening_matrix,
)
from qwo.types import FloatArray, Indices


class _State(NamedTuple):
    """Never modified in place, so that a mark is the state itself."""

    order: Indices
    order_basis: FloatArray
    factor: FloatArray
    precisions: FloatArray
    row_costs: FloatArray


class ReferenceEngine(KeepsStates):
    """Q of an order by Algorithm 1, with G^π and its cost; slow, and obvious.

    Parameters
    ----------
    moments, n_samples, test, penalty_discount, alpha, objective, order
        As for `qwo.order.qwo.QwoEngine`.
    """

    _state: _State

    def __init__(
        self,
        moments: Moments | npt.ArrayLike,
        n_samples: float | None = None,
        *,
        test: EdgeTest | None = None,
        penalty_discount: float | None = None,
        alpha: float | None = None,
        objective: ObjectiveName = "likelihood",
        order: Sequence[int] | Indices | None = None,
    ) -> None:
        self.moments = as_given_moments(moments, n_samples)
        n, size = self.moments.n_variables, self.moments.n_samples
        rule = edge_test(penalty_discount, alpha, n_variables=n, n_samples=size, test=test)
        self.tau = rule.threshold(n, size)
        self.objective = objective_for(objective, size)
        self._whitening = whitening_matrix(self.moments.correlation)
        self.reset(np.arange(n) if order is None else order)

    @property
    def order(self) -> Indices:
        """The present order, as a copy."""
        return self._state.order.copy()

    @property
    def cost(self) -> float:
        """The cost of the present order; lower is better."""
        return float(self._state.row_costs.sum())

    @property
    def n_edges(self) -> int:
        """The number of edges of G^π."""
        return int(np.count_nonzero(self._squared(self._state) > self.tau))

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order, O(n³); marks are forgotten."""
        places = check_order(order, self.moments.n_variables)
        n = len(places)
        empty = np.zeros((n, n))
        self._marks: list[_State] = []
        self._state = _State(places, empty, empty, empty, np.zeros(n))
        return self._update(places, 0, n - 1)

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``."""
        order = self.order
        start, variables = check_block(order, start, block)
        stop = start + len(variables)
        order[start:stop] = variables
        return self._update(order, start, stop - 1)

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in G^π, ascending."""
        v = as_index("variable", variable, self.n_variables)
        place = int(np.flatnonzero(self._state.order == v)[0])
        return np.flatnonzero(self._squared(self._state)[place] > self.tau)

    def coefficients(self) -> FloatArray:
        """(I - QW)ᵀ: entry (i, j) is the coefficient of i in the regression of j.

        The regression is that of standardised variables on all predecessors, edges or not.
        """
        return coefficient_matrix(self._state.order_basis, self._whitening).T

    def residual_variances(self) -> FloatArray:
        """The diagonal of QQᵀ: variances of the standardised variables given their predecessors."""
        return np.asarray(np.sum(self._state.order_basis**2, axis=1))

    def _update(self, order: Indices, first: int, last: int) -> float:
        """Algorithm 1 from idx_l = first to idx_r = last, and what follows from its rows of Q."""
        old = self._state
        block = slice(first, last + 1)
        basis = qwo_by_matrix_products(order, self._whitening, first, last, old.order_basis)
        factor, precisions, costs = (old.factor.copy(), old.precisions.copy(), old.row_costs.copy())
        factor[block] = order_factor_from_basis(order[block], basis, self._whitening)
        # Past the place of a variable its column is zero but for rounding, which D would divide by.
        factor[block][np.argsort(order)[None, :] > np.arange(first, last + 1)[:, None]] = 0.0
        before = precisions[first - 1] if first > 0 else 0.0
        precisions[block] = before + np.cumsum(factor[block] ** 2, axis=0)
        squared = squared_partial_correlations(order[block], factor[block], precisions[block])
        costs[block] = self.objective.row_costs(squared, self.tau)
        self._state = _State(order, basis, factor, precisions, costs)
        return self.cost

    @staticmethod
    def _squared(state: _State) -> FloatArray:
        return squared_partial_correlations(state.order, state.factor, state.precisions)
