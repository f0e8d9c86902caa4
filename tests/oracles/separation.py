"""d-separation by its definition: every path between two vertices, one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Graph = npt.NDArray[np.int8]


def separated_by_paths(dag: Graph, x: int, y: int, given: set[int]) -> bool:
    """Whether every path between x and y is blocked."""
    reach = np.linalg.matrix_power(np.eye(len(dag), dtype=np.int64) + dag, len(dag)) > 0
    return not any(_is_open(dag, reach, path, given) for path in _paths(dag, [x], y))


def _paths(dag: Graph, path: list[int], target: int) -> Iterator[list[int]]:
    if path[-1] == target:
        yield path
        return
    for v in range(len(dag)):
        if v not in path and (dag[path[-1], v] or dag[v, path[-1]]):
            yield from _paths(dag, [*path, v], target)


def _is_open(dag: Graph, reach: npt.NDArray[np.bool_], path: list[int], given: set[int]) -> bool:
    for left, v, right in zip(path, path[1:], path[2:], strict=False):
        collider = bool(dag[left, v] and dag[right, v])
        observed = any(reach[v, w] for w in given) if collider else v in given
        if collider != observed:
            return False
    return True
