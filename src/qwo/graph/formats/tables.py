"""Graphs as matrices of several codes, in tables, and as edge lists.

| code         | tools                        | i → j                        | undirected |
|--------------|------------------------------|------------------------------|------------|
| qwo          | this package, FLOP, gadjid   | ``a[i, j] = 1``              | both 2     |
| zero-one     | XGES, gCastle, pgmpy, bnlearn| ``a[i, j] = 1``              | both 1     |
| pcalg        | pcalg's amat.cpdag           | ``a[j, i] = 1``              | both 1     |
| causal-learn | ``GeneralGraph.graph``       | ``a[j, i] = 1, a[i, j] = -1``| both -1    |
| pcalg-pag    | pcalg's amat.pag             | ``a[i, j] = 2, a[j, i] = 3`` | both 3     |

In causal-learn's code the entry (i, j) is what the edge has at i, 2 for a circle; in pcalg-pag what
it has at j, 1 for a circle. These two and qwo hold MAGs and PAGs as well.

A table (CSV) has the names above and in front; files without the names in front, and those of R's
``write.csv`` and pandas' ``to_csv``, are read as well. In Parquet there is one column of codes for
each variable, and before them one of the rows' names, called the empty string, which no variable
is; pandas' index will do. An edge list is ``source,target,type`` with ``-->``, ``---``, or another
mark; a variable without edges has a line of its own. Other columns are ignored; without ``type``
all edges are directed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from qwo.errors import ArgumentError, GraphError
from qwo.graph.causal_graph import CausalGraph, kind_of, marks_of, matrix_of_marks
from qwo.graph.dag import Names, label, matrix_of
from qwo.graph.formats.builder import (
    GraphBuilder,
    malformed,
    require_no_lines,
    require_single_arrows,
)
from qwo.graph.marks import ARROW, MARKS
from qwo.graph.marks import CODES as EDGE_CODES
from qwo.graph.pdag import check_mixed
from qwo.names import check_names, is_choice
from qwo.text import shown
from qwo.types import Adjacency


class Code(NamedTuple):
    """How a tool writes a graph as a matrix, and how to read it."""

    encode: Callable[[Adjacency], Adjacency]
    decode: Callable[[Adjacency, Names], Adjacency]
    smallest: int
    largest: int
    meaning: str
    mixed: bool = False


def encode_matrix(graph: npt.ArrayLike, code: str) -> Adjacency:
    """Our matrix of a graph in the code of another tool."""
    matrix = check_mixed(graph)
    if matrix.max(initial=0) > 2 and not find_code(code).mixed:
        raise GraphError(
            f"{code} has no ↔ and no circles; wanted a DAG or CPDAG, or one of the codes "
            + ", ".join(name for name, own in CODES.items() if own.mixed)
        )
    return find_code(code).encode(matrix)


def decode_matrix(matrix: npt.ArrayLike, code: str, names: Names = None) -> Adjacency:
    """The matrix of another tool in our code: 1 = i → j, 2 = undirected, above 2 for hidden causes.

    Raises
    ------
    GraphError
        If an entry has no meaning in that code.
    """
    chosen = find_code(code)
    given = matrix_of(matrix if isinstance(matrix, list | tuple) else np.asarray(matrix))
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
    return check_mixed(chosen.decode(codes, names), names)


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


_CAUSAL_LEARN = np.array([0, 2, 1, -1], dtype=np.int8)
"""What the ends of edges are called there, by ours: none, circle, arrowhead, tail."""


def _to_causal_learn(graph: Adjacency) -> Adjacency:
    """The entry (i, j) is the mark that the edge between i and j has at i."""
    return np.ascontiguousarray(_CAUSAL_LEARN[marks_of(graph)].T)


def _from_causal_learn(matrix: Adjacency, names: Names) -> Adjacency:
    return _from_marks(np.array([0, 2, 1, 3], dtype=np.int8)[matrix].T, names)


def _from_marks(marks: Adjacency, names: Names) -> Adjacency:
    """The matrix of what edges have at their ends; refused where an end has nothing."""
    lost = (marks == 0) != (marks.T == 0)
    if lost.any():
        first, second = (label(int(k), names) for k in np.argwhere(lost)[0])
        raise GraphError(
            f"the edge between {first} and {second} has a mark at one end only",
            columns=[first, second],
        )
    return matrix_of_marks(marks)


CODES = {
    "qwo": Code(
        lambda graph: graph,
        check_mixed,
        0,
        8,
        "1 for row → column, 2 in both entries for undirected, above 2 for hidden causes",
        mixed=True,
    ),
    "zero-one": Code(
        _to_zero_one, _from_zero_one, 0, 1, "1 for row → column, 1 in both entries for undirected"
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
        2,
        "1 is an arrowhead at the row's variable, -1 a tail, 2 a circle",
        mixed=True,
    ),
    "pcalg-pag": Code(
        marks_of,
        _from_marks,
        0,
        3,
        "1 is a circle at the column's variable, 2 an arrowhead, 3 a tail",
        mixed=True,
    ),
}


_SPECIAL = re.compile(r'[,"\r\n]|^\s|\s$')


def read_rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of every line that is not blank."""
    # Only "\n" ends a line: str.splitlines would also break at characters that names may hold.
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), strict=True)
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise malformed(source, str(error), reader.line_num) from error
        if fields is None:
            return
        if fields:
            yield reader.line_num, fields


