"""What a table shows by itself: columns that are not numbers, missing values, size, constants.

The functions take counts and bounds rather than values, so that they serve tables in memory and
tables that are read piece by piece alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Self

import numpy as np
import numpy.typing as npt

from qwo.errors import list_names
from qwo.moments.arrays import RefusedColumn
from qwo.moments.findings import Finding
from qwo.types import FloatArray, Mask

MIN_SAMPLES = 3
"""Any two points lie on a line: a correlation takes three to say anything."""

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""


@dataclass(frozen=True, slots=True, eq=False)
class MissingCounts:
    """How many values of each column are missing or infinite, and how many rows that concerns."""

    names: tuple[str, ...]
    absent: npt.NDArray[np.int64]
    infinite: npt.NDArray[np.int64]
    rows: int
    n_rows: int

    @classmethod
    def of(cls, names: tuple[str, ...], values: FloatArray, usable: Mask) -> Self:
        """The counts of a table, given which of its values are finite."""
        absent = np.isnan(values).sum(axis=0)
        infinite = (~usable).sum(axis=0) - absent
        rows = int((~usable.all(axis=1)).sum())
        return cls(names, absent, infinite, rows, len(values))

    def __str__(self) -> str:
        affected = np.flatnonzero(self.absent + self.infinite)
        counts = [
            f"{self.names[k]!r} ({_counts(int(self.absent[k]), int(self.infinite[k]))})"
            for k in affected[:5]
        ]
        more = f" and {len(affected) - 5} more columns" if len(affected) > 5 else ""
        return (
            f"{self.absent.sum()} missing and {self.infinite.sum()} infinite values in "
            f"{len(affected)} of {len(self.names)} columns: {', '.join(counts)}{more}; "
            f"{self.rows} of {self.n_rows} rows are "
        )

    @property
    def affected(self) -> tuple[str, ...]:
        """The columns with missing or infinite values."""
        return tuple(compress(self.names, self.absent + self.infinite > 0))

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns without any finite value."""
        return tuple(compress(self.names, self.absent + self.infinite == self.n_rows))


def inspect_types(names: Sequence[str], refused: Sequence[RefusedColumn]) -> Iterator[Finding]:
    """Columns that are not numbers, and tables without two that are."""
    if refused:
        shown = [f"{column.name!r} ({column.reason})" for column in refused]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        yield Finding(
            "non-numeric",
            "error",
            tuple(column.name for column in refused),
            f"{_of(len(shown), len(shown) + len(names))} not numeric: "
            f"{', '.join(shown[:5])}{more}; "
            f"leave out or encode as numbers (drop=[…] where a file or frame is read)",
        )
    if len(names) < 2:
        seen = f"only {names[0]!r}" if names else "none"
        yield Finding(
            "few-columns",
            "error",
            tuple(names),
            f"a graph needs at least two numeric columns; the table has {seen}. If it comes from a "
            "text file, check the separator",
        )


def inspect_size(n_rows: float, dropped: int = 0) -> Iterator[Finding]:
    """Tables with too few rows for a correlation, after those with missing values were dropped."""
    if n_rows < MIN_SAMPLES:
        reason = f" after {dropped} with missing values were dropped" if dropped else ""
        yield Finding(
            "few-rows",
            "error",
            (),
            f"the table has {n_rows:g} rows{reason}; wanted {MIN_SAMPLES} at the very least, and "
            "many more than columns for a result to trust",
        )


def refused_values(counts: MissingCounts) -> Finding:
    """Missing values where none are allowed."""
    empty = counts.empty
    hint = f" (but leave out {list_names(empty)}, without any value, first)" if empty else ""
    return Finding(
        "missing-values",
        "error",
        counts.affected,
        f"{counts}affected; pass missing='drop' to leave those rows out{hint}, missing='em' to "
        "use what they have, or fill in values",
    )


def dropped_rows(counts: MissingCounts) -> Finding:
    """Rows that are left out for missing values."""
    return Finding("missing-values", "warning", counts.affected, f"{counts}left out")


def inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    constant = tuple(compress(names, low == high))
    if constant:
        yield Finding(
            "constant",
            "error",
            constant,
            f"{_of(len(constant), len(names))} constant: {list_names(constant)}; leave "
            f"{'it' if len(constant) == 1 else 'them'} out",
        )
    size = np.maximum(np.abs(low), np.abs(high))
    flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    nearly = tuple(compress(names, flat))
    if nearly:
        yield Finding(
            "nearly-constant",
            "warning",
            nearly,
            f"{_of(len(nearly), len(names))} constant but for the last digits of float64: "
            f"{list_names(nearly)}; subtract the offset before the data are stored, or leave "
            f"{'it' if len(nearly) == 1 else 'them'} out",
        )


def _counts(absent: int, infinite: int) -> str:
    """What is wrong with one column."""
    parts = [(absent, "missing"), (infinite, "infinite")]
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def _of(count: int, total: int) -> str:
    """Such as ``1 of 5 columns is``."""
    return f"{count} of {total} columns {'is' if count == 1 else 'are'}"
