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
rate of an edge, with two provisos. What an edge itself has added to the weights is no evidence for
it, and where no other edge is beyond doubt, few effects are real. And an edge may stand in for
another one nearby, the more so the denser the graph. What a higher price would lose of the real
effects, against what it would spare of chance, is the choice of a price.

An edge between variables of several columns has a coefficient for each pair of them, and pays the
price for each. Chance gives it a likelihood ratio of as many degrees of freedom, which hardly ever
is worth so much: edges of each number of coefficients are counted apart, and where there are such,
a lower price may be the best.

Edges that are more likely false than true are left out. A needless one does more harm than itself:
it makes colliders, which direct whole stretches of a graph. A false rate holds in its own graph, so
that the graph is searched again near by without the edge, and judged again, a few times at most.
"""

# Long because what chance gives, what the data show and what follows are one argument.

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betainc, gammaincc, ndtr, ndtri

from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.linalg import Explained, explained, mixture_weights
from qwo.search.control import Control, SearchOutcome, bic_insertion
from qwo.types import Adjacency, FloatArray, Indices, Mask

if TYPE_CHECKING:
    from qwo.discovery.resolve import Resolved

LEAST, LEAST_OF_BLOCKS, LOWEST, MOST = 2.0, 1.5, 1.5, 4.5
"""Penalty discounts: that of the first, short search, the same where variables have several
columns, and those between which the price is chosen. Above 4.5 chance gives nothing, unless a table
is wide."""

CHANCE_BELOW = 3.0
"""How much more than an edge that is lost one by chance counts at prices below that of the first
search: it turns arrows around it. Dense graphs with weak effects gain 6 % in wrong marks, at 1 and
2 as well, and others lose 1 % there."""

FEWEST_SAMPLES = 20
"""With fewer samples the strengths say too little, and the price is the least."""

CROWDED = 0.1
"""False edges per variable that chance may give at the price of the first, short search: more would
stand in each other's way, and take long to find."""

NOTHING = 0.01
"""Expected false edges that a higher price need not spare any more."""

FREEDOM_OF_A_PARENT = 2.0
"""Degrees of freedom that a parent uses up: one of its own, and one as it was chosen among many."""

STAND_IN_AT, STAND_IN_DENSE, STAND_IN_FREE, STAND_IN_FAR = -0.64, 6.5, 0.8, 0.08
"""The share of real edges of strength z that stand in for another, in a graph that joins a share d
of all pairs, with f degrees of freedom left: exp(-0.64 + 6.5 d - 0.8 log f - 0.08 z). Fitted to
noise, random graphs and stars with 5 to 100 variables; see `benchmarks.false_edges`."""

MOST_STAND_INS = 0.45
"""The share above is no more than this: few variables, nearly all joined, are beyond what it was
fitted to, and a strong edge is not left out because it may stand in for another."""

SAME_EFFECT, GATHERED = 4.0, 2.2
"""Settled edges into a variable make others likelier: with s of them, and t into two average ones,
real effects are ((s + 4) / (t + 4))^2.2 times as dense, or once. Fitted to 8800 searches."""

SETTLED = 2.0
"""How far above the price an edge is beyond doubt, in z."""

RARE_DENSITY = 0.05
"""Real effects per unit of z that are assumed where others are beyond doubt. Fitted with the
above."""

PRIOR_DENSITY = 0.5
"""Real effects per unit of z that are assumed in any case: where chance gives next to nothing, the
price is not raised any more."""

STEPS = np.linspace(0.0, 1.0, 64)
"""How far from the lowest price to the highest the ones are that are tried, on a scale of
logarithms."""

ROUNDS, REACH = 60, 12.0
"""Steps of EM for the mixture; how far above the price, in quantiles, chance plays a part."""

LIKELY_FALSE, JUDGED_AGAIN = 0.5, 3
"""The false rate above which an edge is left out, and how often what is left is judged again."""

