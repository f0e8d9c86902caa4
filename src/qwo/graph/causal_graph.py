"""A graph over named variables: what the formats read and write, and the comparisons compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from qwo.errors import ColumnNameError, GraphError
from qwo.graph.cpdag import as_cpdag
from qwo.graph.dag import topological_order
from qwo.graph.extension import to_dag
from qwo.graph.pdag import check_pdag
from qwo.names import as_column, check_names, default_names
from qwo.text import count, listed, short
from qwo.types import Adjacency, Indices

Kind = Literal["dag", "cpdag"]

ARROW = "-->"
LINE = "---"


class Edge(NamedTuple):
    """An edge by the names of its ends: ``-->`` from source to target, or ``---`` undirected."""

    source: str
    mark: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} {'→' if self.mark == ARROW else '—'} {self.target}"


@dataclass(frozen=True, eq=False, repr=False)
class CausalGraph:
    """A DAG, or the partially directed graph of an equivalence class, over named variables.

    Attributes
    ----------
    names : tuple of str
        The variables, in the order of the rows and columns; none blank, none twice.
    matrix : ndarray of int8, n×n, read-only
        1 = i → j; 2 = undirected, in both entries.
    kind : "dag" or "cpdag"
        A graph with undirected edges is never a "dag". One without them may be either: a CPDAG
        that is fully directed is the only member of its class.
    metadata : mapping
        Anything the user wants to keep with the graph. Only the JSON format stores it.
    """

    names: tuple[str, ...]
    matrix: Adjacency
    kind: Kind
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = check_names(self.names)
        matrix = check_pdag(self.matrix, names)
        if self.kind not in ("dag", "cpdag"):
            raise GraphError(f"kind is {self.kind!r}; wanted 'dag' or 'cpdag'")
        if self.kind == "dag" and (matrix == 2).any():
            raise GraphError(
                "a DAG has no undirected edges; give kind='cpdag', or use to_dag first"
            )
        topological_order(matrix == 1, names)
        if matrix.flags.writeable:
            matrix = matrix.copy()
            matrix.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike,
        names: Iterable[str] | None = None,
        kind: Kind | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> CausalGraph:
        """The graph of a matrix; without a kind, it is a DAG if it has no undirected edge."""
        checked = check_pdag(matrix)
        labels = check_names(names) if names is not None else default_names(len(checked))
        return cls(labels, checked, kind or kind_of(checked), metadata or {})

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """The number of edges, directed and undirected."""
        return int(np.count_nonzero(self.matrix == 1) + np.count_nonzero(self.matrix == 2) // 2)

    def ends(self) -> tuple[Indices, Indices]:
        """The ends of every edge once, in row order; an undirected edge from its first variable."""
        i, j = np.nonzero(self.matrix)
        once = (self.matrix[i, j] == 1) | (i < j)
        return i[once], j[once]

    def edges(self) -> Iterator[Edge]:
        """Every edge once, in row order."""
        tails, heads = self.ends()
        directed = self.matrix[tails, heads] == 1
        for i, j, arrow in zip(tails.tolist(), heads.tolist(), directed.tolist(), strict=True):
            yield Edge(self.names[i], ARROW if arrow else LINE, self.names[j])

    def index(self, variable: str | int) -> int:
        """The place of a variable given by its name or by its place."""
        return as_column(self.names, variable, "the graph")

    def reordered(self, names: Sequence[str]) -> CausalGraph:
        """The same graph with its variables in another order."""
        if tuple(names) == self.names:
            return self
        place = {name: k for k, name in enumerate(self.names)}
        ours, theirs = set(place), set(names)
        if ours != theirs or len(names) != len(self.names):
            raise ColumnNameError(
                f"the variables differ: {listed(ours - theirs)} only in the graph, "
                f"{listed(theirs - ours)} only among the names wanted",
                columns=sorted(ours ^ theirs),
            )
        order = [place[name] for name in names]
        return CausalGraph(
            tuple(names), self.matrix[np.ix_(order, order)], self.kind, self.metadata
        )

    def renamed(self, new_names: Mapping[str, str]) -> CausalGraph:
        """The same graph with some of its variables called otherwise."""
        unknown = sorted(set(new_names) - set(self.names))
        if unknown:
            raise ColumnNameError(f"there is no variable {listed(unknown)}", columns=unknown)
        names = tuple(new_names.get(name, name) for name in self.names)
        return CausalGraph(names, self.matrix, self.kind, self.metadata)

    def to_dag(self) -> CausalGraph:
        """The graph itself if it is a DAG, else a member of its class."""
        if self.kind == "dag":
            return self
        return CausalGraph(self.names, to_dag(self.matrix, self.names), "dag", self.metadata)

    def to_cpdag(self) -> CausalGraph:
        """The graph itself if it is a CPDAG, else that of its class."""
        if self.kind == "cpdag":
            return self
        return CausalGraph(self.names, as_cpdag(self.matrix, self.names), "cpdag", self.metadata)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CausalGraph):
            return NotImplemented
        same = (self.names, self.kind, self.metadata) == (other.names, other.kind, other.metadata)
        return same and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((self.names, self.kind, self.matrix.tobytes()))

    def __repr__(self) -> str:
        listed = [short(str(edge)) for edge in islice(self.edges(), 6)]
        rest = ", …" if self.n_edges > len(listed) else ""
        edges = f": {', '.join(listed)}{rest}" if listed else ""
        counts = f"{count(self.n_variables, 'variable')}, {count(self.n_edges, 'edge')}"
        return f"CausalGraph({self.kind}, {counts}{edges})"


def kind_of(matrix: Adjacency) -> Kind:
    """A matrix without undirected edges is read as a DAG."""
    return "cpdag" if (matrix == 2).any() else "dag"
