"""Graphs that are given on the command line: files, result folders, standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from qwo.errors import ArgumentError, FileFormatError

if TYPE_CHECKING:
    from qwo.graph import CausalGraph

STDIN = Path("-")


def format_names(incomplete: str) -> list[str]:
    """The graph formats that begin like this, for the shell's completion."""
    from qwo.graph.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def graph_from(path: Path, form: str | None = None, *, of_folder: str = "cpdag") -> CausalGraph:
    """The graph of a file, of a folder that ``qwo learn`` wrote, or of standard input (``-``).

    Of a folder, the class; or, with ``of_folder="dag"``, the DAG that its numbers belong to.
    """
    from qwo.graph import read_graph
    from qwo.graph.formats import find_format, parse_graph
    from qwo.graph.formats.registry import format_of_text

    if form is not None:
        find_format(form)
    if path == STDIN:
        data = sys.stdin.buffer.read()
        chosen = form or format_of_text(data.decode("utf-8", "replace"))
        if chosen is None:
            raise ArgumentError("the format of standard input is unknown; name it with --from")
        return parse_graph(data, chosen, "standard input")
    if path.is_dir():
        inside = path / f"{of_folder}.json"
        if not inside.is_file():
            inside = path / "cpdag.json"
        if not inside.is_file():
            raise FileFormatError(
                f"the folder {str(path)!r} has no cpdag.json; wanted a graph file, or a folder "
                "that qwo learn wrote"
            )
        path = inside
    return read_graph(path, form)
