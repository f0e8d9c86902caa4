"""Replicates: drawn, searched, counted and saved as they finish, until something ends the run.

A run goes on from a checkpoint, and shards of it are put together by `merge`.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from tqdm import tqdm

from qwo.compute import one_blas_thread
from qwo.discovery.discover import discover_as, learn_nearby
from qwo.errors import (
    ArgumentError,
    ClusterError,
    Cure,
    DataWarning,
    FileFormatError,
    InputError,
    MergeError,
)
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.options import SearchOptions
from qwo.parallel import run_many
from qwo.resample.draws import Source, search_seed
from qwo.resample.options import LATER_PARAMS
from qwo.resample.result import Bootstrap, BootstrapStatus
from qwo.resample.support import EdgeNumbers, Outcome, Replicates, have
from qwo.search.control import Status
from qwo.types import Adjacency, Indices

BATCH_SECONDS = 0.25
"""How long a batch should take, so that sending it costs nothing beside."""

LEAST_BATCHES = 32
"""Into how many batches replicates are divided at least, so that all workers end together."""

UNDIRECTED = (2, 3, 4, 5)
"""Codes of edges without a direction; those above 2 are marks of classes with hidden causes."""

SAVE_SECONDS = 2.0
"""The least time between two checkpoints."""

SAVE_SHARE = 0.05
"""The share of the time that checkpoints may take."""


@dataclass(frozen=True, slots=True)
class BootstrapProgress:
    """Where a bootstrap stands.

    Attributes
    ----------
    n_done : int
        Replicates that have come to an end, those of an earlier run included.
    n_wanted : int
        Replicates that this run is to have in the end.
    n_degenerate : int
        Those of them without a graph.
    seconds : float
        Time since the start of the call.
    """

    n_done: int
    n_wanted: int
    n_degenerate: int
    seconds: float


BootstrapCallback = Callable[[BootstrapProgress], bool | None]


@contextmanager
def watched(callback: BootstrapCallback | None, *, shown: bool) -> Iterator[BootstrapCallback]:
    """The user's callback, with a bar in front of it if one is to be shown."""

    def ask(progress: BootstrapProgress) -> bool | None:
        return callback(progress) if callback is not None else None

    if not shown:
        yield ask
        return
    with tqdm(unit=" replicates", desc="bootstrap") as bar:

        def watch(progress: BootstrapProgress) -> bool | None:
            bar.total = progress.n_wanted
            bar.n = progress.n_done
            bar.refresh()
            return ask(progress)

        yield watch


Search = Callable[[Any, SearchOptions], tuple[Adjacency, Status]]
"""A search of what was drawn: the class that it found, and how it ended."""


@dataclass(frozen=True, eq=False)
class Replication:
    """All that a replicate needs besides its number; sent to each worker once.

    Besides the source of resamples, the options and the seed: ``order`` is the one found on all
    data, where searches start from it and stay near; ``search`` makes a graph of what is drawn,
    where that is another than the usual one.
    """

    source: Source
    options: SearchOptions
    seed: int
    order: Indices | None = None
    search: Search | None = None

    def replicate(self, number: int) -> tuple[Outcome, Adjacency | str] | None:
        """The outcome of a replicate with its CPDAG, or with the reason why there is none.

        None if the keyboard has interrupted the search.
        """
        try:
            drawn = self.source.draw(self.seed, number)
            options = replace(self.options, random_state=search_seed(self.seed, number))
            cpdag, status = (self.search or self._usual)(drawn, options)
        except InputError as error:
            # The options have passed on all data: it is the resample that does not suit them.
            return Outcome.DEGENERATE, str(error)
        if status == "interrupted":
            return None
        return Outcome.TIME_LIMIT if status == "time limit" else Outcome.CONVERGED, cpdag

    def _usual(self, drawn: Moments | Table, options: SearchOptions) -> tuple[Adjacency, Status]:
        if self.order is not None and isinstance(drawn, Moments):
            return learn_nearby(drawn, options, self.order)
        with warnings.catch_warnings():
            # What is doubtful about the rows was said of all of them.
            warnings.simplefilter("ignore", DataWarning)
            found = discover_as(drawn, options)
        return found.cpdag, found.status


