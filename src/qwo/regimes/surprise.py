"""How far the equation of a variable in each regime is from a base, and which regimes are the base.

For a child v with parents P, against the regimes that leave its equation alone (the base):

    D_r = MSE_r / s₀² − 1 − log(s_r² / s₀²)  =  m² / s₀²  +  δᵀ C_r δ / s₀²  +  (x − 1 − log x)

is twice the Kullback–Leibler divergence, per row, of the equation of regime r from the base's, and
the sum of what its mean, slopes and variance add: m is the difference of both lines at the centre
of the regime's rows, δ that of the slopes, C_r the covariance of the parents there, x = s_r² / s₀².
Unlike a likelihood ratio it does not saturate. Each part, times the rows that its estimates are
worth, is about χ² with 1, |P| and 1 degrees of freedom if nothing has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from qwo.regimes.sums import RegimeSums
from qwo.types import Adjacency, FloatArray, Indices, Mask

EXCUSE = 0.4
"""Curvature that is thought possible: standard deviations by which an effect may bend where its
cause has moved by one of its own."""

LEAST_VARIANCE, RIDGE = 1e-7, 1e-9
"""Shares of a variance that are rounding: what is left unexplained, and what is added to causes."""

MOST_STARTS = 25
"""Regimes from which the base is looked for, those with most rows."""

ROUNDS = 10
"""Bases come to rest in two or three."""


class Surprise(NamedTuple):
    """How much equations differ from a base: arrays that end in an axis of regimes."""

    parts: FloatArray
    """What mean, slopes and variance add to the statistic (last axis), each about χ²."""
    divergence: FloatArray
    """D, per row."""
    weight: FloatArray
    """Rows that the difference of means is worth."""
    spread: FloatArray
    """Variance of the variable in the base, over that of its residuals."""
    excused: FloatArray
    """The part of the statistic that curvature may explain, the parents having moved."""
    shift: FloatArray
    """Mean residual of the base's equation, in its residual standard deviations."""
    ratio: FloatArray
    """Residual variance of the regime's own regression, over the base's."""


class Bases(NamedTuple):
    """S sets of regimes that may share the equation of each of V variables."""

    members: Mask
    """Which regimes are in it, V × S × R."""
    misfits: FloatArray
    """Of its members, in units of what hardly any exceeds, V × S."""
    strengths: FloatArray
    """What the parents explain in it, over half of the most that they do in any; at most 1."""


