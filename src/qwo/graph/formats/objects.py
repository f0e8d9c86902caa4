"""Graphs as the objects of other packages, and GraphML and GML through NetworkX.

A NetworkX graph is a ``DiGraph`` in which an undirected edge is two arrows; the edges of a MAG or
PAG have their ``mark``. pgmpy's DAG and PDAG
are such graphs too. Nodes that are not strings are named by ``str``. In GraphML a node's id is the
name of the variable; XML cannot hold control characters. In GML its label is; NetworkX reads the
labels ``[]`` and ``()`` as an empty list and tuple.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from qwo.errors import optional_module
from qwo.graph.causal_graph import TARGETS, CausalGraph, Kind
from qwo.graph.formats.builder import (
    GraphBuilder,
    malformed,
    of_json,
    require_names,
    require_no_lines,
    require_plain,
    require_single_arrows,
)
from qwo.graph.marks import ARROW, CIRCLE, CODES, HEAD, LINE, MARKS, TAIL

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: object) -> nx.DiGraph[str]:
    """The NetworkX graph; ``.graph["kind"]`` keeps the kind, and every arrow has its values.

    Nodes have the types and levels of categories, where the graph knows them, and
    ``.graph["targets"]`` the variables that each condition touched.
    """
    import networkx as nx

    given = _given(graph)
    require_no_lines(given, "a NetworkX graph")
    result: nx.DiGraph[str] = nx.DiGraph(kind=given.kind)
    if given.targets:
        result.graph[TARGETS] = given.targets
    result.add_nodes_from((name, given.variables.get(name, {})) for name in given.names)
    if given.is_mixed:
        for edge, known in zip(given.edges, given.edge_values(), strict=True):
            result.add_edge(edge.source, edge.target, mark=edge.mark, **known)
        return result
    for i, j in np.argwhere(given.matrix).tolist():
        result.add_edge(given.names[i], given.names[j], **given.values_at(i, j))
    return result


def from_networkx(graph: nx.Graph[Any], source: str = "the networkx graph") -> CausalGraph:
    """The graph of a NetworkX graph; the edges of an undirected one are all undirected."""
    kind = _kind(graph)
    cyclic = kind == "cyclic"
    builder = GraphBuilder(source, two_arrows_are_undirected=not cyclic, cycles=cyclic)
    labels = {node: str(node) for node in graph.nodes}
    for node, label in labels.items():
        builder.add_new_variable(label)
        builder.describe(label, graph.nodes[node])
    mark = ARROW if graph.is_directed() else LINE
    for tail, head, own in graph.edges(data=True):
        known = own.get("mark")
        builder.add_edge(labels[tail], known if known in CODES else mark, labels[head])
    found, targets = builder.build(kind), of_json(graph.graph.get(TARGETS))
    if not isinstance(targets, Mapping):
        return found
    return replace(found, metadata={**found.metadata, TARGETS: dict(targets)})


def _kind(graph: nx.Graph[Any]) -> Kind | None:
    """What `to_networkx` noted, if it was that; pgmpy's PDAG is known by its undirected edges."""
    kind = graph.graph.get("kind")
    if kind in ("dag", "cyclic", "mag", "pag"):
        return cast(Kind, kind)
    return "cpdag" if kind == "cpdag" or hasattr(graph, "undirected_edges") else None


def to_pandas(graph: object) -> Any:
    """The adjacency matrix as a pandas frame with the names on both sides."""
    given = _given(graph)
    pandas = optional_module("pandas", "this export needs")
    return pandas.DataFrame(given.matrix, index=given.names, columns=given.names)


def to_causal_learn(graph: object) -> Any:
    """A causal-learn ``GeneralGraph``."""
    given = _given(graph)
    require_single_arrows(given, "a graph of causal-learn")
    general, node, edge, end = (
        getattr(
            optional_module(f"causallearn.graph.{kind}", "this export needs", "causal-learn"), kind
        )
        for kind in ("GeneralGraph", "GraphNode", "Edge", "Endpoint")
    )
    called = {CIRCLE: end.CIRCLE, HEAD: end.ARROW, TAIL: end.TAIL}
    by_name = {name: node(name) for name in given.names}
    result = general(list(by_name.values()))
    for source, mark, target in given.edges:
        near, far = MARKS[mark].ends
        result.add_edge(edge(by_name[source], by_name[target], called[near], called[far]))
    return result


