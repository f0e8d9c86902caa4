"""How long the rest will take, judged by the runs of the same method that have ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from qwo._experiments.items import Run
from qwo._experiments.store import Row

EXPONENT = 3.0
"""How the time of a run is taken to grow with the number of variables."""


class _Cell(NamedTuple):
    method: str
    n_variables: int


class Forecast:
    """The remaining time of a list of runs.

    Runs of a size that has not been seen yet are judged by the nearest size of the same method,
    those of a method not seen yet by the mean of all.

    Parameters
    ----------
    runs : sequence of dict
        All runs that are still to be made.
    workers : int
        How many are made at a time.
    """

    def __init__(self, runs: Sequence[Run], workers: int) -> None:
        self._left = Counter(_cell(run) for run in runs)
        self._workers = workers
        self._seen: dict[_Cell, tuple[int, float]] = {}

    def ended(self, runs: Sequence[Run], rows: Sequence[Row]) -> None:
        """Count runs as ended; those without a row were skipped."""
        self._left.subtract(_cell(run) for run in runs)
        for row in rows:
            cell = _cell(row.run)
            count, total = self._seen.get(cell, (0, 0.0))
            self._seen[cell] = count + 1, total + row.outcome.get("wall", 0.0)

    def seconds(self) -> float:
        """The time left."""
        return sum(n * self._expected(c) for c, n in self._left.items() if n) / self._workers

    def text(self) -> str:
        """The time left, in words."""
        seconds = self.seconds()
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        return f"about {seconds / 60:.0f} min left"

    def _expected(self, cell: _Cell) -> float:
        same = [seen for seen in self._seen if seen.method == cell.method]
        if not same:
            count = sum(count for count, _ in self._seen.values())
            return sum(total for _, total in self._seen.values()) / count if count else 0.0
        nearest = min(same, key=lambda seen: abs(seen.n_variables - cell.n_variables))
        count, total = self._seen[nearest]
        return total / count * float((cell.n_variables / nearest.n_variables) ** EXPONENT)


def _cell(run: Run) -> _Cell:
    return _Cell(run["method"], run["n_variables"])
