"""``qwo compare``, ``changes``, ``check``, ``convert``, ``fit``: about graphs that are given."""

from __future__ import annotations

import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qwo.cli.console import Console, as_flag, logger, shown_warnings, warn
from qwo.cli.failures import ExitCode
from qwo.cli.folder import write_csv
from qwo.cli.options import GraphFile, GraphFormat, RegimeColumn, format_option, option
from qwo.cli.reading import DataFile, Reading, arguments_for, read_for, result_record
from qwo.errors import ArgumentError, FileFormatError
from qwo.text import aligned, count

if TYPE_CHECKING:
    from qwo.discovery import Discovery
    from qwo.graph import CausalGraph
    from qwo.sem import LinearSem
    from qwo.sem.cyclic import CyclicSem
    from qwo.series.autoregression import FittedAutoregression

STDIN = Path("-")


def graph_from(path: Path, form: str | None = None, *, of_folder: str = "cpdag") -> CausalGraph:
    """The graph of a file, of a folder that ``qwo learn`` wrote, or of standard input (``-``).

    Of a folder, the class; or, with ``of_folder="dag"``, the DAG that its numbers belong to. Where
    cycles were found, the graph with cycles, or the one of its class that numbers belong to.
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
        cyclic = "member" if of_folder == "dag" else "graph"
        named = [path / f"{kind}.json" for kind in (cyclic, of_folder, "cpdag", "pag")]
        inside = next((file for file in named if file.is_file()), named[2])
        if not inside.is_file():
            raise FileFormatError(
                f"the folder {str(path)!r} has no cpdag.json; wanted a graph file, or a folder "
                "that qwo learn wrote"
            )
        path = inside
    return read_graph(path, form)


def learnt_again(graph: Path, file: Path, reading: Reading, console: Console) -> Discovery | None:
    """The result of a folder with conditions or lags, found anew; None of other graphs."""
    from qwo.discovery import discover
    from qwo.options import SearchOptions

    record = result_record(graph)
    if not record.get("regimes") and not record.get("series"):
        return None
    params, given = record["params"], graph_from(graph)
    asked = {own.name: params[own.name] for own in fields(SearchOptions) if own.name in params}
    if params.get("penalty_chosen"):
        asked["penalty_discount"] = "auto"
    told = [asked[name] for name in ("regime", "time", "unit", "targets")]
    columns = [name for name in told if isinstance(name, str) and "=" not in name]
    source = arguments_for(graph, (*given.names, *columns), file, reading, console)
    asked |= {"time_limit": None, "knowledge": record["knowledge"]}
    with shown_warnings([]):
        found = discover(**source, **asked)
    if (found.cpdag != given.reordered(found.names).matrix).any():
        raise ArgumentError(
            "with conditions or lags, equations come with their search, which finds another graph "
            f"in these data than {str(graph)!r} has; learn it anew: qwo learn"
        )
    return found


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
    write_graph(dag, folder / f"{dag.kind}{suffix}", form)
    reason = can_hold(form, cpdag)
    if reason is None:
        write_graph(cpdag, folder / f"{cpdag.kind}{suffix}", form)
    else:
        logger.info("only the DAG as %s: %s", form, reason)


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
        option(
            "--data",
            "Also score both graphs on these data: is the search at fault, or the sample?",
            "FILE",
        ),
    ] = None,
    penalty: Annotated[float, option("--penalty", "Penalty discount c of the score.")] = 2.0,
    estimated_format: Annotated[
        str | None, format_option("--from", "Format of ESTIMATED, where it does not tell.")
    ] = None,
    truth_format: Annotated[
        str | None, format_option("--truth-from", "Format of TRUTH, where it does not tell.")
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
        moments = read_for(estimated, second.names, data, reading, console).moments
        scores = [float(qwo.score_graph(moments, graph, penalty)) for graph in (first, second)]
        text += f"\n\n{_verdict(*scores)}"
        document |= {
            "score_estimated": scores[0],
            "score_true": scores[1],
            "score_gap": scores[1] - scores[0],
        }
    console.result(text, document)


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
    return "\n".join([*aligned(rows), verdict])


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
        str | None, format_option("--from", "Format of SOURCE, where text and name do not tell.")
    ] = None,
    target_format: Annotated[
        str | None, format_option("--to", "Format of TARGET, where its name does not tell.")
    ] = None,
    dag: Annotated[
        bool,
        option(
            "--dag",
            "Write one DAG of the equivalence class: that of dag.json if SOURCE is a folder.",
        ),
    ] = False,
    force: Annotated[bool, option("--force", "Replace TARGET if it is there.")] = False,
) -> None:
    """Write a graph in another format.

    [b]qwo convert graph.dot graph.graphml[/b]
    [b]qwo convert result truth.csv --to pcalg[/b]      codes of another tool: name them
    [b]qwo convert result model.lavaan --dag[/b]        the DAG of dag.json

    Formats: json, graphml, gml, dagitty, dot, tetrad, bnlearn, lavaan, edges, adjacency, parquet,
    and the matrices of pcalg, pcalg-pag, causal-learn, zero-one.
    """
    from qwo.graph import write_graph
    from qwo.graph.formats import find_format

    # Of a folder it is the member that its coefficients belong to, and not just any.
    graph = graph_from(source, source_format, of_folder="dag" if dag else "cpdag")
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


def fit(
    file: DataFile,
    graph: GraphFile,
    *,
    reading: Reading,
    console: Console,
    graph_format: GraphFormat = None,
    output: Annotated[
        Path | None, option("--output -o", "Also write the coefficients here.", "CSV")
    ] = None,
    force: Annotated[bool, option("--force", "Replace it if it is there.")] = False,
    spreadsheet: Annotated[
        bool,
        option("--spreadsheet", "Write names such as =1+1 so that no spreadsheet computes them."),
    ] = False,
) -> None:
    """Fit a linear model to a graph: coefficients, errors, fit.

    [b]qwo fit cells.csv model.dot[/b]
    [b]qwo fit cells.csv result -t log -o coefficients.csv[/b]

    Columns that are not in the graph are left out. Of a folder that qwo learn wrote, the DAG in
    dag.json is fitted. Where a graph file has undirected edges, one DAG of its class is fitted; all
    have the same likelihood. With conditions the usual equations are fitted, with lags all lags.
    """
    import qwo
    from qwo.sem import EdgeEstimate
    from qwo.series.autoregression import COLUMNS, FittedAutoregression

    if output is not None and output.exists() and not force:
        raise ArgumentError(f"{str(output)!r} is there already; add --force to replace it")
    given = graph_from(graph, graph_format)
    member = graph_from(graph, graph_format, of_folder="dag") if graph.is_dir() else given
    moments = read_for(graph, given.names, file, reading, console).moments
    own = member.reordered(moments.names)
    dag = own if own.kind == "cyclic" else own.to_dag()
    undirected = int((given.matrix == 2).sum()) // 2
    if undirected:
        which = "chosen arbitrarily" if member is given else "which is in dag.json"
        have = "has" if undirected == 1 else "have"
        text = f"{undirected} of {count(given.n_edges, 'edge')} {have} no direction; coefficients"
        warn(f"{text} of such edges are those of one DAG of the class, {which}")
    again = learnt_again(graph, file, reading, console)
    model: Any = qwo.fit_sem(moments, dag) if again is None else again.fit()
    edges: Any = model.records() if isinstance(model, FittedAutoregression) else model.edges
    columns = COLUMNS if isinstance(model, FittedAutoregression) else EdgeEstimate._fields
    if output is not None:
        write_csv(output, columns, edges, spreadsheet=spreadsheet)
        console.say(f"wrote {output}")
    console.result(
        str(model),
        {
            "n_samples": model.n_samples,
            "edges": [dict(zip(columns, edge, strict=True)) for edge in edges],
            **_told_of_fit(model),
        },
    )


def _told_of_fit(model: LinearSem | CyclicSem | FittedAutoregression) -> dict[str, Any]:
    from qwo.sem import LinearSem
    from qwo.sem.cyclic import CyclicSem

    if isinstance(model, LinearSem):
        variables = [node._asdict() for node in model.nodes]
        return {"fit": asdict(model.fit), "variables": variables}
    if not isinstance(model, CyclicSem):
        return {"step": model.step, "largest_root": model.largest_root()}
    names = "chi_square", "df", "p_value"
    return {
        "fit": dict(zip(names, model.chi_square, strict=True)),
        "total_effects": model.total_effects,
        "spectral_radius": model.spectral_radius,
        "condition_number": model.condition_number,
    }


def check(
    file: DataFile,
    graph: GraphFile,
    *,
    reading: Reading,
    console: Console,
    graph_format: GraphFormat = None,
    alpha: Annotated[
        float, option("--alpha", "Probability of an alarm if the graph is right.")
    ] = 0.05,
    draws: Annotated[
        int, option("--draws", "Data sets drawn from the graph for comparison.", min=0)
    ] = 100,
    seed: Annotated[int | None, option("--seed", "Seed of the draws.")] = None,
    regime: RegimeColumn = None,
) -> None:
    """Say how far data and a graph agree, in plain words first.

    [b]qwo check cells.csv model.dot[/b]     a graph of your own
    [b]qwo check cells.csv result[/b]        what qwo learn found in the same data
    [b]qwo check cells.csv result --regime condition[/b]

    Tests the independences that the graph implies, its overall fit, whether searches on some of
    the variables contradict it, and whether its equations are linear. An alarm ends with exit
    code 3. No alarm is no proof.
    """
    import qwo

    given, learnt = graph_from(graph, graph_format), result_record(graph)
    if learnt.get("series"):
        raise ArgumentError(
            f"{str(graph)!r} has effects of earlier rows, and a check takes rows for independent; "
            "what qwo learn says of residuals and of --bootstrap is what tells how far it holds"
        )
    how: dict[str, Any] = {"alpha": alpha, "n_draws": draws, "random_state": seed}
    if learnt.get("regimes") and regime is None:
        regime = learnt["params"]["regime"]
    if regime is not None:
        how |= arguments_for(graph, (*given.names, regime), file, reading, console)
        found: Any = qwo.check(graph=given, regime=regime, **how)
    else:
        read = read_for(graph, given.names, file, reading, console, with_rows=True)
        rows = read.moments if read.rows is None else read.rows
        found = qwo.check(rows, given, learnt=graph.is_dir(), **how)
    console.result(found.summary(as_flag), found.to_dict())
    if found.alarm:
        raise typer.Exit(ExitCode.ATTENTION)


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
    from qwo.discovery.regimes import changes as compared

    arguments = reading.arguments()
    del arguments["n_samples"]
    found = compared(before, after, graph, random_state=seed, **arguments)
    console.result(found.summary(), found.to_dict())
