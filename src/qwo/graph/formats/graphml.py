"""GraphML and GML through NetworkX: directed, with an undirected edge as two arrows.

In GraphML a node's id is the name of the variable; XML cannot hold control characters. In GML its
label is; NetworkX reads the labels ``[]`` and ``()`` as an empty list and tuple.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import xml.etree.ElementTree as ET

import networkx as nx

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import malformed, require_names
from qwo.graph.formats.objects import from_networkx, to_networkx

# https://www.w3.org/TR/xml/#charsets
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_graphml(text: str, source: str) -> CausalGraph:
    """The graph of a GraphML text."""
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
    require_names(
        graph.names, lambda name: not _UNFIT.search(name), "GraphML", "no control characters"
    )
    stream = io.BytesIO()
    nx.write_graphml_xml(_without_lists(graph), stream)
    return stream.getvalue().decode("utf-8") + "\n"


def _without_lists(graph: CausalGraph) -> nx.DiGraph[str]:
    """The NetworkX graph with the levels of each node as a JSON list in a text."""
    result = to_networkx(graph)
    for _, attributes in result.nodes(data=True):
        if "levels" in attributes:
            attributes["levels"] = json.dumps(attributes["levels"], ensure_ascii=False)
    return result


def recognises_graphml(text: str) -> bool:
    """Whether the text is XML."""
    return text.lstrip().startswith(("<?xml", "<graphml"))


_DAMAGES = (LookupError, ValueError, TypeError, RecursionError)


def parse_gml(text: str, source: str) -> CausalGraph:
    """The graph of a GML text."""
    try:
        graph = nx.parse_gml(text)
    except (nx.NetworkXException, AttributeError, *_DAMAGES) as error:
        raise malformed(source, f"not GML: {error}") from error
    return from_networkx(graph, source)


def render_gml(graph: CausalGraph) -> str:
    """The GML text of a graph."""
    require_names(
        graph.names, lambda name: name not in ("[]", "()"), "GML", "no empty brackets as a name"
    )
    return "\n".join(nx.generate_gml(_without_lists(graph))) + "\n"


def recognises_gml(text: str) -> bool:
    """Whether the text opens a GML graph."""
    return re.match(r"\s*(?:(?:#|Creator|Version)[^\n]*\n\s*)*graph\s*\[", text) is not None
