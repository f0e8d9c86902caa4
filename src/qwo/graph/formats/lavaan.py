"""lavaan's model syntax: the linear structural equations of a DAG.

::

    A ~~ A
    B ~~ B
    C ~~ C
    B ~ A
    C ~ A + B

First every variable with its residual variance, then each effect with its causes. This is the
model of the DAG in full, errors independent: fit it with ``lavaan(model, data)``. R's ``sem`` adds
covariances between the residuals of variables that have no effects, which the DAG denies.

Names must be plain R names, as lavaan reads others as formulas. Of a model in a file, regressions
are read as edges; fixed and labelled coefficients (``0.5*A``, ``b*A``) count, those fixed to zero
do not; variances and intercepts are skipped; anything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.dag import adjacency_lists
from qwo.graph.formats.builder import GraphBuilder, require_dag, require_names
from qwo.graph.marks import ARROW
from qwo.text import shown

_RESERVED = {
    *("if", "else", "repeat", "while", "function", "for", "in", "next", "break", "TRUE", "FALSE"),
    *("NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_complex_", "NA_character_"),
}
_PLAIN = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9._]*")
_VARIABLE = re.compile(r"(?:[^\W\d_]|\.(?!\d))[\w.]*")
_FORMULA = re.compile(r"([^~=<>|:]+)(~~|~|=~|<~|:=|==|<|>|\|)(.*)", re.DOTALL)


def parse(text: str, source: str) -> CausalGraph:
    """The graph of the regressions in a model."""
    builder = GraphBuilder(source)
    for number, formula in _formulas(text):
        _add_formula(builder, formula, number)
    return builder.build("dag")


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
        for effect in effects:
            builder.add_variable(effect, number)
            if match[2] == "~~" and cause != effect:
                builder.refuse(
                    f"{shown(effect)} ~~ {shown(cause)} is a covariance, which a DAG does not have",
                    number,
                )
            builder.add_variable(cause, number)
            if match[2] == "~" and not _is_zero(modifier):
                builder.add_edge(cause, ARROW, effect, number)


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


def render(graph: CausalGraph) -> str:
    """The model of a DAG."""
    require_dag(graph, "lavaan's syntax")
    require_names(
        graph.names,
        lambda name: _PLAIN.fullmatch(name) and name not in _RESERVED,
        "lavaan's syntax",
        "a plain R name: letters, digits, dots and underscores, a letter first",
    )
    lines = [f"{name} ~~ {name}" for name in graph.names]
    for name, parents in zip(graph.names, adjacency_lists(graph.matrix).parents, strict=True):
        if parents:
            lines.append(f"{name} ~ {' + '.join(graph.names[parent] for parent in parents)}")
    return "\n".join(lines) + "\n"


def recognises(text: str) -> bool:
    """Whether the first formula has a tilde behind a name."""
    name = rf"\s*{_VARIABLE.pattern}\s*"
    return re.match(rf"(?:\s*[#!][^\n]*\n)*{name}(?:\+{name})*~", text) is not None
