"""Adjacency matrices as comma-separated values, with the names above and in front.

::

    ,A,B,C
    A,0,1,0
    B,0,0,2
    C,0,2,0

Row A, column B says 1: A → B. In our code an undirected edge is 2 in both entries; the same layout
serves the other codes of `qwo.graph.formats.matrix_codes`. Files without the names in front, and
R's ``write.csv`` and pandas' ``to_csv``, are read as well.
"""

from __future__ import annotations

import re

import numpy as np

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import malformed
from qwo.graph.formats.csv_lines import join, quoted, read_rows
from qwo.graph.formats.matrix_codes import decode_matrix, encode_matrix
from qwo.names import check_names
from qwo.text import shown
from qwo.types import Adjacency

# Every entry is one character, so that a row is decoded in one go: "/" comes before "0".
_ZERO = ord("0")
_MINUS_ONE = chr(_ZERO - 1)


def parse(text: str, source: str, code: str = "qwo") -> CausalGraph:
    """The graph of a table in one of the matrix codes."""
    names, matrix = _parse_table(text, source)
    return CausalGraph.from_matrix(decode_matrix(matrix, code, names), names)


def render(graph: CausalGraph, code: str = "qwo") -> str:
    """The table of a graph in one of the matrix codes."""
    matrix = encode_matrix(graph.matrix, code)
    lines = [join(["", *graph.names])]
    for name, row in zip(graph.names, matrix, strict=True):
        characters = (row + _ZERO).astype(np.uint8).tobytes().decode("ascii")
        lines.append(f"{quoted(name)},{','.join(characters).replace(_MINUS_ONE, '-1')}")
    return "\n".join(lines) + "\n"


def _parse_table(text: str, source: str) -> tuple[list[str], Adjacency]:
    rows = list(read_rows(text, source))
    if len(rows) < 2:
        raise malformed(source, "wanted a line of names and one line for each variable")
    (line, header), body = rows[0], rows[1:]
    n = len(body)
    if len(header) not in (n, n + 1):
        raise malformed(
            source, f"{len(header)} names for {n} rows; an adjacency matrix is square", line
        )
    names = list(check_names(header[-n:]))
    matrix: Adjacency = np.empty((n, n), dtype=np.int8)
    for k, (line, fields) in enumerate(body):
        if len(fields) not in (n, n + 1):
            raise malformed(source, f"{len(fields)} fields; wanted {n} and a name", line)
        if len(fields) == n + 1 and fields[0] != names[k]:
            raise malformed(
                source,
                f"the row of {shown(fields[0])} stands where that of {shown(names[k])} belongs; "
                f"give the rows in the order of the columns",
                line,
            )
        matrix[k] = _entries(fields[-n:], source, line)
    return names, matrix


def _entries(fields: list[str], source: str, line: int) -> Adjacency:
    characters = "".join(fields).replace("-1", _MINUS_ONE)
    if len(characters) != len(fields) or not re.fullmatch(r"[/0-9]*", characters):
        characters = "".join(_character(field, source, line) for field in fields)
    return np.frombuffer(characters.encode("ascii"), dtype=np.int8) - np.int8(_ZERO)


def _character(field: str, source: str, line: int) -> str:
    """One entry that is not plainly written, such as ``1.0`` or `` 1``."""
    try:
        number = float(field)
    except ValueError:
        number = np.nan
    if number not in (-1, 0, 1, 2):
        raise malformed(
            source, f"{shown(field)} is not the code of an edge: wanted -1, 0, 1 or 2", line
        )
    return chr(_ZERO + int(number))
