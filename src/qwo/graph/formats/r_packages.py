r"""Formats of packages for R: bnlearn's model strings, DAGitty's language, lavaan's model syntax.

bnlearn: ``[A][B|A][C|A:B]``, every variable with its parents; DAGs only.

DAGitty: ``dag { A -> B }``, or ``pdag { A -> B B -- C }`` with undirected edges; ``mag``, ``pag``
with ``<->`` and circles, written ``@``. What a file says
about positions, exposures, outcomes and latent variables is skipped; every node is a variable. In
its strings ``\"`` is a quote and any other backslash stands for itself.

lavaan: the linear structural equations of a DAG::

    A ~~ A
    B ~~ B
    C ~~ C
    B ~ A
    C ~ A + B

First every variable with its residual variance, then each effect with its causes, then, for a MAG,
``A ~~ B`` for each ↔. This is the
model of the DAG in full, errors independent: fit it with ``lavaan(model, data)``. R's ``sem`` adds
covariances between the residuals of variables that have no effects, which the DAG denies.

Names must be plain R names, as lavaan reads others as formulas. Of a model in a file, regressions
are read as edges; fixed and labelled coefficients (``0.5*A``, ``b*A``) count, those fixed to zero
do not; variances and intercepts are skipped, covariances are ↔; anything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from qwo.graph.causal_graph import CausalGraph, Kind
from qwo.graph.dag import adjacency_lists
from qwo.graph.formats.builder import (
    GraphBuilder,
    require_dag,
    require_names,
    require_no_circles,
    require_single_arrows,
)
from qwo.graph.formats.dot import Dialect, DotParser
from qwo.graph.marks import ARROW, CODES, SPOUSES
from qwo.text import shown

_MODEL_NAME = r"[^\[\]|:\r\n]+"
_MODEL_NODE = re.compile(rf"\[({_MODEL_NAME})(?:\|({_MODEL_NAME}(?::{_MODEL_NAME})*))?\]")


def parse_bnlearn(text: str, source: str) -> CausalGraph:
    """The graph of a model string, with its variables in the order of the brackets."""
    string = text.strip()
    builder = GraphBuilder(source)
    nodes, at = [], 0
    while match := _MODEL_NODE.match(string, at):
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


def render_bnlearn(graph: CausalGraph) -> str:
    """The model string of a DAG."""
    require_dag(graph, "bnlearn's model string")
    require_names(
        graph.names,
        lambda name: re.fullmatch(_MODEL_NAME, name),
        "bnlearn's model string",
        "no brackets, bars, colons or line breaks",
    )
    nodes = []
    for name, parents in zip(graph.names, adjacency_lists(graph.matrix).parents, strict=True):
        given = ":".join(graph.names[parent] for parent in parents)
        nodes.append(f"[{name}|{given}]" if parents else f"[{name}]")
    return "".join(nodes) + "\n"


def recognises_bnlearn(text: str) -> bool:
    """Whether the text is a model string."""
    return re.fullmatch(rf"\s*(?:{_MODEL_NODE.pattern})+\s*", text) is not None


_ARROWS = {text: text.replace("o", "@") for text in CODES} | {"-->": "->", "<--": "<-", "---": "--"}
_MARKS = {arrow: text for text, arrow in _ARROWS.items()}
_UNFIT = re.compile(r'[\0-\x1f\x7f]|\\(?="|\Z)')


def _mark(arrow: str, _attributes: Mapping[str, str]) -> str:
    return _MARKS.get(arrow, f"edges are {', '.join(_MARKS)}; got {arrow}")


_DIALECT = Dialect(
    types=("dag", "pdag", "mag", "pag", "digraph", "graph"),
    keywords=(),
    word=r"[0-9A-Za-z_.]+",
    string=r'"(?:[^"\\]|\\"|\\(?!"))*"',
    mark=_mark,
)


def parse_dagitty(text: str, source: str) -> CausalGraph:
    """The graph of a DAGitty text."""
    builder = GraphBuilder(source)
    opening = DotParser(text, _DIALECT, builder).parse()
    kinds: dict[str, Kind] = {"dag": "dag", "pdag": "cpdag", "mag": "mag", "pag": "pag"}
    return builder.build(kinds.get(opening))


def render_dagitty(graph: CausalGraph) -> str:
    """The DAGitty text of a graph."""
    require_single_arrows(graph, "DAGitty")
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
            f"{written[edge.source]} {_ARROWS[edge.mark]} {written[edge.target]}"
            for edge in graph.edges
        ),
    ]
    opening = "pdag" if graph.kind == "cpdag" else graph.kind
    return f"{opening} {{\n" + "\n".join(lines) + "\n}\n"


def _written(name: str) -> str:
    if re.fullmatch(r"[0-9A-Za-z_.]+", name):
        return name
    escaped = name.replace('"', r"\"")
    return f'"{escaped}"'


def recognises_dagitty(text: str) -> bool:
    """Whether the text opens a DAGitty graph."""
    return (
        re.match(r'\s*(?:dag|pdag|mag|pag)\s*(?:[\w.]+|"[^"]*")?\s*\{', text, re.IGNORECASE)
        is not None
    )


_RESERVED = {
    *("if", "else", "repeat", "while", "function", "for", "in", "next", "break", "TRUE", "FALSE"),
    *("NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_complex_", "NA_character_"),
}
_PLAIN = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9._]*")
_VARIABLE = re.compile(r"(?:[^\W\d_]|\.(?!\d))[\w.]*")
_FORMULA = re.compile(r"([^~=<>|:]+)(~~|~|=~|<~|:=|==|<|>|\|)(.*)", re.DOTALL)


def parse_lavaan(text: str, source: str) -> CausalGraph:
    """The graph of the regressions in a model."""
    builder = GraphBuilder(source)
    for number, formula in _formulas(text):
        _add_formula(builder, formula, number)
    return builder.build()


def _formulas(text: str) -> Iterator[tuple[int, str]]:
    """The formulas of a model and the lines in which they begin."""
    pending, begun = "", 0
    for number, raw in enumerate(text.split("\n"), start=1):
        line = re.split("[#!]", raw)[0].strip()
        for part in (piece.strip() for piece in line.split(";")):
            if not part:
                continue
            if pending and not (pending[-1] in "~+*" or part[0] in "~+*"):
                yield begun, pending
                pending = ""
            begun = begun if pending else number
            pending = f"{pending} {part}".strip()
    if pending:
        yield begun, pending


def _add_formula(builder: GraphBuilder, formula: str, number: int) -> None:
    match = _FORMULA.fullmatch(formula)
    if match is None or match[2] not in ("~", "~~"):
        builder.refuse(
            f"wanted a regression such as 'y ~ x1 + x2', or a variance; got {shown(formula)}",
            number,
        )
    effects = [_variable(builder, term, number) for term in match[1].split("+")]
    for term in _terms(match[3]):
        if term == "1" or term.endswith("*1"):
            continue
        modifier, _, bare = term.rpartition("*")
        cause = _variable(builder, bare, number)
        other = next((effect for effect in effects if effect != cause), None)
        if match[2] == "~~" and other is not None and not _is_zero(modifier):
            builder.add_edges([cause], SPOUSES, [e for e in effects if e != cause], number)
        for name in (effects[0], cause, *effects[1:]):
            builder.add_variable(name, number)
        if match[2] == "~" and not _is_zero(modifier):
            builder.add_edges([cause], ARROW, effects, number)


def _terms(side: str) -> list[str]:
    """The terms of a sum, without blanks; a sum inside brackets stays together."""
    terms = re.findall(r"(?:[^+()]|\([^()]*\))+|[()]", side)
    return ["".join(term.split()) for term in terms]


def _variable(builder: GraphBuilder, text: str, number: int) -> str:
    name = text.strip()
    if not _VARIABLE.fullmatch(name):
        builder.refuse(f"{shown(name)} is not the name of a variable", number)
    return name


def _is_zero(modifier: str) -> bool:
    return re.fullmatch(r"[+-]?0*\.?0*", modifier) is not None and "0" in modifier


def render_lavaan(graph: CausalGraph) -> str:
    """The model of a DAG, or of a MAG."""
    if graph.is_mixed:
        require_no_circles(graph, "lavaan's syntax")
    else:
        require_dag(graph, "lavaan's syntax")
    require_names(
        graph.names,
        lambda name: _PLAIN.fullmatch(name) and name not in _RESERVED,
        "lavaan's syntax",
        "a plain R name: letters, digits, dots and underscores, a letter first",
    )
    bent = np.nansum(graph.values.get("curved_share", 0.0)) > 0
    lines = ["# Relations are curved, and these equations are lines."] * int(bent)
    lines += [f"{name} ~~ {name}" for name in graph.names]
    for name, parents in zip(graph.names, adjacency_lists(graph.matrix == 1).parents, strict=True):
        if parents:
            lines.append(f"{name} ~ {' + '.join(graph.names[parent] for parent in parents)}")
    lines += [f"{e.source} ~~ {e.target}" for e in graph.edges if e.mark == SPOUSES]
    return "\n".join(lines) + "\n"


def recognises_lavaan(text: str) -> bool:
    """Whether the first formula has a tilde behind a name."""
    name = rf"\s*{_VARIABLE.pattern}\s*"
    return re.match(rf"(?:\s*[#!][^\n]*\n)*{name}(?:\+{name})*~", text) is not None
