"""d-separation: the conditional independences that a DAG implies."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from qwo.errors import GraphError
from qwo.graph.dag import adjacency_lists
from qwo.types import Mask

Vertices = int | Iterable[int]


def d_separated(adjacency: npt.ArrayLike, x: Vertices, y: Vertices, given: Vertices = ()) -> bool:
    """Whether ``given`` blocks every path between ``x`` and ``y`` in a DAG.

    A path is blocked if it has a vertex of ``given`` that is not a collider on it, or a collider
    that neither is in ``given`` nor has a descendant there. Time is linear in the edges.

    Parameters
    ----------
    adjacency : array-like, n×n
        The DAG, ``A[i, j] = 1`` for i → j.
    x, y, given : int or iterable of int
        Disjoint sets of vertices.
    """
    sets = [_vertex_set(vertices) for vertices in (x, y, given)]
    shared = (sets[0] & sets[1]) | (sets[0] & sets[2]) | (sets[1] & sets[2])
    if shared:
        raise GraphError(
            f"x, y and given must be disjoint; {sorted(shared)} in more than one of them"
        )
    return not d_connected(adjacency, sets[0], sets[2])[list(sets[1])].any()


def d_connected(adjacency: npt.ArrayLike, x: Vertices, given: Vertices = ()) -> Mask:
    """Mask of all vertices outside ``given`` with an open path from ``x``; contains ``x`` itself.

    The Bayes ball (Shachter 1998): reachability over pairs of a vertex and whether the ball came up
    to it from a child or down from a parent. A vertex that is not given passes the ball on, and
    sends one that came up down again as well; a given vertex only throws back up what came down,
    which is how it opens the colliders among its ancestors and itself.
    """
    lists = adjacency_lists(adjacency)
    blocked = _vertex_set(given)
    states = [(v, True) for v in _vertex_set(x)]
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


def _vertex_set(vertices: Vertices) -> set[int]:
    if isinstance(vertices, int | np.integer):
        return {int(vertices)}
    return {int(v) for v in vertices}
