"""The options of the bootstrap itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qwo.errors import ArgumentError

PANEL = "Resamples"


@dataclass(frozen=True)
class ResamplingOptions:
    """How many resamples, how they are drawn, and where they are worked on."""

    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            "--replicates",
            "-r",
            metavar="R",
            help="How many resamples.",
            rich_help_panel=PANEL,
        ),
    ] = 100
    sample_fraction: Annotated[
        float,
        typer.Option(
            "--sample-fraction",
            metavar="F",
            help="Size of a resample as a fraction of the data.",
            rich_help_panel=PANEL,
        ),
    ] = 1.0
    replace: Annotated[
        bool,
        typer.Option(
            "--replace/--no-replace",
            metavar="",
            show_default=False,
            help="Whether a row may be drawn twice. Without, take --sample-fraction 0.5 or so.",
            rich_help_panel=PANEL,
        ),
    ] = True
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="T",
            help="Stop once no share is more uncertain than ± T, looked at every 100 resamples.",
            rich_help_panel=PANEL,
        ),
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="I/K",
            help="Run part I of K only, as in 2/8; qwo merge puts the parts together.",
            rich_help_panel=PANEL,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            metavar="",
            help="Go on from where the last run with this folder was, or begin if there is none.",
            rich_help_panel=PANEL,
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
            "sample_fraction": self.sample_fraction,
            "replace": self.replace,
            "tolerance": self.tolerance,
            "shard": self._shard(),
        }

    def _shard(self) -> tuple[int, int] | None:
        if self.shard is None:
            return None
        number, slash, count = self.shard.partition("/")
        if not (slash and number.strip().isdecimal() and count.strip().isdecimal()):
            raise ArgumentError(f"--shard is {self.shard!r}; wanted part/parts, such as 2/8")
        return int(number), int(count)
