"""Arrows from the shape of the noise: a search on the density of residuals, and its evidence.

The Gaussian cost finds which variables are joined, and colliders. Within its class, and beyond it
where the evidence is strong, arrows are turned by the likelihood of the residuals' own density
(`qwo._core.NoiseCost`): LiNGAM (Shimizu et al. 2006) where relations are linear, and where they are
curves a model in which not even the Gaussian knows both directions.

For an arrow i → j the alternative is the cheapest graph near by in which j comes before i: another
member of the class, or other parents. Their difference is a sum over rows, which gives it an error:
z is Vuong's (1989).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from qwo import _core
from qwo.columns.recipes import Coding
from qwo.curved.sizes import curved_columns
from qwo.graph.cpdag import to_cpdag
from qwo.graph.dag import parents_of, topological_order
from qwo.graph.pdag import meek_closure
from qwo.graph.resolved_knowledge import ResolvedKnowledge, search_limits
from qwo.moments.curves import RowSample
from qwo.search.control import SLICE, Control, Progress
from qwo.types import Adjacency, FloatArray, Indices, Mask

FEW_VARIABLES = 20
"""Up to so many variables the noise may join others than the Gaussian cost."""

RESTARTS = 5
"""In the model that was chosen, from the best graph there; none before."""

MOST_TIED = 0.05
"""Share of rows with one value above which a variable is no number with a density."""

MOST_ROUNDED, FEWEST_STEPS = 0.25, 15
"""The same for numbers that are rounded, and how many steps these have at least."""

HOPELESS = 10.0
"""The z by which the best member of a further model's class must cost more to be left at that."""

LEAVES_AT = 3.0
"""The z from which the search may leave the class of the Gaussian cost."""

BLOCK_SLOPES = 0.5
"""Share of log N that each slope of a further block of rows costs, as in `qwo.regimes.search`."""


@dataclass(frozen=True, slots=True, eq=False)
class NoiseModel:
    """Costs by the density of residuals with so many columns of each variable, and the rows'.

    numbers: which variables have a density; the others are Gaussian, no arrow of theirs is turned.
    """

    size: int
    cost: _core.NoiseCost
    weights: FloatArray
    numbers: Mask
    price: float
    sizes: Indices

    @classmethod
    def of(
        cls,
        even: tuple[RowSample, Mask],
        coding: Coding,
        curved: Coding,
        penalty: float,
        ends: Sequence[int] = (),
    ) -> NoiseModel:
        """From rows in the columns of a coding, and the one with curves that is searched with.

        even: what `unrounded` makes of the rows; ends: of blocks of rows that have equations of
        their own.
        """
        sample, numbers = even
        # Whoever has no density is explained in itself, so that costs compare between codings.
        pairs = zip(curved.variables, numbers.tolist(), strict=True)
        curved = Coding(tuple(v if told else replace(v, curve=None) for v, told in pairs))
        columns = np.ascontiguousarray(curved_columns(sample, coding, curved).T)
        weights = np.ones(columns.shape[1]) if sample.weights is None else sample.weights
        last, grams = len(weights), []
        for start, end in pairwise((0, *(ends or (last,)))):
            own, share = columns[:, start:end], weights[start:end] / weights[start:end].sum()
            own -= (own @ share)[:, None]
            own /= np.sqrt(np.maximum(own**2 @ share, 1e-300))[:, None]
            grams.append((own * share) @ own.T)
        # Further equations of a variable cost what those of regimes do.
        coefficients = penalty + BLOCK_SLOPES * (len(grams) - 1)
        price = coefficients * math.log(weights.sum())
        blocks = np.concatenate(grams), [*(ends or (last,))]
        kinds = curved.sizes.tolist(), numbers.tolist()
        cost = _core.NoiseCost.create(columns, *blocks, weights.tolist(), *kinds, price)
        return cls(int(curved.sizes.max()), cost, weights, numbers, price, curved.sizes)

    def rows(self, families: Sequence[tuple[int, Sequence[int]]]) -> FloatArray:
        """-2 log density of each row, over some families."""
        found = np.zeros(len(self.weights))
        for variable, parents in families:
            found += self.cost.rows(variable, list(map(int, parents)))
        return found

    def fit(self, parents: Sequence[Sequence[int]]) -> _core.NoiseFit:
        """What the families of a DAG leave unexplained."""
        return _core.NoiseFit(self.cost, parents)

    def depends(self, parents: Sequence[Sequence[int]]) -> bool:
        """Whether residuals of some family depend on causes, at the price of a column for each."""
        fit, price = self.fit(parents), self.price + 2 * math.log(len(parents))
        return any(fit.lack([v]) > price * len(own) for v, own in enumerate(parents))

    def of_dag(self, parents: Sequence[Sequence[int]]) -> float:
        """The cost of a DAG."""
        return math.fsum(self.cost.cost(v, list(map(int, p))) for v, p in enumerate(parents))

    def search(
        self,
        order: Indices,
        allowed: Mask,
        knowledge: ResolvedKnowledge | None,
        seed: int,
        restarts: int = 0,
    ) -> _core.NoiseSearch:
        """An order search among the pairs that are allowed."""
        return _core.NoiseSearch(
            self.cost,
            order=np.asarray(order, np.int64),
            **search_limits(knowledge, allowed),
            restarts=restarts,
            seed=seed,
        )


