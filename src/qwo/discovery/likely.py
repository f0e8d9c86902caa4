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
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.cpdag import to_mpdag
from qwo.graph.dag import topological_order
from qwo.graph.knowledge import Knowledge
from qwo.graph.pdag import meek_closure, to_dag
from qwo.moments import Moments, as_moments
from qwo.names import as_column
from qwo.options import DEFAULTS, SearchOptions
from qwo.order.local_score import LocalScoreEngine
from qwo.search.control import Control
from qwo.types import Adjacency, FloatArray

MOST_VARIABLES = 60
"""Scores are computed one by one, in Python: more variables would take minutes."""


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
    moments.require_columns("likely edges")
    if moments.n_variables > MOST_VARIABLES or moments.is_oracle:
        raise ArgumentError(
            f"likely edges are for samples of up to {MOST_VARIABLES} variables; require or forbid "
            "edges instead",
            option="knowledge",
        )
    strict = replace(options, knowledge=known.strict)
    first = discover_as(moments, strict)
    bonus = log_odds(known, moments.names)
    penalty = first.params["penalty_discount"]
    resolved = known.resolve(moments.names)
    engine = LocalScoreEngine(
        local_bic(moments, penalty, bonus), moments.n_variables, knowledge=resolved
    )
    own = replace(strict, engine=engine, start=first.order, penalty_discount=penalty, restarts=0)
    left = None if options.time_limit is None else max(options.time_limit - control.seconds, 0.0)
    found = discover_as(moments, replace(own, time_limit=left))
    graph, dag = likeliest_member(to_mpdag(found.dag, resolved), bonus)
    return replace(
        found,
        cpdag=graph,
        dag=dag,
        order=topological_order(dag),
        score=total(dag, moments, penalty, bonus),
        seconds=control.seconds,
        params={**found.params, "engine": "bic with likely edges", "likely": list(known.likely)},
        origin=None if first.origin is None else replace(first.origin, data=data, knowledge=known),
    )


def likeliest_member(graph: Adjacency, bonus: FloatArray) -> tuple[Adjacency, Adjacency]:
    """A class with its open edges in the likelier direction, where they differ; and a member.

    The largest difference goes first; what follows from it (Meek) is directed as well. The fit of
    all members is the same.
    """
    gain = bonus - bonus.T
    causes, effects = np.nonzero(gain > 0)
    for k in np.argsort(-gain[causes, effects], kind="stable"):
        i, j = causes[k], effects[k]
        if graph[i, j] == 2:
            graph = graph.copy()
            graph[i, j], graph[j, i] = 1, 0
            graph = meek_closure(graph)
    return graph, to_dag(graph)


def log_odds(known: Knowledge, names: tuple[str, ...]) -> FloatArray:
    """Entry (i, j): what the edge i → j adds to the score for how probable it is beforehand."""
    bonus = np.zeros((len(names), len(names)))
    for cause, effect, chance in known.likely:
        i, j = as_column(names, cause, "likely"), as_column(names, effect, "likely")
        bonus[i, j] = 2 * math.log(chance / (1 - chance))
    return bonus


def local_bic(moments: Moments, penalty: float, bonus: FloatArray) -> Any:
    """The local score of a variable and its parents, less that of the variable alone."""
    correlation, n = moments.correlation, moments.n_samples
    unit = penalty * math.log(n)

    def score(child: int, parents: tuple[int, ...]) -> float:
        own = list(parents)
        if not own:
            return 0.0
        block = correlation[np.ix_(own, own)]
        against = correlation[own, child]
        left = 1.0 - float(against @ np.linalg.solve(block, against))
        fit = -n * math.log(max(left, 1e-12))
        return fit - unit * len(own) + float(bonus[own, child].sum())

    return score


def total(dag: Adjacency, moments: Moments, penalty: float, bonus: FloatArray) -> float:
    """The score of a DAG, for comparison."""
    score = local_bic(moments, penalty, bonus)
    return math.fsum(score(v, tuple(np.flatnonzero(dag[:, v]).tolist())) for v in range(len(dag)))
