"""A graph over named variables: what the formats read and write, and the comparisons compare."""

from __future__ import annotations

from collections import Counter
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
        if isinstance(variable, str):
            if variable not in self.names:
                raise ColumnNameError(f"there is no variable {shown(variable)}", columns=[variable])
            return self.names.index(variable)
        if not 0 <= variable < len(self.names):
            raise ColumnNameError(
                f"there is no variable {variable}; wanted a name, or a number from 0 to "
                f"{len(self.names) - 1}"
            )
        return int(variable)

    def reordered(self, names: Sequence[str]) -> CausalGraph:
        """The same graph with its variables in another order."""
        if tuple(names) == self.names:
            return self
        place = {name: k for k, name in enumerate(self.names)}
        ours, theirs = set(place), set(names)
        if ours != theirs or len(names) != len(self.names):
            raise ColumnNameError(
                f"the variables differ: {_listed(ours - theirs)} only in the graph, "
                f"{_listed(theirs - ours)} only among the names wanted",
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
            raise ColumnNameError(f"there is no variable {_listed(unknown)}", columns=unknown)
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
        listed = [_short(str(edge)) for edge in islice(self.edges(), 6)]
        rest = ", …" if self.n_edges > len(listed) else ""
        edges = f": {', '.join(listed)}{rest}" if listed else ""
        counts = f"{_count(self.n_variables, 'variable')}, {_count(self.n_edges, 'edge')}"
        return f"CausalGraph({self.kind}, {counts}{edges})"


def default_names(n_variables: int) -> tuple[str, ...]:
    """X0, X1, …, as for data without names."""
    return tuple(f"X{index}" for index in range(n_variables))


def kind_of(matrix: Adjacency) -> Kind:
    """A matrix without undirected edges is read as a DAG."""
    return "cpdag" if (matrix == 2).any() else "dag"


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a graph's variables: at least one, each a string, none blank, none twice."""
    if isinstance(names, str):
        raise ColumnNameError(f"names is the single string {shown(names)}; wanted one per variable")
    labels = tuple(names)
    if not labels:
        raise ColumnNameError("the graph has no variables; wanted at least one")
    for place, label in enumerate(labels):
        if not isinstance(label, str):
            raise ColumnNameError(f"the name at place {place} is {label!r}; wanted a string")
        if not label.strip():
            raise ColumnNameError(f"the variable at place {place} has no name; give it one")
        if not _is_unicode(label):
            raise ColumnNameError(
                f"the name {shown(label)} holds half a surrogate pair and is not valid Unicode; "
                f"rename it",
                columns=[label],
            )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise ColumnNameError(
            f"names must be unique; {_listed(repeated)} occurs more than once; rename all but one",
            columns=repeated,
        )
    return labels


def _is_unicode(label: str) -> bool:
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    """A name in quotes for a message, cut if it is very long."""
    return repr(_short(name))


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _listed(names: Iterable[str], limit: int = 5) -> str:
    quoted = [shown(name) for name in sorted(names)]
    hidden = len(quoted) - limit
    text = ", ".join(quoted[:limit]) or "none"
    return f"{text} and {hidden} more" if hidden > 0 else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
