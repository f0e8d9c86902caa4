"""`discover`: the causal graph of a data set, in one call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from qwo.arguments import ReadArguments, SearchArguments, takes_options
from qwo.compute import array_module, computing_with, one_blas_thread
from qwo.discovery.arrows import ArrowEvidence, arrow_evidence
from qwo.discovery.follow_up import MOST_KEPT, Origin
from qwo.discovery.price import (
    Evidence,
    Judged,
    best_penalty,
    edge_evidence,
    explained_in,
    without_weak_edges,
)
from qwo.discovery.resolve import (
    Resolved,
    dense_algebra,
    make_engine,
    resolve,
    run_search,
    start_at_better,
)
from qwo.discovery.result import Discovery
from qwo.errors import Cure, DataWarning
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.options import SearchOptions, options_given
from qwo.order.bdeu import counted_rows
from qwo.order.bic import BicEngine
from qwo.order.blocks import BlockScore, n_coefficients
from qwo.order.linalg import Explained, versions
from qwo.order.protocol import OrderEngine
from qwo.order.score import BIC
from qwo.search import Callback, Control, SearchOutcome, start_order
from qwo.search.control import Status, bic_insertion, keyboard_heard, progress_bar
from qwo.types import Adjacency, FloatArray, Indices

if TYPE_CHECKING:
    from qwo.graph.knowledge import Knowledge

ASKED_UP_TO = 100
"""Variables up to which results keep the engine, for when the worth of edges is asked for."""


@takes_options(SearchArguments)
def discover(
    data: Any,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    **options: Unpack[SearchArguments],
) -> Discovery:
    """The causal graph of data, up to Markov equivalence, by a search over orders.

    Without options: an insertion search with tucks and restarts on the exact BIC. The paper's own
    methods are ``method="qwo-grasp"`` and ``method="qwo-hc"``.

    Parameters
    ----------
    data : array-like, data frame, str or path, or Moments
        Samples in rows and variables in columns; a file ends in .csv, .tsv, .txt or .parquet.
    {options}
    callback : callable, optional
        Gets a `qwo.search.Progress` several times a second; True stops the search.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    Discovery

    Examples
    --------
    >>> import qwo
    >>> data, dag, _ = qwo.simulate("er", n_variables=8, n_samples=2000, random_state=1)
    >>> found = qwo.discover(data, random_state=1)
    >>> bool((found.cpdag == qwo.to_cpdag(dag)).all())
    True
    """
    given, reading = options_given(discover, options)
    found = discover_as(data, given, reading, callback=callback, progress=progress)
    if given.time_limit and found.trace and found.trace[0][0] > given.time_limit:
        text = f"the time limit was over before the search began, {found.trace[0][0]:.1f} s after "
        text += "the call: what is read is always read, checked and summed to the end. This graph "
        text += "is a first guess"
        once = Cure("qwo.Moments.from_data()", None, "reads them once, for several searches")
        cures = [] if isinstance(data, Moments) or found.regimes else [once]
        warnings.warn(DataWarning(text, cures), stacklevel=2)
    return found


def discover_as(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments | None = None,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    control: Control | None = None,
    limits: ResolvedKnowledge | None = None,
    ask: bool = True,
) -> Discovery:
    """`discover` with its options as records: data, plan, start, penalty, search, result.

    A control that is under way, and knowledge that has been resolved, take the place of the
    options' own. Where nobody will ask, weak edges stay, and what edges and arrows are worth is not
    worked out beforehand.
    """
    with progress_bar(callback) if progress else nullcontext(callback) as watch:
        control = control or Control(time_limit=options.time_limit, callback=watch)
        if options.dropped or options.likely or isinstance(data, Mapping):
            return _read_otherwise(data, options, reading or {}, control)
        on_host = options.device == "cpu"
        with nullcontext() if on_host else computing_with(array_module(options.device)):
            if options.score == "bic":
                table, moments = None, as_moments(data, **(reading or {}))
            else:
                table, moments = counted_rows(data, reading or {})
        plan = resolve(options, moments, table, limits)
        # Threads of BLAS have only the factorisations to work on, a third to a half of n³ each.
        rng, work = np.random.default_rng(plan.seed), moments.n_variables**3 / 2
        with keyboard_heard(control), one_blas_thread(work, options.time_limit):
            dense = dense_algebra(plan, moments, control)
            if dense.hurried:
                # Not even the start order is to be had in time, nor another one to compare with.
                plan = replace(plan, start=range(moments.n_variables), restarts=0)
            correlation, sizes = moments.whitened()
            how: dict[str, Any] = {"names": moments.names, "knowledge": plan.knowledge}
            how |= {"random_state": rng, "precision": dense.precision, "sizes": sizes}
            order = start_order(plan.start, correlation, moments.n_samples, **how)
            engine = make_engine(plan, moments, order, dense)
            weaker, outcome, judged = np.empty(0), None, Judged(engine)
            if plan.highest is not None:
                outcome, penalty, weaker = best_penalty(plan, engine, moments, control)
                if outcome.status == "converged":
                    plan, score = replace(plan, penalty=penalty), BIC(penalty, plan.gamma)
                    engine.reprice(score, order, dense.candidates, all_at_first=dense.late)
                    outcome = None
            if outcome is None and plan.search in ("grasp", "hill-climbing") and plan.start_is_open:
                tree = start_order("spanning-tree", correlation, moments.n_samples, **how)
                plan = start_at_better(plan, engine, tree)
            del dense, how
            if outcome is None:
                outcome = run_search(plan, engine, control, rng)
                if plan.highest is not None and outcome.status == "converged" and not plan.listed:
                    judged = without_weak_edges(plan, moments, engine, control) if ask else judged
    known, kept = cast("Knowledge | None", options.knowledge), moments.n_variables <= MOST_KEPT
    made = Origin(data, reading or {}, known, (), moments if kept else None, moments.found)
    return _result(plan, moments, judged, outcome, made, control=control, weaker=weaker, ask=ask)


def _read_otherwise(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """The result where an assumption of the default is dropped, or edges are likely beforehand."""
    from qwo.discovery.readings import answer_of, refuse_clusters

    if options.likely and not options.dropped:
        from qwo.discovery.likely import discover_likely

        return discover_likely(data, options, reading, control)
    if reading.get("cluster") is not None:
        refuse_clusters(options.dropped)
    with keyboard_heard(control):
        found = answer_of(options, data)(data, options, reading, control)
    origin = Origin(data, reading, cast("Knowledge | None", options.knowledge), options.dropped)
    return replace(found, origin=origin)


def _result(
    plan: Resolved,
    moments: Moments,
    judged: Judged,
    outcome: SearchOutcome,
    origin: Origin,
    *,
    control: Control,
    weaker: FloatArray,
    ask: bool,
) -> Discovery:
    """The graph that belongs to the order found, its class, its score and its evidence."""
    engine, strengths, _, weak = judged
    params = _described(plan, moments)
    counted, known = params["engine"] == "counts", plan.knowledge
    dag = engine.dag() if known is None else _allowed_dag(known, engine, moments, plan.penalty)
    strengths = strengths or explained_in(moments, dag)
    if known is not None:
        cpdag = to_mpdag(dag, known)
    else:
        # An engine may know the class of its DAG from inside.
        cpdag = getattr(engine, "cpdag", partial(to_cpdag, dag))()
    # Turning arrows takes a part of the time of the search, never more of it than is left, and none
    # where somebody has ended the search.
    timely = outcome.status == "converged" and control.remaining > control.seconds
    judged, directed = judged._replace(explained=strengths), cpdag if timely else None
    worth = cache(partial(_worth, plan, moments, judged, weaker, directed))
    told: dict[str, Any] = {"evidence": lambda: worth()[0], "arrow_evidence": lambda: worth()[1]}
    if ask and (plan.engine != "bic" or len(dag) > ASKED_UP_TO):
        told = {name: own() for name, own in told.items()}
    return Discovery(
        cpdag=cpdag,
        dag=dag,
        order=engine.order,
        names=moments.names,
        score=-engine.cost if counted else _score(moments, dag, plan.penalty, strengths),
        n_edges=int(dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        # Ctrl-C may come after the last look at the control, and must not be lost on the caller.
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        params=params,
        versions=versions(),
        proved=outcome.proved and not weak,
        least_cost=outcome.least,
        weak_edges=weak,
        origin=origin,
        **told,
    )


def _worth(
    plan: Resolved, moments: Moments, judged: Judged, weaker: FloatArray, cpdag: Adjacency | None
) -> tuple[Evidence | None, ArrowEvidence | None]:
    """What edges are worth, and the arrows of the class if it is given."""
    engine, strengths, evidence, _ = judged
    price = getattr(engine, "edge_price", None)
    if strengths is None or price is None or moments.is_oracle:
        return evidence, None
    own = strengths, engine.order, price[0], plan.knowledge
    evidence = evidence or edge_evidence(moments, *own, extension=price[1])
    rivals = np.empty(0) if plan.listed else engine.rivals()
    evidence = replace(evidence, weaker=weaker, rivals=rivals)
    # Where members of the class differ in cost, turning arrows is another question.
    if cpdag is None or plan.listed or moments.coding.has_curves:
        return evidence, None
    arrows = arrow_evidence(moments, engine, cpdag)
    unsure = sum(int((~kind.is_settled).sum()) for kind in evidence.by_kind)
    return evidence, replace(arrows, doubted_share=unsure / max(len(strengths.causes), 1))


def _described(plan: Resolved, moments: Moments) -> dict[str, Any]:
    """What a result tells of how it was found."""
    params, engine = plan.asked.described(), plan.engine
    if plan.asked.engine == "auto" or isinstance(engine, str):
        params["engine"] = engine if isinstance(engine, str) else "counts"
    params |= {
        "search": plan.search,
        "start": plan.start if isinstance(plan.start, str) else "given",
        "gamma": plan.gamma,
        "restarts": plan.restarts,
        "penalty_discount": None if params["engine"] == "counts" else plan.penalty,
        "random_state": plan.seed,
        "penalty_chosen": plan.highest is not None,
        "n_samples": moments.n_samples,
        "covariance_estimator": moments.estimator,
    }
    return params if moments.coding.is_plain else params | moments.described()


def _allowed_dag(
    known: ResolvedKnowledge, engine: OrderEngine, moments: Moments, penalty: float
) -> Adjacency:
    """The engine's DAG; where it breaks knowledge about edges, that of the BIC in the same order.

    Engines that condition on all predecessors respect the order that knowledge asks for, but draw
    G^π as it is: an edge that is forbidden or required outright takes parent sets of its own.
    """
    dag = engine.dag()
    if (dag & known.forbidden).any() or (known.required & (dag == 0)).any():
        dag = BicEngine(moments, score=BIC(penalty), knowledge=known, order=engine.order).dag()
    known.check_dag(dag)
    return dag


def _score(
    moments: Moments, dag: Adjacency, penalty_discount: float, strengths: Explained
) -> float:
    """What `qwo.score_graph` gives, from the residual variances alone."""
    if moments.is_oracle:
        return math.nan
    unit = math.log(moments.n_samples)
    # 0.0 - 0.0 would be printed with a sign for the empty graph.
    if moments.has_blocks:
        blocks = BlockScore(moments)
        price = penalty_discount * n_coefficients(dag, blocks.sizes, blocks.leading) * unit
        return 0.0 + blocks.fit_of(dag) - price
    fit = -moments.n_samples * float(np.log(strengths.variances).sum())
    return 0.0 + fit - penalty_discount * int(dag.sum()) * unit


def learn_nearby(
    moments: Moments, options: SearchOptions, order: Indices
) -> tuple[Adjacency, Status]:
    """The class of the graph that the search finds from an order near the best, and how it ended.

    That is all: no start order, no price and no evidence.

    The data are much like those that the order is the best of, and the options those that it was
    found with, on the exact BIC.
    """
    control = Control(time_limit=options.time_limit)
    plan = resolve(options, moments)
    with keyboard_heard(control), one_blas_thread(moments.n_variables**3 / 2):
        dense = dense_algebra(plan, moments, control)
        engine = make_engine(plan, moments, order, dense)
        outcome = bic_insertion(
            engine, restarts=plan.restarts, nearby=True, control=control, random_state=plan.seed
        )
    known = plan.knowledge
    cpdag = engine.cpdag() if known is None else to_mpdag(engine.dag(), known)
    return cpdag, "interrupted" if control.interrupted else outcome.status
