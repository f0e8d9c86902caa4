"""Orders to start a search from, read off the correlation matrix.

All are functions of the correlation matrix, so that units do not matter. Where it is singular, as
always for n ≥ N, its mixture with a little of the identity takes its place: see
`qwo.order.linalg`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, OrderError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.names import as_columns
from qwo.order.blocks import block_start
from qwo.order.edge_test import BicRule, edge_test
from qwo.order.linalg import check_order, precision_matrix, tree_order
from qwo.types import FloatArray, Indices


def start_order(
    start: str | Sequence[int | str] | Indices,
    correlation: FloatArray,
    n_samples: float,
    *,
    names: Sequence[str] | None = None,
    knowledge: ResolvedKnowledge | None = None,
    random_state: Any = None,
    precision: FloatArray | None = None,
    sizes: Indices | None = None,
) -> Indices:
    """The order with which a search begins, by name or as given.

    Parameters
    ----------
    start : str or sequence
        ``"markov-boundary"``, ``"conditional-variance"``, ``"reverse-conditional-variance"``,
        ``"r2"``, ``"spanning-tree"`` or ``"random"``: see the functions of this module; or all
        variables, by name or column number.
    correlation : ndarray, n×n
        The correlation matrix.
    n_samples : float
        Number of samples N; infinite for an exact correlation matrix.
    names : sequence of str, optional
        Names of the variables, if the order is given by name.
    knowledge : ResolvedKnowledge, optional
        The order is changed as little as it takes to be allowed.
    random_state : None, int or Generator
        Seed or source of randomness of ``"random"``.
    precision : ndarray, n×n, optional
        The inverse of the correlation matrix, if it is known already.
    sizes : ndarray of int, optional
        How many columns of the matrix each variable has, if not one: variables stand where their
        columns do on average.
    """
    sizes = np.ones(len(correlation), np.intp) if sizes is None else sizes
    n = len(sizes)
    if not isinstance(start, str):
        order = given_order(start, n, names)
    elif start == "random":
        order = np.random.default_rng(random_state).permutation(n)
    elif start == "spanning-tree":
        order = spanning_tree_order(correlation)
    elif start in RULES:
        if precision is None:
            precision = precision_matrix(correlation, n_samples)
        blocks = start == "r2" and n < len(correlation)
        order = block_start(precision, sizes) if blocks else RULES[start](precision, n_samples)
    else:
        choices = ", ".join(repr(name) for name in [*RULES, "spanning-tree", "random"])
        raise ArgumentError(
            f"start is {start!r}; wanted one of {choices}, or all variables", option="start"
        )
    order = order if len(order) == n else _of_blocks(order, sizes)
    return order if knowledge is None else knowledge.topological_start(order)


def _of_blocks(order: Indices, sizes: Indices) -> Indices:
    """Variables by the average place of their columns."""
    places = np.argsort(order).astype(np.float64)
    means = np.add.reduceat(places, np.cumsum(sizes) - sizes) / sizes
    return np.argsort(means, kind="stable")


def markov_boundary_order(precision: FloatArray, n_samples: float) -> Indices:
    """The paper's start: variables by the size of their Markov boundary, the largest first.

    The boundary of a variable are those with a non-zero entry in its row of the inverse covariance.
    Non-zero is what the squared partial correlation given all others says under Fisher's z at level
    2/n², that of the authors' code; for N < n + 2, where there is no such test, under the BIC rule.
    Variables with boundaries of equal size come in the order of their columns.

    The paper does not say which end of the order is which. A variable without children has only its
    parents for a boundary and belongs last; and the other way round, the order DAG of the start has
    over four times the edges (100 variables of average degree 4) and hill climbing finds SKF1 .20
    where the paper reports .72 and this order gives .69.
    """
    n = len(precision)
    rule = edge_test(n_variables=n, n_samples=n_samples)
    if n_samples < n + 2:
        rule = BicRule()
    scale = np.diag(precision)
    dependent = precision**2 / np.outer(scale, scale) > rule.threshold(n, n_samples)
    return np.argsort(-np.count_nonzero(dependent, axis=1), kind="stable")


def conditional_variance_order(precision: FloatArray, _n_samples: float = 0.0) -> Indices:
    """From the last place to the first, the variable with the smallest variance given the rest."""
    return _eliminate(precision, np.argmax)[::-1]


def reverse_conditional_variance_order(precision: FloatArray, _n_samples: float = 0.0) -> Indices:
    """From the first place to the last, the variable with the largest variance given the rest.

    "The rest" are the variables not yet placed, as in `conditional_variance_order`.
    """
    return _eliminate(precision, np.argmin)


def r2_order(precision: FloatArray, _n_samples: float = 0.0) -> Indices:
    """Variables by their variance given all others, the largest first.

    On the scale of correlations this is 1 - R² of the regression on all others.
    """
    return np.argsort(np.diag(precision), kind="stable")


def spanning_tree_order(correlation: FloatArray) -> Indices:
    """Breadth first through the maximum spanning tree of |r|, from the best connected variable.

    That is the one with the largest sum of r². On a path every piece then points the same way,
    which searches that move single variables do not reach by themselves.
    """
    root = int(np.argmax((correlation**2).sum(axis=1)))
    return tree_order(correlation, root)


def given_order(
    given: Sequence[int | str] | Indices, n_variables: int, names: Sequence[str] | None
) -> Indices:
    """An order by names or column numbers, as column numbers."""
    numbers = as_columns(names or (), given, "order", OrderError)
    return check_order(np.asarray(numbers), n_variables)


RULES: dict[str, Callable[[FloatArray, float], Indices]] = {
    "markov-boundary": markov_boundary_order,
    "conditional-variance": conditional_variance_order,
    "reverse-conditional-variance": reverse_conditional_variance_order,
    "r2": r2_order,
}
"""Orders that the inverse of the correlation matrix gives."""


def _eliminate(precision: FloatArray, choose: Callable[[FloatArray], np.intp]) -> Indices:
    """Variables in the order in which they are taken out of the distribution, one by one.

    The variance of a variable given the rest is the reciprocal of its diagonal entry in the
    precision matrix of the rest, which is a Schur complement: this is Cholesky's factorisation of
    the precision matrix with a pivot of choice. Only the diagonal is updated at once, rows when
    their turn comes: n products of a vector and a matrix, O(n³) in all.
    """
    n = len(precision)
    rows = np.zeros((n, n))
    diagonal = np.diag(precision).copy()
    left = np.arange(n)
    order = np.empty(n, dtype=np.intp)
    for k in range(n):
        v = left[choose(diagonal[left])]
        order[k] = v
        rows[k] = (precision[v] - rows[:k, v] @ rows[:k]) / np.sqrt(diagonal[v])
        diagonal -= rows[k] ** 2
        left = left[left != v]
    return order
