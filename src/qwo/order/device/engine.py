"""The QWO engine on a GPU: G^π from the order factor, many variables scanned and moved at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.errors import EngineError
from qwo.moments import Moments
from qwo.order.device.cuda import CudaKernels
from qwo.order.device.kernels import COLUMNS_PER_BLOCK, Charge, Kernels, Move
from qwo.order.edge_test import edge_test
from qwo.order.objective import CappedLikelihood, ObjectiveName, objective_for
from qwo.order.protocol import Changes, EngineBase, check_order
from qwo.order.qwo import as_given_moments
from qwo.types import Adjacency, FloatArray, Indices, Mask

HIGHEST_TAU = 1.0 - 1e-9
"""The ratio on the diagonal of a row is 1 up to rounding, and must stay above tau."""

WASTE = 0.1
"""Columns are packed once rows reach past their own places by this share of them, on average."""

ROWS_AT_ONCE = 512
"""Rows that are brought to the host together when the graph is read off."""


class Improvement(NamedTuple):
    """What became of movers: who moved, who must wait since ways crossed, the change in cost."""

    moved: Indices
    waiting: Indices
    change: float


class GpuEngine(EngineBase):
    """The order factor of an order π in the memory of a GPU, with G^π and its cost.

    The same numbers as `QwoEngine` up to rounding; what differs is that many variables are scanned
    together and that moves over separate stretches of the order are made together. The engine
    follows the protocol `qwo.order.protocol.OrderEngine`. It needs about eight n×n matrices of
    device memory while it is built, and five later on.

    Parameters
    ----------
    moments, n_samples, penalty_discount, alpha, objective
        As for `QwoEngine`.
    order : sequence of int, optional
        The first order; if not given, variables by their R² on all others, the least first, which
        the factor of any order tells.
    kernels : type
        What computes: `CudaKernels`, or `HostKernels` to do without a GPU, slowly.
    """

    def __init__(
        self,
        moments: Moments | npt.ArrayLike,
        n_samples: float | None = None,
        *,
        penalty_discount: float | None = None,
        alpha: float | None = None,
        objective: ObjectiveName = "likelihood",
        order: Sequence[int] | Indices | None = None,
        kernels: Any = CudaKernels,
    ) -> None:
        self.moments = as_given_moments(moments, n_samples)
        n, size = self.moments.n_variables, self.moments.n_samples
        rule = edge_test(penalty_discount, alpha, n_variables=n, n_samples=size)
        self.tau = min(rule.threshold(n, size), HIGHEST_TAU)
        counted = not isinstance(objective_for(objective, size), CappedLikelihood)
        charge = Charge(self.tau, counted, 1.0 if counted else size)
        self._kernels: Kernels = kernels(self.moments.correlation, charge)
        self._n = n
        self._marks: list[_Mark | None] = []
        self.reset(np.arange(n) if order is None else order)
        if order is None:
            self.reset(np.argsort(self.precisions(), kind="stable"))

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return self._n

    @property
    def order(self) -> Indices:
        """The present order, as a copy."""
        return self._order.copy()

    @property
    def cost(self) -> float:
        """The cost of the present order; lower is better."""
        return self._kernels.total()

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order, O(n³); marks are forgotten."""
        self._order = check_order(order, self._n)
        self._column = np.empty(self._n, dtype=np.intp)
        self._column[self._order] = np.arange(self._n)
        self._place = self._column.copy()
        self._marks = []
        try:
            self._kernels.load(self._order)
        except np.linalg.LinAlgError as error:
            self.moments.audit().enforce()
            raise EngineError(
                f"the correlation matrix of n = {self._n} variables from N = "
                f"{self.moments.n_samples:g} samples is singular up to rounding; use "
                "engine='bic', leave out variables, or use "
                "covariance_estimator='ledoit-wolf' or 'oas'"
            ) from error
        return self.cost

    def scan(self, variable: int) -> Changes:
        """The change of the cost for each place to which a variable could move."""
        changes: Changes = self.scan_many([variable])[0]
        return changes

    def scan_many(self, variables: Sequence[int] | Indices) -> Changes:
        """`scan` for several variables, one row for each."""
        movers = np.asarray(variables, dtype=np.intp)
        table = self._kernels.prepare(self._place[movers], self._column[movers])
        return self._kernels.fetch(self._kernels.scan(table, self._first_rows()))

    def improve(
        self,
        variables: Sequence[int] | Indices,
        *,
        tolerance: float,
        lowest: Indices | None = None,
        highest: Indices | None = None,
    ) -> Improvement:
        """Scan variables together and move those to their best places whose ways do not cross.

        Where ways cross, the greatest improvement goes first and the others wait: their changes are
        out of date after the move. Costs add up over moves on separate stretches.

        Parameters
        ----------
        variables : sequence of int
            The movers, each once.
        tolerance : float
            Improvements by no more than this are left alone.
        lowest, highest : sequence of int, optional
            First and last place that each of them may take.
        """
        movers = np.asarray(variables, dtype=np.intp)
        starts = self._place[movers]
        table, places, gains = self._scan_best(movers, lowest, highest)
        chosen, crossed = _separate(starts, places, gains, tolerance)
        if chosen:
            self._carry_out(table, [Move(m, int(starts[m]), int(places[m])) for m in chosen])
        return Improvement(movers[chosen], movers[crossed], float(gains[chosen].sum()))

    def scan_best(self, variables: Sequence[int] | Indices) -> tuple[Indices, FloatArray]:
        """The best place for each of several variables, and the change of the cost there."""
        _, places, gains = self._scan_best(np.asarray(variables, dtype=np.intp))
        return places, gains

    def _scan_best(
        self, movers: Indices, lowest: Indices | None = None, highest: Indices | None = None
    ) -> tuple[Any, Indices, FloatArray]:
        table = self._kernels.prepare(self._place[movers], self._column[movers])
        changes = self._kernels.scan(table, self._first_rows())
        low = np.zeros_like(movers) if lowest is None else lowest
        high = np.full_like(movers, self._n - 1) if highest is None else highest
        return table, *self._kernels.best(changes, low, high)

    def move(self, variable: int, place: int) -> float:
        """Take a variable out and put it in at a place; those between shift by one."""
        start = int(self._place[variable])
        if start != place:
            movers = np.array([variable])
            table = self._kernels.prepare(self._place[movers], self._column[movers])
            self._carry_out(table, [Move(0, start, place)])
        return self.cost

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``."""
        for k, variable in enumerate(block):
            self.move(int(variable), start + k)
        return self.cost

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in G^π, ascending."""
        k = int(self._place[variable])
        return np.flatnonzero(self._edges(k, k + 1)[0][self._column])

    def dag(self) -> Adjacency:
        """G^π of the present order: entry (i, j) is 1 for i → j."""
        dag = np.zeros((self._n, self._n), dtype=np.int8)
        for first in range(0, self._n, ROWS_AT_ONCE):
            stop = min(first + ROWS_AT_ONCE, self._n)
            dag[:, self._order[first:stop]] = self._edges(first, stop)[:, self._column].T
        return dag

    def precisions(self) -> FloatArray:
        """The diagonal of the inverse correlation matrix, 1 / (1 - R²) of each variable."""
        _, sums = self._kernels.rows(self._n - 1, self._n)
        return np.asarray(sums[0][self._column])

    def mark(self) -> int:
        """Remember the present state. Marks nest; the first change after one copies the factor."""
        self._marks.append(None)
        return len(self._marks) - 1

    def undo(self, mark: int) -> float:
        """Return to a marked state, exactly; the mark and all after it end."""
        saved = next((m for m in self._marks[self._checked(mark) :] if m is not None), None)
        if saved is not None:
            self._order, self._place, self._column = saved.order, saved.place, saved.column
            self._kernels.restore(saved.state)
        del self._marks[mark:]
        return self.cost

    def release(self, mark: int) -> None:
        """Keep the present state; the mark and all after it end."""
        ended = self._marks[self._checked(mark) :]
        del self._marks[mark:]
        # An outer mark that waited for the first change has seen it now.
        if self._marks and self._marks[-1] is None:
            self._marks[-1] = next((m for m in ended if m is not None), None)

    def _checked(self, mark: int) -> int:
        if not 0 <= mark < len(self._marks):
            raise EngineError(f"mark {mark} has ended or never was; {len(self._marks)} are open")
        return mark

    def _carry_out(self, table: Any, moves: list[Move]) -> None:
        if self._marks and self._marks[-1] is None:
            self._marks[-1] = _Mark(
                self._order.copy(),
                self._place.copy(),
                self._column.copy(),
                self._kernels.snapshot(),
            )
        by_column = np.empty(self._n, dtype=np.intp)
        by_column[self._column] = self._place
        self._kernels.rotate(table, moves, by_column)
        for _, start, stop in moves:
            low, high = min(start, stop), max(start, stop) + 1
            self._order[low:high] = np.roll(self._order[low:high], 1 if stop < start else -1)
            self._place[self._order[low:high]] = np.arange(low, high)
        widths = np.maximum.accumulate(self._column[self._order]) + 1
        for _, start, stop in moves:
            self._kernels.settle(min(start, stop), max(start, stop), widths)
        if np.mean(widths - np.arange(1, self._n + 1)) > WASTE * self._n:
            self._kernels.pack(self._column[self._order])
            self._column[self._order] = np.arange(self._n)

    def _first_rows(self) -> Indices:
        """For each block of columns, the first row in which it or a later one is not zero."""
        by_column = np.empty(self._n, dtype=np.intp)
        by_column[self._column] = self._place
        firsts = np.minimum.reduceat(by_column, np.arange(0, self._n, COLUMNS_PER_BLOCK))
        return np.minimum.accumulate(firsts[::-1])[::-1]

    def _edges(self, first: int, stop: int) -> Mask:
        """Rows of places, columns as on the device: whether that variable is a parent."""
        rows, precisions = self._kernels.rows(first, stop)
        edges: Mask = rows**2 > self.tau * precisions
        places = np.arange(first, stop)
        edges[places - first, self._column[self._order[places]]] = False
        return edges


class _Mark(NamedTuple):
    """The state under a mark."""

    order: Indices
    place: Indices
    column: Indices
    state: Any


def _separate(
    starts: Indices, places: Indices, gains: FloatArray, tolerance: float
) -> tuple[list[int], list[int]]:
    """Movers whose ways do not cross, the best first, and those that improve but cross them."""
    chosen: list[int] = []
    crossed: list[int] = []
    low, high = np.minimum(starts, places), np.maximum(starts, places)
    for m in np.argsort(gains, kind="stable").tolist():
        if not gains[m] < -tolerance:
            break
        free = all(high[m] < low[k] or low[m] > high[k] for k in chosen)
        (chosen if free else crossed).append(m)
    return chosen, crossed
