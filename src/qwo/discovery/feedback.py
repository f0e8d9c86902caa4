"""The graph of data with feedback: order search, then cycles where they explain more with less."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.curved.noise import unrounded
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError, Cure, SampleSizeError
from qwo.feedback.noise import NoiseOutcome, cycles_by_noise
from qwo.feedback.result import ILL_CONDITIONED, Feedback, knot_of
from qwo.feedback.search import CyclicOutcome, search_cyclic
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.cyclic_class import Block, equivalence_class
from qwo.moments import Moments, as_moments
from qwo.moments.curves import RowSample, RowSource, refuse_rowless
from qwo.names import drawn_seed
from qwo.options import DEFAULT_LEVEL, DEFAULTS, ReadOptions, SearchOptions
from qwo.order.linalg import as_mask, cyclic_graphs
from qwo.search.control import Control, Stopped
from qwo.sem.cyclic import information
from qwo.types import Adjacency, FloatArray, Mask

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


DEARER = 1.5
"""Times the penalty at which a second search must find cycles among the same variables: those of
coefficients that cancel by chance are hardly found at both: `benchmarks.feedback`, acyclic."""


MOST_BY_NOISE = 50
"""Variables up to which arrows of cycles come from the noise: beyond, all links both ways are too
many equations at once."""

MOST_ROWS_OF_CYCLES = 5000
"""Rows whose density is taken: of the links of ten variables more of them turn none."""


def discover_feedback(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``feedback=True``: the plain search, the search for cycles, their class."""
    from qwo.discovery.discover import discover_as

    noise = options.arrows == "noise"
    what = 'arrows="noise"'
    if noise:
        refuse_rowless(data, ReadOptions(**reading), what)
    moments = as_moments(data, **reading)
    _check(moments, noise=noise)
    half = None if options.time_limit is None else options.time_limit / 2
    seed = options.random_state
    plain = replace(options, feedback=False, arrows=None, level=DEFAULT_LEVEL, time_limit=half)
    if not noise:
        return with_cycles(discover_as(moments, plain), moments, options, control)
    seed = drawn_seed() if seed is None else seed
    plain = replace(plain, random_state=seed)
    found = with_cycles(discover_as(moments, plain), moments, options, control)
    sample = RowSource(data, ReadOptions(**reading), moments, what).sample(
        MOST_ROWS_OF_CYCLES, seed
    )
    directed = replace(plain, arrows="noise", level=options.level, time_limit=options.time_limit)
    return with_noise(
        found,
        lambda: discover_as(data, directed, reading, control=control),
        (moments, sample),
        options,
        control,
    )


def with_cycles(
    first: Discovery, moments: Moments, options: SearchOptions, control: Control
) -> Discovery:
    """The result of the plain search with what moments tell of cycles."""
    _check(moments)
    price = _price(first, moments)
    how: Any = {**_limits(options, moments), "seed": first.params["random_state"]}

    def search(price: float, dag: Adjacency) -> CyclicOutcome:
        data = moments.correlation, moments.n_samples
        return search_cyclic(*data, price, dag, first.order, **how, control=control)

    outcome = search(price, first.dag)
    found = _read(
        outcome,
        moments,
        price,
        lambda: search(DEARER * price, _dearer_dag(first, moments, options, control)),
    )
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
    score = math.nan if moments.is_oracle else -outcome.cost
    trace = tuple((seconds, -cost) for seconds, cost in outcome.trace)
    return replace(_drawn(plain, found, score), trace=trace)


def _price(found: Discovery, moments: Moments) -> float:
    """What an edge costs."""
    of_variables = 2 * found.params["gamma"] * math.log(moments.n_variables)
    return float(found.params["penalty_discount"] * math.log(moments.n_samples) + of_variables)


def _limits(options: SearchOptions, moments: Moments) -> dict[str, Mask]:
    """Which edges may be and which must be, [cause, effect]."""
    known = resolved_knowledge(options, moments.names)
    if known is not None:
        return {"allowed": known.allowed_parents, "required": known.required}
    same = np.eye(moments.n_variables, dtype=bool)
    return {"allowed": ~same, "required": np.zeros_like(same)}


def _dearer_dag(
    first: Discovery, moments: Moments, options: SearchOptions, control: Control
) -> Adjacency:
    """The best graph without cycles where edges cost more."""
    from qwo.discovery.discover import discover_as

    asked = {name: DEFAULTS[name] for name in ("feedback", "arrows", "level", "lags", "time_limit")}
    asked["random_state"] = first.params["random_state"]
    asked["penalty_discount"] = DEARER * first.params["penalty_discount"]
    return discover_as(moments, replace(options, **asked), control=control).dag


def _drawn(plain: Discovery, found: Feedback, score: float) -> Discovery:
    """The result with cycles; what is known of edges and arrows is known of the graph without."""
    told: dict[str, Any] = {"evidence": None, "arrow_evidence": None, "weak_edges": ()}
    n_edges = int(found.member.sum())
    return replace(plain, feedback=found, score=score, n_edges=n_edges, proved=False, **told)


