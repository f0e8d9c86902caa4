"""Which columns repeat others: copies of one column, and exact or near linear combinations.

A copy, whatever its shift, scale and sign, has a correlation of ±1 with its original. A linear
combination shows as a vanishing pivot of the Cholesky factorisation with diagonal pivoting
P R Pᵀ = L Lᵀ: the pivot of a column is its variance given the columns before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack, solve_triangular

from qwo.types import FloatArray, Indices

TOLERANCE = 1e-13
"""Pivots, and 1 - |r| of copies, below this are rounding of the data in float64, and no more."""

NEGLIGIBLE = 3e-7
"""Relative size of a standardised coefficient whose square no pivot shows: √TOLERANCE."""

SAFE_PIVOT = 1e-3
"""Relative size below which an entry is passed over in elimination, for the sake of rounding."""

CLEAR = 1e-3
"""A standard deviation given other columns that shows a column not to be a combination of them."""

SCAN_ENTRIES = 1 << 22
"""Entries of the correlation matrix that are compared at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A standardised column as a combination Σ coefficient · column of others, largest first."""

    column: int
    others: tuple[int, ...]
    coefficients: tuple[float, ...]

    @classmethod
    def of(cls, vector: FloatArray, negligible: float = NEGLIGIBLE) -> Self:
        """The relation Σ vector[k] · column k = 0, solved for the last column that takes part.

        Whatever was computed from other columns tends to stand after them.
        """
        size = np.abs(vector)
        *others, last = np.flatnonzero(size > negligible * size.max()).tolist()
        others.sort(key=lambda k: -size[k])
        weights = [-float(vector[k] / vector[last]) for k in others]
        return cls(last, tuple(others), tuple(weights))


@dataclass(frozen=True, slots=True, eq=False)
class PivotedCholesky:
    """P R Pᵀ = L Lᵀ up to the numerical rank of a correlation matrix R.

    Attributes
    ----------
    factor : ndarray
        L in its lower triangle; only the first `rank` columns have meaning.
    pivots : ndarray of int
        The column of R at each place.
    rank : int
        Number of pivots above the tolerance.
    reciprocal_condition : float
        Estimate of 1 / (‖R‖₁ ‖R⁻¹‖₁); 0 where the rank is not full.
    """

    factor: FloatArray
    pivots: Indices
    rank: int
    reciprocal_condition: float

    @classmethod
    def of(cls, correlation: FloatArray) -> Self:
        """Factor a correlation matrix in n³/3 operations."""
        size = len(correlation)
        tolerance = max(TOLERANCE, 4 * size * np.finfo(np.float64).eps)
        factor, pivots, rank, _ = lapack.dpstrf(correlation.T, tol=tolerance, lower=1)
        condition = 0.0
        if rank == size:
            condition = lapack.dpocon(factor, _one_norm(correlation), uplo="L")[0]
        return cls(factor, pivots.astype(np.intp) - 1, int(rank), float(condition))

    def null_vectors(self, start: int, limit: int) -> FloatArray:
        """Vectors v with R v = 0, one for each place from `start` on: column minus its regression.

        The regression is on the leading columns, up to the rank. Where the pivot at a place does
        not vanish, R v is that pivot in the place's column and 0 in the leading ones.
        """
        leading = min(self.rank, start)
        places = range(start, min(start + limit, len(self.pivots)))
        weights = solve_triangular(
            self.factor[:leading, :leading],
            self.factor[places, :leading].T,
            trans="T",
            lower=True,
            check_finite=False,
        )
        vectors = np.zeros((len(places), len(self.pivots)))
        vectors[:, self.pivots[:leading]] = -weights.T
        vectors[np.arange(len(places)), self.pivots[places]] = 1.0
        return vectors

    def remainder(self, correlation: FloatArray) -> float:
        """Largest entry that the factorisation leaves: large only if R is not semidefinite.

        A positive semidefinite matrix whose diagonal vanishes is zero.
        """
        rest = self.pivots[self.rank :]
        if len(rest) == 0:
            return 0.0
        rows = self.factor[self.rank :, : self.rank]
        left = correlation[np.ix_(rest, rest)] - rows @ rows.T
        return float(np.abs(left).max())


def smallest_relation(vectors: FloatArray) -> Relation:
    """The relation with the fewest columns among null vectors and their reduced echelon form.

    Pivoting puts the columns of largest variance into the basis, which spreads a short relation
    over several vectors; elimination from the right, by the last columns, gathers it again.
    """
    relations = [Relation.of(vector) for vector in (*vectors, *_eliminated(vectors))]
    return min(relations, key=lambda relation: len(relation.others))


def _eliminated(vectors: FloatArray) -> FloatArray:
    """Gauss–Jordan elimination of the rows, from the last column to the first."""
    rows = vectors.copy()
    done = 0
    for column in range(rows.shape[1] - 1, -1, -1):
        pivot = done + int(np.abs(rows[done:, column]).argmax())
        if abs(rows[pivot, column]) <= SAFE_PIVOT * np.abs(rows[pivot]).max():
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        rest = np.arange(len(rows)) != done
        rows[rest] -= np.outer(rows[rest, column], rows[done])
        done += 1
        if done == len(rows):
            break
    return rows


def copy_groups(correlation: FloatArray) -> list[list[int]]:
    """Groups of columns that equal each other up to shift, scale and sign, first column first."""
    size = len(correlation)
    rows = max(SCAN_ENTRIES // max(size, 1), 1)
    groups: list[list[int]] = []
    taken = np.zeros(size, dtype=np.bool_)
    for start in range(0, size, rows):
        same = np.abs(correlation[start : start + rows]) >= 1 - TOLERANCE
        for row in np.flatnonzero(same.sum(axis=1) > 1):
            if taken[start + row]:
                continue
            group = np.flatnonzero(same[row] & ~taken)
            taken[group] = True
            if len(group) > 1:
                groups.append(group.tolist())
    return groups


def _one_norm(matrix: FloatArray) -> float:
    """‖·‖₁ of a symmetric matrix, without a second matrix of its size."""
    parts = (np.abs(matrix[start : start + 64]) for start in range(0, len(matrix), 64))
    return max(float(part.sum(axis=1).max()) for part in parts)


def is_well_conditioned(correlation: FloatArray) -> bool:
    """Whether each column keeps a share of its variance, far above rounding, given those before.

    Then none is a copy or a combination of others; this takes a tenth of what an audit takes.
    """
    factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
    return failed == 0 and bool(np.diagonal(factor).min(initial=1.0) > CLEAR)


def is_far_from_singular(correlation: FloatArray, reciprocal_condition: float) -> bool:
    """Whether 1 / (‖R‖₁ ‖R⁻¹‖₁) is estimated to be above a bound.

    No pivot of a factorisation is below that fraction of ‖R‖₁, so that the one with pivots, which
    takes longer, has nothing more to show.
    """
    # As its own transpose it is in the order of columns, as LAPACK wants it.
    factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
    if failed:
        return False
    return bool(lapack.dpocon(factor, _one_norm(correlation), uplo="L")[0] > reciprocal_condition)
