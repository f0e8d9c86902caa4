"""The graph where edges have probabilities beforehand: a search whose score adds their log-odds.

The score of a DAG is 2·loglik - c·edges·log N + Σ 2 log(p / (1 - p)) over its edges with a
probability p; elsewhere p is 1/2, which adds nothing. Markov equivalent graphs differ in the last
term, which therefore directs edges that the data leave open; data that tell more overrule it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.compute import count_workers
from qwo.discovery.price import WeakEdge, keeping_apart
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.cpdag import to_mpdag
from qwo.graph.dag import parents_of, topological_order
from qwo.graph.knowledge import Knowledge
from qwo.graph.pdag import meek_closure, to_dag
from qwo.moments import Moments, as_moments
from qwo.names import as_column
from qwo.options import DEFAULTS, SearchOptions
from qwo.order.bic import BicEngine
from qwo.order.blocks import BlockScore
from qwo.order.score import BIC
from qwo.search.control import Control
from qwo.types import Adjacency, FloatArray, Mask


def discover_likely(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with probabilities of edges: without them first, then from there with them."""
    from qwo.discovery.discover import discover_as

    for name in ("method", "score", "engine", "alpha", "search"):
        if getattr(options, name) != DEFAULTS[name]:
            raise ArgumentError(
                f"{name} does not go with likely edges, which take the default search and score; "
                f"leave {name} out",
                option=name,
            )
    known = options.knowledge
    assert isinstance(known, Knowledge)
    moments = as_moments(data, **reading)
    if moments.is_oracle:
        raise ArgumentError(
            "likely edges are weighed against samples, but the moments are exact; require or "
            "forbid edges instead",
            option="knowledge",
        )
    strict = replace(options, knowledge=known.strict)
    first = discover_as(moments, strict, control=control)
    bonus = log_odds(known, moments.names)
    penalty, gamma = first.params["penalty_discount"], first.params["gamma"]
    resolved = known.resolve(moments.names)
    weak, apart = still_weak(first, bonus)
    engine = BicEngine(
        moments,
        score=BIC(penalty, gamma),
        knowledge=keeping_apart(resolved, moments.names, apart),
        order=first.order,
        bonus=bonus,
        threads=count_workers(options.n_jobs),
    )
    own = replace(strict, engine=engine, start=first.order, penalty_discount=penalty, gamma=gamma)
    left = None if options.time_limit is None else max(options.time_limit - control.seconds, 0.0)
    found = discover_as(moments, replace(own, time_limit=left))
    graph, dag = likeliest_member(to_mpdag(found.dag, resolved), found.dag, bonus)
    return replace(
        found,
        cpdag=graph,
        dag=dag,
        order=topological_order(dag),
        score=total(dag, moments, penalty, bonus),
        seconds=control.seconds,
        weak_edges=weak,
        params={**found.params, "engine": "bic with likely edges", "likely": list(known.likely)},
        origin=None if first.origin is None else replace(first.origin, data=data, knowledge=known),
    )


def still_weak(first: Discovery, bonus: FloatArray) -> tuple[tuple[WeakEdge, ...], Mask]:
    """Edges left out as more likely false than true that nothing speaks for, and their pairs."""
    apart, weak = np.zeros(bonus.shape, np.bool_), list[WeakEdge]()
    for edge in first.weak_edges:
        i, j = first.names.index(edge.source), first.names.index(edge.target)
        if max(bonus[i, j], bonus[j, i]) <= 0:
            apart[i, j] = apart[j, i] = True
            weak.append(edge)
    return tuple(weak), apart


def likeliest_member(
    graph: Adjacency, found: Adjacency, bonus: FloatArray
) -> tuple[Adjacency, Adjacency]:
    """A class with its open edges in the likelier direction, where they differ; and a member.

    The largest difference goes first; what follows from it (Meek) is directed as well. The fit of
    all members is the same; if the one found is likelier than this, it directs these edges.
    """
    gain = bonus - bonus.T
    closed = directed_as(graph, gain)
    dag = to_dag(closed)
    if (bonus * dag).sum() < (bonus * found).sum():
        return directed_as(graph, np.where(found, np.abs(gain), 0.0)), found
    return closed, dag


def directed_as(graph: Adjacency, gain: FloatArray) -> Adjacency:
    """A class whose open edges i → j of positive gain are directed so, the largest gain first."""
    causes, effects = np.nonzero(gain > 0)
    for k in np.argsort(-gain[causes, effects], kind="stable"):
        i, j = causes[k], effects[k]
        if graph[i, j] == 2:
            graph = graph.copy()
            graph[i, j], graph[j, i] = 1, 0
            graph = meek_closure(graph)
    return graph


def log_odds(known: Knowledge, names: tuple[str, ...]) -> FloatArray:
    """Entry (i, j): what the edge i → j adds to the score for how probable it is beforehand."""
    bonus = np.zeros((len(names), len(names)))
    for cause, effect, chance in known.likely:
        i, j = as_column(names, cause, "likely"), as_column(names, effect, "likely")
        bonus[i, j] = 2 * math.log(chance / (1 - chance))
    return bonus


def total(dag: Adjacency, moments: Moments, penalty: float, bonus: FloatArray) -> float:
    """The score of a DAG by its definition, for comparison."""
    families = BlockScore(moments, penalty)
    fit = math.fsum(families(v, own) for v, own in enumerate(parents_of(dag)))
    return fit + float((bonus * dag).sum())
