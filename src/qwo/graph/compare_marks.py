"""Two graphs side by side where causes may be hidden, or where there are cycles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from qwo.errors import GraphError
from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.cyclic_class import equivalence_class
from qwo.graph.marks import ARROW, HEAD, TAIL
from qwo.graph.pdag import to_dag
from qwo.text import aligned, first_few
from qwo.types import Adjacency, Mask


@dataclass(frozen=True)
class EdgeDifferences:
    """Base of comparisons: how many edges two graphs have, and lists of those that differ."""

    LISTS: ClassVar[tuple[str, ...]]

    n_variables: int
    n_edges_estimated: int
    n_edges_true: int

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, as JSON and data frames take them."""
        told = asdict(self)
        return told | {kind: [list(edge) for edge in told[kind]] for kind in self.LISTS}

    def _tables(self) -> list[list[tuple[str, ...]]]:
        """Tables of what was counted."""
        raise NotImplementedError

    def __str__(self) -> str:
        edges = f"{self.n_edges_estimated} estimated, {self.n_edges_true} true"
        lines = [f"{self.n_variables} variables; edges: {edges}", ""]
        for table in self._tables():
            lines += [*aligned(table), ""]
        for title in self.LISTS:
            own = getattr(self, title)
            lines.append(f"{title:<9}{len(own):>5}  {first_few(list(map(str, own)), 8)}".rstrip())
        return "\n".join(lines)


@dataclass(frozen=True)
class MarkComparison(EdgeDifferences):
    """How the marks of an estimated PAG differ from those of the true one.

    Attributes
    ----------
    n_variables, n_edges_estimated, n_edges_true : int
    marks_wrong : int
        Ends of edges that differ; an edge that is missing or extra counts twice.
    edge_f1, arrowhead_f1, tail_f1, hidden_f1 : float
        F1 scores of links, of both kinds of ends, and of ↔; 1 is perfect.
    exact : bool
        Whether all marks agree.
    missing, extra, retyped : tuple of Edge
        Edges of the truth that the estimate lacks, edges that it has and should not, and those of
        the estimate with another mark than in the truth.
    """

    LISTS = ("missing", "extra", "retyped")

    marks_wrong: int
    edge_f1: float
    arrowhead_f1: float
    tail_f1: float
    hidden_f1: float
    exact: bool
    missing: tuple[Edge, ...]
    extra: tuple[Edge, ...]
    retyped: tuple[Edge, ...]

    def _tables(self) -> list[list[tuple[str, ...]]]:
        rows: list[tuple[str, ...]] = [
            ("exact recovery", "yes" if self.exact else "no"),
            ("wrong marks", str(self.marks_wrong)),
            ("F1 of links", f"{self.edge_f1:.3f}"),
            ("F1 of arrowheads", f"{self.arrowhead_f1:.3f}"),
            ("F1 of tails", f"{self.tail_f1:.3f}"),
            ("F1 of ↔", f"{self.hidden_f1:.3f}"),
        ]
        return [rows]


def compare_marks(estimated: CausalGraph, truth: CausalGraph) -> MarkComparison:
    """Compare the PAGs of two graphs over the same variables in the same order."""
    ours, theirs = _pag(estimated), _pag(truth)
    found, true = (CausalGraph.from_marks(m, estimated.names) for m in (ours, theirs))
    pairs = np.triu(np.ones(ours.shape, bool), 1)
    own = {frozenset((e.source, e.target)): e for e in found.edges}
    real = {frozenset((e.source, e.target)): e for e in true.edges}
    spouses = [(m == HEAD) & (m.T == HEAD) & pairs for m in (ours, theirs)]
    return MarkComparison(
        n_variables=len(ours),
        n_edges_estimated=found.n_edges,
        n_edges_true=true.n_edges,
        marks_wrong=int((ours != theirs).sum()),
        edge_f1=_f1((ours != 0) & pairs, (theirs != 0) & pairs),
        arrowhead_f1=_f1(ours == HEAD, theirs == HEAD),
        tail_f1=_f1(ours == TAIL, theirs == TAIL),
        hidden_f1=_f1(*spouses),
        exact=bool(np.array_equal(ours, theirs)),
        missing=tuple(edge for pair, edge in real.items() if pair not in own),
        extra=tuple(edge for pair, edge in own.items() if pair not in real),
        retyped=tuple(e for pair, e in own.items() if pair in real and real[pair] != e),
    )


def _pag(graph: CausalGraph) -> Adjacency:
    """The marks of the class: of a DAG or CPDAG those that hold if causes may be hidden."""
    if graph.kind == "pag":
        return graph.marks
    # By name: the compiled module belongs to the whole package, which imports this one.
    rules: Any = import_module("qwo.graph.pag")
    known = graph.marks if graph.kind == "mag" else rules.dag_marks(graph.to_dag().matrix)
    marks: Adjacency = rules.pag_of_mag(known)
    return marks


