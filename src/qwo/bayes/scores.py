r"""Family scores of a linear Gaussian model, as the numbers that the compiled tables take.

    log s(v, P) = constants[p] - exponents[p] log c - determinant log det R_PP,    p = |P|,
    c = R_vv - R_vP R_PP⁻¹ R_Pv.

BGe is the marginal likelihood of Geiger and Heckerman (2002) as corrected by Kuipers, Moffa and
Heckerman (2014), on standardised data with T = tI, α_μ = 1 and α_w = n + 2; its R is divided by N
here, which the constants make good for. The BIC has R = the correlation matrix. Either way the
prior odds κ of an edge, κ^edges, are part of the constants.
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
from qwo.types import Adjacency, FloatArray

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
