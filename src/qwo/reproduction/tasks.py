"""Runs: functions of their parameters, with their cost and where they were made.

``python -m qwo.reproduction.tasks`` makes runs in a process of its own: the runs and the budget of
each come as a JSON object on standard input; a row goes to standard output as each run ends.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from qwo.errors import InputError
from qwo.graph import pshd, skeleton_f1
from qwo.order.linalg import versions
from qwo.reproduction.growth import measure_growth
from qwo.reproduction.items import Run, curve_of
from qwo.reproduction.methods import (
    AUTHORS_CODE,
    THE_AUTHORS,
    Found,
    import_code,
    needs,
    run_method,
)
from qwo.reproduction.models import Problem, make_problem
from qwo.reproduction.store import Row
from qwo.types import Adjacency

DONE, CUT_OFF, FAILED = "done", "cut off", "failed"

ALARM = int(getattr(signal, "SIGPROF", 0))
"""The signal that a process gets when its processor time is up, where there is one."""

GRACE = 2.0
"""Seconds beyond its budget after which a run is killed: one that ends by itself tells more."""

START_UP, LARGEST_DELAY = 60.0, 10.0
"""A process is killed after so many seconds, and so many times its runs' budgets, on the clock of
the wall, whatever its processor time: it may share the processor with others."""

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")

_POOLS = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in _POOLS}
"""Variables of the environment that keep libraries to one thread."""


@dataclass(frozen=True)
class Executor:
    """How runs are made, for `qwo.parallel.run_many` to send around.

    ``budget`` is in seconds of processor time for each run, ``python`` the interpreter of the
    environment with causal-learn and FLOP, ``authors`` a checkout of the authors' code.
    """

    budget: float
    python: str | None = None
    authors: str | None = None

    def lacks(self, method: str) -> str | None:
        """Whose code a method needs that is not there."""
        need = needs(method)
        there = self.authors if need == THE_AUTHORS else self.python
        return None if need is None or there else need

    def __call__(self, runs: Sequence[Run]) -> list[Row]:
        """The rows of a few runs; none of a curve after its first that was cut off."""
        if not runs:
            return []
        need = needs(runs[0]["method"])
        if need is None:
            return list(run_here(runs, self.budget))
        authors = self.authors if need == THE_AUTHORS else None
        rows = run_in_process(runs, self.budget, self.python or sys.executable, authors)
        # A run that was cut off or failed has ended the process: those left get a new one.
        left, last = runs[len(rows) :], rows[-1]
        if last.outcome["status"] == CUT_OFF:
            left = [run for run in left if curve_of(run) != curve_of(last.run)]
        return rows + self(left)


def run_here(runs: Iterable[Run], budget: float) -> Iterator[Row]:
    """The rows of runs made in this process, on one thread, up to the first that is cut off."""
    for run in runs:
        try:
            outcome = run_one(run, budget)
        except InputError as refusal:
            outcome = {"status": FAILED, "reason": str(refusal)}
        row = _row(run, outcome, budget)
        yield row
        if row.outcome["status"] == CUT_OFF:
            break


def run_one(run: Run, budget: float) -> dict[str, Any]:
    """What comes of a run: how it ended, the quality of its graph, and its cost."""
    with threadpool_limits(1), warnings.catch_warnings():
        # Doubts about the data, and other people's code, are no concern of an experiment.
        warnings.simplefilter("ignore")
        problem = make_problem(run)
        if run["kind"] == "growth":
            return measure_growth(run, problem)
        return _search(run, problem, budget)


def _search(run: Run, problem: Problem, budget: float) -> dict[str, Any]:
    import_code(run["method"])
    with measured() as cost:
        found = run_method(run["method"], problem, run["seed"], budget)
    if not found.finished or (cost["cpu"] or 0.0) > budget:
        return _cut(cost)
    return {"status": DONE, **_quality(found, problem), **cost, "prepared": found.prepared}


@contextmanager
def measured() -> Iterator[dict[str, float | None]]:
    """A record that holds the cost of the block once it has ended.

    ``wall`` and ``cpu`` are in seconds, ``memory`` is the peak of the resident memory in bytes, the
    interpreter and the data included. It is known on Linux only, and None elsewhere: what other
    systems report is the peak of the whole life of the process.
    """
    cost: dict[str, float | None] = {}
    if _CLEAR.exists():
        _CLEAR.write_text("5")
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost["wall"] = time.perf_counter() - wall
        cost["cpu"] = time.process_time() - cpu
        cost["memory"] = _peak_bytes()


def _peak_bytes() -> float | None:
    if not _CLEAR.exists():
        return None
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return 1024.0 * int(line.split()[1])


def _quality(found: Found, problem: Problem) -> dict[str, Any]:
    return {
        "skf1": skeleton_f1(found.graph, problem.truth),
        "pshd": pshd(found.graph, problem.truth),
        **_as_if_reversed(found.graph, problem.truth),
        "edges": int((found.graph == 1).sum() + (found.graph == 2).sum() // 2),
        "true_edges": int(problem.truth.sum()),
    }


def _as_if_reversed(graph: Adjacency, truth: Adjacency) -> dict[str, float]:
    """PSHD between the CPDAGs of both graphs with every arrow turned round, as published.

    The authors' code reads the matrix of coefficients the wrong way round before it compares. A
    CPDAG cannot be turned round: the DAGs that it stands for do not stay equivalent.
    """
    if (graph == 2).any():
        return {}
    return {"pshd_reversed": pshd(graph.T, truth.T)}


def _cut(cost: Mapping[str, float | None]) -> dict[str, Any]:
    return {"status": CUT_OFF, **cost}


def run_in_process(
    runs: Sequence[Run], budget: float, python: str, authors: str | None = None
) -> list[Row]:
    """The rows of runs made in a process of their own, which is killed when its time is up."""
    request = json.dumps({"runs": list(runs), "budget": budget})
    longest = START_UP + LARGEST_DELAY * (budget + GRACE) * len(runs)
    killed = False
    with subprocess.Popen(
        [python, "-m", "qwo.reproduction.tasks"],
        env=os.environ | ONE_THREAD | ({AUTHORS_CODE: authors} if authors else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            said, error = process.communicate(request, longest)
        except subprocess.TimeoutExpired:
            process.kill()
            said, error = process.communicate()
            killed = True
    rows = [Row(**json.loads(line)) for line in said.splitlines() if line.startswith('{"run":')]
    if process.returncode == 0:
        return rows
    run = runs[len(rows)]
    if killed or process.returncode == -ALARM:
        return [*rows, _row(run, _cut({"cpu": budget}), budget)]
    reason = (error.strip() or f"exit status {process.returncode}").splitlines()[-1]
    return [*rows, _row(run, {"status": FAILED, "reason": reason}, budget)]


def _row(run: Run, outcome: dict[str, Any], budget: float) -> Row:
    """The row of a run, with as many digits as its figures mean."""
    rounded = {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in outcome.items()
    }
    return Row(dict(run), rounded | {"budget": budget}, _record())


@cache
def _record() -> dict[str, Any]:
    """Versions, build, commit and processor: everything that makes the numbers."""
    found = versions() | {"commit": _commit(Path(__file__).parent), "processor": _processor()}
    if find_spec("causallearn"):
        try:
            found["causal-learn"] = version("causal-learn")
        except PackageNotFoundError:
            found["causal-learn"] = "unknown"
    if AUTHORS_CODE in os.environ:
        found["authors"] = _commit(Path(os.environ[AUTHORS_CODE]))
    return found


def _commit(folder: Path) -> str | None:
    """The commit of a checkout, with a + if files differ from it; None where there is no git."""
    describe = ["git", "-C", str(folder), "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        said = subprocess.run(describe, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.strip()


def _processor() -> str:
    """The processor by its name, where the system tells it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def find_python() -> str | None:
    """An interpreter that has causal-learn: this one, or that of `.venv-compare` beside ours."""
    if find_spec("causallearn"):
        return sys.executable
    beside = Path(sys.prefix).parent / ".venv-compare"
    places = (beside / "bin" / "python", beside / "Scripts" / "python.exe")
    return next((str(place) for place in places if place.exists()), None)


def main() -> None:
    """Read runs, make them, write their rows; a run that exceeds its budget ends the process.

    Other people's code cannot be asked to stop.
    """
    request = json.load(sys.stdin)
    budget = request["budget"]
    rows = run_here(request["runs"], budget)
    while True:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, budget + GRACE)
        row = next(rows, None)
        if row is None:
            break
        sys.stdout.write(json.dumps(row._asdict()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