def to_pgmpy(graph: object) -> Any:
    """A pgmpy ``DAG``, or a ``PDAG`` for a CPDAG; nodes have the types and levels of categories.

    A DAG of nothing but categories is a ``DiscreteBayesianNetwork``, to be fitted to data.
    """
    given = _given(graph)
    require_plain(given, "pgmpy")
    require_single_arrows(given, "a graph of pgmpy")
    base = optional_module("pgmpy.base", "this export needs", "pgmpy")
    directed = [(edge.source, edge.target) for edge in given.edges if edge.mark == ARROW]
    undirected = [(edge.source, edge.target) for edge in given.edges if edge.mark != ARROW]
    if given.kind == "dag":
        own = given.variables
        levels = all("levels" in own.get(name, {}) for name in given.names)
        models = optional_module("pgmpy.models", "this export needs", "pgmpy") if levels else None
        result = base.DAG() if models is None else models.DiscreteBayesianNetwork()
        result.add_nodes_from(given.names)
        result.add_edges_from(directed)
    else:
        result = base.PDAG(directed_ebunch=directed, undirected_ebunch=undirected)
        result.add_nodes_from(given.names)
    for name, known in given.variables.items():
        result.nodes[name].update(known)
    return result


def to_pywhy(graph: object) -> Any:
    """A pywhy-graphs ``CPDAG``; a DAG stays a NetworkX ``DiGraph``, as that package has it."""
    given = _given(graph)
    require_plain(given, "this export to pywhy-graphs")
    require_single_arrows(given, "a graph of pywhy-graphs")
    if given.kind == "dag":
        return to_networkx(given)
    result = optional_module("pywhy_graphs", "this export needs", "pywhy-graphs").CPDAG()
    result.add_nodes_from(given.names)
    for source, mark, target in given.edges:
        result.add_edge(source, target, "directed" if mark == ARROW else "undirected")
    return result


def _given(graph: object) -> CausalGraph:
    """The graph to export, as anything that `as_graph` takes; which reads formats, and so this."""
    from qwo.graph.coercion import as_graph

    return as_graph(graph, mixed=True)


# https://www.w3.org/TR/xml/#charsets
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_graphml(text: str, source: str) -> CausalGraph:
    """The graph of a GraphML text."""
    import networkx as nx

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise malformed(
            source, "it declares a document type or entities, which a graph has no use for"
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # about attributes, which are not used
            graph = nx.parse_graphml(text)
    except ET.ParseError as error:
        raise malformed(source, f"not XML: {error}", error.position[0]) from error
    except (nx.NetworkXException, KeyError, ValueError, TypeError, AttributeError) as error:
        raise malformed(source, f"not GraphML: {error}") from error
    return from_networkx(graph, source)


def render_graphml(graph: CausalGraph) -> str:
    """The GraphML text of a graph."""
    import networkx as nx

    require_names(
        graph.names, lambda name: not _UNFIT.search(name), "GraphML", "no control characters"
    )
    stream = io.BytesIO()
    nx.write_graphml_xml(_without_lists(graph), stream)
    return stream.getvalue().decode("utf-8") + "\n"


def _without_lists(graph: CausalGraph) -> nx.DiGraph[str]:
    """The NetworkX graph with levels of nodes and targets of conditions as JSON in a text."""
    result = to_networkx(graph)
    for _, attributes in result.nodes(data=True):
        if "levels" in attributes:
            attributes["levels"] = json.dumps(attributes["levels"], ensure_ascii=False)
    if TARGETS in result.graph:
        result.graph[TARGETS] = json.dumps(result.graph[TARGETS], ensure_ascii=False)
    return result


def recognises_graphml(text: str) -> bool:
    """Whether the text is XML."""
    return text.lstrip().startswith(("<?xml", "<graphml"))


_DAMAGES = (LookupError, ValueError, TypeError, RecursionError)


def parse_gml(text: str, source: str) -> CausalGraph:
    """The graph of a GML text."""
    import networkx as nx

    try:
        graph = nx.parse_gml(text)
    except (nx.NetworkXException, AttributeError, *_DAMAGES) as error:
        raise malformed(source, f"not GML: {error}") from error
    return from_networkx(graph, source)


def render_gml(graph: CausalGraph) -> str:
    """The GML text of a graph."""
    import networkx as nx

    require_names(
        graph.names, lambda name: name not in ("[]", "()"), "GML", "no empty brackets as a name"
    )
    return "\n".join(nx.generate_gml(_without_lists(graph))) + "\n"


def recognises_gml(text: str) -> bool:
    """Whether the text opens a GML graph."""
    return re.match(r"\s*(?:(?:#|Creator|Version)[^\n]*\n\s*)*graph\s*\[", text) is not None
