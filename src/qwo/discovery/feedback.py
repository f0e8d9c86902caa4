"""The graph of data with feedback: order search, then cycles where they explain more with less."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError, Cure, SampleSizeError
from qwo.feedback.result import ILL_CONDITIONED, Feedback, knot_of
from qwo.feedback.search import CyclicOutcome, search_cyclic
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.cyclic_class import Block, equivalence_class
from qwo.moments import Moments, as_moments
from qwo.options import SearchOptions
from qwo.search.control import Control
from qwo.sem.cyclic import information
from qwo.types import Adjacency, FloatArray

MOST_VARIABLES = 500
"""Rotations of rows take time in the square of their number."""

NEEDED = 0.75
"""Penalties of an edge by which a graph with cycles must be better than the best without. A cycle
that saves one edge gains about one, less what chance takes from the fit."""

FEW_TRIANGLES = 4
"""Triangles of the graph without cycles, around a knot, up to which that is enough. Each is a
chance for coefficients that nearly cancel to look like an edge saved; of dense graphs more is asked
for, a quarter of a penalty for each doubling: `benchmarks.feedback`, acyclic."""


LEAST_EDGE = 2.5
"""Penalties that every edge into a knot must be worth, as its z². Among weak effects, relations
that bend and hidden causes coefficients often cancel by chance: `benchmarks.feedback`, acyclic."""


def discover_feedback(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``feedback=True``: the plain search, the search for cycles, their class."""
    from qwo.discovery.discover import discover_as

    moments = as_moments(data, **reading)
    _check(moments)
    half = None if options.time_limit is None else options.time_limit / 2
    first = discover_as(moments, replace(options, feedback=False, time_limit=half))
    return with_cycles(first, moments, options, control)


def with_cycles(
    first: Discovery, moments: Moments, options: SearchOptions, control: Control
) -> Discovery:
    """The result of the plain search with what moments tell of cycles."""
    _check(moments)
    n = moments.n_variables
    known = resolved_knowledge(options, moments.names)
    unit = math.log(moments.n_samples)
    price = first.params["penalty_discount"] * unit + 2 * first.params["gamma"] * math.log(n)
    outcome = search_cyclic(
        moments.correlation,
        moments.n_samples,
        price,
        first.dag,
        first.order,
        allowed=~np.eye(n, dtype=bool) if known is None else known.allowed_parents,
        required=np.zeros((n, n), dtype=bool) if known is None else known.required,
        seed=first.params["random_state"],
        control=control,
    )
    found = _read(outcome, moments, price)
    params = {**first.params, "feedback": True, "time_limit": options.time_limit}
    status = first.status if outcome.status == "converged" else outcome.status
    plain = replace(
        first,
        params=params,
        status="interrupted" if control.interrupted else status,
        seconds=control.seconds,
        feedback=found,
    )
    if found.graph is None:
        return plain
    # What is known of edges and arrows is known of the graph without cycles.
    return replace(
        plain,
        score=math.nan if moments.is_oracle else -outcome.cost,
        n_edges=found.graph.n_edges,
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        evidence=None,
        arrow_evidence=None,
        proved=False,
        weak_edges=(),
    )


def _check(moments: Moments) -> None:
    """Refuse what the search for cycles cannot take."""
    moments.require_columns("feedback")
    n, cures = moments.n_variables, (Cure("feedback", False, "assumes that there is none"),)
    if n > MOST_VARIABLES:
        raise ArgumentError(
            f"feedback is looked for among up to {MOST_VARIABLES} variables, and there are {n}; "
            "choose some of them, such as those near a variable of interest: columns=",
            cures=cures,
            option="feedback",
        )
    if moments.n_samples <= n + 2:
        many = f"{moments.n_samples:g} for {n} variables"
        raise SampleSizeError(
            f"feedback takes more samples than variables, and there are {many}", cures=cures
        )


def _read(outcome: CyclicOutcome, moments: Moments, price: float) -> Feedback:
    """The class of the best graph, if its cycles pay and no graph without them is in it."""
    rows = np.eye(moments.n_variables) - outcome.coefficients
    variances = np.einsum("ij,jk,ik->i", rows, moments.correlation, rows)
    saved = int(outcome.acyclic.sum()) - int(outcome.graph.sum())
    gain = outcome.acyclic_cost - outcome.cost
    # Of exact moments, what a cycle gains is edges: a gain within the rounding is none.
    may = saved > 0 if moments.is_oracle else gain > NEEDED * price
    blocks = equivalence_class(outcome.coefficients, variances) if may else ()
    knots = [block for block in blocks if block.is_knot]
    needed = price * _needed(outcome.acyclic, knots)
    own = sum((block.chosen.coefficients for block in blocks), np.zeros_like(rows))
    identified, weakest = _told(knots, own, moments)
    if not moments.is_oracle and (gain <= needed or weakest < LEAST_EDGE * price):
        blocks, knots, own = (), [], np.zeros_like(rows)
    common: Adjacency = np.zeros(rows.shape, dtype=np.int8)
    told: Adjacency = np.zeros(rows.shape, dtype=np.int8)
    for block in blocks:
        common |= np.all([m.graph for m in block.members], axis=0).astype(np.int8)
        told |= np.all([m.graph for m in block.stable or block.members], axis=0).astype(np.int8)
    member = (own.T != 0).astype(np.int8)
    scales = np.sqrt(np.diag(moments.covariance))
    return Feedback(
        names=moments.names,
        graph=_shown(moments.names, member, told) if knots else None,
        member=member,
        coefficients=own.T * scales[None, :] / scales[:, None],
        common=common + 2 * (told - common),
        knots=tuple(
            knot_of(block, moments.names, identified=sure)
            for block, sure in zip(knots, identified, strict=False)
        ),
        gain=math.nan if moments.is_oracle else float(gain),
        needed=needed,
        weakest=weakest / price,
        edges_saved=saved,
    )


def _needed(acyclic: Adjacency, knots: list[Block]) -> float:
    """Penalties of an edge that are asked for; no gain is enough where no graph is stable."""
    links = (acyclic | acyclic.T).astype(np.int64)
    most = 1.0
    for block in knots:
        if not block.stable:
            return math.inf
        apart = np.delete(np.delete(links, block.variables, axis=0), block.variables, axis=1)
        around = [int(np.trace(part @ part @ part)) // 6 for part in (links, apart)]
        most = max(most, (around[0] - around[1]) / FEW_TRIANGLES)
    return NEEDED + 0.25 * math.log2(most)


def _shown(names: tuple[str, ...], member: Adjacency, told: Adjacency) -> CausalGraph:
    """The graph with lines for single edges that not all stable graphs of the class have."""
    matrix = member.copy()
    open_ = (member == 1) & (member.T == 0) & (told == 0)
    matrix[open_] = matrix.T[open_] = 2
    return CausalGraph(names, matrix, "cyclic")


def _told(
    knots: list[Block], coefficients: FloatArray, moments: Moments
) -> tuple[list[bool], float]:
    """Whether the data determine the coefficients of each knot; the least z² of all of them."""
    identified, weakest = [], math.inf
    for block in knots:
        own = np.isin(np.arange(len(coefficients)), block.variables)
        matrix = information(coefficients, moments.correlation, own)
        scale = np.sqrt(np.diag(matrix))
        unit = matrix / np.outer(scale, scale)
        identified.append(bool(np.linalg.cond(unit) < ILL_CONDITIONED))
        values = coefficients[own][coefficients[own] != 0] * scale
        squares = values**2 / np.diag(np.linalg.pinv(unit))
        weakest = min(weakest, moments.n_samples * float(squares.min()))
    return identified, weakest
