"""``qwo simulate``: data with a known graph, to try things out on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from qwo.cli.console import Console, to_json
from qwo.cli.folder import RECORD, check_folder, whole_folder, written_files
from qwo.cli.options import folder_option, force_option
from qwo.files import write_whole
from qwo.text import count

GRAPH, DATA = "Graph", "Data"


def simulate(
    *,
    console: Console,
    output: Annotated[
        Path | None,
        folder_option("The folder to write. Without: the data alone, as CSV, to standard output."),
    ] = None,
    variables: Annotated[
        int, typer.Option("--variables", "-n", min=2, help="Variables.", rich_help_panel=GRAPH)
    ] = 20,
    samples: Annotated[
        int, typer.Option("--samples", "-N", min=1, help="Rows.", rich_help_panel=DATA)
    ] = 1000,
    degree: Annotated[
        float,
        typer.Option(
            "--degree", min=0, help="Average number of neighbours.", rich_help_panel=GRAPH
        ),
    ] = 2.0,
    graph: Annotated[
        str,
        typer.Option(
            "--graph",
            metavar="KIND|FILE",
            help="[b]er[/b], [b]scale-free[/b] or another kind of random graph, or a graph file.",
            rich_help_panel=GRAPH,
        ),
    ] = "er",
    noise: Annotated[
        Literal["gaussian", "exponential", "gumbel", "uniform"],
        typer.Option("--noise", help="Shape of the noise.", rich_help_panel=DATA),
    ] = "gaussian",
    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise/--raw",
            metavar="",
            help="Columns of variance 1: raw scales give the causal order away.",
            rich_help_panel=DATA,
        ),
    ] = True,
    form: Annotated[
        Literal["csv", "parquet"],
        typer.Option("--data-format", help="Format of the data.", rich_help_panel=DATA),
    ] = "csv",
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed; the same one gives the same files.")
    ] = None,
    force: Annotated[bool, force_option()] = False,
) -> None:
    """Simulate data of a random linear model, truth included.

    [b]qwo simulate -o sim -n 50 -N 2000 --degree 4 --seed 1[/b]
    [b]qwo learn sim/data.csv -o found[/b]
    [b]qwo compare found sim/dag.csv[/b]

    The folder holds data.csv (or .parquet), dag.csv and dag.json (1 where row causes column),
    coefficients.csv, and result.json with all parameters.
    """
    from qwo.cli.simulation_files import Drawn, print_sample, write_sample

    if output is not None:
        check_folder(output, force=force)
    parameters = {
        "graph": graph,
        "n_variables": variables,
        "n_samples": samples,
        "degree": degree,
        "noise": noise,
        "standardize": standardise,
    }
    sample = Drawn(parameters, seed)
    if output is None:
        if console.json:
            console.result("", sample.document())
        else:
            print_sample(sample, sys.stdout.buffer)
        return
    summary = sample.summary()
    with whole_folder(output, force=force) as made:
        write_sample(sample, made, form)
        summary["files"] = [*written_files(made), RECORD]
        write_whole(made / RECORD, to_json(summary) + "\n")
    size = f"{samples} rows, {count(summary['n_variables'], 'variable')}"
    console.say(f"wrote {output}: {size}, {count(summary['n_edges'], 'edge')}, seed {sample.seed}")
    console.say(f"next: qwo learn {output / ('data.' + form)} -o found")
    if console.json:
        console.result("", summary)
