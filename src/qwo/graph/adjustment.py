"""d-separation, and adjustment sets: covariates whose control makes a slope a total effect.

The criterion is complete: I. Shpitser, T. VanderWeele and J. Robins, On the validity of covariate
adjustment, UAI 2010; in the form of E. Perković et al., JMLR 18 (2018). A set is valid for the
effect of x on y if it holds no forbidden vertex (one on a causal path behind x, or a descendant of
one) and separates x from y once the first edges of the causal paths are taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, Cure, GraphError, optional_module
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.cpdag import is_cpdag
from qwo.graph.dag import (
    Names,
    adjacency_lists,
    ancestor_matrix,
    check_dag,
    named_matrix,
    parents,
    vertex,
)
from qwo.names import Variable
from qwo.types import Adjacency, Indices, Mask

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


def adjustment_set(
    dag: Any, cause: Variable, effect: Variable, kind: str = "minimal"
) -> Indices | None:
    """A valid adjustment set for the total effect of one variable on another, or None.

    Parameters
    ----------
    dag : matrix, or anything that `as_graph` takes
        The DAG, ``A[i, j] = 1`` for i → j.
    cause, effect : int or str
        The two variables, by number or name.
    kind : {"minimal", "parents", "optimal"}
        - "minimal": no subset of it is valid.
        - "parents": the parents of the cause.
        - "optimal": the parents of what lies on the causal paths, which gives the smallest
          asymptotic variance of all valid sets in a linear model (L. Henckel, E. Perković and
          M. Maathuis, JRSS B 84 (2022)).

    Returns
    -------
    ndarray of int or None
        Sorted vertices; None if no set of this kind is valid, as for the "effect" of a variable on
        its own parent.
    """
    matrix, names = _named_dag(dag)
    x, y = _pair(matrix, names, cause, effect)
    if kind not in _KINDS:
        raise ArgumentError(f"kind is {kind!r}; choose one of {', '.join(_KINDS)}")
    found = _KINDS[kind](matrix, x, y)
    if found is None or not is_adjustment_set(matrix, x, y, found):
        return None
    return np.array(sorted(found), dtype=np.intp)


def is_adjustment_set(
    dag: Any, cause: Variable, effect: Variable, covariates: Iterable[Variable]
) -> bool:
    """Whether controlling for the covariates identifies the total effect of cause on effect."""
    matrix, names = _named_dag(dag)
    x, y = _pair(matrix, names, cause, effect)
    chosen = {vertex(v, len(matrix), names, "covariates") for v in covariates}
    if chosen & {x, y} or _forbidden(matrix, x, y)[list(chosen)].any():
        return False
    return d_separated(_back_door_graph(matrix, x, y), x, y, chosen)


def _minimal(dag: Adjacency, cause: int, effect: int) -> Iterable[int] | None:
    """NetworkX's minimal separator in the graph without the causal paths."""
    import networkx as nx

    graph = nx.from_numpy_array(_back_door_graph(dag, cause, effect), create_using=nx.DiGraph)
    allowed = ~_forbidden(dag, cause, effect)
    allowed[[cause, effect]] = False
    found: set[int] | None = nx.find_minimal_d_separator(
        graph, {cause}, {effect}, restricted=set(np.flatnonzero(allowed).tolist())
    )
    return found


def _parents(dag: Adjacency, cause: int, _effect: int) -> Iterable[int]:
    return [int(v) for v in parents(dag, cause)]


def _optimal(dag: Adjacency, cause: int, effect: int) -> Iterable[int]:
    on_paths = _on_causal_paths(dag, cause, effect)
    chosen = dag[:, on_paths].any(axis=1) & ~_forbidden(dag, cause, effect)
    chosen[cause] = False
    return [int(v) for v in np.flatnonzero(chosen)]


_KINDS: dict[str, Callable[[Adjacency, int, int], Iterable[int] | None]] = {
    "minimal": _minimal,
    "parents": _parents,
    "optimal": _optimal,
}


def _on_causal_paths(dag: Adjacency, cause: int, effect: int) -> Mask:
    """The vertices on directed paths from the cause to the effect, without the cause."""
    reach = ancestor_matrix(dag)
    np.fill_diagonal(reach, val=True)
    mask: Mask = reach[cause] & reach[:, effect]
    mask[cause] = False
    return mask


def _forbidden(dag: Adjacency, cause: int, effect: int) -> Mask:
    """The vertices on causal paths and their descendants."""
    reach = ancestor_matrix(dag)
    np.fill_diagonal(reach, val=True)
    mask: Mask = np.logical_or.reduce(reach[_on_causal_paths(dag, cause, effect)], axis=0)
    return mask


def _back_door_graph(dag: Adjacency, cause: int, effect: int) -> Adjacency:
    """The graph without the first edges of the causal paths."""
    graph = dag.copy()
    graph[cause, _on_causal_paths(dag, cause, effect)] = 0
    return graph


def _named_dag(graph: Any) -> tuple[Adjacency, Names]:
    matrix, names = named_matrix(graph)
    return check_dag(matrix, names), names


def _pair(dag: Adjacency, names: Names, cause: Variable, effect: Variable) -> tuple[int, int]:
    x, y = vertex(cause, len(dag), names, "cause"), vertex(effect, len(dag), names, "effect")
    if x == y:
        raise GraphError("cause and effect must be two different variables")
    return x, y


@dataclass(frozen=True)
class AdjustmentDistance:
    """The causal effects that an estimated graph gets wrong, as shares of all n (n - 1).

    For each ordered pair of variables the estimate says how to identify the effect of one on the
    other, or that there is none; the share is of those for which this is wrong in the truth. The
    three differ in the adjustment set: all ancestors, the parents, or the optimal set.
    L. Henckel, T. Würtzen and S. Weichwald, UAI 2024.
    """

    ancestor: float
    parent: float
    oset: float


def adjustment_distance(
    estimated: CausalGraph, truth: CausalGraph, wanted: bool | None = None
) -> AdjustmentDistance | None:
    """The distances between two graphs over the same variables, by the optional package gadjid.

    If ``wanted`` is True, it is an error that there is none; if None, there is one where gadjid is
    installed and fits the graphs, of which it does not check that they are CPDAGs.
    """
    if wanted is False or (wanted is None and find_spec("gadjid") is None):
        return None
    gadjid = optional_module("gadjid", "the adjustment distance needs")
    obstacle = _obstacle(estimated, truth)
    if obstacle and wanted:
        raise GraphError(f"there is no adjustment distance: {obstacle}", cures=[Cure("aid", False)])
    if obstacle:
        return None
    arguments = (truth.matrix, estimated.matrix, "from row to column")
    return AdjustmentDistance(
        ancestor=gadjid.ancestor_aid(*arguments)[0],
        parent=gadjid.parent_aid(*arguments)[0],
        oset=gadjid.oset_aid(*arguments)[0],
    )


def _obstacle(estimated: CausalGraph, truth: CausalGraph) -> str | None:
    if truth.n_variables < 2:
        return "the graphs have a single variable"
    for title, graph in (("estimated graph", estimated), ("true graph", truth)):
        if graph.kind == "cpdag" and not is_cpdag(graph.matrix):
            return f"the {title} is not the CPDAG of any DAG"
    return None
