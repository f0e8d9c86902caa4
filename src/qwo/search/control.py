"""What all searches share: deadline, callback, keyboard, trace, the best state, the outcome.

And the search of the core, which is run in slices.
"""

# Long because it has the two ways in which a search is run, step by step and in slices.

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal

import numpy as np

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.options import SECONDS, WHOLE_FROM_0
from qwo.order.bic import BicEngine
from qwo.order.protocol import OrderEngine
from qwo.types import Indices

HEARTBEAT = 0.1
"""Seconds after which a callback is asked again although nothing has improved."""

SLICE = 0.02
"""Seconds that the core runs before it is asked whether to go on."""

TOLERANCE = 1e-9
"""Costs that differ by less, relative to their size, are equal: the difference is rounding."""


Status = Literal["converged", "time limit", "interrupted", "stopped"]


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The best order that a search found; the engine was left in the state that belongs to it.

    Attributes
    ----------
    order : ndarray of int
        The order, read-only: ``order[k]`` is the variable at place k.
    cost : float
        Its cost, as the engine counts it.
    status : str
        ``"converged"`` if no move of the search improves the order; ``"time limit"``;
        ``"interrupted"`` by the keyboard; ``"stopped"`` by the callback.
    trace : tuple of (float, float)
        Seconds and cost at the start and after each improvement.
    n_moves : int
        How many moves were kept.
    n_evaluations : int
        How many orders were looked at; a scan counts each place.
    proved : bool
        Whether all graphs have been gone through, and none costs less.
    least : float
        What no graph costs less than, if that is known better than by a quick look.
    """

    order: Indices
    cost: float
    status: Status
    trace: tuple[tuple[float, float], ...]
    n_moves: int
    n_evaluations: int
    proved: bool = False
    least: float = -math.inf

    def __post_init__(self) -> None:
        self.order.setflags(write=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands, for a callback to watch.

    Attributes
    ----------
    search : str
        Name of the search.
    round : int
        Passes, restarts or perturbations so far, whatever the search counts.
    cost, best_cost : float
        Cost of the state that the engine is in, and the lowest so far.
    seconds : float
        Time since the control was made.
    """

    search: str
    round: int
    cost: float
    best_cost: float
    seconds: float


Callback = Callable[[Progress], bool | None]


class Stopped(Exception):  # noqa: N818
    """Ends a search from within; it carries the status and never leaves this package."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status: Status = status


class Control:
    """A deadline and a callback for one search, or for several that follow each other.

    Time counts from when the control is made.

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which a search returns its best order.
    callback : callable, optional
        Gets a `Progress` after each improvement and each round, and at least every 0.1 seconds
        unless a single call of the engine takes longer. True stops the search.
    clock : callable
        Seconds on a monotonic clock.
    """

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        callback: Callback | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        limit = math.inf if time_limit is None else SECONDS.checked("time_limit", time_limit)
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback is {callback!r}; wanted a function", option="callback")
        self._clock = clock
        self._start = clock()
        self._deadline = self._start + limit
        self._callback = callback
        self._wake = self._deadline if callback is None else self._start
        self.interrupted = False
        """Whether `interrupt` was called, in time for the search to notice or not."""

    @property
    def seconds(self) -> float:
        """Time since the control was made."""
        return self._clock() - self._start

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, not below 0; infinite without one."""
        return max(self._deadline - self._clock(), 0.0)

    @property
    def watched(self) -> bool:
        """Whether there is a callback."""
        return self._callback is not None

    def is_due(self) -> bool:
        """Whether the callback wants a report by now; raises `Stopped` once time is up.

        One reading of the clock and one comparison unless there is something to do.
        """
        now = self._clock()
        if now < self._wake:
            return False
        if self.interrupted:
            raise Stopped("interrupted")
        if now >= self._deadline:
            raise Stopped("time limit")
        self._wake = min(self._deadline, now + HEARTBEAT)
        return True

    def interrupt(self) -> None:
        """Let the next `is_due` end the search."""
        self.interrupted = True
        self._wake = -math.inf

    def report(self, progress: Progress) -> None:
        """Show the callback where the search stands; raises `Stopped` if it says so."""
        if self._callback is not None and self._callback(progress):
            raise Stopped("stopped")


