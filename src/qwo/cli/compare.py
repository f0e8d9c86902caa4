"""``qwo compare``: two graphs side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qwo.cli.console import Console
from qwo.cli.graph_files import format_names, graph_from
from qwo.cli.reading import Reading, read_data
from qwo.cli.reading_options import as_option
from qwo.cli.wording import table

if TYPE_CHECKING:
    from qwo.graph import CausalGraph
    from qwo.moments import Moments


def compare(
    estimated: Annotated[
        Path,
        typer.Argument(metavar="ESTIMATED", help="A graph file, or a folder that qwo learn wrote."),
    ],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The graph to compare it with.")],
    *,
    reading: Reading,
    console: Console,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Also score both graphs on these data: does the search or the sample err?",
        ),
    ] = None,
    penalty: Annotated[
        float, typer.Option("--penalty", help="Penalty discount c of the score.")
    ] = 2.0,
    estimated_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            autocompletion=format_names,
            help="Format of ESTIMATED, where it does not tell.",
        ),
    ] = None,
    truth_format: Annotated[
        str | None,
        typer.Option(
            "--truth-from",
            metavar="FORMAT",
            autocompletion=format_names,
            help="Format of TRUTH, where it does not tell.",
        ),
    ] = None,
) -> None:
    """Compare two graphs, and list the edges that differ.

    [b]qwo compare result truth.csv[/b]
    [b]qwo compare result truth.csv --data cells.csv[/b]     with the score of both
    """
    import qwo

    first, second = graph_from(estimated, estimated_format), graph_from(truth, truth_format)
    comparison = qwo.compare(first, second)
    document = comparison.to_dict()
    text = str(comparison)
    if data is not None:
        if reading.columns is None:
            reading = replace(reading, columns=as_option(second.names))
        moments = read_data(data, reading, console).moments
        scores = [_score(moments, graph, penalty) for graph in (first, second)]
        text += f"\n\n{_verdict(*scores)}"
        document |= {
            "score_estimated": scores[0],
            "score_true": scores[1],
            "score_gap": scores[1] - scores[0],
        }
    console.result(text, document)


def _score(moments: Moments, graph: CausalGraph, penalty: float) -> float:
    import qwo

    dag = graph.reordered(moments.names).to_dag()
    return float(qwo.score_graph(moments, dag.matrix, penalty))


def _verdict(estimated: float, true: float) -> str:
    """Both scores, and whose fault the difference is."""
    gap = true - estimated
    numbers = [f"{value:.2f}" for value in (estimated, true, gap)]
    rows = [["", "estimated", "truth", "gap"], ["score", *numbers]]
    if abs(gap) < 1e-6 * max(abs(true), 1.0):
        verdict = "both score the same"
    elif gap > 0:
        verdict = "the true graph scores higher: a longer search (--restarts) may find it"
    else:
        verdict = "the estimate scores higher than the truth: more data would help, not more search"
    return f"{table(rows, right=3)}\n{verdict}"
