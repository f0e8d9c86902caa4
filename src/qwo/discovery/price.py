"""The price of an edge, chosen from the data, and how many of the edges found are false.

Two variables without an edge, the later of which has p parents, show -N log(1 - r²) above a price t
with probability P(Beta(1/2, (N - p - 2)/2) > 1 - exp(-t/N)), r being their partial correlation
given these. Summed over all pairs without an edge that is the number of false edges to expect at
this price, but for two things: the parents were chosen among many to fit, which uses up more than p
degrees of freedom, and a pair may be joined either way, where the search takes the better.

Strengths are put on the scale of the normal quantile z that chance exceeds as rarely. There the
edges that a search has found are points of a Poisson process of density

    m · ways(z) · 2φ(z) + Σ_k w_k φ(z - μ_k),

chance and real effects, whose weights w are found by expectation and maximisation, as in Efron's
empirical Bayes (*Large-Scale Inference*, 2010). The share of chance is the local false discovery
rate of an edge, but for a small share of the real effects: an edge may stand in for another one
nearby. What a higher price would lose of the real effects, against what it would spare of chance,
is the choice of a price.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri

from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.types import Adjacency, FloatArray, Indices

LEAST, MOST = 2.0, 4.5
"""Penalty discounts between which the price is chosen. Below 2 nothing was gained on graphs with
weak effects, and much lost on others; above 4.5 chance gives nothing, unless a table is wide."""

FEWEST_SAMPLES = 20
"""With fewer samples the strengths say too little, and the price is the least."""

CROWDED = 0.1
"""False edges per variable that chance may give at the price of the first, short search: more would
stand in each other's way, and take long to find."""

NOTHING = 0.01
"""Expected false edges that a higher price need not spare any more."""

FREEDOM_OF_A_PARENT = 2.0
"""Degrees of freedom that a parent uses up: one of its own, and one as it was chosen among many."""

STAND_INS = 3.0
"""Real edges that stand in for another, over the degrees of freedom left. That a stand-in fits
better by chance takes a true edge that fits better by a few units at most, and how much better one
fits grows with N."""

PRIOR_DENSITY = 0.5
"""Real effects per unit of z that are taken for granted: where chance gives next to nothing, the
price is not raised any more."""

ROUNDS = 60


@dataclass(frozen=True, eq=False)
class NullEdges:
    """Edges that chance alone draws, as a function of their price.

    Attributes
    ----------
    n_samples : float
        N.
    pairs : ndarray
        How many pairs without an edge have 0, 1, 2, … parents at the one that comes later.
    likeness : float
        The correlation of the two tests of a pair, given the parents of the one or of the other:
        1 where nothing has parents, near 0 where all are explained by theirs.
    open_share : float
        The share of the pairs that may be joined either way as far as knowledge goes.
    """

    n_samples: float
    pairs: FloatArray
    likeness: float
    open_share: float = 1.0

    def freedom(self, n_parents: FloatArray) -> FloatArray:
        """The degrees of freedom that are left beside some parents."""
        return np.maximum(self.n_samples - FREEDOM_OF_A_PARENT * n_parents - 2, 1)

    def tail(self, strengths: FloatArray, n_parents: FloatArray) -> FloatArray:
        """The chance that -N log(1 - r²) of a pair without an edge is above a strength."""
        freedom = self.freedom(n_parents)
        # The upper tail of Beta(1/2, f/2) is the lower one of Beta(f/2, 1/2).
        chance = betainc(freedom / 2, 0.5, np.exp(-strengths / self.n_samples))
        return np.asarray(chance, dtype=np.float64)

    def quantile(self, prices: FloatArray) -> FloatArray:
        """The z of a price: chance exceeds both alike, on the average over all pairs."""
        counts = np.arange(len(self.pairs), dtype=np.float64)
        total = max(self.n_pairs, 1e-300)
        return as_quantile(self.tail(prices[:, None], counts) @ self.pairs / total)

    def ways(self, z: FloatArray) -> FloatArray:
        """How many chances a pair has to exceed z: from 1, if both tests are one, to 2.

        If the first is above z, it is so by about 1/z, and so is the second with the chance below.
        The more of the variables is explained, the less is their order free.
        """
        rest = math.sqrt(max(1 - self.likeness**2, 1e-12))
        together = ndtr((self.likeness * (z + 1 / np.maximum(z, 1e-6)) - z) / rest)
        free = self.open_share * math.sqrt(self.likeness)
        ways: FloatArray = 1 + free * (1 - together)
        return ways

    def expected(self, prices: FloatArray) -> FloatArray:
        """False edges to expect at each of some prices."""
        z = self.quantile(prices)
        return self.n_pairs * self.ways(z) * 2 * ndtr(-z)

    def density(self, z: FloatArray) -> FloatArray:
        """False edges to expect per unit of z."""
        return self.n_pairs * self.ways(z) * 2 * _bell(z)

    @property
    def n_pairs(self) -> float:
        """How many pairs have no edge, and might have one."""
        return float(self.pairs.sum())


