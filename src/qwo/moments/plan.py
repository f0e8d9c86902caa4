"""How data are cut into pieces so that reading them keeps within a memory limit."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass

from qwo.errors import ArgumentError

DEFAULT_MEMORY = 1 << 29
"""Half a gigabyte."""

PIECE_BYTES = 1 << 23
"""Eight megabytes of numbers in a piece: enough for a worker to be busy, little enough to wait."""

PIECE_ROWS = 1 << 12
"""Rows in a piece at least, if memory allows: each column of a piece costs some microseconds."""

COPIES = 5
"""Copies of a piece alive while it is worked on: as read, as decoded, as numbers, as products."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many rows a piece has, how many are worked on at a time, and by how many threads each.

    The size of a piece follows from the memory alone, not from the number of workers.
    """

    n_rows: int
    workers: int
    blas_threads: int

    @classmethod
    def of(cls, n_variables: int, memory_limit: int | str | None, threads: int) -> Plan:
        """The plan that keeps within a memory limit."""
        limit = DEFAULT_MEMORY if memory_limit is None else parse_bytes(memory_limit)
        square = 8 * n_variables**2
        wanted = max(PIECE_BYTES, 8 * n_variables * PIECE_ROWS)
        n_rows = max(min(wanted, limit // 32) // (8 * n_variables), 256)
        each = COPIES * 8 * n_variables * n_rows + square
        workers = (limit - 3 * square) // each - 1
        if workers < 1:
            raise ArgumentError(
                f"memory_limit is {limit / 1e6:.0f} MB, but the moments of {n_variables} variables "
                f"take {(3 * square + 2 * each) / 1e6:.0f} MB at least; allow more, or leave "
                "variables out"
            )
        workers = int(min(workers, threads))
        return cls(n_rows, workers, max(threads // workers, 1))


def parse_bytes(amount: int | str) -> int:
    """A number of bytes, as such or like ``"500 MB"`` or ``"2 GiB"``."""
    units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(amount).lower())
    if not match:
        raise ArgumentError(
            f"memory_limit is {amount!r}; wanted a number of bytes, or a string such as '2 GB'"
        )
    number, unit, binary = match.groups()
    factor = 1024 ** " kmgt".index(unit) if binary and unit else units[unit]
    return int(float(number) * factor)


def physical_memory() -> float:
    """The machine's memory in bytes; infinite where it cannot be told."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf
