"""Graphs from files and from texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from qwo.errors import ArgumentError, FileFormatError, InputError, MissingFileError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.registry import (
    decoded,
    find_format,
    format_of_name,
    format_of_text,
    unknown_format,
)
from qwo.text import shown


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
        raise type(error)(f"{source}: {error}", error.columns) from error


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
