"""Parent sets that can be in a best DAG, listed by branch and bound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.order.bic import BicEngine
from qwo.types import FloatArray, Indices

MOST_NODES = 5_000_000
"""Nodes of the search for the parent sets of a variable: some seconds."""


def family_table(
    engine: BicEngine, variable: int, candidates: Indices, required: Indices
) -> tuple[npt.NDArray[np.uint64], FloatArray] | None:
    """Sets as bits, and what they cost in an engine of single columns; None if there are too many.

    Also where others all but determine a variable, so that rounding would decide.
    """
    complete, sets, costs = _core.family_table(
        np.ascontiguousarray(engine.moments.correlation),
        variable,
        candidates.astype(np.int64),
        required.astype(np.int64),
        samples=engine.n_samples,
        price=engine.edge_price[0],
        most_parents=max(engine.max_parents, len(required)),
        most_nodes=MOST_NODES,
    )
    return (sets, costs) if complete else None
