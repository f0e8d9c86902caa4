"""d-separation: the conditional independences that a DAG implies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.dag import Names, adjacency_lists, named_matrix, vertex
from qwo.names import Variable
from qwo.types import Mask

Variables = Variable | Iterable[Variable]


def d_separated(graph: Any, x: Variables, y: Variables, given: Variables = ()) -> bool:
    """Whether ``given`` blocks every path between ``x`` and ``y`` in a DAG.

    A path is blocked if it has a vertex of ``given`` that is not a collider on it, or a collider
    that neither is in ``given`` nor has a descendant there. Time is linear in the edges.

    Parameters
    ----------
    graph : matrix, or anything that `as_graph` takes
        The DAG, ``A[i, j] = 1`` for i → j.
    x, y, given : int, str, or iterable of these
        Disjoint sets of variables, by number or name.
    """
    matrix, names = named_matrix(graph)
    sets = [_vertex_set(part, len(matrix), names) for part in (x, y, given)]
    shared = (sets[0] & sets[1]) | (sets[0] & sets[2]) | (sets[1] & sets[2])
    if shared:
        raise GraphError(
            f"x, y and given must be disjoint; {sorted(shared)} in more than one of them"
        )
    return not d_connected(matrix, sets[0], sets[2])[list(sets[1])].any()


def d_connected(graph: Any, x: Variables, given: Variables = ()) -> Mask:
    """Mask of all vertices outside ``given`` with an open path from ``x``; contains ``x`` itself.

    The Bayes ball (Shachter 1998): reachability over pairs of a vertex and whether the ball came up
    to it from a child or down from a parent. A vertex that is not given passes the ball on, and
    sends one that came up down again as well; a given vertex only throws back up what came down,
    which is how it opens the colliders among its ancestors and itself.
    """
    matrix, names = named_matrix(graph)
    lists = adjacency_lists(matrix)
    blocked = _vertex_set(given, len(matrix), names)
    states = [(v, True) for v in _vertex_set(x, len(matrix), names)]
    seen = set(states)
    while states:
        v, up = states.pop()
        reached: list[tuple[int, bool]] = []
        if v not in blocked:
            reached += [(child, False) for child in lists.children[v]]
        if up != (v in blocked):
            reached += [(parent, True) for parent in lists.parents[v]]
        new = [state for state in reached if state not in seen]
        seen.update(new)
        states += new
    mask = np.zeros(len(lists.parents), dtype=np.bool_)
    mask[list({v for v, _ in seen} - blocked)] = True
    return mask


def _vertex_set(variables: Variables, n: int, names: Names) -> set[int]:
    if isinstance(variables, str | int | np.integer):
        return {vertex(variables, n, names, "variable")}
    return {vertex(variable, n, names, "variable") for variable in variables}
