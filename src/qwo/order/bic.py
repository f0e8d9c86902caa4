"""The exact BIC engine: for an order, every variable's best parents among its predecessors.

The cost of an order is Σ_v [ N log σ²(v | pa(v)) + penalty · |pa(v)| ], with σ² on the correlation
scale and pa(v) found by grow-shrink in the prefix of v. It conditions on few variables, so it needs
far fewer samples than G^π by partial correlations, and it works for n > N.

Memory grows with n² times the number of parents, unless each variable has a list of candidates:
then it grows with n times their number, and the search takes in those that have been missed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.blocks import association, check_block_sizes
from qwo.order.build import check_kernels
from qwo.order.protocol import Changes, EngineBase, as_integers, check_block, check_order
from qwo.order.score import BIC, Score, price_of, score_from
from qwo.types import Adjacency, FloatArray, Indices

CompiledRun = _core.SearchRun

Flat = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Lists one after the other, and where each ends."""

MomentSet = tuple[FloatArray, float, float, int]
"""Correlation matrix, N, price of an edge, most parents."""

Blocks = tuple[npt.NDArray[np.int64], list[float], int]
"""Block sizes, none if all are 1; prices by number of parameters; most columns of parents."""

BicState = tuple[npt.NDArray[np.int64], Flat, Flat, float]
"""What a `BicEngine` has come to, a few numbers per variable; see `BicEngine.state`."""

ORACLE_SAMPLES = 1e10
"""N that stands for infinity: the BIC needs a finite one to weigh fit against edges. At 1e8, one
random model in a hundred looked as if it had an edge less; far above 1e10, rounding counts as
fit."""

