"""Graphs as the objects of other packages, which must be installed for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qwo.errors import ArgumentError
from qwo.graph.causal_graph import ARROW, CausalGraph
from qwo.graph.formats.networkx_graph import to_networkx


def to_pandas(graph: CausalGraph) -> Any:
    """The adjacency matrix as a pandas frame with the names on both sides."""
    return _package("pandas").DataFrame(graph.matrix, index=graph.names, columns=graph.names)


def to_causal_learn(graph: CausalGraph) -> Any:
    """A causal-learn ``GeneralGraph``."""
    general = _package("causallearn.graph.GeneralGraph", "causal-learn")
    nodes = _package("causallearn.graph.GraphNode", "causal-learn")
    edges = _package("causallearn.graph.Edges", "causal-learn").Edges()
    by_name = {name: nodes.GraphNode(name) for name in graph.names}
    result = general.GeneralGraph(list(by_name.values()))
    for source, mark, target in graph.edges():
        make = edges.directed_edge if mark == ARROW else edges.undirected_edge
        result.add_edge(make(by_name[source], by_name[target]))
    return result


def to_pgmpy(graph: CausalGraph) -> Any:
    """A pgmpy ``DAG``, or a ``PDAG`` for a CPDAG."""
    base = _package("pgmpy.base", "pgmpy")
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
    result = _package("pywhy_graphs", "pywhy-graphs").CPDAG()
    result.add_nodes_from(graph.names)
    for source, mark, target in graph.edges():
        result.add_edge(source, target, "directed" if mark == ARROW else "undirected")
    return result


def _package(module: str, distribution: str | None = None) -> Any:
    """A module of an optional package."""
    try:
        return import_module(module)
    except ImportError as error:
        name = distribution or module
        raise ArgumentError(
            f"this needs the package {name}, which is not installed: pip install {name}"
        ) from error
