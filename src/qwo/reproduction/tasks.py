"""What can be reproduced, and runs: functions of their parameters, with their cost.

Each item is a small TOML file: a ``title``, a ``kind`` (``search`` or ``growth``), ``methods``,
tables ``[[data]]`` that say what the data are, and a table for each profile. A list in a
``[[data]]`` table stands for each of its values. ``methods`` may be set in a table too, and so may
``graphs`` and ``sizes`` of the profile; a network brings its own size.

``python -m qwo.reproduction.tasks`` makes runs in a process of its own: the runs and the budget of
each come as a JSON object on standard input; a row goes to standard output as each run ends.
"""

# Long because items and the runs that they expand to are one road.

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from qwo.datasets import load_network
from qwo.errors import ArgumentError, InputError
from qwo.graph import pshd, skeleton_f1
from qwo.order.linalg import versions
from qwo.reproduction.growth import measure_growth
from qwo.reproduction.methods import (
    AUTHORS_CODE,
    THE_AUTHORS,
    Found,
    Problem,
    check_method,
    import_code,
    make_problem,
    needs,
    run_method,
)
from qwo.reproduction.store import Columns, Row, run_key
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


Run = dict[str, Any]
"""The parameters of a run, of which its result is a function; what JSON can hold."""

COLUMNS = Columns(
    (
        *("kind", "method", "graph", "degree", "density", "n_variables", "n_samples", "noise"),
        *("covariance", "weights", "phase", "vary", "scale", "block", "seed"),
    ),
    (
        *("status", "skf1", "pshd", "pshd_reversed", "edges", "true_edges", "cpu", "prepared"),
        *("wall", "memory", "repeats", "scores", "budget", "reason"),
    ),
)
"""The parameters of runs, and what comes of them: the columns of the file that keeps them."""

PROFILES = ("quick", "full")
PAPER = {"graph": "er", "n_samples": 10_000, "noise": "gaussian", "covariance": "sample"}
"""What the paper's high-dimensional experiments have, unless a table says otherwise."""

_FOLDER = files("qwo.reproduction").joinpath("configs")


@dataclass(frozen=True)
class Profile:
    """How much of an item is run: graphs for each point, with seeds from 0, sizes, CPU seconds."""

    graphs: int
    sizes: tuple[int, ...]
    budget: float


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper, or one of our own."""

    name: str
    title: str
    kind: str
    data: tuple[Mapping[str, Any], ...]
    methods: tuple[str, ...]
    profiles: Mapping[str, Profile]

    def runs(self, profile: str, graphs: int | None = None) -> list[Run]:
        """All runs, small sizes first, so that a method is cut off before it gets slow."""
        chosen = self.profiles[profile]
        expanded = [run for table in self.data for run in self._runs(table, profile, chosen)]
        kept = [run for run in expanded if graphs is None or run["seed"] < graphs]
        return sorted(kept, key=lambda run: (run["n_variables"], run["seed"]))

    def _runs(self, table: Mapping[str, Any], name: str, profile: Profile) -> Iterator[Run]:
        methods = table.get("methods", self.methods)
        settings = {k: v for k, v in table.items() if k not in ("methods", *PROFILES)}
        settings = PAPER | settings | table.get(name, {})
        sizes = settings.pop("n_variables", list(profile.sizes))
        for setting in _each(settings):
            for run in _each({**setting, "n_variables": _sizes(setting, sizes)}):
                for method, seed in product(methods, range(profile.graphs)):
                    yield {"kind": self.kind, "method": method, "seed": seed, **_settled(run)}


def curve_of(run: Mapping[str, Any]) -> str:
    """The method and the kind of data of a run, whatever its size and graph."""
    return run_key({k: v for k, v in run.items() if k not in ("n_variables", "seed")})


def item_names() -> tuple[str, ...]:
    """The names of all items, in the order of the paper."""
    found = {file.name.removesuffix(".toml") for file in _FOLDER.iterdir()}
    return tuple(sorted(found, key=lambda name: (*_paper_order(name), name)))


def _paper_order(name: str) -> tuple[int]:
    order = ("table1", "table2", "er2", "er3", "er4", "oracle", "exponential", "gumbel")
    return (order.index(name) if name in order else len(order),)


def load_item(name: str) -> Item:
    """An item by its name."""
    if name not in item_names():
        raise ArgumentError(f"there is no item {name!r}; wanted one of {', '.join(item_names())}")
    config = tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    methods = tuple(config.get("methods", ()))
    if config["kind"] == "search":
        for method in methods:
            check_method(method)
    return Item(
        name=name,
        title=config["title"],
        kind=config["kind"],
        data=tuple(config["data"]),
        methods=methods,
        profiles={profile: _profile(config[profile]) for profile in PROFILES},
    )


def _profile(table: Mapping[str, Any]) -> Profile:
    return Profile(table["graphs"], tuple(table.get("sizes", ())), float(table["budget"]))


def _each(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings with one value in the place of each list."""
    lists = [value if isinstance(value, list) else [value] for value in settings.values()]
    for values in product(*lists):
        yield dict(zip(settings, values, strict=True))


def _sizes(setting: Mapping[str, Any], sizes: Any) -> Any:
    """The numbers of variables; a network has its own."""
    graph = setting["graph"]
    return sizes if graph == "er" else load_network(graph).n_variables


def _settled(run: dict[str, Any]) -> dict[str, Any]:
    """The run with its degree as a number: ``"n/2"`` is half of all edges."""
    if run.get("degree") != "n/2":
        return run
    return run | {"degree": run["n_variables"] / 2, "density": "dense"}
