"""What a graph implies, from a correlation matrix alone: independences, fit, better graphs nearby.

Everything that is asked of a family is a partial correlation of a variable v and another u, given
the parents of v: whether u, which is no parent and no descendant, is independent of v as the graph
says; what an edge u → v would gain; what the loss of a parent costs.

Linear models with independent noise have the independences that d-separation reads off the graph,
cycles or not (Spirtes 1995). If any set separates two variables, their ancestors do, of which the
neighbours of the one in the moral graph of the ancestors of both are enough. Not all that a graph
with cycles says is an independence: the overall fit is that of its implied covariance matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.special import chdtrc, stdtr

from qwo.graph.dag import ancestor_matrix, closure, topological_order
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.blocks import columns_of
from qwo.order.linalg import CyclicGraphs, as_mask, cyclic_graphs
from qwo.resample.draws import draw_scatter, square_root
from qwo.types import Adjacency, FloatArray, Indices, Mask


@dataclass(frozen=True, eq=False)
class Correlations:
    """What one sample says: the correlations of columns, and N.

    A category is a block of columns, whitened: uncorrelated with each other, as in
    `qwo.order.blocks`. ``sizes`` is how many each variable has.
    """

    matrix: FloatArray
    n_samples: float
    sizes: Indices

    @classmethod
    def of(cls, moments: Moments) -> Correlations:
        """Those of data."""
        matrix, sizes = moments.whitened()
        return cls(matrix, moments.n_samples, sizes)

    @cached_property
    def columns(self) -> list[Indices]:
        """The columns of each variable."""
        return columns_of(self.sizes)

    def all_of(self, variables: Indices) -> Indices:
        """The columns of some variables together."""
        none = np.empty(0, dtype=np.intp)
        return np.concatenate([none, *(self.columns[v] for v in variables)])

    def among(self, chosen: Indices) -> Correlations:
        """Those of some variables alone."""
        part = self.all_of(chosen)
        return Correlations(self.matrix[np.ix_(part, part)], self.n_samples, self.sizes[chosen])

    def drawn(self, covariance: FloatArray, rng: np.random.Generator) -> Correlations:
        """Those of a normal sample of as many rows from a distribution of the same columns."""
        return self.like(draw_scatter(rng, square_root(covariance), self.n_samples - 1))

    def like(self, scatter: FloatArray) -> Correlations:
        """Those of as many rows of the same columns that have another scatter matrix."""
        scales = np.sqrt(scatter.diagonal())
        matrix = np.asarray(scatter / np.outer(scales, scales))
        if self.sizes.max() > 1:
            roots = [np.linalg.cholesky(matrix[np.ix_(own, own)]) for own in self.columns]
            basis = np.linalg.inv(block_diag(*roots))
            matrix = basis @ matrix @ basis.T
        return Correlations(matrix, self.n_samples, self.sizes)

    def regression(self, v: int, parents: Indices) -> tuple[FloatArray, FloatArray]:
        """Slopes of the columns of v on those of its parents, and what is left of them."""
        own, given = self.columns[v], self.all_of(parents)
        cross = self.matrix[np.ix_(given, own)]
        slopes = np.asarray(np.linalg.solve(self.matrix[np.ix_(given, given)], cross), np.float64)
        return slopes, np.asarray(self.matrix[np.ix_(own, own)] - cross.T @ slopes)

    def implied(self, dag: Adjacency) -> FloatArray:
        """The covariance matrix of the columns under a graph with its fitted coefficients."""
        n = len(self.matrix)
        slopes, left = np.zeros((n, n)), np.zeros((n, n))
        for v, column in enumerate(dag.T):
            parents, own = np.flatnonzero(column), self.columns[v]
            found, rest = self.regression(v, parents)
            slopes[np.ix_(self.all_of(parents), own)] = found
            left[np.ix_(own, own)] = rest
        left[np.diag_indices(n)] = np.maximum(left.diagonal(), 1e-12)
        total = np.linalg.inv(np.eye(n) - slopes)
        return np.asarray(total.T @ left @ total)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A variable, its parents, and its partial correlation with every other given them.

    That of a parent is given the other parents; that with itself is 0. Of blocks it is
    √(1 - exp(-G / N)), without a sign, with G what the edge adds to twice the log-likelihood.
    """

    variable: int
    parents: Indices
    partial: FloatArray


