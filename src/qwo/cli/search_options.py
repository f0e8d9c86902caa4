"""The options of the search itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from qwo.cli.reading_options import names_in

PANEL = "Search"
STARTS = (
    "r2",
    "markov-boundary",
    "conditional-variance",
    "reverse-conditional-variance",
    "random",
)


@dataclass(frozen=True)
class SearchOptions:
    """How to search; what is left out is chosen to suit the data."""

    penalty: Annotated[
        float,
        typer.Option(
            "--penalty",
            "-p",
            metavar="C",
            help="Price of an edge, in units of log N: higher means fewer edges, 1 is the BIC.",
            rich_help_panel=PANEL,
        ),
    ] = 2.0
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            metavar="LEVEL",
            help="Level of the edge test of the QWO engine, instead of the penalty.",
            rich_help_panel=PANEL,
        ),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            "--gamma",
            metavar="G",
            help="Extended BIC: 2·G·log n more for an edge. If not given 0, or 0.5 for more "
            "variables than samples.",
            rich_help_panel=PANEL,
        ),
    ] = None
    search: Annotated[
        Literal["auto", "insertion", "grasp", "hill-climbing"],
        typer.Option(
            "--search",
            metavar="NAME",
            help="[b]auto[/b], [b]insertion[/b], [b]grasp[/b] or [b]hill-climbing[/b].",
            rich_help_panel=PANEL,
        ),
    ] = "auto"
    engine: Annotated[
        Literal["auto", "bic", "qwo", "reference"],
        typer.Option(
            "--engine",
            metavar="NAME",
            help="What builds the graph of an order: [b]auto[/b], [b]bic[/b] (exact), [b]qwo[/b], "
            "or [b]reference[/b] (the paper's Algorithm 1, slow).",
            rich_help_panel=PANEL,
        ),
    ] = "auto"
    restarts: Annotated[
        int | None,
        typer.Option(
            "--restarts",
            metavar="R",
            help="More find better graphs, at length.",
            rich_help_panel=PANEL,
        ),
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Then the best graph so far is the result.",
            rich_help_panel=PANEL,
        ),
    ] = None
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="ORDER",
            autocompletion=lambda incomplete: [s for s in STARTS if s.startswith(incomplete)],
            help=f"Order to start from: {', '.join(STARTS)}, or all names, as in A,B,C.",
            rich_help_panel=PANEL,
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="S",
            help="The same seed gives the same graph, for any number of threads.",
            rich_help_panel=PANEL,
        ),
    ] = 0
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "--threads",
            "-j",
            metavar="J",
            help="Threads; -1 for one per processor.",
            rich_help_panel=PANEL,
        ),
    ] = 1

    def shared(self) -> dict[str, Any]:
        """The keyword arguments that `qwo.discover` and `qwo.bootstrap` have in common."""
        named = self.start is None or self.start in STARTS or "," not in self.start
        return {
            "search": self.search,
            "engine": self.engine,
            "penalty_discount": self.penalty,
            "alpha": self.alpha,
            "gamma": self.gamma,
            "restarts": self.restarts,
            "time_limit": self.time_limit,
            "start": self.start if named else names_in([self.start or ""]),
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }
