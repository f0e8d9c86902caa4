"""The QWO engine: G^π from one factor of the correlation matrix, O(n) for each exchange.

The paper's Q and W never appear. The row of QW for the variable at place k is a multiple of row k
of L, the inverse Cholesky factor of the correlation matrix in the order π, and two neighbours in
the order are exchanged by one Givens rotation of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.compute import array_module
from qwo.errors import ArgumentError, Cure, EngineError
from qwo.moments import Moments
from qwo.order.edge_test import EdgeTest, edge_test
from qwo.order.linalg import as_integers, check_kernels, check_order
from qwo.order.linalg import inverse_cholesky as invert
from qwo.order.objective import CappedLikelihood, ObjectiveName, objective_for
from qwo.order.protocol import Changes, as_index
from qwo.types import Adjacency, FloatArray, Indices

LARGEST_PRECISION = 1e13
"""Entries of the inverse correlation matrix above this are rounding, and no more."""

EXCHANGES_PER_ENTRY = 100
"""Exchanges between rebuilds, in units of n².

Rounding grows like the square root of the exchanges: 1300 n² of them left |L S Lᵀ - I| at 1e-13
where it was 1e-15 after a build. A rebuild takes about as long as n² / 5 exchanges.
"""

SCANS_PER_THREAD = 4
"""So many scans at a time keep a thread busy for longer than it takes to start one."""


class QwoEngine:
    """The order factor L of an order π, with G^π and its cost, under moves.

    Row k of L holds the coefficients of the residual of ``order[k]`` on its predecessors, scaled to
    variance 1. It gives every partial correlation that G^π needs (see the derivations in the
    documentation). A move over d places costs O(nd), a scan of all places of a variable O(n²).

    The engine follows the protocol `qwo.order.protocol.OrderEngine`. It works on the correlation
    matrix, so that nothing depends on units. Long calls release the GIL; one engine must not be
    used by two threads at once.

    Parameters
    ----------
    moments : Moments or array-like
        Moments with a regular correlation matrix, or a covariance or correlation matrix.
    n_samples : float, optional
        N of a matrix given as an array; an exact one (N = ∞) if not given.
    test : EdgeTest, optional
        When a partial correlation is an edge, as ``FisherZ(0.01)`` or ``BicRule(2)`` say it.
    penalty_discount, alpha : float, optional
        Short forms of a test, as for `qwo.order.edge_test.edge_test`.
    objective : {"likelihood", "edges"}
        The cost: the capped likelihood, or the number of edges of G^π. With N = ∞ both mean the
        number of edges.
    kernels : str, optional
        Instruction set to compute with, one of ``qwo._core.available_kernels()``; the fastest one
        by default.
    order : sequence of int, optional
        The first order; that of the columns if not given.
    threads : int
        Among how many `scan_many` shares the variables; also an attribute. The result does not
        depend on it.
    device : {"cpu", "gpu"}
        Where the factor is built; moves and scans run on the host.

    Raises
    ------
    EngineError
        If the correlation matrix is singular.
    """

    def __init__(
        self,
        moments: Moments | npt.ArrayLike,
        n_samples: float | None = None,
        *,
        test: EdgeTest | None = None,
        penalty_discount: float | None = None,
        alpha: float | None = None,
        objective: ObjectiveName = "likelihood",
        kernels: str | None = None,
        order: Sequence[int] | Indices | None = None,
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        self.threads = threads
        self._xp = array_module(device)
        self.moments = as_given_moments(moments, n_samples)
        n, size = self.moments.n_variables, self.moments.n_samples
        rule = edge_test(penalty_discount, alpha, n_variables=n, n_samples=size, test=test)
        self.tau = rule.threshold(n, size)
        self.objective = objective_for(objective, size)
        self._n = n
        self._exchanges_allowed = EXCHANGES_PER_ENTRY * n * n
        self._factor = _core.OrderFactor(
            self.moments.correlation,
            self.tau,
            not isinstance(self.objective, CappedLikelihood),
            size if isinstance(self.objective, CappedLikelihood) else 1.0,
            check_kernels(kernels),
        )
        self.reset(np.arange(n) if order is None else order)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return self._n

    @property
    def order(self) -> Indices:
        """The present order, as a copy."""
        return self._factor.order()

    @property
    def cost(self) -> float:
        """The cost of the present order; lower is better."""
        return self._factor.cost

    @property
    def n_edges(self) -> int:
        """The number of edges of G^π."""
        return self._factor.n_edges

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order, O(n³); marks are forgotten."""
        places = check_order(order, self._n)
        return self._factor.load(places, inverse_cholesky(self.moments, places, self._xp))

    def move(self, variable: int, place: int) -> float:
        """Take a variable out and put it in at a place; those between shift by one."""
        return self._counted(self._factor.move(variable, place))

    def swap(self, first: int, second: int) -> float:
        """Exchange the variables at two places."""
        return self._counted(self._factor.swap(first, second))

    def swap_cost(self, first: int, second: int) -> float:
        """The cost that `swap` would lead to; nothing changes."""
        return self._factor.swap_cost(first, second)

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``."""
        return self._counted(self._factor.permute(start, as_integers(block)))

    def tuck(self, x: int, y: int) -> float:
        """GRaSP's tuck: y and its ancestors after x move, in their order, before x.

        Nothing happens if x is not an ancestor of y.
        """
        return self._counted(self._factor.tuck(x, y))

    def scan(self, variable: int) -> Changes:
        """The change of the cost for each place to which a variable could move."""
        mover = np.array([as_index("variable", variable, self._n)])
        changes: Changes = self._factor.scan(mover)[0]
        return changes

    @property
    def scans_at_once(self) -> int:
        """How many variables at a time `scan_many` is the fastest for."""
        return 1 if self.threads == 1 else SCANS_PER_THREAD * self.threads

    def scan_many(self, variables: Sequence[int] | Indices) -> Changes:
        """`scan` for several variables, one row for each.

        They share passes over the factor, and threads.
        """
        return self._factor.scan(as_integers(variables), self.threads)

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in G^π, ascending."""
        return self._factor.parents(variable)

    def dag(self) -> Adjacency:
        """G^π of the present order: entry (i, j) is 1 for i → j."""
        return self._factor.dag()

    def coefficients(self) -> FloatArray:
        """(I - QW)ᵀ: entry (i, j) is the coefficient of i in the regression of j.

        The regression is that of standardised variables on all predecessors, edges or not.
        """
        rows, order = self._factor.rows(), self.order
        places = np.arange(self._n)
        regressions = -rows / rows[places, order][:, None]
        regressions[places, order] = 0.0
        coefficients = np.empty_like(rows)
        coefficients[:, order] = regressions.T
        return coefficients

    def residual_variances(self) -> FloatArray:
        """The variance of each standardised variable given all its predecessors."""
        rows, order = self._factor.rows(), self.order
        variances = np.empty(self._n)
        variances[order] = rows[np.arange(self._n), order] ** -2
        return variances

    def drift(self) -> float:
        """The largest entry of |L S Lᵀ - I|: what rounding has done since the last rebuild."""
        rows = self._factor.rows()
        return float(np.abs(rows @ self.moments.correlation @ rows.T - np.eye(self._n)).max())

    def mark(self) -> int:
        """Remember the present state. Marks nest; the factor is not rebuilt while there is one."""
        return self._factor.mark()

    def undo(self, mark: int) -> float:
        """Return to a marked state, bit for bit; the mark and all after it end."""
        return self._factor.undo(mark)

    def release(self, mark: int) -> None:
        """Keep the present state; the mark and all after it end."""
        self._factor.release(mark)

    def _counted(self, cost: float) -> float:
        """The cost after a change; the factor is rebuilt first if it is due."""
        if self._factor.exchanges > self._exchanges_allowed and not self._factor.n_marks:
            return self.reset(self.order)
        return cost


