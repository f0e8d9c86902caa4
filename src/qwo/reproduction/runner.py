"""Makes the runs that a store lacks, and cuts off methods that have become too slow."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from tqdm import tqdm

from qwo.parallel import run_many
from qwo.reproduction.items import Run, curve_of
from qwo.reproduction.methods import needs
from qwo.reproduction.store import ResultStore, Row, run_key
from qwo.reproduction.tasks import CUT_OFF, DONE, FAILED, Executor

RUNS_PER_PROCESS = 10
"""Runs that share the time that a process of causal-learn takes to start."""

LONG = 60.0
"""A run that may take longer has a process to itself, and is stored when it ends."""


class Tally(NamedTuple):
    """What came of the runs that were asked for.

    Skipped are those whose method was cut off at a smaller size or on another graph, left out those
    that need code that is lacking; reasons are what failed runs said, each once.
    """

    done: int
    cut_off: int
    failed: int
    skipped: int
    left_out: int
    reasons: tuple[str, ...]
    lacking: tuple[str, ...] = ()


def make_runs(
    runs: Sequence[Run],
    store: ResultStore,
    executor: Executor,
    *,
    n_jobs: int = 1,
    cluster: Any = None,
    progress: bool = False,
) -> Tally:
    """Make the runs that the store lacks, and append each as it ends.

    Runs are to come with small sizes first. Once a run has exceeded its budget, what is left of
    that method on that kind of data is skipped. A run that failed, or was cut off by a smaller
    budget, is made again.
    """
    possible = [r for r in runs if not executor.lacks(r["method"])]
    with store:
        known = store.rows()
        waiting = _Waiting(possible, known, executor.budget)
        with tqdm(total=len(waiting.runs), disable=not _shown(progress), unit=" runs") as bar:
            for k, rows in run_many(executor, waiting, n_jobs=n_jobs, cluster=cluster):
                for row in rows:
                    store.append(row)
                    waiting.ended(row)
                    known[run_key(row.run)] = row
                bar.update(len(waiting.chunks[k]))
    lacking = {lack for r in runs if (lack := executor.lacks(r["method"]))}
    return _tally(runs, possible, known)._replace(lacking=tuple(sorted(lacking)))


class _Waiting(Sequence[Sequence[Run]]):
    """The runs to be made, in chunks, without those whose method has been cut off meanwhile.

    Chunks are handed out one by one as workers get free, so that a cut-off takes effect at once.
    """

    def __init__(self, runs: Iterable[Run], known: Mapping[str, Row], budget: float) -> None:
        self._closed: dict[str, int] = {}
        unique = {run_key(run): run for run in runs}
        self.runs = [r for key, r in unique.items() if not _settled(known.get(key), budget)]
        self.chunks = _chunks(self.runs, 1 if budget > LONG else RUNS_PER_PROCESS)
        for key in unique:
            row = known.get(key)
            if row is not None and _settled(row, budget):
                self.ended(row)

    def ended(self, row: Row) -> None:
        """Take notice of a row."""
        if row.outcome["status"] == CUT_OFF:
            curve, n = curve_of(row.run), row.run["n_variables"]
            self._closed[curve] = min(n, self._closed.get(curve, n))

    def __len__(self) -> int:
        return len(self.chunks)

    @overload
    def __getitem__(self, k: int) -> Sequence[Run]: ...

    @overload
    def __getitem__(self, k: slice) -> Sequence[Sequence[Run]]: ...

    def __getitem__(self, k: int | slice) -> Sequence[Run] | Sequence[Sequence[Run]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return [run for run in self.chunks[k] if self._is_open(run)]

    def __iter__(self) -> Iterator[Sequence[Run]]:
        return (self[k] for k in range(len(self)))

    def _is_open(self, run: Run) -> bool:
        closed = self._closed.get(curve_of(run))
        size: int = run["n_variables"]
        return closed is None or size < closed


def _chunks(runs: Sequence[Run], per_process: int) -> list[list[Run]]:
    """Runs one by one; those that take a process of their own, a few of one method together."""
    chunks: list[list[Run]] = []
    last: dict[str, list[Run]] = {}
    for run in runs:
        method = run["method"]
        if needs(method) and len(last.get(method, ())) % per_process:
            last[method].append(run)
        else:
            last[method] = [run]
            chunks.append(last[method])
    return chunks


def _settled(row: Row | None, budget: float) -> bool:
    """Whether a run need not be made again."""
    if row is None or row.outcome["status"] == FAILED:
        return False
    given: float = row.outcome["budget"]
    return row.outcome["status"] == DONE or given >= budget


def _shown(progress: bool) -> bool:
    return progress and sys.stderr.isatty()


def _tally(runs: Sequence[Run], possible: Sequence[Run], known: Mapping[str, Row]) -> Tally:
    wanted = {run_key(run) for run in possible}
    rows = [known[key] for key in wanted if key in known]
    statuses = [row.outcome["status"] for row in rows]
    return Tally(
        done=statuses.count(DONE),
        cut_off=statuses.count(CUT_OFF),
        failed=statuses.count(FAILED),
        skipped=len(wanted) - len(rows),
        left_out=len({run_key(run) for run in runs}) - len(wanted),
        reasons=tuple(sorted({row.outcome.get("reason", "") for row in rows} - {""})),
    )
