r"""Family scores of variables that own blocks of columns, as the tables that chains draw from.

A nominal variable is the block of its indicators (the degenerate Gaussian). With m(S) the log
marginal likelihood of all columns of the variables S in the complete Gaussian model,

    log s(v, P) = m(P ∪ v) - m(P) + |P| log κ,    m(S) = F(l) - (N + l + 2) / 2 log det R_SS,

l being the columns of S and F what BGe's constants sum up to (`qwo.bayes.scores`); with single
columns it is BGe. The BIC has -N/2 log det cov(V | P) and half its penalty for each parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qwo.bayes.scores import NEVER, ScoreName, bge_constants
from qwo.moments import Moments
from qwo.order.blocks import DETERMINED, columns_of
from qwo.types import Adjacency, FloatArray, Indices


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
