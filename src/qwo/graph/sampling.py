"""The size of an equivalence class, and members drawn from it uniformly.

M. Wienöbst, M. Bannach, M. Liśkiewicz, Polynomial-time algorithms for counting and sampling Markov
equivalent DAGs with applications, JMLR 24 (2023). Every acyclic orientation without v-structures of
a chordal graph has a topological order that begins with a maximal clique K. What is left undirected
once K comes first falls into smaller chordal graphs, which are oriented independently of each
other. So as to count each orientation once, an order of K may not begin with a set through which a
path in the clique tree enters K.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import GraphError
from qwo.graph.cpdag import is_cpdag
from qwo.graph.pdag import PartialDag, check_pdag, enumerate_dags
from qwo.names import at_least, generator
from qwo.types import Adjacency

Vertices = frozenset[int]


class _Clique(NamedTuple):
    """A maximal clique, its parent in the clique tree, and what it shares with the parent."""

    members: Vertices
    parent: int
    separator: Vertices


class _Beginning(NamedTuple):
    """A clique that may come first, and what follows from it."""

    clique: Vertices
    barred: tuple[Vertices, ...]  # with which its order may not begin, each inside the next
    parts: list[Vertices]  # left undirected, in a topological order
    orientations: int


class ChordalOrientations:
    """The acyclic orientations without v-structures of the components of a chordal graph."""

    def __init__(self, neighbours: Sequence[set[int]]) -> None:
        self._neighbours = neighbours
        self._beginnings: dict[Vertices, list[_Beginning]] = {}

    def components(self, vertices: Iterable[int]) -> list[Vertices]:
        """The connected components among the vertices, ordered by their smallest vertex."""
        left = set(vertices)
        found = []
        for start in sorted(left):
            if start not in left:
                continue
            reached, frontier = {start}, {start}
            while frontier:
                nearby = set().union(*(self._neighbours[v] for v in frontier))
                frontier = (nearby & left) - reached
                reached |= frontier
            left -= reached
            found.append(frozenset(reached))
        return found

    def count(self, component: Vertices) -> int:
        """The number of orientations of a connected component."""
        if self._is_tree(component):
            return len(component)  # any vertex may be the root
        return sum(beginning.orientations for beginning in self._first_cliques(component))

    def sample(self, component: Vertices, rng: np.random.Generator) -> list[int]:
        """A topological order of an orientation, each of which is equally likely."""
        if self._is_tree(component):
            return self._rooted(component, sorted(component)[rng.integers(len(component))])
        beginnings = self._first_cliques(component)
        ticket = _below(sum(beginning.orientations for beginning in beginnings), rng)
        for beginning in beginnings:
            ticket -= beginning.orientations
            if ticket < 0:
                break
        order = _allowed_order(beginning.clique, beginning.barred, rng)
        for part in beginning.parts:
            order += self.sample(part, rng)
        return order

    def _is_tree(self, component: Vertices) -> bool:
        ends = sum(len(self._neighbours[v] & component) for v in component)
        return ends == 2 * (len(component) - 1)

    def _rooted(self, tree: Vertices, root: int) -> list[int]:
        """The vertices of a tree by their distance from the root."""
        order = [root]
        seen = {root}
        for v in order:
            further = sorted((self._neighbours[v] & tree) - seen)
            seen.update(further)
            order += further
        return order

    def _first_cliques(self, component: Vertices) -> list[_Beginning]:
        if component not in self._beginnings:
            cliques = self._clique_tree(component)
            self._beginnings[component] = [
                self._begin(k, cliques, component) for k in range(len(cliques))
            ]
        return self._beginnings[component]

    def _begin(self, k: int, cliques: list[_Clique], component: Vertices) -> _Beginning:
        clique = cliques[k].members
        barred = set()
        while k > 0:
            if cliques[k].separator <= clique:
                barred.add(cliques[k].separator)
            k = cliques[k].parent
        chain = tuple(sorted(barred, key=len))
        parts = self._parts_after(clique, component)
        orders = _count_allowed(len(clique), tuple(map(len, chain)))
        return _Beginning(clique, chain, parts, orders * prod(map(self.count, parts)))

    def _clique_tree(self, component: Vertices) -> list[_Clique]:
        """The maximal cliques, parents first: maximum cardinality search (Blair and Peyton 1993).

        The visited neighbours of the next vertex are a clique. If they are all of the current
        clique, it grows; otherwise a new one begins.
        """
        visited: dict[int, int] = {}  # vertex: the clique in which it was first
        weight = dict.fromkeys(sorted(component), 0)
        members: list[set[int]] = [set()]
        links = [(0, frozenset[int]())]
        while weight:
            v = max(weight, key=weight.__getitem__)
            del weight[v]
            before = [u for u in visited if u in self._neighbours[v]]
            if len(before) < len(members[-1]):
                members.append(set(before))
                links.append((visited[before[-1]], frozenset(before)))
            members[-1].add(v)
            visited[v] = len(members) - 1
            for u in self._neighbours[v] & weight.keys():
                weight[u] += 1
        return [_Clique(frozenset(m), *link) for m, link in zip(members, links, strict=True)]

    def _parts_after(self, clique: Vertices, component: Vertices) -> list[Vertices]:
        """The graphs still undirected when the clique comes first (their algorithm 1).

        Lexicographic breadth-first search from the clique: vertices with the same visited
        neighbours are in one block. Edges inside a block that comes up first have no direction yet.
        """
        blocks = [set(clique), set(component - clique)]
        placed = set(clique)
        parts = []
        while blocks:
            v = min(blocks[0])
            if v not in placed:
                parts += self.components(blocks[0])
                placed |= blocks[0]
            blocks[0].discard(v)
            near = self._neighbours[v]
            blocks = [piece for block in blocks for piece in (block & near, block - near) if piece]
        return parts


@cache
def _count_allowed(size: int, barred: tuple[int, ...]) -> int:
    """The orders of a set that begin with none of the subsets of the given sizes, which are nested.

    All orders less, for each barred set that is the first to come up, those that begin with it.
    """
    return factorial(size) - sum(
        factorial(size - first) * _count_allowed(first, barred[:k])
        for k, first in enumerate(barred)
    )


def _allowed_order(
    clique: Vertices, barred: tuple[Vertices, ...], rng: np.random.Generator
) -> list[int]:
    """A random order of the clique that begins with no barred set; half of all orders are such."""
    members = np.array(sorted(clique))
    while True:
        order: list[int] = rng.permutation(members).tolist()
        if all(set(order[: len(start)]) != start for start in barred):
            return order


def _below(bound: int, rng: np.random.Generator) -> int:
    """A random integer from 0 to bound - 1, which may be larger than any machine word."""
    bits = bound.bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "big") >> (-bits % 8)
        if number < bound:
            return number


RandomState = int | np.random.Generator | None


def class_size(graph: Any, *, limit: int = 100_000) -> int:
    """The number of DAGs that a CPDAG stands for, exactly.

    The undirected components of a CPDAG are oriented independently; for each, the orientations are
    counted in polynomial time (see `qwo.graph.sampling`).

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
    graph: Any, n_samples: int, random_state: RandomState = None, *, limit: int = 100_000
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


def _undirected_components(cpdag: Adjacency) -> tuple[ChordalOrientations, list[frozenset[int]]]:
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
