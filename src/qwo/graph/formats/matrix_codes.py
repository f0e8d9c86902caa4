"""The matrices in which other tools keep a graph, and how to tell them apart from ours.

| code         | tools                        | i → j                        | undirected |
|--------------|------------------------------|------------------------------|------------|
| qwo          | this package, FLOP, gadjid   | ``a[i, j] = 1``              | both 2     |
| zero-one     | XGES, gCastle, pgmpy, bnlearn| ``a[i, j] = 1``              | both 1     |
| pcalg        | pcalg's amat.cpdag           | ``a[j, i] = 1``              | both 1     |
| causal-learn | ``GeneralGraph.graph``       | ``a[j, i] = 1, a[i, j] = -1``| both -1    |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.checks import is_choice
from qwo.errors import ArgumentError, GraphError
from qwo.graph.dag import Names, label, matrix_of
from qwo.graph.pdag import check_pdag
from qwo.types import Adjacency, Indices, Mask


class Code(NamedTuple):
    """How a tool writes a graph as a matrix, and how to read it."""

    encode: Callable[[Adjacency], Adjacency]
    decode: Callable[[Adjacency, Names], Adjacency]
    smallest: int
    largest: int
    meaning: str


def encode_matrix(graph: npt.ArrayLike, code: str) -> Adjacency:
    """Our matrix of a DAG or CPDAG in the code of another tool."""
    return find_code(code).encode(check_pdag(graph))


def decode_matrix(matrix: npt.ArrayLike, code: str, names: Names = None) -> Adjacency:
    """The matrix of another tool in our code: 1 = i → j, 2 = undirected in both entries.

    Raises
    ------
    GraphError
        If an entry has no meaning in that code, or means an edge that DAGs and CPDAGs do not have.
    """
    chosen = find_code(code)
    given = matrix_of(matrix) if isinstance(matrix, list | tuple) else np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise GraphError(f"the matrix of a graph must be square; got shape {given.shape}")
    if given.dtype.kind not in "biuf":
        raise GraphError(f"the matrix of a graph must be numeric; got dtype {given.dtype}")
    with np.errstate(invalid="ignore"):
        codes: Adjacency = given.astype(np.int8, copy=False)
    wrong = (codes < chosen.smallest) | (codes > chosen.largest) | (codes != given)
    if wrong.any():
        i, j = (int(k) for k in np.argwhere(wrong)[0])
        raise GraphError(
            f"entries of a {code} matrix are integers from {chosen.smallest} to {chosen.largest} "
            f"({chosen.meaning}); the one in row {label(i, names)}, column {label(j, names)} is "
            f"{given[i, j]}",
            columns=[label(i, names), label(j, names)],
        )
    return check_pdag(chosen.decode(codes, names), names)


def find_code(code: str) -> Code:
    """The code of a name."""
    if not is_choice(code, CODES):
        raise ArgumentError(f"there is no matrix code {code!r}; choose one of {', '.join(CODES)}")
    return CODES[code]


def _to_zero_one(graph: Adjacency) -> Adjacency:
    matrix: Adjacency = (graph != 0).astype(np.int8)
    return matrix


def _from_zero_one(matrix: Adjacency, _names: Names) -> Adjacency:
    i, j = np.nonzero(matrix)
    graph = matrix.copy()
    graph[i, j] += matrix[j, i]
    return graph


def _to_causal_learn(graph: Adjacency) -> Adjacency:
    """The entry (i, j) is the mark that the edge between i and j has at i."""
    matrix = np.where(graph != 0, -1, 0).astype(np.int8)
    i, j = np.nonzero(graph == 1)
    matrix[j, i] = 1
    return matrix


def _from_causal_learn(matrix: Adjacency, names: Names) -> Adjacency:
    i, j = np.nonzero(matrix)
    here, there = matrix[i, j], matrix[j, i]
    _refuse_marks(i, j, (here == 1) & (there == 1), names)
    _refuse_marks(i, j, there == 0, names)
    graph = np.zeros_like(matrix)
    graph[i, j] = np.where(there == 1, 1, np.where(here == 1, 0, 2))
    return graph


def _refuse_marks(i: Indices, j: Indices, wrong: Mask, names: Names) -> None:
    if wrong.any():
        first, second = label(int(i[wrong][0]), names), label(int(j[wrong][0]), names)
        raise GraphError(
            f"the causal-learn matrix has arrowheads at both ends, or a mark at one end only, of "
            f"the edge between {first} and {second}; a DAG or CPDAG has --> (-1 and 1) and --- "
            f"(-1 and -1) only",
            columns=[first, second],
        )


CODES = {
    "qwo": Code(
        lambda graph: graph,
        check_pdag,
        0,
        2,
        "1 for row → column, 2 in both entries for undirected",
    ),
    "zero-one": Code(
        _to_zero_one,
        _from_zero_one,
        0,
        1,
        "1 for row → column, 1 in both entries for undirected",
    ),
    "pcalg": Code(
        lambda graph: _to_zero_one(graph).T.copy(),
        lambda matrix, names: _from_zero_one(matrix.T, names),
        0,
        1,
        "1 for column → row, 1 in both entries for undirected",
    ),
    "causal-learn": Code(
        _to_causal_learn,
        _from_causal_learn,
        -1,
        1,
        "1 is an arrowhead at the row's variable, -1 a tail",
    ),
}
