"""Two graphs over the same variables side by side: every distance, and the edges that differ.

Graphs are matrices in the same order, or anything that `as_graph` takes, matched by name; counts
are over pairs of variables or over arrowheads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.adjustment import AdjustmentDistance, adjustment_distance
from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.coercion import same_variables
from qwo.graph.compare_marks import (
    CyclicComparison,
    EdgeDifferences,
    MarkComparison,
    compare_cyclic,
    compare_marks,
)
from qwo.graph.cpdag import as_cpdag
from qwo.graph.dag import entries_of
from qwo.graph.pdag import check_pdag
from qwo.types import Adjacency, Indices, Mask


@dataclass(frozen=True)
class Agreement:
    """Precision, recall and F1 of a set of claims, from its counts.

    Claiming nothing is precise, and nothing to find is all found: 0/0 counts as 1.
    """

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float:
        """The share of the claims that are true."""
        return _share(self.true_positives, self.false_positives)

    @property
    def recall(self) -> float:
        """The share of the truth that was claimed."""
        return _share(self.true_positives, self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN)."""
        return _share(2 * self.true_positives, self.false_positives + self.false_negatives)


def _share(hits: int, misses: int) -> float:
    return hits / (hits + misses) if hits + misses else 1.0


def adjacency_agreement(estimated: Any, truth: Any) -> Agreement:
    """Agreement of the skeletons: each adjacent pair of variables is one claim."""
    claimed, true = matrix_pair(estimated, truth)
    return _agreement(_pairs(claimed != 0), _pairs(true != 0))


def arrowhead_agreement(estimated: Any, truth: Any) -> Agreement:
    """Agreement of the arrowheads of the two graphs as given: each i → j is one claim.

    An undirected edge claims none. Compare CPDAG with CPDAG, or DAG with DAG.
    """
    claimed, true = matrix_pair(estimated, truth)
    return _agreement(np.flatnonzero(claimed == 1), np.flatnonzero(true == 1))


def _agreement(claimed: Indices, true: Indices) -> Agreement:
    """Agreement of two sets of claims, each given by the sorted numbers of its members."""
    hits = np.intersect1d(claimed, true, assume_unique=True).size
    return Agreement(hits, claimed.size - hits, true.size - hits)


def _pairs(entries: Mask) -> Indices:
    """Numbers of the unordered pairs {i, j} for which entry (i, j) or (j, i) is set."""
    i, j = entries_of(entries)
    return np.unique(np.minimum(i, j) * len(entries) + np.maximum(i, j))


def skeleton_f1(estimated: Any, truth: Any) -> float:
    """SKF1: the F1 score between the skeletons of the two graphs; 1 is perfect."""
    return adjacency_agreement(estimated, truth).f1


def shd(estimated: Any, truth: Any) -> int:
    """Structural Hamming distance: the number of pairs whose edge differs, in any way.

    An edge added, removed, reversed or of another type counts 1. The graphs are compared as they
    are given: DAG with DAG, or CPDAG with CPDAG.
    """
    first, second = matrix_pair(estimated, truth)
    return _pairs(first != second).size


def pshd(estimated: Any, truth: Any) -> float:
    """PSHD: changes (addition, removal, type) between the two CPDAGs, divided by n.

    DAGs are replaced by the CPDAGs of their equivalence classes first.
    """
    first, second = matrix_pair(estimated, truth)
    return shd(as_cpdag(first), as_cpdag(second)) / max(len(first), 1)


def exact_recovery(estimated: Any, truth: Any) -> bool:
    """Whether the two graphs stand for the same equivalence class."""
    first, second = matrix_pair(estimated, truth)
    return bool(np.array_equal(as_cpdag(first), as_cpdag(second)))


def matrix_pair(estimated: Any, truth: Any) -> tuple[Adjacency, Adjacency]:
    """The matrices of two graphs over the same variables, matched by name where both have any."""
    if not (isinstance(estimated, np.ndarray) and isinstance(truth, np.ndarray)):
        ours, theirs = same_variables(estimated, truth)
        return ours.matrix, theirs.matrix
    first, second = check_pdag(estimated), check_pdag(truth)
    if first.shape != second.shape:
        raise GraphError(
            f"the graphs must be over the same variables; got {len(first)} and {len(second)}"
        )
    return first, second


