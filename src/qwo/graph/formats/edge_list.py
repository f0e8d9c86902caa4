"""Edge lists as comma-separated values: ``source,target,type`` with ``-->`` or ``---``.

A variable without edges has a line of its own, with nothing behind its name. Variables are in the
order in which they first occur. Columns of other names are ignored; without a column ``type`` all
edges are directed.
"""

from __future__ import annotations

import numpy as np

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, malformed
from qwo.graph.formats.csv_lines import join, read_rows
from qwo.graph.marks import ARROW, BACK_ARROW, LINE
from qwo.text import shown

_HEADER = ("source", "target", "type")


def parse(text: str, source: str) -> CausalGraph:
    """The graph of an edge list."""
    rows = read_rows(text, source)
    line, header = next(rows, (1, []))
    columns = {name.strip().lower(): k for k, name in enumerate(header)}
    if "source" not in columns or "target" not in columns:
        raise malformed(source, f"wanted the header {','.join(_HEADER)}; got {header}", line)
    builder = GraphBuilder(source)
    for line, fields in rows:
        if len(fields) != len(header):
            builder.refuse(f"{len(fields)} fields; the header has {len(header)}", line)
        first, second = fields[columns["source"]], fields[columns["target"]]
        mark = fields[columns["type"]].strip() if "type" in columns else ""
        if not second and not mark:
            builder.add_variable(first, line)
            continue
        if mark not in ("", ARROW, LINE, BACK_ARROW):
            builder.refuse(f"the type is {shown(mark)}; wanted {ARROW} or {LINE}", line)
        builder.add_edge(first, mark or ARROW, second, line)
    return builder.build()


def render(graph: CausalGraph) -> str:
    """The edge list of a graph."""
    lines = [join(_HEADER)]
    lines += [join((edge.source, edge.target, edge.mark)) for edge in graph.edges]
    joined = set(np.concatenate(graph.ends()).tolist())
    alone = (name for k, name in enumerate(graph.names) if k not in joined)
    lines += [join((name, "", "")) for name in alone]
    return "\n".join(lines) + "\n"


def recognises(text: str) -> bool:
    """Whether the first line is the header of an edge list."""
    columns = {name.strip().lower() for name in text.partition("\n")[0].split(",")}
    return {"source", "target"} <= columns
