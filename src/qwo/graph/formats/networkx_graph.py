"""NetworkX graphs: a ``DiGraph`` in which an undirected edge is two arrows.

pgmpy's DAG and PDAG are such graphs too. Nodes that are not strings are named by ``str``.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from qwo.graph.causal_graph import ARROW, LINE, CausalGraph, Kind
from qwo.graph.formats.builder import GraphBuilder


def to_networkx(graph: CausalGraph) -> nx.DiGraph[str]:
    """The NetworkX graph; ``.graph["kind"]`` keeps the kind."""
    result: nx.DiGraph[str] = nx.DiGraph(kind=graph.kind)
    result.add_nodes_from(graph.names)
    for source, mark, target in graph.edges():
        result.add_edge(source, target)
        if mark == LINE:
            result.add_edge(target, source)
    return result


def from_networkx(graph: nx.Graph[Any], source: str = "the networkx graph") -> CausalGraph:
    """The graph of a NetworkX graph; the edges of an undirected one are all undirected."""
    builder = GraphBuilder(source, two_arrows_are_undirected=True)
    labels = {node: str(node) for node in graph.nodes}
    for label in labels.values():
        builder.add_new_variable(label)
    mark = ARROW if graph.is_directed() else LINE
    for tail, head in set(graph.edges()):
        builder.add_edge(labels[tail], mark, labels[head])
    return builder.build(_kind(graph))


def _kind(graph: nx.Graph[Any]) -> Kind | None:
    """What `to_networkx` noted, if it was that; pgmpy's PDAG is known by its undirected edges."""
    kind = graph.graph.get("kind")
    if kind == "dag":
        return "dag"
    return "cpdag" if kind == "cpdag" or hasattr(graph, "undirected_edges") else None