def families(data: Correlations, dag: Adjacency) -> Iterator[Family]:
    """All families of a DAG, by column."""
    for variable, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        if data.sizes.max() == 1:
            partial = partial_correlations(data.matrix, variable, parents)
        else:
            partial = np.sqrt(-np.expm1(-block_strengths(data, variable, parents)))
        yield Family(variable, parents, partial)


def block_strengths(data: Correlations, v: int, parents: Indices) -> FloatArray:
    """What each variable explains of a block given its parents, or the other ones: G / N."""

    def log_det(given: Indices) -> float:
        left = data.regression(v, given)[1]
        return float(np.log(np.maximum(np.linalg.eigvalsh(left), 1e-12)).sum())

    whole, strengths = log_det(parents), np.zeros(len(data.columns))
    for u in range(len(strengths)):
        if u in parents:
            strengths[u] = log_det(parents[parents != u]) - whole
        elif u != v:
            strengths[u] = whole - log_det(np.append(parents, u))
    return np.maximum(strengths, 0.0)


def partial_correlations(correlation: FloatArray, v: int, parents: Indices) -> FloatArray:
    """Of v with every variable given P, as in `Family`.

    With R_PP = L Lᵀ, residuals of all variables given P are those of L⁻¹ R_P·.
    """
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


@dataclass(frozen=True, slots=True, eq=False)
class Independences:
    """What a DAG implies by its ordered local Markov property, and the p-value of each.

    In a topological order, every variable is independent of the earlier ones that are not its
    parents, given its parents: ``first`` ⟂ ``second`` | Pa(``second``). All other independences
    follow from these, one for each pair without an edge. p-values are two-sided. Of a graph with
    cycles ``sets`` are what they are given, and not all pairs without an edge have one.
    """

    first: Indices
    second: Indices
    partial: FloatArray
    p_values: FloatArray
    sets: tuple[Indices, ...] | None = None

    def __len__(self) -> int:
        return len(self.first)

    def given(self, k: int, dag: Adjacency) -> Indices:
        """The variables that one of them is given."""
        return np.flatnonzero(dag[:, self.second[k]]) if self.sets is None else self.sets[k]


def chance(data: Correlations, family: Family, others: Indices) -> FloatArray:
    """Two-sided p-values of independence given the parents; of blocks by Bartlett's χ²."""
    partial, given = family.partial[others], len(data.all_of(family.parents))
    freedom, squared = max(data.n_samples - given - 2.0, 1.0), np.minimum(partial**2, 1.0 - 1e-15)
    # Student's t, exact for normal data.
    found = 2.0 * stdtr(freedom, -np.sqrt(squared * freedom / (1.0 - squared)))
    own, widths = data.sizes[family.variable], data.sizes[others]
    if own == widths.max(initial=1) == 1:
        return np.asarray(found)
    rows = np.maximum(data.n_samples - 1 - given - (own + widths + 1) / 2, 1.0)
    return np.where(own * widths > 1, chdtrc(own * widths, -rows * np.log1p(-squared)), found)


def implied_independences(data: Correlations, dag: Adjacency) -> Independences:
    """The independences that a DAG implies, tested."""
    place = np.empty(len(dag), dtype=np.intp)
    place[topological_order(dag)] = np.arange(len(dag))
    first, second, partial, chances = [], [], [], []
    for family in families(data, dag):
        earlier = place < place[family.variable]
        earlier[family.parents] = False
        others = np.flatnonzero(earlier)
        first.append(others)
        second.append(np.full(len(others), family.variable))
        partial.append(family.partial[others])
        chances.append(chance(data, family, others))
    pairs = np.concatenate(first), np.concatenate(second)
    return Independences(*pairs, np.concatenate(partial), np.concatenate(chances))


