"""Runs what is not in the store: cell by cell, data set by data set, method by method."""

from __future__ import annotations

import platform
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.cells import Cell, Profile
from benchmarks.peers.data import Sources
from benchmarks.peers.judge import Judge
from benchmarks.peers.methods import FIRST, SECOND, SLOW, Method
from benchmarks.peers.process import Workers
from qwo.errors import LinearDependenceError
from qwo.order.linalg import versions
from qwo.reproduction.store import ResultStore, Row, run_key

DONE, FAILED, TIMEOUT, CUT_OFF, ABSENT, DATA = (
    "done",
    "failed",
    "timeout",
    "cut off",
    "absent",
    "data",
)
DATA_SET = "(data)"
"""In the place of a method: what there is to say of the data set itself."""
TIMEOUTS_THAT_SUFFICE = 2
"""After so many at one size a method is not asked for that size, or a larger one, again."""
ALL = sys.maxsize
PASSES = (
    (FIRST, 10, 150),
    (SECOND, 2, 80),
    (FIRST, 1, 1000),
    (SLOW, 2, 20),
    (FIRST, 1, ALL),
    (SECOND, 4, 50),
    (SECOND, 2, ALL),
    (SLOW, 2, ALL),
    (FIRST, ALL, ALL),
    (SECOND, ALL, ALL),
    (SLOW, ALL, ALL),
)
"""Turn, data sets, variables: so that a run that is cut short has seen a little of everything."""

Report = Callable[[str], None]


class Study:
    """The runs of a profile, some of them in a store."""

    def __init__(
        self,
        profile: Profile,
        store: ResultStore,
        workers: Workers,
        sources: Sources,
        report: Report,
    ) -> None:
        self._profile = profile
        self._store = store
        self._workers = workers
        self._sources = sources
        self._report = report
        self._rows = store.rows()
        self._timeouts: dict[tuple[str, int, int], int] = defaultdict(int)
        for row in self._rows.values():
            if row.outcome["status"] == TIMEOUT:
                self._count_timeout(row.run)

    def complete(self) -> None:
        """Run what is missing, the methods that matter most first."""
        cells = []
        for cell in self._profile.cells:
            obstacle = self._sources.missing(cell.kind)
            if obstacle:
                self._report(f"{cell.title}: skipped: {obstacle}")
            else:
                cells.append(cell)
        for turn, data_sets, variables in PASSES:
            for cell in cells:
                if cell.kind.n <= variables:
                    self._run_cell(cell, turn, min(data_sets, cell.data_sets))

    def _run_cell(self, cell: Cell, turn: int, data_sets: int) -> None:
        methods = [method for method in cell.methods if method.turn == turn]
        for seed in range(data_sets):
            missing = [method for method in methods if self._is_due(cell, seed, method)]
            if missing:
                self._run_data_set(cell, seed, missing)

    def _run_data_set(self, cell: Cell, seed: int, methods: list[Method]) -> None:
        problem = self._sources.draw(cell.kind, seed)
        with TemporaryDirectory() as folder:
            try:
                judge = Judge(problem, Path(folder), self._workers)
            except LinearDependenceError:
                # Effects that grow along long paths leave columns equal up to rounding.
                self._report(f"{cell.title}, {seed}: left out: columns are linearly dependent")
                return
            run = cell.run(seed, DATA_SET)
            if run_key(run) not in self._rows:
                self._keep(Row(run, judge.data_set(cell.penalty_discount), _machine()))
            for method in methods:
                outcome, build = self._outcome(cell, seed, method, judge)
                self._keep(Row(cell.run(seed, method.name), outcome, {"build": build}))
                self._report(f"{cell.title}, {seed}: {method.name}: {_brief(outcome)}")

    def _outcome(
        self, cell: Cell, seed: int, method: Method, judge: Judge
    ) -> tuple[dict[str, Any], str]:
        """What came of a run, and the version of the tool."""
        if method.environment not in self._workers:
            return {"status": ABSENT}, ""
        if self._is_hopeless(cell, method):
            return {"status": CUT_OFF}, ""
        judge.graph_file.unlink(missing_ok=True)
        files = {"data": str(judge.data_file), "graph": str(judge.graph_file)}
        request = method.request(cell.penalty_discount, seed) | files
        answer = self._workers[method.environment].ask(request, cell.limit)
        build = answer.pop("build", "")
        if answer.pop("timeout", False):
            self._count_timeout(cell.run(seed, method.name))
            return {"status": TIMEOUT, "limit": cell.limit}, build
        if answer["error"]:
            return {"status": FAILED, **answer}, build
        del answer["error"]
        costs = {name: round(value, 6) for name, value in answer.items()}
        return {"status": DONE, **costs, **judge.graph(cell.penalty_discount)}, build

    def _is_due(self, cell: Cell, seed: int, method: Method) -> bool:
        """Whether a run is missing, and the method has not used up its time on this cell."""
        if run_key(cell.run(seed, method.name)) in self._rows:
            return False
        if seed < self._profile.at_least:
            return True
        spent = sum(self._costs(cell, seed, method))
        return spent < self._profile.allowance * method.weight

    def _costs(self, cell: Cell, seed: int, method: Method) -> Iterator[float]:
        for earlier in range(seed):
            row = self._rows.get(run_key(cell.run(earlier, method.name)))
            if row is not None:
                yield row.outcome.get("cpu", row.outcome.get("limit", 0.0))

    def _is_hopeless(self, cell: Cell, method: Method) -> bool:
        """Whether the method took too long on data of this size, or smaller ones, before."""
        return any(
            count >= TIMEOUTS_THAT_SUFFICE
            for (name, n, degree), count in self._timeouts.items()
            if name == method.name and n <= cell.kind.n and degree <= _density(cell.kind.degree)
        )

    def _count_timeout(self, run: Mapping[str, Any]) -> None:
        self._timeouts[run["method"], run["n"], _density(run["degree"])] += 1

    def _keep(self, row: Row) -> None:
        self._store.append(row)
        self._rows[run_key(row.run)] = row


def _brief(outcome: Mapping[str, Any]) -> str:
    if outcome["status"] == DONE:
        return f"SHD {outcome['shd']}, {outcome['cpu']:.3g} s"
    return f"{outcome['status']} {outcome.get('error', '')}"


def _machine() -> dict[str, Any]:
    found = versions()
    return {"python": platform.python_version(), "qwo": found["qwo"], "system": platform.system()}


def _density(degree: int | None) -> int:
    """The average degree; that of the published networks is about 4."""
    return 4 if degree is None else degree
