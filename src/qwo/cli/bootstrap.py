"""``qwo bootstrap``: how sure each edge is; and ``qwo merge``, for runs in several parts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qwo.cli.bootstrap_files import BootstrapFolder, BootstrapOutput
from qwo.cli.console import Console, warn
from qwo.cli.exit_codes import ExitCode
from qwo.cli.folder import only_writer
from qwo.cli.knowledge_options import KnowledgeOptions
from qwo.cli.reading import DataFile, DataRead, Reading, read_data
from qwo.cli.resampling_options import ResamplingOptions
from qwo.cli.search_options import SearchFlags
from qwo.errors import DataWarning

if TYPE_CHECKING:
    from qwo.graph import Knowledge
    from qwo.resample import Bootstrap


def bootstrap(
    file: DataFile,
    *,
    resampling: ResamplingOptions,
    reading: Reading,
    known: KnowledgeOptions,
    search: SearchFlags,
    output: BootstrapOutput,
    console: Console,
) -> None:
    """Learn the graph again from resamples of the data, to see how sure each edge is.

    [b]qwo bootstrap cells.csv[/b]                           100 resamples, a table
    [b]qwo bootstrap cells.csv -r 1000 -j -1 -o sure[/b]     all processors, a folder
    [b]qwo bootstrap cells.csv -r 1000 -o sure --resume[/b]  go on after an interruption
    [b]qwo bootstrap cells.csv -r 5000 -o part2 --shard 2/8[/b]
    [b]qwo merge part* -o sure[/b]                           the parts of several machines

    Each pair has four shares: how often the two are linked, and how often by an arrow, by its
    reverse, or by an edge without direction. Resamples are complementary halves of the data.
    Ctrl-C ends the run with what there is so far, and exit code 130. The result is the same for
    any number of workers, parts and interruptions.
    """
    resampling.check(output.output)
    with only_writer(output.output):
        folder = BootstrapFolder.open(output, resume=resampling.resume)
        knowledge = known.build()
        data = read_data(file, reading, console, with_rows=True)
        with _said_before(data):
            found = _resample(
                data,
                knowledge=knowledge,
                search=search,
                resampling=resampling,
                folder=folder,
                console=console,
            )
        _show(found, output, folder, console)


def merge(
    parts: Annotated[
        list[Path],
        typer.Argument(
            metavar="PART…", help="Folders that qwo bootstrap --shard wrote, or their .npz files."
        ),
    ],
    *,
    output: BootstrapOutput,
    console: Console,
) -> None:
    """Put the parts of a bootstrap together.

    [b]qwo merge part1 part2 part3 -o sure[/b]

    The result is that of a run that was never divided. Where parts are missing, it says so.
    """
    from qwo.resample import merge as merge_parts

    folder = BootstrapFolder.open(output)
    found = merge_parts([BootstrapFolder.counts_file(part) for part in parts])
    _show(found, output, folder, console)
    if found.status == "incomplete":
        missing = found.n_resamples - found.n_done
        warn(f"{missing} of {found.n_resamples} replicates are in none of the parts")
        raise typer.Exit(ExitCode.ATTENTION)


def _resample(
    data: DataRead,
    *,
    knowledge: Knowledge | None,
    search: SearchFlags,
    resampling: ResamplingOptions,
    folder: BootstrapFolder,
    console: Console,
) -> Bootstrap:
    from qwo.resample import bootstrap as resample

    arguments: dict[str, Any] = search.arguments()
    arguments["replicate_time_limit"] = arguments.pop("time_limit")
    return resample(
        data.rows,
        knowledge=knowledge,
        checkpoint=folder.checkpoint,
        progress=console.shows_progress,
        **resampling.arguments(),
        **arguments,
    )


def _show(
    found: Bootstrap, output: BootstrapOutput, folder: BootstrapFolder, console: Console
) -> None:
    """Print the table, and write the folder if one was asked for."""
    for number, what in (
        (found.n_degenerate, "have no graph and do not count"),
        (found.n_time_limit, "were ended by the time limit and count with their best graph"),
    ):
        if number:
            warn(f"{number} of {found.n_done} replicates {what}")
    if output.output is None or not console.quiet or console.json:
        console.result(str(found), found.to_dict())
    if output.output is not None:
        folder.write(found, output)
        console.say(f"wrote {output.output}")
    if found.status == "interrupted":
        if output.output is not None:
            console.say("to go on, run the same command with --resume")
        raise typer.Exit(ExitCode.INTERRUPTED)


@contextmanager
def _said_before(data: DataRead) -> Iterator[None]:
    """Leave out warnings about the data that were shown when they were read."""
    with warnings.catch_warnings():
        for finding in data.audit.warnings:
            warnings.filterwarnings("ignore", re.escape(finding.message), DataWarning)
        yield
