"""How well a model of noise fits: what it leaves unexplained is no evidence for its arrows.

Where a model is right, residuals depend neither on a cause nor on each other. If they do, because
of products of causes, other forms of spread, bent scales or errors of measurement, a richer model
would gain something, and it might gain more in the other direction. So evidence counts as far as it
exceeds what is left to be gained.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from qwo import _core
from qwo.types import FloatArray

CLASSES = 12
"""Classes of a cause within which the mean of residuals is taken out."""

DEGREE = 4
"""Polynomials of the rank of a cause, and of residuals, that are correlated."""

CHANCE = 1.5
"""Standard deviations beyond its mean without dependence from which a statistic counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What a DAG's families under a model of noise leave unexplained.

    values: of each variable in each row; ranks: the share of rows below each, where needed.
    """

    cost: _core.NoiseCost
    values: FloatArray
    weights: FloatArray
    parents: Sequence[Sequence[int]]
    ranks: dict[int, FloatArray] = field(default_factory=dict)
    causes: dict[int, FloatArray] = field(default_factory=dict)
    left: dict[int, FloatArray] = field(default_factory=dict)
    known: dict[tuple[int, int, bool], float] = field(default_factory=dict)

    def lack(self, families: Collection[int]) -> float:
        """By how much twice the log-likelihood of some families could rise.

        By the smooth test of independence (Kallenberg and Ledwina 1999) of residuals and each
        parent, and of residuals and others: rows times squared correlations of polynomials of both
        ranks. That is twice the log-likelihood of a density of such a form, nearly. The mean
        without dependence is taken off.
        """
        pairs = [(v, u, True) for v in families for u in self.parents[v]]
        pairs += [(v, u, False) for v, u in combinations(sorted(families), 2)]
        for pair in pairs:
            if pair not in self.known:
                self.known[pair] = self._dependence(*pair)
        return math.fsum(self.known[pair] for pair in pairs)

    def _dependence(self, v: int, u: int, is_parent: bool) -> float:
        if is_parent and u not in self.causes:
            self.causes[u] = _polynomials(self._ranks(u), self.weights)
        other = self.causes[u] if is_parent else self._residuals(u)
        own = self._residuals(v)
        total, free = float(self.weights.sum()), len(own) * len(other)
        return _beyond_chance(float(np.sum(((own * self.weights) @ other.T) ** 2)) / total, free)

    def _ranks(self, u: int) -> FloatArray:
        if u not in self.ranks:
            self.ranks[u] = ranks_of(self.values[u], self.weights)
        return self.ranks[u]

    def _residuals(self, v: int) -> FloatArray:
        """Polynomials of residuals less their means in classes of each parent, as of jumps."""
        if v not in self.left:
            own = list(map(int, self.parents[v]))
            left = self.cost.left(v, own)
            for u in own:
                places = (self._ranks(u) * CLASSES).astype(np.intp)
                rows = np.maximum(np.bincount(places, self.weights, CLASSES), 1e-12)
                means = np.bincount(places, self.weights * left, CLASSES) / rows
                if _beyond_chance(float(rows @ means**2), CLASSES - 1):
                    left -= means[places]
            self.left[v] = _polynomials(ndtr(left), self.weights)
        return self.left[v]


def _beyond_chance(statistic: float, free: int) -> float:
    """What a statistic with so many degrees of freedom has more than its mean, if not by chance."""
    beyond = statistic - free
    return beyond if beyond > CHANCE * math.sqrt(2 * free) else 0.0


def ranks_of(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The share of rows below each value, ties and itself by half: between 0 and 1."""
    _, places = np.unique(values, return_inverse=True)
    rows = np.bincount(places, weights)
    return np.asarray(((np.cumsum(rows) - rows / 2) / rows.sum())[places])


def _polynomials(ranks: FloatArray, weights: FloatArray) -> FloatArray:
    """Legendre polynomials of ranks, of mean 0 and uncorrelated: fewer of a few values."""
    found = np.polynomial.legendre.legvander(2 * ranks - 1, DEGREE)[:, 1:].T
    share = weights / weights.sum()
    found = found - (found @ share)[:, None]
    values, vectors = np.linalg.eigh((found * share) @ found.T)
    there = values > 1e-6
    return np.asarray((vectors[:, there] / np.sqrt(values[there])).T @ found)
