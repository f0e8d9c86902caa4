"""The options of the bootstrap itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

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
    resampling: Annotated[
        Literal["halves", "subsamples", "replacement"],
        typer.Option(
            "--resampling",
            metavar="HOW",
            help="What a resample is: one of the [b]halves[/b] of a random cut, a fraction of the "
            "rows each time anew ([b]subsamples[/b]), or rows drawn with [b]replacement[/b].",
            rich_help_panel=PANEL,
        ),
    ] = "halves"
    sample_fraction: Annotated[
        float | None,
        typer.Option(
            "--sample-fraction",
            metavar="F",
            help="Size of a resample as a fraction of the data: 0.5 for subsamples and 1 for rows "
            "drawn with replacement, if not given.",
            rich_help_panel=PANEL,
        ),
    ] = None
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
            "resampling": self.resampling,
            "sample_fraction": self.sample_fraction,
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
