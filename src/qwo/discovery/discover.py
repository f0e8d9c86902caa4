"""`discover`: the causal graph of a data set, in one call."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Unpack

import numpy as np

from qwo.arguments import ReadArguments, SearchArguments, options_given, takes_options
from qwo.blas import blas_threads_for
from qwo.device import array_module, computing_with
from qwo.discovery.choices import (
    choose,
    choose_price,
    default_start,
    dense_algebra,
    make_engine,
    make_search,
    start_at_better,
)
from qwo.discovery.counts import counted_rows, counting_engine
from qwo.discovery.price import Evidence, edge_evidence, explained_in
from qwo.discovery.result import Discovery
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.moments.arrays import Table
from qwo.options import SearchOptions
from qwo.order.bic import BicEngine
from qwo.order.blocks import BlockScore, n_coefficients
from qwo.order.build import versions
from qwo.order.linalg import Explained
from qwo.order.protocol import OrderEngine
from qwo.order.score import BIC
from qwo.parallel import count_workers
from qwo.search import Callback, Control, SearchOutcome, start_order
from qwo.search.bic_insertion import bic_insertion
from qwo.search.control import Status, keyboard_heard, progress_bar
from qwo.types import Adjacency, FloatArray, Indices


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
    return discover_as(data, given, reading, callback=callback, progress=progress)


def discover_as(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments | None = None,
    *,
    callback: Callback | None = None,
    progress: bool = False,
) -> Discovery:
    """`discover` with its options as records: data, choices, search, result."""
    with progress_bar(callback, shown=progress) as watch:
        control = Control(time_limit=options.time_limit, callback=watch)
        with computing_with(array_module(options.device)):
            moments, table = _read(data, options, reading or {})
        knowledge = options.resolved_knowledge(moments.names)
        chosen = choose(options, moments)
        if table is not None:
            engine = counting_engine(options.score, table, moments, knowledge)
            chosen = chosen.settled(engine=engine)
        if chosen.random_state is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
            chosen = chosen.settled(random_state=seed)
        # Threads of BLAS have only the factorisations to work on, a third to a half of n³ each.
        with keyboard_heard(control), blas_threads_for(moments.n_variables**3 / 2):
            found = _searched(chosen, moments, knowledge, control)
    return _result(found, moments, table, knowledge, control)


class _Found(NamedTuple):
    """What a search has come to: options with nothing left open, engine, outcome, weak edges."""

    options: SearchOptions
    engine: OrderEngine
    outcome: SearchOutcome
    weaker: FloatArray
    price_chosen: bool


def _searched(
    chosen: SearchOptions,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    control: Control,
) -> _Found:
    """Start order, price and search."""
    rng = np.random.default_rng(chosen.random_state)
    by_rule, by_data = chosen.start is None, chosen.penalty_discount == "auto"
    if by_rule:
        chosen = chosen.settled(start=default_start(chosen))
    xp = array_module(chosen.device)
    dense = dense_algebra(chosen, moments, xp, seconds=control.remaining)
    if dense.hurried:
        # Not even the start order is to be had in time, nor another one to compare with.
        chosen = chosen.settled(start=range(moments.n_variables), restarts=0)
    given = moments, knowledge, rng, dense.precision
    problem = moments, knowledge, _start(chosen.start, *given), dense
    chosen, weaker, cut_short = choose_price(chosen, *problem, control=control)
    if cut_short is not None:
        return _Found(chosen, *cut_short, weaker, by_data)
    engine = make_engine(chosen, *problem)
    if by_rule and chosen.search != "insertion" and not dense.hurried:
        chosen = start_at_better(chosen, engine, _start("spanning-tree", *given))
    del dense, given, problem
    threads = count_workers(chosen.n_jobs)
    outcome = make_search(chosen, knowledge, threads)(engine, control, rng)
    return _Found(chosen, engine, outcome, weaker, by_data)


def _result(
    found: _Found,
    moments: Moments,
    table: Table | None,
    knowledge: ResolvedKnowledge | None,
    control: Control,
) -> Discovery:
    """The graph that belongs to the order found, its class and its score."""
    engine, outcome, price = found.engine, found.outcome, found.options.discount
    dag = _final_dag(engine, moments, knowledge, price)
    strengths = explained_in(moments, dag)
    return Discovery(
        cpdag=_class_of(engine, dag, knowledge),
        dag=dag,
        order=outcome.order,
        names=moments.names,
        score=_score(moments, dag, price, strengths) if table is None else -engine.cost,
        n_edges=int(dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        # Ctrl-C may come after the last look at the control, and must not be lost on the caller.
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        params=_described(found, moments, counted=table is not None),
        versions=versions(),
        evidence=_evidence(found, moments, knowledge, strengths),
        proved=outcome.proved,
    )


def _described(found: _Found, moments: Moments, *, counted: bool) -> dict[str, Any]:
    """What a result tells of how it was found."""
    params = {
        **found.options.described(),
        "penalty_chosen": found.price_chosen,
        "n_samples": moments.n_samples,
        "covariance_estimator": moments.estimator,
    }
    if counted:
        params |= {"penalty_discount": None, "engine": "counts"}
    if moments.has_blocks:
        params["columns"] = moments.whitened()[1].tolist()
    if moments.coding is not None:
        params["variables"] = moments.coding.described(moments.names)
    return params


def _read(
    data: Any, options: SearchOptions, reading: ReadArguments
) -> tuple[Moments, Table | None]:
    """The moments of the data, and the rows if the score counts them."""
    if options.score == "bic":
        return as_moments(data, **reading), None
    table, moments = counted_rows(data, reading)
    return moments, table


def learn_nearby(
    moments: Moments, options: SearchOptions, order: Indices
) -> tuple[Adjacency, Status]:
    """The class of the graph that the search finds from an order near the best, and how it ended.

    That is all: no start order, no price and no evidence.

    Parameters
    ----------
    moments : Moments
        Of data much like those that the order is the best of.
    options : SearchOptions
        Those that such a search was made with, on the exact BIC, nothing being left open.
    order : ndarray of int
        The order that it found.
    """
    control = Control(time_limit=options.time_limit)
    resolved = options.resolved_knowledge(moments.names)
    with keyboard_heard(control), blas_threads_for(moments.n_variables**3 / 2):
        dense = dense_algebra(options, moments, seconds=control.remaining)
        engine = make_engine(options, moments, resolved, order, dense)
        assert isinstance(engine, BicEngine)
        outcome = bic_insertion(
            engine,
            restarts=options.restarts or 0,
            nearby=True,
            control=control,
            random_state=options.random_state,
        )
    cpdag = engine.cpdag() if resolved is None else to_mpdag(engine.dag(), resolved)
    return cpdag, "interrupted" if control.interrupted else outcome.status


def _start(
    start: Any,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    rng: np.random.Generator,
    precision: FloatArray | None,
) -> Indices:
    correlation, sizes = moments.whitened()
    return start_order(
        start,
        correlation,
        moments.n_samples,
        names=moments.names,
        knowledge=knowledge,
        random_state=rng,
        precision=precision,
        sizes=sizes if moments.has_blocks else None,
    )


def _final_dag(
    engine: OrderEngine,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    penalty_discount: float,
) -> Adjacency:
    """The engine's DAG; where it breaks knowledge about edges, that of the BIC in the same order.

    Engines that condition on all predecessors respect the order that knowledge asks for, but draw
    G^π as it is: an edge that is forbidden or required outright takes parent sets of its own.
    """
    dag = engine.dag()
    if knowledge is None:
        return dag
    if (dag & knowledge.forbidden).any() or (knowledge.required & (dag == 0)).any():
        repaired = BicEngine(
            moments, penalty_discount=penalty_discount, knowledge=knowledge, order=engine.order
        )
        dag = repaired.dag()
    knowledge.check_dag(dag)
    return dag


def _class_of(
    engine: OrderEngine, dag: Adjacency, knowledge: ResolvedKnowledge | None
) -> Adjacency:
    """The class of a DAG that an engine has come to, or what knowledge leaves of it."""
    if knowledge is not None:
        return to_mpdag(dag, knowledge)
    return engine.cpdag() if isinstance(engine, BicEngine) else to_cpdag(dag)


def _evidence(
    found: _Found, moments: Moments, knowledge: ResolvedKnowledge | None, strengths: Explained
) -> Evidence | None:
    """How strong the edges are, if they had to bear a price and there is something like chance."""
    engine = found.engine
    if moments.is_oracle or not isinstance(engine, BicEngine):
        return None
    gamma = engine.score.gamma if isinstance(engine.score, BIC) else 0.0
    return edge_evidence(
        moments,
        strengths,
        engine.order,
        engine.penalty,
        knowledge,
        extension=2 * gamma * math.log(moments.n_variables),
        weaker=found.weaker,
    )


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
        price = penalty_discount * n_coefficients(dag, blocks.sizes) * unit
        return 0.0 + blocks.fit_of(dag) - price
    fit = -moments.n_samples * float(np.log(strengths.variances).sum())
    return 0.0 + fit - penalty_discount * int(dag.sum()) * unit
