"""What the support of a link and of an arrow is; all tables, pictures and notes go by it.

The link support of i and j is the share of resamples whose graph joins them. The arrow support of
i → j is the share of resamples whose CPDAG has i → j. A resample whose CPDAG has i — j counts for
the link and for neither arrow: link = arrow + reverse + undirected.

An arrow holds if it is in more than half of the resamples, and in at least twice as many as its
reverse. Any other arrow of a graph is little surer than a coin toss, however sure its link, unless
background knowledge rules the reverse out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from qwo.graph.marks import ARROW, LINE
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray, Indices, Mask

HALF = 0.5
TIMES_THE_REVERSE = 2.0


SHARES = ("link", "arrow", "reverse", "undirected")


class Supports(Protocol):
    """Shares of resamples, as `Bootstrap` has them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in column order."""

    @property
    def n_counted(self) -> int:
        """The number of resamples with a graph, which the shares refer to."""

    @property
    def link_support(self) -> FloatArray:
        """The share of resamples in which i and j are adjacent; symmetric."""

    @property
    def arrow_support(self) -> FloatArray:
        """The share of resamples whose CPDAG has i → j."""

    @property
    def knowledge(self) -> ResolvedKnowledge | None:
        """The background knowledge that all of them respect."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Supports from wherever: probabilities of classes of graphs are some as well."""

    names: tuple[str, ...]
    n_counted: int
    link_support: FloatArray
    arrow_support: FloatArray
    knowledge: ResolvedKnowledge | None = None


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
        Whether the graph of all data has an arrow that is little surer than a coin toss.
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
        """The pair in a line: ``a --> b ?`` if the arrow is a coin toss."""
        return f"{self.first} {self.reference or '   '} {self.second}{' ?' * self.coin_toss}"


def ranked_pairs(links: FloatArray, cpdag: Adjacency, wanted: Mask) -> tuple[Indices, Indices]:
    """Some of the pairs, the surest links first; an arrow of the graph from first to second."""
    i, j = np.nonzero(np.triu(wanted, 1))
    ranked = np.argsort(-links[i, j], kind="stable")
    backward = cpdag[j, i] == 1
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
            ("", ARROW, LINE)[cpdag[i, j]],
            link := float(links[i, j]),
            arrow := float(arrows[i, j]),
            reverse := float(arrows[j, i]),
            # Differences of rounded shares may fall a hair below zero.
            round(max(link - arrow - reverse, 0.0), 12),
            bool(tosses[i, j]),
        )
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
