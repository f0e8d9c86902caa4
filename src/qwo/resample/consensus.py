"""One graph for many: the adjacencies that most replicates have, with an acyclic orientation.

A pair is adjacent if its support reaches the threshold. Its mark is the most frequent of i → j,
j → i and undirected; of equally frequent ones, undirected, then the direction of lower columns.
Arrows are then taken up from the best supported one down, and one that would close a cycle with
those before it is made undirected. What is undirected in the end is oriented as in Dor and Tarsi's
algorithm: again and again a vertex without children comes last, one whose undirected neighbours
become its parents without a new v-structure if there is one, else one with the fewest. If the marks
are those of a CPDAG, the result is a member of its class.

Background knowledge has the last word: required arrows come first, tiers count as arrows, and a
pair whose only direction left is forbidden is left out.
"""

from __future__ import annotations

import numpy as np

from qwo.graph.pdag import PartialDag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray, Mask

Shares = FloatArray


def consensus(
    directed: Shares, undirected: Shares, threshold: float, knowledge: ResolvedKnowledge | None
) -> Adjacency:
    """The acyclic consensus of replicates.

    Parameters
    ----------
    directed, undirected : ndarray, n×n
        The shares of replicates with i → j, and with i — j.
    threshold : float
        The share of replicates in which a pair must be adjacent.
    knowledge : ResolvedKnowledge, optional
        What the result must not violate.
    """
    n = len(directed)
    never = np.zeros((n, n), dtype=np.bool_)
    before = never if knowledge is None else knowledge.before
    forbidden = never if knowledge is None else knowledge.forbidden
    marks = majority_marks(directed, undirected, threshold)
    if knowledge is not None:
        marks[knowledge.required.T] = 0
        marks[knowledge.required] = 1
    support = np.where(never if knowledge is None else knowledge.required, 2.0, directed)
    _break_cycles(marks, support, before, forbidden)
    return _extend(PartialDag.from_matrix(marks), marks, directed, before)


def majority_marks(directed: Shares, undirected: Shares, threshold: float) -> Adjacency:
    """The most frequent mark of every pair that reaches the threshold, as a CPDAG's matrix."""
    adjacent = directed + directed.T + undirected >= threshold - 1e-12
    np.fill_diagonal(adjacent, False)
    forth = directed > undirected
    first = np.triu(np.ones(directed.shape, dtype=np.bool_))
    wins = np.where(first, directed >= directed.T, directed > directed.T)
    marks = np.zeros(directed.shape, dtype=np.int8)
    marks[adjacent & forth & wins] = 1
    marks[adjacent & ~(forth | forth.T)] = 2
    return marks


def _break_cycles(marks: Adjacency, support: Shares, before: Mask, forbidden: Mask) -> None:
    """Make arrows that close a cycle with better supported ones undirected, or remove them."""
    reach = before | np.eye(len(marks), dtype=np.bool_)
    tails, heads = np.nonzero(marks == 1)
    # A stable sort: of equally supported arrows, those of lower columns come first.
    for k in np.argsort(-support[tails, heads], kind="stable"):
        i, j = tails[k], heads[k]
        if not reach[j, i]:
            reach[reach[:, i]] |= reach[j]
        elif forbidden[j, i]:
            marks[i, j] = 0
        else:
            marks[i, j] = marks[j, i] = 2


def _extend(graph: PartialDag, marks: Adjacency, directed: Shares, before: Mask) -> Adjacency:
    """A DAG with the arrows and the adjacencies of the graph, and few new v-structures."""
    dag: Adjacency = (marks == 1).astype(np.int8)
    waiting = np.count_nonzero(before, axis=1)
    costs = {v: _cost(graph, v, directed) for v in range(len(marks))}
    while costs:
        free = [v for v in costs if not graph.children[v] and waiting[v] == 0]
        last = min(free, key=costs.__getitem__)
        dag[list(graph.neighbours[last]), last] = 1
        touched = graph.linked(last)
        graph.remove(last)
        waiting -= before[:, last]
        del costs[last]
        costs.update({v: _cost(graph, v, directed) for v in touched})
    return dag


def _cost(graph: PartialDag, vertex: int, directed: Shares) -> tuple[int, float, int]:
    """What speaks against a vertex as the last: new v-structures, arrows seen the other way."""
    neighbours, linked = graph.neighbours[vertex], graph.linked(vertex)
    colliders = sum(len(linked - graph.linked(u)) - 1 for u in neighbours)
    against = sum(float(directed[vertex, u] - directed[u, vertex]) for u in sorted(neighbours))
    return colliders, against, vertex
