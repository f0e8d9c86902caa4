r"""DAGitty's language: ``dag { A -> B }``, or ``pdag { A -> B B -- C }`` with undirected edges.

What a file says about positions, exposures, outcomes and latent variables is skipped; every node
is a variable. In DAGitty's strings ``\"`` is a quote and any other backslash stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, require_names
from qwo.graph.formats.dot_grammar import Dialect, DotParser
from qwo.graph.marks import ARROW, BACK_ARROW, LINE

_MARKS = {"->": ARROW, "<-": BACK_ARROW, "--": LINE}
_UNFIT = re.compile(r'[\0-\x1f\x7f]|\\(?="|\Z)')


def _mark(arrow: str, _attributes: Mapping[str, str]) -> str:
    return _MARKS.get(arrow, f"a DAG or CPDAG has the edges ->, <- and -- only; got {arrow}")


_DIALECT = Dialect(
    types=("dag", "pdag", "digraph", "graph"),
    keywords=(),
    word=r"[0-9A-Za-z_.]+",
    string=r'"(?:[^"\\]|\\"|\\(?!"))*"',
    mark=_mark,
)


def parse(text: str, source: str) -> CausalGraph:
    """The graph of a DAGitty text."""
    builder = GraphBuilder(source)
    kind = DotParser(text, _DIALECT, builder).parse()
    return builder.build("dag" if kind == "dag" else "cpdag" if kind == "pdag" else None)


def render(graph: CausalGraph) -> str:
    """The DAGitty text of a graph."""
    require_names(
        graph.names,
        lambda name: not _UNFIT.search(name),
        "DAGitty",
        "no line breaks or other control characters, and no backslash at the end or before a quote",
    )
    written = {name: _written(name) for name in graph.names}
    lines = [
        *written.values(),
        *(
            f"{written[edge.source]} {'->' if edge.mark == ARROW else '--'} {written[edge.target]}"
            for edge in graph.edges
        ),
    ]
    opening = "dag" if graph.kind == "dag" else "pdag"
    return f"{opening} {{\n" + "\n".join(lines) + "\n}\n"


def _written(name: str) -> str:
    if re.fullmatch(r"[0-9A-Za-z_.]+", name):
        return name
    escaped = name.replace('"', r"\"")
    return f'"{escaped}"'


def recognises(text: str) -> bool:
    """Whether the text opens a DAGitty graph."""
    return re.match(r'\s*(?:dag|pdag)\s*(?:[\w.]+|"[^"]*")?\s*\{', text, re.IGNORECASE) is not None
