"""DAGs that were drawn, as bits over lists of candidate parents, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.bayes.candidates import Lists, Masks
from qwo.errors import KnowledgeError
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray

SOME = 400
"""Draws whose classes are candidates for the graph of least distance; and all whose classes are
counted where knowledge directs edges, which takes a hundred times as long."""


class PairProbability(NamedTuple):
    """How probable it is that two variables are linked, and which way; see `Posterior.to_records`.

    Attributes
    ----------
    first, second : str
        The variables, in column order.
    link : float
        Probability of an edge between them, whichever way.
    forward, backward : float
        Probability of first → second, and of first ← second; they add up to ``link``.
    arrow_forward, arrow_backward, undirected : float
        Probability that the equivalence class of the graph directs the edge forward, directs it
        backward, or leaves it open; they add up to ``link``. Two graphs of a class are equally
        probable (BGe), so that an open edge says that data alone cannot tell.
    graph : str
        The mark in the graph of least expected distance: ``"-->"``, ``"<--"``, ``"---"`` or ``""``.
    rhat : float
        The larger R̂ of the two edges.
    """

    first: str
    second: str
    link: float
    forward: float
    backward: float
    arrow_forward: float
    arrow_backward: float
    undirected: float
    graph: str
    rhat: float

    @property
    def line(self) -> str:
        """The pair as a line of a summary."""
        numbers = f"{self.link:6.1%}{self.forward:7.1%}{self.backward:7.1%}"
        return f"{numbers}   {self.first}, {self.second}"


@dataclass(frozen=True, eq=False)
class DrawnDags:
    """DAGs, one for each row of ``masks``.

    Bit b of entry v says that ``candidates[v][b]`` is a parent of v; core parents are in every DAG.
    """

    masks: Masks
    candidates: Lists
    core: Lists
    knowledge: ResolvedKnowledge | None

    def __iter__(self) -> Iterator[Adjacency]:
        return map(self.dag, self.masks)

    def dag(self, mask: npt.NDArray[np.uint32]) -> Adjacency:
        """The matrix of one draw."""
        matrix = np.zeros((len(self.core), len(self.core)), dtype=np.int8)
        lists = zip(mask.tolist(), self.candidates, self.core, strict=True)
        for v, (bits, listed, core) in enumerate(lists):
            matrix[[u for b, u in enumerate(listed) if bits >> b & 1] + core, v] = 1
        return matrix

    def class_of(self, dag: Adjacency) -> Adjacency:
        """The equivalence class of a DAG, or what knowledge leaves of it."""
        return to_cpdag(dag) if self.knowledge is None else to_mpdag(dag, self.knowledge)

    @cached_property
    def relations(self) -> tuple[FloatArray, FloatArray]:
        """Shares of draws with a path from i to j, and with j in the Markov blanket of i."""
        masks = np.ascontiguousarray(self.masks)
        paths, blankets = _core.count_relations(self.candidates, self.core, masks)
        return frozen(paths / len(masks)), frozen(blankets / len(masks))

    @cached_property
    def some_classes(self) -> tuple[list[Adjacency], list[int]]:
        """The classes of draws that lie evenly spread, each DAG once, and how often it is there."""
        chosen = self.masks[:: max(1, len(self.masks) // SOME)]
        unique, counts = np.unique(chosen, axis=0, return_counts=True)
        return [self.class_of(self.dag(mask)) for mask in unique], counts.tolist()

    @cached_property
    def class_counts(self) -> tuple[FloatArray, FloatArray]:
        """How many draws have a class with i → j, and with i — j."""
        if self.knowledge is None:
            masks = np.ascontiguousarray(self.masks)
            return _core.count_classes(self.candidates, self.core, masks)
        arrows, lines = np.zeros((2, len(self.core), len(self.core)))
        for graph, count in zip(*self.some_classes, strict=True):
            arrows += count * (graph == 1)
            lines += count * (graph == 2)
        return arrows, lines


def class_probabilities(drawn: DrawnDags, links: FloatArray) -> FloatArray:
    """P(no edge), P(i → j), P(i ← j) and P(i — j) in the class: an array 4×n×n.

    The probability of a link, times the share of the draws with that link whose class has the mark:
    the three marks add up to the link, which is known better than any count of draws tells.
    """
    arrows, lines = drawn.class_counts
    linked = np.maximum(arrows + arrows.T + lines, 1.0)
    marks = np.stack([arrows, arrows.T, lines]) / linked * links
    return frozen(np.concatenate([1 - marks.sum(axis=0)[None], marks]))


def likely_dags(
    edges: FloatArray, links: FloatArray, knowledge: ResolvedKnowledge | None
) -> Iterator[Adjacency]:
    """The DAGs of the likely edges and of the likely links, where knowledge allows them."""
    for weights in (edges, np.where(edges >= edges.T, links, 0.0)):
        dag = greedy_dag(weights)
        try:
            if knowledge is not None:
                knowledge.check_dag(dag)
        except KnowledgeError:
            continue
        yield dag


def greedy_dag(weights: FloatArray) -> Adjacency:
    """The edges with a weight above 1/2, from the heaviest on, but none that closes a cycle."""
    n = len(weights)
    dag = np.zeros((n, n), dtype=np.int8)
    reaches = np.eye(n, dtype=np.bool_)
    edges = np.argwhere(weights > 0.5)
    for i, j in edges[np.argsort(-weights[edges[:, 0], edges[:, 1]], kind="stable")].tolist():
        if not reaches[j, i]:
            dag[i, j] = 1
            reaches |= np.outer(reaches[:, i], reaches[j])
    return dag


def expected_shd(graph: Adjacency, shares: FloatArray) -> float:
    """Σ over pairs of the probability that the class of the truth has another mark."""
    code = np.where(graph == 2, 3, np.where(graph == 1, 1, np.where(graph.T == 1, 2, 0)))
    agreed = np.take_along_axis(shares, code[None].astype(np.intp), axis=0)[0]
    return float(np.triu(1 - agreed, 1).sum())


def frozen(array: FloatArray) -> FloatArray:
    """The array, read-only."""
    array.setflags(write=False)
    return array
