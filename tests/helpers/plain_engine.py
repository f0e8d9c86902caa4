"""The smallest order engine there is: everything anew from the definition after every move."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from qwo.order.linalg import check_order
from qwo.order.protocol import EngineBase
from qwo.types import Indices

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class PlainEngine(EngineBase):
    """G^π by squared partial correlations above tau; the cost is its number of edges.

    With a cap, the cost is the sum over all pairs of min(-weight·log(1 - r²), cap).
    """

    def __init__(
        self, correlation: Matrix, tau: float, *, weight: float = 1.0, cap: float | None = None
    ) -> None:
        self._correlation = correlation
        self._tau = tau
        self._weight, self._cap = weight, cap
        self.reset(range(len(correlation)))

    @property
    def order(self) -> Indices:
        return self._order.copy()

    @property
    def cost(self) -> float:
        if self._cap is None:
            return float(np.count_nonzero(self._squares > self._tau))
        return float(np.minimum(-self._weight * np.log1p(-self._squares), self._cap).sum())

    def reset(self, order: Sequence[int] | Indices) -> float:
        self._order = check_order(order, len(self._correlation))
        self._marks: list[tuple[Indices, Matrix]] = []
        return self._rebuild()

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        self._order = self._order.copy()
        self._order[start : start + len(block)] = block
        return self._rebuild()

    def parents(self, variable: int) -> Indices:
        return np.flatnonzero(self._squares[:, variable] > self._tau)

    def mark(self) -> int:
        self._marks.append((self._order, self._squares))
        return len(self._marks) - 1

    def undo(self, mark: int) -> float:
        self._order, self._squares = self._marks[mark]
        del self._marks[mark:]
        return self.cost

    def release(self, mark: int) -> None:
        if not 0 <= mark < len(self._marks):
            raise AssertionError(f"mark {mark} has ended")
        del self._marks[mark:]

    def _rebuild(self) -> float:
        """Rows of the inverse Cholesky factor give r²(k, i) = l_k[i]² / Σ_{j ≤ k} l_j[i]²."""
        placed = self._correlation[np.ix_(self._order, self._order)]
        squares = np.linalg.inv(np.linalg.cholesky(placed)) ** 2
        totals = np.cumsum(squares, axis=0)
        ratios = np.tril(squares / np.where(totals > 0, totals, math.inf), -1)
        self._squares = np.empty_like(ratios)
        self._squares[np.ix_(self._order, self._order)] = ratios.T
        return self.cost
