"""``qwo fit``: the linear model on a graph that is given."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from qwo.cli.console import Console, warn
from qwo.cli.csv_files import write_csv
from qwo.cli.graph_files import format_names, graph_from
from qwo.cli.reading import DataFile, Reading, read_data
from qwo.cli.reading_options import as_option
from qwo.errors import ArgumentError


def fit(
    file: DataFile,
    graph: Annotated[
        Path,
        typer.Argument(metavar="GRAPH", help="A graph file, or a folder that qwo learn wrote."),
    ],
    *,
    reading: Reading,
    console: Console,
    graph_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            autocompletion=format_names,
            help="Format of GRAPH, where it does not tell.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="CSV", help="Also write the coefficients here."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Replace it if it is there.")
    ] = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet",
            metavar="",
            help="Write names such as =1+1 so that no spreadsheet computes them.",
        ),
    ] = False,
) -> None:
    """Fit a linear model to a graph: coefficients, errors, fit.

    [b]qwo fit cells.csv model.dot[/b]
    [b]qwo fit cells.csv result -t log -o coefficients.csv[/b]

    Columns that are not in the graph are left out. Of a folder that qwo learn wrote, the DAG in
    dag.json is fitted. Where a graph file has undirected edges, one DAG of its class is; all have
    the same likelihood.
    """
    import qwo
    from qwo.sem import EdgeEstimate

    if output is not None and output.exists() and not force:
        raise ArgumentError(f"{str(output)!r} is there already; add --force to replace it")
    given = graph_from(graph, graph_format)
    member = graph_from(graph, graph_format, of_folder="dag") if graph.is_dir() else given
    if reading.columns is None:
        reading = replace(reading, columns=as_option(given.names))
    moments = read_data(file, reading, console).moments
    dag = member.reordered(moments.names).to_dag()
    undirected = int((given.matrix == 2).sum()) // 2
    if undirected:
        which = "chosen arbitrarily" if member is given else "which is in dag.json"
        warn(
            f"{undirected} of {given.n_edges} edges are undirected; their coefficients belong to "
            f"one DAG of the class, {which}"
        )
    model = qwo.fit_sem(moments, dag.matrix)
    if output is not None:
        write_csv(output, EdgeEstimate._fields, model.edges, spreadsheet=spreadsheet)
        console.say(f"wrote {output}")
    console.result(
        str(model),
        {
            "n_samples": model.n_samples,
            "fit": asdict(model.fit),
            "edges": [edge._asdict() for edge in model.edges],
            "variables": [node._asdict() for node in model.nodes],
        },
    )
