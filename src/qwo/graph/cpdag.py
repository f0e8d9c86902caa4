"""The CPDAG of a DAG: its Markov equivalence class in one partially directed graph.

An edge that points the same way in every member of the class is directed (1), every other edge is
undirected (2 in both entries).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.dag import (
    Names,
    ancestor_matrix,
    check_codes,
    check_dag,
    descendants,
    named_matrix,
    ordered_lists,
)
from qwo.graph.knowledge import ResolvedKnowledge
from qwo.graph.pdag import PartialDag, check_pdag, meek_closure, to_dag
from qwo.types import Adjacency, Mask


def to_cpdag(dag: Any, names: Names = None) -> Adjacency:
    r"""The completed partially directed graph of the Markov equivalence class of a DAG.

    Chickering's edge labelling (UAI 1995), one vertex at a time. With x the last parent of y in a
    topological order, his rules label all edges into y at once: they are all compelled, unless

        compelled parents of x  ⊆  Pa(y) \ {x}  ⊆  Pa(x),

    in which case exactly the compelled parents of x are compelled parents of y. If the left side
    fails, turning x → y round makes a v-structure w → x ← y; if the right side fails, there is one
    already, x → y ← z. Time is linear in the number of edges.

    Parameters
    ----------
    dag : matrix, or anything that `as_graph` takes
        A matrix has ``A[i, j] = 1`` for i → j. A CPDAG comes back as it is.
    names : sequence of str, optional
        Variable names, for messages only.

    Returns
    -------
    ndarray of int8, n×n
        1 for a compelled edge i → j; 2 in both entries for a reversible one.
    """
    matrix, own = named_matrix(dag)
    names = own if names is None else names
    if np.max(matrix, initial=0) == 2 and is_cpdag(matrix):
        return check_pdag(matrix)
    matrix = check_codes(matrix, largest=1, names=names)
    order, lists = ordered_lists(matrix, names)
    rank = {v: k for k, v in enumerate(order)}
    parents = [set(listed) for listed in lists.parents]
    compelled: list[set[int]] = [set() for _ in order]
    tails: list[int] = []
    heads: list[int] = []
    for y in order:
        if not parents[y]:
            continue
        x = max(parents[y], key=rank.__getitem__)
        others = parents[y] - {x}
        compelled[y] = compelled[x] if compelled[x] <= others <= parents[x] else parents[y]
        reversible = parents[y] - compelled[y]
        tails.extend(reversible)
        heads.extend([y] * len(reversible))
    cpdag = matrix.copy()
    cpdag[tails, heads] = 2
    cpdag[heads, tails] = 2
    return cpdag


def as_cpdag(graph: Any, names: Names = None) -> Adjacency:
    """The CPDAG of a DAG; a graph with undirected edges is taken to be a CPDAG already.

    A fully directed CPDAG is the CPDAG of itself as a DAG, so the two readings never disagree.
    """
    matrix = check_pdag(graph, names)
    return matrix if (matrix == 2).any() else to_cpdag(matrix, names)


def is_cpdag(graph: Any) -> bool:
    """Whether the graph is the CPDAG of some DAG: that of its own consistent extension."""
    matrix = check_pdag(graph)
    try:
        member = to_dag(matrix)
    except GraphError:
        return False
    return bool(np.array_equal(to_cpdag(member), matrix))


def same_equivalence_class(first: Any, second: Any) -> bool:
    """Whether two DAGs have the same d-separations: the same CPDAG."""
    return bool(np.array_equal(to_cpdag(first), to_cpdag(second)))


def to_mpdag(dag: Any, knowledge: ResolvedKnowledge) -> Adjacency:
    """The maximally oriented graph of those members of a DAG's class that the knowledge allows.

    The CPDAG; then each undirected edge of which the knowledge excludes one direction; then Meek's
    rules, which miss nothing that follows (his theorem 4). A direction is excluded if it is
    forbidden, or if it alone would make a variable a cause of one that must come before it.

    Raises
    ------
    KnowledgeError
        If the knowledge does not allow the DAG.
    """
    matrix = check_dag(dag, knowledge.names)
    knowledge.check_dag(matrix)
    pdag = to_cpdag(matrix)
    excluded = knowledge.forbidden | _backward_directions(pdag, knowledge.before)
    tails, heads = np.nonzero((pdag == 2) & (matrix == 1) & excluded.T)
    pdag[tails, heads] = 1
    pdag[heads, tails] = 0
    return meek_closure(pdag)


def _backward_directions(cpdag: Adjacency, before: Mask) -> Mask:
    """Directions of undirected edges of a CPDAG that lead from a variable back before itself.

    With x → c, an undirected path x — c — … — d whose vertices are joined only one by one points
    from x to d in every member, or it would make a v-structure; behind d follow the arrows of the
    CPDAG. A shortest directed path of any member is of this kind, so nothing is missed:
    Z. Fang and Y. He, IDA with background knowledge, UAI 2020, and their later papers.
    """
    graph = PartialDag.from_matrix(cpdag)
    backward = np.zeros(before.shape, dtype=np.bool_)
    near = graph.neighbours
    inner = [v for v, listed in enumerate(near) if listed]
    if not inner or not before[:, inner].any():
        return backward
    reach = ancestor_matrix(cpdag == 1)
    np.fill_diagonal(reach, val=True)
    # Entry (d, x): whether d is, or certainly causes, something that must come before x.
    early = reach[inner].astype(np.float32) @ before[:, inner].astype(np.float32) > 0
    for k, x in enumerate(inner):
        ends = {inner[d] for d in np.flatnonzero(early[:, k])}
        if ends:
            for c in near[x]:
                backward[x, c] = _leads_to(ends, x, c, near)
    return backward


def _leads_to(ends: set[int], x: int, c: int, near: Sequence[set[int]]) -> bool:
    """Whether an undirected path that starts x — c and has no two-step short cut meets ``ends``."""
    seen = {(x, c)}
    steps = [(x, c)]
    while steps:
        previous, vertex = steps.pop()
        if vertex in ends:
            return True
        onward = near[vertex] - near[previous] - {previous}
        new = {(vertex, further) for further in onward} - seen
        seen |= new
        steps += new
    return False


def descendants_given(graph: Adjacency, vertex: int, parents: Iterable[int]) -> Mask:
    """The descendants of a vertex in all DAGs of the graph in which it has exactly these parents.

    They are the same in all of them: once the edges at the vertex have their directions, Meek's
    rules direct every shortest path that leads away from it. New arrows stay among the vertices
    that undirected edges join to it.
    """
    arrows: Adjacency = (graph == 1).astype(np.int8)
    joined = sorted([vertex, *descendants(graph == 2, vertex).tolist()])
    if len(joined) > 1:
        place = {v: k for k, v in enumerate(joined)}
        inner = np.ix_(joined, joined)
        branch = directed_at(graph[inner], place[vertex], {place[p] for p in parents if p in place})
        arrows[inner] = meek_closure(branch) == 1
    mask = np.zeros(len(graph), dtype=np.bool_)
    mask[descendants(arrows, vertex)] = True
    return mask


def directed_at(graph: Adjacency, vertex: int, parents: set[int]) -> Adjacency:
    """The graph with the undirected edges at a vertex from these parents and to all others."""
    branch = graph.copy()
    for u in np.flatnonzero(graph[vertex] == 2).tolist():
        tail, head = (u, vertex) if u in parents else (vertex, u)
        branch[tail, head], branch[head, tail] = 1, 0
    return branch
