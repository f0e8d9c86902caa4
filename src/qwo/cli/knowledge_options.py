"""Background knowledge that is given on the command line, in a file or word by word."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qwo.cli.reading_options import names_in
from qwo.errors import ArgumentError, FileFormatError, MissingFileError

if TYPE_CHECKING:
    from qwo.graph import Knowledge

PANEL = "Knowledge"
FIELDS = ("tiers", "forbidden", "required", "forbidden_within_tiers", "roots", "leaves")


@dataclass(frozen=True)
class KnowledgeOptions:
    """What is known beforehand; the graph keeps to it strictly."""

    knowledge: Annotated[
        Path | None,
        typer.Option(
            "--knowledge",
            "-k",
            metavar="FILE",
            help="Tiers and edges: Tetrad's format, or .toml/.json with the keys tiers, forbidden, "
            "required, roots, leaves.",
            rich_help_panel=PANEL,
        ),
    ] = None
    tiers: Annotated[
        list[str] | None,
        typer.Option(
            "--tiers",
            "--tier",
            metavar="TIERS",
            help="[b]'A,B > C > D'[/b]: nothing later causes anything earlier. Or one --tier each.",
            rich_help_panel=PANEL,
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            "--forbid", metavar="A,B", help="No edge A → B. Repeatable.", rich_help_panel=PANEL
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="A,B",
            help="There is an edge A → B. Repeatable.",
            rich_help_panel=PANEL,
        ),
    ] = None
    roots: Annotated[
        list[str] | None,
        typer.Option(
            "--roots", metavar="A,B,…", help="Nothing causes these.", rich_help_panel=PANEL
        ),
    ] = None
    leaves: Annotated[
        list[str] | None,
        typer.Option(
            "--leaves", metavar="A,B,…", help="These cause nothing.", rich_help_panel=PANEL
        ),
    ] = None

    def build(self) -> Knowledge | None:
        """All of it together, or None if there is none."""
        from qwo.graph import Knowledge

        fields = {} if self.knowledge is None else _fields_of_file(self.knowledge)
        inline = self._inline()
        if fields.get("tiers") and inline["tiers"]:
            raise ArgumentError("tiers are both in the --knowledge file and in --tiers; choose one")
        for name, value in inline.items():
            fields[name] = [*fields.get(name, ()), *value]
        return Knowledge(**fields) if any(fields.values()) else None

    def _inline(self) -> dict[str, list[Any]]:
        return {
            "tiers": [
                names_in([tier]) or [] for value in self.tiers or [] for tier in value.split(">")
            ],
            "forbidden": _pairs("--forbid", self.forbid),
            "required": _pairs("--require", self.require),
            "roots": names_in(self.roots) or [],
            "leaves": names_in(self.leaves) or [],
        }


def _pairs(option: str, values: list[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for value in values or []:
        names = names_in([value]) or []
        if len(names) != 2:
            raise ArgumentError(
                f"{option} is {value!r}; wanted a cause and an effect, as in {option} dose,outcome"
            )
        pairs.append((names[0], names[1]))
    return pairs


def _fields_of_file(path: Path) -> dict[str, Any]:
    """The arguments of `Knowledge` that a file holds."""
    from qwo.graph import Knowledge

    if not path.is_file():
        raise MissingFileError(f"there is no file {str(path)!r} (looked from {Path.cwd()})")
    if path.suffix.lower() not in (".json", ".toml"):
        known = Knowledge.from_file(path)
        return {name: list(getattr(known, name)) for name in FIELDS}
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from error
    unknown = [name for name in fields if name not in FIELDS] if isinstance(fields, dict) else ["?"]
    if unknown:
        raise FileFormatError(
            f"{path}: {unknown[0]!r} is not a kind of knowledge; wanted some of {', '.join(FIELDS)}"
        )
    return dict(fields)
