"""The command line that runs, for results to record."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

_command: ContextVar[str] = ContextVar("command", default="qwo")


def remember_command(arguments: Sequence[str]) -> None:
    """Keep the arguments of the command that is about to run."""
    _command.set(shlex.join(["qwo", *arguments]))


def command_line() -> str:
    """The command that runs, to be pasted into a shell."""
    return _command.get()
