"""``qwo check``: how far data and a graph agree."""

from __future__ import annotations

from typing import Annotated

import typer

from qwo.cli.console import Console
from qwo.cli.failures import ExitCode
from qwo.cli.graphs import graph_from
from qwo.cli.options import DataFile, GraphFile, GraphFormat, Reading
from qwo.cli.reading import read_data


def check(
    file: DataFile,
    graph: GraphFile,
    *,
    reading: Reading,
    console: Console,
    graph_format: GraphFormat = None,
    alpha: Annotated[
        float, typer.Option("--alpha", help="Probability of an alarm if the graph is right.")
    ] = 0.05,
    draws: Annotated[
        int, typer.Option("--draws", min=0, help="Data sets drawn from the graph for comparison.")
    ] = 100,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the draws.")] = None,
) -> None:
    """Say how far data and a graph agree, in plain words first.

    [b]qwo check cells.csv model.dot[/b]     a graph of your own
    [b]qwo check cells.csv result[/b]        what qwo learn found in the same data

    Tests the independences that the graph implies, its overall fit, whether searches on some of
    the variables contradict it, and whether its equations are linear. An alarm ends with exit
    code 3. No alarm is no proof.
    """
    import qwo

    given = graph_from(graph, graph_format)
    read = read_data(file, reading.of(given.names), console, with_rows=True)
    found = qwo.check(
        read.moments if read.rows is None else read.rows,
        given,
        alpha=alpha,
        learnt=graph.is_dir(),
        n_draws=draws,
        random_state=seed,
    )
    console.result(found.summary(), found.to_dict())
    if found.alarm:
        raise typer.Exit(ExitCode.ATTENTION)