MANY_FREE = 40
"""Degrees of freedom from which on Hill's expansion has the tail to seven digits, and more the more
there are, in a tenth of the time."""


@dataclass(frozen=True, eq=False)
class NullEdges:
    """Edges of one number of coefficients that chance alone draws, as a function of their price.

    Prices are those of an edge with one coefficient. `pairs` without an edge are counted by the
    columns of parents of the one that comes later; their `likeness` is the correlation of the two
    tests of a pair, given the parents of the one or of the other: 1 where nothing has parents, near
    0 where all are explained by theirs. The `open_share` of them may be joined either way as far as
    knowledge goes, and the `extension` is what an edge costs beside its coefficients.
    """

    n_samples: float
    pairs: FloatArray
    likeness: float
    open_share: float = 1.0
    n_coefficients: int = 1
    extension: float = 0.0

    def freedom(self, n_parents: FloatArray) -> FloatArray:
        """The degrees of freedom that are left beside some columns of parents."""
        return np.maximum(self.n_samples - FREEDOM_OF_A_PARENT * n_parents - 2, 1)

    def tail(self, strengths: FloatArray, n_parents: FloatArray) -> FloatArray:
        """The chance that the likelihood ratio of a pair without an edge is above a strength.

        That is -N log(1 - r²) of single columns, whose r² has a beta distribution, and -N log Λ of
        Wilks' Λ else, with Bartlett's approximation for blocks of about one size. Of many degrees
        of freedom, the z that a normal variable exceeds as rarely comes from Hill's expansion
        (Algorithm 395 of the ACM, 1970); 1 + t²/f is 1/(1 - r²) there.
        """
        freedom, k = self.freedom(n_parents), self.n_coefficients
        chance: Any
        if k == 1 and freedom.min(initial=math.inf) >= MANY_FREE:
            a = freedom - 0.5
            b, y = 48 * a * a, a * (strengths / self.n_samples)
            further = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b)
            chance = 2 * ndtr(-(np.sqrt(y) * (1 + (y + 3 + further) / b)))
        elif k == 1:
            # The upper tail of Beta(1/2, f/2) is the lower one of Beta(f/2, 1/2).
            chance = betainc(freedom / 2, 0.5, np.exp(-strengths / self.n_samples))
        else:
            shrunk = np.maximum(freedom + 0.5 - math.sqrt(k), 1) / self.n_samples
            chance = gammaincc(k / 2, shrunk * strengths / 2)
        return np.asarray(chance, dtype=np.float64)

    def quantile(self, prices: FloatArray) -> FloatArray:
        """The z of a price: chance exceeds both alike, on the average over all pairs."""
        costs = self.n_coefficients * (prices - self.extension) + self.extension
        # Where every pair is joined, the price is that of a pair without parents.
        pairs = self.pairs if self.pairs.any() else np.ones(1)
        met = np.flatnonzero(pairs)
        shares = pairs[met] / pairs.sum()
        return as_quantile(self.tail(costs[:, None], met.astype(np.float64)) @ shares)

    def edges(self, z: FloatArray, share: FloatArray) -> FloatArray:
        """False edges that chance gives, where it gives a test of one pair this share.

        A pair has from one chance to exceed z, if both tests are one, to two. If the first is above
        z, it is so by about 1/z, and so is the second with the chance below. The more of the
        variables is explained, the less is their order free.
        """
        rest = math.sqrt(max(1 - self.likeness**2, 1e-12))
        together = ndtr((self.likeness * (z + 1 / np.maximum(z, 1e-6)) - z) / rest)
        free = self.open_share * math.sqrt(self.likeness)
        pairs = max(float(self.pairs.sum()), 1.0)
        return np.asarray(pairs * (1 + free * (1 - together)) * 2 * share)

    def expected(self, prices: FloatArray) -> FloatArray:
        """False edges that chance gives at each of some prices."""
        z = self.quantile(prices)
        return self.edges(z, ndtr(-z))


