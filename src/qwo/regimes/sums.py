"""Sums over the rows of each regime: all that a search over regimes reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qwo.types import FloatArray, Mask


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
