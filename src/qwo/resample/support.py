"""Counts of edges over replicates, the shares that they are, and one graph for many.

The link support of i and j is the share of resamples whose graph joins them, the arrow support of
i → j the share of those whose CPDAG has i → j; link = arrow + reverse + undirected. An arrow holds
if it is in more than half of the resamples, and in at least twice as many as its reverse. Any other
is not settled, however sure its link, unless knowledge rules the reverse out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from qwo.graph.marks import edge_text
from qwo.graph.pdag import PartialDag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray, Indices, Mask

if TYPE_CHECKING:
    from qwo.resample.result import Bootstrap

Counts = npt.NDArray[np.int32]
Outcomes = Adjacency
EdgeNumbers = npt.NDArray[np.int64]

HALF, TIMES_THE_REVERSE = 0.5, 2.0
Z_95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""

SHARES = ("link", "arrow", "reverse", "undirected")


class Outcome(IntEnum):
    """What became of a replicate."""

    PENDING = 0
    CONVERGED = 1
    TIME_LIMIT = 2
    DEGENERATE = 3


@dataclass(frozen=True, eq=False)
class Replicates:
    """Replicates that were run one after the other.

    ``numbers`` and ``outcomes`` are of those that came to an end; ``directed`` and ``undirected``
    the places i·n + j of all entries 1 and 2 of their CPDAGs, one after the other; ``reason`` why
    one had no graph; ``interrupted`` whether the keyboard has ended them; ``marks`` the places of
    ↔ and o→, of classes with hidden causes.
    """

    numbers: list[int]
    outcomes: list[int]
    directed: EdgeNumbers
    undirected: EdgeNumbers
    reason: str
    interrupted: bool
    marks: tuple[EdgeNumbers, EdgeNumbers]


def half_width(count: float, total: int) -> float:
    """Half the width of Wilson's 95 % interval for a probability, from a count; 1 for no data.

    Unlike that of the normal approximation it does not vanish for counts of 0.
    """
    if total == 0:
        return 1.0
    share, squared = count / total, Z_95**2
    variance = share * (1 - share) / total + squared / (4 * total**2)
    return float(Z_95 * np.sqrt(variance) / (1 + squared / total))


def have(outcomes: Outcomes, outcome: Outcome) -> Mask:
    """Which replicates have an outcome.

    NumPy asks an object that it compares with for attributes, and forgets all that is raised
    meanwhile, Ctrl-C included; of a number it asks nothing.
    """
    which: Mask = outcomes == int(outcome)
    return which


def counted(counts: Counts, places: EdgeNumbers) -> Counts:
    """The counts with one more for each mention of a place."""
    more = counts.copy()
    found, times = np.unique(places, return_counts=True)
    more.ravel()[found] += times.astype(np.int32)
    return more


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of resamples, as `Bootstrap` has them; probabilities of classes are such as well.

    n_counted: what they refer to; link_support: that i and j are adjacent; arrow_support: i → j.
    """

    names: tuple[str, ...]
    n_counted: int
    link_support: FloatArray
    arrow_support: FloatArray
    knowledge: ResolvedKnowledge | None = None


Supports: TypeAlias = "Bootstrap | Shares"


def coin_tosses(arrows: FloatArray, knowledge: ResolvedKnowledge | None = None) -> Mask:
    """For the arrow i → j of a graph, whether it does not hold, and could point the other way."""
    holds = (arrows > HALF) & (arrows >= TIMES_THE_REVERSE * arrows.T)
    if knowledge is not None:
        holds |= knowledge.forbidden.T
    return np.asarray(~holds)


class PairSupport(NamedTuple):
    """How often two variables are adjacent, and how their edge is directed.

    Attributes
    ----------
    first, second : str
        The variables: cause and effect if the graph of all data has an arrow, else in column order.
    reference : str
        Their edge in the graph of all data: ``"-->"``, ``"---"`` or ``""``.
    link : float
        The share of resamples with an edge between them: the sum of the following three.
    arrow, reverse : float
        The shares with first → second, and with second → first.
    undirected : float
        The share with an edge of which the resample does not tell the direction.
    coin_toss : bool
        Whether the graph of all data has an arrow that is not settled.
    """

    first: str
    second: str
    reference: str
    link: float
    arrow: float
    reverse: float
    undirected: float
    coin_toss: bool

    @property
    def shares(self) -> dict[str, float]:
        """Link, arrow, reverse and undirected."""
        return {name: getattr(self, name) for name in SHARES}

    @property
    def edge(self) -> str:
        """The pair in a line: ``a --> b ?`` if the arrow is not settled."""
        return f"{self.first} {self.reference or '   '} {self.second}{' ?' * self.coin_toss}"


def ranked_pairs(links: FloatArray, cpdag: Adjacency, wanted: Mask) -> tuple[Indices, Indices]:
    """Some of the pairs, the surest links first; an arrow of the graph from first to second."""
    i, j = np.nonzero(np.triu(wanted, 1))
    ranked = np.argsort(-links[i, j], kind="stable")
    backward = np.isin(cpdag[j, i], (1, 4))
    return np.where(backward, j, i)[ranked], np.where(backward, i, j)[ranked]


