"""GML through NetworkX: directed, with an undirected edge as two arrows.

A node's label is the name of the variable. NetworkX reads the labels ``[]`` and ``()`` as an empty
list and tuple.
"""

from __future__ import annotations

import re

import networkx as nx

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import malformed, require_names
from qwo.graph.formats.objects import from_networkx, to_networkx

_DAMAGES = (LookupError, ValueError, TypeError, RecursionError)


def parse(text: str, source: str) -> CausalGraph:
    """The graph of a GML text."""
    try:
        graph = nx.parse_gml(text)
    except (nx.NetworkXException, AttributeError, *_DAMAGES) as error:
        raise malformed(source, f"not GML: {error}") from error
    return from_networkx(graph, source)


def render(graph: CausalGraph) -> str:
    """The GML text of a graph."""
    require_names(
        graph.names, lambda name: name not in ("[]", "()"), "GML", "no empty brackets as a name"
    )
    return "\n".join(nx.generate_gml(to_networkx(graph))) + "\n"


def recognises(text: str) -> bool:
    """Whether the text opens a GML graph."""
    return re.match(r"\s*(?:(?:#|Creator|Version)[^\n]*\n\s*)*graph\s*\[", text) is not None
