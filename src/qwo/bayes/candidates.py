"""Lists of candidate parents: what the tables cover, and how much they leave out.

Chains agree perfectly inside bad lists, so that lists decide how accurate a posterior is. They are
grown around good DAGs, in rounds: a short chain inside the lists, and for every pair outside them
the mean of r = p(G with that edge) / p(G) over its draws; then every variable takes the parents
that are most probable inside, by r / (1 + r) outside. Parents of hubs that are beyond doubt become
core: they are in every DAG and take no bit of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.bayes.scores import BlockFamilies, FamilyScore
from qwo.graph.dag import closure, parents_of
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.types import Adjacency, FloatArray, Indices, Mask

Lists: TypeAlias = list[list[int]]
Masks = npt.NDArray[np.uint32]

WIDEST = 14
"""Candidates that a variable has at most, but for a few whose next one is too likely to leave."""

FLOOR = 10
"""Candidates that each variable has at least, if there are as many."""

FLOOR_OF_FEW, FEW = 12, 30
"""The same for few variables: it costs little, and chains move more easily in longer lists."""

MOST_BEYOND = 4
"""By how many a variable may exceed the widest list."""

HUB = 12
"""Parents of a hub that stay in doubt; those that cost more to leave out become core."""

WORTH_A_PLACE = 0.005
TOO_LIKELY_TO_LEAVE = 0.2
NEGLIGIBLE = 0.02
"""Probabilities: of a candidate, of one beyond the widest list, and of what may stay outside."""

CERTAIN = 1 - 1e-6
"""Candidates of a full list that are more probable may become core."""

LOOSE_CORE = 1e-4
"""Core edges are freed if a graph without them is that probable, relative to one with them."""

MOST_OF_BLOCKS = 11
"""The same where variables own blocks of columns, whose tables are made in Python."""

ROUNDS = 8
SHORT_CHAIN = 40
TABLE_BYTES = 32
"""Bytes that each set of candidates takes: four tables of double precision."""

MEMORY = 2**29
"""Bytes that all tables take at most: lists are shorter where there are very many variables."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What every DAG must respect.

    Entry (i, j) of ``possible`` says that i → j is not forbidden, of ``required`` that it must be
    there; ``earlier`` has for each variable those that must come before it although no edge says
    so.
    """

    possible: Mask
    required: Mask
    earlier: Lists

    @classmethod
    def of(cls, knowledge: ResolvedKnowledge | None, n_variables: int) -> Constraints:
        """The constraints that background knowledge amounts to."""
        if knowledge is None:
            none = np.zeros((n_variables, n_variables), dtype=np.bool_)
            return cls(~np.eye(n_variables, dtype=np.bool_), none, [[] for _ in none])
        possible = knowledge.allowed_parents
        # Where no allowed edges lead from j to i, i comes before j without being told.
        needed = knowledge.before & closure(possible).T
        return cls(possible, knowledge.required, [np.flatnonzero(c).tolist() for c in needed.T])


@dataclass(frozen=True, eq=False)
class ParentLists:
    """Candidates and core parents of every variable."""

    candidates: Lists
    core: Lists

    @property
    def inside(self) -> Mask:
        """n×n: entry (i, j) says that i is a candidate or a core parent of j."""
        matrix = np.zeros((len(self.core), len(self.core)), dtype=np.bool_)
        for v, (candidates, core) in enumerate(zip(self.candidates, self.core, strict=True)):
            matrix[candidates, v] = matrix[core, v] = True
        return matrix

    @property
    def core_mask(self) -> Mask:
        """n×n: entry (i, j) says that i is a core parent of j."""
        matrix = np.zeros((len(self.core), len(self.core)), dtype=np.bool_)
        for v, core in enumerate(self.core):
            matrix[core, v] = True
        return matrix

    def common_edges(self, masks: Masks) -> Mask:
        """n×n: entry (i, j) says that all draws have i → j."""
        matrix = self.core_mask
        bits = np.bitwise_and.reduce(masks, axis=0).tolist()
        for v, (mask, listed) in enumerate(zip(bits, self.candidates, strict=True)):
            matrix[[u for b, u in enumerate(listed) if mask >> b & 1], v] = True
        return matrix

    def tables(
        self, score: FamilyScore | BlockFamilies, constraints: Constraints, threads: int
    ) -> _core.ScoreTables:
        """The compiled tables of these lists."""
        given = None
        if isinstance(score, BlockFamilies):
            own = enumerate(zip(self.candidates, self.core, strict=True))
            given = np.concatenate([score.table(v, *lists) for v, lists in own])
            # What is outside the lists is not measured for blocks.
            n, most = score.n_variables, np.zeros(score.n_variables)
            score = FamilyScore(score.name, np.eye(n), most, most, 0.0, score.n_samples)
        return _core.ScoreTables(
            score.matrix,
            score.constants,
            score.exponents,
            score.determinant,
            self.candidates,
            self.core,
            constraints.earlier,
            threads,
            given,
        )


def widest_list(n_variables: int) -> int:
    """How many candidates a variable may have, so that all tables fit the memory."""
    affordable = int(np.log2(MEMORY / (TABLE_BYTES * n_variables)))
    return min(WIDEST, max(affordable, 1))


def complete_lists(constraints: Constraints) -> ParentLists | None:
    """All that is possible, if it fits the tables: nothing is left outside then."""
    free = constraints.possible & ~constraints.required
    if free.sum(axis=0).max(initial=0) > widest_list(len(free)):
        return None
    return ParentLists(parents_of(free), parents_of(constraints.required))


def lists_around(
    dags: Sequence[Adjacency], likely: Sequence[Indices], constraints: Constraints
) -> ParentLists:
    """Lists of the neighbours in good DAGs, then of likely candidates, as many as fit.

    For scores that cannot tell what they leave out.
    """
    near = np.logical_or.reduce([(dag + dag.T) != 0 for dag in dags])
    free = constraints.possible & ~constraints.required
    most = min(widest_list(len(free)), MOST_OF_BLOCKS)
    listed = [
        [u for u in dict.fromkeys([*np.flatnonzero(near[:, v]).tolist(), *own]) if free[u, v]]
        for v, own in enumerate(np.asarray(o).tolist() for o in likely)
    ]
    return ParentLists([sorted(own[:most]) for own in listed], parents_of(constraints.required))


def random_extension(before: Mask, rng: np.random.Generator) -> Indices:
    """An order that puts i before j wherever entry (i, j) says so, at random."""
    missing = np.count_nonzero(before, axis=0)
    ready: list[int] = np.flatnonzero(missing == 0).tolist()
    order = []
    while ready:
        v = ready.pop(int(rng.integers(len(ready))))
        order.append(v)
        missing -= before[v]
        ready += np.flatnonzero(before[v] & (missing == 0)).tolist()
    return np.array(order, dtype=np.int64)


def precedence(edges: Mask, constraints: Constraints) -> Mask:
    """Entry (i, j) says that i must come before j, given edges that are there."""
    before = edges.astype(np.bool_, copy=True)
    for v, earlier in enumerate(constraints.earlier):
        before[earlier, v] = True
    return before


def grow_lists(
    score: FamilyScore,
    dags: Sequence[Adjacency],
    constraints: Constraints,
    rng: np.random.Generator,
    *,
    threads: int = 1,
    go_on: Callable[[], bool] = lambda: True,
) -> GrownLists:
    """Lists grown around good DAGs until what is missing is negligible, or `go_on` says no."""
    growth = GrownLists(score, dags, constraints, rng)
    for k in range(ROUNDS):
        if growth.round(threads) and k:
            break
        if not go_on():
            break
    return growth


class GrownLists:
    """The rounds: what each edge is worth so far, and where the short chains stand."""

    def __init__(
        self,
        score: FamilyScore,
        dags: Sequence[Adjacency],
        constraints: Constraints,
        rng: np.random.Generator,
    ) -> None:
        self._score, self._constraints, self._rng = score, constraints, rng
        graphs = [dag.astype(np.bool_) for dag in dags]
        self._orders = [random_extension(precedence(g, constraints), rng) for g in graphs]
        self._core = constraints.required | _sure_parents(
            score, np.logical_and.reduce(graphs) & ~constraints.required
        )
        self._widest = widest_list(score.n_variables)
        self._floor = min(FLOOR_OF_FEW if score.n_variables <= FEW else FLOOR, self._widest)
        self._value = _forward_selection(score, self._floor, constraints.possible)
        self._value[np.logical_or.reduce(graphs)] = 1.0
        self.lists = self._pick()

    def round(self, threads: int) -> bool:
        """One round; whether the lists it had are good enough, and are kept."""
        tables = self.lists.tables(self._score, self._constraints, threads)
        return self._are_enough(tables, *self._short_chains(tables))

    def satisfy(self, tables: _core.ScoreTables, draws: Masks, inside: FloatArray) -> bool:
        """Whether draws of long chains miss nothing either; the lists take in what they do.

        Long chains may find modes that the short ones, which start at good DAGs, have not seen.
        """
        return self._are_enough(tables, draws, inside, np.zeros_like(self._core))

    def _are_enough(
        self, tables: _core.ScoreTables, draws: Masks, inside: FloatArray, sure: Mask
    ) -> bool:
        possible = np.ascontiguousarray(self._constraints.possible, dtype=np.uint8)
        near = tables.ratios_outside(draws, possible)[1]
        freed = self._loose(tables, draws)
        wanting, full = self._wanting(near)
        promoted = sure & wanting & full & ~self._core
        if not (wanting & ~full).any() and not freed.any() and not promoted.any():
            return True
        # What was promising a round ago is not forgotten at once: short chains are noisy.
        seen = np.where(self.lists.inside, inside, near)
        self._value = np.maximum(seen, 0.3 * self._value)
        self._core = self._core & ~freed | promoted
        self._value[freed] = 1.0
        self._value[freed.T] = np.maximum(self._value[freed.T], 0.1)
        self.lists = self._pick()
        return False

    def _short_chains(self, tables: _core.ScoreTables) -> tuple[Masks, FloatArray, Mask]:
        """Draws of a short chain from each order; how likely edges are at most, and which certain.

        Certain are those that every draw has, and that no chain would leave out.
        """
        draws = []
        inside = np.zeros_like(self._value)
        sure = np.ones_like(self._core)
        for k, order in enumerate(self._orders):
            chain = _core.GraphChain(tables, order, int(self._rng.integers(2**63)))
            chain.burn_in(10)
            chain.run(5)
            chain.forget_sums()
            masks = chain.run(SHORT_CHAIN)[0]
            means = chain.edge_means()
            draws.append(masks[::2])
            inside = np.maximum(inside, means)
            sure &= (means > CERTAIN) & self.lists.common_edges(masks)
            last = self.lists.common_edges(masks[-1:])
            self._orders[k] = random_extension(precedence(last, self._constraints), self._rng)
        return np.ascontiguousarray(np.concatenate(draws)), inside, sure

    def _loose(self, tables: _core.ScoreTables, draws: Masks) -> Mask:
        hubs = self._core & ~self._constraints.required
        if not hubs.any():
            return hubs
        return hubs & (tables.ratios_of_core(np.ascontiguousarray(draws[::4])) > LOOSE_CORE)

    def _wanting(self, near: FloatArray) -> tuple[Mask, Mask]:
        """Which variables lack a likely candidate, and whose lists are too full to take it in."""
        sizes = np.array([len(listed) for listed in self.lists.candidates])
        largest = near.max(axis=0)
        full = (sizes >= self._widest) & (largest < TOO_LIKELY_TO_LEAVE)
        return largest >= NEGLIGIBLE, full | (sizes >= self._widest + MOST_BEYOND)

    def _pick(self) -> ParentLists:
        free = self._constraints.possible & ~self._core & ~self._core.T
        value = np.where(free, self._value, -1.0)
        ranked = np.argsort(-value, axis=0, kind="stable")
        candidates = []
        for v, best in enumerate(ranked[: self._widest + MOST_BEYOND].T):
            worth = value[best, v]
            rank = np.arange(len(best))
            kept = (rank < self._floor) | (worth > TOO_LIKELY_TO_LEAVE)
            kept |= (rank < self._widest) & (worth > WORTH_A_PLACE)
            candidates.append(best[kept & (worth >= 0)].tolist())
        return ParentLists(candidates, [np.flatnonzero(c).tolist() for c in self._core.T])


def _sure_parents(score: FamilyScore, dag: Mask) -> Mask:
    """For variables with many parents, those that cost most to leave out, but for the last few."""
    sure = np.zeros_like(dag)
    for v in np.flatnonzero(dag.sum(axis=0) > HUB):
        parents = np.flatnonzero(dag[:, v])
        family = np.append(parents, v)
        inverse = np.linalg.inv(score.matrix[np.ix_(family, family)])
        partial = inverse[-1, :-1] ** 2 / (np.diag(inverse)[:-1] * inverse[-1, -1])
        sure[parents[np.argsort(-partial, kind="stable")[: len(parents) - HUB]], v] = True
    return sure


def _forward_selection(score: FamilyScore, most: int, possible: Mask) -> FloatArray:
    """Tiny values, n×n, for the parents that forward selection by the score adds first.

    All variables at once: row v of the residual matrices belongs to the regression of v.
    """
    n = score.n_variables
    value = np.zeros((n, n))
    cross, variance = score.matrix.copy(), np.tile(np.diag(score.matrix), (n, 1))
    own = np.diag(score.matrix).copy()
    open_ = possible.T.copy()
    basis: list[FloatArray] = []
    rows = np.arange(n)
    for k in range(min(most, n - 1)):
        rest = np.maximum(own[:, None] - cross**2 / variance, 1e-12)
        gain = -score.exponents[1] * np.log(rest) - score.determinant * np.log(variance)
        gain[~open_] = -np.inf
        best = np.argmax(gain, axis=1)
        found = open_[rows, best]
        value[best[found], rows[found]] = 1e-6 * (1 - k / (2 * most))
        open_[rows, best] = False
        row = score.matrix[best].copy()
        for earlier in basis:
            row -= earlier[rows, best][:, None] * earlier
        row /= np.sqrt(variance[rows, best])[:, None]
        shift = cross[rows, best] / np.sqrt(variance[rows, best])
        own = np.maximum(own - shift**2, 1e-12)
        cross -= shift[:, None] * row
        variance = np.maximum(variance - row**2, 1e-12)
        basis.append(row)
    return value
