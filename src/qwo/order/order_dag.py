"""The order DAG: G^π of data for an order, with the linear model on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, Cure, OrderError, list_names
from qwo.moments import Moments, as_moments
from qwo.names import as_columns
from qwo.order.bic import BicEngine
from qwo.order.linalg import check_order, regressions
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.types import Adjacency, FloatArray, Indices


@dataclass(frozen=True, slots=True, eq=False)
class OrderDag:
    """G^π and the linear Gaussian model X_j = Σ_i B[i, j] X_i + e_j that fits the data on it.

    Attributes
    ----------
    names : tuple of str
        Names of the variables, in input column order.
    order : ndarray of int
        The order π: the column number of the variable at each place.
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` means i → j, in input column order.
    coefficients : ndarray of shape (n, n)
        ``coefficients[i, j]`` belongs to i → j and is 0 where there is no edge: the regression of
        j on its parents in G^π alone, in the units of the data.
    residual_variances : ndarray of shape (n,)
        Var e_j, the variance of j given its parents (divisor N), in squared units of the data.
    """

    names: tuple[str, ...]
    order: Indices
    dag: Adjacency
    coefficients: FloatArray
    residual_variances: FloatArray

    def __post_init__(self) -> None:
        for array in (self.order, self.dag, self.coefficients, self.residual_variances):
            array.flags.writeable = False

    @property
    def n_edges(self) -> int:
        """The number of edges of G^π."""
        return int(np.count_nonzero(self.dag))

    def __repr__(self) -> str:
        first = list_names(self.names[v] for v in self.order)
        return (
            f"<OrderDag of {len(self.names)} variables in the order {first}: {self.n_edges} edges>"
        )


def order_dag(
    data: Any,
    order: Sequence[str | int] | Indices,
    *,
    penalty_discount: float | None = None,
    alpha: float | None = None,
    engine: str = "qwo",
) -> OrderDag:
    """G^π: i → j where i stands before j in π and depends on it given all others before j.

    Parameters
    ----------
    data : array-like, data frame, path or Moments
        The data, as for `qwo.moments.as_moments`.
    order : sequence of str or int
        The order π: every variable once, by name or by column number.
    penalty_discount : float, optional
        Draw an edge by the BIC rule with this penalty discount.
    alpha : float, optional
        Draw an edge by Fisher's z-test at this level; at 2/n² if neither is given. Exact
        moments (N = ∞) need neither.
    engine : {"qwo", "reference", "bic"}
        ``"qwo"`` and ``"reference"`` (the paper's Algorithm 1, slow) condition on all others before
        j, as the definition says. ``"bic"`` chooses the parents of j among those before it by the
        BIC, with a penalty discount of 2 if none is given; it conditions on few variables, so it
        also works with n ≥ N.

    Returns
    -------
    OrderDag
        The DAG, its coefficients and residual variances.
    """
    by_test = {"qwo": QwoEngine, "reference": ReferenceEngine}
    if engine not in (*by_test, "bic"):
        choices = ", ".join(repr(name) for name in (*by_test, "bic"))
        raise ArgumentError(f"engine must be one of {choices}; got {engine!r}", option="engine")
    moments = as_moments(data)
    places = _columns(order, moments.names)
    how: Any = {"penalty_discount": penalty_discount, "order": places}
    if engine in by_test:
        dag = by_test[engine](moments, alpha=alpha, objective="edges", **how).dag()
    elif alpha is not None:
        raise ArgumentError(
            f"alpha is {alpha}, the level of an edge test, which the exact BIC has not",
            cures=[Cure("engine", "qwo", "has one")],
            option="alpha",
        )
    else:
        dag = BicEngine(moments, **how).dag()
    coefficients, variances = _fit(moments, dag)
    return OrderDag(moments.names, places, dag, coefficients, variances)


def _columns(order: Sequence[str | int] | Indices, names: tuple[str, ...]) -> Indices:
    """An order by column numbers."""
    numbers = as_columns(names, order, "order")
    if len(numbers) != len(names) or len(set(numbers)) != len(numbers):
        missing = [name for i, name in enumerate(names) if i not in numbers]
        raise OrderError(
            f"order must list each of the {len(names)} variables once; got {len(numbers)}, "
            f"{len(set(numbers))} of them different; missing: {list_names(missing) or 'none'}",
            missing,
        )
    return check_order(np.asarray(numbers), len(names))


def _fit(moments: Moments, dag: Adjacency) -> tuple[FloatArray, FloatArray]:
    """Coefficients and residual variances of the regressions on the parents, in data units.

    They are computed on the correlation matrix and then rescaled.
    """
    scales = moments.scales
    coefficients, variances = np.zeros(dag.shape), np.ones(len(dag))
    for child, parents, slopes, left in regressions(moments.correlation, dag):
        coefficients[parents, child] = slopes
        variances[child] = left
    return coefficients * (scales / scales[:, None]), variances * scales**2