def _f1(claimed: Any, true: Any) -> float:
    return _f1_of(int((claimed & true).sum()), int(claimed.sum()) + int(true.sum()))


@dataclass(frozen=True)
class CyclicComparison(EdgeDifferences):
    """How a graph differs from the true one, where one of them has cycles.

    Attributes
    ----------
    n_variables, n_edges_estimated, n_edges_true : int
    link_f1, arrow_f1 : float
        F1 scores of linked pairs and of arrows, each of the two of a cycle of two for itself.
    shd : int
        Arrows that only one of the graphs has; a line counts for the arrow that fits.
    shd_nearest : int
        The same to the nearest of all graphs that have the distributions of the true one.
    members : int
        How many of those there are.
    complete : bool
        Whether all of them were gone through: up to 1000 for each part of the graph.
    exact : bool
        Whether the estimated graph is one of them.
    missing, extra : tuple of Edge
        Arrows of the nearest that the estimate lacks, and arrows that it has beyond those.
    """

    LISTS = ("missing", "extra")

    link_f1: float
    arrow_f1: float
    shd: int
    shd_nearest: int
    members: int
    complete: bool
    exact: bool
    missing: tuple[Edge, ...]
    extra: tuple[Edge, ...]

    def _tables(self) -> list[list[tuple[str, ...]]]:
        most = "" if self.complete else "at least "
        rows: list[tuple[str, ...]] = [
            ("one of the true class", "yes" if self.exact else "no"),
            ("F1 of links", f"{self.link_f1:.3f}"),
            ("F1 of arrows", f"{self.arrow_f1:.3f}"),
            ("arrows that differ", str(self.shd)),
            (f"from the nearest of {most}{self.members}", str(self.shd_nearest)),
        ]
        return [rows]


def compare_cyclic(estimated: CausalGraph, truth: CausalGraph) -> CyclicComparison:
    """Compare two graphs over the same variables in the same order, either with cycles or both.

    Of a class without cycles a member is taken; a true graph with cycles must be directed.
    """
    true = _directed(truth)
    if (true == 2).any():
        raise GraphError("the true graph has cycles and undirected edges; give a directed graph")
    ours = estimated.matrix if estimated.kind == "cyclic" else _directed(estimated)
    nearest, members, complete = _nearest(ours, true)
    missing, extra = _lacks(nearest, ours), _lacks(ours, nearest)
    links = [(m != 0) | (m.T != 0) for m in (ours, true)]
    shared = int((true == 1).sum()) - int(_lacks(true, ours).sum())
    return CyclicComparison(
        n_variables=len(true),
        n_edges_estimated=estimated.n_edges,
        n_edges_true=truth.n_edges,
        link_f1=_f1(*links),
        arrow_f1=_f1_of(shared, _count(ours) + _count(true)),
        shd=_distance(ours, true),
        shd_nearest=int(missing.sum() + extra.sum()),
        members=members,
        complete=complete,
        exact=not missing.any() and not extra.any(),
        missing=_named(missing, estimated.names),
        extra=_named(extra, estimated.names),
    )


def _directed(graph: CausalGraph) -> Adjacency:
    return graph.matrix if graph.kind == "cyclic" else to_dag(graph.matrix, graph.names)


def _lacks(one: Adjacency, other: Adjacency) -> Mask:
    """Arrows of one graph that the other has not; a line is the arrow that fits."""
    lines = np.triu(one == 2) & (other == 0) & (other.T == 0)
    both = np.triu((one == 1) & (one.T == 1)) & (other == 2)
    return np.asarray(((one == 1) & (other == 0)) | lines | both)


def _distance(one: Adjacency, other: Adjacency) -> int:
    return int(_lacks(one, other).sum() + _lacks(other, one).sum())


def _count(graph: Adjacency) -> int:
    return int((graph == 1).sum() + (graph == 2).sum() // 2)


def _nearest(ours: Adjacency, true: Adjacency) -> tuple[Adjacency, int, bool]:
    """The nearest graph of a class, block by block, and how many graphs there are.

    Coefficients that are drawn have no zeros but those that the graph asks for.
    """
    drawn = np.random.default_rng(0).uniform(0.3, 0.9, true.shape) * true.T
    chosen, members, complete = np.zeros_like(true), 1, True
    for block in equivalence_class(drawn, np.linspace(0.7, 1.3, len(true))):
        own = np.array(block.variables)
        # Each block has the arrows into its variables.
        part = np.zeros_like(true)
        part[:, own] = ours[:, own]
        best = min(block.members, key=lambda m: _distance(part, m.graph))
        chosen[:, own] = best.graph[:, own]
        members *= len(block.members)
        complete &= block.complete
    return chosen, members, complete


def _named(arrows: Mask, names: tuple[str, ...]) -> tuple[Edge, ...]:
    return tuple(Edge(names[i], ARROW, names[j]) for i, j in np.argwhere(arrows).tolist())


def _f1_of(hits: int, claims: int) -> float:
    return 2 * hits / claims if claims else 1.0
