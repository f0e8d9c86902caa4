"""What a search over orders found, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qwo.types import Indices

Status = Literal["converged", "time limit", "interrupted", "stopped"]


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The best order that a search found; the engine was left in the state that belongs to it.

    Attributes
    ----------
    order : ndarray of int
        The order, read-only: ``order[k]`` is the variable at place k.
    cost : float
        Its cost, as the engine counts it.
    status : str
        ``"converged"`` if no move of the search improves the order; ``"time limit"``;
        ``"interrupted"`` by the keyboard; ``"stopped"`` by the callback.
    trace : tuple of (float, float)
        Seconds and cost at the start and after each improvement.
    n_moves : int
        How many moves were kept.
    n_evaluations : int
        How many orders were looked at; a scan counts each place.
    """

    order: Indices
    cost: float
    status: Status
    trace: tuple[tuple[float, float], ...]
    n_moves: int
    n_evaluations: int

    def __post_init__(self) -> None:
        self.order.setflags(write=False)