@dataclass(frozen=True, eq=False)
class _Kind:
    """Edges of one number of coefficients that were found at a price, beside chance.

    Strengths are `z`, as normal quantiles, and so is the price, the `least` of them. The prior is
    that of real effects per unit of z, which are assumed to be there in any case.
    """

    null: NullEdges
    z: FloatArray
    least: float
    n_parents: FloatArray
    prior: float

    @property
    def is_settled(self) -> Mask:
        """Which edges are beyond doubt."""
        return self.z > self.least + SETTLED

    def false_rates(self, others: FloatArray, more: FloatArray, density: float) -> FloatArray:
        """See `Evidence`; so many others are settled, which makes real effects more dense."""
        z, prior = self.z, RARE_DENSITY * self.prior / PRIOR_DENSITY
        chance = self.null.edges(z, _bell(z))
        free = np.log(self.null.freedom(self.n_parents))
        share = STAND_IN_AT + STAND_IN_DENSE * density - STAND_IN_FREE * free - STAND_IN_FAR * z
        real = (self._seen_by_others(prior) + prior) * (others + 0.1) / (others + 1.1) * more
        false = chance + np.minimum(np.exp(share), MOST_STAND_INS) * real
        return np.asarray(false / (chance + real), np.float64)

    def _seen_by_others(self, prior: float) -> FloatArray:
        """The density of real effects at each edge, less what the edge itself has added to it."""
        means, weights, visible = self._effects(prior)
        kernels = _bell(self.z[:, None] - means)
        density: FloatArray = kernels @ weights
        total = self.null.edges(self.z, _bell(self.z)) + prior + density
        own = (kernels**2 @ (weights / np.maximum(visible, 1e-9))) / total
        inside = (self.z >= self.least) & (self.z <= self.least + REACH)
        return np.maximum(density - np.where(inside, own, 0), 0)

    def losses(self, prices: FloatArray, siblings: float) -> FloatArray:
        """False edges that each price lets in, and true ones that it loses: two rows.

        Where a parent is lost, more is left unexplained, exp(t/N) times as much if it was just
        worth the price t: then the other parents, if there are any, are worth less too.
        """
        weakened = prices * np.exp(siblings / 2 * prices / self.null.n_samples)
        both = self.null.quantile(np.concatenate((prices, weakened)))
        z, higher = both[: len(prices)], both[len(prices) :]
        means, weights, _ = self._effects(self.prior)
        lost = ndtr(higher[:, None] - means) @ weights + self.prior * z
        return np.array([self.null.edges(z, ndtr(-z)), lost])

    def _effects(self, prior: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means μ and weights w of the real effects behind the quantiles, beside a prior density.

        And the share of each that the price lets through. The means are half a unit apart. Far
        above the price chance plays no part, and how strong an edge is no role.
        """
        z, least, reach = self.z, self.least, self.least + REACH
        means = np.arange(least - 1, reach + 1, 0.5)
        seen = z[(z >= least) & (z <= reach)]
        kernels = _bell(seen[:, None] - means)
        visible = ndtr(means - least) - ndtr(means - reach)
        known = self.null.edges(seen, _bell(seen)) + prior
        return means, mixture_weights(kernels, known, visible, ROUNDS), visible


@dataclass(frozen=True, eq=False)
class Evidence:
    """How strong the edges of a DAG are, beside what chance alone gives.

    nulls: what chance gives, for each number of coefficients that an edge may have.
    price: what an edge with one coefficient had to be worth: c log N, and the extended BIC's share.
    causes, effects: the edges, by effect.
    strengths: what each of them adds to twice the log-likelihood, given the other parents.
    n_parents: how many columns the parents of its effect have.
    kinds: which of the nulls is that of its number of coefficients.
    weaker: prices below the one taken that edges met by the search for it could just bear.
    rivals: the odds of each edge that one from another cause to the same effect is in its place.
    rates: false rates, where they were found in a graph with further edges.
    """

    nulls: tuple[NullEdges, ...]
    price: float
    causes: Indices
    effects: Indices
    strengths: FloatArray
    n_parents: FloatArray
    kinds: Indices
    weaker: FloatArray = field(default_factory=lambda: np.empty(0))
    rivals: FloatArray = field(default_factory=lambda: np.empty(0))
    rates: FloatArray | None = None

    def among(self, chosen: Mask) -> Evidence:
        """The evidence for some of the edges; their false rates stay."""
        names = ("causes", "effects", "strengths", "n_parents", "kinds")
        parts = {name: getattr(self, name)[chosen] for name in names}
        return replace(self, **parts, rivals=np.empty(0), rates=self.false_rates[chosen])

    @cached_property
    def false_rates(self) -> FloatArray:
        """The chance that an edge of this strength is none: its local false discovery rate.

        Or that another one is there instead, which explains the effect nearly as well.
        """
        if self.rates is not None:
            return self.rates
        if not self.rivals.size:
            return self.rates_by_strength
        rates: FloatArray = 1 - (1 - self.rates_by_strength) / (1 + self.rivals)
        return rates

    @cached_property
    def rates_by_strength(self) -> FloatArray:
        """The chance that an edge of this strength is none, whatever its rivals are."""
        rates, settled = np.empty((2, len(self.strengths)))
        for k, kind in enumerate(self.by_kind):
            settled[self.kinds == k] = kind.is_settled
        pairs = len(rates) + sum(float(null.pairs.sum()) for null in self.nulls)
        others = settled.sum() - settled
        same = np.bincount(self.effects, settled)[self.effects] - settled
        usual = math.sqrt(2 / max(pairs, 1)) * others
        more = np.maximum((same + SAME_EFFECT) / (usual + SAME_EFFECT), 1) ** GATHERED
        for k, kind in enumerate(self.by_kind):
            own, density = self.kinds == k, len(rates) / max(pairs, 10)  # the fewest in the fit
            rates[own] = kind.false_rates(others[own], more[own], density)
        return rates

    @property
    def expected_false(self) -> float:
        """False edges to expect among those found: by chance, or in the place of others."""
        return float(self.false_rates.sum())

    @cached_property
    def worths(self) -> FloatArray:
        """The prices that the edges can just bear."""
        worths = np.empty(len(self.strengths))
        for k, null in enumerate(self.nulls):
            extra, own = null.extension, self.kinds == k
            worths[own] = (self.strengths[own] - extra) / null.n_coefficients + extra
        return worths

    def by_chance(self, prices: FloatArray) -> FloatArray:
        """How many edges chance alone gives at each of some prices."""
        return reduce(np.add, (null.expected(prices) for null in self.nulls))

    def curve(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How many edges are worth each price, and how many false ones chance would give."""
        known = np.concatenate((self.worths, self.weaker))
        bear = (known[:, None] >= prices).sum(axis=0).astype(np.float64)
        return bear, self.by_chance(prices)

    def losses(self, prices: FloatArray) -> FloatArray:
        """What each price costs: false edges that are let in, and true ones that are lost.

        Below the present price, where real effects are those that the ones above let expect, false
        edges that come in beside count `CHANCE_BELOW` times.
        """
        siblings = self.n_parents.mean() - 1 if len(self.effects) else 0.0
        present = np.append(prices, self.price)
        chance, lost = reduce(np.add, (kind.losses(present, siblings) for kind in self.by_kind))
        more = (CHANCE_BELOW - 1) * np.maximum(chance - chance[-1], 0)
        return np.asarray((chance + lost + np.where(present < self.price, more, 0))[:-1])

    def best_price(self, highest: float, lowest: float = math.inf) -> float:
        """The price of least loss from the present one up, or from a lower one."""
        prices = self.price * max(highest / self.price, 1.0) ** STEPS
        if lowest < self.price:
            prices = np.append(prices, lowest * (self.price / lowest) ** STEPS[:-1:4])
        return float(prices[self.losses(prices).argmin()])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, from which `from_dict` makes it again."""
        nulls = [{**asdict(null), "pairs": null.pairs.tolist()} for null in self.nulls]
        names = ("causes", "effects", "strengths", "n_parents", "kinds", "weaker", "rivals")
        arrays = {name: getattr(self, name).tolist() for name in names}
        rates = {} if self.rates is None else {"rates": self.rates.tolist()}
        return {"nulls": nulls, "price": self.price, **arrays, **rates}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Evidence:
        """The evidence that `to_dict` has written down."""
        nulls = tuple(
            NullEdges(**{**null, "pairs": np.array(null["pairs"], dtype=np.float64)})
            for null in plain["nulls"]
        )
        causes, effects, kinds = (
            np.array(plain[name], np.intp) for name in ("causes", "effects", "kinds")
        )
        strengths, n_parents, weaker = (
            np.array(plain[name], np.float64) for name in ("strengths", "n_parents", "weaker")
        )
        price, rivals = float(plain["price"]), np.array(plain.get("rivals", ()), np.float64)
        rates = np.array(plain["rates"], np.float64) if "rates" in plain else None
        found = strengths, n_parents, kinds, weaker, rivals, rates
        return cls(nulls, price, causes, effects, *found)

    @cached_property
    def by_kind(self) -> list[_Kind]:
        """The edges of each number of coefficients; what is assumed goes by pairs."""
        total = sum(null.pairs.sum() + 1 for null in self.nulls)
        kinds = []
        for k, null in enumerate(self.nulls):
            n_parents = self.n_parents[self.kinds == k]
            z = as_quantile(null.tail(self.strengths[self.kinds == k], n_parents))
            least = float(null.quantile(np.array([self.price]))[0])
            prior = PRIOR_DENSITY * (null.pairs.sum() + 1) / total
            kinds.append(_Kind(null, z, least, n_parents, prior))
        return kinds


def edge_evidence(
    moments: Moments,
    found: Explained,
    order: Indices,
    price: float,
    knowledge: ResolvedKnowledge | None = None,
    *,
    extension: float = 0.0,
    weaker: FloatArray | None = None,
) -> Evidence:
    """The evidence for the edges that a search has drawn in an order at a price.

    They explain what `explained_in` says. Pairs that knowledge keeps apart are no chance; the
    extension is what of the price does not go by coefficients, and weaker edges, left out since,
    could just bear the prices given.
    """
    causes, effects, shares, variances = found
    sizes, leading = moments.blocks
    strengths = -moments.n_samples * np.log1p(-np.minimum(shares, 1 - 1e-12))
    # The tests of a pair are as alike as what its members leave unexplained.
    likeness = float(np.sqrt(np.minimum(variances, 1)).mean() ** 2)
    used = np.bincount(effects, sizes[causes], len(sizes)).astype(np.intp)
    pairs, open_share = _pairs((sizes, leading), order, knowledge, (causes, effects), used)
    nulls = tuple(
        NullEdges(moments.n_samples, counts, likeness, open_share, k, extension)
        for k, counts in pairs.items()
    )
    kinds = np.searchsorted(list(pairs), sizes[causes] * leading[effects])
    n_parents = used[effects].astype(np.float64)
    known = np.empty(0) if weaker is None else weaker
    return Evidence(nulls, price, causes, effects, strengths, n_parents, kinds, known)


def explained_in(moments: Moments, dag: Adjacency) -> Explained:
    """What the edges of a DAG explain of the data, whether variables are blocks of columns or not.

    Of a block, what is left is the geometric mean over its columns.
    """
    if not moments.has_blocks:
        return explained(moments.correlation, dag)
    return explained(moments.whitened()[0], dag, *moments.blocks)


def price_range(
    sizes: Indices,
    n_samples: float,
    extension: float,
    knowledge: ResolvedKnowledge | None = None,
    leading: Indices | None = None,
) -> tuple[float, float]:
    """The price of the short search and the highest one, with what gamma adds to both.

    That is `LEAST` and `MOST` times log N, or more where so many variables are so few samples that
    chance would crowd the search at the one, and still give something at the other. The sizes say
    how many columns each variable has, and in how many it is explained; pairs that knowledge keeps
    apart are no chance.
    """
    none, n, leading = np.empty(0, np.intp), len(sizes), sizes if leading is None else leading
    unit, least = math.log(n_samples), LEAST if (leading == 1).all() else LEAST_OF_BLOCKS
    ends = least * unit + extension, MOST * unit + extension
    # The tail of r² is below (1 - r²) to half the degrees of freedom: mostly that is little enough.
    bounds = [n * (n - 1) * math.exp(-end * (0.5 - 1 / n_samples)) for end in ends]
    if sizes.max() == 1 and bounds[0] <= CROWDED * n and bounds[1] <= NOTHING:
        return ends
    pairs, _ = _pairs((sizes, leading), np.arange(n), knowledge, (none, none), np.zeros(n, np.intp))
    nulls = [NullEdges(n_samples, p, 1.0, 1.0, k, extension) for k, p in pairs.items()]
    by_chance = reduce(np.add, (null.expected(np.array(ends)) for null in nulls))
    low, high = (
        price if chance <= most else _price_of_chance(nulls, most, price)
        for price, chance, most in zip(ends, by_chance, (CROWDED * n, NOTHING), strict=True)
    )
    return low, high


def best_penalty(
    plan: Resolved, engine: BicEngine, moments: Moments, control: Control
) -> tuple[SearchOutcome, float, FloatArray]:
    """The penalty of least loss, and lower prices that edges found could bear.

    An insertion search to the first order that no insertion improves, and no further, shows how
    strong edges are, at a fraction of the cost of a search. It draws from a source of its own, so
    that the search at the penalty found is the one for which that penalty is given.
    """
    short: dict[str, Any] = {"restarts": 0, "tucks": False, "random_state": plan.seed}
    outcome = bic_insertion(engine, knowledge=plan.knowledge, control=control, **short)
    if plan.highest is None or outcome.status != "converged":
        return outcome, plan.penalty, np.empty(0)
    low, extension = engine.edge_price
    found = explained_in(moments, engine.dag())
    evidence = edge_evidence(
        moments, found, outcome.order, low, plan.knowledge, extension=extension
    )
    unit = math.log(moments.n_samples)
    lowest = LOWEST * unit + extension if low <= LEAST * unit + extension + 1e-9 else low
    price = evidence.best_price(plan.highest, lowest)
    weaker = evidence.worths[evidence.worths < price]
    return outcome, round((price - extension) / unit, 2), weaker


@dataclass(frozen=True)
class WeakEdge:
    """An edge that is left out, between variables by name, as the search had drawn it.

    Attributes
    ----------
    source, target : str
        Its ends.
    strength : float
        What it adds to twice the log-likelihood.
    false_rate : float
        The chance that an edge of this strength is none.
    """

    source: str
    target: str
    strength: float
    false_rate: float


class Judged(NamedTuple):
    """An engine at a graph, what its edges explain, what that is evidence for, what was left out.

    explained and evidence are None where nobody has looked yet.
    """

    engine: Any
    explained: Explained | None = None
    evidence: Evidence | None = None
    left_out: tuple[WeakEdge, ...] = ()


def without_weak_edges(
    plan: Resolved, moments: Moments, engine: BicEngine, control: Control
) -> Judged:
    """The best graph near by without weak edges; the present one if it has none."""
    left_out: list[WeakEdge] = []
    apart = np.zeros((moments.n_variables,) * 2, np.bool_)
    price, extension = engine.edge_price
    known, names = plan.knowledge, moments.names
    for round_left in reversed(range(JUDGED_AGAIN + 1)):
        found = explained_in(moments, engine.dag())
        evidence = edge_evidence(moments, found, engine.order, price, known, extension=extension)
        beyond_doubt = all(kind.is_settled.all() for kind in evidence.by_kind)
        if not round_left or beyond_doubt or control.remaining <= 0:
            break
        # An edge with a rival is no more likely to be false than the rival, which would follow.
        rates, ends = evidence.rates_by_strength, (evidence.causes, evidence.effects)
        weak = rates > LIKELY_FALSE
        if known is not None:
            weak &= ~known.required[ends]
        if not weak.any():
            break
        pairs = [(int(ends[0][k]), int(ends[1][k])) for k in np.flatnonzero(weak)]
        for (a, b), k in zip(pairs, np.flatnonzero(weak), strict=True):
            strength, rate = float(evidence.strengths[k]), float(rates[k])
            left_out.append(WeakEdge(names[a], names[b], strength, rate))
            apart[a, b] = apart[b, a] = True
        engine = engine.kept_apart(pairs, keeping_apart(known, names, apart))
    return Judged(engine, found, evidence, tuple(left_out))


def keeping_apart(
    knowledge: ResolvedKnowledge | None, names: tuple[str, ...], apart: Mask
) -> ResolvedKnowledge:
    """What is known, and no edge between some pairs."""
    if knowledge is None:
        return ResolvedKnowledge(names, apart.copy(), *np.zeros((2, *apart.shape), np.bool_))
    return replace(knowledge, forbidden=knowledge.forbidden | apart)


def _price_of_chance(nulls: Sequence[NullEdges], most: float, above: float) -> float:
    """The price above one at which chance gives so many edges at most."""
    low, high = above, above + 200.0
    for _ in range(5):
        prices = np.linspace(low, high, 33)
        first = int((reduce(np.add, (null.expected(prices) for null in nulls)) <= most).argmax())
        low, high = prices[first - 1], prices[first]
    return float(high)


def as_quantile(chance: FloatArray) -> FloatArray:
    """The z that a normal variable exceeds in size with this probability."""
    z: FloatArray = -ndtri(np.maximum(chance, 1e-300) / 2)
    return z


def _pairs(
    blocks: tuple[Indices, Indices],
    order: Indices,
    knowledge: ResolvedKnowledge | None,
    edges: tuple[Indices, Indices],
    used: Indices,
) -> tuple[dict[int, FloatArray], float]:
    """Pairs without an edge for each number of coefficients, by columns of parents that are used.

    The blocks are columns of each variable, and those in which it is explained. And the share of
    the pairs that may be joined either way.
    """
    (sizes, leading), (causes, effects) = blocks, edges
    n = len(sizes)
    place = np.argsort(order)
    open_share, may = 1.0, None
    if knowledge is not None:
        both = knowledge.allowed_parents & knowledge.allowed_parents.T
        either = knowledge.allowed_parents | knowledge.allowed_parents.T
        open_share = float(both.sum() / max(either.sum(), 1))
        may = either & (place[:, None] < place)
    pairs: dict[int, list[FloatArray]] = {}
    different, most = sorted(set(sizes.tolist())), int(used.max(initial=0))
    for size in different:
        alike = sizes == size
        before = np.cumsum(alike[order])[place] - alike if may is None else may[alike].sum(axis=0)
        absent = np.maximum(before - np.bincount(effects[alike[causes]], minlength=n), 0)
        for other in sorted(set(leading.tolist())):
            own = leading == other
            counts = np.bincount(used[own], absent[own], most + 1)
            pairs.setdefault(size * other, []).append(np.asarray(counts, dtype=np.float64))
    return {k: reduce(np.add, pairs[k]) for k in sorted(pairs)}, open_share


def _bell(z: FloatArray) -> FloatArray:
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
