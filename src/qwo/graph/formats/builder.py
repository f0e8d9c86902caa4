"""A graph put together from the nodes and edges of a text, with the place of whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NoReturn

import numpy as np

from qwo.errors import Cure, FileFormatError, GraphError
from qwo.graph.causal_graph import VARIABLES, CausalGraph, Kind, kind_of
from qwo.graph.marks import CODES, LINE, turned
from qwo.text import shown
from qwo.types import Adjacency

BOTH = "<=>"
"""What a pair with an arrow each way is noted as."""

TYPES = ("continuous", "ordinal", "nominal", "binary")
"""What variables can be, as `qwo.columns.recipes` has it."""

# The matrix of so many variables takes 2.5 GB.
MOST_VARIABLES = 50_000

MOST_IN_GROUPS = 200_000
"""Edges that groups of names may stand for: 22 kB of DOT can name ten million, which take 1 GB."""


class GraphBuilder:
    """Variables in the order in which they are first named, and at most one edge for each pair.

    Messages call the text ``source``. If ``two_arrows_are_undirected``, i → j together with j → i
    means i — j; with ``cycles`` it means just that; it is an error otherwise.
    """

    def __init__(
        self, source: str, *, two_arrows_are_undirected: bool = False, cycles: bool = False
    ) -> None:
        self.source = source
        self.cycles = cycles
        self.two_arrows_are_undirected = two_arrows_are_undirected
        self._places: dict[str, int] = {}
        self._edges: dict[tuple[int, int], str] = {}
        self._in_groups = 0
        self._variables: dict[str, dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def add_variable(self, name: str, line: int | None = None) -> int:
        """The place of a variable, which is made if it is new."""
        if name not in self._places:
            if not name.strip():
                self.refuse(f"a variable is called {name!r}; give it a name", line)
            self._places[name] = len(self._places)
        return self._places[name]

    def add_new_variable(self, name: str, line: int | None = None) -> None:
        """Make a variable, which the text must not have named before."""
        if name in self:
            self.refuse(f"the variable {shown(name)} is there twice; rename one", line)
        self.add_variable(name, line)

    def add_edge(self, first: str, mark: str, second: str, line: int | None = None) -> None:
        """Add an edge such as ``first --> second``: any of `qwo.graph.marks`, from either end."""
        i, j = self.add_variable(first, line), self.add_variable(second, line)
        if i == j:
            self.refuse(f"{shown(first)} has an edge to itself; remove it", line)
        pair, mark = ((i, j), mark) if i < j else ((j, i), turned(mark))
        known = self._edges.setdefault(pair, mark)
        if known == mark or (known == BOTH and mark != LINE):
            return
        if self.cycles and LINE not in (known, mark):
            self._edges[pair] = BOTH
            return
        if not self.two_arrows_are_undirected or LINE in (known, mark):
            self.refuse(f"{shown(first)} and {shown(second)} have two edges; keep one", line)
        self._edges[pair] = LINE

    def add_edges(
        self, firsts: Sequence[str], mark: str, seconds: Sequence[str], line: int | None = None
    ) -> None:
        """Add the edge of each of some variables with each of others."""
        together = len(firsts) * len(seconds)
        self._in_groups += together if together > 1 else 0
        if self._in_groups > MOST_IN_GROUPS:
            self.refuse(
                f"groups of names stand for more than {MOST_IN_GROUPS:,} edges; write the edges of "
                "so large a graph one by one",
                line,
            )
        for first, second in product(firsts, seconds):
            self.add_edge(first, mark, second, line)

    def describe(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Note the type and the levels of a variable, as far as attributes of its node are these.

        Levels are a list, or a JSON list in a text, for formats that have no lists.
        """
        known = attributes.get("type")
        if known not in TYPES:
            return
        said: dict[str, Any] = {"type": known}
        levels = of_json(attributes.get("levels"))
        if isinstance(levels, list | tuple):
            said["levels"] = [str(level) for level in levels]
        self._variables[name] = said

    def build(self, kind: Kind | None = None) -> CausalGraph:
        """The graph of everything added; without a kind, that which its edges show."""
        n = len(self._places)
        if n > MOST_VARIABLES:
            self.refuse(f"{n} variables are more than the {MOST_VARIABLES} whose matrix fits")
        matrix: Adjacency = np.zeros((n, n), dtype=np.int8)
        for mark in dict.fromkeys(self._edges.values()):
            chosen = [pair for pair, known in self._edges.items() if known == mark]
            i, j = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
            matrix[i, j], matrix[j, i] = (1, 1) if mark == BOTH else CODES[mark]
        matrix.flags.writeable = False
        if matrix.max(initial=0) > 2 and kind not in ("mag", "pag"):
            kind = None
        metadata = {VARIABLES: self._variables} if self._variables else {}
        return CausalGraph(tuple(self._places), matrix, kind or kind_of(matrix), metadata)

    def refuse(self, reason: str, line: int | None = None) -> NoReturn:
        """Say what is wrong, and in which line."""
        raise malformed(self.source, reason, line)


