"""Graphs in the formats of other tools, one module for each.

Every format gives back exactly the names and the edges that it was given, or refuses a name that it
cannot hold: nothing is ever altered. Formats for DAGs refuse undirected edges.
"""

from __future__ import annotations

from qwo.graph.formats.objects import (
    from_networkx,
    to_causal_learn,
    to_networkx,
    to_pandas,
    to_pgmpy,
    to_pywhy,
)
from qwo.graph.formats.registry import (
    FORMATS,
    Format,
    can_hold,
    convert,
    find_format,
    format_of_name,
    parse_graph,
    read_graph,
    write_graph,
)
from qwo.graph.formats.tables import CODES, decode_matrix, encode_matrix

__all__ = [
    "CODES",
    "FORMATS",
    "Format",
    "can_hold",
    "convert",
    "decode_matrix",
    "encode_matrix",
    "find_format",
    "format_of_name",
    "from_networkx",
    "parse_graph",
    "read_graph",
    "to_causal_learn",
    "to_networkx",
    "to_pandas",
    "to_pgmpy",
    "to_pywhy",
    "write_graph",
]
