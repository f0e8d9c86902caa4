"""Adjacency matrices in Parquet: one column of codes for each variable, and one of names.

The column of the rows' names comes first and is called the empty string, which no variable is.
Files that pandas wrote from a frame with its names in the index are read as well.
"""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.formats.builder import malformed
from qwo.graph.formats.matrix_codes import decode_matrix
from qwo.names import check_names

INDEX = ""


def parse(data: bytes, source: str) -> CausalGraph:
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


def render(graph: CausalGraph) -> bytes:
    """The Parquet file of a graph."""
    columns = [pa.array(graph.names, pa.string())]
    columns += [pa.array(column) for column in np.ascontiguousarray(graph.matrix.T)]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns, names=[INDEX, *graph.names]), stream)
    return stream.getvalue()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
