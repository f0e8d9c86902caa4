"""Relations that need not be lines, and arrows from the shape of the noise.

The linear search comes first. Where curves pay, the search is made again with as many functions of
each variable as cost least; then arrows are turned by the density of residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from qwo.arguments import ReadArguments
from qwo.columns.curves import MOST_COLUMNS
from qwo.columns.recipes import Coding, rank_normal
from qwo.compute import one_blas_thread
from qwo.curved.arrows import NoiseArrows
from qwo.curved.noise import (
    HOPELESS,
    LEAVES_AT,
    NoiseModel,
    TurnedGraph,
    arrow_strengths,
    best_member,
    directed_by,
    near_by,
    turn_by_noise,
    unrounded,
    vuong,
)
from qwo.curved.result import CurvedRelations
from qwo.curved.sizes import (
    SizeChoice,
    best_size,
    curved_columns,
    curved_moments,
    follows_functions,
    wanted_columns,
)
from qwo.discovery.price import LEAST
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.dag import ancestor_matrix, parents_of
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import as_moments
from qwo.moments.curves import RowSample, RowSource, leading_columns, moments_of, refuse_rowless
from qwo.moments.moments import Moments
from qwo.names import drawn_seed
from qwo.options import DEFAULT_LEVEL, ReadOptions, SearchOptions, is_whole
from qwo.order.bic import BicEngine
from qwo.order.blocks import slopes_of
from qwo.order.score import BIC
from qwo.search.control import Control, Stopped
from qwo.types import Adjacency, FloatArray, Indices, Mask

MOST_ASKED = 12
"""Columns of each variable that can be asked for."""


@dataclass(frozen=True, eq=False)
class DensityRows:
    """Rows in the columns of a coding, and costs by the density of residuals that were needed."""

    sample: RowSample
    coding: Coding
    models: dict[tuple[int, float], NoiseModel] = field(default_factory=dict)

    @cached_property
    def even(self) -> tuple[RowSample, Mask]:
        """The rows without steps, and which variables have a density."""
        return unrounded(self.sample, self.coding)


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """A graph found, the moments whose columns it was found with, and rows."""

    found: Discovery
    moments: Moments
    rows: DensityRows

    @property
    def model(self) -> NoiseModel:
        """Costs by the density of residuals, with the same columns and penalty."""
        coding, penalty = self.moments.coding, self.found.params["penalty_discount"]
        key, known = (coding.n_columns, penalty), self.rows.models
        if key not in known:
            known[key] = NoiseModel.of(self.rows.even, self.rows.coding, coding, penalty)
        return known[key]


@one_blas_thread()
def discover_curved(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``relations="curved"`` or ``arrows="noise"``."""
    from qwo.discovery.discover import discover_as

    curved = options.relations == "curved"
    asked, reading = asked_columns(reading) if curved else (1, reading)
    source = _source_of(data, reading, 'relations="curved"' if curved else 'arrows="noise"')
    moments = source.moments
    seed = drawn_seed() if options.random_state is None else options.random_state
    plain = replace(options, relations="linear", arrows=None, level=DEFAULT_LEVEL)
    plain = replace(plain, random_state=seed)
    sample = source.sample(seed=seed)
    rows = DensityRows(sample, moments.coding)
    full = curved_moments(source, sample, asked or MOST_COLUMNS) if curved else None

    def search(data: Moments, how: SearchOptions = plain) -> Searched:
        return Searched(discover_as(data, how, control=control), data, rows)

    arrows = options.arrows or ("noise" if curved else "class")
    # Where pairs show curves, the graph of lines is a beginning and no more.
    wanted = 1 if full is None else asked or wanted_of_pairs(full, options)
    linear = search(moments, replace(plain, restarts=0) if wanted > 1 else plain)
    tells = arrows == "noise" and linear.found.status == "converged" and sample.is_enough
    may = wanted > 1 and tells and not asked
    settled = _settled_by_lines(linear, full, options, control, search) if may else None
    wanted = wanted if settled is None else 1
    last, chosen = linear, SizeChoice(1, {}, linear.found.order)
    if full is not None and wanted > 1:
        chosen = chosen_size(full, linear.found, options, asked, control, wanted=wanted)
        if chosen.size > 1:
            start = chosen.order if options.start is None else options.start
            last = search(leading_columns(full, chosen.size), replace(plain, start=start))
    if settled is None and tells and last.found.status == "converged":
        settled = by_noise(linear, last, options, control)
    few = None if sample.is_enough else NoiseArrows.none(moments.names, options.level, sample)
    last, noise = settled or (last, None)
    if wanted > 1 and not last.moments.coding.has_curves and control.remaining > 0:
        # Lines it is: their graph is searched as thoroughly as without curves.
        last = search(moments)
        if noise is not None and last.found.status == "converged":
            last, noise = by_noise(last, last, options, control)
    if curved and asked is None and noise is not None and sample.is_whole and control.remaining > 0:
        last, noise = _by_scores(linear, last, noise, search)
    found, told = last.found, (chosen.costs, sample, moments.coding)
    asked_for = {"relations": options.relations, "arrows": arrows, "level": options.level}
    curves = CurvedRelations.of(last.moments, found.dag, *told) if curved else None
    return replace(
        found,
        params={**found.params, **asked_for, "basis": 1 if curves is None else curves.size},
        curves=curves,
        noise=few if arrows == "noise" and few is not None else noise,
        status="interrupted" if control.interrupted else found.status,
        seconds=control.seconds,
    )