def unrounded(sample: RowSample, coding: Coding) -> tuple[RowSample, Mask]:
    """The rows with rounded numbers spread evenly over what they were rounded from; what is dense.

    They are where one value has more than `MOST_TIED` of the rows, and the values are many, with
    gaps that are multiples of one step: their density is a step function then, whose likelihood is
    that of the rounded numbers.
    """
    columns, rng = sample.columns, np.random.default_rng(0)
    numbers = np.array([not variable.levels for variable in coding.variables])
    for v, start in zip(np.flatnonzero(numbers), coding.starts[numbers].tolist(), strict=True):
        own = sample.columns[:, start]
        tied = _most_tied(own)
        numbers[v] = tied <= MOST_TIED
        if not MOST_TIED < tied <= MOST_ROUNDED:
            continue
        gaps = np.diff(np.unique(own))
        step = float(gaps.min())
        if len(gaps) < FEWEST_STEPS or np.abs(gaps / step - np.round(gaps / step)).max() > 0.01:
            continue
        columns = np.array(columns) if columns is sample.columns else columns
        columns[:, start] += rng.uniform(-step / 2, step / 2, len(own))
        numbers[v] = True
    return replace(sample, columns=columns), numbers


def _most_tied(values: FloatArray) -> float:
    """The share of rows with the most frequent value."""
    ordered = np.sort(values)
    ends = np.flatnonzero(np.diff(ordered, append=np.inf) > 0)
    return float(np.diff(ends, prepend=-1).max() / len(values))


def vuong(difference: FloatArray, weights: FloatArray, gain: float, lack: float = 0.0) -> float:
    """How much more a model costs than another, over the standard error of that.

    The difference is that of -2 log density in each row, gain that of costs. What the other model
    lacks is no evidence for it.
    """
    centre = float(weights @ difference) / weights.sum()
    error = math.sqrt(float(weights @ (difference - centre) ** 2))
    return (gain - lack) / error if error > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TurnedGraph:
    """Where the search on the density of residuals has come to; left: out of its first class."""

    model: NoiseModel
    search: _core.NoiseSearch
    order: Indices
    dag: Adjacency
    left: bool


def turn_by_noise(
    models: Sequence[NoiseModel],
    bases: Sequence[Adjacency],
    orders: Sequence[Indices],
    allowed: Sequence[Mask],
    knowledge: ResolvedKnowledge | None,
    *,
    seed: int,
    control: Control,
) -> TurnedGraph:
    """The member of the class of a DAG with the likeliest noise, or a graph that is far likelier.

    The first model is that of the class; each has a DAG, an order, and pairs that may be joined.
    Searches start from that order and from that of the best member of the DAG's class. A further
    model is left alone if that member costs far more than what was found. The best of all goes on
    with restarts.
    """
    known: Any = {"knowledge": knowledge, "seed": seed}
    first, base = models[0], bases[0]
    member = best_member(first, base, allowed[0], **known)
    own, order = member.dag(), member.order().astype(np.intp)

    def run(k: int, begin: Indices, restarts: int = 0) -> _core.NoiseSearch:
        search = models[k].search(begin, allowed[k], knowledge, seed, restarts)
        while not search.run(min(SLICE, control.remaining)):
            if control.is_due():
                now = search.cost
                control.report(Progress("noise", 0, now, min(now, member.cost), control.seconds))
        return search

    searches = [run(0, begin) for begin in _different(order, orders[0])]
    k, search = 0, min(searches, key=lambda own: own.cost)
    for further in range(1, len(models)):
        there = best_member(models[further], bases[further], allowed[further], **known)
        if compared(models[further], there.dag(), models[k], search.dag()) > HOPELESS:
            continue
        starts = _different(there.order().astype(np.intp), orders[further])
        searches = [search, *(run(further, begin) for begin in starts)]
        best = min(range(len(searches)), key=lambda place: searches[place].cost)
        k, search = further if best else k, searches[best]
    model, search = models[k], run(k, search.order().astype(np.intp), RESTARTS)
    found = search.dag()
    # Its order may direct the edges of the class better than changes of the root have.
    theirs = search.order().astype(np.intp)
    other = _directed_along(base, theirs)
    same = np.array_equal(to_cpdag(other), to_cpdag(base)) and _keeps(other, knowledge)
    if same and first.of_dag(parents_of(other)) < member.cost - 1e-6:
        member.take(theirs.astype(np.int64), parents_of(other))
        own, order = other, theirs
    # The first columns direct what they explain worse than lines; lines leave open what is open.
    if compared(first, own, model, found, fits=first.size == 1) < LEAVES_AT:
        return TurnedGraph(first, member, order, own, False)
    return TurnedGraph(model, search, theirs, found, True)


