r"""Graphviz's DOT language, and the grammar that it shares with DAGitty's.

A graph is a ``digraph`` whose undirected edges have ``dir=none``. A node's ID is the name of the
variable; its label is not read. Values of an edge are attributes of it, which drawing passes over.
Arrows both ways between two nodes mean an undirected edge, and so do ``--`` in a ``graph`` and an
edge without arrowheads. Ends drawn as ``odot`` are circles, two arrowheads are ↔. ::

    graph      ['strict'] TYPE [ID] '{' statement* '}'
    statement  KEYWORD attributes | ID '=' ID | ends (ARROW ends)* attributes
    ends       ID [':' ID [':' ID]] | ['subgraph' [ID]] '{' statement* '}'
    attributes ('[' (ID ['=' ID] [',' | ';'])* ']')*

In DOT's strings ``\"`` is a quote and any other backslash stands for itself, so that a backslash
at the end of a name, or before a quote or line break, can be written only if it is doubled in the
name already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, require_names
from qwo.graph.marks import CODES, MARKS, Mark
from qwo.text import shown

_DEEPEST = 50  # levels of braces


@dataclass(frozen=True)
class Dialect:
    """What tells one language from the other.

    ``types`` may open a graph, ``keywords`` set defaults; ``word`` and ``string`` are the regular
    expressions of a name without and with quotes; ``mark`` makes ``-->``, ``<--`` or ``---`` of an
    arrow and the attributes of its edge, or says what is wrong with it.
    """

    types: tuple[str, ...]
    keywords: tuple[str, ...]
    word: str
    string: str
    mark: Callable[[str, Mapping[str, str]], str]

    def pattern(self) -> re.Pattern[str]:
        """What a token or a blank matches."""
        return re.compile(
            rf"""(?P<blank>(?:\s|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)+)
            |(?P<arrow><->|->|<-@|<-|--@|--|@->|@--|@-@)
            |(?P<string>{self.string})
            |(?P<word>{self.word})
            |(?P<sign>[{{}}\[\]=;,:+])
            |(?P<html><)
            |(?P<bad>.)""",
            re.VERBOSE | re.DOTALL,
        )


def unescaped(string: str) -> str:
    r"""The text of a string in quotes: ``\"`` is a quote, and an escaped line break is nothing."""
    return re.sub(r'\\(\r?\n|")', lambda m: '"' if m[1] == '"' else "", string[1:-1])


class _Token(NamedTuple):
    """A piece of the text, what it is, and the line in which it begins."""

    kind: str
    text: str
    line: int


@dataclass
class _Scope:
    """The nodes inside a pair of braces, and the attributes of edges there."""

    attributes: dict[str, str]
    names: dict[str, None] = field(default_factory=dict)


