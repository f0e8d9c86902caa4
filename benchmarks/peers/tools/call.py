"""How a tool is called: its own form of the data, the call that is timed, the graph found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.int8]
Options = Mapping[str, Any]


def unchanged(value: Any) -> Any:
    """The value itself: where a tool takes or gives arrays."""
    return value


@dataclass(frozen=True)
class Memory:
    """A way to measure a call's memory from the inside, where the process does not show it."""

    reset: Callable[[], None]
    peak_bytes: Callable[[], float]


@dataclass(frozen=True)
class Call:
    """A tool with its options.

    run: the call that is timed.
    version: of the tool, and how it was built.
    prepare: brings the data into the form that the tool wants; not timed.
    matrix: the graph as a matrix, from what the tool returns; not timed.
    warm_up: variables of the data to warm up with, and how often.
    memory: only for tools with a memory of their own.
    score: the score of a DAG on the data as prepared, in the tool's own units, if it gives one.
    """

    run: Callable[[Any], Any]
    version: str
    prepare: Callable[[FloatArray], Any] = unchanged
    matrix: Callable[[Any], npt.NDArray[Any]] = unchanged
    warm_up: tuple[int, int] = (5, 1)
    memory: Memory | None = None
    score: Callable[[Any, Matrix], float] | None = None


def sum_over_families(local: Callable[[int, list[int]], float], dag: Matrix) -> float:
    """The sum of a local score over all variables with their parents."""
    return float(sum(local(i, np.flatnonzero(dag[:, i]).tolist()) for i in range(len(dag))))


def cpdag_of_ones(adjacency: npt.NDArray[Any]) -> Matrix:
    """The matrix with 2 for an undirected edge, where the tool has 1 in both entries."""
    edges = np.asarray(adjacency) != 0
    matrix: Matrix = edges.astype(np.int8) + (edges & edges.T)
    return matrix
