"""The exact BIC engine: for an order, every variable's best parents among its predecessors.

The cost of an order is Σ_v [ N log σ²(v | pa(v)) + penalty · |pa(v)| ], with σ² on the correlation
scale and pa(v) found by grow-shrink in the prefix of v. It conditions on few variables, so it needs
far fewer samples than G^π by partial correlations, and it works for n > N.

Memory grows with n² times the number of parents, unless each variable has a list of candidates:
then it grows with n times their number, and the search takes in those that have been missed.
"""

# Long because it is the one face of the core's engine: what it is given, checked here once, and a
# few lines for each of its methods.

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.dag import parents_of
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.options import WHOLE_FROM_0
from qwo.order.blocks import association, check_block_sizes, check_leading, without_given
from qwo.order.linalg import as_integers, check_kernels, check_order
from qwo.order.protocol import Changes, EngineBase, check_block
from qwo.order.score import BIC, ORACLE_SAMPLES, Score, price_of, score_from
from qwo.types import Adjacency, FloatArray, Indices

CompiledRun = _core.SearchRun

Flat = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Lists one after the other, and where each ends."""

BicState = tuple[npt.NDArray[np.int64], Flat, Flat, float]
"""What a `BicEngine` has come to, a few numbers per variable; see `BicEngine.state`."""


Blocks = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[float], int, list[float]]
"""Block sizes, none if all are 1, and how many columns of each lead; prices by number of
parameters; most columns of parents; what edges cost less, by child and parent, if any does."""

NONE: npt.NDArray[np.int64] = np.empty(0, np.int64)
"""What the core takes for nothing said: no lists, no blocks, the first moments for all."""

SAMPLES_PER_PARENT = 3.0
"""A variable gets at most N / 3 parents: beyond that the likelihood measures noise."""

MOST_NODES = 5_000_000
"""Nodes of the search for the parent sets of a variable: some seconds."""


class TurnedArrows(NamedTuple):
    """The edges of a class, and what turning each of its arrows leads to.

    causes, effects: the edges of the DAG; compelled: which of them are arrows of the class.
    edges: which of them were turned.
    lost: what the graph with the arrow turned costs more; infinite where knowledge forbids it.
    more: how many edges it has more.
    gone: pairs of a turn and an arrow that the graph has undirected or reversed.
    triples: centre and the two edges of each triple whose ends are not joined; none is given.
    met, closed: how many triples there are in all, and how many are closed.
    """

    causes: Indices
    effects: Indices
    compelled: npt.NDArray[np.bool_]
    edges: Indices
    lost: FloatArray
    more: Indices
    gone: tuple[Indices, Indices]
    triples: tuple[Indices, Indices, Indices]
    met: int
    closed: int


class BicEngine(EngineBase):
    """Parent sets of locally best BIC for an order π, under moves.

    Fits start from the parents they had, so the sets found may depend on the path; at all times no
    single addition or removal improves any of them. The engine follows the protocol
    `qwo.order.protocol.OrderEngine`. One engine must not be used by two threads at once. It can be
    pickled: what comes out elsewhere is a copy.

    Parameters
    ----------
    moments : Moments or sequence of Moments
        The data, with categories as they are. Several are those of several sets of rows, of the
        same variables.
    score : Score, optional
        What an edge costs, as ``BIC(2)``, the default, says it.
    penalty_discount, gamma : float, optional
        Short forms of ``BIC(penalty_discount, gamma)``.
    moments_of : sequence of int, optional
        Which of several moments each variable is explained from, with their N in likelihood and
        price: those of the rows in which nobody has set its value, say. The first if not given.
    knowledge : ResolvedKnowledge, optional
        Forbidden edges are never drawn, required ones always; moves must respect its precedence.
    max_parents : int, optional
        The most parents that a variable may get; N / 3 if not given.
    order : sequence of int, optional
        The first order; that of the columns, made to fit the knowledge, if not given.
    kernels : str, optional
        Instruction set to compute with, one of ``qwo._core.available_kernels()``.
    candidates : sequence of index arrays, optional
        For each variable those that may become its parents, as `qwo.order.linalg` finds them;
        all if not given. The knowledge has the last word: what it requires is a candidate, what it
        forbids is none.
    all_at_first : bool
        Whether all are candidates nevertheless until `narrow`, which the search calls after its
        first descent: the parents that a variable needs while the order is rough may be on no list.
    given : sequence of int, optional
        Variables that stand before all others and have no parents, but may be parents: lagged
        copies, covariates, indicators of regimes; if left out, what the moments' coding says. They
        come first in every order, in whatever order they are there, never move, and are never
        shuffled.
    block_sizes : sequence of int, optional
        How many columns of the moments each variable owns, one variable after the other; 1 if not
        given. The columns of a variable must be whitened: see `qwo.order.blocks`. Orders, parents,
        knowledge and candidates are of variables.
    leading : sequence of int, optional
        In how many columns, the first, each variable is explained as a child; all if not given.
    bonus : array, n×n, optional
        What the edge i → j costs less, for being probable beforehand: entry (i, j).
    threads : int
        Threads that fits of many variables, and searches over them, are shared among. No result
        depends on it.
    """

    insertion_search = "compiled"
    """The search that knows this engine from inside, for `qwo.search.insertion_search_of`."""

    def __init__(
        self,
        moments: Moments | Sequence[Moments],
        *,
        score: Score | None = None,
        penalty_discount: float | None = None,
        gamma: float | None = None,
        moments_of: Sequence[int] | Indices | None = None,
        knowledge: ResolvedKnowledge | None = None,
        max_parents: int | None = None,
        order: Sequence[int] | Indices | None = None,
        kernels: str | None = None,
        candidates: Sequence[Indices] | None = None,
        all_at_first: bool = False,
        given: Sequence[int] | Indices | None = None,
        block_sizes: Sequence[int] | Indices | None = None,
        leading: Sequence[int] | Indices | None = None,
        bonus: FloatArray | None = None,
        threads: int = 1,
    ) -> None:
        if given is None and isinstance(moments, Moments) and moments.coding.given.size:
            given = moments.coding.given
        if block_sizes is None and isinstance(moments, Moments) and moments.has_blocks:
            leading = moments.leading() if leading is None else leading
            moments, block_sizes = moments.as_whitened()
        self._sources = (moments,) if isinstance(moments, Moments) else _as_sources(moments)
        self.moments = self._sources[0]
        self.block_sizes = np.ones(self.moments.n_variables, np.int64)
        if block_sizes is not None:
            self.block_sizes = _sizes_of_blocks(block_sizes, self._sources)
        self.leading = self.block_sizes
        if leading is not None:
            self.leading = check_leading(leading, self.block_sizes)
        self._n, self._bonus = len(self.block_sizes), bonus
        self._is_plain = self._n == self.moments.n_variables and bonus is None
        self._which, self.given = NONE, np.empty(0, np.intp)
        if moments_of is not None:
            self._which = _which_moments(moments_of, self._n, len(self._sources))
        if given is not None:
            self.given = _given_variables(given, self._n)
        if max_parents is not None:
            WHOLE_FROM_0.checked("max_parents", max_parents)
        self._most, self._kernels = max_parents, "" if kernels is None else check_kernels(kernels)
        self.knowledge, self.threads = knowledge, threads
        if order is None:
            first = np.arange(self._n)
            order = first if knowledge is None else knowledge.topological_start(first)
        score = score_from(score, penalty_discount, gamma)
        self.reprice(score, order, candidates, all_at_first=all_at_first)

    def reprice(
        self,
        score: Score,
        order: Sequence[int] | Indices | None,
        candidates: Sequence[Indices] | None = None,
        *,
        all_at_first: bool = False,
    ) -> float:
        """Start anew from an order with another score, and candidates as they are given here.

        Without an order, `load` has to follow.
        """
        self.score = score
        self._has_lists = candidates is not None
        # There need not be memory for those of before beside these.
        vars(self).pop("_sets", None)
        n, known = self._n, self.knowledge
        lists = (NONE, NONE) if candidates is None else _flat_candidates(candidates, known, n)
        sets = []
        for own in self._sources:
            size = ORACLE_SAMPLES if own.is_oracle else float(own.n_samples)
            enough = max(1, int(min(size / SAMPLES_PER_PARENT, 1e9)))
            few = min(n - 1, enough if self._most is None else self._most)
            sets.append((own.correlation, size, score.price(n, size), few, enough))
        _, self.n_samples, self.penalty, self.max_parents, columns = sets[0]
        # Where every variable is a column the core is told of no blocks: a faster way.
        blocks: Blocks = (NONE, NONE, [], 0, [])
        if not self._is_plain:
            most = int(self.block_sizes.max()) ** 2
            prices = [0.0, *(price_of(score, n, self.n_samples, k) for k in range(1, most + 1))]
            bonus = [] if self._bonus is None else self._bonus.T.ravel().tolist()
            blocks = self.block_sizes, self.leading, prices, columns, bonus
        self._sets = _core.ParentSets.create(
            [own[:4] for own in sets],
            self._which,
            *((None, None, []) if known is None else _constraints_of(known)),
            self._kernels,
            *lists,
            all_at_first and candidates is not None,
            blocks,
            self.given.astype(np.int64, copy=False),
        )
        gamma = score.gamma if isinstance(score, BIC) else 0.0
        self.edge_price = self.penalty, 2 * gamma * math.log(n)
        """What an edge between single columns costs, and the extended BIC's share of that."""
        return math.nan if order is None else self.reset(order)

    def __getstate__(self) -> dict[str, Any]:
        """The problem, the candidates as they are by now, and the state."""
        lists = [self.candidates(v) for v in range(self._n)] if self._has_lists else None
        return {**self.__dict__, "_sets": (lists, not self._sets.has_narrowed, self.state())}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """The same engine in another process, without the marks."""
        lists, all_at_first, state = kept.pop("_sets")
        self.__dict__.update(kept)
        self.reprice(self.score, None, lists, all_at_first=all_at_first)
        self.load(state)

    def copy(self) -> BicEngine:
        """An engine in the same state, without the marks."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _sets=self._sets.copy())
        return twin

    def kept_apart(
        self, pairs: Sequence[tuple[int, int]], knowledge: ResolvedKnowledge
    ) -> BicEngine:
        """The engine at the best graph near by that joins none of some pairs.

        Where a search has left this one, only what loses an edge, and what that touches, is
        searched again. The knowledge is that of before, which keeps the pairs apart besides.
        """
        twin, sets = object.__new__(type(self)), self._sets.kept_apart(pairs)
        twin.__dict__.update(self.__dict__, _sets=sets, knowledge=knowledge)
        return twin

    def state(self) -> BicState:
        """What `load` needs to go on from here: order, parent sets and cost."""
        return self._sets.state()

    def load(self, state: BicState) -> float:
        """Take up what a copy of this engine has come to elsewhere; marks are forgotten.

        From then on the engine behaves like that copy, to the last bit. The order alone would not
        do, since parent sets depend on the path. Both must have the same lists of candidates.
        """
        self._sets.load(*state, self.threads)
        return self._sets.cost

    def compiled_run(self, rng: np.random.Generator, **options: Any) -> CompiledRun:
        """A whole search of the core on this engine, to be run in slices.

        It takes its seeds and roots from the generator.
        """
        return _core.SearchRun(
            self._sets,
            rng.bit_generator,
            association=self.association(),
            threads=self.threads,
            **options,
        )

    def turn_arrows(self, limit: float, most: int) -> TurnedArrows:
        """What it costs to turn each of the first arrows of the class, all else found anew near by.

        What becomes of other arrows is told where no more than a limit is lost. Nothing changes.
        """
        causes, effects, compelled, edges, lost, more, gone, *triples, met, closed = (
            self._sets.turn_arrows(limit, most)
        )
        arrows, ends = gone
        return TurnedArrows(
            causes.astype(np.intp, copy=False),
            effects.astype(np.intp, copy=False),
            compelled != 0,
            edges.astype(np.intp, copy=False),
            lost,
            more.astype(np.intp, copy=False),
            (np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)), arrows.astype(np.intp)),
            (triples[0], triples[1], triples[2]),
            met,
            closed,
        )

    def rivals(self) -> FloatArray:
        """The odds of each edge u → v, by v and then by u, that another cause takes its place.

        That is Σ exp((t_w - t_u) / 2) over all w that may be a parent of v and are none, nor a
        descendant, t being what one adds to twice the log-likelihood beside the other parents. Not
        told, and empty, for blocks of columns and several sets of moments.
        """
        return self._sets.rivals()

    def doubtful(self) -> Indices:
        """The variables around which the graph may be wrong, if a search has left it.

        A false collider needs further edges that pay for it: it is part of a triangle or a square
        of the skeleton. Elsewhere only the ends of weak edges are in doubt: less than ten times
        their price.
        """
        return np.array(self._sets.doubtful(), dtype=np.intp)

    def association(self) -> FloatArray | None:
        """How much each pair depends on each other, given the given; None for correlations."""
        plain, sizes = self._is_plain, self.block_sizes
        if plain and not self.given.size:
            return None
        matrix = self._left_by_given
        own = matrix, sizes, self.leading
        return matrix if plain else association(*own, self.n_samples, self.score)

    @cached_property
    def _left_by_given(self) -> FloatArray:
        return without_given(self.moments.correlation, self.block_sizes, self.given)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return self._n

    def family_cost(self, variable: int, parents: Sequence[int] | Indices) -> float:
        """What a variable would cost with other parents; infinite if one of them may be none."""
        return self._sets.cost_with(variable, as_integers(parents))

    @property
    def order(self) -> Indices:
        """The present order, as a copy."""
        return self._sets.order().astype(np.intp, copy=False)

    @property
    def cost(self) -> float:
        """The cost of the present order; lower is better."""
        return self._sets.cost

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order, given variables first; marks are forgotten."""
        order = check_order(order, self._n)
        if self.given.size:
            order = order[np.argsort(~np.isin(order, self.given), kind="stable")]
        self._sets.reset(order.astype(np.int64, copy=False), self.threads)
        return self._sets.cost

    def move(self, variable: int, place: int) -> float:
        """Take a variable out and put it in at a place; those between shift by one."""
        self._sets.move(variable, place)
        return self._sets.cost

    def permute(self, start: int, block: Sequence[int] | Indices) -> float:
        """Rearrange the variables at the places start, start + 1, … into ``block``.

        Filled from the left, so that only pairs whose order changes ever pass each other.
        """
        order = self.order
        start, variables = check_block(order, start, block)
        order[start : start + len(variables)] = variables
        if self.knowledge is not None and not self.knowledge.allows_order(order):
            raise KnowledgeError(f"the knowledge forbids the order {order.tolist()[:8]} …")
        for k, variable in enumerate(variables.tolist(), start):
            self._sets.move(variable, k)
        return self._sets.cost

    def scan(self, variable: int) -> Changes:
        """The change of the cost for each place; infinite where the knowledge forbids it."""
        return self._sets.scan(variable)

    def candidates(self, variable: int) -> Indices:
        """Those that may become parents of a variable, ascending; the knowledge may forbid some.

        If all may at first, those that are left after `narrow`, parents aside.
        """
        return self._sets.candidates(variable).astype(np.intp, copy=False)

    def renew(self, variable: int) -> bool:
        """Take in candidates that have been missed; whether there were any.

        These are all variables that would improve the fit of this one if they were allowed to, and
        its neighbours and theirs in the present DAG. When no variable has any left, no single
        addition or removal improves any parent set. Marks must have ended.
        """
        return self._sets.renew(variable)

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in the DAG of the present order, ascending."""
        return self._sets.parents(variable).astype(np.intp, copy=False)

    @property
    def n_edges(self) -> int:
        """Number of edges in the DAG of the present order."""
        _, (parents, _), _, _ = self._sets.state()
        return len(parents)

    def dag(self) -> Adjacency:
        """The DAG of the present order: entry (i, j) is 1 for i → j."""
        return self._sets.dag()

    def cpdag(self) -> Adjacency:
        """The Markov equivalence class of the DAG; see `qwo.to_cpdag`."""
        return self._sets.cpdag()

    def take_best(self, most: int = 16) -> bool:
        """Go over to the best of all DAGs; whether the present one is it then.

        It is the best of those that knowledge allows, with at most `max_parents` parents a
        variable. Where there are more variables than ``most`` or lists of candidates, or where
        others all but determine a variable, nothing happens, and nobody can tell.
        """
        return self._sets.take_best(most)

    def family_table(
        self, variable: int, candidates: Indices, required: Indices, most_nodes: int | None = None
    ) -> tuple[npt.NDArray[np.uint64], FloatArray] | None:
        """Parent sets that can be in a best DAG, as bits, and their costs, by branch and bound.

        For single columns. None if there are too many, or where others all but determine a
        variable, so that rounding would decide.
        """
        complete, sets, costs = _core.family_table(
            np.ascontiguousarray(self.moments.correlation),
            variable,
            candidates.astype(np.int64),
            required.astype(np.int64),
            samples=self.n_samples,
            price=self.edge_price[0],
            most_parents=max(self.max_parents, len(required)),
            most_nodes=most_nodes or MOST_NODES,
        )
        return (sets, costs) if complete else None

    def sink_search(self, part: Indices, tables: list[Any], best_known: float) -> _core.SinkSearch:
        """Branch and bound over the orders of variables, with their family tables."""
        return _core.SinkSearch.create(
            np.ascontiguousarray(self.moments.correlation),
            part.astype(np.int64),
            tables,
            samples=self.n_samples,
            price=self.edge_price[0],
            best_known=best_known,
            tolerance=1e-6 * self.penalty,
        )

    def coefficients(self) -> FloatArray:
        """B on the correlation scale: entry (i, j) belongs to i → j; i, j are columns of blocks."""
        columns = self._columns(self.block_sizes)
        matrix = np.zeros((len(self.moments.correlation),) * 2)
        for child, own in enumerate(self._columns(self.leading)):
            parents, values, _ = self._sets.regression(child)
            causes = [i for p in parents for i in columns[p]]
            matrix[np.ix_(causes, own)] = np.reshape(values, (len(causes), len(own)))
        return matrix

    def residual_covariances(self) -> list[FloatArray]:
        """For each variable the covariance of its leading columns given the parents."""
        found = [self._sets.regression(v)[2] for v in range(self._n)]
        return [
            np.reshape(own, (size, size)) for own, size in zip(found, self.leading, strict=True)
        ]

    def residual_variances(self) -> FloatArray:
        """Variances of the leading columns given the parents, on the correlation scale."""
        return np.concatenate([np.diagonal(own) for own in self.residual_covariances()])

    def _columns(self, counts: Indices) -> list[range]:
        """So many columns of each variable, the first ones."""
        starts = np.cumsum(self.block_sizes) - self.block_sizes
        return [range(k, k + n) for k, n in zip(starts.tolist(), counts.tolist(), strict=True)]

    def mark(self) -> int:
        """Remember the present state. Marks nest."""
        return self._sets.mark()

    def undo(self, mark: int) -> float:
        """Return to a marked state, exactly; the mark and all after it end."""
        self._sets.undo(mark)
        return self._sets.cost

    def release(self, mark: int) -> None:
        """Keep the present state; the mark and all after it end."""
        self._sets.release(mark)


def _as_sources(moments: Sequence[Moments]) -> tuple[Moments, ...]:
    """Several moments of the same variables."""
    sources = tuple(moments)
    for own in sources:
        if not isinstance(own, Moments):
            raise ArgumentError(f"moments must be qwo.Moments; got a {type(own).__name__}")
        if own.names != sources[0].names:
            raise ArgumentError("several moments must be of the same variables, in the same order")
    if not sources:
        raise ArgumentError("there must be one set of moments at least")
    return sources


def _which_moments(given: Sequence[int] | Indices, n: int, count: int) -> npt.NDArray[np.int64]:
    """Which of several moments each variable has."""
    which = as_integers(given)
    if len(which) != n or not (which.min() >= 0 and which.max() < count):
        raise ArgumentError(
            f"moments_of must give one of 0 … {count - 1} for each of the {n} variables; "
            f"got {which.tolist()[:8]}"
        )
    return which


def _given_variables(given: Sequence[int] | Indices, n: int) -> Indices:
    """The variables that are given, ascending."""
    variables = np.unique(as_integers(given))
    if variables.size and not (variables[0] >= 0 and variables[-1] < n):
        raise ArgumentError(f"given must be some of the variables 0 … {n - 1}; got {given}")
    if len(variables) == n:
        raise ArgumentError(f"given must leave one of the {n} variables at least to be explained")
    return variables.astype(np.intp)


def _sizes_of_blocks(
    given: Sequence[int] | Indices, sources: tuple[Moments, ...]
) -> npt.NDArray[np.int64]:
    """How many columns each variable owns."""
    sizes = check_block_sizes(given, sources[0].n_variables)
    if len(sources) > 1 and sizes.max() > 1:
        raise ArgumentError(
            f"block_sizes go with one set of moments, not with several for several sets of rows; "
            f"got {len(sources)}"
        )
    return sizes


def _constraints_of(
    knowledge: ResolvedKnowledge,
) -> tuple[npt.NDArray[np.uint8] | None, npt.NDArray[np.uint8] | None, list[list[int]]]:
    """Allowed parents by child, precedence, and required parents, as the core takes them."""
    may_cause = np.ascontiguousarray(knowledge.allowed_parents.T).astype(np.uint8)
    precedes = np.ascontiguousarray(knowledge.before).astype(np.uint8)
    return may_cause, precedes if precedes.any() else None, parents_of(knowledge.required)


def _flat_candidates(
    lists: Sequence[Indices], knowledge: ResolvedKnowledge | None, n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lists one after the other, and where each ends."""
    if len(lists) != n:
        raise ArgumentError(f"candidates has {len(lists)} lists for {n} variables")
    lists = [as_integers(own) for own in lists]
    if knowledge is not None:
        allowed, required = knowledge.allowed_parents, knowledge.required
        lists = [
            np.union1d(own[allowed[own, v]], np.flatnonzero(required[:, v]))
            for v, own in enumerate(lists)
        ]
    flat = as_integers(np.concatenate(lists))
    if flat.size and not (flat.min() >= 0 and flat.max() < n):
        raise ArgumentError(f"candidates go from 0 to {n - 1}; got {flat.min()} … {flat.max()}")
    return flat, np.cumsum([len(own) for own in lists], dtype=np.int64)
