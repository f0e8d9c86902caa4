"""What a run costs: wall time, processor time and peak memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@contextmanager
def measured() -> Iterator[dict[str, float | None]]:
    """A record that holds the cost of the block once it has ended.

    ``wall`` and ``cpu`` are in seconds, ``memory`` is the peak of the resident memory in bytes, the
    interpreter and the data included. It is known on Linux only, and None elsewhere: what other
    systems report is the peak of the whole life of the process.
    """
    cost: dict[str, float | None] = {}
    if _CLEAR.exists():
        _CLEAR.write_text("5")
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost["wall"] = time.perf_counter() - wall
        cost["cpu"] = time.process_time() - cpu
        cost["memory"] = _peak_bytes()


def _peak_bytes() -> float | None:
    if not _CLEAR.exists():
        return None
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return 1024.0 * int(line.split()[1])