def quoted(name: str) -> str:
    """A name as one field, in double quotes where it needs them."""
    if _SPECIAL.search(name):
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name


def join(fields: Iterable[str]) -> str:
    """Names as one line."""
    return ",".join(map(quoted, fields))


_EDGE_HEADER = ("source", "target", "type")


def parse_edges(text: str, source: str) -> CausalGraph:
    """The graph of an edge list."""
    rows = read_rows(text, source)
    line, header = next(rows, (1, []))
    columns = {name.strip().lower(): k for k, name in enumerate(header)}
    if "source" not in columns or "target" not in columns:
        raise malformed(source, f"wanted the header {','.join(_EDGE_HEADER)}; got {header}", line)
    builder = GraphBuilder(source)
    for line, fields in rows:
        if len(fields) != len(header):
            builder.refuse(f"{len(fields)} fields; the header has {len(header)}", line)
        first, second = fields[columns["source"]], fields[columns["target"]]
        mark = fields[columns["type"]].strip() if "type" in columns else ""
        if not second and not mark:
            builder.add_variable(first, line)
            continue
        if mark and mark not in EDGE_CODES:
            builder.refuse(f"the type is {shown(mark)}; wanted one of {', '.join(MARKS)}", line)
        builder.add_edge(first, mark or ARROW, second, line)
    return builder.build()


def render_edges(graph: CausalGraph) -> str:
    """The edge list of a graph."""
    lines = [join(_EDGE_HEADER)]
    lines += [join((edge.source, edge.target, edge.mark)) for edge in graph.edges]
    joined = set(np.concatenate(graph.ends()).tolist())
    alone = (name for k, name in enumerate(graph.names) if k not in joined)
    lines += [join((name, "", "")) for name in alone]
    return "\n".join(lines) + "\n"


def recognises_edges(text: str) -> bool:
    """Whether the first line is the header of an edge list."""
    columns = {name.strip().lower() for name in text.partition("\n")[0].split(",")}
    return {"source", "target"} <= columns


# Every entry is one character, so that a row is decoded in one go: "/" comes before "0".
_ZERO = ord("0")
_MINUS_ONE = chr(_ZERO - 1)


def parse_matrix(text: str, source: str, code: str = "qwo") -> CausalGraph:
    """The graph of a table in one of the matrix codes."""
    names, matrix = _parse_table(text, source)
    return _graph_of(matrix, code, names)


def _graph_of(matrix: npt.ArrayLike, code: str, names: Sequence[str]) -> CausalGraph:
    decoded = decode_matrix(matrix, code, names)
    return CausalGraph.from_matrix(decoded, names, kind_of(decoded))


def render_matrix(graph: CausalGraph, code: str = "qwo") -> str:
    """The table of a graph in one of the matrix codes."""
    if code in ("pcalg", "causal-learn"):
        require_single_arrows(graph, f"a {code} matrix")
    if code == "zero-one":
        require_no_lines(graph, "a zero-one matrix")
    cyclic = graph.kind == "cyclic"
    matrix = find_code(code).encode(graph.matrix) if cyclic else encode_matrix(graph.matrix, code)
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
    if number not in range(-1, 9):
        raise malformed(
            source, f"{shown(field)} is not the code of an edge: wanted -1, 0, 1 or 2", line
        )
    return chr(_ZERO + int(number))


INDEX = ""


def parse_parquet(data: bytes, source: str) -> CausalGraph:
    """The graph in a Parquet file."""
    try:
        table = pq.read_table(io.BytesIO(data))
        table.validate(full=True)
        column_names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise malformed(source, f"not a readable Parquet file: {error}") from error
    codes = [k for k, kind in enumerate(table.schema.types) if _is_number(kind)]
    others = [k for k in range(table.num_columns) if k not in set(codes)]
    names = check_names([column_names[k] for k in codes])
    if len(others) > 1 or table.num_rows != len(names):
        raise malformed(
            source,
            f"{table.num_rows} rows, {len(names)} columns of numbers and {len(others)} others; "
            f"wanted as many rows as columns, and at most one column with the names of the rows",
        )
    if others and table.column(others[0]).to_pylist() != list(names):
        raise malformed(source, "the rows must have the names of the columns, in the same order")
    columns = [table.column(k).to_numpy() for k in codes]
    return _graph_of(np.column_stack(columns), "qwo", names)


def render_parquet(graph: CausalGraph) -> bytes:
    """The Parquet file of a graph."""
    columns = [pa.array(graph.names, pa.string())]
    columns += [pa.array(column) for column in np.ascontiguousarray(graph.matrix.T)]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns, names=[INDEX, *graph.names]), stream)
    return stream.getvalue()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