def with_noise(
    found: Discovery,
    directed: Callable[[], Discovery],
    rows: tuple[Moments, RowSample],
    options: SearchOptions,
    control: Control,
) -> Discovery:
    """The result of covariances with what the shape of the noise tells of cycles.

    `directed` finds the graph without cycles, arrows from the noise included.
    """
    moments, sample = rows
    if found.status != "converged" or not sample.is_enough:
        return found
    told = found.feedback
    assert told is not None
    dag = found.dag if told.graph is None else told.member
    price = _price(found, moments)
    columns, weights, smooth = _standardized(sample, moments)

    def look() -> None:
        control.is_due()

    try:
        outcome = cycles_by_noise(
            columns,
            weights,
            dag,
            price=price,
            least=LEAST_EDGE,
            **_limits(options, moments),
            smooth=smooth,
            look=look,
        )
    except Stopped as stopped:
        return replace(found, status=stopped.status, seconds=control.seconds)
    params = {**found.params, "arrows": "noise"}
    if isinstance(outcome, str):
        noted = replace(told, note=outcome)
        return replace(found, params=params, feedback=noted, seconds=control.seconds)
    base = found.cpdag if told.graph is None else told.graph.matrix
    by_noise = _by_noise(outcome, base, moments, price)
    if not outcome.knots:
        own = {"feedback": True, "time_limit": found.params["time_limit"]}
        without = directed()
        params = {**without.params, **own}
        return replace(without, params=params, feedback=by_noise, seconds=control.seconds)
    costs = cyclic_graphs(moments.correlation, moments.n_samples, price)
    found = _drawn(found, by_noise, -costs.cost(as_mask(by_noise.member)))
    return replace(found, params=params, seconds=control.seconds)


def _standardized(sample: RowSample, moments: Moments) -> tuple[FloatArray, FloatArray, Mask]:
    """A variable in each row, what each row of the data counts for, and who has a density."""
    even, smooth = unrounded(sample, moments.coding)
    weights = np.ones(len(even.columns)) if even.weights is None else even.weights
    # Rows that follow each other count for what they are worth.
    weights = weights * min(1.0, moments.n_samples / (weights.mean() * sample.n_rows))
    columns = even.columns - np.average(even.columns, axis=0, weights=weights)
    columns = columns / np.sqrt(np.average(columns**2, axis=0, weights=weights))
    return np.ascontiguousarray(columns.T), weights, smooth


def _by_noise(outcome: NoiseOutcome, base: Adjacency, moments: Moments, price: float) -> Feedback:
    """What the noise tells of cycles; lines of `base` between normal disturbances stay lines."""
    member, names = outcome.graph, moments.names
    scales = np.sqrt(np.diag(moments.covariance))
    into = np.zeros(member.shape, dtype=bool)
    for block in outcome.knots:
        into[:, block.variables] = True
    weakest = float(outcome.strengths.T[into & (member == 1)].min(initial=math.inf)) / price
    common = np.asarray(member * np.where(into, 2, 1), dtype=np.int8)
    common[np.logical_and.outer(outcome.normal, outcome.normal) & (base == 2)] = 0
    return Feedback(
        names=names,
        graph=_shown(names, member, common) if outcome.knots else None,
        member=member,
        coefficients=outcome.coefficients.T * scales[None, :] / scales[:, None],
        common=common,
        knots=tuple(knot_of(block, names, identified=True) for block in outcome.knots),
        gain=outcome.gain,
        needed=NEEDED * price,
        weakest=weakest,
        edges_saved=0,
        z=np.sign(outcome.coefficients.T) * np.sqrt(outcome.strengths.T),
        normal=tuple(np.array(names)[outcome.normal].tolist()),
    )


def _check(moments: Moments, *, noise: bool = False) -> None:
    """Refuse what the search for cycles cannot take."""
    moments.require_columns("feedback")
    n, cures = moments.n_variables, (Cure("feedback", False, "assumes that there is none"),)
    most = MOST_BY_NOISE if noise else MOST_VARIABLES
    if n > most:
        also = ' with arrows="noise"' if noise else ""
        raise ArgumentError(
            f"feedback{also} is looked for among up to {most} variables, and there are {n}; "
            "choose some of them, such as those near a variable of interest: columns=",
            cures=cures,
            option="feedback",
        )
    if moments.n_samples <= n + 2:
        many = f"{moments.n_samples:g} for {n} variables"
        raise SampleSizeError(
            f"feedback takes more samples than variables, and there are {many}", cures=cures
        )


def _read(
    outcome: CyclicOutcome,
    moments: Moments,
    price: float,
    dearer: Callable[[], CyclicOutcome] | None = None,
    times: float = 1.0,
) -> Feedback:
    """The class of the best graph, if its cycles pay and no graph without them is in it.

    That must not hang on the price: cycles among the same variables are in what is found by
    `dearer`, at a price so many times as high, and rest on edges that are worth as much more.
    """
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
    pays = moments.is_oracle or (gain > needed and weakest >= times * LEAST_EDGE * price)
    if pays and knots and dearer and not moments.is_oracle:
        dear = _read(dearer(), moments, price, times=DEARER)
        names = {name for knot in dear.knots for name in knot.variables}
        pays = any(moments.names[v] in names for block in knots for v in block.variables)
    if not pays:
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