def _source_of(data: Any, reading: ReadArguments, what: str) -> RowSource:
    """The rows of the data, and their moments; refused where there are none."""
    refuse_rowless(data, ReadOptions(**reading), what)
    return RowSource(data, ReadOptions(**reading), as_moments(data, **reading), what)


def asked_columns(reading: ReadArguments) -> tuple[int | None, ReadArguments]:
    """The number of columns of each variable that is asked for, and what else is said of reading.

    A whole number in the place of names is that number; names are those of the columns to take.
    """
    given = reading.get("columns")
    if not is_whole(given):
        return None, reading
    size = int(cast("int", given))
    if not 1 <= size <= MOST_ASKED:
        raise ArgumentError(
            f"columns is {size}; wanted 1 to {MOST_ASKED} columns of each variable, or a list of "
            "the columns to take",
            option="columns",
        )
    return size, cast("ReadArguments", {k: v for k, v in reading.items() if k != "columns"})


def chosen_size(
    full: Moments,
    found: Discovery,
    options: SearchOptions,
    asked: int | None,
    control: Control,
    *,
    wanted: int | None = None,
    known: ResolvedKnowledge | None = None,
) -> SizeChoice:
    """How many columns to search with: those asked for, 1 where no pair wants more, or by cost."""
    if asked is None and wanted is None:
        wanted = wanted_of_pairs(full, options)
    if asked is not None or wanted == 1 or found.status != "converged":
        return SizeChoice(asked or 1, {}, found.order)
    known = known or resolved_knowledge(options, full.names)
    told: Any = {"first": wanted, "seed": found.params["random_state"], "control": control}
    return best_size(full, found.order, _least_penalty(options), known, **told)


def wanted_of_pairs(full: Moments, options: SearchOptions) -> int:
    """The most columns that some variable wants of another, in pairs; 1 without curves."""
    return int(wanted_columns(full, _least_penalty(options)).max())