def pair_supports(
    found: Supports, cpdag: Adjacency, first: Indices, second: Indices
) -> list[PairSupport]:
    """The supports of pairs of variables, each pair as it is given."""
    links, arrows = found.link_support, found.arrow_support
    tosses = coin_tosses(arrows, found.knowledge) & (cpdag == 1)
    return [
        PairSupport(
            found.names[i],
            found.names[j],
            edge_text(cpdag[i, j], cpdag[j, i]),
            link := float(links[i, j]),
            arrow := float(arrows[i, j]),
            reverse := float(arrows[j, i]),
            # Differences of rounded shares may fall a hair below zero.
            round(max(link - arrow - reverse, 0.0), 12),
            bool(tosses[i, j]),
        )
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]


def consensus(
    directed: FloatArray,
    undirected: FloatArray,
    threshold: float,
    knowledge: ResolvedKnowledge | None,
) -> Adjacency:
    """The acyclic graph of the pairs that are adjacent in at least so large a share of replicates.

    The mark of a pair is the most frequent of i → j, j → i and undirected; of equally frequent
    ones, undirected, then the direction of lower columns. Arrows are taken up from the best
    supported one down, and one that would close a cycle is made undirected. What is undirected in
    the end is oriented as in Dor and Tarsi's algorithm: again and again a vertex without children
    comes last, one whose neighbours become its parents without a new v-structure if there is one,
    else one with the fewest. If the marks are a CPDAG's, the result is a member of its class.

    Knowledge has the last word: required arrows come first, tiers count as arrows, and a pair whose
    only direction left is forbidden is left out.
    """
    n = len(directed)
    never = np.zeros((n, n), dtype=np.bool_)
    before = never if knowledge is None else knowledge.before
    forbidden = never if knowledge is None else knowledge.forbidden
    marks = majority_marks(directed, undirected, threshold)
    if knowledge is not None:
        marks[knowledge.required.T] = 0
        marks[knowledge.required] = 1
    support = np.where(never if knowledge is None else knowledge.required, 2.0, directed)
    _break_cycles(marks, support, before, forbidden)
    return _extend(PartialDag.from_matrix(marks), marks, directed, before)


def majority_marks(directed: FloatArray, undirected: FloatArray, threshold: float) -> Adjacency:
    """The most frequent mark of every pair that reaches the threshold, as a CPDAG's matrix."""
    adjacent = directed + directed.T + undirected >= threshold - 1e-12
    np.fill_diagonal(adjacent, False)
    forth = directed > undirected
    first = np.triu(np.ones(directed.shape, dtype=np.bool_))
    wins = np.where(first, directed >= directed.T, directed > directed.T)
    marks = np.zeros(directed.shape, dtype=np.int8)
    marks[adjacent & forth & wins] = 1
    marks[adjacent & ~(forth | forth.T)] = 2
    return marks


def _break_cycles(marks: Adjacency, support: FloatArray, before: Mask, forbidden: Mask) -> None:
    """Make arrows that close a cycle with better supported ones undirected, or remove them."""
    reach = before | np.eye(len(marks), dtype=np.bool_)
    tails, heads = np.nonzero(marks == 1)
    # A stable sort: of equally supported arrows, those of lower columns come first.
    for k in np.argsort(-support[tails, heads], kind="stable"):
        i, j = tails[k], heads[k]
        if not reach[j, i]:
            reach[reach[:, i]] |= reach[j]
        elif forbidden[j, i]:
            marks[i, j] = 0
        else:
            marks[i, j] = marks[j, i] = 2


def _extend(graph: PartialDag, marks: Adjacency, directed: FloatArray, before: Mask) -> Adjacency:
    """A DAG with the arrows and the adjacencies of the graph, and few new v-structures."""
    dag: Adjacency = (marks == 1).astype(np.int8)
    waiting = np.count_nonzero(before, axis=1)
    costs = {v: _cost(graph, v, directed) for v in range(len(marks))}
    while costs:
        free = [v for v in costs if not graph.children[v] and waiting[v] == 0]
        last = min(free, key=costs.__getitem__)
        dag[list(graph.neighbours[last]), last] = 1
        touched = graph.linked(last)
        graph.remove(last)
        waiting -= before[:, last]
        del costs[last]
        costs.update({v: _cost(graph, v, directed) for v in touched})
    return dag


def _cost(graph: PartialDag, vertex: int, directed: FloatArray) -> tuple[int, float, int]:
    """What speaks against a vertex as the last: new v-structures, arrows seen the other way."""
    neighbours, linked = graph.neighbours[vertex], graph.linked(vertex)
    colliders = sum(len(linked - graph.linked(u)) - 1 for u in neighbours)
    against = sum(float(directed[vertex, u] - directed[u, vertex]) for u in sorted(neighbours))
    return colliders, against, vertex
