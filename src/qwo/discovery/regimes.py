"""The graph of rows from several regimes: a search over equations that may change, and its reading.

A regime is a set of rows, such as those of one experimental condition. In each regime the equation
of a variable is what it is elsewhere, or changed. Which have changed is found along with the graph,
and directs edges that no single regime can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from qwo.arguments import ReadArguments, hinting
from qwo.discovery.curved import asked_columns
from qwo.discovery.curved_regimes import SortedRows, looked_at
from qwo.discovery.discover import discover
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.pdag import to_dag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.moments import Moments
from qwo.options import DEFAULTS, SearchOptions
from qwo.order.linalg import versions
from qwo.regimes.classes import interventional_class, n_members, reasons_of
from qwo.regimes.compared import EquationChanges, compared_equations
from qwo.regimes.reading import (
    UNTOUCHED,
    RegimeData,
    known_targets,
    read_regimes,
    reference_of,
    regime_options,
)
from qwo.regimes.result import REPORTED, Regimes
from qwo.regimes.search import RegimeOutcome, opened_search, search_regimes
from qwo.regimes.sums import RegimeSums, usual_moments
from qwo.regimes.targets import Changes, TargetStatus, changes_of, still_explained
from qwo.search.control import Control, Status, keyboard_heard
from qwo.types import Adjacency, Indices, Mask

RESTARTS, FEWEST, SHARED = 80, 4, 1600
"""Restarts with few variables and with many, and what they share between. On random graphs none of
160 led to a better graph; where relations are nearly exact, 20 were too few in two of ten sets."""


def discover_regimes(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``regime=``: read by regimes, start within them, search, read the result."""
    options = regime_options(data, options)
    curved = options.relations == "curved"
    asked, reading = asked_columns(reading) if curved else (1, reading)
    given = read_regimes(data, options, reading)
    known = RegimeKnowledge.of(options, given)
    search = partial(_searched, given, known, options, control=control)
    found = search(given.sums, given.within)
    if not curved and options.arrows != "noise":
        return found
    rows = SortedRows.of(data, options, reading, given)
    how: Any = {"asked": asked, "knowledge": known.edges, "control": control}
    found = looked_at(found, rows, given, options, search, **how)
    return replace(found, seconds=control.seconds)


