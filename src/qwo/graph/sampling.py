"""The size of an equivalence class, and members drawn from it uniformly."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from qwo.checks import at_least, generator
from qwo.errors import GraphError
from qwo.graph.clique_picking import ChordalOrientations
from qwo.graph.cpdag import is_cpdag
from qwo.graph.extension import enumerate_dags
from qwo.graph.pdag import PartialDag, check_pdag
from qwo.types import Adjacency

RandomState = int | np.random.Generator | None


def class_size(graph: Any, *, limit: int = 100_000) -> int:
    """The number of DAGs that a CPDAG stands for, exactly.

    The undirected components of a CPDAG are oriented independently; for each, the orientations are
    counted in polynomial time (see `qwo.graph.clique_picking`).

    Parameters
    ----------
    graph : matrix, or anything that `as_graph` takes
        A CPDAG: 1 = i → j, 2 = undirected. Of a graph with further arrows, such as background
        knowledge gives, the DAGs are counted one by one.
    limit : int
        How many DAGs to count one by one at most.

    Raises
    ------
    GraphError
        If no DAG extends the graph, or if there are more than ``limit`` to count one by one.
    """
    matrix = check_pdag(graph)
    limit = at_least("limit", limit, 0)
    if not is_cpdag(matrix):
        return len(_all_members(matrix, limit))
    orientations, components = _undirected_components(matrix)
    return prod(map(orientations.count, components))


def sample_dag(graph: Any, random_state: RandomState = None, *, limit: int = 100_000) -> Adjacency:
    """A DAG of the class of a CPDAG, each equally likely; see `sample_dags`."""
    return next(sample_dags(graph, 1, random_state, limit=limit))


def sample_dags(
    graph: Any,
    n_samples: int,
    random_state: RandomState = None,
    *,
    limit: int = 100_000,
) -> Iterator[Adjacency]:
    """Independent draws from the uniform distribution on the DAGs that a CPDAG stands for.

    Parameters
    ----------
    graph : matrix, or anything that `as_graph` takes
        A CPDAG. From a graph with further arrows, such as background knowledge gives, DAGs are
        drawn from a list of them all.
    n_samples : int
        How many to draw; the second and further ones cost little.
    random_state : int, Generator or None
        The seed.
    limit : int
        The longest such list.
    """
    rng = generator(random_state)
    n_samples = at_least("n_samples", n_samples, 0)
    limit = at_least("limit", limit, 0)
    matrix = check_pdag(graph)
    if not is_cpdag(matrix):
        members = _all_members(matrix, limit)
        return (members[rng.integers(len(members))].copy() for _ in range(n_samples))
    orientations, components = _undirected_components(matrix)
    return (_draw(matrix, orientations, components, rng) for _ in range(n_samples))


def _draw(
    cpdag: Adjacency,
    orientations: ChordalOrientations,
    components: list[frozenset[int]],
    rng: np.random.Generator,
) -> Adjacency:
    place = np.zeros(len(cpdag), dtype=np.intp)
    for component in components:
        order = orientations.sample(component, rng)
        place[order] = np.arange(len(order))
    dag: Adjacency = (cpdag == 1).astype(np.int8)
    tails, heads = np.nonzero(cpdag == 2)
    dag[tails, heads] = place[tails] < place[heads]
    return dag


def _undirected_components(
    cpdag: Adjacency,
) -> tuple[ChordalOrientations, list[frozenset[int]]]:
    """The undirected part of a CPDAG, and its components of more than one vertex."""
    neighbours = PartialDag.from_matrix(cpdag).neighbours
    orientations = ChordalOrientations(neighbours)
    joined = [v for v, near in enumerate(neighbours) if near]
    return orientations, orientations.components(joined)


def _all_members(pdag: Adjacency, limit: int) -> list[Adjacency]:
    members = list(enumerate_dags(pdag, limit + 1))
    if len(members) > limit:
        raise GraphError(
            f"the graph is not a CPDAG, and more than {limit} DAGs extend it; "
            f"take the CPDAG of one of them, or raise limit"
        )
    return members
