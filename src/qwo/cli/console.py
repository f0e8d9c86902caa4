"""What a command says: results on standard output, everything else on standard error.

Errors and findings of the library carry the options that they speak of as data; here these become
flags.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TextIO

import typer

from qwo.cli.options import option
from qwo.errors import Cure, DataWarning, InputError, python_wording
from qwo.options import OPTIONS, READING
from qwo.text import csv_line, plain

if TYPE_CHECKING:
    from qwo.moments import Finding

LogLevel = Literal["debug", "info", "warning", "error"]

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

    panel: ClassVar[str] = "Messages"

    quiet: Annotated[bool, option("--quiet -q", "Print only results, warnings and errors.")] = False
    json: Annotated[bool, option("--json", "Print the result as JSON, for programs.")] = False
    log_level: Annotated[
        LogLevel,
        option(
            "--log-level",
            "[b]error[/b], [b]warning[/b], [b]info[/b] (timings), [b]debug[/b] (tracebacks).",
            "LEVEL",
            callback=set_log_level,
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
    text = re.sub(r"(?<![?!])\.?\n(?=Try: )", ". ", text).replace("\nTry: ", " Try: ")
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
    seen = list(already)

    def show(
        message: Warning | str, category: type[Warning], *_place: object, **_more: object
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


OPTION_FLAGS = {
    "edge_prior": "edge-prior",
    "format": "from or --to",
    "knowledge": "knowledge",
    "n_draws": "draws",
    "n_resamples": "resamples",
    "n_samples": "samples",
    "n_variables": "variables",
    "replicate_time_limit": "time-limit",
    "resampling": "resampling",
    "sample_fraction": "sample-fraction",
    "shard": "shard",
    "t": "prior-scale",
    "to_dag()": "dag",
    "types": "nominal or --ordinal",
} | {
    name: option.flag.names[0].partition("/")[0].removeprefix("--")
    for name, option in (READING | OPTIONS).items()
    if option.flag is not None
}
"""Arguments of the library and the options that give them."""


def flag_named(option: str) -> str:
    """What an option of the library is called here; as there, if it is not here."""
    return f"--{OPTION_FLAGS[option]}" if option in OPTION_FLAGS else option


def as_flag(cure: Cure) -> str:
    """A cure as an option of a command: ``--missing em``, ``--drop a,b``, ``--no-header``."""
    if cure.option not in OPTION_FLAGS:
        return python_wording(cure)
    flag, value = flag_named(cure.option), cure.value
    if cure.option == "types":
        return " ".join(_type_flags(value))
    if cure.option == "knowledge" and isinstance(value, Mapping):
        return " ".join(f"--{k} {shlex.quote(csv_line(names))}" for k, names in value.items())
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return " ".join(f"{flag} {word}" for word in _words(cure.option, value))


def _type_flags(types: Mapping[str, Any]) -> list[str]:
    """Types of columns as options."""
    flags = []
    for kind in dict.fromkeys(said for said in types.values() if isinstance(said, str)):
        columns = [name for name, said in types.items() if said == kind]
        flags.append(f"--{kind} {shlex.quote(csv_line(columns))}")
    for name, levels in types.items():
        if not isinstance(levels, str):
            order = "<".join(map(str, levels))
            flags.append(f"--ordinal {shlex.quote(f'{name}:{order}')}")
    return flags


def _words(option: str, value: Any) -> list[str]:
    """The values of an option that is given once for each of them."""
    if value is None:
        return ["…"]
    if isinstance(value, Mapping):
        chosen: dict[str, list[str]] = {}
        for column, name in value.items():
            chosen.setdefault(str(name), []).append(str(column))
        values = [f"{name}:{csv_line(dict.fromkeys(columns))}" for name, columns in chosen.items()]
    elif option == "shard":
        values = ["/".join(map(str, value))]
    elif isinstance(value, list | tuple) and option != "null_values":
        values = [csv_line(dict.fromkeys(map(str, value)))]
    else:
        values = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
    return [shlex.quote(word) for word in values]


def worded(said: InputError | DataWarning | Finding) -> str:
    """What the library says, with its options as they are given here."""
    return (
        said.worded(as_flag, flag_named) if isinstance(said, InputError) else said.worded(as_flag)
    )