SAMPLES_PER_PARENT = 3.0
"""A variable gets at most N / 3 parents: beyond that the likelihood measures noise."""


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
        For each variable those that may become its parents, as `qwo.order.candidates` finds them;
        all if not given. The knowledge has the last word: what it requires is a candidate, what it
        forbids is none.
    all_at_first : bool
        Whether all are candidates nevertheless until `narrow`, which the search calls after its
        first descent: the parents that a variable needs while the order is rough may be on no list.
    given : sequence of int, optional
        Variables that stand before all others and have no parents, but may be parents: lagged
        copies, covariates, indicators of regimes. They come first in every order, in whatever
        order they are there, never move, and are never shuffled.
    block_sizes : sequence of int, optional
        How many columns of the moments each variable owns, one variable after the other; 1 if not
        given. The columns of a variable must be whitened: see `qwo.order.blocks`. Orders, parents,
        knowledge and candidates are of variables.
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
        threads: int = 1,
    ) -> None:
        if block_sizes is None and isinstance(moments, Moments) and moments.has_blocks:
            moments, block_sizes = moments.as_whitened()
        self._sources = _as_sources(moments)
        self.moments = self._sources[0]
        self.block_sizes = _block_sizes(block_sizes, self._sources)
        n = self.moments.n_variables if self.block_sizes is None else len(self.block_sizes)
        self._which = _which(moments_of, n, len(self._sources))
        self._n = n
        self._most_parents = max_parents
        self.given = _given(given, n)
        self.knowledge = knowledge
        self.threads = threads
        self._kernels = check_kernels(kernels)
        if order is None:
            first = np.arange(n)
            order = first if knowledge is None else knowledge.topological_start(first)
        score = score_from(score, penalty_discount, gamma)
        self.reprice(score, order, candidates, all_at_first=all_at_first)

    def reprice(
        self,
        score: Score,
        order: Sequence[int] | Indices,
        candidates: Sequence[Indices] | None = None,
        *,
        all_at_first: bool = False,
    ) -> float:
        """Start anew from an order with another score, and candidates as they are given here."""
        self.score, n = score, self._n
        self._problem = [_moment_set(own, score, n, self._most_parents) for own in self._sources]
        _, self.n_samples, self.penalty, self.max_parents = self._problem[0]
        self._blocks = _blocks(self.block_sizes, score, n, self.n_samples)
        self._has_lists = candidates is not None
        # There need not be memory for those of before beside these.
        vars(self).pop("_sets", None)
        self._sets = self._make_sets(candidates, all_at_first and self._has_lists)
        return self.reset(order)

    @property
    def edge_price(self) -> tuple[float, float]:
        """What an edge between single columns costs, and the extended BIC's share of that."""
        gamma = self.score.gamma if isinstance(self.score, BIC) else 0.0
        return self.penalty, 2 * gamma * math.log(self._n)

    def _make_sets(
        self, candidates: Sequence[Indices] | None, all_at_first: bool
    ) -> _core.ParentSets:
        return _core.ParentSets.create(
            self._problem,
            self._which,
            *_constraints(self.knowledge),
            self._kernels,
            *_candidates(candidates, self.knowledge, self._n),
            all_at_first,
            self._blocks,
            self.given.astype(np.int64, copy=False),
        )

    def __getstate__(self) -> dict[str, Any]:
        """The problem, the candidates as they are by now, and the state."""
        lists = [self.candidates(v) for v in range(self._n)] if self._has_lists else None
        return {**self.__dict__, "_sets": (lists, not self._sets.has_narrowed, self.state())}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """The same engine in another process, without the marks."""
        lists, all_at_first, state = kept.pop("_sets")
        self.__dict__.update(kept)
        self._sets = self._make_sets(lists, all_at_first)
        self.load(state)

    def copy(self) -> BicEngine:
        """An engine in the same state, without the marks."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _sets=self._sets.copy())
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
            association=None if self.block_sizes is None else self.association(),
            threads=self.threads,
            **options,
        )

    def reroot(self, variable: int) -> bool:
        """Go to the member of the equivalence class that has a variable as a root of its piece.

        Compelled edges stay; the edges of the undirected piece that the variable is in turn away
        from it. The cost stays what it is, up to rounding, or falls where a variable finds better
        parents among those before it now. False, and nothing happens, if the knowledge or the
        candidates forbid it.
        """
        return self._sets.reroot(variable)

    def cross(self, other: BicEngine, least_gain: float) -> bool:
        """Take over those connected pieces of another engine's DAG that are better.

        Each must lower the cost by more than so much, and leave the graph acyclic. Whether there
        was any. The engines must have the same data, price and knowledge.
        """
        return self._sets.cross(other._sets, least_gain)

    def differing(self, other: BicEngine) -> Indices:
        """The variables whose neighbours or colliders are not the same in another engine's DAG.

        Where there are none, both graphs are of one equivalence class.
        """
        return np.array(self._sets.differing(other._sets), dtype=np.intp)

    def doubtful(self) -> Indices:
        """The variables around which the graph may be wrong, if a search has left it.

        A false collider needs further edges that pay for it: it is part of a triangle or a square
        of the skeleton. Elsewhere only the ends of weak edges are in doubt: less than ten times
        their price.
        """
        return np.array(self._sets.doubtful(), dtype=np.intp)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return self._n

    @property
    def typical_penalty(self) -> float:
        """The mean price of an edge over all pairs: the penalty, unless blocks of columns differ.

        The penalty itself is the price of an edge between single columns.
        """
        if self.block_sizes is None:
            return self.penalty
        values, counts = np.unique(self.block_sizes, return_counts=True)
        prices = np.array(self._blocks[1])[np.outer(values, values)]
        return float((prices * np.outer(counts, counts)).sum() / self._n**2)

    def association(self) -> FloatArray:
        """How much each pair of variables depends on each other: correlations, as it were."""
        if self.block_sizes is None:
            return self.moments.correlation
        correlation = self.moments.correlation
        return association(correlation, self.block_sizes, self.n_samples, self.score)

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

    @property
    def noise(self) -> float:
        """The difference of costs up to which two are equal."""
        return self._sets.noise

    def reset(self, order: Sequence[int] | Indices) -> float:
        """Start anew from an order, given variables first; marks are forgotten."""
        self._sets.reset(self._permitted(order), self.threads)
        return self._sets.cost

    def cost_of(self, order: Sequence[int] | Indices) -> float:
        """What `reset` to an order would cost; nothing changes, and it takes little memory."""
        return self._sets.cost_of(self._permitted(order), self.threads)

    def _permitted(self, order: Sequence[int] | Indices) -> Indices:
        order = check_order(order, self._n)
        if self.given.size:
            order = order[np.argsort(~np.isin(order, self.given), kind="stable")]
        return order.astype(np.int64, copy=False)

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

    def narrow(self) -> None:
        """Leave each variable the candidates of its list and its parents, if all were ones so far.

        Order, parents and cost stay what they are. Marks must have ended.
        """
        self._sets.narrow()

    def renew(self, variable: int) -> bool:
        """Take in candidates that have been missed; whether there were any.

        These are all variables that would improve the fit of this one if they were allowed to, and
        its neighbours and theirs in the present DAG. When no variable has any left, no single
        addition or removal improves any parent set. Marks must have ended.
        """
        return self._sets.renew(variable)

    def exchange(self, variable: int, least_gain: float = 0.0) -> bool:
        """Look for better parents among all that are no descendants; whether there were any.

        One is given up for others, or all are found anew: parent sets grow and shrink from what
        they were, and those that came first may keep out better ones.
        """
        return self._sets.exchange(variable, least_gain)

    def parents(self, variable: int) -> Indices:
        """The parents of a variable in the DAG of the present order, ascending."""
        return self._sets.parents(variable).astype(np.intp, copy=False)

    @property
    def n_edges(self) -> int:
        """Number of edges in the DAG of the present order."""
        _, (parents, _), _, _ = self.state()
        return len(parents)

    def dag(self) -> Adjacency:
        """The DAG of the present order: entry (i, j) is 1 for i → j."""
        _, (parents, ends), _, _ = self.state()
        dag = np.zeros((self._n, self._n), dtype=np.int8)
        dag[parents, np.searchsorted(ends, np.arange(len(parents)), side="right")] = 1
        return dag

    def cpdag(self) -> Adjacency:
        """The Markov equivalence class of the DAG; see `qwo.to_cpdag`."""
        return self._sets.cpdag()

    def take_best(self) -> bool:
        """Go over to the best of all DAGs; whether the present one is it then.

        It is the best of those that knowledge allows, with at most `max_parents` parents a
        variable. Where there are more than 16 variables or lists of candidates, or where others all
        but determine a variable, nothing happens, and nobody can tell.
        """
        return self._sets.take_best()

    def coefficients(self) -> FloatArray:
        """B on the correlation scale: entry (i, j) belongs to i → j.

        With blocks of columns i and j are columns.
        """
        columns = self._columns()
        matrix = np.zeros((len(self.moments.correlation),) * 2)
        for child, own in enumerate(columns):
            parents, values, _ = self._sets.regression(child)
            causes = [i for p in parents for i in columns[p]]
            matrix[np.ix_(causes, own)] = np.reshape(values, (len(causes), len(own)))
        return matrix

    def residual_covariances(self) -> list[FloatArray]:
        """For each variable the covariance of its columns given the parents."""
        found = [self._sets.regression(v)[2] for v in range(self._n)]
        return [
            np.reshape(own, (len(columns), len(columns)))
            for own, columns in zip(found, self._columns(), strict=True)
        ]

    def residual_variances(self) -> FloatArray:
        """Variances of the columns given the parents, on the correlation scale."""
        if self.block_sizes is None:
            return np.array([self._sets.regression(v)[2][0] for v in range(self._n)])
        return np.concatenate([np.diagonal(own) for own in self.residual_covariances()])

    def _columns(self) -> list[range]:
        sizes = np.ones(self._n, np.int64) if self.block_sizes is None else self.block_sizes
        ends = np.cumsum(sizes).tolist()
        return [range(end - size, end) for size, end in zip(sizes.tolist(), ends, strict=True)]

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


def _as_sources(moments: Moments | Sequence[Moments]) -> tuple[Moments, ...]:
    """One or several moments of the same variables."""
    sources = (moments,) if isinstance(moments, Moments) else tuple(moments)
    for own in sources:
        if not isinstance(own, Moments):
            raise ArgumentError(f"moments must be qwo.Moments; got a {type(own).__name__}")
        if own.names != sources[0].names:
            raise ArgumentError("several moments must be of the same variables, in the same order")
    if not sources:
        raise ArgumentError("there must be one set of moments at least")
    return sources


def _which(given: Sequence[int] | Indices | None, n: int, count: int) -> npt.NDArray[np.int64]:
    """Which of several moments each variable has; empty for the first."""
    if given is None:
        return np.empty(0, np.int64)
    which = as_integers(given)
    if len(which) != n or not (which.min() >= 0 and which.max() < count):
        raise ArgumentError(
            f"moments_of must give one of 0 … {count - 1} for each of the {n} variables; "
            f"got {which.tolist()[:8]}"
        )
    return which


def _given(given: Sequence[int] | Indices | None, n: int) -> Indices:
    """The variables that are given, ascending."""
    if given is None:
        return np.empty(0, np.intp)
    variables = np.unique(as_integers(given))
    if variables.size and not (variables[0] >= 0 and variables[-1] < n):
        raise ArgumentError(f"given must be some of the variables 0 … {n - 1}; got {given}")
    if len(variables) == n:
        raise ArgumentError(f"given must leave one of the {n} variables at least to be explained")
    return variables.astype(np.intp)


def _block_sizes(
    given: Sequence[int] | Indices | None, sources: tuple[Moments, ...]
) -> npt.NDArray[np.int64] | None:
    """How many columns each variable owns; None if each owns one, which is today's way."""
    if given is None:
        return None
    sizes = check_block_sizes(given, sources[0].n_variables)
    if (sizes == 1).all():
        return None
    if len(sources) > 1:
        raise ArgumentError(
            f"block_sizes go with one set of moments, not with several for several sets of rows; "
            f"got {len(sources)}"
        )
    return sizes


