"""Insertion search on the exact BIC engine, run inside the compiled core.

What `qwo.search.insertion` does with any engine, and more: edges are tucked and turned until that
does not help, from several starts, and connected pieces of the order are shuffled. The core runs in
slices; between them `supervise_compiled` keeps the time limit, the callback and the keyboard, none
of which changes the result of a search that is left to finish. Which searches follow each other,
and every number that decides on it, stand in the core: ``cpp/qwo/search_run.hpp`` and
``policy.hpp``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, Cure, DataWarning
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.bic import BicEngine
from qwo.order.protocol import OrderEngine
from qwo.search.control import (
    Control,
    SearchOutcome,
    Stopped,
    check_allowed,
    supervise_compiled,
)
from qwo.search.insertion import insertion
from qwo.text import count


def bic_insertion(
    engine: BicEngine,
    *,
    restarts: int = 20,
    starts: int | None = None,
    tries: int | None = None,
    tucks: bool = True,
    nearby: bool = False,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    n_jobs: int = 1,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that no insertion, tuck or turn improves, from several starts, shaken and repaired.

    engine: at the order to start from; left at the order found.
    restarts: how often a connected piece of the order found is shuffled and repaired by insertions,
    in each of at most two rounds. They run in chains of twenty or more, at most eight, each from
    the order found first; a chain whose first ten lead back to it, or not near it where no edge is
    weak, ends there. The best chain wins. Where none are wanted, nothing but the search from the
    given order is made. Otherwise there is no search at all where the best graph can be had: see
    `BicEngine.take_best`.
    starts: the most further orders to start from: breadth first through the maximum spanning tree
    of the correlations, from random roots. Better pieces of what they lead to are taken over. They
    end when three agree on each variable, or one where few are doubtful. If not given, 12 up to 200
    variables, 3 up to 500; beyond, the search starts from one such order if it costs less as it
    stands.
    tries: if restarts have improved the order, or one in twenty has ended with one that is worse by
    less than half the price of an edge, more follow, until so many around each variable that is
    doubtful (`BicEngine.doubtful`) have failed since something has changed there; 1 up to 200
    variables if not given. Twice as many follow where the graph is much like a tree, up to 1000
    variables, and around those variables on which starts have not agreed.
    tucks: without, the search ends at the first order that no insertion improves.
    nearby: the order is the best of data much like these: no edge is turned, tucks that cost more
    than two edges are given up, and there are no sweeps and no further starts. Above 50 variables
    only edges of what insertions change are tucked.
    knowledge: what the order must keep to; that of the engine if not given.
    n_jobs: threads among which the chains are shared. The result does not depend on it.
    """
    for name, value in (("restarts", restarts), ("starts", starts), ("tries", tries)):
        if value is not None and value < 0:
            raise ArgumentError(f"{name} must be at least 0; got {value}", option=name)
    knowledge = engine.knowledge if knowledge is None else knowledge
    if knowledge is not None:
        check_allowed(engine.order, knowledge)
    run = engine.compiled_run(
        np.random.default_rng(random_state),
        restarts=restarts,
        starts=starts,
        tries=tries,
        tucks=tucks,
        nearby=nearby,
        jobs=n_jobs,
    )
    return supervise_compiled(run, engine, control or Control())


INSERTION_SEARCHES: dict[str, Callable[..., SearchOutcome]] = {
    "by scans": insertion,
    "compiled": bic_insertion,
}
"""Insertion searches by the names that engines give them; see `insertion_search_of`."""


def insertion_search_of(engine: OrderEngine) -> Callable[..., SearchOutcome]:
    """The insertion search that an engine names in ``insertion_search``; by scans if it does not.

    An engine knows nothing of searches but the name of the one that was made for it.
    """
    return INSERTION_SEARCHES[getattr(engine, "insertion_search", "by scans")]


MOST = 24
"""So many variables take 1.9 GB; more are settled part by part."""

MOST_BY_PARTS = 64
"""Variables whose sets are bits of one number."""

LARGE = 22
"""From so many on what it takes is said by a warning."""


def takes(n_variables: int) -> str:
    """How much memory and time the best graph of so many variables takes, in words.

    4 (n + 4) 2ⁿ bytes; the time is that of one core of a processor of 2023, 7 ns each set and
    variable.
    """
    if n_variables > MOST:
        return "up to 1.5 GB of memory and half a minute for each part that hangs together"
    sets = 2.0**n_variables
    return (
        f"about {4e-9 * (n_variables + 4) * sets:.1g} GB of memory and "
        f"{7e-9 * n_variables * sets:.1g} s"
    )


def check_exact(
    n_variables: int, engine: Any, score: Any, restarts: int | None, *, plain: bool
) -> None:
    """Refuse what cannot be proved or no memory suffices for, and say what it takes."""
    if engine != "bic" or score != "bic" or restarts:
        raise ArgumentError(
            "search 'exact' goes with the engine 'bic', the score 'bic' and no restarts",
            cures=(Cure("search", "insertion", "goes with others"),),
            option="search",
        )
    if n_variables > (MOST_BY_PARTS if plain else MOST):
        raise ArgumentError(
            f"search is 'exact', which goes through all graphs of up to {MOST} variables, or of "
            f"{MOST_BY_PARTS} numbers that fall into small parts, and there are {n_variables}",
            cures=(Cure("search", "insertion", "proves nothing, and takes any number"),),
            option="search",
        )
    needs = f"all graphs of {count(n_variables, 'variable')} take {takes(n_variables)}"
    logging.getLogger("qwo").info("%s", needs)
    if LARGE <= n_variables <= MOST:
        warnings.warn(DataWarning(needs), stacklevel=5)


def exact(engine: BicEngine, *, control: Control | None = None, **shared: Any) -> SearchOutcome:
    """The best graph that the knowledge allows, with at most `engine.max_parents` parents each.

    Where variables all but determine another, rounding would decide: then the insertion search is
    made, a warning says so, and nothing is proved. So it is where more variables than all sets can
    be gone through of do not fall into parts. The core is not interrupted meanwhile.
    """
    control = control or Control()
    begun = control.seconds, engine.cost
    if engine.n_variables > MOST:
        return _by_parts(engine, control, shared)
    if not engine.take_best(MOST):
        warning = "some variables all but determine another, so that no graph is proved the best"
        warnings.warn(DataWarning(f"{warning}; it is searched for instead"), stacklevel=5)
        return bic_insertion(engine, control=control, **shared)
    trace = begun, (control.seconds, engine.cost)
    return SearchOutcome(engine.order, engine.cost, "converged", trace, 0, 0, proved=True)


def _by_parts(engine: BicEngine, control: Control, shared: dict[str, Any]) -> SearchOutcome:
    """The insertion search, and whether its graph is the best; that one, if it is not."""
    from qwo.search.parts import best_by_parts, state_of

    outcome = bic_insertion(engine, control=control, **shared)
    if outcome.status != "converged":
        return outcome
    try:
        best = best_by_parts(engine, control)
    except Stopped as stopped:
        return replace(outcome, status=stopped.status)
    if best.dag is None:
        warning = f"no graph is proved the best: {best.why}; it was searched for instead"
        warnings.warn(DataWarning(warning), stacklevel=6)
        return outcome
    cost = sum(engine.family_cost(v, np.flatnonzero(own)) for v, own in enumerate(best.dag.T))
    if cost < engine.cost - 1e-6 * engine.penalty:
        engine.load(state_of(engine, best.dag, cost))
    trace = *outcome.trace, (control.seconds, engine.cost)
    return replace(outcome, order=engine.order, cost=engine.cost, trace=trace, proved=True)
