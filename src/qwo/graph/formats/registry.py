"""The formats by name, and the one that a file or a text is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from qwo.checks import is_choice
from qwo.errors import ArgumentError, FileFormatError, GraphError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats import (
    adjacency,
    bnlearn,
    dagitty,
    dot,
    edge_list,
    gml,
    graphml,
    json_graph,
    lavaan,
    parquet,
    tetrad,
)
from qwo.graph.formats.builder import malformed
from qwo.text import shown


def _never(_text: str) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """How graphs are read from and written to bytes.

    Attributes
    ----------
    read : function
        From bytes, and what messages call them, to the graph.
    write : function
        From the graph to bytes.
    suffixes : tuple of str
        Endings of file names that mean this format; the first is the usual one.
    recognises : function
        Whether a text is evidently in this format.
    """

    read: Callable[[bytes, str], CausalGraph]
    write: Callable[[CausalGraph], bytes]
    suffixes: tuple[str, ...]
    recognises: Callable[[str], bool] = _never


def _text_format(
    parse: Callable[[str, str], CausalGraph],
    render: Callable[[CausalGraph], str],
    *suffixes: str,
    recognises: Callable[[str], bool] = _never,
) -> Format:
    """A format whose bytes are UTF-8."""

    def read(data: bytes, source: str) -> CausalGraph:
        return parse(decoded(data, source), source)

    def write(graph: CausalGraph) -> bytes:
        return render(graph).encode("utf-8")

    return Format(read, write, suffixes, recognises)


def decoded(data: bytes, source: str) -> str:
    """The text of UTF-8 bytes, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise malformed(source, "not UTF-8 text; save it as UTF-8", line) from error


def _matrix_format(code: str, *suffixes: str) -> Format:
    return _text_format(
        partial(adjacency.parse, code=code), partial(adjacency.render, code=code), *suffixes
    )


FORMATS = {
    "json": _text_format(
        json_graph.parse, json_graph.render, ".json", recognises=json_graph.recognises
    ),
    "graphml": _text_format(
        graphml.parse, graphml.render, ".graphml", ".xml", recognises=graphml.recognises
    ),
    "gml": _text_format(gml.parse, gml.render, ".gml", recognises=gml.recognises),
    "dagitty": _text_format(
        dagitty.parse, dagitty.render, ".dagitty", recognises=dagitty.recognises
    ),
    "dot": _text_format(dot.parse, dot.render, ".dot", ".gv", recognises=dot.recognises),
    "tetrad": _text_format(
        tetrad.parse, tetrad.render, ".tetrad", ".txt", recognises=tetrad.recognises
    ),
    "bnlearn": _text_format(
        bnlearn.parse, bnlearn.render, ".bnlearn", recognises=bnlearn.recognises
    ),
    "lavaan": _text_format(
        lavaan.parse, lavaan.render, ".lavaan", ".lav", recognises=lavaan.recognises
    ),
    "edges": _text_format(
        edge_list.parse, edge_list.render, ".edges.csv", recognises=edge_list.recognises
    ),
    "pcalg": _matrix_format("pcalg", ".pcalg.csv"),
    "causal-learn": _matrix_format("causal-learn", ".causal-learn.csv"),
    "zero-one": _matrix_format("zero-one", ".zero-one.csv"),
    "adjacency": _matrix_format("qwo", ".csv"),
    "parquet": Format(parquet.parse, parquet.render, (".parquet", ".pq")),
}
"""Format by name."""


def find_format(name: str) -> Format:
    """The format of a name."""
    if not is_choice(name, FORMATS):
        raise ArgumentError(f"there is no graph format {name!r}; choose one of {_choices()}")
    return FORMATS[name]


def can_hold(format: str, graph: CausalGraph) -> str | None:  # noqa: A002 - what users would call it
    """Why a format cannot hold a graph, such as for a name in it; None if it can.

    For those who write a graph in many formats, and would rather skip one than lose the others.
    """
    try:
        find_format(format).write(graph)
    except (FileFormatError, GraphError) as error:
        return str(error)
    return None


def format_of_name(file_name: str) -> tuple[str, str] | None:
    """The format that a file name means and the ending that says so; the longest one decides."""
    endings = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
    fitting = [suffix for suffix in endings if file_name.lower().endswith(suffix)]
    ending = max(fitting, key=len, default=None)
    return None if ending is None else (endings[ending], ending)


def format_of_text(text: str) -> str | None:
    """The format that a text is evidently in."""
    return next((name for name, form in FORMATS.items() if form.recognises(text)), None)


def unknown_format(source: str) -> FileFormatError:
    """The error for something whose format nothing tells."""
    return FileFormatError(f"the format of {shown(source)} is unknown; pass format= {_choices()}")


def _choices() -> str:
    return ", ".join(FORMATS)
