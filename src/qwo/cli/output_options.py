"""What ``qwo learn`` writes, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qwo.cli.graph_files import format_names

PANEL = "Output"
REPORT = "report.html"
DEFAULT_FORMATS = ("json", "adjacency", "dot")


@dataclass(frozen=True)
class OutputOptions:
    """The result folder and what goes into it."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write graph, coefficients, figures and report here. Without: the edges alone, to "
            "standard output.",
            rich_help_panel=PANEL,
        ),
    ] = None
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            autocompletion=format_names,
            help="Graph format besides json: graphml, gml, dagitty, dot, tetrad, bnlearn, lavaan, "
            "edges, pcalg, causal-learn, zero-one, adjacency, parquet. Repeatable; adjacency and "
            "dot if not given.",
            rich_help_panel=PANEL,
        ),
    ] = None
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            metavar="",
            show_default=False,
            help="The HTML report.",
            rich_help_panel=PANEL,
        ),
    ] = True
    figures: Annotated[
        bool,
        typer.Option(
            "--figures/--no-figures",
            metavar="",
            show_default=False,
            help="Figures as SVG and PNG.",
            rich_help_panel=PANEL,
        ),
    ] = True
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Replace what qwo wrote into the folder before; other files stay.",
            rich_help_panel=PANEL,
        ),
    ] = False
    benchpress: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(
            "--benchpress",
            metavar="FILE FILE FILE",
            help="Write the outputs of a Benchpress module: adjmat, time, ntests.",
            rich_help_panel=PANEL,
        ),
    ] = None

    def graph_formats(self) -> list[str]:
        """The formats to write; JSON always, as other commands read it."""
        return list(dict.fromkeys(("json", *(self.formats or DEFAULT_FORMATS))))
