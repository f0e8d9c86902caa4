"""The methods that are compared: a search over orders, and the module that builds G^π for it.

A method is named ``search/module``:

=================  =================================================================================
search             what it is
=================  =================================================================================
``grasp0``         our GRaSP, covered edges only, depth 3: what the paper's text says
``grasp1``         our GRaSP, covered and singular edges, depth 3
``grasp2``         our GRaSP, all edges, depth 3; ``grasp2-depth1``, ``grasp2-depth2``: less deep
``hc``             our hill climbing, exchanges over at most 5 places
``hc-random``      the same from a random order, where all others start by Markov boundaries
``cl-grasp``       causal-learn's own GRaSP (with ``cl-bic`` only)
``code-grasp``     the published code's way to search, modelled in `qwo.reproduction.published`
``code-hc``        the same for hill climbing
=================  =================================================================================

=================  =================================================================================
module             what it is
=================  =================================================================================
``qwo``            our order factor: edge counts, Fisher's z at level 2/n²
``qwo-likelihood`` the same with the capped likelihood instead of the number of edges
``bic``            our exact BIC engine, penalty 2 log N for an edge
``cl-…``           local scores of causal-learn, see `qwo.reproduction.causal_learn`
``own-test``       of a code search: QWO with partial correlations
``its-test``       the same with the published edge test
``as-published``   the same with the published edge test and the stale basis
=================  =================================================================================

``default`` is `qwo.discover` without options, ``flop`` FLOP with 20 restarts. ``authors/grasp`` and
``authors/hc`` are the authors' own code, in a checkout that the variable `AUTHORS_CODE` of the
environment names.

Every method is timed from the sample on: who needs its covariance matrix computes it. Where the
covariance is exact, nobody does.
"""

from __future__ import annotations

import io
import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import NamedTuple

import numpy as np

from qwo.discovery import discover
from qwo.errors import ArgumentError, optional_module
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.reproduction.causal_learn import (
    PENALTY_DISCOUNT,
    SCORES,
    import_causal_learn,
    own_grasp,
)
from qwo.reproduction.models import Problem
from qwo.reproduction.published import Habits, published_search
from qwo.search import Control, SearchOutcome, grasp, hill_climbing, start_order
from qwo.search.control import Stopped
from qwo.types import Adjacency, FloatArray


class Found(NamedTuple):
    """The graph of a method, a DAG or a CPDAG, and whether it had the time to end by itself.

    ``prepared`` is the processor time that went into the moments of the sample, which every search
    of ours needs alike; None for a method that keeps it to itself.
    """

    graph: Adjacency
    finished: bool
    prepared: float | None = None


Search = Callable[..., SearchOutcome]
SEARCHES: dict[str, Search] = {
    "grasp0": partial(grasp, version=0, depth=3),
    "grasp1": partial(grasp, version=1, depth=3),
    "grasp2": partial(grasp, version=2, depth=3),
    "grasp2-depth1": partial(grasp, version=2, depth=1),
    "grasp2-depth2": partial(grasp, version=2, depth=2),
    "hc": partial(hill_climbing, distance=5),
    "hc-random": partial(hill_climbing, distance=5),
}
HABITS = {
    "own-test": Habits(),
    "its-test": Habits(its_test=True),
    "as-published": Habits(its_test=True, stale_basis=True),
}
OWN_MODULES = ("qwo", "qwo-likelihood", "bic")
DEFAULT, FLOP = "default", "flop"
AUTHORS = {"authors/grasp": ("grasp", 3), "authors/hc": ("HC", 5)}
"""The authors' own code: its name for a search, and the paper's depth or distance."""

AUTHORS_CODE, THE_AUTHORS = "QWO_AUTHORS_CODE", "the authors' code"
FLOP_RESTARTS = 20


def check_method(method: str) -> str:
    """A method that exists, as given."""
    search, _, module = method.partition("/")
    known = (
        method in (DEFAULT, FLOP, "cl-grasp/cl-bic", *AUTHORS)
        or (search in SEARCHES and module in (*OWN_MODULES, *SCORES))
        or (search in ("code-grasp", "code-hc") and module in HABITS)
    )
    if not known:
        raise ArgumentError(
            f"there is no method {method!r}; a method is search/module, such as 'grasp0/qwo', "
            f"with a search from {', '.join(SEARCHES)} and a module from "
            f"{', '.join([*OWN_MODULES, *SCORES])}"
        )
    return method


