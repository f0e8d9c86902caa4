"""bnlearn's model strings: ``[A][B|A][C|A:B]``, every variable with its parents; DAGs only."""

from __future__ import annotations

import re

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.dag import adjacency_lists
from qwo.graph.formats.builder import GraphBuilder, require_dag, require_names
from qwo.graph.marks import ARROW
from qwo.text import shown

_NAME = r"[^\[\]|:\r\n]+"
_NODE = re.compile(rf"\[({_NAME})(?:\|({_NAME}(?::{_NAME})*))?\]")


def parse(text: str, source: str) -> CausalGraph:
    """The graph of a model string, with its variables in the order of the brackets."""
    string = text.strip()
    builder = GraphBuilder(source)
    nodes, at = [], 0
    while match := _NODE.match(string, at):
        nodes.append((match[1], match[2].split(":") if match[2] else []))
        builder.add_new_variable(match[1])
        at = match.end()
    if at < len(string) or not nodes:
        builder.refuse(
            f"wanted a model string such as [A][B|A][C|A:B]; got {shown(string[at:])} at "
            f"character {at + 1}"
        )
    for child, parents in nodes:
        for parent in parents:
            if parent not in builder:
                builder.refuse(f"{shown(parent)}, a parent of {shown(child)}, has no brackets")
            builder.add_edge(parent, ARROW, child)
    return builder.build("dag")


def render(graph: CausalGraph) -> str:
    """The model string of a DAG."""
    require_dag(graph, "bnlearn's model string")
    require_names(
        graph.names,
        lambda name: re.fullmatch(_NAME, name),
        "bnlearn's model string",
        "no brackets, bars, colons or line breaks",
    )
    nodes = []
    for name, parents in zip(graph.names, adjacency_lists(graph.matrix).parents, strict=True):
        given = ":".join(graph.names[parent] for parent in parents)
        nodes.append(f"[{name}|{given}]" if parents else f"[{name}]")
    return "".join(nodes) + "\n"


def recognises(text: str) -> bool:
    """Whether the text is a model string."""
    return re.fullmatch(rf"\s*(?:{_NODE.pattern})+\s*", text) is not None
