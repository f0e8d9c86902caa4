"""Edges that are more likely false than true are left out, and the rest is searched again.

A needless edge does more harm than itself: it makes colliders, which direct whole stretches of a
graph. The false rate of an edge holds in its own graph, so that the graph is searched again near by
without it, and judged again, a few times at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qwo.discovery.price import Evidence, edge_evidence, explained_in
from qwo.discovery.resolve import Resolved
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.linalg import Explained
from qwo.search.control import Control
from qwo.types import Mask

ROUNDS = 3
LIKELY_FALSE = 0.5


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
    for round_left in reversed(range(ROUNDS + 1)):
        found = explained_in(moments, engine.dag())
        evidence = edge_evidence(moments, found, engine.order, price, known, extension=extension)
        if not round_left or evidence.is_settled or control.remaining <= 0:
            break
        # An edge with a rival is no more likely to be false than the rival, which would follow.
        rates, ends = evidence.rates_by_strength, (evidence.causes, evidence.effects)
        weak = rates > LIKELY_FALSE
        if known is not None:
            weak &= ~known.required[ends]
        if not weak.any():
            break
        pairs = [(int(a), int(b)) for a, b in zip(*(own[weak] for own in ends), strict=True)]
        left_out += [
            WeakEdge(names[a], names[b], float(strength), float(rate))
            for (a, b), strength, rate in zip(
                pairs, evidence.strengths[weak], rates[weak], strict=True
            )
        ]
        for a, b in pairs:
            apart[a, b] = apart[b, a] = True
        engine = engine.kept_apart(pairs, _keeping_apart(known, names, apart))
    return Judged(engine, found, evidence, tuple(left_out))


def _keeping_apart(
    knowledge: ResolvedKnowledge | None, names: tuple[str, ...], apart: Mask
) -> ResolvedKnowledge:
    """What is known, and no edge between some pairs."""
    none = np.zeros_like(apart)
    if knowledge is None:
        return ResolvedKnowledge(names, apart.copy(), none, none.copy())
    forbidden = knowledge.forbidden | apart
    return ResolvedKnowledge(names, forbidden, knowledge.required.copy(), knowledge.before.copy())
