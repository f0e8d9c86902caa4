"""How far an estimated graph is from the truth.

Graphs are DAGs (0/1) or CPDAGs (1 = i → j, 2 = undirected) over the same variables: matrices in the
same order, or anything that `as_graph` takes, matched by name. All counts are over pairs of
variables or over arrowheads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.errors import GraphError
from qwo.graph.coercion import same_variables
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
