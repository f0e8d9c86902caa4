"""Graphs as tables: edge lists and matrices as comma-separated values, and matrices in Parquet.

An edge list is ``source,target,type`` with ``-->`` or ``---``. A variable without edges has a line
of its own, with nothing behind its name. Variables are in the order in which they first occur.
Columns of other names are ignored; without a column ``type`` all edges are directed.

An adjacency matrix has the names above and in front::

    ,A,B,C
    A,0,1,0
    B,0,0,2
    C,0,2,0

Row A, column B says 1: A → B. In our code an undirected edge is 2 in both entries; the same layout
serves the other codes of `qwo.graph.formats.matrix_codes`. Files without the names in front, and
R's ``write.csv`` and pandas' ``to_csv``, are read as well.

In Parquet there is one column of codes for each variable, and before them one of the rows' names,
called the empty string, which no variable is. Files that pandas wrote from a frame with its names
in the index are read as well.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import GraphBuilder, malformed
from qwo.graph.formats.matrix_codes import decode_matrix, encode_matrix
from qwo.graph.marks import ARROW, BACK_ARROW, LINE
from qwo.names import check_names
from qwo.text import shown
from qwo.types import Adjacency

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
        if mark not in ("", ARROW, LINE, BACK_ARROW):
            builder.refuse(f"the type is {shown(mark)}; wanted {ARROW} or {LINE}", line)
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
    return CausalGraph.from_matrix(decode_matrix(matrix, code, names), names)


def render_matrix(graph: CausalGraph, code: str = "qwo") -> str:
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
    return CausalGraph.from_matrix(decode_matrix(np.column_stack(columns), "qwo", names), names)


def render_parquet(graph: CausalGraph) -> bytes:
    """The Parquet file of a graph."""
    columns = [pa.array(graph.names, pa.string())]
    columns += [pa.array(column) for column in np.ascontiguousarray(graph.matrix.T)]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns, names=[INDEX, *graph.names]), stream)
    return stream.getvalue()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
