"""Thousands of bad inputs, each a clear error or a right answer.

An area is a function of a seed that makes one case: a callable without arguments, which returns if
the answer is right, and fails an assertion if it is wrong. A refusal is an `InputError` or a
`TypeError`; anything else, and a case that takes longer than `LIMIT` seconds, is a failure.

To add an area, decorate such a function with ``@area("name")`` in a module of this folder whose
name begins with ``areas_``.
"""

from __future__ import annotations

import importlib
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from qwo.errors import InputError

Case = Callable[[], object]
Maker = Callable[[int], Case]

LIMIT = 20.0
"""Seconds that a case may take."""

AREAS: dict[str, Maker] = {}


def area(name: str) -> Callable[[Maker], Maker]:
    """Enter the cases that a function makes under a name."""

    def entered(make: Maker) -> Maker:
        AREAS[name] = make
        return make

    return entered


def load_areas() -> dict[str, Maker]:
    """All areas, those of this folder's modules among them."""
    for file in sorted(Path(__file__).parent.glob("areas_*.py")):
        importlib.import_module(f"tests.fuzz.{file.stem}")
    return AREAS


@dataclass
class Counts:
    """How the cases of an area ended."""

    name: str
    answered: int = 0
    refused: int = 0
    failures: dict[int, str] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        return self.answered + self.refused + len(self.failures)

    def __str__(self) -> str:
        return (
            f"{self.name:<16} {self.tried:>7} tried {self.answered:>7} right {self.refused:>7} "
            f"refused {len(self.failures):>5} failed"
        )


class TooLongError(Exception):
    """A case went beyond its limit."""


def run(name: str, seeds: range, seconds: float = float("inf")) -> Counts:
    """Run the cases of an area, as many as there are seeds or as the time allows."""
    make = load_areas()[name]
    counts = Counts(name)
    end = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > end:
            break
        try:
            with _limited(LIMIT), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make(seed)()
        except (InputError, TypeError) as error:
            if not str(error).strip():
                counts.failures[seed] = f"{type(error).__name__} without a message"
            elif isinstance(error, TypeError) and _inside(error):
                counts.failures[seed] = traceback.format_exc(limit=-4)
            else:
                counts.refused += 1
        except (Exception, TooLongError):  # noqa: BLE001 (whatever it is, it is a finding)
            counts.failures[seed] = traceback.format_exc(limit=-4)
        else:
            counts.answered += 1
    return counts


def _inside(error: TypeError) -> bool:
    """Whether a TypeError comes from code below the package, rather than from its own checks."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return "/qwo/" not in frame.filename and "/tests/" not in frame.filename


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise after so many seconds, where the system can."""
    main = threading.current_thread() is threading.main_thread()
    if not (main and hasattr(signal, "setitimer")):
        yield
        return

    def too_long(*_: object) -> None:
        raise TooLongError(f"a case took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
