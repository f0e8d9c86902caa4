"""Sums over the rows of each regime: all that a search over regimes reads; the usual moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qwo.moments.moments import Moments
from qwo.moments.sums import split_covariance
from qwo.types import Adjacency, FloatArray, Indices, Mask

RIDGE, ROWS_PER_PREDICTOR = 1e-9, 3
"""What is added to constant predictors; with fewer rows a variable has its parents alone."""


@dataclass(frozen=True, slots=True, eq=False)
class RegimeSums:
    """Rows N_r, means and covariances (divisor N_r) of the columns in each of R regimes.

    `sizes` says how many consecutive columns each variable owns, `leading` in how many of them, the
    first ones, it is explained: in all if nothing is said.
    """

    rows: FloatArray
    means: FloatArray
    covariances: FloatArray
    sizes: tuple[int, ...]
    leading: tuple[int, ...] = ()

    @property
    def explained(self) -> tuple[int, ...]:
        """In how many of its columns each variable is explained."""
        return self.leading or self.sizes

    @classmethod
    def of(
        cls,
        parts: Sequence[FloatArray],
        sizes: Sequence[int] | None = None,
        leading: Sequence[int] = (),
    ) -> RegimeSums:
        """From one matrix of rows for each regime."""
        width = parts[0].shape[1]
        return cls(
            np.array([len(part) for part in parts], dtype=np.float64),
            np.array([part.mean(axis=0) for part in parts]),
            np.array([np.cov(part.T, bias=True).reshape(width, width) for part in parts]),
            (1,) * width if sizes is None else tuple(sizes),
            tuple(leading),
        )

    @property
    def n_regimes(self) -> int:
        """R."""
        return len(self.rows)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.sizes)

    def pooled(self, chosen: Mask | slice = slice(None)) -> tuple[float, FloatArray, FloatArray]:
        """Rows, means and covariance of some regimes together."""
        total, means, within = self.within(chosen)
        away = self.means[chosen] - means
        weights = self.rows[chosen] / total
        return total, means, within + np.einsum("r,ri,rj->ij", weights, away, away)

    def within(self, chosen: Mask | slice = slice(None)) -> tuple[float, FloatArray, FloatArray]:
        """Rows and means of some regimes together, and covariance about the means of each."""
        rows = self.rows[chosen]
        weights = rows / rows.sum()
        covariance = np.einsum("r,rij->ij", weights, self.covariances[chosen])
        return float(rows.sum()), weights @ self.means[chosen], covariance

    def standardised(self) -> RegimeSums:
        """In units in which each column has mean 0 and variance 1 over all rows."""
        _, means, covariance = self.pooled()
        scales = np.sqrt(np.diagonal(covariance))
        return RegimeSums(
            self.rows,
            (self.means - means) / scales,
            self.covariances / np.outer(scales, scales),
            self.sizes,
            self.leading,
        )

    def products(self) -> FloatArray:
        """Σ (1, x)(1, x)ᵀ over the rows of each regime: these add up over regimes."""
        width = self.means.shape[1]
        sums = np.empty((self.n_regimes, width + 1, width + 1))
        sums[:, 0, 0] = self.rows
        sums[:, 0, 1:] = sums[:, 1:, 0] = self.rows[:, None] * self.means
        outer = self.means[:, :, None] * self.means[:, None, :]
        sums[:, 1:, 1:] = self.rows[:, None, None] * (self.covariances + outer)
        return sums


def usual_moments(
    moments: Moments, sums: RegimeSums, dag: Adjacency, order: Indices, touched: Mask
) -> Moments:
    """Moments of the usual equations; `touched` has regimes in rows, sums the units of the data.

    The usual equation of a variable is that of the regimes that leave it alone: it is regressed on
    all that precede it, in these rows less their means. Together the regressions are those of one
    population in which nothing was touched; rows of a changed equation would bend coefficients. A
    variable that all regimes touch, or that never varies in the others, has the equation of all
    rows. As many samples are counted as the variable with the fewest rows has, so that no standard
    error is too small.
    """
    ends = np.cumsum(sums.sizes)
    owned = [np.arange(end - size, end) for end, size in zip(ends, sums.sizes, strict=True)]
    means, covariance = np.zeros(ends[-1]), np.zeros((ends[-1], ends[-1]))
    fewest, before = float(sums.rows.sum()), np.empty(0, dtype=np.intp)
    for v in order.tolist():
        calm = ~touched[:, v]
        moves = sums.covariances[:, owned[v], owned[v]] > 1e-12 * moments.scales[owned[v]] ** 2
        if not moves[calm].any(axis=0).all():
            calm = np.ones(sums.n_regimes, dtype=bool)
        rows, centre, within = sums.within(calm)
        own, known = owned[v], before
        if rows < ROWS_PER_PREDICTOR * len(known):
            parents = [owned[p] for p in np.flatnonzero(dag[:, v])]
            known = np.concatenate([np.empty(0, dtype=np.intp), *parents])
        among = within[np.ix_(known, known)]
        # In the units of the data: what is constant in the calm regimes explains nothing there.
        ridge = RIDGE * np.diag(moments.scales[known] ** 2)
        slopes = np.linalg.solve(among + ridge, within[np.ix_(known, own)])
        residual = within[np.ix_(own, own)] - within[np.ix_(own, known)] @ slopes
        means[own] = centre[own] + (means[known] - centre[known]) @ slopes
        cross = covariance[np.ix_(before, known)] @ slopes
        covariance[np.ix_(before, own)], covariance[np.ix_(own, before)] = cross, cross.T
        explained = slopes.T @ covariance[np.ix_(known, known)] @ slopes
        covariance[np.ix_(own, own)] = residual + (explained + explained.T) / 2
        fewest, before = min(fewest, rows), np.concatenate([before, own])
    scales, correlation = split_covariance(covariance)
    return replace(
        moments, n_samples=fewest, means=means, scales=scales, correlation=correlation, found=None
    )
