"""What the arrows of a class are worth, and how likely each of its marks is.

The worth Δ of an arrow is the score that is lost if it must point the other way, all else searched
anew near by (`cpp/qwo/arrow_turns.hpp`). An arrow whose Δ is small hangs on little: a collider that
the score prefers by a hair directs whole stretches of a graph. How much is enough is learnt from
the graph itself. Let π be the share of colliders among its unshielded triples, found by
expectation and maximisation: a triple that the data settle counts as what it is, one that they
leave in doubt in proportion. And let κ be the share of them that are colliders in the graph found.
Trees and chains have both near 0, random graphs a quarter to a third. An arrow then has the odds

    forward : undirected : backward = 1 : exp(open - T) : exp(-B),

where open grows with λ = 2 log((1 - π) / π) and falls with the share of edges that the class leaves
open anyway: nothing directs whole stretches there. T and B grow with Δ', more slowly than Δ' / 2,
as the best of many graphs owes a part of its score to chance. Δ' is Δ, but for edges of which the
graph with the arrow turned has more: these cost the penalty in Δ, and in Δ' what a closed triangle
costs in a graph that has as many, though they never make it better.

Graphs with and without triangles differ. Without, only the collider itself is in doubt, and open
grows by more where κ is small and π smaller. With triangles, a collider may be there because the
edge that closes it was missed: bands, cliques and other chordal graphs have no arrow at all, and
every missed edge of theirs directs a stretch. So Δ' counts for the less, the larger the share c of
closed triples is; and many triples that are settled count for the arrows. Between the two rules,
what is said goes by c, and by how many triples there are. The constants were fitted by likelihood
to graphs of 20 families, random and published ones (`benchmarks.arrows` shows them on other data).
All odds are then taken to a power, which changes no order among them: what is said is the surer,
the fewer edges of the graph are in doubt, since fewer were missed then, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from qwo.moments import Moments
from qwo.order.bic import BicEngine, TurnedArrows
from qwo.types import Adjacency, FloatArray, Indices, Mask

SURE = 0.9
"""Probability from which on a direction is called sure."""

FARTHEST = 80.0
"""Points of score beyond which a graph does not count: nobody doubts an arrow worth so much."""

MOST_TURNS = 2000
"""Arrows that are turned, causes first: all of them up to some 500 variables; the others keep the
bounds that these give."""

OPEN_AT, OPEN, OPEN_FAR, FAR, OPEN_ALREADY, TRUST = -2.25, 0.75, 0.5, 5.0, -4.0, 0.15
"""Without triangles open = OPEN_AT + OPEN λ + OPEN_FAR (λ - FAR)₊ + OPEN_ALREADY · share + what
follows, and T = TRUST Δ'."""

TREE_LIKE, FEW_COLLIDERS, DOUBTED = 4.0, 2.5, 0.5
"""More where d = 2 log((1 - κ) / κ) is above FEW_COLLIDERS and λ above d by DOUBTED."""

TRIANGLES, FEW_TRIPLES, MANY_TRIPLES, WIDEST = 0.2, 10, 30, 8.0
"""Share of closed triples from which on triangles decide, where MANY_TRIPLES are open; with
FEW_TRIPLES or less they do not, as small tables tell little. λ counts up to WIDEST there."""

CLOSED_AT, CLOSED_OPEN, CLOSED_ALREADY, SETTLED = 1.3, 0.715, -3.64, -0.48
CLOSED_TRUST, LESS_TRUST, CLOSED_MUCH, MUCH = 0.197, 0.134, 0.129, 15.0
"""With triangles open = CLOSED_AT + CLOSED_OPEN λ + CLOSED_ALREADY · share + SETTLED log(1 + k) for
k triples, and T = (CLOSED_TRUST - LESS_TRUST c) Δ' - CLOSED_MUCH (Δ' - MUCH)₊, never falling."""

BACKWARD_AT, BACKWARD_CLOSED, BACKWARD_TRUST, BACKWARD_MUCH = -0.555, 0.963, 0.225, 0.191
"""-B = BACKWARD_AT + BACKWARD_CLOSED c - BACKWARD_TRUST Δ' + BACKWARD_MUCH (Δ' - MUCH)₊, or 0."""

MOST_DOUBTED = 60.0
"""Δ' counts up to here."""

POWER, DOUBTED_EDGES, FEWEST_DOUBTED = 0.59, -0.29, 0.01
"""The power is POWER (s + FEWEST_DOUBTED) ^ DOUBTED_EDGES for a share s of edges in doubt. Fitted
by likelihood, with each family left out in turn, to 1392 data sets."""

ROUNDS = 60
"""Steps of EM for one share, which then stands still."""


