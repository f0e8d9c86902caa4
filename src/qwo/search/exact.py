"""The best of all DAGs: up to 24 variables in the core, and more of them part by part.

Branch and bound lists the parent sets of each variable that no subset of theirs beats
(`cpp/qwo/family_table.hpp`); no best DAG has others. A variable that is in such a set may be a
cause; where these relations are no cycle, causes are settled before their effects, so that each
strongly connected part is a problem of its own (Fan, Malone and Yuan 2014), which is solved by
branch and bound over which of its variables comes last (`cpp/qwo/sink_search.hpp`).
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError, Cure, DataWarning
from qwo.graph.dag import is_acyclic, topological_order
from qwo.moments import Moments
from qwo.order.bic import BicEngine, BicState
from qwo.search.control import Control, Progress, SearchOutcome, Status, Stopped, bic_insertion
from qwo.text import count
from qwo.types import Adjacency, FloatArray, Indices

MOST = 24
"""So many variables take 1.9 GB; more are settled part by part."""

MOST_BY_PARTS = 64
"""Variables whose sets are bits of one number."""

LARGE = 22
"""From so many on what it takes is said by a warning."""


def takes(n_variables: int) -> str:
    """How much memory and time the best graph of so many variables takes, in words.

    4 (n + 4) 2ⁿ bytes; 7 ns each set and variable, on one core of a processor of 2023.
    """
    if n_variables > MOST:
        return "up to 2 GB of memory, and seconds to minutes for each part that hangs together"
    memory, seconds = (k * 2.0**n_variables for k in (4e-9 * (n_variables + 4), 7e-9 * n_variables))
    return f"about {memory:.1g} GB of memory and {seconds:.1g} s"


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
    outcome = bic_insertion(engine, control=control, **shared)
    if outcome.status != "converged":
        return outcome
    try:
        best = best_by_parts(engine, control)
    except Stopped as stopped:
        return replace(outcome, status=stopped.status)
    outcome = replace(outcome, least=best.bound, status=best.status)
    if best.why and best.status == "converged":
        words = f"no graph is proved the best: {best.why}; it was searched for instead"
        warnings.warn(DataWarning(words), stacklevel=6)
    if best.dag is not None:
        engine.load(state_of(engine, best.dag, _cost(engine, best.dag)))
        trace = *outcome.trace, (control.seconds, engine.cost)
        outcome = replace(outcome, order=engine.order, cost=engine.cost, trace=trace)
    return replace(outcome, proved=best.proved)


MOST_STATES = 12_000_000
"""States of one size that are kept, in .3 GB; the next size and the way back take as much each."""

Table = tuple[npt.NDArray[np.uint64], FloatArray]


class BestByParts(NamedTuple):
    """A better DAG than the present, if any; whether either is the best, or why not; a bound."""

    dag: Adjacency | None = None
    proved: bool = False
    why: str = ""
    bound: float = -np.inf
    status: Status = "converged"


QUICK, QUICK_PART, QUICK_NODES = 20, 16, 20_000
"""Variables, variables of a part, and nodes of a table up to which `best_score` takes a second."""


def best_score(moments: Moments, penalty_discount: float, dag: Adjacency) -> float:
    """What no DAG exceeds, from what a second tells: parts of 16 are settled, others bounded."""
    if moments.n_variables > MOST_BY_PARTS:
        return np.inf
    engine = BicEngine(moments, penalty_discount=penalty_discount)
    if moments.n_variables <= QUICK and engine.take_best(QUICK):
        return -engine.cost
    engine.load(state_of(engine, dag, _cost(engine, dag)))
    return -best_by_parts(engine, Control(), QUICK_PART, QUICK_NODES).bound


def _cost(engine: BicEngine, dag: Adjacency) -> float:
    return sum(engine.family_cost(v, np.flatnonzero(own)) for v, own in enumerate(dag.T))


def best_by_parts(
    engine: BicEngine, control: Control, most: int = MOST_BY_PARTS, most_nodes: int | None = None
) -> BestByParts:
    """Whether the present DAG is the best that knowledge allows; the best, if it is not."""

    def look() -> None:
        if control.is_due():
            control.report(Progress("exact", 0, engine.cost, engine.cost, control.seconds))

    dag, bound, why = engine.dag(), 0.0, ""
    status: Status = "converged"
    if (tables := _tables(engine, look, most_nodes)) is None:
        return BestByParts(why="a variable has too many parent sets that matter to list them")
    # The smallest first: where time ends, most is known.
    for part in sorted(_parts(tables), key=len):
        here = sum(engine.family_cost(v, np.flatnonzero(dag[:, v])) for v in part.tolist())
        search = engine.sink_search(part, [tables[v] for v in part], here)
        try:
            if status == "converged" and len(part) <= most:
                search.run(MOST_STATES, look)
        except Stopped as stopped:
            status = stopped.status
        if not search.is_proved:
            why = f"{count(len(part), 'variable')} that hang together have too many graphs"
        for v, chosen in zip(part.tolist(), search.chosen().tolist(), strict=False):
            dag[:, v] = [chosen >> u & 1 for u in range(len(dag))]
        bound += search.bound
    known, changed = engine.knowledge, bool((dag != engine.dag()).any())
    if changed and known is not None and not is_acyclic(dag.astype(bool) | known.before):
        changed, why = False, "the order that knowledge asks for may exclude the best graph"
    return BestByParts(dag if changed else None, not why, why, bound, status)


def _tables(engine: BicEngine, look: Any, most_nodes: int | None) -> list[Table] | None:
    """The parent sets of each variable that can be in a best DAG; none if they are too many."""
    n, known = engine.n_variables, engine.knowledge
    allowed = ~np.eye(n, dtype=bool) if known is None else known.allowed_parents.copy()
    required = np.zeros((n, n), dtype=bool) if known is None else np.asarray(known.required)
    tables: list[Table] = []
    for v in range(n):
        look()
        must = np.flatnonzero(required[:, v])
        may = np.setdiff1d(np.flatnonzero(allowed[:, v]), [*must, v])
        found = engine.family_table(v, may, must, most_nodes)
        if found is None:
            return None
        tables.append(found)
    return tables


def _parts(tables: list[Table]) -> list[Indices]:
    """The variables that may cause each other, directly or by way of others."""
    from scipy.sparse.csgraph import connected_components

    causes = [int(np.bitwise_or.reduce(sets, initial=0)) for sets, _ in tables]
    relation = np.array([[own >> u & 1 for own in causes] for u in range(len(tables))])
    _, label = connected_components(relation, connection="strong")
    return [np.flatnonzero(label == group) for group in np.unique(label)]


def state_of(engine: BicEngine, dag: Adjacency, cost: float) -> BicState:
    """What an engine takes up to be at a DAG."""
    known = engine.knowledge
    order = topological_order(dag if known is None else (dag != 0) | known.before)
    lists = [np.flatnonzero(own) for own in dag.T]
    parents = np.concatenate(lists).astype(np.int64), np.cumsum([len(own) for own in lists])
    none = np.empty(0, dtype=np.int64), np.zeros(len(dag), dtype=np.int64)
    return order.astype(np.int64), (parents[0], parents[1].astype(np.int64)), none, cost