class DotParser:
    """A recursive-descent parser that fills a `GraphBuilder`."""

    def __init__(self, text: str, dialect: Dialect, builder: GraphBuilder) -> None:
        self.text = text
        self.dialect = dialect
        self.builder = builder
        self.depth = 0
        self.tokens = self._tokens()
        self.next = next(self.tokens)

    def parse(self) -> str:
        """Read the whole text; returns the word that opened the graph."""
        if self._at_word(("strict",)):
            self._take()
        opening = self._take()
        kind = opening.text.lower()
        if opening.kind != "word" or kind not in self.dialect.types:
            self._refuse(opening, f"one of {', '.join(self.dialect.types)}")
        if self.next.kind in ("word", "string"):
            self._name()
        self._block(_Scope({}))
        if self.next.kind != "end":
            self._refuse(self.next, "the end of the text")
        return kind

    def _block(self, scope: _Scope) -> None:
        """Statements in braces."""
        self._expect("{")
        self.depth += 1
        if self.depth > _DEEPEST:
            self._refuse(self.next, f"at most {_DEEPEST} levels of braces")
        while not self._at_sign("}"):
            self._statement(scope)
            if self._at_sign(";"):
                self._take()
        self._take()
        self.depth -= 1

    def _statement(self, scope: _Scope) -> None:
        if self._at_word(self.dialect.keywords):
            word = self._take().text.lower()
            defaults = self._attributes()
            if word == "edge":
                scope.attributes.update(defaults)
            return
        first = self._ends(scope)
        if self._at_sign("="):
            self._take()
            self._name()
        else:
            self._edges(first, scope)

    def _edges(self, first: list[str], scope: _Scope) -> None:
        """The rest of a statement that begins with nodes: further nodes and their attributes."""
        chain = []
        while self.next.kind == "arrow":
            arrow = self._take()
            second = self._ends(scope)
            chain.append((first, arrow, second))
            first = second
        own = self._attributes()
        if not chain:
            for name in first:
                self.builder.describe(name, own)
        attributes = {**scope.attributes, **own}
        for tails, arrow, heads in chain:
            mark = self.dialect.mark(arrow.text, attributes)
            if mark not in CODES:
                self.builder.refuse(mark, arrow.line)
            self.builder.add_edges(tails, mark, heads, arrow.line)

    def _ends(self, scope: _Scope) -> list[str]:
        """The node or the nodes in braces at one end of an edge, or on their own."""
        if self._at_word(("subgraph",)) and "graph" in self.dialect.keywords:
            self._take()
            if self.next.kind in ("word", "string"):
                self._name()
        if self._at_sign("{"):
            inner = _Scope(dict(scope.attributes))
            self._block(inner)
            scope.names.update(inner.names)
            return list(inner.names)
        token = self.next
        name = self._name()
        while self._at_sign(":"):
            self._take()
            self._name()
        if not self._at_sign("="):
            self.builder.add_variable(name, token.line)
            scope.names[name] = None
        return [name]

    def _attributes(self) -> dict[str, str]:
        """All lists in brackets that come next, as one."""
        attributes = {}
        while self._at_sign("["):
            self._take()
            while not self._at_sign("]"):
                key = self._name()
                attributes[key] = ""
                if self._at_sign("="):
                    self._take()
                    attributes[key] = self._name()
                if self._at_sign(",", ";"):
                    self._take()
            self._take()
        return attributes

    def _name(self) -> str:
        """A word, or strings joined by plus signs."""
        token = self._take()
        if token.kind in ("word", "html"):
            return token.text
        if token.kind != "string":
            self._refuse(token, "a name")
        parts = [unescaped(token.text)]
        while self._at_sign("+"):
            self._take()
            token = self._take()
            if token.kind != "string":
                self._refuse(token, "a string after '+'")
            parts.append(unescaped(token.text))
        return "".join(parts)

    def _tokens(self) -> Iterator[_Token]:
        pattern, at, line = self.dialect.pattern(), 0, 1
        while match := pattern.match(self.text, at):
            kind, start = str(match.lastgroup), at
            at = self._end_of_html(start) if kind == "html" else match.end()
            text = self.text[start:at]
            if kind != "blank":
                yield _Token(kind, text, line)
            line += text.count("\n")
        while True:
            yield _Token("end", "the end of the text", line)

    def _end_of_html(self, start: int) -> int:
        """Where the angle bracket closes that opens here; the end of the text if nowhere."""
        level = 0
        for match in re.compile("[<>]").finditer(self.text, start):
            level += 1 if match[0] == "<" else -1
            if level == 0:
                return match.end()
        return len(self.text)

    def _take(self) -> _Token:
        token, self.next = self.next, next(self.tokens)
        return token

    def _expect(self, sign: str) -> None:
        token = self._take()
        if (token.kind, token.text) != ("sign", sign):
            self._refuse(token, repr(sign))

    def _at_sign(self, *signs: str) -> bool:
        return self.next.kind == "sign" and self.next.text in signs

    def _at_word(self, words: tuple[str, ...]) -> bool:
        return self.next.kind == "word" and self.next.text.lower() in words

    def _refuse(self, token: _Token, wanted: str) -> NoReturn:
        self.builder.refuse(f"wanted {wanted}; got {shown(token.text)}", token.line)


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
    head = attributes.get("arrowhead", "normal") if direction in ("forward", "both") else "none"
    tail = attributes.get("arrowtail", "normal") if direction in ("back", "both") else "none"
    return f"{_SIGNS.get(tail, '<').replace('>', '<')}-{_SIGNS.get(head, '>')}"


_SIGNS = {
    shape: sign
    for mark in MARKS.values()
    for shape, sign in zip(mark.dot, mark.text[::2], strict=True)
}
"""How an end is written, by how it is drawn."""


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
    # Possessive: comments that can be cut in many ways would be, one way after the other.
    opening = r"(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*+(?:strict\s+)?(?:di)?graph\b[^\[{]*\{"
    return re.match(opening, text, re.IGNORECASE | re.DOTALL) is not None
