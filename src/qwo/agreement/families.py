"""Partial correlations around each family of a DAG, from a correlation matrix alone.

Everything that is asked of a graph here is a partial correlation of a variable v and another u,
given the parents of v: whether u, which is no parent and no descendant, is independent of v as the
graph says; what an edge u → v would gain; what the loss of a parent costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import stdtr

from qwo.graph.dag import ancestor_matrix, topological_order
from qwo.types import Adjacency, FloatArray, Indices, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A variable, its parents, and its partial correlation with every other given them.

    Attributes
    ----------
    variable : int
        v.
    parents : ndarray of int
        Pa(v).
    partial : ndarray of float, n
        The correlation of v and u given Pa(v); for a parent u given the other parents; 0 for v.
    """

    variable: int
    parents: Indices
    partial: FloatArray


def families(correlation: FloatArray, dag: Adjacency) -> Iterator[Family]:
    """All families of a DAG, by column."""
    for variable, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        yield Family(variable, parents, _partial(correlation, variable, parents))


def _partial(correlation: FloatArray, v: int, parents: Indices) -> FloatArray:
    """With R_PP = L Lᵀ, residuals of all variables given P are those of L⁻¹ R_P·."""
    if not parents.size:
        partial: FloatArray = correlation[v].copy()
        partial[v] = 0.0
        return partial
    lower = np.linalg.cholesky(correlation[np.ix_(parents, parents)])
    half = solve_triangular(lower, correlation[parents], lower=True)
    left = np.maximum(1.0 - np.square(half).sum(axis=0), 1e-12)
    partial = (correlation[v] - half[:, v] @ half) / np.sqrt(left * left[v])
    # The t-statistic of a slope: slope² / (σ² (R_PP⁻¹)_uu) is r² / (1 - r²) of that parent.
    inverse = solve_triangular(lower, np.eye(len(parents)), lower=True)
    slopes = inverse.T @ half[:, v]
    ratio = slopes / np.sqrt(left[v] * np.square(inverse).sum(axis=0))
    partial[parents] = ratio / np.sqrt(1.0 + np.square(ratio))
    partial[v] = 0.0
    return np.asarray(np.clip(partial, -1.0, 1.0))


def two_sided(partial: FloatArray, freedom: FloatArray) -> FloatArray:
    """p-values of partial correlations by Student's t, exact for normal data."""
    safe = np.minimum(np.square(partial), 1.0 - 1e-15)
    statistic = np.sqrt(safe * freedom / (1.0 - safe))
    return np.asarray(2.0 * stdtr(freedom, -statistic))


@dataclass(frozen=True, slots=True, eq=False)
class Independences:
    """What a DAG implies by its ordered local Markov property, and the p-value of each.

    In a topological order, every variable is independent of the earlier ones that are not its
    parents, given its parents; all other independences follow from these, one for each pair
    without an edge.

    Attributes
    ----------
    first, second : ndarray of int
        u and v of u ⟂ v | Pa(v).
    partial : ndarray of float
        Their partial correlations.
    p_values : ndarray of float
        Two-sided.
    """

    first: Indices
    second: Indices
    partial: FloatArray
    p_values: FloatArray

    def __len__(self) -> int:
        return len(self.first)


def implied_independences(
    correlation: FloatArray, n_samples: float, dag: Adjacency
) -> Independences:
    """The independences that a DAG implies, tested."""
    place = np.empty(len(dag), dtype=np.intp)
    place[topological_order(dag)] = np.arange(len(dag))
    first, second, partial, freedom = [], [], [], []
    for family in families(correlation, dag):
        earlier = place < place[family.variable]
        earlier[family.parents] = False
        others = np.flatnonzero(earlier)
        first.append(others)
        second.append(np.full(len(others), family.variable))
        partial.append(family.partial[others])
        freedom.append(np.full(len(others), n_samples - len(family.parents) - 2.0))
    joined = np.concatenate(partial)
    p_values = two_sided(joined, np.maximum(np.concatenate(freedom), 1.0))
    return Independences(np.concatenate(first), np.concatenate(second), joined, p_values)


def failing(p_values: FloatArray, level: float) -> Mask:
    """Which hypotheses fall at this false discovery rate (Benjamini and Hochberg 1995)."""
    if not p_values.size:
        return np.zeros(0, dtype=bool)
    ranked = np.sort(p_values)
    passes = np.flatnonzero(ranked <= level * np.arange(1, len(ranked) + 1) / len(ranked))
    if not passes.size:
        return np.zeros(len(p_values), dtype=bool)
    return np.asarray(p_values <= ranked[passes[-1]])


def deviance(correlation: FloatArray, n_samples: float, dag: Adjacency) -> float:
    """Twice the log-likelihood that the graph is short of the saturated model.

    N (Σ_v log σ²_v - log det R): 0 for a complete graph.
    """
    variances = [_residual_variance(correlation, v, c) for v, c in enumerate(dag.T)]
    _, log_det = np.linalg.slogdet(correlation)
    return float(n_samples * (np.log(variances).sum() - log_det))


def _residual_variance(correlation: FloatArray, v: int, column: FloatArray) -> float:
    parents = np.flatnonzero(column)
    if not parents.size:
        return 1.0
    cross = correlation[parents, v]
    fitted = np.linalg.solve(correlation[np.ix_(parents, parents)], cross)
    return max(float(1.0 - cross @ fitted), 1e-12)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one edge that the data want, and what it would gain.

    Attributes
    ----------
    kind : {"add", "remove", "turn"}
        What to do.
    cause, effect : int
        The edge as it would be (added, turned) or is (removed).
    gain : float
        By how much the score would rise.
    """

    kind: str
    cause: int
    effect: int
    gain: float


def wanted_changes(
    correlation: FloatArray, n_samples: float, dag: Adjacency, price: float
) -> list[Change]:
    """Every addition, removal and reversal of one edge that raises the score, the best first.

    An edge is worth -N log(1 - r²) and costs ``price``. Of the two ways to link a pair only the
    better is listed, and no change that would close a cycle.
    """
    n = len(dag)
    worth = np.zeros((n, n))
    for family in families(correlation, dag):
        squared = np.minimum(np.square(family.partial), 1.0 - 1e-15)
        worth[:, family.variable] = -n_samples * np.log1p(-squared)
    above = ancestor_matrix(dag)
    found = [*_additions(dag, worth - price, above), *_losses(dag, worth, price, above)]
    return sorted(found, key=lambda change: -change.gain)


def _additions(dag: Adjacency, gains: FloatArray, above: Mask) -> Iterator[Change]:
    """``above[i, j]`` says that i is an ancestor of j: then j → i would close a cycle."""
    free = (dag == 0) & (dag.T == 0) & ~above.T & (gains > 0)
    np.fill_diagonal(free, val=False)
    for i, j in zip(*np.nonzero(free), strict=True):
        other = gains[j, i] if free[j, i] else -np.inf
        if gains[i, j] > other or (gains[i, j] == other and i < j):
            yield Change("add", int(i), int(j), float(gains[i, j]))


def _losses(dag: Adjacency, worth: FloatArray, price: float, above: Mask) -> Iterator[Change]:
    """Removals, and reversals: what v loses with its parent u, and u wins with its parent v."""
    for u, v in zip(*np.nonzero(dag), strict=True):
        removed = price - worth[u, v]
        if removed > 0:
            yield Change("remove", int(u), int(v), float(removed))
        if not (dag[u].astype(bool) & above[:, v]).any():
            turned = worth[v, u] - worth[u, v]
            if turned > max(removed, 0.0) + 1e-6 * price:
                yield Change("turn", int(v), int(u), float(turned))
