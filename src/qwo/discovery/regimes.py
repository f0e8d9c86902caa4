"""The graph of rows from several regimes: a search over equations that may change, and its reading.

A regime is a set of rows, such as those of one experimental condition. In each regime the equation
of a variable is what it is elsewhere, or changed. Which have changed is found along with the graph,
and directs edges that no single regime can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.discover import discover
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.pdag import to_dag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.options import SearchOptions
from qwo.order.problem import versions
from qwo.regimes.classes import interventional_class, n_members, reasons_of
from qwo.regimes.compared import EquationChanges, compared_equations
from qwo.regimes.reading import RegimeData, known_targets, read_regimes, reference_of
from qwo.regimes.result import REPORTED, Regimes
from qwo.regimes.search import RegimeOutcome, search_regimes
from qwo.regimes.sums import RegimeSums
from qwo.regimes.targets import changes_of
from qwo.search.control import Control
from qwo.types import Mask

RESTARTS = 20


def discover_regimes(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``regime=``: read by regimes, start within them, search, read the result."""
    from qwo.discovery.discover import discover_as

    given = read_regimes(data, options.regime, reading)
    names, labels = given.moments.names, given.labels
    knowledge = resolved_knowledge(options, names)
    said = _said(options, labels, names)
    # What varies within regimes gives an order to start from, and the penalty if it is chosen.
    plain = replace(options, regime=None, targets=None, reference=None, effect="soft", restarts=0)
    first = discover_as(given.within, replace(plain, time_limit=None))
    sums = given.sums.standardised()
    restarts = RESTARTS if options.restarts is None else options.restarts
    outcome = search_regimes(
        sums,
        first.order,
        penalty_discount=first.params["penalty_discount"],
        known=said.known,
        dropped=said.set,
        knowledge=knowledge,
        restarts=restarts,
        seed=first.params["random_state"],
        control=control,
    )
    regimes = _read(outcome, sums, given, said, knowledge)
    graph = interventional_class(outcome.dag, regimes.targets, knowledge)
    params = {
        **first.params,
        **{name: getattr(options, name) for name in ("regime", "targets", "reference", "effect")},
        "restarts": restarts,
        "time_limit": options.time_limit,
    }
    return Discovery(
        cpdag=graph,
        dag=outcome.dag,
        order=outcome.order,
        names=names,
        score=outcome.score,
        n_edges=int(outcome.dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        params=params,
        versions=versions(),
        regimes=regimes,
    )


class _Said(NamedTuple):
    """What the user says of regimes: touched variables, those that were set, the reference."""

    known: Mask
    set: Mask
    reference: int | None


def _said(options: SearchOptions, labels: Sequence[str], names: Sequence[str]) -> _Said:
    assert not isinstance(options.targets, str), "text has been parsed"
    known = known_targets(options.targets, labels, names)
    nothing = np.zeros_like(known)
    touched, fixed = (nothing, known) if options.effect == "perfect" else (known, nothing)
    return _Said(touched, fixed, reference_of(options.reference, labels))


def _read(
    outcome: RegimeOutcome,
    sums: RegimeSums,
    given: RegimeData,
    said: _Said,
    knowledge: ResolvedKnowledge | None,
) -> Regimes:
    """Which changes are targets, and why arrows point as they do."""
    names, labels, dag = given.moments.names, given.labels, outcome.dag
    changes = changes_of(sums, dag, said.set, said.reference)
    status = changes.status(outcome.changed, said.known, said.set)
    if said.reference is not None:
        own = status[said.reference]
        status[said.reference] = ["same" if s == "target" else s for s in own]
    targets = np.array([[s in REPORTED for s in row] for row in status])
    graph = interventional_class(dag, targets, knowledge)
    before = interventional_class(dag, np.zeros_like(targets), knowledge)
    reasons = reasons_of(graph, dag, targets, knowledge)
    return Regimes(
        labels=labels,
        rows=tuple(int(rows) for rows in sums.rows),
        names=names,
        changes=changes,
        status=tuple(map(tuple, status)),
        reasons={
            (names[i], names[j]): (why, None if r is None else labels[r])
            for (i, j), (why, r) in reasons.items()
        },
        class_before=n_members(before),
        class_after=n_members(graph),
        within=given.within,
        n_causes=tuple(dag.sum(axis=0).tolist()),
        reference=None if said.reference is None else labels[said.reference],
    )


def changes(
    before: Any,
    after: Any,
    graph: Any = None,
    *,
    random_state: int | None = None,
    **reading: Unpack[ReadArguments],
) -> EquationChanges:
    """Which equations of a graph differ between two tables, in which way, and how surely.

    A variable may have moved because its causes did, or because its own equation changed: its mean,
    its residual variance, or the effects of its causes. Only the latter are reported as changed.

    Parameters
    ----------
    before, after : array-like, data frame, str or path
        Two tables with the same columns.
    graph : graph, optional
        A DAG, or a class of them of which a member is taken; learnt from both tables if not given.
    random_state : int, optional
        The seed of that search.
    **reading
        How the tables are read, as for `discover`.

    Returns
    -------
    EquationChanges
        With `changed`, `equations`, `to_frame()` and `summary()`.

    Examples
    --------
    >>> import numpy as np, qwo
    >>> rng = np.random.default_rng(1)
    >>> cause = rng.normal(size=(600, 1))
    >>> before = np.hstack([cause[:300], cause[:300] + rng.normal(size=(300, 1))])
    >>> after = np.hstack([cause[300:] + 1, cause[300:] + 1 + 2 * rng.normal(size=(300, 1))])
    >>> qwo.changes(before, after, graph=[[0, 1], [0, 0]]).changed
    ('X0', 'X1')
    """
    parts = {"before": before, "after": after}
    given = read_regimes(parts, None, reading)
    names = given.moments.names
    if graph is None:
        dag = discover(parts, random_state=random_state, **reading).dag
        drawn = CausalGraph(names, dag, "dag")
    else:
        drawn = as_graph(graph, names=names)
        dag = to_dag(drawn.matrix)
    labels = dict(enumerate(given.moments.column_names))
    equations = compared_equations(given.sums, dag, names, labels)
    rows = [int(np.round(count)) for count in given.sums.rows]
    return EquationChanges(equations, drawn, *rows)