@dataclass(frozen=True, eq=False)
class ArrowEvidence:
    """What the arrows of a class are worth.

    Attributes
    ----------
    causes, effects : ndarray of int
        The arrows of the class, knowledge's included.
    worths : ndarray
        Δ of each: the score lost if it must point the other way, as far as graphs near by tell;
        infinite where knowledge decides, and above `FARTHEST`.
    discounted : ndarray
        Δ', with a milder price of further edges.
    colliders, others : ndarray
        What the unshielded triples that are colliders, and those that are none, are worth as that.
    hanging : ndarray of bool, arrows × arrows
        Entry (a, b): arrow b is not there in the graph with arrow a turned, so that it hangs on a.
    open_share, closed_share, doubted_share : float
        The share of edges that the class leaves open, of triples that are triangles, and of edges
        that are not beyond doubt by their strength.
    """

    causes: Indices
    effects: Indices
    worths: FloatArray
    discounted: FloatArray
    colliders: FloatArray
    others: FloatArray
    hanging: Mask
    open_share: float
    closed_share: float = 0.0
    doubted_share: float = 0.15

    @cached_property
    def collider_shares(self) -> tuple[float, float]:
        """π and κ: the shares of colliders among unshielded triples, by evidence and as drawn.

        Of those drawn, a third of six more are counted as such.
        """
        against = np.exp(-np.concatenate((self.colliders, -self.others)).clip(-100, 100) / 2)
        share = 0.3
        for _ in range(ROUNDS):
            share = (float((share / (share + (1 - share) * against)).sum()) + 0.5) / (
                len(against) + 1
            )
        drawn = (len(self.colliders) + 2) / (len(against) + 6)
        # Where each collider is worth little, but there are many, they are not all for nothing.
        return max(share, drawn**2), drawn

    @cached_property
    def probabilities(self) -> FloatArray:
        """For each arrow, that the true class has it, has a line there, or the reverse arrow.

        Given that there is an edge: rows add up to 1.
        """
        scale, drawn = (2 * math.log((1 - share) / share) for share in self.collider_shares)
        opened = OPEN_AT + OPEN * scale + OPEN_FAR * max(scale - FAR, 0)
        opened += OPEN_ALREADY * self.open_share
        few, doubted = drawn - FEW_COLLIDERS, scale - drawn - DOUBTED
        opened += TREE_LIKE * min(max(few, 0), 1) * min(max(doubted, 0), 1)
        count, closed = len(self.colliders) + len(self.others), self.closed_share
        beside = CLOSED_AT + CLOSED_OPEN * min(scale, WIDEST) + CLOSED_ALREADY * self.open_share
        beside += SETTLED * math.log1p(count)
        decided, lost = np.isinf(self.discounted), np.minimum(self.discounted, MOST_DOUBTED)
        much = np.maximum(lost - MUCH, 0)
        told = (count - FEW_TRIPLES) / (MANY_TRIPLES - FEW_TRIPLES)
        weight = min(closed / TRIANGLES, 1) * min(max(told, 0), 1)
        slope = CLOSED_TRUST - LESS_TRUST * closed
        trust = slope * lost - min(CLOSED_MUCH, slope) * much
        odds = np.zeros((len(lost), 3))
        odds[:, 1] = (1 - weight) * (opened - TRUST * lost) + weight * (beside - trust)
        back = BACKWARD_AT + BACKWARD_CLOSED * closed - BACKWARD_TRUST * lost + BACKWARD_MUCH * much
        odds[:, 2] = np.minimum(back, 0)
        odds[decided, 1:] = -np.inf
        odds *= POWER * (self.doubted_share + FEWEST_DOUBTED) ** DOUBTED_EDGES
        odds = np.exp(odds - odds.max(axis=1, keepdims=True, initial=0))
        chances: FloatArray = odds / odds.sum(axis=1, keepdims=True)
        return chances

    @property
    def supported(self) -> Mask:
        """Which arrows are at least as likely as a line or the reverse: those that are shown."""
        chances = self.probabilities
        supported: Mask = chances[:, 0] >= chances[:, 1:].max(axis=1, initial=0)
        return supported

    @property
    def leans(self) -> FloatArray:
        """The odds of each arrow against its reverse, where the class tells a direction at all."""
        forward, _, backward = self.probabilities.T
        return np.where(backward > 0, forward / np.where(backward > 0, backward, 1), np.inf)

    @property
    def expected_wrong(self) -> float:
        """How many marks of these edges are wrong, to expect, as they are shown."""
        return float((1 - self.probabilities.max(axis=1, initial=0)).sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, from which `from_dict` makes it again."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        # Few arrows hang on each.
        plain["hanging"] = np.argwhere(self.hanging)
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in plain.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ArrowEvidence:
        """The evidence that `to_dict` has written down."""
        causes, effects = (np.array(plain[name], np.intp) for name in ("causes", "effects"))
        names = "worths", "discounted", "colliders", "others"
        worths, discounted, colliders, others = (np.array(plain[k], np.float64) for k in names)
        hanging = np.array(plain["hanging"])
        if hanging.dtype != np.bool_:
            pairs, hanging = hanging, np.zeros((len(causes),) * 2, np.bool_)
            hanging[tuple(pairs.reshape(-1, 2).astype(np.intp).T)] = True
        hanging = hanging.reshape((len(causes),) * 2)
        shares: dict[str, Any] = {k: plain[k] for k in plain if k.endswith("_share")}
        return cls(causes, effects, worths, discounted, colliders, others, hanging, **shares)


def arrow_evidence(moments: Moments, engine: Any, cpdag: Adjacency) -> ArrowEvidence:
    """What the arrows are worth of the class that an exact BIC engine is at.

    The class may have further arrows than those that the DAG's own has: what knowledge directs.
    """
    turned: TurnedArrows = engine.turn_arrows(FARTHEST, MOST_TURNS)
    rows = {(a, b): k for k, (a, b) in enumerate(zip(turned.causes, turned.effects, strict=True))}
    causes, effects = np.nonzero(cpdag == 1)
    compelled = set(np.flatnonzero(turned.compelled).tolist())
    own = np.array([rows.get(edge, -1) for edge in zip(causes, effects, strict=True)], np.intp)
    own[[k not in compelled for k in own]] = -1
    # The BIC's own penalty is log N. What goes beyond stands for how rare edges are; where an edge
    # closes a triangle, the share of closed triangles tells that: none in trees.
    odds = (turned.closed + 0.5) / (turned.met - turned.closed + 0.5)
    beyond = engine.edge_price[0] - math.log(moments.n_samples)
    bonus = max(0.0, beyond + 2 * math.log(odds))
    mild = turned.lost - bonus * np.maximum(turned.more, 0)
    mild = np.maximum(mild, np.minimum(turned.lost, 0))
    turns, gone = turned.gone
    worths, discounted = np.full((2, len(rows)), np.inf)
    np.minimum.at(worths, gone, turned.lost[turns])
    np.minimum.at(discounted, gone, mild[turns])
    shown = np.full(len(rows), -1)
    shown[own[own >= 0]] = np.flatnonzero(own >= 0)
    ends = shown[turned.edges[turns]], shown[gone]
    both = (ends[0] >= 0) & (ends[1] >= 0)
    hanging = np.zeros((len(causes), len(causes)), np.bool_)
    hanging[ends[0][both], ends[1][both]] = True
    colliders, others = _triples(engine, moments, turned, discounted)
    known = own >= 0
    # What no turn has changed is worth much, but only knowledge is beyond doubt.
    far = np.isfinite(turned.lost) & np.isinf(discounted[turned.edges])
    discounted[turned.edges[far]] = FARTHEST
    return ArrowEvidence(
        causes,
        effects,
        np.where(known, worths[own], np.inf),
        np.where(known, discounted[own], np.inf),
        colliders,
        others,
        hanging,
        1 - float(turned.compelled.sum()) / max(len(turned.compelled), 1),
        turned.closed / max(turned.met, 1),
    )


def _triples(
    engine: BicEngine, moments: Moments, turned: TurnedArrows, worths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What unshielded triples are worth as the colliders, or not, that they are.

    A collider falls with either of its arrows. That a – b – c is none is worth the likelihood ratio
    of independence given b against independence without, in the three variables alone.
    """
    b, one, other = turned.triples
    into = turned.compelled[[one, other]] & (turned.effects[[one, other]] == b)
    meet = into.all(axis=0)
    both = np.minimum(worths[one], worths[other])[meet]
    b, one, other = b[~meet], one[~meet], other[~meet]
    a, c = (turned.causes[k] + turned.effects[k] - b for k in (one, other))
    own = engine.association()
    r = moments.correlation if own is None else own
    apart, left, right = r[a, c], r[a, b], r[b, c]
    given = (apart - left * right) / np.sqrt(
        np.maximum((1 - left * left) * (1 - right * right), 1e-12)
    )
    fit = np.log1p(-np.minimum(given * given, 0.9999)) - np.log1p(-np.minimum(apart**2, 0.9999))
    return both, np.maximum(moments.n_samples * fit, 0)


def leaning(odds: float) -> str:
    """Odds in words, as in "3 to 1"."""
    if odds >= 999:
        return "over 999 to 1"
    if odds >= 9.5:
        return f"{round(odds)} to 1"
    return f"{odds:.1f} to 1".replace(".0 ", " ")
