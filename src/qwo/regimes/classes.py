"""Interventional classes: which arrows regimes with known targets direct, and why.

A. Hauser and P. Bühlmann (Characterization and greedy learning of interventional Markov equivalence
classes of directed acyclic graphs, JMLR 2012): a family of targets tells two DAGs apart if their
skeletons, v-structures or the skeletons of their mutilated graphs differ. The graph of a class is
its CPDAG with every edge directed that a target set cuts (one end in it, one not), closed by Meek's
rules.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from math import prod
from typing import Literal

import numpy as np

from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.dag import v_structures
from qwo.graph.pdag import PartialDag, enumerate_dags, meek_closure
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.graph.sampling import ChordalOrientations
from qwo.types import Adjacency, Mask

Reason = Literal["collider", "regime", "knowledge", "rule", "noise"]

MOST_MEMBERS = 2000
"""Members of a class that are looked at, one by one, for the next experiment."""


def interventional_class(
    dag: Adjacency, targets: Mask, knowledge: ResolvedKnowledge | None = None
) -> Adjacency:
    """The graph of a DAG's class under target sets, one row of `targets` a regime; 1 = →, 2 = –."""
    graph = to_cpdag(dag) if knowledge is None else to_mpdag(dag, knowledge)
    directed = (graph == 2) & (dag == 1) & cut_by(targets)
    graph[directed] = 1
    graph[directed.T] = 0
    return meek_closure(graph)


def cut_by(targets: Mask) -> Mask:
    """Pairs of which some target set has one variable and not the other."""
    sets = np.asarray(targets, dtype=bool)
    return np.asarray((sets[:, :, None] != sets[:, None, :]).any(axis=0))


def reasons_of(
    graph: Adjacency, dag: Adjacency, targets: Mask, knowledge: ResolvedKnowledge | None = None
) -> dict[tuple[int, int], tuple[Reason, int | None]]:
    """Why each arrow of a class has its direction, and the first regime that shows it, if one does.

    An arrow of a v-structure has that as its reason; else a regime whose target set cuts it; else
    knowledge; else it follows from others by a rule.
    """
    colliding = {(end, j) for i, j, k in v_structures(dag) for end in (i, k)}
    known = to_cpdag(dag) if knowledge is None else to_mpdag(dag, knowledge)
    found: dict[tuple[int, int], tuple[Reason, int | None]] = {}
    for i, j in np.argwhere(graph == 1).tolist():
        cutting = np.flatnonzero(targets[:, i] != targets[:, j])
        if (i, j) in colliding:
            found[i, j] = "collider", None
        elif len(cutting):
            found[i, j] = "regime", int(cutting[0])
        elif knowledge is not None and known[i, j] == 1 and to_cpdag(dag)[i, j] == 2:
            found[i, j] = "knowledge", None
        else:
            found[i, j] = "rule", None
    return found


def n_members(graph: Adjacency) -> int:
    """How many DAGs an interventional class has: its undirected pieces are directed one by one."""
    neighbours = PartialDag.from_matrix(graph).neighbours
    orientations = ChordalOrientations(neighbours)
    joined = [v for v, near in enumerate(neighbours) if near]
    return prod(map(orientations.count, orientations.components(joined)))


def next_experiments(graph: Adjacency) -> dict[int, float]:
    """For each variable with undirected edges: how many edges an experiment on it would direct.

    Setting a variable shows which of its neighbours are its causes; Meek's rules do the rest. The
    number is the mean over the members of the class, the first 2000 if there are more.
    """
    undirected = graph == 2
    variables = np.flatnonzero(undirected.any(axis=1))
    members = list(islice(enumerate_dags(graph), MOST_MEMBERS)) if len(variables) else []
    expected, before = {}, int(undirected.sum()) // 2
    for v in variables.tolist():
        near = np.flatnonzero(undirected[v])
        outcomes = Counter(tuple(member[near, v].tolist()) for member in members)
        expected[v] = 0.0
        for outcome, count in outcomes.items():
            told = graph.copy()
            for u, is_cause in zip(near.tolist(), outcome, strict=True):
                told[u, v], told[v, u] = (1, 0) if is_cause else (0, 1)
            left = int((meek_closure(told) == 2).sum()) // 2
            expected[v] += count / len(members) * (before - left)
    return dict(sorted(expected.items(), key=lambda item: (-item[1], item[0])))
