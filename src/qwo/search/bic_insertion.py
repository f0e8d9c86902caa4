"""Insertion search on the exact BIC engine, run inside the compiled core.

What `qwo.search.insertion` does with any engine, and more: edges are tucked and turned until that
does not help, from several starts, and connected pieces of the order are shuffled. The core runs in
slices; between them this module keeps the time limit, the callback and the keyboard, none of which
changes the result of a search that is left to finish.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property, partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.bic import BicEngine, BicState
from qwo.parallel import run_many
from qwo.search.control import Control, Progress, SearchOutcome, Status, Stopped
from qwo.search.start import Tree, spanning_tree, tree_order
from qwo.types import FloatArray, Indices

SLICE = 0.02
"""Seconds that the core runs before it is asked whether to go on."""

THOROUGH_UP_TO, FEW_STARTS_UP_TO, THIN_UP_TO = 200, 500, 1000
"""Up to so many variables the search begins up to twelve times, up to so many three times. Beyond,
it begins once, from whichever order costs less as it stands. More restarts than asked for are made
up to the first number, and up to the last where the graph is much like a tree."""

ALL_TUCKED_UP_TO = 50
"""Up to so many variables a search near an order tucks all edges, which takes half of its time."""

MOST_STARTS, FEW_STARTS = 12, 3

ENOUGH = {2.5: 3, 5.0: 1, math.inf: 0}
"""How many starts that agree on a variable are enough. The less a graph is like a tree, the
longer starts take and the less they find. The keys say how much like a tree: how many edges a
variable an order from the spanning tree, as it stands, may cost more than the best order known."""

DOUBTED = 0.25
"""Share of doubtful variables up to which one start that agrees is enough: restarts around them do
the rest."""

FRUITLESS = 5
"""So many starts in a row without success end them, too."""

ROUNDS = 2
"""Where starts do not agree, starts and restarts are made once more."""

TRIES = 1
"""Restarts around each doubtful variable, if there is reason for more."""

THIN = 1.0
"""How much like a tree, as above, a graph has to be for that to be a reason, and for twice as many:
where every direction is nearly as good as its reverse, all starts may agree on an error."""

RUGGED = 0.05
"""Share of restarts that end worse by less than half the price of an edge from which on there are
many optima, and the best is worth more restarts."""

DENSE = 3.5
"""Edges per variable from which on there are no further starts and no more restarts than asked for:
they take much longer than in sparse graphs, and find nothing."""

RESTARTS_PER_CHAIN = 20
MOST_CHAINS = 8

WAY_BACK = 0.5
"""Seconds before the time limit at which chains on a cluster end, to be back in time; at most half
of what is left."""

Asked = Callable[[], bool]


def bic_insertion(
    engine: BicEngine,
    *,
    restarts: int = 20,
    starts: int | None = None,
    tries: int | None = None,
    tucks: bool = True,
    nearby: bool = False,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that no insertion, tuck or turn improves, from several starts, shaken and repaired.

    Parameters
    ----------
    engine : BicEngine
        At the order to start from; left at the order found.
    restarts : int
        How often a connected piece of the order found is shuffled and repaired by insertions, in
        each of at most two rounds. They run in chains of twenty or more, at most eight, each from
        the order found first; a chain whose first ten lead back to it, or not near it where no edge
        is weak, ends there. The best chain wins.
        Where none are wanted, nothing but the search from the given order is made. Otherwise there
        is no search at all where the best graph can be had: see `BicEngine.take_best`.
    starts : int, optional
        The most further orders to start from: breadth first through the maximum spanning tree of
        the correlations, from random roots. Better pieces of what they lead to are taken over. They
        end when three agree on each variable, or one where few are doubtful. If not given, 12 up to
        200 variables, 3 up to 500; beyond, the search starts from one such order if it costs less
        as it stands.
    tries : int, optional
        If restarts have improved the order, or one in twenty has ended with one that is worse by
        less than half the price of an edge, more follow, until so many around each variable that is
        doubtful (`BicEngine.doubtful`) have failed since something has changed there; 1 up to 200
        variables if not given. Twice as many follow where the graph is much like a tree, up to 1000
        variables, and around those variables on which starts have not agreed.
    tucks : bool
        Whether edges are tucked and turned; without, the search ends at the first order that no
        insertion improves.
    nearby : bool
        The order is the best of data much like these: no edge is turned, tucks that cost more than
        two edges are given up, and there are no sweeps and no further starts. Above 50 variables
        only edges of what insertions change are tucked.
    knowledge : ResolvedKnowledge, optional
        That of the engine if not given; orders that it forbids are never visited.
    control : Control, optional
        Time limit and callback.
    n_jobs : int
        Threads among which the chains are shared. The result does not depend on it.
    cluster : dask.distributed.Client or str, optional
        A Dask cluster to run the chains on instead, or the address of its scheduler; a single chain
        runs here. The result is the same. A search that is stopped keeps the chains that are back.
    random_state : None, int or Generator
        Seed or source of randomness.
    """
    n = engine.n_variables
    most = _default_starts(n) if starts is None else starts
    _check(restarts=restarts, starts=most, tries=tries or 0)
    knowledge = engine.knowledge if knowledge is None else knowledge
    _check_order(engine.order, knowledge)
    rng = np.random.default_rng(random_state)
    run = _Run(engine, control or Control(), rng, tucks=tucks)
    if (nearby or restarts) and run.is_proved():
        return run.outcome()
    if nearby or not restarts:
        run.settle(hasty=nearby, nearby=nearby and n > ALL_TUCKED_UP_TO)
        if restarts:
            run.restart(_chain_lengths(restarts), n_jobs, cluster)
        return run.outcome()
    orders = _TreeOrders(engine.association(), knowledge, rng)
    if starts is None and n > FEW_STARTS_UP_TO:
        run.settle_from_better(orders())
    else:
        run.settle()
    for _ in range(ROUNDS):
        agreed = run.start_again(orders, most)
        improved = run.restart(_chain_lengths(restarts), n_jobs, cluster)
        each = _default_tries(n, thin=run.is_thin) if tries is None else tries
        if improved or run.is_thin or run.n_near >= RUGGED * restarts:
            improved |= run.insist(each if agreed and not run.is_thin else 2 * each)
        elif not agreed:
            improved |= run.insist(2 * each, run.disputed)
        if improved:
            run.settle(nearby=n > FEW_STARTS_UP_TO)
        if agreed or not run.goes_on or not run.is_sparse:
            break
    return run.outcome()