def needs(method: str) -> str | None:
    """Whose code a method runs but ours: no time limit reaches it from within."""
    if method in AUTHORS:
        return THE_AUTHORS
    if method == FLOP:
        return "FLOP"
    return "causal-learn" if "cl-" in method else None


def import_code(method: str) -> None:
    """Import other people's code, which is not to count as the time of a run."""
    need = needs(method)
    if need == THE_AUTHORS:
        sys.path.insert(0, os.environ[AUTHORS_CODE])
        import_module("QWO")
    elif need == "FLOP":
        optional_module("flopsearch", "this comparison needs")
    elif need:
        import_causal_learn()


def run_method(method: str, problem: Problem, seed: int, budget: float) -> Found:
    """The graph that a method finds within so many seconds of processor time."""
    search, _, _ = method.partition("/")
    if search == "cl-grasp":
        return Found(own_grasp(sample_of(problem), seed), finished=True)
    if method == FLOP:
        return Found(_flop(sample_of(problem)), finished=True)
    if method in AUTHORS:
        return Found(_authors(method, sample_of(problem), seed), finished=True)
    began = time.process_time()
    if problem.data is not None:
        problem = replace(problem, moments=Moments.from_data(problem.data))
    prepared = time.process_time() - began
    return _own(method, problem, seed, budget)._replace(prepared=prepared)


def _own(method: str, problem: Problem, seed: int, budget: float) -> Found:
    """The graph of a search of ours, from the moments on."""
    search, _, module = method.partition("/")
    if method == DEFAULT:
        found = discover(problem.moments, random_state=seed, time_limit=budget)
        return Found(found.dag, found.status == "converged")
    if module in HABITS:
        return _as_published(search.removeprefix("code-"), HABITS[module], problem, seed, budget)
    control = Control(time_limit=budget, clock=time.process_time)
    start = "random" if search == "hc-random" else "markov-boundary"
    engine = make_engine(module, problem, start, seed)
    outcome = SEARCHES[search](engine, control=control, random_state=seed)
    return Found(engine.dag(), outcome.status == "converged")


def make_engine(
    module: str, problem: Problem, start: str = "markov-boundary", seed: int = 0
) -> OrderEngine:
    """The module at a start order, by default the paper's."""
    moments = problem.moments
    order = start_order(start, moments.correlation, moments.n_samples, random_state=seed)
    if module == "qwo":
        return QwoEngine(moments, objective="edges", order=order)
    if module == "qwo-likelihood":
        return QwoEngine(moments, objective="likelihood", order=order)
    if module == "bic":
        return BicEngine(moments, penalty_discount=PENALTY_DISCOUNT, order=order)
    score = SCORES[module](sample_of(problem))
    engine = LocalScoreEngine(score, moments.n_variables)
    engine.reset(order)
    return engine


def sample_of(problem: Problem) -> FloatArray:
    """The sample of a problem, for methods that exact moments do not serve."""
    if problem.data is None:
        raise ArgumentError("scores of causal-learn need a sample; this covariance is exact")
    return problem.data


def _flop(data: FloatArray) -> Adjacency:
    """The CPDAG of FLOP, which takes no seed."""
    module = optional_module("flopsearch", "this comparison needs")
    found: Adjacency = module.flop(data, PENALTY_DISCOUNT, restarts=FLOP_RESTARTS)
    return found.astype("int8")


def _authors(method: str, data: FloatArray, seed: int) -> Adjacency:
    """The DAG of the authors' code, which shuffles by the global seed; its rows are the effects."""
    search, parameter = AUTHORS[method]
    random.seed(seed)
    with redirect_stdout(io.StringIO()):
        found = import_module("QWO").QWO(data, search_method=search, param=parameter)
    return np.asarray(found).T.astype(np.int8)


def _as_published(search: str, habits: Habits, problem: Problem, seed: int, budget: float) -> Found:
    control = Control(time_limit=budget, clock=time.process_time)
    try:
        dag = published_search(search, problem.moments, habits, seed, check=control.is_due)
    except Stopped:
        return Found(problem.truth[:0, :0], finished=False)
    return Found(dag, finished=True)
