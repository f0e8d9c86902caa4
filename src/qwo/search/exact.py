"""The best of all DAGs: up to 24 variables in the core, and more of them part by part.

Branch and bound lists the parent sets of each variable that no subset of theirs beats
(`cpp/qwo/family_table.hpp`); no best DAG has others. A variable that is in such a set may be a
cause; where these relations are no cycle, causes are settled before their effects, so that each
strongly connected part is a problem of its own (Fan, Malone and Yuan 2014), which is solved by
dynamic programming over the sets of its variables.
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
from qwo.search.control import Control, Progress, SearchOutcome, Stopped, bic_insertion
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
    cost = _cost(engine, best.dag)
    if cost < engine.cost - 1e-6 * engine.penalty:
        engine.load(state_of(engine, best.dag, cost))
    trace = *outcome.trace, (control.seconds, engine.cost)
    return replace(outcome, order=engine.order, cost=engine.cost, trace=trace, proved=True)


MOST_PART = 24
"""Variables of a part: 2²⁴ sets take 1.5 GB and some ten seconds."""

Sets = npt.NDArray[np.uint64]
Table = tuple[Sets, FloatArray]


class BestByParts(NamedTuple):
    """The best DAG, or why it is not known."""

    dag: Adjacency | None
    why: str = ""


QUICK, QUICK_PART, QUICK_NODES = 20, 16, 20_000
"""Variables, variables of a part, and nodes of a table up to which `best_score` takes a second."""


def best_score(moments: Moments, penalty_discount: float) -> float | None:
    """The score of the best of all DAGs, if a second tells: of 20 variables, or small parts."""
    if moments.n_variables > MOST_BY_PARTS:
        return None
    engine = BicEngine(moments, penalty_discount=penalty_discount)
    if moments.n_variables <= QUICK:
        return -engine.cost if engine.take_best(QUICK) else None
    dag = best_by_parts(engine, Control(), QUICK_PART, QUICK_NODES).dag
    return None if dag is None else -_cost(engine, dag)


def _cost(engine: BicEngine, dag: Adjacency) -> float:
    return sum(engine.family_cost(v, np.flatnonzero(own)) for v, own in enumerate(dag.T))


def best_by_parts(
    engine: BicEngine, control: Control, most: int | None = None, most_nodes: int | None = None
) -> BestByParts:
    """The best DAG that the knowledge of an engine allows, with its score and data."""
    most = most or MOST_PART
    n, known = engine.n_variables, engine.knowledge
    allowed = ~np.eye(n, dtype=bool) if known is None else known.allowed_parents.copy()
    required = np.zeros((n, n), dtype=bool) if known is None else np.asarray(known.required)
    tables: list[Table] = []
    for v in range(n):
        if control.is_due():
            control.report(Progress("exact", v, engine.cost, engine.cost, control.seconds))
        must = np.flatnonzero(required[:, v])
        may = np.setdiff1d(np.flatnonzero(allowed[:, v]), [*must, v])
        found = engine.family_table(v, may, must, most_nodes)
        if found is None:
            return BestByParts(
                None, "the parent sets of a variable that matter are too many to be listed"
            )
        tables.append(found)
    from scipy.sparse.csgraph import connected_components

    causes = [int(np.bitwise_or.reduce(sets, initial=0)) for sets, _ in tables]
    relation = np.array([[_bit(own, u) for own in causes] for u in range(n)])
    _, label = connected_components(relation, connection="strong")
    largest = int(np.bincount(label).max())
    if largest > most:
        return BestByParts(
            None, f"{count(largest, 'variable')} hang together, and up to {most} are settled"
        )
    dag = np.zeros((n, n), dtype=np.int8)
    for group in np.unique(label):
        part = np.flatnonzero(label == group)
        own = [tables[v] for v in part]
        for v, parents in zip(part.tolist(), _settled(part, own), strict=True):
            dag[[u for u in range(n) if _bit(parents, u)], v] = 1
    if known is not None and not is_acyclic(dag.astype(bool) | known.before):
        return BestByParts(None, "the order that knowledge asks for may exclude the best graph")
    return BestByParts(dag)


def state_of(engine: BicEngine, dag: Adjacency, cost: float) -> BicState:
    """What an engine takes up to be at a DAG."""
    known = engine.knowledge
    order = topological_order(dag if known is None else (dag != 0) | known.before)
    lists = [np.flatnonzero(own) for own in dag.T]
    parents = np.concatenate(lists).astype(np.int64), np.cumsum([len(own) for own in lists])
    none = np.empty(0, dtype=np.int64), np.zeros(len(dag), dtype=np.int64)
    return order.astype(np.int64), (parents[0], parents[1].astype(np.int64)), none, cost


def _bit(number: int, place: int) -> bool:
    return bool(number >> place & 1)


def _settled(part: Indices, tables: list[Table]) -> list[int]:
    """The parent sets of the variables of a part, as bits, that cost least without a cycle."""
    k = len(part)
    ranked = []
    for sets, costs in tables:
        ranks = np.argsort(costs, kind="stable")
        ranked.append((sets[ranks], np.append(costs[ranks], np.inf)))
    # The cheapest set of parents within each set of the part, by its rank.
    kind = np.uint16 if max(len(sets) for sets, _ in ranked) < 65_535 else np.uint32
    first = np.empty((k, 1 << k), dtype=kind)
    for own, (sets, _) in zip(first, ranked, strict=True):
        own.fill(len(sets))
        np.minimum.at(own, _inside(sets, part), np.arange(len(sets), dtype=kind))
        for bit in range(k):
            halves = own.reshape(-1, 2, 1 << bit)
            np.minimum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    least = np.full(1 << k, np.inf)
    least[0] = 0.0
    last = np.zeros(1 << k, dtype=np.int8)
    sizes = np.bitwise_count(np.arange(1 << k, dtype=np.uint32))
    for size in range(1, k + 1):
        now = np.flatnonzero(sizes == size).astype(np.uint32)
        for v in range(k):
            own = now[(now >> v & 1) == 1]
            before = own ^ np.uint32(1 << v)
            cost = least[before] + ranked[v][1][first[v, before]]
            better = cost < least[own]
            least[own[better]] = cost[better]
            last[own[better]] = v
    chosen, left = [0] * k, (1 << k) - 1
    while left:
        v = int(last[left])
        left ^= 1 << v
        chosen[v] = int(ranked[v][0][first[v, left]])
    return chosen


def _inside(sets: Sets, part: Indices) -> npt.NDArray[np.int64]:
    """Each set's variables of a part, the part's k-th as bit k."""
    found = np.zeros(len(sets), dtype=np.int64)
    for k, u in enumerate(part):
        found |= ((sets >> np.uint64(u)) & np.uint64(1)).astype(np.int64) << k
    return found