def _default_starts(n_variables: int) -> int:
    if n_variables <= THOROUGH_UP_TO:
        return MOST_STARTS
    return FEW_STARTS if n_variables <= FEW_STARTS_UP_TO else 0


def _default_tries(n_variables: int, *, thin: bool) -> int:
    return TRIES if n_variables <= (THIN_UP_TO if thin else THOROUGH_UP_TO) else 0


def _check(**counts: int) -> None:
    for name, value in counts.items():
        if value < 0:
            raise ArgumentError(f"{name} must be at least 0; got {value}", option=name)


def _chain_lengths(restarts: int) -> list[int]:
    """How many restarts each chain makes; a function of their number alone."""
    chains = min(MOST_CHAINS, -(-restarts // RESTARTS_PER_CHAIN))
    return [restarts // chains + (k < restarts % chains) for k in range(chains)] if chains else []


def _check_order(order: Indices, knowledge: ResolvedKnowledge | None) -> None:
    if knowledge is not None and not knowledge.allows_order(order):
        raise KnowledgeError(
            "the start order contradicts the knowledge; take knowledge.topological_start(order)"
        )


class _TreeOrders:
    """Orders from random roots of the spanning tree, as the knowledge allows them."""

    def __init__(
        self, correlation: FloatArray, knowledge: ResolvedKnowledge | None, rng: np.random.Generator
    ) -> None:
        self._correlation = correlation
        self._knowledge = knowledge
        self._rng = rng

    @cached_property
    def _tree(self) -> Tree:
        return spanning_tree(self._correlation)

    def __call__(self) -> Indices:
        order = tree_order(self._tree, int(self._rng.integers(len(self._tree))))
        return order if self._knowledge is None else self._knowledge.topological_start(order)


class _Chain:
    """Restarts one after the other on one engine."""

    def __init__(
        self,
        engine: BicEngine,
        seed: int,
        *,
        length: int = 0,
        tries: int = 0,
        centres: Indices | None = None,
    ) -> None:
        self.engine = engine
        self._restarts = engine.compiled_restarts(seed, length=length, tries=tries, centres=centres)

    def run(self, asked_to_stop: Asked) -> None:
        """Until they are done, or someone asks to stop; the engine is no worse afterwards."""
        try:
            while not asked_to_stop() and not self._restarts.run(SLICE):
                pass
        finally:
            self._restarts.end()

    @property
    def improved(self) -> bool:
        """Whether one of them has improved the order."""
        return self._restarts.n_improved > 0

    @property
    def n_near(self) -> int:
        """How many have ended a little worse than they began."""
        return self._restarts.n_near


class _Returned(NamedTuple):
    """What a chain that ran elsewhere has come to."""

    state: BicState
    cost: float
    improved: bool
    n_near: int
    in_time: bool


def _run_elsewhere(engine: BicEngine, deadline: float, task: tuple[int, int]) -> _Returned:
    """A chain in another process, until a time of the day; the task is its seed and length."""
    seed, length = task
    chain = _Chain(engine.copy(), seed, length=length)
    chain.run(lambda: time.time() >= deadline)
    state, cost, in_time = chain.engine.state(), chain.engine.cost, time.time() < deadline
    return _Returned(state, cost, chain.improved, chain.n_near, in_time)


class _Run:
    """One search: what the engine has come to, and why it ended."""

    def __init__(
        self, engine: BicEngine, control: Control, rng: np.random.Generator, *, tucks: bool
    ) -> None:
        self._engine = engine
        self._control = control
        self._rng = rng
        self._tucks = tucks
        self._status: Status = "converged"
        self._proved = False
        self._round = 0
        self._trace = [(control.seconds, engine.cost)]
        self._moves = 0
        self._scans = 0
        self._noise = engine.noise
        self._agreed = np.zeros(engine.n_variables, dtype=np.intp)
        self._cost_in_vain = math.inf
        self._compared = engine
        self.disputed: Indices = np.arange(0)
        """Variables on whose neighbours and colliders not enough starts have agreed."""
        self.is_thin = False
        """Whether an order from the spanning tree has cost little more than the best."""
        self.n_near = 0
        """How many of the last restarts have ended near where they began."""

    @property
    def goes_on(self) -> bool:
        """Whether nobody has stopped the search."""
        return self._status == "converged"

    @property
    def is_sparse(self) -> bool:
        """Whether more starts and restarts are worth their time."""
        return self._engine.n_edges <= DENSE * self._engine.n_variables

    def settle_from_better(self, from_tree: Indices) -> None:
        """Begin at an order from the spanning tree if it costs less as it stands, and settle."""
        cost = self._engine.cost_of(from_tree)
        if cost < self._engine.cost:
            self._engine.reset(from_tree)
        self._note_cost()
        self.settle()
        self._shape(cost)

    def _shape(self, from_tree: float) -> float:
        """How far the graph is from a tree, and note whether that is little.

        It is what an order from the spanning tree, as it stands, costs more, in edges a variable.
        """
        edge_each = self._engine.typical_penalty * self._engine.n_variables
        away = (from_tree - self._engine.cost) / edge_each
        self.is_thin |= bool(away <= THIN)
        return away

    def settle(self, *, hasty: bool = False, nearby: bool = False) -> None:
        """Descent, tucks, turns and sweeps to the first local optimum; a part of that in haste."""
        self._settle(self._engine, sweep=not hasty and not nearby, hasty=hasty, nearby=nearby)

    def is_proved(self) -> bool:
        """Go over to the best graph of all where there are few variables; whether that is it."""
        self._proved = not self._asked_to_stop() and self._engine.take_best()
        self._note_cost()
        return self._proved

    def _settle(
        self,
        engine: BicEngine,
        *,
        sweep: bool = True,
        hasty: bool = False,
        nearby: bool = False,
        known: BicEngine | None = None,
    ) -> None:
        search = engine.compiled_search(
            self._seed(), tucks=self._tucks, sweep=sweep, hasty=hasty, nearby=nearby, known=known
        )
        offset, best = self._control.seconds, self._trace[-1][1]
        while not self._asked_to_stop():
            if search.run(min(SLICE, self._control.remaining)):
                break
        self._trace.extend((offset + t, cost) for t, cost in search.trace[1:] if cost < best)
        self._moves += search.counts["moves"]
        self._scans += search.counts["scans"]

    def start_again(self, orders: Callable[[], Indices], most: int) -> bool:
        """The same from other orders; whether enough of them agree on every variable.

        That is on its neighbours and colliders, so that errors in other places do not count. The
        engine keeps the best, with every better piece of the others.
        """
        agreed = self._agreed
        agreed[self._engine.differing(self._compared)] = 0
        fruitless = 0
        enough = ENOUGH[min(ENOUGH)]
        for _ in range(most if self.is_sparse else 0):
            if not self.goes_on or fruitless == FRUITLESS or agreed.min() >= enough:
                break
            before = self._engine.cost
            challenger = self._engine.copy()
            away = self._shape(challenger.reset(orders()))
            enough = min(enough, next(count for most, count in ENOUGH.items() if away <= most))
            if enough == 0:
                return True
            self._settle(challenger, sweep=False, known=self._engine)
            differing = self._engine.differing(challenger)
            if abs(challenger.cost - before) > self._noise:
                self._join(challenger)
            better = self._engine.cost < before - self._noise
            fruitless = 0 if better else fruitless + 1
            agreed += 1
            agreed[differing] = 0 if better else agreed[differing] - 1
            if len(self._engine.doubtful()) <= DOUBTED * len(agreed):
                enough = 1
        self.disputed = np.flatnonzero(agreed < enough) if most else np.arange(0)
        if self.disputed.size:
            self._compared = self._engine.copy()
        return self.disputed.size == 0

    def _join(self, challenger: BicEngine) -> None:
        """Go over to what is better, and take from the other what is better there."""
        if challenger.cost < self._engine.cost:
            beaten = self._engine.copy()
            self._engine.adopt(challenger)
            challenger = beaten
        if self.goes_on and self._engine.cross(challenger, self._noise):
            self._settle(self._engine, sweep=False)
        self._note_cost()

    def restart(self, lengths: list[int], jobs: int, cluster: Any) -> bool:
        """Chains of restarts; whether they have improved the order and may be followed up."""
        if not self.goes_on:
            return False
        seeds = [self._seed() for _ in lengths]
        if len(lengths) == 1:
            # A single chain may work on the engine itself: it leaves it no worse.
            best = self._only_chain(_Chain(self._engine, seeds[0], length=lengths[0]))
        elif cluster is None:
            best = self._best_of_chains(lengths, seeds, jobs)
        else:
            best = self._best_elsewhere(lengths, seeds, cluster)
        self._note_cost()
        return best and self.goes_on

    def _only_chain(self, chain: _Chain) -> bool:
        chain.run(self._asked_to_stop)
        self.n_near = chain.n_near
        return chain.improved

    def _best_of_chains(self, lengths: list[int], seeds: list[int], jobs: int) -> bool:
        chains = [
            _Chain(self._engine.copy(), seed, length=length)
            for seed, length in zip(seeds, lengths, strict=True)
        ]
        if jobs == 1:
            for chain in chains:
                chain.run(self._asked_to_stop)
        else:
            self._share(chains, jobs)
        self.n_near = sum(chain.n_near for chain in chains)
        best = min(chains, key=lambda chain: chain.engine.cost)
        self._engine.adopt(best.engine)
        return best.improved

    def _best_elsewhere(self, lengths: list[int], seeds: list[int], cluster: Any) -> bool:
        """The same on a cluster, which gets the engine once, and its state from each chain."""
        left = self._control.remaining
        deadline = time.time() + max(left - WAY_BACK, left / 2)
        chain = partial(_run_elsewhere, self._engine, deadline)
        tasks = list(zip(seeds, lengths, strict=True))
        returned = dict(run_many(chain, tasks, cluster=cluster, stop=self._asked_to_stop))
        if not returned:
            return False
        self.n_near = sum(chain.n_near for chain in returned.values())
        # Of equals the first, as among the chains that run here.
        _, best = min(returned.items(), key=lambda chain: (chain[1].cost, chain[0]))
        self._engine.load(best.state)
        if not all(chain.in_time for chain in returned.values()) and not self._asked_to_stop():
            self._status = "time limit"
        return best.improved

    def insist(self, tries: int, centres: Indices | None = None) -> bool:
        """Restarts around doubtful or given variables until so many fail; whether one has not.

        Where they have all failed before, and nothing has improved since, they would fail again.
        """
        in_vain = self._cost_in_vain - self._engine.cost <= self._noise
        if in_vain or not (self.goes_on and self.is_sparse):
            return False
        chain = _Chain(self._engine, self._seed(), tries=tries, centres=centres)
        improved = self._only_chain(chain)
        if not improved:
            self._cost_in_vain = self._engine.cost
        self._note_cost()
        return improved

    def outcome(self) -> SearchOutcome:
        """What was found."""
        return SearchOutcome(
            order=self._engine.order,
            cost=self._engine.cost,
            status=self._status,
            trace=tuple(self._trace),
            n_moves=self._moves,
            n_evaluations=self._scans * self._engine.n_variables,
            proved=self._proved,
        )

    def _seed(self) -> int:
        return int(self._rng.integers(2**63))

    def _note_cost(self) -> None:
        if self._engine.cost < self._trace[-1][1]:
            self._trace.append((self._control.seconds, self._engine.cost))

    def _share(self, chains: list[_Chain], jobs: int) -> None:
        halt = Event()
        with ThreadPoolExecutor(min(jobs, len(chains))) as pool:
            pending = {pool.submit(chain.run, halt.is_set) for chain in chains}
            try:
                while pending and not self._asked_to_stop():
                    done, pending = wait(pending, timeout=SLICE)
                    for future in done:
                        future.result()
            finally:
                halt.set()

    def _asked_to_stop(self) -> bool:
        """Whether time is up, or the callback or the keyboard ends the search."""
        if self._status != "converged":
            return True
        try:
            if self._control.is_due():
                self._round += 1
                cost = self._engine.cost
                best = min(cost, self._trace[-1][1])
                self._control.report(
                    Progress("insertion", self._round, cost, best, self._control.seconds)
                )
        except Stopped as stopped:
            self._status = stopped.status
        except KeyboardInterrupt:
            self._status = "interrupted"
        return self._status != "converged"
