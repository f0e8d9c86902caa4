"""Tetrad's text format.

::

    Graph Nodes:
    A;B;C

    Graph Edges:
    1. A --> B
    2. B --- C

Whatever stands behind an edge (the marks nl, pd, … and bootstrap frequencies) and the sections
after the edges are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, require_names
from qwo.graph.marks import CODES
from qwo.text import shown

_NODES = "Graph Nodes:"
_EDGES = "Graph Edges:"


def parse(text: str, source: str) -> CausalGraph:
    """The graph of a Tetrad text."""
    builder = GraphBuilder(source)
    section = ""
    for number, line in _lines(text):
        if line in (_NODES, _EDGES):
            section = line
        elif not line:
            section = ""
        elif section == _NODES:
            for name in re.split("[,;]", line):
                _add_node(builder, name, number)
        elif section == _EDGES:
            _add_edge(builder, line, number)
    if not text.strip() or (_NODES not in text and _EDGES not in text):
        builder.refuse(f"wanted a line {_NODES!r} and a line {_EDGES!r}")
    return builder.build()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.strip()


def _add_node(builder: GraphBuilder, name: str, number: int) -> None:
    if re.fullmatch(r"\(.*\)|\[.*\]", name):
        builder.refuse(
            f"{shown(name)} is a latent or selection variable, which neither a DAG of the measured "
            f"variables nor a CPDAG has; remove it",
            number,
        )
    builder.add_new_variable(name.strip(), number)


def _add_edge(builder: GraphBuilder, line: str, number: int) -> None:
    match = re.match(r"(?:\d+\.\s+)?(\S+)\s+(\S-\S)\s+(\S+)(?:\s|\Z)", line)
    if match is None:
        builder.refuse(f"wanted an edge such as '1. A --> B'; got {shown(line)}", number)
    if match[2] not in CODES:
        builder.refuse(f"edges are {', '.join(CODES)}; got {match[2]}", number)
    builder.add_edge(match[1], match[2], match[3], number)


def render(graph: CausalGraph) -> str:
    """The Tetrad text of a graph."""
    require_names(
        graph.names,
        lambda name: re.fullmatch(r"(?!\(.*\)\Z|\[.*\]\Z)[^\s,;\x00-\x1f\x7f]+", name),
        "Tetrad's format",
        "no blanks, line breaks, commas or semicolons, and no brackets around the name",
    )
    edges = [
        f"{k}. {edge.source} {edge.mark} {edge.target}"
        for k, edge in enumerate(graph.edges, start=1)
    ]
    return "\n".join([_NODES, ";".join(graph.names), "", _EDGES, *edges, ""])


def recognises(text: str) -> bool:
    """Whether a line of the text opens a section of nodes or edges."""
    return re.search(rf"^\s*(?:{_NODES}|{_EDGES})\s*$", text, re.MULTILINE) is not None
