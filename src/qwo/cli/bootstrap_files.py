"""The folder of a bootstrap, and the checkpoint beside it while the run lasts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qwo.cli.console import to_json
from qwo.cli.csv_files import write_csv
from qwo.cli.folder import RECORD, beside, check_folder, whole_folder, written_files
from qwo.cli.graph_files import format_names, write_graphs
from qwo.cli.learnt import command_line
from qwo.errors import ArgumentError
from qwo.files import whole_file, write_whole

if TYPE_CHECKING:
    from qwo.resample import Bootstrap

PANEL = "Output"
COUNTS = "bootstrap.npz"
SUPPORTS = "support.csv"
DEFAULT_FORMATS = ("json", "adjacency", "dot")


@dataclass(frozen=True)
class BootstrapOutput:
    """The result folder and what goes into it."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write supports, counts and consensus graphs here. Without: the surest pairs, to "
            "standard output.",
            rich_help_panel=PANEL,
        ),
    ] = None
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="SHARE",
            help="How often pairs of the consensus graphs are adjacent at least.",
            rich_help_panel=PANEL,
        ),
    ] = 0.5
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            autocompletion=format_names,
            help="Graph format besides json, as for qwo learn. Repeatable; adjacency and dot if "
            "not given.",
            rich_help_panel=PANEL,
        ),
    ] = None
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Begin anew, and replace what qwo wrote into the folder before.",
            rich_help_panel=PANEL,
        ),
    ] = False


def open_checkpoint(folder: Path, *, force: bool, resume: bool) -> Path:
    """The file beside a folder that keeps the replicates while a run lasts.

    Raises
    ------
    ArgumentError
        If one is left from a run that did not end, and it is not said what to do with it.
    """
    if resume and force:
        raise ArgumentError("--resume goes on and --force begins anew; give one of them")
    check_folder(folder, force=force or resume)
    folder.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = beside(folder, "checkpoint.npz", hidden=False)
    if resume:
        if not checkpoint.exists() and (folder / COUNTS).is_file():
            with whole_file(checkpoint) as made:
                shutil.copyfile(folder / COUNTS, made)
    elif force:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        raise ArgumentError(
            f"{str(checkpoint)!r} is left from a run that did not end; add --resume to go on "
            "from it, or --force to begin anew"
        )
    return checkpoint


@dataclass(frozen=True)
class BootstrapFolder:
    """Where a run keeps its counts while it lasts; no path if nothing is to be written."""

    checkpoint: Path | None
    replaces: bool

    @classmethod
    def open(cls, output: BootstrapOutput, *, resume: bool = False) -> BootstrapFolder:
        """Make sure that the folder can be written, and lay out the checkpoint to go on from."""
        from qwo.graph.formats import find_format

        for name in output.formats or ():
            find_format(name)
        if not 0 <= output.threshold <= 1:
            raise ArgumentError(
                f"--threshold is {output.threshold:g}; wanted a share between 0 and 1"
            )
        folder = output.output
        if folder is None:
            return cls(None, False)
        checkpoint = open_checkpoint(folder, force=output.force, resume=resume)
        return cls(checkpoint, output.force or resume)

    @staticmethod
    def counts_file(path: Path) -> Path:
        """The counts in a folder that was written here, or the file itself."""
        return path / COUNTS if path.is_dir() else path

    def write(self, found: Bootstrap, output: BootstrapOutput) -> None:
        """Write everything, the record of it last; the checkpoint has done its service then."""
        assert output.output is not None
        with whole_folder(output.output, force=self.replaces) as made:
            found.save(made / COUNTS)
            _write_supports(made / SUPPORTS, found)
            _write_graphs(made, found, output)
            record = {
                "kind": "bootstrap",
                "command": command_line(),
                "threshold": output.threshold,
                **found.to_dict(),
                "files": [*written_files(made), RECORD],
            }
            write_whole(made / RECORD, to_json(record) + "\n")
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)


def _write_supports(path: Path, found: Bootstrap) -> None:
    from qwo.resample import PairSupport

    write_csv(path, PairSupport._fields, found.to_records())


def _write_graphs(folder: Path, found: Bootstrap, output: BootstrapOutput) -> None:
    """The consensus CPDAG and DAG in each format that can hold them."""
    from qwo.graph import CausalGraph

    dag = CausalGraph(found.names, found.consensus_dag(output.threshold), "dag")
    cpdag = CausalGraph(found.names, found.consensus_cpdag(output.threshold), "cpdag")
    for name in dict.fromkeys(("json", *(output.formats or DEFAULT_FORMATS))):
        write_graphs(folder, dag, cpdag, name)
