"""`changes`: which equations differ between two tables, on a graph that is given or learnt."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.discover import discover
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.pdag import to_dag
from qwo.regimes.compared import EquationChanges, compared_equations
from qwo.regimes.reading import read_regimes


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
