"""The formats by name, and graphs read from and written to files and texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qwo.errors import (
    ArgumentError,
    Cure,
    FileFormatError,
    GraphError,
    InputError,
    MissingFileError,
)
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats import dot, json_graph, objects, r_packages, tables, tetrad
from qwo.graph.formats.builder import malformed
from qwo.names import is_choice
from qwo.text import shown, write_whole


def _never(_text: str) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """How graphs are read from and written to bytes.

    ``read`` takes bytes and what messages call them; ``suffixes`` are endings of file names, the
    usual one first; ``recognises`` says whether a text is evidently in this format.
    """

    read: Callable[[bytes, str], CausalGraph]
    write: Callable[[CausalGraph], bytes]
    suffixes: tuple[str, ...]
    recognises: Callable[[str], bool] = _never


def _text(
    parse: Callable[[str, str], CausalGraph],
    render: Callable[[CausalGraph], str],
    recognises: Callable[[str], bool],
    *suffixes: str,
) -> Format:
    """A format whose bytes are UTF-8."""
    return Format(
        lambda data, source: parse(decoded(data, source), source),
        lambda graph: render(graph).encode("utf-8"),
        suffixes,
        recognises,
    )


def decoded(data: bytes, source: str) -> str:
    """The text of UTF-8 bytes, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise malformed(source, "not UTF-8 text; save it as UTF-8", line) from error


def _matrix(code: str, suffix: str) -> Format:
    parse, render = tables.parse_matrix, tables.render_matrix
    return _text(partial(parse, code=code), partial(render, code=code), _never, suffix)


_R = r_packages
FORMATS = {
    "json": _text(json_graph.parse, json_graph.render, json_graph.recognises, ".json"),
    "graphml": _text(
        objects.parse_graphml,
        objects.render_graphml,
        objects.recognises_graphml,
        ".graphml",
        ".xml",
    ),
    "gml": _text(objects.parse_gml, objects.render_gml, objects.recognises_gml, ".gml"),
    "dagitty": _text(_R.parse_dagitty, _R.render_dagitty, _R.recognises_dagitty, ".dagitty"),
    "dot": _text(dot.parse, dot.render, dot.recognises, ".dot", ".gv"),
    "tetrad": _text(tetrad.parse, tetrad.render, tetrad.recognises, ".tetrad", ".txt"),
    "bnlearn": _text(_R.parse_bnlearn, _R.render_bnlearn, _R.recognises_bnlearn, ".bnlearn"),
    "lavaan": _text(_R.parse_lavaan, _R.render_lavaan, _R.recognises_lavaan, ".lavaan", ".lav"),
    "edges": _text(tables.parse_edges, tables.render_edges, tables.recognises_edges, ".edges.csv"),
    "pcalg": _matrix("pcalg", ".pcalg.csv"),
    "pcalg-pag": _matrix("pcalg-pag", ".pag.csv"),
    "causal-learn": _matrix("causal-learn", ".causal-learn.csv"),
    "zero-one": _matrix("zero-one", ".zero-one.csv"),
    "adjacency": _matrix("qwo", ".csv"),
    "parquet": Format(tables.parse_parquet, tables.render_parquet, (".parquet", ".pq")),
}
"""Format by name."""


def find_format(name: str) -> Format:
    """The format of a name."""
    if not is_choice(name, FORMATS):
        raise ArgumentError(
            f"there is no graph format {name!r}; choose one of {', '.join(FORMATS)}"
        )
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
    return FileFormatError(
        f"the format of {shown(source)} is unknown; wanted one of {', '.join(FORMATS)}",
        cures=[Cure("format", None, "names it")],
    )