class Families:
    """The equations of V variables in R regimes: equally many columns own, and for the parents.

    Arrays are V × R, and V × S × R for S bases of each.
    """

    def __init__(self, sums: RegimeSums, dag: Adjacency, variables: Sequence[int]) -> None:
        ends = np.cumsum(sums.sizes) + 1
        owned = [np.arange(end - size, end) for end, size in zip(ends, sums.sizes, strict=True)]
        own = [columns[:k] for columns, k in zip(owned, sums.explained, strict=True)]
        chosen = np.array(
            [
                np.concatenate([[0], *(owned[p] for p in np.flatnonzero(dag[:, v])), own[v]])
                for v in variables
            ],
            dtype=int,
        )
        self.q = sums.explained[variables[0]]
        self.g = chosen.shape[1] - self.q  # the constant and the parents
        products = sums.products()[:, chosen[:, :, None], chosen[:, None, :]]
        self.products = np.ascontiguousarray(np.swapaxes(products, 0, 1))
        self.degrees = (self.q, self.q * (self.g - 1), self.q * (self.q + 1) // 2)
        self._slopes, self._residual = self._regression(self.products)
        self._logs = np.linalg.slogdet(self._residual)[1] + self.q

    def against(self, base: Mask) -> Surprise:
        """Each regime against the regimes of its variable's base, V × R, less itself.

        A regime that is the base alone is compared with itself, and has not changed.
        """
        inside = base & (base.sum(axis=1, keepdims=True) > 1)
        sums = np.einsum("vr,vrij->vij", base, self.products)[:, None]
        return self._against(sums - np.where(inside[:, :, None, None], self.products, 0.0))

    def joined(self, usable: Mask, reference: int, significant: FloatArray) -> Mask:
        """The reference, and all regimes that do not differ from it significantly, V × R."""
        base = np.zeros_like(usable)
        base[:, reference] = True
        for _ in range(ROUNDS):
            fits = usable & (self.against(base).parts.sum(axis=-1) <= significant)
            fits[:, reference] = True
            if np.array_equal(fits, base):
                break
            base = fits
        return base

    def agreeing(self, usable: Mask, significant: FloatArray) -> Bases:
        """From each of S regimes in turn: those that agree with it.

        What agrees with a regime is the next base, until that is settled; so some that changed
        alike are a base by themselves, and do not spoil that of the others.
        """
        counts = self.products[0, :, 0, 0]
        starts = np.sort(np.argsort(-counts, kind="stable")[:MOST_STARTS])
        own = starts[:, None] == np.arange(len(counts))
        bases = np.broadcast_to(own, (len(usable), *own.shape))
        for _ in range(ROUNDS):
            rows = (bases @ counts)[..., None]
            misfit = self._misfit(bases, usable) / np.where(bases, 1.0, 1.0 + counts / rows)
            fits = (misfit <= significant[:, None]) | own
            if np.array_equal(fits, bases):
                break
            bases = fits
        bases = bases & usable[:, None] & usable[:, starts, None]
        explained = self._explained(bases)
        most = np.maximum(explained.max(axis=1, keepdims=True), LEAST_VARIANCE)
        # A constant has no noise that could fit: that is no reason to take it for the usual.
        misfits = np.where(bases, np.maximum(misfit / significant[:, None], -1.0), 0.0).sum(axis=-1)
        return Bases(bases, misfits, np.minimum(1.0, 2.0 * explained / most))

    def _explained(self, bases: Mask) -> FloatArray:
        """The variance that the parents explain in each of S bases, V × S; 0 of an empty base."""
        sums = np.einsum("vsr,vrij->vsij", bases, self.products)
        sums[..., 0, 0] = np.maximum(sums[..., 0, 0], 1.0)
        rows, _, scatter = self._centred(sums)
        slopes = self._regression(sums)[0][..., 1:, :]
        return _trace(np.swapaxes(slopes, -1, -2), scatter @ slopes) / rows

    def majority(self, usable: Mask, significant: float) -> Mask:
        """More than half of the regimes, those whose equations agree best, and who fits them.

        From every regime in turn: the majority that its equation fits best is the next base, until
        that is settled; the base of the least misfit is the one (as for a minimum covariance
        determinant).
        """
        starts = np.sort(np.argsort(-self.products[0, :, 0, 0], kind="stable")[:MOST_STARTS])
        own = starts[:, None] == np.arange(usable.shape[1])
        bases = np.broadcast_to(own, (len(usable), *own.shape))
        half = usable.sum(axis=1)[:, None] // 2 + 1
        for _ in range(ROUNDS):
            misfit = self._misfit(bases, usable)
            chosen = _rank(misfit) < half[..., None]
            if np.array_equal(chosen, bases):
                break
            bases = chosen
        total = np.where(bases & np.isfinite(misfit), misfit, 0.0).sum(axis=-1)
        base = np.asarray(bases[np.arange(len(usable)), np.argmin(total, axis=1)])
        for _ in range(ROUNDS):
            misfit = np.where(usable, self.against(base).parts.sum(axis=-1), np.inf)
            fits = usable & ((_rank(misfit) < half) | (misfit <= significant))
            if np.array_equal(fits, base):
                break
            base = fits
        return base

    def _misfit(self, bases: Mask, usable: Mask) -> FloatArray:
        """N_r D_r of each regime against each of S bases, V × S × R, up to a constant."""
        squares = self.products.reshape(*usable.shape, -1)
        sums = (bases.astype(float) @ squares).reshape(*bases.shape[:2], *self.products.shape[2:])
        slopes, residual = self._regression(sums)
        identity = np.broadcast_to(np.eye(self.q), (*bases.shape[:2], self.q, self.q))
        away = np.concatenate([-slopes, identity], axis=-2)
        kernel = away @ np.linalg.inv(residual) @ np.swapaxes(away, -1, -2)
        fit = kernel.reshape(*bases.shape[:2], -1) @ np.swapaxes(squares, 1, 2)
        logs = np.linalg.slogdet(residual)[1][..., None] - self._logs[:, None]
        return np.where(usable[:, None], fit + self.products[:, None, :, 0, 0] * logs, np.inf)

    def _against(self, sums: FloatArray) -> Surprise:
        """Each regime against the sums of its base, V × R × m × m."""
        q, k = self.q, self.g - 1
        slopes, residual = self._regression(sums)
        inverse = np.asarray(np.linalg.inv(residual), dtype=np.float64)
        (rows, centre, scatter), (count, here, within) = map(self._centred, (sums, self.products))
        change = self._slopes - slopes
        shift = change[..., 0, :] + (here[..., None, :] @ change[..., 1:, :])[..., 0, :]
        mean = _form(shift, inverse)
        moved, bend, bend_rows = np.zeros((3, *mean.shape))
        if k:
            spread_out = np.asarray(np.linalg.inv(scatter), dtype=np.float64)
            moved = _form(here - centre, spread_out) * rows
            inner = np.swapaxes(change[..., 1:, :], -1, -2)
            both = np.linalg.inv(np.linalg.inv(within) + spread_out)
            bend = _trace(inner @ both @ change[..., 1:, :], inverse)
            bend_rows = _trace(inner @ within @ change[..., 1:, :], inverse) / count
        weight = 1.0 / (1.0 / count + (1.0 + moved) / rows)
        ratios = inverse @ self._residual
        log_ratio = np.linalg.slogdet(ratios)[1]
        variance = np.trace(ratios, axis1=-2, axis2=-1) - q - log_ratio
        freely = 1.0 / np.maximum(count - self.g, 1.0) + 1.0 / np.maximum(rows - self.g, 1.0)
        spread = self._spread(sums, inverse)
        size = np.sqrt(mean)
        return Surprise(
            np.stack([weight * mean, bend, variance / freely], axis=-1),
            mean + bend_rows + variance,
            weight,
            spread,
            weight * EXCUSE**2 * moved * spread,
            size * np.sign(shift[..., 0]) if q == 1 else size,
            np.exp(log_ratio / q),
        )

    def _regression(self, products: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes with the constant first, and residual covariance, which is never singular."""
        g, rows = self.g, products[..., 0, 0]
        ridge = RIDGE * rows[..., None, None] * np.eye(g)
        slopes = np.linalg.solve(products[..., :g, :g] + ridge, products[..., :g, g:]).astype(float)
        left = products[..., g:, g:] - products[..., g:, :g] @ slopes
        freely = np.maximum(rows - g, 1.0)[..., None, None]
        return slopes, left / freely + LEAST_VARIANCE * np.eye(self.q)

    def _centred(self, products: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows, means of the parents, and their scatter about these, which is never singular."""
        rows = products[..., 0, 0]
        means = products[..., 0, 1 : self.g] / rows[..., None]
        outer = means[..., :, None] * means[..., None, :] - RIDGE * np.eye(self.g - 1)
        scatter = products[..., 1 : self.g, 1 : self.g] - rows[..., None, None] * outer
        return rows, means, scatter

    def _spread(self, sums: FloatArray, inverse: FloatArray) -> FloatArray:
        rows = sums[..., 0, 0][..., None, None]
        means = sums[..., 0, self.g :]
        total = sums[..., self.g :, self.g :] - means[..., :, None] * means[..., None, :] / rows
        return _trace(inverse, total / rows) / self.q


def families_of(
    sums: RegimeSums, dag: Adjacency, wanted: Indices | None = None
) -> list[tuple[Indices, Families]]:
    """The variables of a DAG, together where they own and are explained by equally many columns."""
    width = np.asarray(sums.sizes) @ dag
    kinds: dict[tuple[int, int], list[int]] = {}
    for v in range(sums.n_variables) if wanted is None else wanted.tolist():
        kinds.setdefault((int(width[v]), sums.explained[v]), []).append(v)
    return [(np.array(own), Families(sums, dag, own)) for own in kinds.values()]


def _rank(values: FloatArray) -> Indices:
    """The place of each value among those of the last axis, the least first."""
    return np.asarray(values.argsort(axis=-1).argsort(axis=-1))


def _form(vector: FloatArray, matrix: FloatArray) -> FloatArray:
    """xᵀ A x, along the last axes."""
    return np.asarray((vector * (matrix @ vector[..., None])[..., 0]).sum(axis=-1))


def _trace(first: FloatArray, second: FloatArray) -> FloatArray:
    """The trace of a product of matrices, along the last axes."""
    return np.asarray((first * np.swapaxes(second, -1, -2)).sum(axis=(-2, -1)))
