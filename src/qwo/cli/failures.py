"""How a command ends when something goes wrong: one clear message, and an exit code that tells."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from qwo.cli.console import fail, logger, shown_warnings, system_message
from qwo.cli.exit_codes import ExitCode
from qwo.cli.invocation import remember_command
from qwo.cli.wording import worded
from qwo.errors import InputError


def _without_bool(parameters: list[Any]) -> list[Any]:
    """Flags show no type in the help: ``<bool>`` tells nobody anything."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A command of ``qwo``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options."""
        return _without_bool(super().get_params(ctx))


class Commands(TyperGroup):
    """The commands of ``qwo``, none of which ends in a traceback."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options."""
        return _without_bool(super().get_params(ctx))

    def make_context(self, info_name: Any, args: Any, *more: Any, **extra: Any) -> Any:
        """Parse a command line, which is kept for results to record."""
        remember_command(args)
        return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names."""
        with clear_failures(), shown_warnings():
            return super().invoke(ctx)


@contextmanager
def clear_failures() -> Iterator[None]:
    """Turn errors into messages and exit codes; tracebacks are for ``--log-level debug``."""
    try:
        yield
    except InputError as error:
        _trace()
        fail(worded(error))
        for note in getattr(error, "__notes__", []):
            typer.echo(f"try:   {note}", err=True)
        raise typer.Exit(ExitCode.INPUT) from error
    except BrokenPipeError as error:
        # Nobody reads any more. Python would complain once again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(ExitCode.BROKEN_PIPE) from error
    except KeyboardInterrupt as error:
        _trace()
        fail("interrupted; nothing was saved")
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    except OSError as error:
        _trace()
        fail(system_message(error))
        raise typer.Exit(ExitCode.INPUT) from error
    except MemoryError as error:
        _trace()
        fail("there is not enough memory; take fewer columns (--columns), or a larger machine")
        raise typer.Exit(ExitCode.INPUT) from error
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if _is_usage_error(error):
            raise
        _trace()
        fail(
            f"this is a fault of qwo, not yours: {type(error).__name__}: {error}. Please report it "
            "with what --log-level debug prints"
        )
        raise typer.Exit(ExitCode.BUG) from error


def _trace() -> None:
    if logger.isEnabledFor(logging.DEBUG):
        typer.echo(traceback.format_exc(), err=True, nl=False)


def _is_usage_error(error: Exception) -> bool:
    """Whether it is one of those that typer shows itself; it exports only their leaf."""
    return any(base.__name__ == "ClickException" for base in type(error).__mro__)