def read_graph(
    path_or_text: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - what users would call it
    names: Sequence[str] | None = None,
) -> CausalGraph:
    """The graph in a file, or in a text that is given itself.

    Parameters
    ----------
    path_or_text : path or str
        A path; or a string, which is the name of a file if there is one of this name, and a graph
        if it looks like one.
    format : str, optional
        One of `qwo.graph.formats.FORMATS`. Told by the text itself if it can be, and by the ending
        of the file name otherwise: matrices in the codes of other tools must be named.
    names : sequence of str, optional
        The order in which the variables are wanted.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FileFormatError
        If the text is not what the format asks for; the message says in which line.
    GraphError
        If it is not a DAG or a partially directed graph, with the cycle as a path.
    """
    if not isinstance(path_or_text, str | os.PathLike):
        raise ArgumentError(
            f"got a {type(path_or_text).__name__}; wanted the path of a graph file, or its text"
        )
    if isinstance(path_or_text, str) and not is_file(path_or_text):
        graph = _from_text(path_or_text, format)
    else:
        graph = _from_file(Path(path_or_text), format)
    return graph if names is None else graph.reordered(names)


def parse_graph(data: str | bytes, format: str, source: str = "the text") -> CausalGraph:  # noqa: A002
    """The graph in a text, or in the bytes of a file."""
    chosen = find_format(format)
    if not isinstance(data, str | bytes):
        raise ArgumentError(f"got a {type(data).__name__}; wanted the text or bytes of a graph")
    try:
        return chosen.read(data.encode("utf-8") if isinstance(data, str) else data, source)
    except InputError as error:
        if str(error).startswith(source):
            raise
        raise type(error)(f"{source}: {error.args[0]}", error.columns, error.cures) from error


def is_file(text: str) -> bool:
    """Whether a text is the name of something that exists."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False


def _from_text(text: str, format: str | None) -> CausalGraph:  # noqa: A002
    recognised = format_of_text(text)
    if recognised is None and "\n" not in text:
        raise MissingFileError(f"there is no file {shown(text)} (looked from {Path.cwd()})")
    chosen = recognised if format is None else format
    if chosen is None:
        raise unknown_format(text)
    return parse_graph(text, chosen)


def _from_file(path: Path, format: str | None) -> CausalGraph:  # noqa: A002
    if not path.exists():
        raise MissingFileError(f"there is no file {shown(str(path))} (looked from {Path.cwd()})")
    if path.is_dir():
        raise FileFormatError(f"{path} is a folder; wanted a file with a graph")
    data = path.read_bytes()
    return parse_graph(data, _format_of_file(path, data) if format is None else format, str(path))


def _format_of_file(path: Path, data: bytes) -> str:
    """What the text shows where the ending of the name says little, else what the ending says."""
    named = format_of_name(path.name)
    if named is not None and named[1] not in (".csv", ".txt", ".xml"):
        return named[0]
    recognised = format_of_text(decoded(data, str(path)))
    if recognised is not None:
        return recognised
    if named is None:
        raise unknown_format(str(path))
    return named[0]


def write_graph(
    graph: object,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - what users would call it
    names: Sequence[str] | None = None,
) -> None:
    """Write a graph to a file, whole or not at all.

    Parameters
    ----------
    graph : object
        Anything that `as_graph` takes.
    path : path
        The file; one that is there is replaced once the new one is complete.
    format : str, optional
        One of `qwo.graph.formats.FORMATS`; told by the ending of the file name otherwise.
    names : sequence of str, optional
        As for `as_graph`.
    """
    # What makes a graph of anything reads files, and so lies above this module.
    from qwo.graph.coercion import as_graph

    if not format:
        named = format_of_name(Path(path).name)
        if named is None:
            raise unknown_format(str(path))
        format = named[0]  # noqa: A001
    data = find_format(format).write(as_graph(graph, names, mixed=True))
    file = Path(os.path.realpath(path))
    if file.is_dir() or not file.parent.is_dir():
        raise ArgumentError(f"cannot write to {str(file)!r}; wanted a file in a folder that exists")
    write_whole(file, data)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
) -> CausalGraph:
    """Write the graph of one file to another, in another format; returns the graph."""
    graph = read_graph(source, source_format)
    write_graph(graph, target, target_format)
    return graph
