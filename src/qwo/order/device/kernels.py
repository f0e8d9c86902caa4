"""What the engine asks of a device: its operations, and the records that go in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from qwo.types import FloatArray, Indices


class Move(NamedTuple):
    """Mover number ``mover`` of a table goes from place ``start`` to place ``stop``."""

    mover: int
    start: int
    stop: int


@dataclass(frozen=True)
class Charge:
    """What a pair of squared partial correlation r² costs: an edge, or the capped likelihood.

    Attributes
    ----------
    tau : float
        r² above this is an edge.
    count : bool
        Whether a pair costs 1 if it is an edge, else 0; otherwise h(min(r², τ)) with
        h(x) = x + x²/2.
    weight : float
        What the sum over all pairs is multiplied by.
    """

    tau: float
    count: bool
    weight: float

    @property
    def ceiling(self) -> float:
        """The cost of an edge, before weighting."""
        return 1.0 if self.count else self.tau + 0.5 * self.tau**2

    def sum(self, squares: FloatArray | float, precisions: FloatArray | float) -> float:
        """The cost of pairs with r² = squares / precisions; 0 / 0 costs nothing."""
        if self.count:
            return float(np.count_nonzero(squares > self.tau * np.asarray(precisions)))
        ratio = np.minimum(squares / np.maximum(precisions, 1e-100), self.tau)
        return float(np.sum(ratio + 0.5 * ratio**2))


class Kernels(Protocol):
    """L, D = running sums of L², G = L S of an order, and what is computed from them.

    Rows belong to places. Columns belong to variables, in an order that the engine keeps account
    of. Tables, changes and snapshots stay where the device wants them.
    """

    def load(self, order: Indices) -> None:
        """Build the factor of an order, columns in that order too; LinAlgError if it has none."""
        ...

    def prepare(self, places: Indices, columns: Indices) -> Any:
        """The table of coefficients of movers at some places, with some columns."""
        ...

    def scan(self, table: Any, first_rows: Indices) -> Any:
        """changes[m, q]: the change of the cost if mover m went to place q."""
        ...

    def best(self, changes: Any, lowest: Indices, highest: Indices) -> tuple[Indices, FloatArray]:
        """The place of least change in a range for each mover, the first of several."""
        ...

    def fetch(self, changes: Any) -> FloatArray:
        """Changes in the host's memory."""
        ...

    def rotate(self, table: Any, moves: list[Move], place_of_column: Indices) -> None:
        """Carry out moves that do not overlap."""
        ...

    def settle(self, first: int, last: int, widths: Indices) -> None:
        """Bring the costs of rows up to date."""
        ...

    def pack(self, columns: Indices) -> None:
        """Put the columns into another order: column c becomes the one that was columns[c]."""
        ...

    def total(self) -> float:
        """The sum of the costs of all rows, weighted."""
        ...

    def rows(self, first: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Rows of L and D, in the host's memory."""
        ...

    def snapshot(self) -> Any:
        """A copy of the state."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Return to a state; the snapshot must not be used again."""
        ...


COLUMNS_PER_BLOCK = 128
"""Columns that the device treats together. Rows in which all of them are zero are skipped."""