def of_json(value: Any) -> Any:
    """What a text holds in JSON, for formats that have no lists; anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def malformed(source: str, reason: str, line: int | None = None) -> FileFormatError:
    """The error for a text that is not what its format asks for."""
    place = source if line is None else f"{source}, line {line}"
    return FileFormatError(f"{place}: {reason}")


def require_single_arrows(graph: CausalGraph, title: str) -> None:
    """Refuse a graph with cycles for a format that cannot hold them."""
    if graph.kind == "cyclic":
        raise GraphError(
            f"{title} cannot hold a graph with cycles; JSON, DOT, Tetrad's text, edge lists and "
            "adjacency matrices can"
        )


def require_no_lines(graph: CausalGraph, title: str) -> None:
    """Refuse a graph with cycles and undirected edges where these are two arrows as well."""
    if graph.kind == "cyclic" and (graph.matrix == 2).any():
        raise GraphError(
            f"in {title} an undirected edge and a cycle of two are written alike, and the graph "
            "may have both; write JSON, DOT, Tetrad's text, an edge list or an adjacency matrix"
        )


def require_dag(graph: CausalGraph, title: str) -> None:
    """Refuse a graph with undirected edges for a format that cannot hold them."""
    require_plain(graph, title)
    require_single_arrows(graph, title)
    if (graph.matrix == 2).any():
        edge = next(edge for edge in graph.edges if edge.mark == LINE)
        raise GraphError(
            f"{title} holds DAGs only, and {shown(edge.source)} — {shown(edge.target)} has no "
            "direction",
            columns=[edge.source, edge.target],
            cures=[Cure("to_dag()", True, "takes a DAG of the class")],
        )


def require_plain(graph: CausalGraph, title: str) -> None:
    """Refuse a graph with hidden causes for a format that cannot hold ↔ and circles."""
    if graph.is_mixed:
        raise GraphError(
            f"{title} holds no graphs in which causes may be hidden: it has no ↔ and no circles; "
            "tetrad, json, dot, dagitty, graphml, edges, pcalg-pag and causal-learn have them"
        )


def require_no_circles(graph: CausalGraph, title: str) -> None:
    """Refuse a graph with circles for a format that can hold ↔ alone."""
    if graph.matrix.max(initial=0) > 3:
        raise GraphError(
            f"{title} has no circles; take a member of the class, `found.mag` of a result"
        )


def require_names(
    names: Iterable[str], fits: Callable[[str], object], title: str, wanted: str
) -> None:
    """Refuse names that a format would alter or misread."""
    unfit = [name for name in names if not fits(name)]
    if unfit:
        more = f" (and {len(unfit) - 1} more)" if len(unfit) > 1 else ""
        raise FileFormatError(
            f"{title} cannot hold the name {shown(unfit[0])}{more}: wanted {wanted}; rename it, "
            f"for example with graph.renamed({{old: new}})",
            columns=unfit,
        )