@contextmanager
def progress_bar(callback: Callback | None) -> Iterator[Callback]:
    """The user's callback with a bar in front of it."""
    from tqdm import tqdm

    with tqdm(unit=" rounds", leave=True) as bar:

        def watch(progress: Progress) -> bool | None:
            bar.set_description(progress.search)
            bar.n = progress.round
            bar.set_postfix_str(f"score {-progress.cost:.2f}, best {-progress.best_cost:.2f}")
            return callback(progress) if callback is not None else None

        yield watch


@contextmanager
def keyboard_heard(control: Control) -> Iterator[None]:
    """Let Ctrl-C stop what the control watches, while the block runs; a second one raises.

    A KeyboardInterrupt would come between any two steps, also where results would be lost. Handlers
    other than Python's own are left in place, and in other threads there are none.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        control.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Run:
    """One search on one engine: the best state so far, the trace, and the counts.

    The best state is kept as a mark of the engine, so that the search may leave it and come back.

    engine: the engine, which the search moves; best: the lowest cost so far.
    tolerance: by how much two costs may differ and still be equal; from the cost of the start.
    evaluations: how many orders were looked at, for the search to count.
    """

    def __init__(self, name: str, engine: OrderEngine, control: Control) -> None:
        self.engine = engine
        self.best = engine.cost
        self.tolerance = TOLERANCE * max(abs(self.best), 1.0)
        self.evaluations = 0
        self._name = name
        self._control = control
        self._round = 0
        self._moves = 0
        self._trace = [(control.seconds, self.best)]
        self._anchor: int | None = engine.mark()

    def check(self) -> None:
        """Keep the time limit and the callback's heartbeat; for every evaluation."""
        if self._control.is_due():
            self._report()

    def next_round(self) -> None:
        """Count a round."""
        self._round += 1
        self.check()
        self._report()

    def improves(self, cost: float) -> bool:
        """Whether a cost is below the best by more than rounding."""
        return cost < self.best - self.tolerance

    def accept(self, cost: float) -> None:
        """Make the present state, of this cost, the one to come back to."""
        improved = self.improves(cost)
        self._replace_anchor(self.engine.release)
        self._moves += 1
        self.best = min(self.best, cost)
        if improved:
            self._trace.append((self._control.seconds, cost))
            self._report()

    def roll_back(self) -> None:
        """Return the engine to the best state."""
        self._replace_anchor(self.engine.undo)

    def outcome(self, status: Status) -> SearchOutcome:
        """Leave the engine in the best state, and tell what was found."""
        if self._anchor is not None:
            self.engine.undo(self._anchor)
        return SearchOutcome(
            order=self.engine.order,
            cost=self.engine.cost,
            status=status,
            trace=tuple(self._trace),
            n_moves=self._moves,
            n_evaluations=self.evaluations,
        )

    def _replace_anchor(self, end: Callable[[int], object]) -> None:
        # A keyboard interrupt in the midst finds either a valid anchor or none.
        anchor, self._anchor = self._anchor, None
        if anchor is not None:
            end(anchor)
        self._anchor = self.engine.mark()

    def _report(self) -> None:
        if self._control.watched:
            cost, seconds = self.engine.cost, self._control.seconds
            self._control.report(Progress(self._name, self._round, cost, self.best, seconds))


def check_allowed(order: Indices, knowledge: ResolvedKnowledge | None) -> None:
    """Refuse an order to start from that the knowledge forbids."""
    if knowledge is not None and not knowledge.allows_order(order):
        raise KnowledgeError(
            "the start order contradicts the knowledge; take knowledge.topological_start(order)"
        )


