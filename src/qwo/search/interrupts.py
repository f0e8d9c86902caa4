"""Ctrl-C as a wish to stop: the search ends where it stands, and its best graph is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from qwo.search.control import Control


@contextmanager
def keyboard_heard(control: Control) -> Iterator[None]:
    """Let Ctrl-C stop what the control watches, while the block runs; a second one raises.

    A KeyboardInterrupt would come between any two steps, also where results would be lost. Handlers
    other than Python's own are left in place, and in other threads there are none.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        control.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
