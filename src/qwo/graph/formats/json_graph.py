"""The package's own format: JSON with the schema ``qwo-graph``, version 1.

An object with ``format``, ``version``, ``kind`` (``dag``, ``cpdag``, ``cyclic``, ``mag``, ``pag``),
``names`` and ``edges``, each with ``source``, ``target`` and ``type`` (``-->``, ``---``; ``<->``,
``o->``, ``o-o`` and ``--o`` where causes may be hidden) and, if it has any, numbers as ``values``
by what they are; ``metadata`` may hold anything. A file of another version is refused, so that
what a later version means is never guessed at.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NoReturn, cast

import numpy as np

from qwo.errors import FileFormatError
from qwo.graph.causal_graph import KINDS, CausalGraph, Kind
from qwo.graph.formats.builder import GraphBuilder, malformed
from qwo.graph.marks import ARROW, LINE, MARKS
from qwo.text import shown
from qwo.types import FloatArray

SCHEMA = "qwo-graph"
VERSION = 1
MOST_VALUES = 2**28
"""Numbers of all kinds that the pairs of variables have: 2 GB, of a text that may be short."""

_REQUIRED = ("format", "version", "kind", "names", "edges")
_EDGE_KEYS = ("source", "target", "type")


def parse(text: str, source: str) -> CausalGraph:
    """The graph in a JSON text, once every key is proved to hold what it should."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise malformed(source, f"not JSON: {error.msg}", error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise malformed(source, f"not JSON that can be read: {error}") from error
    return _Document(source).graph(document)


class _Document:
    """The checks of a document; each complaint begins with the key at fault."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._known: dict[tuple[str, str], dict[str, float]] = {}
        self._mixed = False

    def graph(self, document: object) -> CausalGraph:
        fields = self._object(document, "the document", _REQUIRED, ("metadata",))
        if fields["format"] != SCHEMA:
            self._refuse("format", fields["format"], repr(SCHEMA))
        if fields["version"] != VERSION or isinstance(fields["version"], bool):
            self._refuse("version", fields["version"], f"{VERSION}; a newer release may read it")
        kind = self._kind(fields["kind"])
        builder = GraphBuilder(self.source, cycles=kind == "cyclic")
        self._mixed = kind in ("mag", "pag")
        for k, name in enumerate(self._list(fields["names"], "names")):
            self._add_name(builder, name, f"names[{k}]")
        for k, edge in enumerate(self._list(fields["edges"], "edges")):
            self._add_edge(builder, edge, f"edges[{k}]")
        metadata = fields.get("metadata", {})
        if not isinstance(metadata, dict):
            self._refuse("metadata", metadata, "an object")
        graph = builder.build(kind)
        return replace(graph, metadata=metadata, values=self._values(graph))

    def _kind(self, value: object) -> Kind:
        if value not in KINDS:
            self._refuse("kind", value, ", ".join(map(repr, KINDS)))
        return cast("Kind", value)

    def _add_name(self, builder: GraphBuilder, name: object, key: str) -> None:
        if not isinstance(name, str) or not name.strip():
            self._refuse(key, name, "a name")
        if name in builder:
            self._refuse(key, name, "a name that is not there yet")
        builder.add_variable(name)

    def _add_edge(self, builder: GraphBuilder, edge: object, key: str) -> None:
        fields = self._object(edge, key, _EDGE_KEYS, ("values",))
        for end in ("source", "target"):
            name = fields[end]
            if not isinstance(name, str) or name not in builder:
                self._refuse(f"{key}.{end}", name, "one of the names")
        mark = fields["type"]
        marks = MARKS if self._mixed else (ARROW, LINE)
        if mark not in marks:
            self._refuse(f"{key}.type", mark, " or ".join(map(repr, marks)))
        try:
            builder.add_edge(str(fields["source"]), str(mark), str(fields["target"]))
        except FileFormatError as error:
            raise FileFormatError(f"{error} ({key})", error.columns) from error
        ends = str(fields["source"]), str(fields["target"])
        self._known[ends] = self._numbers(fields.get("values", {}), f"{key}.values")

    def _numbers(self, value: object, key: str) -> dict[str, float]:
        if not isinstance(value, dict):
            self._refuse(key, value, "an object")
        for name, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                self._refuse(f"{key}.{name}", number, "a number")
        return {name: float(number) for name, number in value.items()}

    def _values(self, graph: CausalGraph) -> dict[str, FloatArray]:
        """The matrices of the numbers that edges have, NaN where there is none."""
        place = {name: k for k, name in enumerate(graph.names)}
        kinds = list(dict.fromkeys(name for numbers in self._known.values() for name in numbers))
        if len(kinds) * graph.matrix.size > MOST_VALUES:
            raise malformed(
                self.source,
                f"{len(kinds)} kinds of values for the pairs of {graph.n_variables} variables are "
                f"more than {MOST_VALUES:,} numbers; leave some out",
            )
        values = {name: np.full(graph.matrix.shape, np.nan) for name in kinds}
        for (source, target), numbers in self._known.items():
            for name, number in numbers.items():
                values[name][place[source], place[target]] = number
        return values

    def _object(
        self, value: object, key: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> dict[str, object]:
        if not isinstance(value, dict):
            self._refuse(key, value, "an object")
        for name in required:
            if name not in value:
                raise malformed(self.source, f"{key} has no key {name!r}")
        unknown = [name for name in value if name not in (*required, *optional)]
        if unknown:
            raise malformed(
                self.source,
                f"{key} has a key {shown(unknown[0])} that the schema does not know; "
                f"what is your own goes into 'metadata'",
            )
        return value

    def _list(self, value: object, key: str) -> list[object]:
        if not isinstance(value, list):
            self._refuse(key, value, "a list")
        return value

    def _refuse(self, key: str, value: object, wanted: str) -> NoReturn:
        raise malformed(self.source, f"{key} is {shown(str(value))}; wanted {wanted}")


def render(graph: CausalGraph) -> str:
    """The JSON text of a graph, one edge a line."""
    edges: list[dict[str, object]] = [
        {"source": edge.source, "target": edge.target, "type": edge.mark}
        | ({"values": known} if known else {})
        for edge, known in zip(graph.edges, graph.edge_values(), strict=True)
    ]
    fields: dict[str, object] = {"format": SCHEMA, "version": VERSION, "kind": graph.kind}
    try:
        metadata = json.dumps(dict(graph.metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"the metadata cannot be written as JSON: {error}; keep to text, finite numbers, "
            f"lists and dictionaries"
        ) from error
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    lines.append(f'  "names": {_block(list(graph.names))}')
    lines.append(f'  "edges": {_block(edges)}')
    lines.append(f'  "metadata": {metadata}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _block(items: list[str] | list[dict[str, object]]) -> str:
    """A list with one item a line."""
    rows = [f"    {json.dumps(item, ensure_ascii=False)}" for item in items]
    return "[\n" + ",\n".join(rows) + "\n  ]" if rows else "[]"


def recognises(text: str) -> bool:
    """Whether the text is a JSON object, as no other format is."""
    return text.lstrip().startswith("{")