def _blocks(sizes: npt.NDArray[np.int64] | None, score: Score, n: int, n_samples: float) -> Blocks:
    """Blocks as the core takes them; the prices are for 0, 1, 2 … parameters."""
    if sizes is None:
        return np.empty(0, np.int64), [], 0
    most = int(sizes.max()) ** 2
    prices = [0.0, *(price_of(score, n, n_samples, k) for k in range(1, most + 1))]
    return sizes, prices, _most_parents(n_samples, None)


def _moment_set(moments: Moments, score: Score, n: int, max_parents: int | None) -> MomentSet:
    """Moments as the core takes them: correlation matrix, N, price of an edge, most parents."""
    size = ORACLE_SAMPLES if moments.is_oracle else float(moments.n_samples)
    most = min(n - 1, _most_parents(size, max_parents))
    return moments.correlation, size, score.price(n, size), most


def _most_parents(n_samples: float, given: int | None) -> int:
    if given is None:
        return max(1, int(min(n_samples / SAMPLES_PER_PARENT, 1e9)))
    if operator.index(given) < 0:
        raise ArgumentError(f"max_parents must not be negative; got {given}")
    return operator.index(given)


def _constraints(
    knowledge: ResolvedKnowledge | None,
) -> tuple[npt.NDArray[np.uint8] | None, npt.NDArray[np.uint8] | None, list[list[int]]]:
    """Allowed parents by child, precedence, and required parents, as the core takes them."""
    if knowledge is None:
        return None, None, []
    may_cause = np.ascontiguousarray(knowledge.allowed_parents.T).astype(np.uint8)
    precedes = np.ascontiguousarray(knowledge.before).astype(np.uint8)
    required = [np.flatnonzero(column).tolist() for column in knowledge.required.T]
    return may_cause, precedes if precedes.any() else None, required


def _candidates(
    lists: Sequence[Indices] | None, knowledge: ResolvedKnowledge | None, n: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lists one after the other, and where each ends; nothing at all for no lists."""
    if lists is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
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
