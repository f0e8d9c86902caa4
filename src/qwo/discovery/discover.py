"""`discover`: the causal graph of a data set, in one call."""

from __future__ import annotations

import math
import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from qwo.blas import blas_threads_for
from qwo.device import Device, array_module, computing_with
from qwo.discovery.choices import (
    EngineName,
    SearchName,
    choose,
    default_starts,
    dense_algebra,
    make_engine,
    make_search,
    whole_number,
)
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.knowledge import KnowledgeLike, as_knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.moments.audit import Missing
from qwo.order.bic import BicEngine
from qwo.order.build import versions
from qwo.order.linalg import regressions
from qwo.order.protocol import OrderEngine
from qwo.parallel import cluster_client
from qwo.search import Callback, Control, start_order
from qwo.search.interrupts import keyboard_heard
from qwo.search.progress import progress_bar
from qwo.types import Adjacency, FloatArray, Indices


def discover(
    data: Any,
    *,
    search: SearchName = "auto",
    engine: EngineName | OrderEngine = "auto",
    penalty_discount: float = 2.0,
    alpha: float | None = None,
    gamma: float | None = None,
    restarts: int | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    knowledge: KnowledgeLike | None = None,
    start: Any = None,
    covariance_estimator: str | Any = "plain",
    missing: Missing = "raise",
    device: Device = "cpu",
    callback: Callback | None = None,
    progress: bool = False,
) -> Discovery:
    """The causal graph of continuous data, up to Markov equivalence, by a search over orders.

    Without options: an insertion search with tucks and restarts on the exact BIC. The paper's
    combination is ``search="grasp", engine="qwo", alpha=2 / n**2``.

    Parameters
    ----------
    data : array-like, data frame, str or path, or Moments
        Samples in rows and variables in columns; a file ends in .csv, .tsv, .txt or .parquet.
    search : {"auto", "insertion", "grasp", "hill-climbing"}
        The search over orders.
    engine : {"auto", "bic", "qwo", "reference"} or OrderEngine
        What builds the DAG of an order: the exact BIC, G^π from the order factor, G^π by the
        paper's Algorithm 1 (slow), or an object that follows the engine protocol.
    penalty_discount : float
        c of the score 2·loglik - c·edges·log N: higher means fewer edges; 1 is the textbook BIC.
    alpha : float, optional
        Level of the QWO engine's edge test, instead of the penalty.
    gamma : float, optional
        The extended BIC adds 2·gamma·log n to the price of an edge. If not given, 0 for more
        samples than variables, else 0.5 (with a warning): among that many candidates the plain BIC
        draws many false edges.
    restarts : int, optional
        How often the order found is perturbed and repaired (insertion; if not given 20, or 500/n
        for fewer than 25 variables; up to 200 variables, more follow where it helps), or the
        search is repeated from a random order (the others; 0 if not given).
    time_limit : float, optional
        Seconds after which the best graph so far is returned.
    random_state : int, optional
        Seed. The same seed gives the same graph, for any ``n_jobs``.
    n_jobs : int
        Threads; -1 for one per processor.
    cluster : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, for the restarts of an insertion search on
        the exact BIC: they run in chains of twenty or more, at most eight, so that up to 20 of them
        run here. The graph is the same.
    knowledge : Knowledge, dict, str or path, optional
        Background knowledge, its arguments as a dictionary, or a file of it in Tetrad's format;
        strictly kept.
    start : str or sequence, optional
        Order to start from: ``"r2"`` (default; for 201 to 400 variables ``"markov-boundary"`` as
        well, and the better result wins), ``"markov-boundary"`` (default of GRaSP and hill
        climbing, as in the paper), ``"conditional-variance"``,
        ``"reverse-conditional-variance"``, ``"random"``, or all variables by name or number.
    covariance_estimator : {"plain", "ledoit-wolf", "oas"} or object
        The covariance estimator, by name or as one of scikit-learn's.
    missing : {"raise", "drop", "em"}
        Whether rows with missing values are an error, are left out, or are used for what they have
        (Gaussian maximum likelihood, with an effective sample size), with a warning.
    device : {"cpu", "gpu"}
        Where the dense algebra runs: moments of rows, factorisation and inverse of the correlation
        matrix, lists of candidates. ``"gpu"`` takes a CUDA device and CuPy; it pays with thousands
        of variables, and changes nothing but the rounding.
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
    threads, xp = _threads(n_jobs), array_module(device)
    with progress_bar(callback, shown=progress) as watch, _client(cluster) as client:
        control = Control(time_limit=time_limit, callback=watch)
        with computing_with(xp):
            moments = as_moments(data, covariance_estimator=covariance_estimator, missing=missing)
        resolved = _resolve(knowledge, moments)
        choices = choose(
            search,
            engine,
            moments,
            penalty_discount=penalty_discount,
            alpha=alpha,
            gamma=gamma,
            restarts=restarts,
        )
        if random_state is None:
            random_state = int(np.random.SeedSequence().generate_state(1)[0])
        rng = np.random.default_rng(random_state)
        second = None
        if start is None:
            start, second = default_starts(choices, moments.n_variables)
        # Threads of BLAS have only the factorisations to work on, a third to a half of n³ each.
        with blas_threads_for(moments.n_variables**3 / 2), keyboard_heard(control):
            dense = dense_algebra(choices, moments, xp)
            given = moments, resolved, rng, dense.precision
            first = _start(start, *given)
            rival = None if second is None else _start(second, *given)
            built = make_engine(choices, moments, resolved, first, dense=dense, device=device)
            del dense, given
            outcome = make_search(choices, resolved, threads, rival, client)(built, control, rng)
    dag = _final_dag(built, moments, resolved, penalty_discount)
    return Discovery(
        cpdag=to_cpdag(dag) if resolved is None else to_mpdag(dag, resolved),
        dag=dag,
        order=outcome.order,
        names=moments.names,
        score=_score(built, moments, dag, penalty_discount),
        n_edges=int(dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        # Ctrl-C may come after the last look at the control, and must not be lost on the caller.
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        params={
            "search": choices.search,
            "engine": choices.engine_name,
            "penalty_discount": penalty_discount,
            "alpha": alpha,
            "gamma": choices.gamma,
            "restarts": choices.restarts,
            "time_limit": time_limit,
            "random_state": random_state,
            "n_jobs": n_jobs,
            "start": start if isinstance(start, str) else "given",
            "device": device,
            "n_samples": moments.n_samples,
            "estimator": moments.estimator,
        },
        versions=versions(),
    )


def _start(
    start: Any,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    rng: np.random.Generator,
    precision: FloatArray | None,
) -> Indices:
    return start_order(
        start,
        moments.correlation,
        moments.n_samples,
        names=moments.names,
        knowledge=knowledge,
        random_state=rng,
        precision=precision,
    )


def _client(cluster: Any) -> AbstractContextManager[Any]:
    """A connection from the start, so that a wrong address costs no search."""
    return nullcontext() if cluster is None else cluster_client(cluster)


def _threads(n_jobs: int) -> int:
    threads = whole_number("n_jobs", n_jobs)
    if threads == -1:
        return os.cpu_count() or 1
    if threads < 1:
        raise ArgumentError(f"n_jobs must be a number of threads, or -1 for all; got {n_jobs}")
    return threads


def _resolve(knowledge: KnowledgeLike | None, moments: Moments) -> ResolvedKnowledge | None:
    return None if knowledge is None else as_knowledge(knowledge).resolve(moments.names)


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


def _score(engine: OrderEngine, moments: Moments, dag: Adjacency, penalty_discount: float) -> float:
    """What `qwo.score_graph` gives, from the residual variances alone."""
    if moments.is_oracle:
        return math.nan
    if isinstance(engine, BicEngine):
        variances = engine.residual_variances()
    else:
        variances = np.array([left for *_, left in regressions(moments.correlation, dag)])
    fit = -moments.n_samples * float(np.log(variances).sum())
    # 0.0 - 0.0 would be printed with a sign for the empty graph.
    return 0.0 + fit - penalty_discount * int(dag.sum()) * math.log(moments.n_samples)