def best_member(
    model: NoiseModel,
    dag: Adjacency,
    allowed: Mask | None = None,
    *,
    knowledge: ResolvedKnowledge | None,
    seed: int,
) -> _core.NoiseSearch:
    """The search at the member of the class of a DAG with the likeliest noise."""
    start, joined = topological_order(dag), dag | dag.T if allowed is None else allowed | dag
    search = model.search(start, joined != 0, knowledge, seed)
    search.take(start.astype(np.int64), parents_of(dag))
    search.to_best_member()
    return search


def _different(first: Indices, second: Indices) -> list[Indices]:
    """Two orders, or one if they are the same."""
    return [first] if np.array_equal(first, second) else [first, second]


def _directed_along(dag: Adjacency, order: Indices) -> Adjacency:
    """The DAG with the same pairs joined whose arrows go along an order."""
    place = np.argsort(order)
    return np.asarray(((dag | dag.T) != 0) & (place[:, None] < place), dtype=np.int8)


def _keeps(dag: Adjacency, knowledge: ResolvedKnowledge | None) -> bool:
    """Whether a DAG does what knowledge asks for."""
    if knowledge is None:
        return True
    return not ((dag != 0) & knowledge.forbidden | knowledge.required & (dag == 0)).any()


def compared(
    first: NoiseModel, dag: Adjacency, second: NoiseModel, other: Adjacency, *, fits: bool = False
) -> float:
    """Vuong's z of how much more a DAG costs than another one, each under its own model.

    fits: whether what the other one leaves unexplained counts against it.
    """
    a, b = parents_of(dag), parents_of(other)
    changed = [v for v in range(len(a)) if a[v] != b[v] or first is not second]
    if not changed:
        return 0.0
    difference = first.rows([(v, a[v]) for v in changed])
    difference = difference - second.rows([(v, b[v]) for v in changed])
    gain = math.fsum(first.cost.cost(v, a[v]) - second.cost.cost(v, b[v]) for v in changed)
    lack = second.fit(b).lack(changed) if fits else 0.0
    return vuong(difference, first.weights, gain, lack)


def arrow_strengths(turned: TurnedGraph, dag: Adjacency) -> dict[str, FloatArray]:
    """The evidence for each arrow of a DAG, by name, n×n: that of `NoiseArrows`.

    NaN where there is no arrow, or nothing to tell: one of its ends has no density, or knowledge
    forbids the other direction. The DAG fits the order of the search.
    """
    numbers = turned.model.numbers
    arrows = np.argwhere(dag & np.outer(numbers, numbers))
    found = np.full((3, *dag.shape), math.nan)
    found[:, *arrows.T] = turned.search.strengths([(int(i), int(j)) for i, j in arrows]).T
    return dict(zip(("gains", "lacks", "z"), found, strict=True))


def near_by(dag: Adjacency, *, of_lines: bool) -> Mask:
    """Pairs that a DAG joins, and, of lines between few variables, those with a common neighbour.

    What the Gaussian cost has put in the place of an edge, and the edge, stand near by each other.
    """
    joined = (dag | dag.T) != 0
    if of_lines and len(dag) <= FEW_VARIABLES:
        joined |= joined.astype(int) @ joined.astype(int) > 0
    np.fill_diagonal(joined, val=False)
    return np.asarray(joined)


def directed_by(graph: Adjacency, supported: Mask) -> Adjacency:
    """A class with the undirected edges that evidence supports directed, and what follows."""
    directed = np.array(graph)
    i, j = np.nonzero(supported & (graph == 2))
    directed[i, j], directed[j, i] = 1, 0
    return meek_closure(directed) if len(i) else directed
