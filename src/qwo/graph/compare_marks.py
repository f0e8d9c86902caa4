"""Two classes with hidden causes side by side: marks, edges, arrowheads, tails and ↔."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np

from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.marks import HEAD, TAIL
from qwo.text import aligned, first_few
from qwo.types import Adjacency


@dataclass(frozen=True)
class MarkComparison:
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

    n_variables: int
    n_edges_estimated: int
    n_edges_true: int
    marks_wrong: int
    edge_f1: float
    arrowhead_f1: float
    tail_f1: float
    hidden_f1: float
    exact: bool
    missing: tuple[Edge, ...]
    extra: tuple[Edge, ...]
    retyped: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, as JSON and data frames take them."""
        told = asdict(self)
        for kind in ("missing", "extra", "retyped"):
            told[kind] = [list(edge) for edge in getattr(self, kind)]
        return told

    def __str__(self) -> str:
        edges = f"{self.n_edges_estimated} estimated, {self.n_edges_true} true"
        rows = [
            ("exact recovery", "yes" if self.exact else "no"),
            ("wrong marks", str(self.marks_wrong)),
            ("F1 of links", f"{self.edge_f1:.3f}"),
            ("F1 of arrowheads", f"{self.arrowhead_f1:.3f}"),
            ("F1 of tails", f"{self.tail_f1:.3f}"),
            ("F1 of ↔", f"{self.hidden_f1:.3f}"),
        ]
        lists = [
            f"{title:<9}{len(own):>5}  {first_few([str(edge) for edge in own], 8)}".rstrip()
            for title in ("missing", "extra", "retyped")
            for own in [getattr(self, title)]
        ]
        head = f"{self.n_variables} variables; edges: {edges}"
        return "\n".join([head, "", *aligned(rows), "", *lists])


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
    total = int(claimed.sum()) + int(true.sum())
    return 2 * int((claimed & true).sum()) / total if total else 1.0
