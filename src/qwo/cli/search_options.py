"""The options of the search itself, made from the record that has them all."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Annotated, Any

import typer

from qwo.cli.reading_options import names_in
from qwo.options import STARTS, Flag, SearchOptions

PANEL = "Search"


class SearchFlags:
    """How to search; what is left out is chosen to suit the data."""

    def __init__(self, **given: Any) -> None:
        self._given = given

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """The flags, as typer takes them."""
        return list(search_parameters(SearchOptions).values())

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.discover`."""
        return {name: _PARSERS.get(name, _same)(value) for name, value in self._given.items()}


def search_parameters(record: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a command for the options of a record that have a flag."""
    return {
        field.name: _parameter(field.name, field.metadata["option"].flag, field.default)
        for field in fields(record)
        if field.metadata["option"].flag is not None
    }


def _parameter(name: str, flag: Flag, default: Any) -> inspect.Parameter:
    kind = flag.type
    value = default if flag.default is ... else flag.default
    shown = typer.Option(
        *flag.names,
        metavar=flag.metavar,
        help=flag.help,
        rich_help_panel=PANEL,
        autocompletion=_begin_alike if name == "start" else None,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=str(value) if kind is str and value is not None else value,
        annotation=Annotated[kind | None if value is None else kind, shown],
    )


def _begin_alike(incomplete: str) -> list[str]:
    return [start for start in STARTS if start.startswith(incomplete)]


def _penalty(text: str) -> float | str:
    """A number, or a word that stands for one."""
    try:
        return float(text)
    except ValueError:
        return text


def _start(text: str | None) -> str | list[str] | None:
    named = text is None or text in STARTS or "," not in text
    return text if named else names_in([text or ""])


def _same(value: Any) -> Any:
    return value


_PARSERS = {"penalty_discount": _penalty, "start": _start}
