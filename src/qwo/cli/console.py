"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Annotated, Any, Literal, TextIO

import typer

from qwo.cli.wording import worded
from qwo.text import plain

LogLevel = Literal["debug", "info", "warning", "error"]

PANEL = "Messages"

logger = logging.getLogger("qwo")


def set_log_level(level: str) -> str:
    """Let the package's logger write to standard error from this level up."""
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    return level


@dataclass(frozen=True)
class Console:
    """How much a command says, and in which form."""

    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            metavar="",
            help="Say nothing but results, warnings and errors.",
            rich_help_panel=PANEL,
        ),
    ] = False
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            metavar="",
            help="Print the result as JSON, for programs.",
            rich_help_panel=PANEL,
        ),
    ] = False
    log_level: Annotated[
        LogLevel,
        typer.Option(
            "--log-level",
            metavar="LEVEL",
            callback=set_log_level,
            help="[b]error[/b], [b]warning[/b], [b]info[/b] (timings), [b]debug[/b] (tracebacks).",
            rich_help_panel=PANEL,
        ),
    ] = "warning"

    def say(self, text: str = "") -> None:
        """A remark for people, on standard error."""
        if not self.quiet:
            typer.echo(text, err=True)

    def note(self, text: str) -> None:
        """A remark that is worth a thought."""
        self.say(flowed("note: ", text, sys.stderr))

    def result(self, text: str, document: Any) -> None:
        """What was asked for, on standard output: text, or JSON if that was asked for."""
        shown = to_json(document) if self.json else text
        if shown:
            typer.echo(shown)

    @property
    def shows_progress(self) -> bool:
        """Whether there is someone to watch a progress bar."""
        return not self.quiet and is_terminal(sys.stderr)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is shown to a person."""
    return stream.isatty()


def flowed(label: str, text: str, stream: TextIO) -> str:
    """A message behind its label, broken into lines as wide as the terminal is.

    What goes into a file or a pipe stays on one line, unless the environment sets COLUMNS.
    """
    if not is_terminal(stream) and "COLUMNS" not in os.environ:
        return label + text
    return textwrap.fill(
        text,
        max(get_terminal_size().columns - 1, 40),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def warn(text: str) -> None:
    """A warning, on standard error, whatever else is silenced."""
    typer.echo(flowed("warning: ", text, sys.stderr), err=True)


def fail(text: str) -> None:
    """An error, on standard error: one line for each thing that is wrong."""
    for line in text.splitlines() or [""]:
        typer.echo(flowed("error: ", line, sys.stderr), err=True)


def system_message(error: OSError) -> str:
    """What the system refused, in words."""
    where = f" {str(error.filename)!r}" if error.filename is not None else ""
    return f"the system refused{where}: {error.strerror or error}"


@contextmanager
def shown_warnings(already: Iterable[str] = ()) -> Iterator[list[str]]:
    """Show the package's own warnings as plain lines, each once, and collect them.

    Those of other packages mean nothing to a user of the command line and go to the log.
    """
    from qwo.errors import DataWarning

    seen = list(already)

    def show(
        message: Warning | str,
        category: type[Warning],
        *_place: object,
        **_more: object,
    ) -> None:
        text = str(message)
        if not isinstance(message, DataWarning):
            logger.debug("%s: %s", category.__name__, text)
        elif text not in seen:
            seen.append(text)
            warn(worded(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = show
        yield seen


def to_json(document: Any, *, indent: int | None = 2) -> str:
    """A document as JSON that every reader takes: what is not a finite number becomes null."""
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent)
