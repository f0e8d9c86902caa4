"""Ctrl-C as a wish to stop, not as a crash: the search ends, and its best graph is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from qwo.cli.console import Console

if TYPE_CHECKING:
    from qwo.search import Progress

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
    with tqdm(
        bar_format="{desc}: {elapsed}{postfix}",
        delay=PATIENCE,
        leave=False,
        disable=not console.shows_progress,
    ) as bar:
        watch = Watch(bar)
        with _handled_by(watch.stop):
            yield watch
