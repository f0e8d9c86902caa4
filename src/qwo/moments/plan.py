"""How much memory the moments of a table take, and so how much of it is read at a time."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass

from qwo.errors import ArgumentError, ShapeError
from qwo.moments.partial import STRIPE, WIDE, block_rows, piece_rows

DEFAULT_MEMORY = 1 << 29
"""Half a gigabyte; more for thousands of variables, whose products alone take that."""

BATCH_BYTES = 1 << 23
"""Eight megabytes of numbers in a batch: enough for a thread to be busy, few enough to wait for."""

BATCH_ROWS = 1 << 12
"""Rows in a batch at least, if memory allows: each column of a batch costs some microseconds."""

COPIES = 5
"""Copies of a batch alive while it is worked on: as read, as decoded, as numbers, as products."""

MATRICES = 3
"""Matrices of n × n numbers that are alive at a time, at least, on the way to a graph."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many rows are read at a time, and how many batches and pieces are worked on at once.

    Threads share more than that in a wide table: the products of one batch.
    """

    n_rows: int
    workers: int
    threads: int

    @classmethod
    def of(cls, n_variables: int, memory_limit: int | str | None, threads: int) -> Plan:
        """The plan that keeps within a memory limit; if none is given, within a reasonable one."""
        square = 8 * n_variables**2
        fixed = 3 * square + 16 * n_variables * block_rows(n_variables)
        limit = (
            max(DEFAULT_MEMORY, 2 * fixed) if memory_limit is None else parse_bytes(memory_limit)
        )
        wanted = max(BATCH_BYTES, 8 * n_variables * BATCH_ROWS)
        n_rows = max(min(wanted, limit // 32) // (8 * n_variables), 256)
        batch = COPIES * 8 * n_variables * n_rows
        piece = 0 if n_variables > WIDE else 16 * n_variables * piece_rows(n_variables) + square
        if fixed + batch > limit:
            raise ArgumentError(
                f"memory_limit is {limit / 1e6:.0f} MB, but the moments of {n_variables} variables "
                f"take {(fixed + batch) / 1e6:.0f} MB at least; allow more, or leave variables out"
            )
        spare = limit - fixed
        if n_variables > WIDE:
            stripe = 8 * n_variables * STRIPE
            threads = max(min((spare - batch) // stripe, threads), 1)
            spare -= threads * stripe
        workers = max(min(spare // (batch + piece), threads), 1)
        return cls(n_rows, workers, threads if n_variables > WIDE else workers)


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


def check_width(n_variables: int) -> None:
    """Refuse more variables than the machine has memory for.

    Raises
    ------
    ShapeError
        With the size of one n × n matrix, before anything of that size is asked for.
    """
    square = 8.0 * n_variables**2
    memory = physical_memory()
    if MATRICES * square > memory:
        raise ShapeError(
            f"there are {n_variables} variables: each matrix of their correlations takes "
            f"{square / 1e9:.3g} GB, {MATRICES} of them are needed, and the machine has "
            f"{memory / 1e9:.3g} GB; choose fewer columns"
        )


def physical_memory() -> float:
    """The machine's memory in bytes; infinite where it cannot be told."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf
