r"""Family scores of a linear Gaussian model, as the numbers that the compiled tables take.

    log s(v, P) = constants[p] - exponents[p] log c - determinant log det R_PP,    p = |P|,
    c = R_vv - R_vP R_PP⁻¹ R_Pv.

BGe is the marginal likelihood of Geiger and Heckerman (2002) as corrected by Kuipers, Moffa and
Heckerman (2014), on standardised data with T = tI, α_μ = 1 and α_w = n + 2; its R is divided by N
here, which the constants make good for. The BIC has R = the correlation matrix. Either way the
prior odds κ of an edge, κ^edges, are part of the constants.

A nominal variable is the block of its indicators (the degenerate Gaussian). With m(S) the log
marginal likelihood of all columns of the variables S in the complete Gaussian model,

    log s(v, P) = m(P ∪ v) - m(P) + |P| log κ,    m(S) = F(l) - (N + l + 2) / 2 log det R_SS,

l being the columns of S and F what BGe's constants sum up to; with single columns it is BGe. The
BIC has -N/2 log det cov(V | P) and half its penalty for each parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from qwo.moments import Moments
from qwo.order.blocks import DETERMINED, columns_of
from qwo.types import Adjacency, FloatArray, Indices

ScoreName = Literal["bge", "bic"]

NEVER = -1e30
"""The log score of families that must not be: finite, as the tables want it."""

T_GRID = tuple(2.0**k for k in range(4, -14, -1))


@dataclass(frozen=True, eq=False)
class FamilyScore:
    """The numbers of one score for one data set; see above.

    ``matrix`` is R; ``constants`` and ``exponents`` go by the number of parents, from 0 to n - 1;
    ``determinant`` is the weight of log det R_PP.
    """

    name: ScoreName
    matrix: FloatArray
    constants: FloatArray
    exponents: FloatArray
    determinant: float
    n_samples: float

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.matrix)

    def of_graph(self, dag: Adjacency) -> float:
        """The log score of a DAG: the sum over its families."""
        total = 0.0
        n_parents = dag.sum(axis=0, dtype=np.int64)
        for p in np.unique(n_parents).tolist():
            children = np.flatnonzero(n_parents == p)
            parents = np.nonzero(dag.T[children])[1].reshape(len(children), p)
            family = np.concatenate((parents, children[:, None]), axis=1)
            pivots = np.linalg.cholesky(self.matrix[family[:, :, None], family[:, None, :]])
            logs = 2.0 * np.log(np.diagonal(pivots, axis1=1, axis2=2))
            total += len(children) * self.constants[p] - self.exponents[p] * logs[:, -1].sum()
            total -= self.determinant * logs[:, :-1].sum()
        return float(total)

    def degrees(self, n_parents: int) -> float:
        """Shape of the inverse gamma posterior of a residual variance.

        For the BIC, which has no prior of its own, that of a flat prior on the coefficients and
        one on the logarithm of the variance.
        """
        if self.name == "bge":
            return float(self.exponents[n_parents])
        return (self.n_samples - n_parents - 1) / 2


def bge_score(moments: Moments, t: float, edge_prior: float) -> FamilyScore:
    """The BGe score with prior matrix tI on standardised data."""
    n, N = moments.n_variables, moments.n_samples
    p = np.arange(n)
    a = (N + p + 3) / 2
    constants = bge_constants(n, N, t) + p * math.log(edge_prior)
    matrix = moments.correlation + t / N * np.eye(n)
    return FamilyScore(
        "bge", np.ascontiguousarray(matrix), np.asarray(constants, dtype=np.float64), a, 0.5, N
    )


def bge_constants(n: int, n_samples: float, t: float) -> FloatArray:
    """BGe's constants for 0 to n - 1 parents, without the prior odds of edges."""
    p, N = np.arange(n), n_samples
    a = (N + p + 3) / 2
    return np.asarray(
        gammaln(a)
        - gammaln((p + 3) / 2)
        + (2 * p + 3) / 2 * math.log(t)
        - (a + p / 2) * math.log(N)
        - N / 2 * math.log(math.pi)
        - 0.5 * math.log1p(N),
        dtype=np.float64,
    )


def bic_score(moments: Moments, penalty_discount: float, edge_prior: float) -> FamilyScore:
    """Half the BIC in Tetrad's unit, -N/2 log c - penalty_discount/2 · p log N.

    Families of N - 1 or more parents would fit the data without a rest, and are left out.
    """
    n, N = moments.n_variables, moments.n_samples
    p = np.arange(n)
    constants = p * (math.log(edge_prior) - penalty_discount / 2 * math.log(N))
    constants[p >= N - 1] = NEVER
    exponents = np.full(n, N / 2)
    return FamilyScore("bic", _floats(moments.correlation), _floats(constants), exponents, 0.0, N)