def supervise(
    name: str,
    engine: OrderEngine,
    search: Callable[[Run], None],
    *,
    control: Control | None,
    knowledge: ResolvedKnowledge | None,
) -> SearchOutcome:
    """Run a search from the engine's present order until it converges or is made to stop.

    However it ends, the engine is left in the best state found. Only errors pass through.
    """
    check_allowed(engine.order, knowledge)
    run = Run(name, engine, control or Control())
    status: Status = "converged"
    try:
        run.check()
        search(run)
    except Stopped as stopped:
        status = stopped.status
    except KeyboardInterrupt:
        status = "interrupted"
    return run.outcome(status)


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
    random_state: Any = None,
) -> SearchOutcome:
    """The order that no insertion, tuck or turn improves, from several starts, shaken and repaired.

    What `qwo.search.insertion` does with any engine, and more, on the exact BIC in the core.

    engine: at the order to start from; left at the order found.
    restarts: how often a connected piece of the order found is shuffled and repaired by insertions,
    in each of at most two rounds. They run in chains of twenty or more, at most eight, each from
    the order found first; a chain whose first ten lead back to it, or not near it where no edge is
    weak, ends there. The best chain wins. Where none are wanted, nothing but the search from the
    given order is made. Otherwise there is no search at all where the best graph can be had: see
    `BicEngine.take_best`.
    starts: the most further orders to start from: breadth first through the maximum spanning tree
    of the correlations, from random roots. Better pieces of what they lead to are taken over. They
    end when three agree on each variable, or one where few are doubtful. If not given, 12 up to 200
    variables, 3 up to 500; beyond, the search starts from one such order if it costs less as it
    stands.
    tries: if restarts have improved the order, or one in twenty has ended with one that is worse by
    less than half the price of an edge, more follow, until so many around each variable that is
    doubtful (`BicEngine.doubtful`) have failed since something has changed there; 1 up to 200
    variables if not given. Twice as many follow where the graph is much like a tree, up to 1000
    variables, and around those variables on which starts have not agreed.
    tucks: without, the search ends at the first order that no insertion improves.
    nearby: the order is the best of data much like these: no edge is turned, tucks that cost more
    than two edges are given up, and there are no sweeps and no further starts. Above 50 variables
    only edges of what insertions change are tucked.
    knowledge: what the order must keep to; that of the engine if not given.
    n_jobs: threads among which the chains are shared. The result does not depend on it.

    The core runs in slices; between them the time limit, the callback and the keyboard are kept,
    none of which changes the result of a search that is left to finish. Which searches follow each
    other, and every number that decides on it, stand in the core: ``cpp/qwo/search_run.hpp`` and
    ``policy.hpp``.
    """
    how = {"restarts": restarts, "starts": starts, "tries": tries}
    for name, value in how.items():
        if value is not None:
            WHOLE_FROM_0.checked(name, value)
    knowledge = engine.knowledge if knowledge is None else knowledge
    if knowledge is not None:
        check_allowed(engine.order, knowledge)
    rng = np.random.default_rng(random_state)
    run = engine.compiled_run(rng, **how, tucks=tucks, nearby=nearby, jobs=n_jobs)
    control, reports = control or Control(), 0
    begun = control.seconds
    status: Status = "converged"
    try:
        while True:
            if control.is_due():
                reports += 1
                cost = engine.cost
                best = min(cost, run.trace[-1][1])
                control.report(Progress("insertion", reports, cost, best, control.seconds))
            if run.run(min(SLICE, control.remaining)):
                break
    except Stopped as stopped:
        status = stopped.status
    except KeyboardInterrupt:
        status = "interrupted"
    finally:
        run.stop()
    counts, order = run.counts, engine.order
    return SearchOutcome(
        order=order,
        cost=engine.cost,
        status=status,
        trace=tuple((begun + seconds, cost) for seconds, cost in run.trace),
        n_moves=counts["moves"],
        n_evaluations=counts["scans"] * len(order),
        proved=run.is_proved,
    )
