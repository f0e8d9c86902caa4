"""Which equations a regime has changed, and which of these changes are its targets.

For a child v with parents P, against its base, the regimes that leave its equation alone:

    D_r = MSE_r / s₀² − 1 − log(s_r² / s₀²)

is twice the Kullback–Leibler divergence, per row, of the equation of regime r from the base's.
MSE_r is the mean square in r of the residuals of the base's equation, s_r² the residual variance of
r's own regression. Shifts of mean, slopes and variance show in one number, which does not saturate.
N_r D_r / (1 + N_r / N₀) is about χ² with |P| + 2 degrees of freedom if nothing has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from qwo.regimes.sums import RegimeSums
from qwo.types import Adjacency, FloatArray, Indices, Mask

TargetStatus = Literal[
    "target",
    "may be curvature",
    "drift",
    "absorbed",
    "same",
    "known",
    "known, does not show",
    "set",
]

LEVEL = 0.05
"""Probability that any of the R n unchanged equations exceeds the bar."""

EXCUSE = 0.4
"""Curvature that is thought possible: standard deviations by which an effect may bend where its
cause has moved by one of its own."""

FEWEST_FOR_DRIFT = 4
"""Regimes from which on a drift of all of them can be told from targets of some."""

LEAST_VARIANCE = 1e-7


class Surprise(NamedTuple):
    """How much the equation of each regime differs from the base's, as arrays over regimes."""

    statistic: FloatArray
    """About χ² if nothing has changed."""
    divergence: FloatArray
    """D, per row."""
    excused: FloatArray
    """The part of the statistic that curvature may explain, the parents having moved."""
    shift: FloatArray
    """Mean residual of the base's equation, in its residual standard deviations."""
    ratio: FloatArray
    """Residual variance of the regime's own regression, over the base's."""


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of all equations: regimes in rows, variables in columns.

    `bars` has what the statistic of a target must exceed, for each variable.
    """

    statistics: FloatArray
    divergences: FloatArray
    excused: FloatArray
    shifts: FloatArray
    ratios: FloatArray
    bars: FloatArray
    significant: FloatArray

    @property
    def targets(self) -> Mask:
        """Above the bar, and more than curvature may explain."""
        return (self.statistics - self.excused) > self.bars

    def status(self, absorbed: Mask, known: Mask, dropped: Mask) -> list[list[TargetStatus]]:
        """What is to be said of each pair, in words."""
        shape = self.statistics.shape
        found: list[list[TargetStatus]] = [["same"] * shape[1] for _ in range(shape[0])]
        targets = self.targets
        for r, v in np.ndindex(*shape):
            x, bar = self.statistics[r, v], self.bars[v]
            if dropped[r, v]:
                found[r][v] = "set"
            elif known[r, v]:
                found[r][v] = "known" if x > self.significant[v] else "known, does not show"
            elif targets[r, v]:
                found[r][v] = "target"
            elif x > bar:
                found[r][v] = "may be curvature"
            elif x > self.significant[v]:
                found[r][v] = "drift"
            elif absorbed[r, v]:
                found[r][v] = "absorbed"
        return found


def changes_of(
    sums: RegimeSums, dag: Adjacency, dropped: Mask | None = None, reference: int | None = None
) -> Changes:
    """The changes of every equation of a DAG in every regime; sums are standardised.

    A regime leaves the base of a variable, the most surprising first, while it is significant and
    more than half are left: otherwise one large shift would make all others look changed. Where the
    median over regimes is above what chance gives, all regimes drift, and the bar rises by as much
    as such a drift would reach (as genomic control does). Of two regimes the reference, or else the
    first, is the base, and only the other can have changed.
    """
    from scipy.stats import chi2

    R, n = sums.n_regimes, sums.n_variables
    products = sums.products()
    columns = np.zeros((len(Surprise._fields), R, n))
    bars, significant = np.full(n, math.inf), np.full(n, math.inf)
    level = LEVEL / (R * n)
    for v in range(n):
        usable = np.ones(R, bool) if dropped is None else ~dropped[:, v]
        if usable.sum() < 2:
            continue
        family = _Family(products, sums.sizes, v, np.flatnonzero(dag[:, v]))
        significant[v] = bars[v] = chi2.isf(level, family.degrees)
        base = usable.copy()
        if usable.sum() == 2:
            places = np.flatnonzero(usable).tolist()
            base[:] = False
            base[reference if reference in places else places[0]] = True
        seen = family.against_base(base, significant[v])
        columns[:, usable, v] = np.array(seen)[:, usable]
        if usable.sum() >= FEWEST_FOR_DRIFT:
            usual = np.median(seen.statistic[usable]) - chi2.median(family.degrees)
            drift = usual - 1.25 * math.sqrt(2 * family.degrees / usable.sum())
            bars[v] += max(0.0, drift) * chi2.isf(level, 1) / chi2.median(1)
    statistics, divergences, excused, shifts, ratios = columns
    return Changes(statistics, divergences, excused, shifts, ratios, bars, significant)


class _Family:
    """The equation of one variable in all regimes; a variable of several columns as one system."""

    def __init__(
        self, products: FloatArray, sizes: Sequence[int], variable: int, parents: Indices
    ) -> None:
        ends = np.cumsum(sizes) + 1
        owned = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        chosen = np.concatenate([[0], *(owned[p] for p in parents), owned[variable]]).astype(int)
        self._products = products[:, chosen[:, None], chosen]
        self._q = sizes[variable]
        self._g = len(chosen) - self._q  # the constant and the parents
        self.degrees = self._q * self._g + self._q * (self._q + 1) // 2

    def against_base(self, base: Mask, significant: float) -> Surprise:
        """Each regime against those that have stayed in the base, itself left out."""
        if base.sum() == 1:
            seen = self._against(base, itself=True)
            return Surprise(*(np.where(base, 0.0, column) for column in seen))
        least = max(2, (int(base.sum()) + 1) // 2)
        while True:
            seen = self._against(base)
            statistics = np.where(base, seen.statistic, -math.inf)
            worst = int(np.argmax(statistics))
            if base.sum() <= least or statistics[worst] <= significant:
                return seen
            base[worst] = False

    def _against(self, base: Mask, *, itself: bool = False) -> Surprise:
        own, g, q = self._products, self._g, self._q
        left_out = base & (not itself)
        others = own[base].sum(axis=0) - np.where(left_out[:, None, None], own, 0.0)
        rows, count = others[:, 0, 0], own[:, 0, 0]
        slopes, residual = self._regression(others, rows)
        away = np.concatenate([-slopes, np.tile(np.eye(q), (len(own), 1, 1))], axis=1)
        square = np.swapaxes(away, 1, 2) @ own @ away / count[:, None, None]
        alone = self._regression(own, np.maximum(count - g, 1.0))[1]
        inverse = np.linalg.inv(residual)
        log_ratio = np.linalg.slogdet(alone)[1] - np.linalg.slogdet(residual)[1]
        divergence = np.einsum("rij,rji->r", inverse, square) - q - log_ratio
        weight = count / (1 + count / rows)
        shift = (own[:, :1] @ away)[:, 0] / count[:, None]
        size = np.sqrt(np.einsum("ri,rij,rj->r", shift, inverse, shift))
        spread = np.einsum("rij,rji->r", inverse, self._total(others, rows)) / q
        return Surprise(
            weight * divergence,
            divergence,
            weight * EXCUSE**2 * self._moved(others, rows) * spread,
            size * np.sign(shift[:, 0]) if q == 1 else size,
            np.exp(log_ratio / q),
        )

    def _regression(self, products: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes with the constant first, and residual covariance, which is never singular."""
        g, q = self._g, self._q
        ridge = 1e-9 * products[:, :1, :1] * np.eye(g)
        slopes = np.linalg.solve(products[:, :g, :g] + ridge, products[:, :g, g:]).astype(float)
        residual = products[:, g:, g:] - products[:, g:, :g] @ slopes
        return slopes, residual / rows[:, None, None] + LEAST_VARIANCE * np.eye(q)

    def _total(self, products: FloatArray, rows: FloatArray) -> FloatArray:
        """The covariance of the variable itself."""
        means = products[:, 0, self._g :] / rows[:, None]
        square = products[:, self._g :, self._g :] / rows[:, None, None]
        return np.asarray(square - means[:, :, None] * means[:, None, :])

    def _moved(self, others: FloatArray, rows: FloatArray) -> FloatArray:
        """Mahalanobis distances, squared, of the parents' means from those of the base."""
        k = self._g - 1
        if not k:
            return np.zeros(len(rows))
        means = others[:, 0, 1 : k + 1] / rows[:, None]
        square = others[:, 1 : k + 1, 1 : k + 1] / rows[:, None, None]
        covariance = square - means[:, :, None] * means[:, None, :] + 1e-9 * np.eye(k)
        here = self._products[:, 0, 1 : k + 1] / self._products[:, :1, 0]
        away = here - means
        solved = np.linalg.solve(covariance, away[:, :, None])[:, :, 0]
        return np.asarray((away * solved).sum(axis=1))
