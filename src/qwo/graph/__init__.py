"""Graphs over named variables: DAGs, equivalence classes, background knowledge, distances.

``A[i, j] = 1`` means i → j; an undirected edge of a partially directed graph is 2 in both entries.
"""

from __future__ import annotations

from qwo.graph.cpdag import as_cpdag, is_cpdag, same_equivalence_class, to_cpdag, to_mpdag
from qwo.graph.dag import (
    ancestor_matrix,
    ancestors,
    check_dag,
    children,
    covered_edges,
    descendants,
    is_topological,
    markov_boundary,
    moral_graph,
    parents,
    skeleton,
    topological_order,
    v_structures,
)
from qwo.graph.distances import (
    Agreement,
    adjacency_agreement,
    arrowhead_agreement,
    exact_recovery,
    pshd,
    shd,
    skeleton_f1,
)
from qwo.graph.extension import enumerate_dags, to_dag
from qwo.graph.knowledge import Knowledge, ResolvedKnowledge
from qwo.graph.meek import meek_closure
from qwo.graph.pdag import check_pdag
from qwo.graph.separation import d_connected, d_separated

__all__ = [
    "Agreement",
    "Knowledge",
    "ResolvedKnowledge",
    "adjacency_agreement",
    "ancestor_matrix",
    "ancestors",
    "arrowhead_agreement",
    "as_cpdag",
    "check_dag",
    "check_pdag",
    "children",
    "covered_edges",
    "d_connected",
    "d_separated",
    "descendants",
    "enumerate_dags",
    "exact_recovery",
    "is_cpdag",
    "is_topological",
    "markov_boundary",
    "meek_closure",
    "moral_graph",
    "parents",
    "pshd",
    "same_equivalence_class",
    "shd",
    "skeleton",
    "skeleton_f1",
    "to_cpdag",
    "to_dag",
    "to_mpdag",
    "topological_order",
    "v_structures",
]
