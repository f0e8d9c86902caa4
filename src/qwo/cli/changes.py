"""``qwo changes``: which equations differ between two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from qwo.cli.console import Console
from qwo.cli.options import option
from qwo.cli.reading import DataFile, Reading


def changes(
    before: DataFile,
    after: DataFile,
    *,
    reading: Reading,
    console: Console,
    graph: Annotated[
        Path | None,
        option("--graph -g", "A graph to take, instead of one learnt from both tables.", "GRAPH"),
    ] = None,
    seed: Annotated[int, option("--seed", "Seed of the search for a graph.", "S")] = 0,
) -> None:
    """Say which equations differ between two tables, and in which way.

    [b]qwo changes may.csv june.csv[/b]                      on a graph learnt from both
    [b]qwo changes may.csv june.csv --graph result/dag.json[/b]

    A variable whose equation is the same has moved because its causes did. One whose equation
    differs has changed by itself: its mean, its residual variance, or the effects of its causes.
    """
    from qwo.discovery.changes import changes as compared

    arguments = reading.arguments()
    del arguments["n_samples"]
    found = compared(before, after, graph, random_state=seed, **arguments)
    console.result(found.summary(), found.to_dict())
