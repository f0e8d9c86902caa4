"""Insertion search on the exact BIC engine, run inside the compiled core.

What `qwo.search.insertion` does with any engine, and more: edges are tucked and repaired until no
tuck helps. The core runs in slices; between them this module keeps the time limit, the callback and
the keyboard, none of which changes the result of a search that is left to finish.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.bic import BicEngine, BicState
from qwo.parallel import run_many
from qwo.search.control import Control, Progress, Stopped
from qwo.search.result import SearchOutcome, Status
from qwo.types import Indices

SLICE = 0.02
"""Seconds that the core runs before it is asked whether to go on."""

NEAR = 0.001, 0.5
"""A restart that ends so many edges' prices above where it began has nearly found as good an order:
less is rounding, more a failure."""

RUGGED = 0.15
"""Share of restarts that end near from which on there are many optima, and the best is worth more
restarts. On random graphs with strong effects hardly any do, on published networks a fifth."""

QUIET = 6
"""If so many restarts all lead back to where they began, so will the rest of the chain."""

DENSE = 3
"""Edges per variable from which on variables are not thrown over all places: it takes much longer
than in sparse graphs, and found nothing."""

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
    patience: int = 0,
    thrown: int = 10,
    reach: int | None = None,
    tucks: bool = True,
    rival: Indices | None = None,
    knowledge: ResolvedKnowledge | None = None,
    control: Control | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    random_state: Any = None,
) -> SearchOutcome:
    """The order that no insertion and no repaired tuck improves, perturbed and repaired.

    Parameters
    ----------
    engine : BicEngine
        At the order to start from; left at the order found.
    restarts : int
        How often the order found is perturbed and repaired by insertions. They run in chains of
        twenty or more, at most eight, each from the order found first; a chain whose first six
        lead back to it ends there. The best chain wins, and if it has improved the order, the whole
        search is run once more from there.
    patience : int
        If restarts have improved the order, or three of twenty have ended with one that is worse by
        less than half the price of an edge, more follow, which throw variables over all places,
        until so many in a row have improved nothing. Not in dense graphs.
    thrown : int
        How many variables a perturbation moves.
    reach : int, optional
        Over how many places at most; a quarter of all, but at least ten, if not given.
    tucks : bool
        Whether edges are tucked; without, the search ends at the first order that no insertion
        improves.
    rival : sequence of int, optional
        A second order to start from; what it leads to is taken up if it is better, before restarts.
    knowledge : ResolvedKnowledge, optional
        The one that the engine has; orders that it forbids are never visited.
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
    _check(restarts=restarts, patience=patience, thrown=thrown, reach=reach)
    if knowledge is not None and not knowledge.allows_order(engine.order):
        raise KnowledgeError(
            "the start order contradicts the knowledge; take knowledge.topological_start(order)"
        )
    n = engine.n_variables
    farthest = min(max(n // 4, 10), n) if reach is None else reach
    rng = np.random.default_rng(random_state)
    run = _Run(engine, control or Control())
    run.settle(int(rng.integers(2**63)), tucks=tucks)
    if rival is not None:
        run.challenge(rival, int(rng.integers(2**63)), tucks=tucks)
    lengths = _chain_lengths(restarts)
    seeds = [int(seed) for seed in rng.integers(2**63, size=len(lengths) + 2)]
    if cluster is not None and len(lengths) > 1:
        improved = run.restart_elsewhere(lengths, seeds, thrown, farthest, cluster)
    else:
        improved = run.restart(lengths, seeds, thrown, farthest, n_jobs)
    if improved or run.n_near >= RUGGED * restarts:
        improved |= run.insist(seeds[-2], thrown, patience)
    if improved:
        run.settle(seeds[-1], tucks=tucks)
    return run.outcome()


def _check(*, restarts: int, patience: int, thrown: int, reach: int | None) -> None:
    least_values = {"restarts": (restarts, 0), "patience": (patience, 0), "thrown": (thrown, 1)}
    if reach is not None:
        least_values["reach"] = reach, 1
    for name, (value, least) in least_values.items():
        if value < least:
            raise ArgumentError(f"{name} must be at least {least}; got {value}")


def _chain_lengths(restarts: int) -> list[int]:
    """How many restarts each chain makes; a function of their number alone."""
    chains = min(MOST_CHAINS, -(-restarts // RESTARTS_PER_CHAIN))
    return [restarts // chains + (k < restarts % chains) for k in range(chains)] if chains else []


class _Chain:
    """Restarts one after the other on one engine."""

    def __init__(self, engine: BicEngine, seed: int, length: int, *, patient: bool = False) -> None:
        self.engine = engine
        self.search = engine.compiled_search(seed, tucks=False, settled=True)
        self.length = length
        self.patient = patient
        self.improved = False
        self.n_near = 0

    def run(self, thrown: int, reach: int, asked_to_stop: Asked) -> None:
        """As many as its length says; a patient one starts to count again after a success."""
        left, made, led_back = self.length, 0, 0
        while left and not asked_to_stop():
            before = self.engine.cost
            self.search.begin_restart(thrown, reach)
            try:
                while not self.search.run(SLICE) and not asked_to_stop():
                    pass
            finally:
                edges_lost = (self.engine.cost - before) / self.engine.penalty
                better = self.search.end_restart()
            made += 1
            led_back += abs(edges_lost) <= NEAR[0]
            self.n_near += NEAR[0] < edges_lost < NEAR[1]
            self.improved |= better
            left = self.length if better and self.patient else left - 1
            if led_back == made == QUIET and not self.patient:
                return


class _Returned(NamedTuple):
    """What a chain that ran elsewhere has come to."""

    state: BicState
    cost: float
    improved: bool
    n_near: int
    in_time: bool


def _run_elsewhere(
    engine: BicEngine, thrown: int, reach: int, deadline: float, task: tuple[int, int]
) -> _Returned:
    """A chain in another process, until a time of the day; the task is its seed and length."""
    chain = _Chain(engine.copy(), *task)
    chain.run(thrown, reach, lambda: time.time() >= deadline)
    state, cost, in_time = chain.engine.state(), chain.engine.cost, time.time() < deadline
    return _Returned(state, cost, chain.improved, chain.n_near, in_time)


class _Run:
    """One search: what the engine has come to, and why it ended."""

    def __init__(self, engine: BicEngine, control: Control) -> None:
        self._engine = engine
        self._control = control
        self._status: Status = "converged"
        self._round = 0
        self._trace = [(control.seconds, engine.cost)]
        self._moves = 0
        self._scans = 0
        self.n_near = 0
        """How many restarts have ended near where they began."""

    def settle(self, seed: int, *, tucks: bool) -> None:
        """Descent, tucks and sweeps to the first local optimum."""
        search = self._engine.compiled_search(seed, tucks=tucks)
        offset, best = self._control.seconds, self._trace[-1][1]
        while not self._asked_to_stop():
            if search.run(min(SLICE, self._control.remaining)):
                break
        self._trace.extend((offset + t, cost) for t, cost in search.trace[1:] if cost < best)
        self._moves += search.counts["moves"]
        self._scans += search.counts["scans"]

    def challenge(self, rival: Indices, seed: int, *, tucks: bool) -> None:
        """The same from another order; the engine goes over to what is found there if better."""
        if self._status != "converged":
            return
        champion = self._engine.copy()
        self._engine.reset(rival)
        self.settle(seed, tucks=tucks)
        if champion.cost < self._engine.cost:
            self._engine.adopt(champion)

    def restart(
        self, lengths: list[int], seeds: list[int], thrown: int, reach: int, jobs: int
    ) -> bool:
        """Chains of restarts; whether they have improved the order and may be followed up."""
        if not lengths or self._status != "converged":
            return False
        # A single chain may work on the engine itself: end_restart leaves it no worse.
        base = self._engine
        engines = [base] if len(lengths) == 1 else [base.copy() for _ in lengths]
        chains = [
            _Chain(engine, seed, length)
            for engine, seed, length in zip(engines, seeds, lengths, strict=False)
        ]
        if len(chains) == 1:
            chains[0].run(thrown, reach, self._asked_to_stop)
        else:
            self._share(chains, thrown, reach, jobs)
        self.n_near += sum(chain.n_near for chain in chains)
        best = min(chains, key=lambda chain: chain.engine.cost)
        self._engine.adopt(best.engine)
        self._note_cost()
        return best.improved and self._status == "converged"

    def restart_elsewhere(
        self, lengths: list[int], seeds: list[int], thrown: int, reach: int, cluster: Any
    ) -> bool:
        """The same on a cluster, which gets the engine once, and its state from each chain."""
        if self._status != "converged":
            return False
        left = self._control.remaining
        deadline = time.time() + max(left - WAY_BACK, left / 2)
        chain = partial(_run_elsewhere, self._engine, thrown, reach, deadline)
        tasks = list(zip(seeds, lengths, strict=False))
        returned = dict(run_many(chain, tasks, cluster=cluster, stop=self._asked_to_stop))
        if not returned:
            return False
        self.n_near += sum(chain.n_near for chain in returned.values())
        # Of equals the first, as among the chains that run here.
        _, best = min(returned.items(), key=lambda chain: (chain[1].cost, chain[0]))
        self._engine.load(best.state)
        self._note_cost()
        if not all(chain.in_time for chain in returned.values()) and not self._asked_to_stop():
            self._status = "time limit"
        return best.improved and self._status == "converged"

    def insist(self, seed: int, thrown: int, patience: int) -> bool:
        """Restarts over all places until so many in a row have failed; whether one has not."""
        if self._engine.n_edges > DENSE * self._engine.n_variables:
            return False
        chain = _Chain(self._engine, seed, patience, patient=True)
        chain.run(thrown, self._engine.n_variables, self._asked_to_stop)
        self._note_cost()
        return chain.improved

    def outcome(self) -> SearchOutcome:
        """What was found."""
        return SearchOutcome(
            order=self._engine.order,
            cost=self._engine.cost,
            status=self._status,
            trace=tuple(self._trace),
            n_moves=self._moves,
            n_evaluations=self._scans * self._engine.n_variables,
        )

    def _note_cost(self) -> None:
        if self._engine.cost < self._trace[-1][1]:
            self._trace.append((self._control.seconds, self._engine.cost))

    def _share(self, chains: list[_Chain], thrown: int, reach: int, jobs: int) -> None:
        halt = Event()
        with ThreadPoolExecutor(max(1, min(jobs, len(chains)))) as pool:
            pending = {pool.submit(chain.run, thrown, reach, halt.is_set) for chain in chains}
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
