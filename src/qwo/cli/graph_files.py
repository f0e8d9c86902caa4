"""Graphs that are given on the command line: files, result folders, standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from qwo.cli.console import logger, warn
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


def write_graphs(folder: Path, dag: CausalGraph, cpdag: CausalGraph, form: str) -> None:
    """A DAG and its class in one format; what the format cannot hold is left out.

    That it has no undirected edges is in its nature; any other reason is worth a warning.
    """
    from qwo.graph import write_graph
    from qwo.graph.formats import FORMATS, can_hold

    suffix = FORMATS[form].suffixes[0]
    reason = can_hold(form, dag)
    if reason is not None:
        warn(f"no file {form!r}: {reason}")
        return
    write_graph(dag, folder / f"dag{suffix}", form)
    reason = can_hold(form, cpdag)
    if reason is None:
        write_graph(cpdag, folder / f"cpdag{suffix}", form)
    else:
        logger.info("only the DAG as %s: %s", form, reason)
