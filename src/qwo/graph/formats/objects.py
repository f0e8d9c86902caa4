"""Graphs as the objects of other packages, which must be installed for it."""

from __future__ import annotations

from typing import Any

from qwo.graph.causal_graph import ARROW, CausalGraph
from qwo.graph.formats.networkx_graph import to_networkx
from qwo.optional import optional_module


def to_pandas(graph: CausalGraph) -> Any:
    """The adjacency matrix as a pandas frame with the names on both sides."""
    pandas = optional_module("pandas", "this export needs")
    return pandas.DataFrame(graph.matrix, index=graph.names, columns=graph.names)


def to_causal_learn(graph: CausalGraph) -> Any:
    """A causal-learn ``GeneralGraph``."""
    general = optional_module("causallearn.graph.GeneralGraph", "this export needs", "causal-learn")
    nodes = optional_module("causallearn.graph.GraphNode", "this export needs", "causal-learn")
    edges = optional_module("causallearn.graph.Edges", "this export needs", "causal-learn").Edges()
    by_name = {name: nodes.GraphNode(name) for name in graph.names}
    result = general.GeneralGraph(list(by_name.values()))
    for source, mark, target in graph.edges():
        make = edges.directed_edge if mark == ARROW else edges.undirected_edge
        result.add_edge(make(by_name[source], by_name[target]))
    return result


def to_pgmpy(graph: CausalGraph) -> Any:
    """A pgmpy ``DAG``, or a ``PDAG`` for a CPDAG."""
    base = optional_module("pgmpy.base", "this export needs", "pgmpy")
    directed = [(edge.source, edge.target) for edge in graph.edges() if edge.mark == ARROW]
    undirected = [(edge.source, edge.target) for edge in graph.edges() if edge.mark != ARROW]
    if graph.kind == "dag":
        result = base.DAG()
        result.add_nodes_from(graph.names)
        result.add_edges_from(directed)
    else:
        result = base.PDAG(directed_ebunch=directed, undirected_ebunch=undirected)
        result.add_nodes_from(graph.names)
    return result


def to_pywhy(graph: CausalGraph) -> Any:
    """A pywhy-graphs ``CPDAG``; a DAG stays a NetworkX ``DiGraph``, as that package has it."""
    if graph.kind == "dag":
        return to_networkx(graph)
    result = optional_module("pywhy_graphs", "this export needs", "pywhy-graphs").CPDAG()
    result.add_nodes_from(graph.names)
    for source, mark, target in graph.edges():
        result.add_edge(source, target, "directed" if mark == ARROW else "undirected")
    return result
