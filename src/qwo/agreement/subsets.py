"""Whether the graphs of some of the variables deny what the graph of all says.

If a DAG G is right, it also says what the graph of a subset S of its variables
looks like: a and b in S are linked, whatever one conditions on within S, unless their ancestors in
S separate them in G. And an arrow a → b that the search draws within S cannot stand where b is an
ancestor of a in G. Contradictions need no ground truth to be counted (Faller, Vankadara,
Mastakouri, Locatello and Janzing 2024). Links that S has beyond those of G are not counted: leaving
out a common cause of two variables makes them, rightly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qwo.agreement.families import Correlations
from qwo.graph.cpdag import to_cpdag
from qwo.graph.dag import ancestor_matrix
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.names import default_names
from qwo.order.bic import BicEngine
from qwo.order.linalg import precision_matrix
from qwo.search.control import bic_insertion
from qwo.search.start import r2_order
from qwo.types import Adjacency, Indices, Mask

SHARE, MOST = 0.7, 20
"""The share of variables in a subset, and how many at most: pairs are separated one by one."""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """How often graphs of subsets deny what the graph of all says, of how many chances."""

    missing: int
    turned: int
    chances: int

    @property
    def rate(self) -> float:
        """Contradictions per chance."""
        return (self.missing + self.turned) / max(self.chances, 1)


def contradictions(
    data: Correlations,
    dag: Adjacency,
    penalty_discount: float,
    subsets: list[Indices],
    knowledge: ResolvedKnowledge | None = None,
) -> Contradictions:
    """Contradictions between a DAG and the graphs that the search finds in subsets."""
    above = ancestor_matrix(dag)
    missing = turned = chances = 0
    for chosen in subsets:
        part = np.ix_(chosen, chosen)
        known = None if knowledge is None else knowledge.among(chosen)
        found = to_cpdag(quick_dag(data.among(chosen), penalty_discount, known))
        linked = _links(dag, above, chosen)
        seen = (found != 0) | (found.T != 0)
        missing += int((linked & ~seen).sum()) // 2
        turned += int(((found == 1) & above[part].T).sum())
        chances += int(linked.sum()) // 2 + int((found == 1).sum())
    return Contradictions(missing, turned, chances)


def quick_dag(
    data: Correlations, penalty_discount: float, knowledge: ResolvedKnowledge | None = None
) -> Adjacency:
    """The DAG of one search without restarts, and nothing besides: there are hundreds of them."""
    n = len(data.matrix)
    moments = Moments(default_names(n), data.n_samples, np.zeros(n), np.ones(n), data.matrix)
    # Variables in the order of their first columns.
    owners = np.repeat(np.arange(len(data.sizes)), data.sizes)
    owners = owners[r2_order(precision_matrix(data.matrix, data.n_samples))]
    order = owners[np.sort(np.unique(owners, return_index=True)[1])]
    if knowledge is not None:
        order = knowledge.topological_start(order)
    engine = BicEngine(
        moments,
        penalty_discount=penalty_discount,
        knowledge=knowledge,
        block_sizes=data.sizes,
        order=order,
    )
    bic_insertion(engine, restarts=0, knowledge=knowledge, random_state=0)
    return engine.dag()


def _links(dag: Adjacency, above: Mask, chosen: Indices) -> Mask:
    """Which pairs of the chosen no subset of the chosen separates in the DAG.

    If any does, their ancestors among the chosen do; that is, in the moral graph of all their
    ancestors, no path between them keeps to those that were not chosen.
    """
    n = len(chosen)
    linked = np.zeros((n, n), dtype=bool)
    inside = np.zeros(len(dag), dtype=bool)
    inside[chosen] = True
    edges = dag.astype(bool)
    for i, a in enumerate(chosen.tolist()):
        for j, b in enumerate(chosen[:i].tolist()):
            ancestors = above[:, a] | above[:, b]
            ancestors[[a, b]] = True
            met = np.array([a, b, *np.flatnonzero(ancestors & ~inside).tolist()])
            below = edges[np.ix_(met, ancestors)].astype(np.intp)
            moral = edges[np.ix_(met, met)] | (below @ below.T > 0)
            linked[i, j] = _reaches(moral | moral.T)
    return linked | linked.T


def _reaches(joined: Mask) -> bool:
    """Whether a path leads from the first vertex to the second."""
    seen = joined[0].copy()
    while not seen[1]:
        further = seen | joined[seen].any(axis=0)
        if (further == seen).all():
            return False
        seen = further
    return True


def draw_subsets(n: int, count: int, rng: np.random.Generator) -> list[Indices]:
    """Random subsets of the variables, three at least in each."""
    size = min(max(3, round(SHARE * n)), MOST)
    return [np.sort(rng.permutation(n)[:size]) for _ in range(count)] if size < n else []


def permuted(dag: Adjacency, rng: np.random.Generator) -> Adjacency:
    """The DAG with its nodes in a random order."""
    shuffled = rng.permutation(len(dag))
    return dag[np.ix_(shuffled, shuffled)]


def some_edges(dag: Adjacency, pairs: Indices, rng: np.random.Generator) -> Adjacency:
    """As many edges as a graph has, among some pairs."""
    chosen = pairs[rng.permutation(len(pairs))[: int(dag.sum())]]
    drawn = np.zeros_like(dag)
    drawn[chosen[:, 0], chosen[:, 1]] = 1
    return drawn