@dataclass(frozen=True, eq=False)
class Evidence:
    """How strong the edges of a DAG are, beside what chance alone gives.

    Attributes
    ----------
    null : NullEdges
        What chance gives.
    price : float
        What the edges had to be worth: c log N, and the extended BIC's share.
    causes, effects : ndarray of int
        The edges, by effect.
    strengths : ndarray
        What each of them adds to twice the log-likelihood, given the other parents.
    weaker : ndarray
        Strengths of edges that the search for a price has met, and which were not worth it.
    """

    null: NullEdges
    price: float
    causes: Indices
    effects: Indices
    strengths: FloatArray
    weaker: FloatArray = field(default_factory=lambda: np.empty(0))

    @cached_property
    def false_rates(self) -> FloatArray:
        """The chance that an edge of this strength is none: its local false discovery rate."""
        z, (means, weights) = self._quantiles, self._real_effects
        chance = self.null.density(z)
        real = _bell(z[:, None] - means) @ weights + PRIOR_DENSITY
        share = np.minimum(STAND_INS / self.null.freedom(self._n_parents), 1)
        return (chance + share * real) / (chance + real)

    @property
    def expected_false(self) -> float:
        """False edges to expect among those found."""
        return float(self.null.expected(np.array([self.price]))[0])

    def curve(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How many edges would bear each price, and how many false ones chance would give."""
        known = np.concatenate((self.strengths, self.weaker))
        bear = (known[:, None] >= prices).sum(axis=0).astype(np.float64)
        return bear, self.null.expected(prices)

    def losses(self, prices: FloatArray) -> FloatArray:
        """What each price costs: true edges that are lost, and false ones that are let in.

        Where a parent is lost, more is left unexplained, exp(t/N) times as much if it was just
        worth the price t: then the other parents, if there are any, are worth less too.
        """
        siblings = self._n_parents.mean() - 1 if len(self.effects) else 0.0
        weakened = prices * np.exp(siblings / 2 * prices / self.null.n_samples)
        z, (means, weights) = self.null.quantile(prices), self._real_effects
        lost = ndtr(self.null.quantile(weakened)[:, None] - means) @ weights + PRIOR_DENSITY * z
        return self.null.expected(prices) + lost

    def best_price(self, highest: float) -> float:
        """The price of least loss from the present one up."""
        prices = np.geomspace(self.price, max(self.price, highest), 64)
        return float(prices[self.losses(prices).argmin()])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, from which `from_dict` makes it again."""
        null = {**vars(self.null), "pairs": self.null.pairs.tolist()}
        names = ("causes", "effects", "strengths", "weaker")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {"null": null, "price": self.price, **arrays}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Evidence:
        """The evidence that `to_dict` has written down."""
        null = {**plain["null"], "pairs": np.array(plain["null"]["pairs"], dtype=np.float64)}
        causes, effects = (np.array(plain[name], dtype=np.intp) for name in ("causes", "effects"))
        strengths, weaker = (np.array(plain[name], float) for name in ("strengths", "weaker"))
        return cls(NullEdges(**null), float(plain["price"]), causes, effects, strengths, weaker)

    @cached_property
    def _n_parents(self) -> FloatArray:
        """How many parents the effect of each edge has."""
        return np.bincount(self.effects, minlength=1)[self.effects].astype(np.float64)

    @cached_property
    def _quantiles(self) -> FloatArray:
        """The strengths as normal quantiles."""
        return as_quantile(self.null.tail(self.strengths, self._n_parents))

    @cached_property
    def _real_effects(self) -> tuple[FloatArray, FloatArray]:
        """Means μ, half a unit apart, and weights w of the real effects behind the quantiles.

        Far above the price chance plays no part, and how strong an edge is no role.
        """
        z, least = self._quantiles, float(self.null.quantile(np.array([self.price]))[0])
        reach = least + 12.0
        means = np.arange(least - 1, reach + 1, 0.5)
        seen = z[(z >= least) & (z <= reach)]
        kernel = _bell(seen[:, None] - means)
        visible = ndtr(means - least) - ndtr(means - reach)
        known = self.null.density(seen) + PRIOR_DENSITY
        weights = np.full(len(means), max(len(seen), 1) / len(means))
        for _ in range(ROUNDS):
            weights = weights * ((1.0 / (known + kernel @ weights)) @ kernel) / visible
        return means, weights


def edge_evidence(
    moments: Moments,
    dag: Adjacency,
    order: Indices,
    price: float,
    knowledge: ResolvedKnowledge | None = None,
) -> Evidence:
    """The evidence for the edges that a search has drawn at a price.

    r² of each edge given the other parents is read off the inverse of the correlations of the
    family; families of one size go together. Pairs that knowledge keeps apart are no chance.
    """
    n_samples, correlation = moments.n_samples, moments.correlation
    effects, causes = np.nonzero(dag.T)
    n_parents = np.bincount(effects, minlength=len(dag))
    first = np.cumsum(n_parents) - n_parents
    strengths, variances = np.empty(len(causes)), np.ones(len(dag))
    for size in np.unique(n_parents[n_parents > 0]):
        children = np.flatnonzero(n_parents == size)
        edges = first[children, None] + np.arange(size)
        family = np.concatenate((causes[edges], children[:, None]), axis=1)
        inverse = _inverse(correlation[family[:, :, None], family[:, None, :]])
        diagonal = np.diagonal(inverse, axis1=1, axis2=2)
        share = inverse[:, -1, :-1] ** 2 / (diagonal[:, :-1] * diagonal[:, -1:])
        strengths[edges] = -n_samples * np.log1p(-np.clip(share, 0, 1 - 1e-12))
        variances[children] = 1 / diagonal[:, -1]
    before, open_share = _candidates(order, knowledge)
    absent = np.maximum(before - n_parents, 0.0)
    # The tests of a pair are as alike as what its members leave unexplained.
    likeness = float(np.sqrt(np.clip(variances, 0, 1)).mean() ** 2)
    pairs: FloatArray = np.bincount(n_parents, weights=absent).astype(np.float64)
    null = NullEdges(n_samples, pairs, likeness, open_share)
    return Evidence(null, price, causes, effects, strengths)


def price_range(
    n_variables: int,
    n_samples: float,
    extension: float,
    knowledge: ResolvedKnowledge | None = None,
) -> tuple[float, float]:
    """The price of the short search and the highest one, with what gamma adds to both.

    That is `LEAST` and `MOST` times log N, or more where so many variables are so few samples that
    chance would crowd the search at the one, and still give something at the other.
    """
    unit = math.log(n_samples)
    most = max(_candidates(np.arange(n_variables), knowledge)[0].sum(), 1.0)

    def price(false_edges: float) -> float:
        chance = min(false_edges / most, 1.0)
        return -n_samples * math.log(betaincinv((n_samples - 2) / 2, 0.5, chance))

    low = max(LEAST * unit + extension, price(CROWDED * n_variables))
    return low, max(MOST * unit + extension, price(NOTHING))


def as_quantile(chance: FloatArray) -> FloatArray:
    """The z that a normal variable exceeds in size with this probability."""
    z: FloatArray = -ndtri(np.maximum(chance, 1e-300) / 2)
    return z


def _candidates(order: Indices, knowledge: ResolvedKnowledge | None) -> tuple[FloatArray, float]:
    """How many might be parents of each variable in an order, and the share of two-way pairs."""
    place = np.argsort(order).astype(np.float64)
    if knowledge is None:
        return place, 1.0
    may = knowledge.allowed_parents
    either = may | may.T
    before: FloatArray = (either & (place[:, None] < place)).sum(axis=0).astype(np.float64)
    return before, float((may & may.T).sum() / max(either.sum(), 1))


def _inverse(matrices: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrices, hermitian=True), dtype=np.float64)


def _bell(z: FloatArray) -> FloatArray:
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
