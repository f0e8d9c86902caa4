"""The paper again, by one call; makes the runs that a store lacks, and cuts off slow methods."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, overload

from tqdm import tqdm

from qwo.errors import ArgumentError
from qwo.parallel import run_many
from qwo.reproduction import tasks
from qwo.reproduction.methods import AUTHORS_CODE, needs
from qwo.reproduction.page import write_page
from qwo.reproduction.store import ResultStore, Row, run_key

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
    runs: Sequence[tasks.Run],
    store: ResultStore,
    executor: tasks.Executor,
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


class _Waiting(Sequence[Sequence[tasks.Run]]):
    """The runs to be made, in chunks, without those whose method has been cut off meanwhile.

    Chunks are handed out one by one as workers get free, so that a cut-off takes effect at once.
    """

    def __init__(self, runs: Iterable[tasks.Run], known: Mapping[str, Row], budget: float) -> None:
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
        if row.outcome["status"] == tasks.CUT_OFF:
            curve, n = tasks.curve_of(row.run), row.run["n_variables"]
            self._closed[curve] = min(n, self._closed.get(curve, n))

    def __len__(self) -> int:
        return len(self.chunks)

    @overload
    def __getitem__(self, k: int) -> Sequence[tasks.Run]: ...

    @overload
    def __getitem__(self, k: slice) -> Sequence[Sequence[tasks.Run]]: ...

    def __getitem__(self, k: int | slice) -> Sequence[tasks.Run] | Sequence[Sequence[tasks.Run]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return [run for run in self.chunks[k] if self._is_open(run)]

    def __iter__(self) -> Iterator[Sequence[tasks.Run]]:
        return (self[k] for k in range(len(self)))

    def _is_open(self, run: tasks.Run) -> bool:
        closed = self._closed.get(tasks.curve_of(run))
        size: int = run["n_variables"]
        return closed is None or size < closed


def _chunks(runs: Sequence[tasks.Run], per_process: int) -> list[list[tasks.Run]]:
    """Runs one by one; those that take a process of their own, a few of one method together."""
    chunks: list[list[tasks.Run]] = []
    last: dict[str, list[tasks.Run]] = {}
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
    if row is None or row.outcome["status"] == tasks.FAILED:
        return False
    given: float = row.outcome["budget"]
    return row.outcome["status"] == tasks.DONE or given >= budget


def _shown(progress: bool) -> bool:
    return progress and sys.stderr.isatty()


def _tally(
    runs: Sequence[tasks.Run], possible: Sequence[tasks.Run], known: Mapping[str, Row]
) -> Tally:
    wanted = {run_key(run) for run in possible}
    rows = [known[key] for key in wanted if key in known]
    statuses = [row.outcome["status"] for row in rows]
    return Tally(
        done=statuses.count(tasks.DONE),
        cut_off=statuses.count(tasks.CUT_OFF),
        failed=statuses.count(tasks.FAILED),
        skipped=len(wanted) - len(rows),
        left_out=len({run_key(run) for run in runs}) - len(wanted),
        reasons=tuple(sorted({row.outcome.get("reason", "") for row in rows} - {""})),
    )


RUNS = "runs.csv"


class Reproduction(NamedTuple):
    """What `reproduce` has left: the page, the file of all runs, and what came of each item."""

    page: Path
    runs: Path
    tallies: dict[str, Tally]


def reproduce(
    items: Sequence[str] = (),
    *,
    profile: str = "quick",
    folder: str | os.PathLike[str] = "reproduction",
    n_jobs: int = 1,
    cluster: Any = None,
    budget: float | None = None,
    graphs: int | None = None,
    only_methods: Sequence[str] = (),
    compare_python: str | os.PathLike[str] | None = None,
    authors_code: str | os.PathLike[str] | None = None,
    page_only: bool = False,
    progress: bool = False,
) -> Reproduction:
    """Run the paper's experiments, keep every run, and write a page beside the paper's numbers.

    The parameters are the options of ``qwo reproduce``, which errors name. Runs that the folder
    already holds are not made again: an interrupted call continues where it stopped. A method that
    exceeds its budget is cut off there: the rest of that size and all larger ones are not run.
    """
    if profile not in tasks.PROFILES:
        raise ArgumentError(f"--profile is {profile!r}; wanted one of {', '.join(tasks.PROFILES)}")
    chosen = [tasks.load_item(name) for name in items or tasks.item_names()]
    python = _there("--compare-python", compare_python) or tasks.find_python()
    authors = authors_code or os.environ.get(AUTHORS_CODE)
    if authors and not Path(_there("--authors-code", authors) or "", "QWO.py").exists():
        raise ArgumentError(f"--authors-code is {os.fspath(authors)!r}, which has no QWO.py")
    output = Path(folder)
    store = ResultStore(output / RUNS, tasks.COLUMNS)
    tallies = {}
    for item in chosen if not page_only else ():
        tallies[item.name] = make_runs(
            _runs(item, profile, graphs, only_methods),
            store,
            tasks.Executor(
                item.profiles[profile].budget if budget is None else budget,
                python,
                os.fspath(authors) if authors else None,
            ),
            n_jobs=n_jobs,
            cluster=cluster,
            progress=progress,
        )
    rows = store.rows().values()
    if not rows:
        raise ArgumentError(f"there are no runs in {store.path}; leave --page out to make them")
    page = write_page(rows, output)
    return Reproduction(page, store.path, tallies)


def _there(flag: str, path: str | os.PathLike[str] | None) -> str | None:
    """A path that is there, as text."""
    if path is not None and not Path(path).exists():
        raise ArgumentError(f"{flag} is {os.fspath(path)!r}, which is not there")
    return None if path is None else os.fspath(path)


def _runs(
    item: tasks.Item, profile: str, graphs: int | None, patterns: Sequence[str]
) -> list[tasks.Run]:
    runs = item.runs(profile, graphs)
    if not patterns:
        return runs
    fitting = [run for run in runs if any(fnmatchcase(run["method"], p) for p in patterns)]
    if not fitting:
        methods = ", ".join(dict.fromkeys(run["method"] for run in runs))
        raise ArgumentError(
            f"no method fits --only-methods {', '.join(patterns)}; {item.name} has {methods}"
        )
    return fitting
