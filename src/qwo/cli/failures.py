"""How a command ends: exit codes, Ctrl-C, and one clear message when something goes wrong."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import partial
from importlib.util import LazyLoader, find_spec, module_from_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from qwo.cli.console import Console, fail, logger, shown_warnings, system_message, warn, worded
from qwo.errors import InputError

if TYPE_CHECKING:
    from tqdm import tqdm

    from qwo.search import Progress


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    """Done."""

    INPUT = 1
    """The input cannot be used, or a file cannot be written; the message says why."""

    USAGE = 2
    """The command line itself is wrong: an unknown command, option or choice."""

    ATTENTION = 3
    """Done, and something asks for attention: warnings of an audit, a bootstrap that failed."""

    BUG = 70
    """A fault of qwo itself."""

    INTERRUPTED = 130
    """Ctrl-C or a request to terminate; ``qwo learn`` has saved the best graph so far."""

    BROKEN_PIPE = 141
    """Whoever read the output went away, as ``head`` does."""


_command: ContextVar[str] = ContextVar("command", default="qwo")


def remember_command(arguments: Sequence[str]) -> None:
    """Keep the arguments of the command that is about to run."""
    _command.set(shlex.join(["qwo", *arguments]))


def command_line() -> str:
    """The command that runs, to be pasted into a shell."""
    return _command.get()


Result = TypeVar("Result")


class Attempts:
    """What comes after a result that is there: none of it may cost the result, whatever happens.

    A failure is a warning, and ``failed`` says that there was one. After Ctrl-C, ``stopped`` names
    what it cut short, and nothing more is attempted.
    """

    def __init__(self) -> None:
        self.failed = False
        self.stopped = ""

    def __call__(
        self, what: str, call: Callable[[], Result], *, asked: bool = True
    ) -> Result | None:
        """What the call gives, or None; data that refuse what nobody asked for are no failure."""
        if self.stopped:
            return None
        try:
            logger.info("the %s begins", what)
            result = call()
            logger.info("%s: %r", what, result)
        except KeyboardInterrupt:
            self.stopped = what
            return None
        except InputError as error:
            warn(f"no {what}: {worded(error)}")
            self.failed = self.failed or asked
            return None
        except OSError as error:
            text = system_message(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not cost the result
            logger.debug("no %s", what, exc_info=True)
            text = f"{type(error).__name__}: {error}. This is a fault of qwo; the rest is fine"
        else:
            if getattr(result, "status", "") == "interrupted":
                self.stopped = what
            return result
        warn(f"no {what}: {text}")
        self.failed = True
        return None


SIGNALS = ("SIGINT", "SIGTERM")
PATIENCE = 1.0
"""Seconds before a progress bar appears: most searches end before."""


class Watch:
    """A callback of a search that shows where it stands, and stops it once asked to."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self.asked_to_stop = False
        self._bar = bar

    def __call__(self, progress: Progress) -> bool:
        """Whether the search shall stop."""
        self._bar.set_description_str(f"searching ({progress.search})", refresh=False)
        self._bar.set_postfix_str(f"best score {-progress.best_cost:.2f}", refresh=False)
        self._bar.update(progress.round - self._bar.n)
        return self.asked_to_stop

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Ask to stop; whoever asks twice does not want to wait."""
        if self.asked_to_stop:
            raise KeyboardInterrupt
        self.asked_to_stop = True


class Held:
    """Whether someone asked to stop while that had to wait."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Remember it."""
        self.asked = True


@contextmanager
def held_interrupts() -> Iterator[Held]:
    """Ctrl-C and requests to terminate wait for the end of the block, which is short."""
    held = Held()
    with _handled_by(held):
        yield held


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Signals go to a function while the block runs, if it runs where signals arrive."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, old)


@contextmanager
def watched_search(console: Console) -> Iterator[Watch]:
    """A watch that hears Ctrl-C and requests to terminate while the block runs."""
    from tqdm import tqdm

    tqdm.set_lock(threading.RLock())  # the usual one is for several processes: slow to import
    with tqdm(
        bar_format="{desc}: {elapsed}{postfix}",
        delay=PATIENCE,
        leave=False,
        disable=not console.shows_progress,
    ) as bar:
        watch = Watch(bar)
        with _handled_by(watch.stop):
            yield watch


def _prepared(parameters: list[Any]) -> list[Any]:
    """Flags show no type in the help, and what needs no conversion has none."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
        if not isinstance(parameter.process_value, partial):
            parameter.process_value = partial(_processed, parameter, parameter.process_value)
    return parameters


def _processed(parameter: Any, process: Callable[..., Any], ctx: Any, value: Any) -> Any:
    """A value as the command takes it: typer imports pydantic for texts and defaults, too."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    one = parameter.nargs == 1 and not parameter.multiple and value is not None
    if value is None and not parameter.required:
        value = () if parameter.multiple else None
    elif one and isinstance(value, str) and kind in (str, Path):
        value = kind(value)
    elif not (one and type(value) is type(parameter.default) and value == parameter.default):
        return process(ctx, value)
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)


class Command(TyperCommand):
    """A command of ``qwo``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options."""
        return _prepared(super().get_params(ctx))


class Commands(TyperGroup):
    """The commands of ``qwo``, none of which ends in a traceback."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options."""
        return _prepared(super().get_params(ctx))

    def make_context(self, info_name: Any, args: Any, *more: Any, **extra: Any) -> Any:
        """Parse a command line, which is kept for results to record."""
        remember_command(args)
        return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names."""
        _defer_rarely_used()
        with clear_failures(), shown_warnings():
            return super().invoke(ctx)


def _defer_rarely_used() -> None:
    """Parts of NumPy that SciPy names but hardly anybody uses are loaded when they are used.

    Together they take longer to load than a graph of ten variables takes to be found.
    """
    import numpy as np

    for part in ("f2py", "testing", "polynomial", "fft"):
        name = f"numpy.{part}"
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None and spec.loader is not None:
            loader = spec.loader = LazyLoader(spec.loader)
            sys.modules[name] = module = module_from_spec(spec)
            loader.exec_module(module)
            setattr(np, part, module)


@contextmanager
def clear_failures() -> Iterator[None]:
    """Turn errors into messages and exit codes; tracebacks are for ``--log-level debug``."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError as error:
        # Nobody reads any more. Python would complain once again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(ExitCode.BROKEN_PIPE) from error
    except (Exception, KeyboardInterrupt) as error:
        if _is_usage_error(error):
            raise
        if logger.isEnabledFor(logging.DEBUG):
            typer.echo(traceback.format_exc(), err=True, nl=False)
        text, code = _told(error)
        fail(text)
        for note in getattr(error, "__notes__", []):
            typer.echo(f"try:   {note}", err=True)
        raise typer.Exit(code) from error


def _told(error: BaseException) -> tuple[str, ExitCode]:
    """An error in words, and how a command ends with it."""
    if isinstance(error, InputError):
        return worded(error), ExitCode.INPUT
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was saved", ExitCode.INTERRUPTED
    if isinstance(error, OSError):
        return system_message(error), ExitCode.INPUT
    if isinstance(error, MemoryError):
        text = "there is not enough memory; take fewer columns (--columns), or a larger machine"
        return text, ExitCode.INPUT
    text = f"this is a fault of qwo, not yours: {type(error).__name__}: {error}. Please report it "
    return f"{text}with what --log-level debug prints", ExitCode.BUG


def _is_usage_error(error: BaseException) -> bool:
    """Whether it is one of those that typer shows itself; it exports only their leaf."""
    return any(base.__name__ == "ClickException" for base in type(error).__mro__)
