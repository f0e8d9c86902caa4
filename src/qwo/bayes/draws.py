"""DAGs that were drawn, as bits over lists of candidate parents, and what they say together.

Given a DAG, σ² of a variable with parents P has an inverse gamma posterior and its coefficients
given σ² a Gaussian one (conjugate to BGe), independent between variables. The effect of x on y is
the sum over directed paths of the products of coefficients: exactly zero where there is no path.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.bayes.candidates import Lists, Masks
from qwo.bayes.scores import FamilyScore
from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray, read_only

SOME = 400
"""Draws whose classes are candidates for the graph of least distance; and all whose classes are
counted where knowledge directs edges, which takes a hundred times as long."""


class PairProbability(NamedTuple):
    """How probable it is that two variables are linked, and which way; see `Posterior.to_records`.

    Attributes
    ----------
    first, second : str
        The variables, in column order.
    link : float
        Probability of an edge between them, whichever way.
    forward, backward : float
        Probability of first → second, and of first ← second; they add up to ``link``.
    arrow_forward, arrow_backward, undirected : float
        Probability that the equivalence class of the graph directs the edge forward, directs it
        backward, or leaves it open; they add up to ``link``. Two graphs of a class are equally
        probable (BGe), so that an open edge says that data alone cannot tell.
    graph : str
        The mark in the graph of least expected distance: ``"-->"``, ``"<--"``, ``"---"`` or ``""``.
    rhat : float
        The larger R̂ of the two edges.
    """

    first: str
    second: str
    link: float
    forward: float
    backward: float
    arrow_forward: float
    arrow_backward: float
    undirected: float
    graph: str
    rhat: float

    @property
    def line(self) -> str:
        """The pair as a line of a summary."""
        numbers = f"{self.link:6.1%}{self.forward:7.1%}{self.backward:7.1%}"
        return f"{numbers}   {self.first}, {self.second}"


@dataclass(frozen=True, eq=False)
class DrawnDags:
    """DAGs, one for each row of ``masks``.

    Bit b of entry v says that ``candidates[v][b]`` is a parent of v; core parents are in every DAG.
    """

    masks: Masks
    candidates: Lists
    core: Lists
    knowledge: ResolvedKnowledge | None
    directed: bool = False
    """Whether every direction counts, as that of conditions: a DAG is a class of its own."""

    def __iter__(self) -> Iterator[Adjacency]:
        return map(self.dag, self.masks)

    def dag(self, mask: npt.NDArray[np.uint32]) -> Adjacency:
        """The matrix of one draw."""
        matrix = np.zeros((len(self.core), len(self.core)), dtype=np.int8)
        lists = zip(mask.tolist(), self.candidates, self.core, strict=True)
        for v, (bits, listed, core) in enumerate(lists):
            matrix[[u for b, u in enumerate(listed) if bits >> b & 1] + core, v] = 1
        return matrix

    def class_of(self, dag: Adjacency) -> Adjacency:
        """The equivalence class of a DAG, or what knowledge leaves of it."""
        if self.directed:
            return dag
        return to_cpdag(dag) if self.knowledge is None else to_mpdag(dag, self.knowledge)

    @cached_property
    def relations(self) -> tuple[FloatArray, FloatArray]:
        """Shares of draws with a path from i to j, and with j in the Markov blanket of i."""
        masks = np.ascontiguousarray(self.masks)
        paths, blankets = _core.count_relations(self.candidates, self.core, masks)
        return read_only(paths / len(masks)), read_only(blankets / len(masks))

    @cached_property
    def some_classes(self) -> tuple[list[Adjacency], list[int]]:
        """The classes of draws that lie evenly spread, each DAG once, and how often it is there."""
        chosen = self.masks[:: max(1, len(self.masks) // SOME)]
        unique, counts = np.unique(chosen, axis=0, return_counts=True)
        return [self.class_of(self.dag(mask)) for mask in unique], counts.tolist()

    @cached_property
    def class_counts(self) -> tuple[FloatArray, FloatArray]:
        """How many draws have a class with i → j, and with i — j."""
        if self.knowledge is None and not self.directed:
            masks = np.ascontiguousarray(self.masks)
            return _core.count_classes(self.candidates, self.core, masks)
        arrows, lines = np.zeros((2, len(self.core), len(self.core)))
        for graph, count in zip(*self.some_classes, strict=True):
            arrows += count * (graph == 1)
            lines += count * (graph == 2)
        return arrows, lines


def class_probabilities(drawn: DrawnDags, links: FloatArray) -> FloatArray:
    """P(no edge), P(i → j), P(i ← j) and P(i — j) in the class: an array 4×n×n.

    The probability of a link, times the share of the draws with that link whose class has the mark:
    the three marks add up to the link, which is known better than any count of draws tells.
    """
    arrows, lines = drawn.class_counts
    linked = np.maximum(arrows + arrows.T + lines, 1.0)
    marks = np.stack([arrows, arrows.T, lines]) / linked * links
    return read_only(np.concatenate([1 - marks.sum(axis=0)[None], marks]))


def likely_dags(
    edges: FloatArray, links: FloatArray, knowledge: ResolvedKnowledge | None
) -> Iterator[Adjacency]:
    """The DAGs of the likely edges and of the likely links, where knowledge allows them."""
    for weights in (edges, np.where(edges >= edges.T, links, 0.0)):
        dag = greedy_dag(weights)
        try:
            if knowledge is not None:
                knowledge.check_dag(dag)
        except KnowledgeError:
            continue
        yield dag


def greedy_dag(weights: FloatArray) -> Adjacency:
    """The edges with a weight above 1/2, from the heaviest on, but none that closes a cycle."""
    n = len(weights)
    dag = np.zeros((n, n), dtype=np.int8)
    reaches = np.eye(n, dtype=np.bool_)
    edges = np.argwhere(weights > 0.5)
    for i, j in edges[np.argsort(-weights[edges[:, 0], edges[:, 1]], kind="stable")].tolist():
        if not reaches[j, i]:
            dag[i, j] = 1
            reaches |= np.outer(reaches[:, i], reaches[j])
    return dag


def expected_shd(graph: Adjacency, shares: FloatArray) -> float:
    """Σ over pairs of the probability that the class of the truth has another mark."""
    code = np.where(graph == 2, 3, np.where(graph == 1, 1, np.where(graph.T == 1, 2, 0)))
    agreed = np.take_along_axis(shares, code[None].astype(np.intp), axis=0)[0]
    return float(np.triu(1 - agreed, 1).sum())


@dataclass(frozen=True, eq=False, repr=False)
class EffectPosterior:
    """What is known of the total effect of one variable on another: a draw for each DAG.

    Attributes
    ----------
    cause, effect : str
        The variables.
    draws : ndarray
        The change of the effect per unit of the cause, in the units of the data; exactly 0 for
        DAGs without a directed path.
    """

    cause: str
    effect: str
    draws: FloatArray

    def __post_init__(self) -> None:
        self.draws.setflags(write=False)

    @property
    def probability(self) -> float:
        """Probability that there is any effect."""
        return float((self.draws != 0).mean())

    @property
    def probability_positive(self) -> float:
        """Probability that the effect is above zero."""
        return float((self.draws > 0).mean())

    @property
    def probability_negative(self) -> float:
        """Probability that the effect is below zero."""
        return float((self.draws < 0).mean())

    @property
    def mean(self) -> float:
        """Mean over all draws, zeros included."""
        return float(self.draws.mean())

    @property
    def median(self) -> float:
        """Median over all draws, zeros included."""
        return float(np.median(self.draws))

    def interval(self, level: float = 0.9, *, if_any: bool = False) -> tuple[float, float]:
        """Equal-tailed interval that holds the effect with this probability.

        Zeros are included: an effect that is there, but does not show, lies outside more often.
        With ``if_any`` they are left out, and the interval is that of the effect if there is one.
        It is (nan, nan) where too few DAGs have any: k values leave 1 / (k + 1) of the probability
        beyond each end, so that 90 % take 19.
        """
        if not 0 < level < 1:
            raise ArgumentError(f"wanted a level between 0 and 1; got {level!r}")
        draws = self.draws[self.draws != 0] if if_any else self.draws
        tail = (1 - level) / 2
        if (len(draws) + 1) * tail < 1 - 1e-9:
            return math.nan, math.nan
        low, high = np.quantile(draws, [tail, 1 - tail], method="weibull")
        return float(low), float(high)

    def to_dict(self, level: float = 0.9) -> dict[str, object]:
        """All of it but the draws, as numbers and texts; None for an interval not to be had."""
        ends = (*self.interval(level), *self.interval(level, if_any=True))
        low, high, low_if_any, high_if_any = (None if math.isnan(end) else end for end in ends)
        return {
            "cause": self.cause,
            "effect": self.effect,
            "probability": self.probability,
            "probability_positive": self.probability_positive,
            "probability_negative": self.probability_negative,
            "mean": self.mean,
            "median": self.median,
            "level": level,
            "low": low,
            "high": high,
            "low_if_any": low_if_any,
            "high_if_any": high_if_any,
            "n_draws": len(self.draws),
        }

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"<Effect of {self.cause} on {self.effect}: any with probability "
            f"{self.probability:.2f}, median {self.median:.3g}, 90 % in [{low:.3g}, {high:.3g}]>"
        )


Slopes = list[tuple[int, FloatArray]]


@dataclass(frozen=True, eq=False, kw_only=True)
class CoefficientDraws:
    """The coefficients of standardised data: a draw for each DAG, the same for every question.

    ``paths`` has the share of the DAGs with a directed path from i to j; the coefficients have the
    posterior of ``score``; ``seed`` says where the draws of each variable begin.
    """

    masks: Masks
    candidates: Lists
    core: Lists
    paths: FloatArray
    score: FamilyScore
    seed: int
    _slopes: dict[int, Slopes] = field(default_factory=dict, init=False)

    def slopes(self, v: int) -> Slopes:
        """The parents that v has in some DAG, and the coefficient of each in every DAG."""
        if v not in self._slopes:
            self._slopes[v] = self._draw(v, np.random.default_rng([self.seed, v]))
        return self._slopes[v]

    def _draw(self, v: int, rng: np.random.Generator) -> Slopes:
        n_candidates = len(self.candidates[v])
        listed = self.candidates[v] + self.core[v]
        slopes = np.zeros((len(listed), len(self.masks)))
        families, which = np.unique(self.masks[:, v], return_inverse=True)
        for k, mask in enumerate(families.tolist()):
            rows = [b for b in range(len(listed)) if b >= n_candidates or mask >> b & 1]
            draws = np.flatnonzero(which == k)
            if rows:
                family = _Regression.of(self.score, v, [listed[b] for b in rows])
                slopes[np.array(rows)[:, None], draws] = family.draw(rng, len(draws))
        return [(u, row) for u, row in zip(listed, slopes, strict=True) if row.any()]

    def effects(
        self, cause: int, wanted: Sequence[int], held: Collection[int] = ()
    ) -> dict[int, FloatArray]:
        """The total effect of the cause on each variable wanted, in every DAG.

        What is held stays where it is, whatever the cause does: paths through it do not count.
        """
        zero = np.zeros(len(self.masks))
        between = self._between(cause, wanted, held)
        reached = dict.fromkeys([*between, *wanted], zero) | {cause: zero + 1}
        # DAGs have orders of their own: variables are gone through until none changes any more.
        for _ in between:
            changed = False
            for v in between:
                terms = [slope * reached[u] for u, slope in self.slopes(v) if u in reached]
                effect = np.sum(terms, axis=0) if terms else zero
                if not np.array_equal(effect, reached[v]):
                    reached[v], changed = effect, True
            if not changed:
                break
        return {v: reached[v] for v in wanted}

    def _between(self, cause: int, wanted: Sequence[int], held: Collection[int]) -> list[int]:
        """What lies on a path from the cause to what is wanted in some DAG; causes mostly first."""
        on_the_way = (self.paths[cause] > 0) & (self.paths[:, wanted] > 0).any(axis=1)
        on_the_way[wanted] = self.paths[cause, wanted] > 0
        by_ancestors = np.argsort(self.paths.sum(axis=0), kind="stable")
        closed = {cause, *held}
        return [v for v in by_ancestors.tolist() if on_the_way[v] and v not in closed]


@dataclass(frozen=True, eq=False)
class _Regression:
    """The coefficients of one family: σ² ~ IG(shape, scale), b ~ N(mean, σ²LLᵀ)."""

    shape: float
    scale: float
    mean: FloatArray
    lower: FloatArray

    @classmethod
    def of(cls, score: FamilyScore, child: int, parents: list[int]) -> _Regression:
        P = parents
        inverse = np.linalg.inv(score.matrix[np.ix_(P, P)])
        mean = inverse @ score.matrix[P, child]
        rest = score.matrix[child, child] - float(mean @ score.matrix[P, child])
        N = score.n_samples
        # R was divided by N: the sums of squares are N times as large.
        return cls(score.degrees(len(P)), N * rest / 2, mean, np.linalg.cholesky(inverse / N))

    def draw(self, rng: np.random.Generator, number: int) -> FloatArray:
        """Coefficients of the parents: parents × number."""
        spread = np.sqrt(self.scale / rng.gamma(self.shape, size=number))
        noise = self.lower @ rng.standard_normal((len(self.mean), number))
        drawn: FloatArray = self.mean[:, None] + spread * noise
        return drawn