def choose_t(make: Callable[[float], Any], dag: Adjacency) -> float:
    """The t of a grid under which a good DAG is most probable (empirical Bayes).

    The customary t = 1/2 is wrong where the parents explain nearly everything: N·c falls to the
    size of t then, and variables lose true parents.
    """
    scores: dict[int, float] = {}

    def score(k: int) -> float:
        if k not in scores:
            scores[k] = make(T_GRID[k]).of_graph(dag)
        return scores[k]

    # The score has one summit, and climbing takes a third of the evaluations.
    k = T_GRID.index(0.125)
    while True:
        best = max(range(max(k - 1, 0), min(k + 2, len(T_GRID))), key=score)
        if best == k:
            return T_GRID[k]
        k = best


def _floats(values: npt.ArrayLike) -> FloatArray:
    """The layout that the compiled tables take."""
    return np.ascontiguousarray(values, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BlockFamilies:
    """The score of one data set with categories; see above.

    ``matrix`` is R of the whitened columns, ``sizes`` how many each variable owns, ``totals`` F by
    the number of columns; ``penalty`` is that of a parameter, for the BIC.
    """

    name: ScoreName
    matrix: FloatArray
    sizes: Indices
    n_samples: float
    log_odds: float
    totals: FloatArray
    penalty: float = 0.0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.sizes)

    def of_graph(self, dag: Adjacency) -> float:
        """The log score of a DAG: the sum over its families."""
        families = ((v, np.flatnonzero(column).tolist()) for v, column in enumerate(dag.T))
        return math.fsum(float(self.table(v, [], parents)[0]) for v, parents in families)

    def table(self, child: int, candidates: list[int], core: list[int]) -> FloatArray:
        """Log s of a child with its core and each set of candidates, whose number is its bits.

        One candidate after the other is taken out of all matrices at once, or left in.
        """
        columns = columns_of(self.sizes)
        places = np.concatenate([columns[v] for v in (*core, *candidates, child)])
        left = self.matrix[np.ix_(places, places)][None]
        parents = np.zeros((1, 3))  # log det R_PP, columns, how many
        for u in core:
            gained, left = _given(left, int(self.sizes[u]))
            parents = parents + np.column_stack([gained, [self.sizes[u]], [1]])
        for u in candidates:
            size = int(self.sizes[u])
            gained, given = _given(left, size)
            left = np.concatenate([left[:, size:, size:], given])
            more = parents + np.array([0.0, size, 1.0])
            more[:, 0] += gained
            parents = np.concatenate([parents, more])
        own = np.log(np.maximum(np.linalg.eigvalsh(left), DETERMINED)).sum(axis=-1)
        return self._scores(int(self.sizes[child]), own, *parents.T)

    def _scores(
        self, k: int, own: FloatArray, rest: FloatArray, columns: FloatArray, counts: FloatArray
    ) -> FloatArray:
        """Log s from log det cov(V | P), log det R_PP, columns and number of the parents."""
        size = self.n_samples
        if self.name == "bic":
            score = -size / 2 * own - self.penalty * k * columns
            score[columns + k >= size - 1] = NEVER
        else:
            few = columns.astype(np.intp)
            with_child = self.totals[few + k] - (size + columns + k + 2) / 2 * (own + rest)
            score = with_child - self.totals[few] + (size + columns + 2) / 2 * rest
        return np.asarray(score + counts * self.log_odds, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConditionFamilies(BlockFamilies):
    """The score of rows from several conditions: minus half of what their search descends on.

    ``cost`` is that of a variable with parents: the regimes that leave it alone share an equation,
    each other one has its own, and which these are is chosen for each set of parents.
    """

    cost: Callable[[int, list[int]], float] = lambda _, __: 0.0

    def table(self, child: int, candidates: list[int], core: list[int]) -> FloatArray:
        """Log s of a child with its core and each set of candidates, whose number is its bits."""
        sets = [core]
        for u in candidates:
            sets += [[*own, u] for own in sets]
        return np.array([len(own) * self.log_odds - 0.5 * self.cost(child, own) for own in sets])


def _given(matrices: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Log det of the first columns of many matrices, and the others given these."""
    values, vectors = np.linalg.eigh(matrices[:, :size, :size])
    values = np.maximum(values, DETERMINED)
    half = np.swapaxes(vectors, 1, 2) @ matrices[:, :size, size:] / np.sqrt(values)[:, :, None]
    left = matrices[:, size:, size:] - np.swapaxes(half, 1, 2) @ half
    return np.log(values).sum(axis=-1), left


def block_bge(moments: Moments, t: float, edge_prior: float) -> BlockFamilies:
    """The BGe score with prior matrix tI on the whitened columns."""
    matrix, sizes = moments.whitened()
    size = moments.n_samples
    constants = bge_constants(len(matrix), size, t)
    totals = np.concatenate([[0.0], np.cumsum(constants)])
    ridge = matrix + t / size * np.eye(len(matrix))
    return BlockFamilies("bge", ridge, sizes, size, math.log(edge_prior), totals)


def block_bic(moments: Moments, penalty_discount: float, edge_prior: float) -> BlockFamilies:
    """Half the BIC, with a penalty for each parameter of an edge."""
    matrix, sizes = moments.whitened()
    size = moments.n_samples
    penalty = penalty_discount / 2 * math.log(size)
    none = np.zeros(1)
    return BlockFamilies("bic", matrix, sizes, size, math.log(edge_prior), none, penalty)