def run_batch(problem: Replication, numbers: Sequence[int]) -> Replicates:
    """The outcomes and the edges of some replicates.

    A worker gets the interrupt key as well as the process that it works for: nothing is raised
    here, and what is finished counts.
    """
    finished: list[tuple[int, Outcome, Adjacency | str]] = []
    interrupted = False
    try:
        for number in numbers:
            replicate = problem.replicate(number)
            if replicate is None:
                interrupted = True
                break
            finished.append((number, *replicate))
    except KeyboardInterrupt:
        interrupted = True
    graphs = [found for _, _, found in finished if not isinstance(found, str)]
    return Replicates(
        numbers=[number for number, _, _ in finished],
        outcomes=[int(outcome) for _, outcome, _ in finished],
        directed=_places(graphs, 1),
        undirected=_places(graphs, *UNDIRECTED),
        reason=next((found for _, _, found in finished if isinstance(found, str)), ""),
        interrupted=interrupted,
        marks=(_places(graphs, 3), _places(graphs, 4)),
    )


def _places(graphs: Sequence[Adjacency], *codes: int) -> EdgeNumbers:
    """The flat places of codes in all graphs, one after the other."""
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *(np.flatnonzero(np.isin(graph, codes)) for graph in graphs)])


@dataclass(eq=False)
class Runner:
    """The replicates of one run, and what they have come to so far.

    ``tally`` is the result so far, which ``save`` keeps; ``watch`` is shown how far the run is and
    stops it by True; ``seconds_each`` is about how long a replicate takes, ``started`` when the run
    began (by ``time.perf_counter``), ``reason`` why a replicate had no graph, if one had none.
    """

    problem: Replication
    tally: Bootstrap
    save: Callable[[Bootstrap], None]
    n_jobs: int | None
    cluster: Any
    seconds_each: float
    started: float
    watch: BootstrapCallback = lambda _: None
    reason: str = ""
    _saved_at: float = field(default_factory=time.perf_counter, init=False)
    _save_took: float = field(default=0.0, init=False)

    def run(self, numbers: range) -> BootstrapStatus:
        """Run the replicates of these numbers that are not done yet; why the run has ended."""
        task = partial(run_batch, self.problem)
        batches = self._batches(numbers)
        results: Any = run_many(task, batches, n_jobs=self.n_jobs, cluster=self.cluster)
        # One BLAS thread here as in workers: sums of floats depend on how they are divided.
        with one_blas_thread(), closing(results):
            return self._count((batch for _, batch in results), len(numbers))

    def _batches(self, numbers: range) -> list[list[int]]:
        """Those of some replicates that are not done yet, in batches that take about as long."""
        chosen = np.arange(numbers.start, numbers.stop, numbers.step)
        pending: list[int] = chosen[have(self.tally.outcomes[chosen], Outcome.PENDING)].tolist()
        size = min(int(BATCH_SECONDS / self.seconds_each), len(pending) // LEAST_BATCHES)
        size = max(size, 1)
        return [pending[k : k + size] for k in range(0, len(pending), size)]

    def _count(self, batches: Iterator[Replicates], n_wanted: int) -> BootstrapStatus:
        """Count batches as they come in."""
        try:
            for batch in batches:
                self.tally = self.tally.plus(batch)
                self.reason = self.reason or batch.reason
                if batch.interrupted:
                    return "interrupted"
                self._save_if_due()
                if self.watch(self._progress(n_wanted)):
                    return "stopped"
        except KeyboardInterrupt:
            return "interrupted"
        except ClusterError as error:
            if not self.tally.outcomes.any():
                raise
            warnings.warn(
                DataWarning(f"{error}; what was counted until then is kept"), stacklevel=2
            )
            return "incomplete"
        return "complete"

    def _save_if_due(self) -> None:
        now = time.perf_counter()
        if now - self._saved_at < max(SAVE_SECONDS, self._save_took / SAVE_SHARE):
            return
        self.save(self.tally)
        self._saved_at = time.perf_counter()
        self._save_took = self._saved_at - now

    def _progress(self, n_wanted: int) -> BootstrapProgress:
        spent = time.perf_counter() - self.started
        return BootstrapProgress(self.tally.n_done, n_wanted, self.tally.n_degenerate, spent)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A file of a bootstrap, and what it held at the start; without a path, nothing at all."""

    path: Path | None
    stored: Bootstrap | None

    @classmethod
    def at(cls, path: str | os.PathLike[str] | None) -> Self:
        """The checkpoint at a path, which need not be there yet."""
        if path is None:
            return cls(None, None)
        file = Path(path)
        if file.is_dir() or not file.parent.is_dir():
            raise ArgumentError(
                f"checkpoint is {str(file)!r}; wanted a file in a folder that exists"
            )
        return cls(file, Bootstrap.load(file) if file.exists() else None)

    def resumed(self, begun: Bootstrap) -> Bootstrap:
        """What was begun, with the replicates of the file if it has any."""
        stored = self.stored
        if stored is None:
            return begun
        self._check(stored, begun)
        added = begun.n_resamples - stored.n_resamples
        return replace(
            begun,
            directed_counts=stored.directed_counts,
            undirected_counts=stored.undirected_counts,
            outcomes=np.concatenate([stored.outcomes, np.zeros(added, dtype=np.int8)]),
        )

    def save(self, result: Bootstrap) -> None:
        """Write the file anew."""
        if self.path is not None:
            result.save(self.path)

    def _check(self, stored: Bootstrap, begun: Bootstrap) -> None:
        advice = "give what it was begun with, or another file"
        differing = [
            _as_before(name, stored.params.get(name), value)
            for name, value in begun.params.items()
            if name != "n_resamples"
            and _shown(stored.params.get(name, LATER_PARAMS.get(name))) != _shown(value)
        ]
        if differing:
            raise FileFormatError(
                f"cannot go on from {self.path}: it was begun with other options; {advice}",
                cures=differing,
            )
        if stored.fingerprint != begun.fingerprint:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of other data or other knowledge; {advice}"
            )
        if stored.n_resamples > begun.n_resamples:
            raise FileFormatError(
                f"cannot go on from {self.path}: it is of {stored.n_resamples} replicates, more "
                f"than the {begun.n_resamples} asked for; ask for as many, or give another file"
            )


def _as_before(name: str, before: Any, now: Any) -> Cure:
    """An option as it was when the file was begun."""
    if before is None:
        return Cure(name, now, "was not given then")
    before = tuple(before) if isinstance(before, list) else before
    return Cure(name, before, "was given then" + ("" if now is None else f", and not {now!r}"))


def _shown(value: object) -> str:
    """A parameter as in a message; what JSON has made a list is a tuple again."""
    return repr(tuple(value) if isinstance(value, list) else value)


def merge(parts: Iterable[Bootstrap | str | os.PathLike[str]]) -> Bootstrap:
    """The bootstrap of which these are the shards: exactly that of a run without shards.

    Parameters
    ----------
    parts : iterable of Bootstrap or path
        Results of `bootstrap` with ``shard``, or the files that they were saved to, in any order.
        Where shards are missing, the result has the status ``"incomplete"``.

    Raises
    ------
    MergeError
        If they are not of one run, or hold the same replicates.
    """
    loaded = [
        (f"number {place}", part)
        if isinstance(part, Bootstrap)
        else (repr(os.fspath(part)), Bootstrap.load(part))
        for place, part in enumerate(parts, start=1)
    ]
    if not loaded:
        raise MergeError("there is nothing to merge; wanted the shards of a bootstrap")
    (name, merged), *others = loaded
    for other_name, other in others:
        _check_shards(name, merged, other_name, other)
        merged = replace(
            merged,
            directed_counts=merged.directed_counts + other.directed_counts,
            undirected_counts=merged.undirected_counts + other.undirected_counts,
            outcomes=merged.outcomes + other.outcomes,
        )
    complete = not have(merged.outcomes, Outcome.PENDING).any()
    params = {**merged.params, "shard": None}
    return replace(merged, params=params, status="complete" if complete else "incomplete")


def _check_shards(name: str, merged: Bootstrap, other_name: str, other: Bootstrap) -> None:
    if merged.names != other.names or merged.fingerprint != other.fingerprint:
        differing = [
            Cure(key, merged.params.get(key), f"or {value!r} for both")
            for key, value in other.params.items()
            if key != "shard" and merged.params.get(key) != value
        ]
        seen = "" if differing else ", such as data or knowledge"
        raise MergeError(
            f"{name} and {other_name} are not shards of one run; they differ in what replicates "
            f"depend on{seen}",
            cures=differing,
        )
    if len(merged.outcomes) != len(other.outcomes):
        raise MergeError(
            f"{name} is a shard of {len(merged.outcomes)} replicates, {other_name} of "
            f"{len(other.outcomes)}; run both with the same number",
            cures=[Cure("n_resamples", max(len(merged.outcomes), len(other.outcomes)), "for both")],
        )
    twice = np.flatnonzero((merged.outcomes != 0) & (other.outcomes != 0))
    if twice.size:
        raise MergeError(
            f"{other_name} holds replicates that came before ({twice.size} of them, from number "
            f"{twice[0]} on); give each shard once"
        )