@dataclass(frozen=True)
class Comparison(EdgeDifferences):
    """How an estimated graph differs from the truth.

    All but ``shd_dag`` and ``aid`` compare the CPDAGs of the two graphs.

    Attributes
    ----------
    n_variables, n_edges_estimated, n_edges_true : int
    skeleton_f1 : float
        SKF1, the F1 score of the skeletons.
    pshd : float
        PSHD, the SHD of the CPDAGs divided by the number of variables.
    shd_cpdag : int
        Pairs of variables whose edge differs in any way.
    shd_tetrad : int
        Tetrad's SHD, which counts a directed edge that is missing or extra twice.
    shd_dag : int or None
        The SHD of the graphs as given, if both are DAGs.
    adjacency, arrowhead : Agreement
        True and false positives, precision, recall and F1.
    exact : bool
        Whether the graphs stand for the same equivalence class.
    missing, extra, reversed, retyped : tuple of Edge
        The edges that make up ``shd_cpdag``: those of the truth that the estimate lacks, those of
        the estimate that the truth lacks, and those of the estimate that point the other way or
        are directed in one graph only.
    aid : AdjustmentDistance or None
        For the graphs as given; None without the package gadjid.
    """

    LISTS = ("missing", "extra", "reversed", "retyped")

    skeleton_f1: float
    pshd: float
    shd_cpdag: int
    shd_tetrad: int
    shd_dag: int | None
    adjacency: Agreement
    arrowhead: Agreement
    exact: bool
    missing: tuple[Edge, ...]
    extra: tuple[Edge, ...]
    reversed: tuple[Edge, ...]
    retyped: tuple[Edge, ...]
    aid: AdjustmentDistance | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, as JSON and data frames take them."""
        result = super().to_dict()
        for claim in ("adjacency", "arrowhead"):
            agreement: Agreement = getattr(self, claim)
            del result[claim]
            for part in ("precision", "recall", "f1"):
                result[f"{claim}_{part}"] = getattr(agreement, part)
        del result["aid"]
        for part in ("ancestor", "parent", "oset"):
            result[f"{part}_aid"] = None if self.aid is None else getattr(self.aid, part)
        return result

    def _tables(self) -> list[list[tuple[str, ...]]]:
        return [self._values(), self._agreements()]

    def _values(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            ("exact recovery", "yes" if self.exact else "no"),
            ("SKF1", f"{self.skeleton_f1:.3f}"),
            ("PSHD", f"{self.pshd:.3f}"),
            ("SHD of the CPDAGs", str(self.shd_cpdag)),
            ("SHD as Tetrad counts", str(self.shd_tetrad)),
        ]
        if self.shd_dag is not None:
            rows.append(("SHD of the DAGs", str(self.shd_dag)))
        if self.aid is not None:
            rows += [
                ("ancestor AID", f"{self.aid.ancestor:.3f}"),
                ("parent AID", f"{self.aid.parent:.3f}"),
                ("Oset AID", f"{self.aid.oset:.3f}"),
            ]
        return rows

    def _agreements(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("", "precision", "recall", "F1")]
        for title, agreement in (("adjacencies", self.adjacency), ("arrowheads", self.arrowhead)):
            parts = (agreement.precision, agreement.recall, agreement.f1)
            rows.append((title, *(f"{part:.3f}" for part in parts)))
        return rows


def compare(
    estimated: object, truth: object, *, aid: bool | None = None
) -> Comparison | MarkComparison | CyclicComparison:
    """How an estimated graph differs from the true one, by every measure.

    Parameters
    ----------
    estimated, truth : object
        Anything that `as_graph` takes. Variables are matched by name; a bare matrix has the
        variables of the other graph, in the same order.
    aid : bool, optional
        Whether to compute the adjustment identification distances, which takes the package gadjid
        (``pip install gadjid``) and graphs that are DAGs or valid CPDAGs. By default, if both
        are given.

    Returns
    -------
    Comparison, MarkComparison or CyclicComparison
        The second if a graph is a MAG or PAG: the classes with hidden causes are compared then. The
        last if a graph has cycles: it is compared with the nearest graph of the true class.
    """
    first, second = same_variables(estimated, truth, mixed=True)
    if first.is_mixed or second.is_mixed:
        return compare_marks(first, second)
    if "cyclic" in (first.kind, second.kind):
        return compare_cyclic(first, second)
    ours, theirs = as_cpdag(first.matrix, first.names), as_cpdag(second.matrix, second.names)
    both_dags = first.kind == second.kind == "dag"
    missing, extra, turned, retyped = _differing_edges(
        CausalGraph(first.names, ours, "cpdag"), CausalGraph(first.names, theirs, "cpdag")
    )
    distance, adjacency = shd(ours, theirs), adjacency_agreement(ours, theirs)
    return Comparison(
        n_variables=first.n_variables,
        n_edges_estimated=first.n_edges,
        n_edges_true=second.n_edges,
        skeleton_f1=adjacency.f1,
        pshd=distance / first.n_variables,
        shd_cpdag=distance,
        shd_tetrad=tetrad_shd(ours, theirs),
        shd_dag=shd(first.matrix, second.matrix) if both_dags else None,
        adjacency=adjacency,
        arrowhead=arrowhead_agreement(ours, theirs),
        exact=distance == 0,
        missing=missing,
        extra=extra,
        reversed=turned,
        retyped=retyped,
        aid=adjustment_distance(first, second, aid),
    )


def tetrad_shd(estimated: Any, truth: Any) -> int:
    """Tetrad's structural Hamming distance between the CPDAGs of two graphs.

    An edge of both graphs that differs counts 1. An edge of one graph only counts 1 if it is
    undirected, and 2 if it is directed: one for the edge, one for its direction.
    """
    first, second = (as_cpdag(graph) for graph in matrix_pair(estimated, truth))
    arrows = 0
    for graph, other in ((first, second), (second, first)):
        i, j = np.nonzero(graph == 1)
        arrows += int(np.count_nonzero((other[i, j] == 0) & (other[j, i] == 0)))
    return shd(first, second) + arrows


def _differing_edges(claimed: CausalGraph, true: CausalGraph) -> tuple[tuple[Edge, ...], ...]:
    """The edges missing, extra, reversed, and directed in one graph only."""
    i, j = true.ends()
    missing = (claimed.matrix[i, j] == 0) & (claimed.matrix[j, i] == 0)
    i, j = claimed.ends()
    ours, forth, back = claimed.matrix[i, j], true.matrix[i, j], true.matrix[j, i]
    extra = (forth == 0) & (back == 0)
    turned = (ours == 1) & (forth == 0) & (back == 1)
    retyped = ~extra & ((ours == 2) != (forth == 2))
    return (
        tuple(compress(true.edges, missing)),
        tuple(compress(claimed.edges, extra)),
        tuple(compress(claimed.edges, turned)),
        tuple(compress(claimed.edges, retyped)),
    )