def _searched(
    given: RegimeData,
    known: RegimeKnowledge,
    options: SearchOptions,
    sums: RegimeSums,
    within: Moments,
    *,
    control: Control,
) -> Discovery:
    """The graph by the sums of some columns, and its reading.

    What varies within regimes gives an order to start from, and the penalty if it is chosen.
    """
    from qwo.discovery.discover import discover_as

    usual = {name: DEFAULTS[name] for name in (*OF_REGIMES, "relations", "arrows", "level")}
    first = discover_as(within, replace(options, **usual, restarts=0, time_limit=None))
    sums = sums.standardised()
    few = max(FEWEST, min(RESTARTS, SHARED // sums.n_variables))
    restarts = few if options.restarts is None else options.restarts
    settled = {name: first.params[name] for name in ("penalty_discount", "random_state")}
    used = replace(options, **settled, restarts=restarts)
    descend = descent_of(sums, first.order, known.edges, used, control)
    if known.set.any():
        # Leaving out rows of what was not really set would turn edges.
        outcome = descend(known.set, known.touched)
        known = known.without(still_explained(sums, outcome.dag, known.set))
    outcome = descend(known.touched, known.set)
    regimes, graph = read_regime_outcome(outcome, sums, given, known)
    if options.effect == "perfect":
        pairs = np.argwhere(known.touched).tolist()
        told = tuple((given.labels[r], given.moments.names[v]) for r, v in pairs)
        regimes = replace(regimes, not_set=told)
    asked = {name: getattr(options, name) for name in (*OF_REGIMES, "relations", "level")}
    usual_arrows = "noise" if options.relations == "curved" else "class"
    asked |= {"arrows": options.arrows or usual_arrows, "time_limit": options.time_limit}
    return Discovery(
        cpdag=graph,
        dag=outcome.dag,
        order=outcome.order,
        names=given.moments.names,
        score=outcome.score,
        n_edges=int(outcome.dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        params={**first.params, **asked, "restarts": restarts},
        versions=versions(),
        regimes=regimes,
    )


def descent_of(
    sums: RegimeSums, order: Indices, edges: ResolvedKnowledge | None, used: Any, control: Control
) -> Callable[[Mask, Mask], RegimeOutcome]:
    """The search from an order, by which equations are known to have changed, and which were set.

    Nothing is left open in the options.
    """
    how: Any = {"penalty_discount": used.penalty_discount, "knowledge": edges}
    how |= {"restarts": used.restarts or 0, "seed": used.random_state}
    return lambda touched, fixed: search_regimes(
        opened_search(sums, order, known=touched, dropped=fixed, **how), control
    )


OF_REGIMES = ("regime", "targets", "reference", "effect")


class RegimeKnowledge(NamedTuple):
    """What is known of regimes: touched variables, those that were set, the reference; of edges."""

    touched: Mask
    set: Mask
    reference: int | None
    edges: ResolvedKnowledge | None

    @classmethod
    def of(cls, options: SearchOptions, given: RegimeData) -> RegimeKnowledge:
        """What the options say."""
        labels, names, left_out = given.labels, given.moments.names, given.left_out
        known = known_targets(options, labels, names, left_out)
        nothing = np.zeros_like(known)
        touched, fixed = (nothing, known) if options.effect == "perfect" else (known, nothing)
        edges = resolved_knowledge(options, names)
        reference = options.reference
        if reference is None and isinstance(options.targets, str) and UNTOUCHED in labels:
            reference = UNTOUCHED
        return cls(touched, fixed, reference_of(reference, labels), edges)

    def without(self, not_set: Mask) -> RegimeKnowledge:
        """The same where some variables that were said to be set were only touched."""
        return self._replace(touched=self.touched | not_set, set=self.set & ~not_set)

    def as_in(self, found: Regimes | None) -> RegimeKnowledge:
        """The same with those alone taken for set that a result takes for it."""
        assert found is not None
        return self.without(self.set & (np.array(found.status) != "set"))


class _Judgement(NamedTuple):
    """Which equations changed, what is said of that, which changes are targets, and the class."""

    changes: Changes
    status: list[list[TargetStatus]]
    targets: Mask
    graph: Adjacency


def _judged(outcome: RegimeOutcome, sums: RegimeSums, known: RegimeKnowledge) -> _Judgement:
    changes = changes_of(sums, outcome.dag, known.set, known.reference, known.touched)
    status = changes.status(outcome.changed, known.touched, known.set)
    if known.reference is not None:
        own = status[known.reference]
        status[known.reference] = ["same" if s == "target" else s for s in own]
    targets = np.array([[s in REPORTED for s in row] for row in status])
    graph = interventional_class(outcome.dag, targets, known.edges)
    return _Judgement(changes, status, targets, graph)


def learn_regimes(
    order: Indices, known: RegimeKnowledge, sums: RegimeSums, options: SearchOptions
) -> tuple[Adjacency, Status]:
    """The class of the graph that the search finds from an order near the best, and how it ended.

    The sums are much like those that the order is the best of; nothing is left open in the options.
    """
    control = Control(time_limit=options.time_limit)
    scaled = sums.standardised()
    with keyboard_heard(control):
        outcome = descent_of(scaled, order, known.edges, options, control)(known.touched, known.set)
    graph = _judged(outcome, scaled, known).graph
    return graph, "interrupted" if control.interrupted else outcome.status


def read_regime_outcome(
    outcome: RegimeOutcome, sums: RegimeSums, given: RegimeData, known: RegimeKnowledge
) -> tuple[Regimes, Adjacency]:
    """Which changes are targets, why arrows point as they do, and the class that is left."""
    names, labels, dag = given.moments.names, given.labels, outcome.dag
    changes, status, targets, graph = _judged(outcome, sums, known)
    before = interventional_class(dag, np.zeros_like(targets), known.edges)
    reasons = reasons_of(graph, dag, targets, known.edges)
    regimes = Regimes(
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
        reference=None if known.reference is None else labels[known.reference],
        usual=usual_moments(given.moments, given.sums, dag, outcome.order, targets),
    )
    return regimes, graph


@hinting
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
    given = read_regimes(parts, SearchOptions(), reading)
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