def as_given_moments(moments: Moments | npt.ArrayLike, n_samples: float | None) -> Moments:
    """The moments an engine is given, directly or as a covariance matrix and N."""
    if not isinstance(moments, Moments):
        return Moments.from_covariance(moments, n_samples)
    moments.require_columns("the engine")
    if n_samples is not None:
        raise ArgumentError(
            f"n_samples is {n_samples:g}, which goes with a matrix; the Moments given have "
            f"N = {moments.n_samples:g} of their own",
            option="n_samples",
        )
    return moments


def inverse_cholesky(moments: Moments, order: Indices, xp: Any = np) -> FloatArray:
    """L with its columns by place: the inverse of the Cholesky factor of S in an order, 2n³/3.

    An EngineError says that S is singular up to rounding. Whether it is does not depend on the
    order, since column sums of L² are the diagonal of the inverse correlation matrix.
    """
    inverse, failed = invert(moments.correlation[np.ix_(order, order)], xp)
    if failed:
        raise _singular(moments, int(order[failed - 1]))
    precisions = np.einsum("ki,ki->i", inverse, inverse)
    worst = int(np.argmax(precisions))
    if not precisions[worst] < LARGEST_PRECISION:
        raise _singular(moments, int(order[worst]))
    return inverse


def _singular(moments: Moments, variable: int) -> EngineError:
    name = moments.names[variable]
    return EngineError(
        f"the correlation matrix of n = {moments.n_variables} variables from "
        f"N = {moments.n_samples:g} samples is singular: the others determine {name!r}. The QWO "
        "engine regresses on all predecessors, which takes N > n samples and no linear dependence",
        [name],
        [
            Cure("engine", "bic", "regresses on few"),
            Cure("drop", [name], "leaves it out"),
            Cure("covariance_estimator", "ledoit-wolf", "shrinks the correlations"),
            Cure("covariance_estimator", "oas", "shrinks them too"),
        ],
    )
