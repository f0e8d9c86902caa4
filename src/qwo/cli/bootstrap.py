"""``qwo bootstrap``: how sure each edge is; and ``qwo merge``, for runs in several parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from qwo.cli.console import Console, shown_warnings, warn
from qwo.cli.failures import ExitCode, command_line
from qwo.cli.folder import (
    COUNTS,
    only_writer,
    open_checkpoint,
    whole_folder,
    write_csv,
    write_record,
)
from qwo.cli.graphs import write_graphs
from qwo.cli.options import (
    Formats,
    KnowledgeOptions,
    ResampledHow,
    SearchFlags,
    folder_option,
    force_option,
    graph_formats,
    option,
)
from qwo.cli.reading import DataFile, Reading, read_data
from qwo.errors import ArgumentError

if TYPE_CHECKING:
    from qwo.resample import Bootstrap


@dataclass(frozen=True)
class ResamplingOptions:
    """How many resamples, how they are drawn, and where they are worked on."""

    panel: ClassVar[str] = "Resamples"

    resamples: Annotated[
        int, option("--resamples --replicates -r -b", "How many resamples.", "R")
    ] = 100
    resampling: ResampledHow = "halves"
    sample_fraction: Annotated[
        float | None,
        option(
            "--sample-fraction",
            "Size of a resample as a fraction of the data: 0.5 for subsamples "
            "and 1 for rows drawn with replacement, if not given.",
            "F",
        ),
    ] = None
    shard: Annotated[
        str | None,
        option(
            "--shard", "Run part I of K only, as in 2/8; qwo merge puts the parts together.", "I/K"
        ),
    ] = None
    resume: Annotated[
        bool,
        option(
            "--resume",
            "Continue the last run with this folder, or start one.",
        ),
    ] = False

    def check(self, folder: Path | None) -> None:
        """Refuse what does not go together, before any work is done."""
        self._shard()
        if folder is None and (self.shard is not None or self.resume):
            option = "--resume" if self.resume else "--shard"
            raise ArgumentError(f"{option} needs a folder to keep the counts in; name it after -o")

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.bootstrap`."""
        return {
            "n_resamples": self.resamples,
            "resampling": self.resampling,
            "sample_fraction": self.sample_fraction,
            "shard": self._shard(),
        }

    def _shard(self) -> tuple[int, int] | None:
        if self.shard is None:
            return None
        number, slash, count = self.shard.partition("/")
        if not (slash and number.strip().isdecimal() and count.strip().isdecimal()):
            raise ArgumentError(f"--shard is {self.shard!r}; wanted part/parts, such as 2/8")
        return int(number), int(count)


@dataclass(frozen=True)
class BootstrapOutput:
    """The result folder and what goes into it."""

    panel: ClassVar[str] = "Output"

    output: Annotated[
        Path | None,
        folder_option(
            "Write supports, counts and consensus graphs here. Without: the surest pairs, to "
            "standard output."
        ),
    ] = None
    threshold: Annotated[
        float,
        option(
            "--threshold",
            "Share of resamples in which pairs of the consensus graphs are linked, at least.",
            "SHARE",
        ),
    ] = 0.5
    formats: Formats = None
    force: Annotated[
        bool, force_option("Start again, and replace what qwo wrote into the folder before.")
    ] = False


def _open(output: BootstrapOutput, *, resume: bool = False) -> Path | None:
    """Make sure that the folder can be written; where counts are kept while the run lasts."""
    from qwo.graph.formats import find_format

    for name in output.formats or ():
        find_format(name)
    if not 0 <= output.threshold <= 1:
        raise ArgumentError(f"--threshold is {output.threshold:g}; wanted a share between 0 and 1")
    if output.output is None:
        return None
    return open_checkpoint(output.output, force=output.force, resume=resume)


def _write(found: Bootstrap, output: BootstrapOutput, folder: Path, *, replaces: bool) -> None:
    """Write everything, the record of it last."""
    from qwo.graph import CausalGraph
    from qwo.resample import PairSupport

    dag = CausalGraph(found.names, found.consensus_dag(output.threshold), "dag")
    cpdag = CausalGraph(found.names, found.consensus_cpdag(output.threshold), "cpdag")
    with whole_folder(folder, force=replaces) as made:
        found.save(made / COUNTS)
        write_csv(made / "support.csv", PairSupport._fields, found.to_records())
        for name in graph_formats(output.formats):
            write_graphs(made, dag, cpdag, name)
        record = {"kind": "bootstrap", "command": command_line(), "threshold": output.threshold}
        write_record(made, {**record, **found.to_dict()})


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
    reverse, or by an edge without direction. Resamples are subsample pairs: both halves of random
    cuts. Ctrl-C ends the run with what there is so far, and exit code 130. The result is the same
    for any number of workers, parts and interruptions.
    """
    from qwo.resample import bootstrap as resample

    resampling.check(output.output)
    with only_writer(output.output):
        checkpoint = _open(output, resume=resampling.resume)
        knowledge = known.build()
        data = read_data(file, reading, console, with_rows=True)
        with shown_warnings([finding.worded() for finding in data.audit.warnings]):
            found = resample(
                data.rows,
                knowledge=knowledge,
                checkpoint=checkpoint,
                progress=console.shows_progress,
                **resampling.arguments(),
                **search.of_resamples(),
            )
        _show(found, output, console, checkpoint, replaces=output.force or resampling.resume)


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

    The result is the same as that of a single run. Where parts are missing, it says so.
    """
    from qwo.resample import merge as merge_parts

    with only_writer(output.output):
        checkpoint = _open(output)
        found = merge_parts([part / COUNTS if part.is_dir() else part for part in parts])
        _show(found, output, console, checkpoint, replaces=output.force)
    if found.status == "incomplete":
        missing = found.n_resamples - found.n_done
        warn(f"{missing} of {found.n_resamples} replicates are in none of the parts")
        raise typer.Exit(ExitCode.ATTENTION)


def _show(
    found: Bootstrap,
    output: BootstrapOutput,
    console: Console,
    checkpoint: Path | None,
    *,
    replaces: bool,
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
        _write(found, output, output.output, replaces=replaces)
        if checkpoint is not None:
            # It has done its service.
            checkpoint.unlink(missing_ok=True)
        console.say(f"wrote {output.output}")
    if found.status == "interrupted":
        if output.output is not None:
            console.say("to go on, run the same command with --resume")
        raise typer.Exit(ExitCode.INTERRUPTED)
