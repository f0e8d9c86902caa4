r"""Graphviz's DOT language, as a ``digraph`` whose undirected edges have ``dir=none``.

::

    digraph {
      A;
      B;
      "blood pressure";
      A -> B;
      B -> "blood pressure" [dir=none];
    }

Values that go with an edge are attributes of it, which drawing passes over.
A node's ID is the name of the variable; its label is not read. Arrows both ways between two nodes
mean an undirected edge, and so do ``--`` in a ``graph`` and an edge without arrowheads.

In DOT's strings ``\"`` is a quote and any other backslash stands for itself, so that a backslash
at the end of a name, or before a quote or line break, can be written only if it is doubled in the
name already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, require_names
from qwo.graph.formats.dot_grammar import Dialect, DotParser
from qwo.graph.marks import ARROW, BACK_ARROW, LINE, MARKS, Mark

_WORD = r"[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)"
_KEYWORDS = ("node", "edge", "graph")
_RESERVED = (*_KEYWORDS, "digraph", "subgraph", "strict")
# An odd number of backslashes before a quote, a line break or the end. Graphviz keeps names that
# begin with a percent sign for itself.
_UNFIT = re.compile(r'(?<!\\)(?:\\\\)*\\(?=["\r\n]|\Z)|\0|\A%')


def _mark(arrow: str, attributes: Mapping[str, str]) -> str:
    """The kind of edge that would be drawn."""
    if arrow not in ("->", "--"):
        return f"DOT has the arrows -> and --; got {arrow}"
    direction = attributes.get("dir", "forward" if arrow == "->" else "none")
    at_head = direction in ("forward", "both") and attributes.get("arrowhead") != "none"
    at_tail = direction in ("back", "both") and attributes.get("arrowtail") != "none"
    if at_head and at_tail:
        return "an edge with arrowheads at both ends is neither --> nor ---; give it one direction"
    return ARROW if at_head else BACK_ARROW if at_tail else LINE


_DIALECT = Dialect(
    types=("digraph", "graph"),
    keywords=_KEYWORDS,
    word=_WORD,
    string=r'"[^"\\]*(?:\\.[^"\\]*)*"',
    mark=_mark,
)


def _ends(mark: Mark) -> dict[str, str]:
    """The attributes that draw a mark where an arrow is not enough."""
    tail, head = mark.dot
    if (tail, head) == ("none", "normal"):
        return {}
    if (tail, head) == ("none", "none"):
        return {"dir": "none"}
    return {"dir": "both", "arrowtail": tail, "arrowhead": head}


_ENDS = {text: _ends(mark) for text, mark in MARKS.items()}


def parse(text: str, source: str) -> CausalGraph:
    """The graph of a DOT text."""
    builder = GraphBuilder(source, two_arrows_are_undirected=True)
    DotParser(text, _DIALECT, builder).parse()
    return builder.build()


def render(graph: CausalGraph) -> str:
    """The DOT text of a graph."""
    require_names(
        graph.names,
        lambda name: not _UNFIT.search(name),
        "DOT",
        "no null character, no percent sign at the beginning, and no single backslash at the end "
        "or before a quote or line break",
    )
    written = {name: _written(name) for name in graph.names}
    lines = [f"  {written[name]}{_node(graph.variables.get(name))};" for name in graph.names]
    lines += [
        f"  {written[edge.source]} -> {written[edge.target]}{_attributes(edge.mark, known)};"
        for edge, known in zip(graph.edges, graph.edge_values(), strict=True)
    ]
    return "digraph {\n" + "\n".join(lines) + "\n}\n"


def _attributes(mark: str, values: Mapping[str, float]) -> str:
    numbers = {_written(name): f"{number:.6g}" for name, number in values.items()}
    listed = ", ".join(f"{name}={value}" for name, value in {**_ENDS[mark], **numbers}.items())
    return f" [{listed}]" if listed else ""


def _node(said: Mapping[str, Any] | None) -> str:
    """What is said of a variable, as attributes of its node."""
    if not said:
        return ""
    parts = [f"type={said['type']}"]
    if "levels" in said:
        text = json.dumps(said["levels"], ensure_ascii=False)
        # Quotes and backslashes within levels take JSON's other escapes, which mean nothing to DOT.
        plain = re.sub(r'\\(["\\])', lambda m: f"\\u{ord(m[1]):04x}", text)
        parts.append(f"levels={_written(plain)}")
    return f" [{', '.join(parts)}]"


def _written(name: str) -> str:
    """The name, in quotes unless it is a plain word."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) and name.lower() not in _RESERVED:
        return name
    escaped = name.replace('"', r"\"")
    return f'"{escaped}"'


def recognises(text: str) -> bool:
    """Whether the text opens a DOT graph."""
    opening = r"(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*(?:strict\s+)?(?:di)?graph\b[^\[{]*\{"
    return re.match(opening, text, re.IGNORECASE | re.DOTALL) is not None