def failing(p_values: FloatArray, level: float) -> Mask:
    """Which hypotheses fall at this false discovery rate (Benjamini and Hochberg 1995)."""
    if not p_values.size:
        return np.zeros(0, dtype=bool)
    ranked = np.sort(p_values)
    passes = np.flatnonzero(ranked <= level * np.arange(1, len(ranked) + 1) / len(ranked))
    if not passes.size:
        return np.zeros(len(p_values), dtype=bool)
    return np.asarray(p_values <= ranked[passes[-1]])


def deviance(data: Correlations, dag: Adjacency) -> float:
    """Twice the log-likelihood that the graph is short of the saturated model.

    N (Σ_v log σ²_v - log det R): 0 for a complete graph.
    """
    left = [data.regression(v, np.flatnonzero(c))[1] for v, c in enumerate(dag.T)]
    variances = [max(float(np.linalg.det(rest)), 1e-12) for rest in left]
    _, log_det = np.linalg.slogdet(data.matrix)
    return float(data.n_samples * (np.log(variances).sum() - log_det))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one edge that the data want, and by how much the score would rise.

    ``kind`` is ``"add"``, ``"remove"`` or ``"turn"``; the edge is as it would be, or is if removed.
    """

    kind: str
    cause: int
    effect: int
    gain: float


def wanted_changes(
    data: Correlations, dag: Adjacency, price: float, knowledge: ResolvedKnowledge | None = None
) -> list[Change]:
    """Every addition, removal and reversal of one edge that raises the score, the best first.

    An edge is worth -N log(1 - r²) and costs ``price`` for each coefficient. Of the two ways to
    link a pair only the better is listed, and no change that would close a cycle or that knowledge
    forbids.
    """
    n = len(dag)
    worth = np.zeros((n, n))
    for family in families(data, dag):
        squared = np.minimum(np.square(family.partial), 1.0 - 1e-15)
        worth[:, family.variable] = -data.n_samples * np.log1p(-squared)
    prices = price * np.outer(data.sizes, data.sizes).astype(np.float64)
    onward, allowed = dag.astype(np.bool_), np.ones((n, n), dtype=np.bool_)
    loose = dag
    if knowledge is not None:
        # What leads from a variable back before itself closes a cycle as well.
        onward |= knowledge.before
        allowed, loose = knowledge.allowed_parents, np.where(knowledge.required, 0, dag)
    found = [
        *_additions(dag, worth - prices, onward, allowed),
        *_losses(loose, worth, prices, onward, allowed),
    ]
    return sorted(found, key=lambda change: -change.gain)


def _additions(dag: Adjacency, gains: FloatArray, onward: Mask, allowed: Mask) -> Iterator[Change]:
    """Additions of i → j, unless j comes before i already."""
    above = ancestor_matrix(onward)
    free = (dag == 0) & (dag.T == 0) & ~above.T & allowed & (gains > 0)
    np.fill_diagonal(free, val=False)
    for i, j in zip(*np.nonzero(free), strict=True):
        other = gains[j, i] if free[j, i] else -np.inf
        if gains[i, j] > other or (gains[i, j] == other and i < j):
            yield Change("add", int(i), int(j), float(gains[i, j]))


def _losses(
    dag: Adjacency, worth: FloatArray, prices: FloatArray, onward: Mask, allowed: Mask
) -> Iterator[Change]:
    """Removals, and reversals: what v loses with its parent u, and u wins with its parent v."""
    above = ancestor_matrix(onward)
    for u, v in zip(*np.nonzero(dag), strict=True):
        removed = prices[u, v] - worth[u, v]
        if removed > 0:
            yield Change("remove", int(u), int(v), float(removed))
        if allowed[v, u] and not (onward[u] & above[:, v]).any():
            turned = worth[v, u] - worth[u, v]
            if turned > max(removed, 0.0) + 1e-6 * prices[u, v]:
                yield Change("turn", int(v), int(u), float(turned))


def separated_pairs(graph: Adjacency) -> Iterator[tuple[int, int, Indices]]:
    """Pairs that the graph says are independent, and given which variables: one set each."""
    edges = graph != 0
    above = closure(edges) | np.eye(len(graph), dtype=bool)
    for v in range(len(graph)):
        for u in range(v):
            own = np.flatnonzero(above[:, u] | above[:, v])
            part = edges[np.ix_(own, own)]
            moral = part | part.T | (part.astype(int) @ part.T.astype(int) > 0)
            first, second = np.searchsorted(own, [u, v])
            if not moral[first, second]:
                near = moral[second].copy()
                near[second] = False
                yield u, v, own[near]


def cyclic_independences(data: Correlations, graph: Adjacency) -> Independences:
    """The independences that d-separation reads off a directed graph, tested."""
    first, second, sets, partial, chances = [], [], [], [], []
    for u, v, given in separated_pairs(graph):
        found = partial_correlations(data.matrix, v, given)
        first.append(u)
        second.append(v)
        sets.append(given)
        partial.append(found[u])
        chances.append(chance(data, Family(v, given, found), np.array([u]))[0])
    pairs = np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)
    numbers = np.array(partial, dtype=np.float64), np.array(chances, dtype=np.float64)
    return Independences(*pairs, *numbers, tuple(sets))


@dataclass(frozen=True, eq=False)
class CyclicFit:
    """The model of the largest likelihood on a graph with cycles, for one sample."""

    data: Correlations
    graph: Adjacency
    price: float

    @cached_property
    def _graphs(self) -> CyclicGraphs:
        return cyclic_graphs(self.data.matrix, self.data.n_samples, self.price)

    @cached_property
    def _system(self) -> FloatArray:
        own = self._graphs.coefficients(as_mask(self.graph))
        return np.asarray(np.eye(len(self.graph)) - own)

    def implied(self) -> FloatArray:
        """(I - B)⁻¹ Ω (I - B)⁻ᵀ."""
        total = np.linalg.inv(self._system)
        return np.asarray(total * self._noise() @ total.T)

    def _noise(self) -> FloatArray:
        return np.asarray(np.einsum("ij,jk,ik->i", self._system, self.data.matrix, self._system))

    def deviance(self) -> float:
        """Twice the log-likelihood that it is short of the saturated model."""
        fitted = np.log(self._noise()).sum() - 2 * np.linalg.slogdet(self._system)[1]
        return float(self.data.n_samples * (fitted - np.linalg.slogdet(self.data.matrix)[1]))

    def improved(self) -> Adjacency:
        """The graph that single edges lead to while they raise the score."""
        self._graphs.start(as_mask(self.graph))
        self._graphs.descend(np.inf)
        return self._graphs.found()

    def wanted_changes(self, allowed: Mask | None, required: Mask | None) -> list[Change]:
        """Every edge that raises the score when it is added, removed or turned, the best first."""
        now, found = self._graphs.cost(as_mask(self.graph)), []
        for i, j in np.argwhere(~np.eye(len(self.graph), dtype=bool)).tolist():
            if self.graph[i, j] and (required is None or not required[i, j]):
                found.append(Change("remove", i, j, now - self._flipped((i, j))))
                if not self.graph[j, i] and (allowed is None or allowed[j, i]):
                    found.append(Change("turn", j, i, now - self._flipped((i, j), (j, i))))
            elif not self.graph[i, j] and (allowed is None or allowed[i, j]):
                found.append(Change("add", i, j, now - self._flipped((i, j))))
        least = 1e-3 * self.price
        return sorted((c for c in found if c.gain > least), key=lambda change: -change.gain)

    def _flipped(self, *edges: tuple[int, int]) -> float:
        other = as_mask(self.graph)
        for edge in edges:
            other[edge] ^= 1
        return float(self._graphs.cost(other))
