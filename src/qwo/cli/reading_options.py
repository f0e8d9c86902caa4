"""Which columns of a file to take, how it is written, and what to do with its values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from qwo.errors import ArgumentError

PANEL = "Data"
TEXT = "Text files"

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV or Parquet with one row per sample, a covariance matrix (.cov in its name, "
        "or --samples), or - for CSV from standard input.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """Which columns of a file to take, and what to do with them."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            metavar="A,B,…",
            help="Take these columns only.",
            rich_help_panel=PANEL,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop", "-d", metavar="A,B,…", help="Leave these out.", rich_help_panel=PANEL
        ),
    ] = None
    transform: Annotated[
        list[str] | None,
        typer.Option(
            "--transform",
            "-t",
            metavar="NAME[:A,B,…]",
            help="[b]log[/b], [b]log1p[/b], [b]rank-normal[/b] or [b]standardise[/b]: all columns, "
            "or those named behind a colon. Repeatable.",
            rich_help_panel=PANEL,
        ),
    ] = None
    missing: Annotated[
        Literal["raise", "drop", "em"],
        typer.Option(
            "--missing",
            metavar="HOW",
            help="Missing values: [b]raise[/b] an error, [b]drop[/b] their rows, or use all that "
            "is there by maximum likelihood ([b]em[/b]).",
            rich_help_panel=PANEL,
        ),
    ] = "raise"
    covariance_estimator: Annotated[
        Literal["plain", "ledoit-wolf", "oas"],
        typer.Option(
            "--covariance-estimator",
            metavar="NAME",
            help="[b]plain[/b], or [b]ledoit-wolf[/b] and [b]oas[/b], which shrink: for about as "
            "many variables as samples.",
            rich_help_panel=PANEL,
        ),
    ] = "plain"
    samples: Annotated[
        float | None,
        typer.Option(
            "--samples",
            "-N",
            metavar="N",
            help="FILE holds a covariance or correlation matrix of this many samples (or inf).",
            rich_help_panel=PANEL,
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHARACTER",
            help="Told by the first line otherwise.",
            rich_help_panel=TEXT,
        ),
    ] = None
    decimal: Annotated[
        str, typer.Option("--decimal", metavar="MARK", help="Decimal mark.", rich_help_panel=TEXT)
    ] = "."
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            metavar="",
            show_default=False,
            help="Whether the first line holds names.",
            rich_help_panel=TEXT,
        ),
    ] = True
    null_values: Annotated[
        list[str] | None,
        typer.Option(
            "--null-value",
            metavar="TEXT",
            help="What else stands for a missing value, such as -999. Repeatable.",
            rich_help_panel=TEXT,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.moments.read_moments`."""
        return {
            "columns": names_in(self.columns),
            "drop": names_in(self.drop),
            "transform": _transforms(self.transform or []),
            "missing": self.missing,
            "covariance_estimator": self.covariance_estimator,
            "n_samples": self.samples,
            "separator": {"\\t": "\t", "tab": "\t"}.get(self.separator or "", self.separator),
            "decimal": self.decimal,
            "header": self.header,
            "null_values": self.null_values or [],
        }


def names_in(values: list[str] | None) -> list[str] | None:
    """The names in options such as ``--drop A,B``; quotes keep a comma within a name."""
    if values is None:
        return None
    fields = (field.strip() for row in csv.reader(values, skipinitialspace=True) for field in row)
    return [field for field in fields if field]


def _transforms(values: list[str]) -> str | dict[str, str] | None:
    """One transformation for all columns, or that of each column named."""
    chosen: dict[str, str] = {}
    for value in values:
        name, colon, columns = value.partition(":")
        if not colon:
            if len(values) > 1:
                raise ArgumentError(
                    f"--transform {value} is for all columns, so that no other can follow; name "
                    f"columns behind a colon, as in --transform {value}:A,B"
                )
            return name
        chosen.update(dict.fromkeys(names_in([columns]) or [], name))
    return chosen or None


def as_option(names: Iterable[str]) -> list[str]:
    """Names as an option takes them: one word, with quotes around names that have commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(dict.fromkeys(names))
    return [text.getvalue()]
