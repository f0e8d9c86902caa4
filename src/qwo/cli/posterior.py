"""``qwo posterior``: how probable each edge is, given the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from qwo.cli.console import Console, shown_warnings, to_json
from qwo.cli.failures import ExitCode, command_line
from qwo.cli.folder import RECORD, check_folder, whole_folder, write_csv, written_files
from qwo.cli.options import (
    DataFile,
    KnowledgeOptions,
    Reading,
    SearchFlags,
    folder_option,
    force_option,
    names_in,
)
from qwo.cli.reading import read_data
from qwo.errors import ArgumentError
from qwo.files import write_whole

if TYPE_CHECKING:
    from qwo.bayes import EffectPosterior, Posterior

PANEL = "Posterior"
FORMS = {"json": "json", "adjacency": "csv", "dot": "dot", "graphml": "graphml"}
"""The formats of the graphs in the folder, and the endings of their files."""


class DrawFlags(SearchFlags):
    """How long, by how many threads and from which seed."""

    panel = PANEL
    says: ClassVar = {
        "time_limit": "Stop then, with the draws so far.",
        "random_state": "The same seed gives the same draws, for any number of threads.",
        "n_jobs": "Threads; -1 for one per processor.",
    }


def posterior(
    file: DataFile,
    *,
    score: Annotated[
        Literal["bge", "bic"],
        typer.Option(
            "--score",
            help="Marginal likelihood (bge), or the BIC in its place.",
            rich_help_panel=PANEL,
        ),
    ] = "bge",
    t: Annotated[
        float | None,
        typer.Option(
            "--prior-scale",
            metavar="NUMBER",
            help="t of BGe's prior matrix tI; chosen from the data if not given.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    penalty: Annotated[
        float,
        typer.Option(
            "--penalty",
            metavar="C",
            help="For the BIC: a parent costs C/2 · log N.",
            rich_help_panel=PANEL,
        ),
    ] = 1.0,
    edge_prior: Annotated[
        float | None,
        typer.Option(
            "--edge-prior",
            metavar="ODDS",
            help="Prior odds of an edge; 1/(2(n - 1)) if not given. 1: all DAGs alike.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            "--draws", "-n", metavar="NUMBER", help="DAGs to draw.", rich_help_panel=PANEL
        ),
    ] = 2000,
    effects: Annotated[
        list[str] | None,
        typer.Option(
            "--effect",
            "-e",
            metavar="CAUSE,EFFECT",
            help="Also the effect of one variable on another. Repeatable.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        folder_option(
            "Write probabilities, graphs and draws here. Without: the surest pairs, to standard "
            "output.",
            "Output",
        ),
    ] = None,
    force: Annotated[bool, force_option(panel="Output")] = False,
    run: DrawFlags,
    reading: Reading,
    known: KnowledgeOptions,
    console: Console,
) -> None:
    """Draw graphs in proportion to their probability, to see how sure each edge is.

    [b]qwo posterior cells.csv[/b]                    a table of probabilities
    [b]qwo posterior cells.csv -t log -o sure[/b]     a folder
    [b]qwo posterior cells.csv -e dose,outcome[/b]    and an effect, graph unsure
    [b]qwo posterior cells.csv --tiers 'age,sex > dose > outcome'[/b]

    Each pair has the probability of a link, and of either direction. Ctrl-C ends the run with the
    draws so far, and exit code 130. Exit code 3 says that the chains disagree.
    """
    import qwo

    pairs = [_pair(text) for text in effects or []]
    if output is not None:
        check_folder(output, force=force)
    knowledge = known.build()
    data = read_data(file, reading, console)
    with shown_warnings([finding.worded() for finding in data.audit.warnings]) as warnings:
        doubts = len(warnings)
        found = qwo.posterior(
            data.moments,
            score=score,
            t=t,
            penalty_discount=penalty,
            edge_prior=edge_prior,
            knowledge=knowledge,
            n_draws=draws,
            **run.arguments(),
            progress=console.shows_progress,
        )
        asked = [found.effect(*pair) for pair in pairs]
    document = {**found.to_dict(), "effects": [effect.to_dict() for effect in asked]}
    if output is None or console.json or not console.quiet:
        console.result("\n".join([str(found), *map(repr, asked)]), document)
    if output is not None:
        with whole_folder(output, force=force) as made:
            _write(made, found, asked, document)
        console.say(f"wrote {output}")
    if found.status == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if len(warnings) > doubts:
        raise typer.Exit(ExitCode.ATTENTION)


def _pair(text: str) -> tuple[str, str]:
    names = names_in([text]) or []
    if len(names) != 2:
        raise ArgumentError(
            f"--effect is {text!r}; wanted a cause and an effect, as in --effect dose,outcome"
        )
    return names[0], names[1]


def _write(
    folder: Path,
    found: Posterior,
    effects: list[EffectPosterior],
    document: dict[str, object],
) -> None:
    """Write everything into an empty folder, the record of it last."""
    from qwo.graph import write_graph

    write_probabilities(folder, found, effects)
    for name, matrix in (
        ("edge_probabilities", found.edge_probabilities),
        ("path_probabilities", found.path_probabilities),
    ):
        rows = zip(found.names, matrix.tolist(), strict=True)
        write_csv(folder / f"{name}.csv", ["", *found.names], ([v, *row] for v, row in rows))
    for name, graph in (("cpdag", found.least_shd_graph), ("dag", found.median_graph)):
        for form, suffix in FORMS.items():
            write_graph(graph, folder / f"{name}.{suffix}", form)
    text = "\n".join([found.summary(), *map(repr, effects)])
    write_whole(folder / "summary.txt", text + "\n")
    record = {
        "kind": "posterior",
        "command": command_line(),
        **document,
        "files": [*written_files(folder), RECORD],
    }
    write_whole(folder / RECORD, to_json(record) + "\n")


def write_probabilities(folder: Path, found: Posterior, effects: list[EffectPosterior]) -> None:
    """Write the draws, the table of pairs, and effects if there are any."""
    from qwo.bayes import PairProbability

    found.save(folder / "posterior.npz")
    write_csv(folder / "probabilities.csv", PairProbability._fields, found.to_records())
    if effects:
        tables = [effect.to_dict() for effect in effects]
        write_csv(folder / "effects.csv", list(tables[0]), [list(row.values()) for row in tables])
