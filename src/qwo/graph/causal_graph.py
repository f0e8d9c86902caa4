"""A graph over named variables: what the formats read and write, and the comparisons compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from qwo.errors import ColumnNameError, Cure, GraphError, list_names
from qwo.graph import display
from qwo.graph.cpdag import as_cpdag
from qwo.graph.dag import entries_of, topological_order
from qwo.graph.marks import ALIKE, BY_CODE, FROM_HERE, MARKS
from qwo.graph.pdag import check_mixed, check_pdag, to_dag
from qwo.names import as_column, check_names, default_names, is_choice
from qwo.text import count, listed, records_frame, short
from qwo.types import Adjacency, FloatArray, Indices

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes

Kind = Literal["dag", "cpdag", "cyclic", "mag", "pag"]

KINDS = get_args(Kind)

VARIABLES = "variables"
"""Where metadata say what variables are."""

TARGETS = "targets"
"""Where metadata say which variables each condition touched."""


class Edge(NamedTuple):
    """An edge by the names of its ends; ``mark`` is one of `qwo.graph.marks.MARKS`."""

    source: str
    mark: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} {MARKS[self.mark].symbol} {self.target}"


@dataclass(frozen=True, eq=False, repr=False)
class CausalGraph:
    """A DAG, the graph of a class, with hidden causes or not, or a graph with cycles.

    Attributes
    ----------
    names : tuple of str
        The variables, in the order of the rows and columns; none blank, none twice.
    matrix : ndarray of int8, n×n, read-only
        1 = i → j; 2 = undirected, in both entries. Edges that only MAGs and PAGs have are codes
        above 2, as `qwo.graph.marks` lists them; `marks` has what every edge has at its ends. Only
        in a graph with cycles may both entries be 1: i → j and j → i.
    kind : "dag", "cpdag", "cyclic", "mag" or "pag"
        A graph with undirected edges is never a "dag". One without them may be either: a CPDAG
        that is fully directed is the only member of its class. MAGs and PAGs are their like where
        common causes may be hidden; see `qwo.graph.pag`.
    metadata : mapping
        Anything the user wants to keep with the graph. The JSON format stores it; GraphML, GML and
        DOT store what ``"variables"`` in it says of each: its ``"type"``, and the ``"levels"`` of a
        category; GraphML and GML also ``"targets"``, the variables that each condition touched.
    values : mapping of str to ndarray, n×n
        Numbers that go with the edges, such as probabilities, by what they are: entry (i, j) is
        that of the edge from i to j. Tables of edges, JSON, GraphML, GML and DOT have them.
    member : ndarray, n×n, or None
        The DAG that `to_dag` gives, as long as it is of the class: that of the `Discovery`.
    """

    names: tuple[str, ...]
    matrix: Adjacency
    kind: Kind
    metadata: Mapping[str, object] = field(default_factory=dict)
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    member: Adjacency | None = None

    def __post_init__(self) -> None:
        names = check_names(self.names)
        if not is_choice(self.kind, KINDS):
            raise GraphError(f"kind is {self.kind!r}; wanted one of {', '.join(map(repr, KINDS))}")
        cyclic = self.kind == "cyclic"
        matrix = self._checked(self.matrix, self.kind, names)
        if self.kind == "dag" and (matrix == 2).any():
            raise GraphError(
                "a DAG has no undirected edges",
                cures=[
                    Cure("kind", "cpdag", "lets it have some"),
                    Cure("to_dag()", True, "takes a DAG of the class"),
                ],
            )
        if not cyclic:
            topological_order(matrix == 1, names)
        if matrix.flags.writeable:
            matrix = matrix.copy()
            matrix.flags.writeable = False
        for name, numbers in self.values.items():
            if np.shape(numbers) != matrix.shape:
                raise GraphError(
                    f"the values {name!r} have the shape {np.shape(numbers)}; wanted one for each "
                    f"pair, {matrix.shape}"
                )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "matrix", matrix)

    @staticmethod
    def _checked(matrix: Any, kind: Kind | None, names: Sequence[str] | None = None) -> Adjacency:
        """A matrix whose codes are proved to fit the kind."""
        if kind in ("mag", "pag"):
            return check_mixed(matrix, names)
        return check_pdag(matrix, names, two_arrows=kind == "cyclic")

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike,
        names: Iterable[str] | None = None,
        kind: Kind | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> CausalGraph:
        """The graph of a matrix; without a kind, it is a DAG if it has no undirected edge."""
        checked = cls._checked(matrix, kind)
        labels = check_names(names) if names is not None else default_names(len(checked))
        return cls(labels, checked, kind_of(checked) if kind is None else kind, metadata or {})

    @classmethod
    def from_marks(
        cls,
        marks: Adjacency,
        names: Iterable[str],
        kind: Kind = "pag",
        values: Mapping[str, FloatArray] | None = None,
    ) -> CausalGraph:
        """The graph of what every edge has at its ends, as `marks` tells it."""
        return cls(tuple(names), matrix_of_marks(marks), kind, {}, values or {})

    @property
    def is_mixed(self) -> bool:
        """Whether it is a MAG or a PAG, in which ↔ and circles tell of hidden causes."""
        return self.kind in ("mag", "pag")

    @property
    def variables(self) -> dict[str, dict[str, Any]]:
        """What the metadata say of variables, by name: ``"type"`` and ``"levels"``."""
        said = self.metadata.get(VARIABLES)
        if not isinstance(said, Mapping):
            return {}
        return {n: dict(said[n]) for n in self.names if isinstance(said.get(n), Mapping)}

    @property
    def targets(self) -> dict[str, list[str]]:
        """What the metadata say of conditions: the variables that each touched."""
        said = self.metadata.get(TARGETS)
        if not isinstance(said, Mapping):
            return {}
        return {
            str(label): [name for name in own if name in self.names]
            for label, own in said.items()
            if isinstance(own, list | tuple)
        }

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """The number of edges, directed and undirected."""
        return len(self.ends()[0])

    def ends(self) -> tuple[Indices, Indices]:
        """The ends of every edge once, in row order; an undirected edge from its first variable."""
        return ends_of(self.matrix)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge once, in row order; in time that goes with their number."""
        return edges_of(self.names, self.matrix)

    @cached_property
    def marks(self) -> Adjacency:
        """What every edge has at its ends: entry (i, j) is what the edge between i and j has at j.

        0 is no edge, the others are the codes of `qwo.graph.marks`: circle, arrowhead and tail, as
        pcalg and Tetrad have them.
        """
        marks = marks_of(self.matrix)
        marks.flags.writeable = False
        return marks

    def values_at(self, i: int, j: int) -> dict[str, float]:
        """The values of a pair, by what they are; unknown ones are left out.

        They are rounded to six digits, which is more than draws and resamples can tell.
        """
        numbers = {name: round(float(matrix[i, j]), 6) for name, matrix in self.values.items()}
        return {name: number for name, number in numbers.items() if math.isfinite(number)}

    def edge_values(self) -> list[dict[str, float]]:
        """The values of each of the `edges`."""
        tails, heads = self.ends()
        return [self.values_at(i, j) for i, j in zip(tails.tolist(), heads.tolist(), strict=True)]

    def index(self, variable: str | int) -> int:
        """The place of a variable given by its name or by its place."""
        return as_column(self.names, variable, "the graph")

    def reordered(self, names: Sequence[str]) -> CausalGraph:
        """The same graph with its variables in another order."""
        wanted = check_names(names)
        if wanted == self.names:
            return self
        place = {name: k for k, name in enumerate(self.names)}
        strange = sorted(set(place) - set(wanted))
        absent = [name for name in wanted if name not in place]
        if strange:
            raise ColumnNameError(
                f"the graph has {listed(strange)}, which is not among the variables wanted; they "
                f"are {list_names(wanted)}",
                columns=strange,
            )
        if absent:
            raise ColumnNameError(
                f"the graph lacks {listed(absent)}; add it without edges, or leave it out of the "
                "data",
                columns=absent,
            )
        moved = np.ix_(*(2 * [[place[name] for name in wanted]]))
        values = {name: numbers[moved] for name, numbers in self.values.items()}
        return CausalGraph(wanted, self.matrix[moved], self.kind, self.metadata, values)

    def renamed(self, new_names: Mapping[str, str]) -> CausalGraph:
        """The same graph with some of its variables called otherwise."""
        if not isinstance(new_names, Mapping):
            raise ColumnNameError(f"got {new_names!r}; wanted new names by old ones, as in a dict")
        unknown = sorted({str(name) for name in new_names} - set(self.names))
        if unknown:
            raise ColumnNameError(f"there is no variable {listed(unknown)}", columns=unknown)
        names = tuple(new_names.get(name, name) for name in self.names)
        metadata = dict(self.metadata)
        if self.variables:
            metadata[VARIABLES] = {new_names.get(n, n): of for n, of in self.variables.items()}
        if self.targets:
            metadata[TARGETS] = {
                label: [new_names.get(n, n) for n in own] for label, own in self.targets.items()
            }
        return replace(self, names=names, metadata=metadata)

    def to_dag(self) -> CausalGraph:
        """The graph itself if it is a DAG, else `member` or the first of its class to be found."""
        if self.kind == "dag":
            return self
        self.refuse_cycles("no member of its class is a DAG")
        self.require_plain()
        dag, own = to_dag(self.matrix, self.names), self.member
        if own is not None and own.shape == dag.shape and (own >= (self.matrix == 1)).all():
            dag = own if np.array_equal(as_cpdag(own), as_cpdag(dag)) else dag
        return replace(self, matrix=dag, kind="dag")

    def to_cpdag(self) -> CausalGraph:
        """The graph itself if it is a CPDAG, else that of its class."""
        if self.kind == "cpdag":
            return self
        self.refuse_cycles("it has no Markov equivalence class")
        self.require_plain()
        return replace(self, matrix=as_cpdag(self.matrix, self.names), kind="cpdag")

    def refuse_cycles(self, why: str) -> None:
        """Raise `GraphError` for a graph with cycles, where a graph without them is wanted."""
        if self.kind == "cyclic":
            raise GraphError(f"the graph has cycles: {why}")

    def require_directed(self) -> None:
        """Raise `GraphError` for lines in a graph with cycles, where a directed graph is wanted."""
        if (self.matrix == 2).any():
            raise GraphError(
                "the graph has undirected edges and cycles; give the directed graph, which a "
                "result has as found.feedback.member"
            )

    def require_plain(self) -> None:
        """Refuse a graph with hidden causes where only DAGs and CPDAGs will do."""
        if self.is_mixed:
            raise GraphError(
                f"the graph is a {self.kind.upper()}, in which common causes may be hidden; wanted "
                "a DAG or a CPDAG. Of a result, `found.dag` is the best graph without hidden "
                "causes, and `found.effect(cause, effect)` knows what follows in spite of them"
            )

    def plot(self, **options: Any) -> Axes:
        """The graph as a picture, by `qwo.plot.plot_graph`, which says what the options are."""
        return display.drawn_by("plot_graph", self, **options)

    def to_networkx(self) -> nx.DiGraph[str]:
        """A NetworkX graph, in which an undirected edge is two arrows."""
        from qwo.graph.formats.objects import to_networkx

        return to_networkx(self)

    def to_frame(self) -> pd.DataFrame:
        """The edges as a pandas data frame: source, mark and target, and the values if any."""
        fields = (*Edge._fields, *self.values)
        rows = zip(self.edges, self.edge_values(), strict=True)
        return records_frame(
            fields, [(*edge, *(known.get(name) for name in self.values)) for edge, known in rows]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CausalGraph):
            return NotImplemented
        same = (self.names, self.kind, self.metadata) == (other.names, other.kind, other.metadata)
        return same and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((self.names, self.kind, self.matrix.tobytes()))

    def __repr__(self) -> str:
        listed = [short(str(edge)) for edge in self.edges[:6]]
        rest = ", …" if self.n_edges > len(listed) else ""
        edges = f": {', '.join(listed)}{rest}" if listed else ""
        return f"CausalGraph({self._counts()}{edges})"

    def __str__(self) -> str:
        return "\n".join([f"CausalGraph({self._counts()})", *display.edge_lines(self.edges)])

    def _repr_html_(self) -> str:
        size = self.n_variables, self.n_edges
        rows = ((edge.source, MARKS[edge.mark].symbol, edge.target) for edge in self.edges)
        return display.as_html(f"CausalGraph: {self._counts()}", self, size, EDGE_HEADER, rows)

    def _counts(self) -> str:
        n_variables, n_edges = count(self.n_variables, "variable"), count(self.n_edges, "edge")
        return f"{self.kind}, {n_variables}, {n_edges}"