def _lines_do(linear: Searched, full: Moments, options: SearchOptions) -> bool:
    """Whether lines and the noise explain what pairs show of curves.

    Noise that is not normal bends the relations of pairs. In the right direction nothing of that is
    left: no residual of the likeliest member of the class follows a function of another variable
    that it is no cause of.
    """
    model, known = linear.model, resolved_knowledge(options, full.names)
    if not model.numbers.all():
        return False
    seed = linear.found.params["random_state"]
    dag = best_member(model, linear.found.dag, knowledge=known, seed=seed).dag()
    left = np.stack([model.cost.left(v, own) for v, own in enumerate(parents_of(dag))])
    functions = curved_columns(linear.rows.sample, linear.rows.coding, full.coding).T
    own = ancestor_matrix(dag) | np.eye(len(dag), dtype=bool)
    return not follows_functions(left, functions, full, model, own)


def _settled_by_lines(
    linear: Searched,
    full: Moments | None,
    options: SearchOptions,
    control: Control,
    search: Callable[[Moments], Searched],
) -> tuple[Searched, NoiseArrows] | None:
    """Lines and what the noise tells of them, if they explain what pairs show of curves.

    A line the other way may have taken the place of a curve: its residuals depend on causes.
    """
    if full is None or not _lines_do(linear, full, options):
        return None
    lines = search(linear.moments)
    found = by_noise(lines, lines, options, control)
    return None if lines.model.depends(parents_of(found[1].dag)) else found


def _least_penalty(options: SearchOptions) -> float:
    given = options.penalty_discount
    return LEAST if isinstance(given, str) else given


def by_noise(
    linear: Searched,
    last: Searched,
    options: SearchOptions,
    control: Control,
    *,
    known: ResolvedKnowledge | None = None,
    also: Mask | None = None,
) -> tuple[Searched, NoiseArrows]:
    """The graph whose arrows the density of residuals has turned, and the evidence for them.

    With `also`, further pairs may be joined if their density wants it.
    """
    knowledge = known or resolved_knowledge(options, linear.moments.names)
    searches = [last] if last is linear else [last, linear]
    models = [own.model for own in searches]
    joined = [_may_join(models[0], own.found.dag, also, of_lines=own is linear) for own in searches]
    nothing = NoiseArrows.none(linear.moments.names, options.level, linear.rows.sample)
    try:
        turned = turn_by_noise(
            models,
            [own.found.dag for own in searches],
            [own.found.order for own in searches],
            joined,
            knowledge,
            seed=last.found.params["random_state"],
            control=control,
        )
    except Stopped:
        return last, nothing
    if turned.model is not models[0]:
        return linear, nothing  # without curves, all is done once more
    # Edges of a graph that has left the class are those of the Gaussian cost in its order.
    redrawn = turned.left and also is None
    dag = _edges_in(last, turned.order, knowledge) if redrawn else turned.dag
    told: Any = arrow_strengths(turned, dag)
    noise = replace(nothing, dag=dag, left=turned.left, **told)
    return _with_arrows(last, turned, noise, knowledge)


def _by_scores(
    linear: Searched, last: Searched, noise: NoiseArrows, search: Callable[[Moments], Searched]
) -> tuple[Searched, NoiseArrows]:
    """The graph of normal scores, if lines between them explain the rows better by far."""
    coding, dag, model, sample = last.rows.coding, last.found.dag, last.model, last.rows.sample
    scores = in_scores(sample, coding)
    if scores_ahead(model, dag, scores, coding, linear.found.dag) < -HOPELESS:
        return last, noise
    found = search(moments_of(linear.moments.names, coding, scores.columns, scores.weights)).found
    if scores_ahead(model, dag, scores, coding, found.dag) < LEAVES_AT:
        return last, noise
    nothing = NoiseArrows.none(found.names, noise.level, sample, scores=True)
    return replace(last, found=found), nothing


