"""A penalty chosen from a path, with what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qwo.discovery import Discovery
from qwo.types import FloatArray

Method = Literal["auto", "held-out", "stars", "bic"]


@dataclass(frozen=True, eq=False, repr=False)
class PenaltyChoice:
    """A penalty of a path, and what it was chosen by.

    Attributes
    ----------
    method : {"auto", "held-out", "stars", "bic"}
        How it was chosen.
    penalty : float
        The penalty_discount chosen.
    discovery : Discovery
        The graph of the whole data for this penalty.
    penalties, values : ndarray
        All penalties, the largest first, and the criterion for each: the mean log-likelihood of a
        held-out row (higher is better), the instability (at most beta is wanted; NaN where it was
        not needed any more), the BIC less that of the graph without edges, or what the penalty
        loses and lets in, in true edges (lower is better).
    """

    method: Method
    penalty: float
    discovery: Discovery
    penalties: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for array in (self.penalties, self.values):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"<PenaltyChoice by {self.method}: penalty_discount {self.penalty:.4g}, "
            f"{self.discovery.n_edges} edges>"
        )
