"""The CPDAG of a DAG: its Markov equivalence class in one partially directed graph.

An edge that points the same way in every member of the class is directed (1), every other edge is
undirected (2 in both entries).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qwo.errors import GraphError
from qwo.graph.dag import Names, check_codes, check_dag, ordered_lists
from qwo.graph.extension import to_dag
from qwo.graph.knowledge import ResolvedKnowledge
from qwo.graph.meek import meek_closure
from qwo.graph.pdag import check_pdag
from qwo.types import Adjacency


def to_cpdag(dag: npt.ArrayLike, names: Names = None) -> Adjacency:
    r"""The completed partially directed graph of the Markov equivalence class of a DAG.

    Chickering's edge labelling (UAI 1995), one vertex at a time. With x the last parent of y in a
    topological order, his rules label all edges into y at once: they are all compelled, unless

        compelled parents of x  ⊆  Pa(y) \ {x}  ⊆  Pa(x),

    in which case exactly the compelled parents of x are compelled parents of y. If the left side
    fails, turning x → y round makes a v-structure w → x ← y; if the right side fails, there is one
    already, x → y ← z. Time is linear in the number of edges.

    Parameters
    ----------
    dag : array-like, n×n
        Adjacency matrix, ``A[i, j] = 1`` for i → j.
    names : sequence of str, optional
        Variable names, for messages only.

    Returns
    -------
    ndarray of int8, n×n
        1 for a compelled edge i → j; 2 in both entries for a reversible one.
    """
    matrix = check_codes(dag, largest=1, names=names)
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


def as_cpdag(graph: npt.ArrayLike, names: Names = None) -> Adjacency:
    """The CPDAG of a DAG; a graph with undirected edges is taken to be a CPDAG already.

    A fully directed CPDAG is the CPDAG of itself as a DAG, so the two readings never disagree.
    """
    matrix = check_pdag(graph, names)
    return matrix if (matrix == 2).any() else to_cpdag(matrix, names)


def is_cpdag(graph: npt.ArrayLike) -> bool:
    """Whether the graph is the CPDAG of some DAG: that of its own consistent extension."""
    matrix = check_pdag(graph)
    try:
        member = to_dag(matrix)
    except GraphError:
        return False
    return bool(np.array_equal(to_cpdag(member), matrix))


def same_equivalence_class(first: npt.ArrayLike, second: npt.ArrayLike) -> bool:
    """Whether two DAGs have the same d-separations: the same CPDAG."""
    return bool(np.array_equal(to_cpdag(first), to_cpdag(second)))


def to_mpdag(dag: npt.ArrayLike, knowledge: ResolvedKnowledge) -> Adjacency:
    """The maximally oriented graph of those members of a DAG's class that the knowledge allows.

    The CPDAG; then each undirected edge of which the knowledge forbids one direction; then Meek's
    rules. Knowledge about pairs without an edge (tiers on either side of a variable that is in no
    tier) is respected by the DAG itself, but directs no further edges here.

    Raises
    ------
    KnowledgeError
        If the knowledge does not allow the DAG.
    """
    matrix = check_dag(dag, knowledge.names)
    knowledge.check_dag(matrix)
    pdag = to_cpdag(matrix)
    tails, heads = np.nonzero((pdag == 2) & (matrix == 1) & knowledge.forbidden.T)
    pdag[tails, heads] = 1
    pdag[heads, tails] = 0
    return meek_closure(pdag)
