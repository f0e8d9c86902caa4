"""Graphs over named variables: DAGs, equivalence classes, knowledge, distances, formats.

``A[i, j] = 1`` means i → j; an undirected edge of a partially directed graph is 2 in both entries.
"""

from __future__ import annotations

from qwo.graph.adjustment import adjustment_set, d_connected, d_separated, is_adjustment_set
from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.coercion import as_graph
from qwo.graph.compare import (
    Agreement,
    Comparison,
    adjacency_agreement,
    arrowhead_agreement,
    compare,
    exact_recovery,
    pshd,
    shd,
    skeleton_f1,
    tetrad_shd,
)
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
from qwo.graph.formats import (
    convert,
    decode_matrix,
    encode_matrix,
    parse_graph,
    read_graph,
    to_causal_learn,
    to_networkx,
    to_pandas,
    to_pgmpy,
    to_pywhy,
    write_graph,
)
from qwo.graph.knowledge import Knowledge, ResolvedKnowledge
from qwo.graph.pdag import check_pdag, enumerate_dags, meek_closure, to_dag
from qwo.graph.sampling import class_size, sample_dag, sample_dags

__all__ = [
    "Agreement",
    "CausalGraph",
    "Comparison",
    "Edge",
    "Knowledge",
    "ResolvedKnowledge",
    "adjacency_agreement",
    "adjustment_set",
    "ancestor_matrix",
    "ancestors",
    "arrowhead_agreement",
    "as_cpdag",
    "as_graph",
    "check_dag",
    "check_pdag",
    "children",
    "class_size",
    "compare",
    "convert",
    "covered_edges",
    "d_connected",
    "d_separated",
    "decode_matrix",
    "descendants",
    "encode_matrix",
    "enumerate_dags",
    "exact_recovery",
    "is_adjustment_set",
    "is_cpdag",
    "is_topological",
    "markov_boundary",
    "meek_closure",
    "moral_graph",
    "parents",
    "parse_graph",
    "pshd",
    "read_graph",
    "same_equivalence_class",
    "sample_dag",
    "sample_dags",
    "shd",
    "skeleton",
    "skeleton_f1",
    "tetrad_shd",
    "to_causal_learn",
    "to_cpdag",
    "to_dag",
    "to_mpdag",
    "to_networkx",
    "to_pandas",
    "to_pgmpy",
    "to_pywhy",
    "topological_order",
    "v_structures",
    "write_graph",
]
