"""``qwo convert``: a graph from one format to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from qwo.cli.console import Console
from qwo.cli.graph_files import STDIN, format_names, graph_from
from qwo.cli.wording import count
from qwo.errors import ArgumentError


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A graph file, a folder that qwo learn wrote, or - for standard input.",
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The file to write, or - for standard output.")
    ],
    *,
    console: Console,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            autocompletion=format_names,
            help="Format of SOURCE, where its text and name do not tell.",
        ),
    ] = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            autocompletion=format_names,
            help="Format of TARGET, where its name does not tell.",
        ),
    ] = None,
    dag: Annotated[
        bool, typer.Option("--dag", metavar="", help="Write one DAG of the equivalence class.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Replace TARGET if it is there.")
    ] = False,
) -> None:
    """Write a graph in another format.

    [b]qwo convert graph.dot graph.graphml[/b]
    [b]qwo convert result truth.csv --to pcalg[/b]      codes of another tool: name them
    [b]qwo convert result model.lavaan --dag[/b]        formats for DAGs only

    Formats: json, graphml, gml, dagitty, dot, tetrad, bnlearn, lavaan, edges, adjacency, parquet,
    and the matrices of pcalg, causal-learn, zero-one.
    """
    from qwo.graph import write_graph
    from qwo.graph.formats import find_format

    graph = graph_from(source, source_format)
    shown = graph.to_dag() if dag else graph
    if target == STDIN:
        if target_format is None:
            raise ArgumentError("standard output has no name that tells a format; give --to")
        sys.stdout.buffer.write(find_format(target_format).write(shown))
        sys.stdout.buffer.flush()
        return
    if target.exists() and not force:
        raise ArgumentError(f"{str(target)!r} is there already; add --force to replace it")
    write_graph(shown, target, target_format)
    console.say(
        f"wrote {target}: {count(graph.n_variables, 'variable')}, {count(graph.n_edges, 'edge')}"
    )
