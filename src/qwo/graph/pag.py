"""MAGs and PAGs: what a DAG implies for its measured variables when some of its causes are hidden.

Matrices hold marks: entry (i, j) is what the edge between i and j has at j, 0 for no edge, else
`CIRCLE`, `HEAD` or `TAIL`.

A MAG has an edge where no set of measured variables separates two of them. Its end at i is a tail
if i causes j, else an arrowhead. A PAG has the marks that all MAGs of the same independences share,
and circles where they differ. There is no selection of rows, and no feedback.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.dag import ancestor_matrix, check_dag, closure
from qwo.graph.marks import HEAD, TAIL
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.names import default_names
from qwo.types import Adjacency, Indices, Mask

NO_MASK: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)


def dag_marks(dag: Adjacency) -> Adjacency:
    """The marks of a DAG."""
    arrows = np.asarray(dag) != 0
    marks: Adjacency = (HEAD * arrows + TAIL * arrows.T).astype(np.int8)
    return marks


def mag_of_dag(dag: Adjacency, hidden: Iterable[int] = ()) -> tuple[Adjacency, Indices]:
    """The marks of the MAG of a DAG, some of its variables hidden; and which are measured."""
    matrix = check_dag(dag)
    out = np.zeros(len(matrix), bool)
    out[list(hidden)] = True
    measured = np.flatnonzero(~out)
    order = np.concatenate([measured, np.flatnonzero(out)])
    marks = np.ascontiguousarray(dag_marks(matrix[np.ix_(order, order)]))
    return _core.mag_of_dag(marks, len(measured)), measured


def true_pag(dag: Adjacency, hidden: int) -> CausalGraph:
    """What can be found of a DAG whose last variables are hidden: its class over the others."""
    n = len(dag) - hidden
    marks = pag_of_mag(mag_of_dag(dag, range(n, len(dag)))[0])
    return CausalGraph.from_marks(marks, default_names(n))


def pag_of_mag(
    mag: Adjacency, knowledge: ResolvedKnowledge | None = None, clear: Mask | None = None
) -> Adjacency:
    """The marks of the class of a MAG, by Zhang's rules 1 to 4 and 8 to 10.

    With knowledge, arrowheads and tails that it implies are made first. That i cannot cause j says
    that the end of their edge at i is an arrowhead, and nothing of the other end, since something
    hidden may cause both; only a required edge has a tail, and one of a pair that is ``clear`` of
    hidden causes.
    """
    return _core.pag_of_mag(_marks(mag), **mark_limits(knowledge, clear))


def mark_limits(
    knowledge: ResolvedKnowledge | None, clear: Mask | None = None
) -> dict[str, npt.NDArray[np.uint8]]:
    """Ends that are no tails, required edges, pairs without a hidden cause, for the core."""
    return {
        "no_tail": NO_MASK if knowledge is None else _bytes(knowledge.forbidden),
        "required": NO_MASK if knowledge is None else _bytes(knowledge.required),
        "clear": NO_MASK if clear is None else _bytes(clear),
    }


def mag_of_pag(pag: Adjacency) -> Adjacency:
    """The member of a class in which each o→ is →, and each o–o directed without new colliders."""
    return _core.mag_of_pag(_marks(pag))


def is_mag(marks: Adjacency) -> bool:
    """Whether these are the marks of a MAG: ancestral and maximal, edges → and ↔ only."""
    return _core.is_mag(_marks(marks))


def is_pag(marks: Adjacency) -> bool:
    """Whether these are the marks of a class of MAGs."""
    return _core.is_pag(_marks(marks))


def orient_by_sets(marks: Adjacency, separating: Mask) -> Adjacency:
    """Zhang's rules on a graph with its colliders; [l, j, k]: k is in what separates l and j."""
    return _core.orient_by_sets(_marks(marks), _bytes(separating))


def _marks(marks: Adjacency) -> Adjacency:
    return np.ascontiguousarray(marks, dtype=np.int8)


def _bytes(mask: Mask) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(mask, dtype=np.uint8)


def ancestors_in(marks: Adjacency) -> Mask:
    """Entry (i, j) says that a path of → leads from i to j."""
    return ancestor_matrix(((marks == HEAD) & (marks.T == TAIL)).astype(np.int8))


def definite_causes(pag: Adjacency) -> Mask:
    """Entry (i, j) says that i causes j in every graph of the class.

    A path of → leads there; or i is no collider between two variables without an edge, so that it
    causes one of them, and uncovered possibly directed paths lead on from both.
    """
    causes, steps = ancestors_in(pag), possibly_directed(pag)
    for i in range(len(pag)):
        ahead = {a: _uncovered(pag, steps, i, a) for a in np.flatnonzero(steps[i]).tolist()}
        for a, b in combinations(ahead, 2):
            if not pag[a, b]:
                causes[i, list(ahead[a] & ahead[b])] = True
    return causes


def _uncovered(pag: Adjacency, steps: Mask, i: int, first: int) -> set[int]:
    """Ends of possibly directed paths i, first, … without an edge between second neighbours."""
    seen, stack = {(i, first)}, [(i, first)]
    while stack:
        u, v = stack.pop()
        ends = set(np.flatnonzero(steps[v] & (pag[u] == 0)).tolist()) - {i, u}
        stack += (new := {(v, w) for w in ends} - seen)
        seen |= new
    return {v for _, v in seen}


def possibly_directed(pag: Adjacency) -> Mask:
    """Entry (i, j) says that the edge between them may point from i to j."""
    steps: Mask = (pag != 0) & (pag != TAIL) & (pag.T != HEAD)
    return steps


def possible_causes(pag: Adjacency) -> Mask:
    """Entry (i, j) says that some graph of the class may have i among the causes of j.

    A possibly directed path leads from i to j: no end on it that comes first is an arrowhead, none
    that comes last a tail.
    """
    reach: Mask = closure(possibly_directed(pag)) & ~np.eye(len(pag), dtype=bool)
    return reach
