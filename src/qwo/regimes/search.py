"""The search over graphs whose equations may change from regime to regime."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qwo import _core
from qwo.graph.resolved_knowledge import ResolvedKnowledge, search_limits
from qwo.regimes.sums import RegimeSums
from qwo.search.control import SLICE, Control, Progress, Status, Stopped
from qwo.types import Adjacency, Indices, Mask

SLOPES = 0.5
"""Share of log N that each slope of a changed equation costs: 0, ¼, ½ and 1 find the same graphs
where equations change in one way; drift of all regimes speaks for more, perfect settings for 1."""


@dataclass(frozen=True, slots=True, eq=False)
class RegimeOutcome:
    """The graph found, and which equations it takes to have changed: regimes by variables.

    The score is by how much the graph costs less than the one without edges.
    """

    dag: Adjacency
    order: Indices
    score: float
    changed: Mask
    status: Status
    trace: tuple[tuple[float, float], ...]


def search_regimes(search: _core.RegimeSearch, control: Control) -> RegimeOutcome:
    """The DAG of least Σ_g N_g log s_g² + penalties over all children and their groups of rows."""
    trace = [(control.seconds, search.cost)]
    status: Status = "converged"
    try:
        while not search.run(min(SLICE, control.remaining)):
            if search.cost < trace[-1][1]:
                trace.append((control.seconds, search.cost))
            if control.is_due():
                best = trace[-1][1]
                control.report(Progress("regimes", len(trace), best, best, control.seconds))
    except Stopped as stopped:
        status = stopped.status
    return RegimeOutcome(
        search.dag(),
        search.order().astype(np.intp),
        sum(search.family_cost(v, []) for v in range(len(search.order()))) - search.cost,
        search.changed().astype(bool),
        status,
        tuple(trace),
    )


def opened_search(
    sums: RegimeSums,
    start: Indices,
    *,
    penalty_discount: float,
    known: Mask,
    dropped: Mask,
    knowledge: ResolvedKnowledge | None = None,
    restarts: int = 0,
    seed: int = 0,
) -> _core.RegimeSearch:
    """The search before its first step, which also tells what any family costs.

    `known` targets are groups of their own without a penalty; `dropped` rows do not count for the
    variable whose value was set. Sums are standardised.
    """
    unit = math.log(sums.rows.sum())
    return _core.RegimeSearch(
        np.ascontiguousarray(sums.products()),
        list(sums.sizes),
        list(sums.explained),
        known=known.astype(np.uint8),
        dropped=dropped.astype(np.uint8),
        edge=penalty_discount * unit,
        target=unit,
        slopes=SLOPES,
        order=start.astype(np.int64),
        **search_limits(knowledge, np.ones((sums.n_variables, sums.n_variables), bool)),
        restarts=restarts,
        seed=seed,
    )
