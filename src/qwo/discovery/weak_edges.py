"""Edges that are more likely false than true are left out, and the rest is searched again.

A needless edge does more harm than itself: it makes colliders, which direct whole stretches of a
graph. The false rate of an edge holds in its own graph, so that the graph is searched again near by
without it, and judged again, a few times at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.discovery.price import edge_evidence, explained_in
from qwo.discovery.resolve import Resolved
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search.bic_insertion import bic_insertion
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


def without_weak_edges(
    plan: Resolved, moments: Moments, engine: BicEngine, control: Control
) -> tuple[BicEngine, tuple[WeakEdge, ...]]:
    """The engine at the best graph near by without weak edges, and these; the same if none is."""
    left_out: list[WeakEdge] = []
    apart = np.zeros((moments.n_variables,) * 2, np.bool_)
    for _ in range(ROUNDS):
        weak = _weak(plan, moments, engine)
        if not weak or control.remaining <= 0:
            break
        left_out += weak
        for edge in weak:
            a, b = moments.names.index(edge.source), moments.names.index(edge.target)
            apart[a, b] = apart[b, a] = True
        engine = BicEngine(
            moments,
            score=engine.score,
            knowledge=_keeping_apart(plan.knowledge, moments.names, apart),
            order=engine.order,
            threads=plan.threads,
        )
        bic_insertion(engine, restarts=0, control=control, random_state=plan.seed)
    return engine, tuple(left_out)


def _weak(plan: Resolved, moments: Moments, engine: BicEngine) -> list[WeakEdge]:
    """The present edges that are more likely false than true, but for required ones."""
    price, extension = engine.edge_price
    strengths = explained_in(moments, engine.dag())
    found: Any = edge_evidence(
        moments, strengths, engine.order, price, plan.knowledge, extension=extension
    )
    if found.is_settled:
        return []
    required = None if plan.knowledge is None else plan.knowledge.required
    names = moments.names
    return [
        WeakEdge(names[a], names[b], float(strength), float(rate))
        for a, b, strength, rate in zip(
            found.causes, found.effects, found.strengths, found.false_rates, strict=True
        )
        if rate > LIKELY_FALSE and (required is None or not required[a, b])
    ]


def _keeping_apart(
    knowledge: ResolvedKnowledge | None, names: tuple[str, ...], apart: Mask
) -> ResolvedKnowledge:
    """What is known, and no edge between some pairs."""
    none = np.zeros_like(apart)
    if knowledge is None:
        return ResolvedKnowledge(names, apart.copy(), none, none.copy())
    forbidden = knowledge.forbidden | apart
    return ResolvedKnowledge(names, forbidden, knowledge.required.copy(), knowledge.before.copy())
