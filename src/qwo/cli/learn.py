"""``qwo learn``: from a file to a graph one can judge."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qwo.cli.benchpress import check_outputs, write_outputs
from qwo.cli.console import Console, is_terminal, logger, shown_warnings, warn
from qwo.cli.exit_codes import ExitCode
from qwo.cli.folder import check_folder, whole_folder
from qwo.cli.knowledge_options import KnowledgeOptions
from qwo.cli.output_options import REPORT, OutputOptions
from qwo.cli.reading import DataFile, DataRead, Reading, read_data
from qwo.cli.search_options import SearchFlags
from qwo.cli.wording import in_options
from qwo.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from qwo.cli.learnt import Learnt
    from qwo.discovery import Discovery
    from qwo.graph import Knowledge
    from qwo.resample import Bootstrap
    from qwo.sem import LinearSem

MOST_SHOWN = 40
"""Edges that are shown on a terminal when there is a folder with all of them."""


def learn(
    file: DataFile,
    *,
    reading: Reading,
    known: KnowledgeOptions,
    search: SearchFlags,
    output: OutputOptions,
    console: Console,
    bootstrap: Annotated[
        int,
        typer.Option(
            "--bootstrap",
            "-b",
            metavar="R",
            help="Resample the data R times to see how sure each edge is.",
            rich_help_panel="Search",
        ),
    ] = 0,
    resampling: Annotated[
        Literal["halves", "subsamples", "replacement"],
        typer.Option(
            "--resampling",
            metavar="HOW",
            help="What a resample is: one of the [b]halves[/b] of a random cut, half of the rows "
            "each time anew ([b]subsamples[/b]), or rows drawn with [b]replacement[/b].",
            rich_help_panel="Search",
        ),
    ] = "halves",
) -> None:
    """Learn the causal graph of the variables in a file.

    [b]qwo learn cells.csv[/b]                               edges, to standard output
    [b]qwo learn cells.csv -o result -t log -b 200[/b]       report, bootstrap
    [b]qwo learn cells.csv --drop id,notes --missing em[/b]  cure the data
    [b]qwo learn cells.csv --tiers 'age,sex > dose > outcome'[/b]
    [b]qwo learn lead.csv --samples 250[/b]                  a covariance matrix
    [b]qwo learn cells.csv --json | jq .edges[/b]

    A --> B is a direction that all graphs of the equivalence class share; A --- B could be either.
    Ctrl-C ends the search: the best graph so far is the result, and the exit code 130.
    """
    from qwo.cli.learnt import Learnt
    from qwo.graph.formats import find_format

    started = time.perf_counter()
    if bootstrap < 0:
        raise ArgumentError(f"--bootstrap is {bootstrap}; wanted a number of resamples")
    if output.output is not None:
        check_folder(output.output, force=output.force)
    if output.benchpress is not None:
        check_outputs(output.benchpress)
    for name in output.graph_formats():
        find_format(name)
    knowledge = known.build()
    data = read_data(file, reading, console, with_rows=bool(bootstrap))
    logger.info("data read after %.2f s", time.perf_counter() - started)
    seen = [finding.message for finding in data.audit.warnings]
    with shown_warnings(seen) as warnings:
        found = _search(data, knowledge, search, console)
        if output.benchpress is not None:
            write_outputs(output.benchpress, found, time.perf_counter() - started)
        wanted = 0 if found.status == "interrupted" else bootstrap
        try:
            supports = _supports(
                data, knowledge, search, console, n_resamples=wanted, resampling=resampling
            )
        except InputError as error:
            # The graph is there; that it could not be resampled is no reason to lose it.
            warn(f"no bootstrap: {in_options(str(error))}")
            supports, wanted = None, 0
    learnt = Learnt(
        data=data,
        knowledge=knowledge,
        found=found,
        model=_model(data, found),
        n_resamples=wanted,
        bootstrap=supports,
        warnings=warnings,
    )
    written = False
    try:
        if output.output is not None:
            _write(learnt, output)
            written = True
    finally:
        # Whatever the disk says, the graph is shown; whoever reads it, the folder is complete.
        _show(learnt, output, console, written=written)
    if learnt.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if bootstrap and not wanted:
        raise typer.Exit(ExitCode.ATTENTION)


def _search(
    data: DataRead,
    knowledge: Knowledge | None,
    options: SearchFlags,
    console: Console,
) -> Discovery:
    """The search, which Ctrl-C ends but does not break."""
    from qwo.cli.interrupts import watched_search
    from qwo.discovery import discover

    with watched_search(console) as watch:
        logger.info("the search begins")
        found = discover(data.moments, knowledge=knowledge, callback=watch, **options.arguments())
    logger.info("search: %s after %.2f s", found.status, found.seconds)
    return replace(found, status="interrupted") if found.status == "stopped" else found


def _supports(
    data: DataRead,
    knowledge: Knowledge | None,
    options: SearchFlags,
    console: Console,
    *,
    n_resamples: int,
    resampling: str,
) -> Bootstrap | None:
    if not n_resamples:
        return None
    from qwo.cli.supports import find_supports

    return find_supports(
        data,
        knowledge=knowledge,
        options=options,
        n_resamples=n_resamples,
        resampling=resampling,
        console=console,
    )


def _model(data: DataRead, found: Discovery) -> LinearSem | None:
    from qwo.sem import fit_sem

    try:
        return fit_sem(data.moments, found.dag)
    except InputError as error:
        warn(f"no coefficients: {error}")
        return None


def _write(learnt: Learnt, options: OutputOptions) -> None:
    from qwo.cli.result_files import write_result

    assert options.output is not None
    with whole_folder(options.output, force=options.force) as made:
        write_result(made, learnt, options)


def _show(learnt: Learnt, options: OutputOptions, console: Console, *, written: bool) -> None:
    console.say(learnt.headline())
    if options.output is None or console.json or not console.quiet:
        # Whoever watches wants the gist of a large graph; all of it is in the folder.
        watched = options.output is not None and is_terminal(sys.stdout)
        console.result(learnt.edge_list(MOST_SHOWN if watched else None), learnt.document())
    for note in learnt.notes():
        console.note(note)
    if written and options.output is not None:
        report = f"; look at {options.output / REPORT}" if options.report else ""
        console.say(f"wrote {options.output}{report}")
