"""Graphs written to files, and from one format to another."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from qwo.errors import ArgumentError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.formats.reading import read_graph
from qwo.graph.formats.registry import find_format, format_of_name, unknown_format


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
    chosen = format or _named_format(path)
    data = find_format(chosen).write(as_graph(graph, names))
    _write_whole(Path(os.path.realpath(path)), data)


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


def _named_format(path: str | os.PathLike[str]) -> str:
    named = format_of_name(Path(path).name)
    if named is None:
        raise unknown_format(str(path))
    return named[0]


def _write_whole(path: Path, data: bytes) -> None:
    """Write beside the file and then take its place, so that no reader sees half of it."""
    if path.is_dir() or not path.parent.is_dir():
        raise ArgumentError(f"cannot write to {str(path)!r}; wanted a file in a folder that exists")
    temporary = path.parent / f".qwo-{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