EDGE_HEADER = ("from", "", "to")
"""The head of a table of edges."""


def ends_of(matrix: Adjacency) -> tuple[Indices, Indices]:
    """The ends of every edge of a partially directed graph once, in row order."""
    i, j = entries_of(matrix)
    code = matrix[i, j]
    once = FROM_HERE[code] | (ALIKE[code] & (i < j))
    return i[once], j[once]


def edges_of(names: Sequence[str], matrix: Adjacency) -> tuple[Edge, ...]:
    """Every edge of a partially directed graph once, in row order."""
    tails, heads = ends_of(matrix)
    codes = matrix[tails, heads]
    return tuple(
        Edge(names[i], BY_CODE[code], names[j])
        for i, j, code in zip(tails.tolist(), heads.tolist(), codes.tolist(), strict=True)
    )


def marks_of(matrix: Adjacency) -> Adjacency:
    """What every edge of a matrix has at its ends; see `CausalGraph.marks`."""
    marks = np.zeros_like(matrix)
    for mark in MARKS.values():
        forth, back = mark.codes
        there = (matrix == forth) & (back == matrix.T)
        marks[there], marks.T[there] = mark.ends[1], mark.ends[0]
    return marks


def matrix_of_marks(marks: Adjacency) -> Adjacency:
    """The matrix of what every edge has at its ends."""
    matrix = np.zeros_like(marks)
    for mark in MARKS.values():
        there = (mark.ends[0] == marks.T) & (marks == mark.ends[1])
        matrix[there], matrix.T[there] = mark.codes
    return matrix


def kind_of(matrix: Adjacency) -> Kind:
    """Without undirected edges it is that of a DAG, with ↔ of a MAG, with circles of a PAG."""
    largest = matrix.max(initial=0)
    return "pag" if largest > 3 else "mag" if largest > 2 else "cpdag" if largest > 1 else "dag"