def _with_arrows(
    own: Searched, turned: TurnedGraph, arrows: NoiseArrows, knowledge: ResolvedKnowledge | None
) -> tuple[Searched, NoiseArrows]:
    """The class of the DAG with the arrows that the noise supports."""
    dag = arrows.dag
    base = to_cpdag(dag) if knowledge is None else to_mpdag(dag, knowledge)
    arrows = replace(arrows, opened=int((base == 2).sum()) // 2)
    graph = directed_by(base, arrows.supported)
    if not turned.left and np.array_equal(graph, own.found.cpdag):
        return own, arrows
    return replace(own, found=_redirected(own.found, dag, turned.order, graph)), arrows


def _redirected(found: Discovery, dag: Adjacency, order: Indices, graph: Adjacency) -> Discovery:
    """A result with another DAG; what was known of the class holds if it is of the same."""
    same = np.array_equal(to_cpdag(dag), to_cpdag(found.dag))
    return replace(
        found,
        dag=dag,
        order=order,
        cpdag=graph,
        n_edges=int(dag.sum()),
        evidence=found.evidence if same else None,
        arrow_evidence=found.arrow_evidence if same else None,
        proved=found.proved and same,
    )


def _may_join(model: NoiseModel, dag: Adjacency, also: Mask | None, *, of_lines: bool) -> Mask:
    """Pairs that an edge may join: those of a DAG, others if it is said, else some near by.

    The noise chooses no direction of a pair with an end that has no density.
    """
    joined = near_by(dag, of_lines=of_lines and also is None)
    told = np.outer(model.numbers, model.numbers) | (dag != 0)
    return np.asarray((joined if also is None else joined | also) & told)


def _edges_in(own: Searched, order: Indices, knowledge: ResolvedKnowledge | None) -> Adjacency:
    """The edges that the Gaussian cost draws in an order."""
    score = BIC(own.found.params["penalty_discount"], own.found.params["gamma"])
    return BicEngine(own.moments, score=score, knowledge=knowledge, order=order).dag()


def in_scores(sample: RowSample, coding: Coding) -> RowSample:
    """The rows with normal scores in the place of numbers."""
    columns = np.array(sample.columns, order="F")
    for variable, start in zip(coding.variables, coding.starts.tolist(), strict=True):
        if not variable.levels:
            columns[:, start] = rank_normal(columns[:, start])
    return replace(sample, columns=columns)


def scores_ahead(
    model: NoiseModel, dag: Adjacency, scores: RowSample, coding: Coding, lines: Adjacency
) -> float:
    """Vuong's z of lines between normal scores against a DAG under a model of residuals.

    A variable may be a sum of effects and noise seen through a bent scale, y = g(Σ b x + e): a
    skewed measure, or noise that multiplies. Then noise is not added on the scale of y, and its
    shape there tells nothing of arrows. Normal scores undo any such scale. The likelihood of lines
    between them, a Gaussian copula on a DAG, times the density of each variable, is one of the rows
    themselves: it can be compared with that of residuals. The families of variables with a density
    count. Scores have a standard normal density each, in whose place comes that of the variable.
    """
    weights = model.weights / model.weights.sum()
    given = scores.columns.T - (scores.columns.T @ weights)[:, None]
    given = given / np.sqrt(np.maximum(given**2 @ weights, 1e-300))[:, None]
    difference, coefficients = np.zeros(given.shape[1]), 0
    now, then = parents_of(dag), parents_of(lines)
    for v in np.flatnonzero(model.numbers).tolist():
        own, places = given[coding.starts[v]], coding.columns_of(np.array(then[v], np.intp))
        left = own - fitted_by(given[places], own, weights)
        variance = max(float(left**2 @ weights), 1e-12)
        difference += model.rows([(v, now[v])]) - model.rows([(v, [])])
        difference -= np.log(variance) + left**2 / variance - own**2
        coefficients += int(model.sizes[now[v]].sum()) - len(places)
    gain = float(model.weights @ difference) + model.price * coefficients
    return vuong(difference, model.weights, gain)


def fitted_by(design: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """What a regression on some columns, each a row of numbers, makes of values."""
    weighed = design * weights
    return np.asarray(slopes_of(weighed @ design.T, weighed @ values) @ design)
