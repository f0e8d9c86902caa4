"""Hidden causes: wrong marks, legality and processor time, beside FCI and its relatives.

``python -m benchmarks.hidden oracle`` counts exactly recovered classes from exact moments;
``… ours n,N,sets …`` searches samples; ``… peers n,N,sets … [METHOD …]`` lets the peers do so, in
environments of their own (``python -m benchmarks.peers.environments tetrad clearn``), where they
have not done so yet; ``… grid n,N,sets … [METHOD …]`` takes so many sets of every degree, share of
hidden variables and noise, ours beside the methods named; ``… thresholds n,N,sets …`` tries how
many changes are expected, on sets of their own; ``… structures SETS`` takes textbook models, ``…
families SETS [KIND …]`` other kinds of models and rows; ``… tunnel FOLDER`` the light tunnel.
Results are small tables in ``benchmarks/results``; ``… page`` writes ``docs/benchmarks/hidden.md``
from them.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import qwo
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.process import ROOT
from benchmarks.rows import append_rows, timed, write_rows
from qwo.graph.marks import HEAD, TAIL
from qwo.graph.pag import dag_marks, is_pag, mag_of_dag, pag_of_mag
from qwo.order.reference import partial_correlation

RESULTS = ROOT / "benchmarks" / "results"
SAMPLES = RESULTS / "hidden.csv"
PEER_SAMPLES = RESULTS / "hidden_peers.csv"
ORACLE = RESULTS / "hidden_oracle.csv"
MISSES = RESULTS / "hidden_misses.csv"
REAL = RESULTS / "hidden_real.csv"
THRESHOLDS = RESULTS / "hidden_thresholds.csv"
STRUCTURES = RESULTS / "hidden_structures.csv"
GRID = RESULTS / "hidden_grid.csv"
FAMILIES = RESULTS / "hidden_families.csv"
KINDS = {
    "scale-free": "each variable has two earlier causes, the commoner ones first",
    "scale-free, nothing hidden": "the same, all measured",
    "trees": "each variable has one earlier cause",
    "chains, nothing hidden": "each variable has the two before it as causes, all measured",
    "confounded blocks": "each hidden variable causes five",
    "hidden inside": "hidden variables have causes",
    "100 rows": "few rows",
    "mixtures": "noise of two normal distributions",
    "t noise": "noise of a t distribution with 3 degrees of freedom",
    "dependent rows": "noise with autocorrelation 0.6",
    "weak": "slopes 0.05 to 0.3",
    "strong": "slopes 0.9 to 1.8",
}
"""Models and rows unlike those that the search was tried on."""
DEGREES, SHARES = (2, 3, 4, 6), (0.0, 0.1, 0.2)
NOISES = ("gaussian", "exponential", "laplace")
TEXTBOOK = {
    "two effects with causes": ("abxy", "h", "ax by hx hy"),
    "the same, one causing the other": ("abxy", "h", "ax by hx hy xy"),
    "three effects in a row": ("abcxyz", "gh", "ax by cz gx gy hy hz"),
    "Y": ("abxy", "", "ax bx xy"),
    "Y, confounded": ("abxy", "h", "ax bx xy hx hy"),
    "instrument": ("zxy", "h", "zx xy hx hy"),
    "instrument, no effect": ("zxy", "h", "zx hx hy"),
    "front door": ("xmy", "h", "xm my hx hy"),
    "two proxies": ("pqxy", "h", "hp hq hx hy xy"),
    "one factor": ("pqrst", "h", "hp hq hr hs ht"),
    "chain": ("abcde", "", "ab bc cd de"),
    "tree, its root hidden": ("abcdefg", "h", "ha hb ac ad be bf fg"),
}
"""Models by their measured and hidden variables and arrows."""
WORKER = Path(__file__).parent / "peers" / "hidden_worker.py"
PEERS = {
    "tetrad": ("Fci", "GFci", "BFci", "GraspFci", "LvDumb", "LvLite"),
    "clearn": ("causal-learn FCI",),
}
EVERY, NONE = 1e300, 1e-300
"""Expected changes with which every one is kept, and none."""
WEAK = 0.06
"""Correlations of the light tunnel below this are counted as hardly there."""

LIMIT, LIMIT_LARGE, MOST_LATE = 10.0, 30.0, 2
"""Seconds for one data set of up to 50 variables, and of more; how many sets of a cell a peer may
fail to end before it is left."""

COUNTS = [
    f"{what}_{n}" for what in ("edge", "head", "tail", "hidden") for n in ("hit", "found", "true")
]
FIELDS = (
    "n",
    "rows",
    "degree",
    "share",
    "noise",
    "seed",
    "method",
    "wrong",
    *COUNTS,
    "legal",
    "cpu",
)


class Case(NamedTuple):
    """A data set: its seed decides degree, share of hidden variables and noise, in turn."""

    n: int
    rows: int
    seed: int

    @property
    def degree(self) -> int:
        return (2, 4, 3, 6)[self.seed % 4]

    @property
    def share(self) -> float:
        return (0.2, 0.1, 0.0)[self.seed % 3]

    @property
    def noise(self) -> str:
        return ("gaussian", "gaussian", "exponential", "laplace")[(self.seed // 2) % 4]


class Point(NamedTuple):
    """A data set of a degree, a share of hidden variables and a noise."""

    n: int
    rows: int
    seed: int
    degree: int
    share: float
    noise: str


def model(rng: np.random.Generator, n: int, hidden: int, degree: float, low: float) -> Any:
    """A DAG on n measured variables and hidden roots of 2 to 4 children, slopes and variances."""
    size = n + hidden
    dag = np.zeros((size, size), np.int8)
    order = rng.permutation(n)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < degree / (n - 1), 1)
    for h in range(n, size):
        dag[h, rng.choice(n, size=rng.integers(2, min(n, 4) + 1), replace=False)] = 1
    slopes = dag * rng.uniform(low, 1.0, dag.shape) * rng.choice([-1, 1], dag.shape)
    return dag, slopes, rng.uniform(1.0, 3.0, size)


def truth(dag: Any, n: int) -> Any:
    return pag_of_mag(mag_of_dag(dag, range(n, len(dag)))[0])


def sample(case: Case | Point) -> tuple[Any, Any]:
    """The true marks and the rows of a data set."""
    rng = np.random.default_rng([case.n, case.rows, case.seed, 34])
    dag, slopes, variances = model(rng, case.n, round(case.share * case.n), case.degree, 0.2)
    shape = (case.rows, len(dag))
    errors = {
        "gaussian": lambda: rng.normal(size=shape),
        "exponential": lambda: rng.exponential(size=shape) - 1.0,
        "laplace": lambda: rng.laplace(size=shape) / np.sqrt(2.0),
    }[case.noise]() * np.sqrt(variances)
    data = errors @ np.linalg.inv(np.eye(len(dag)) - slopes)
    return truth(dag, case.n), data[:, : case.n]


def case_fields(case: Case | Point) -> tuple[Any, ...]:
    return (case.n, case.rows, case.degree, case.share, case.noise, case.seed)


def row(case: Case | Point, method: str, true: Any, found: Any, cpu: float) -> dict[str, Any]:
    """Counts of one result."""
    once = np.triu_indices(case.n, 1)
    claims = [((true > 0)[once], (found > 0)[once]), (true == HEAD, found == HEAD)]
    claims += [(true == TAIL, found == TAIL)]
    claims += [tuple(((g == HEAD) & (g.T == HEAD))[once] for g in (true, found))]
    counts = [int(c.sum()) for t, f in claims for c in (t & f, f, t)]
    numbers = (int((true != found).sum()), *counts, int(is_pag(found)), f"{cpu:.4f}")
    return dict(zip(FIELDS, (*case_fields(case), method, *numbers), strict=True))


def ours(data: Any) -> Iterator[tuple[str, Any, float]]:
    """With hidden causes, from a table read before, without restarts, and the DAG's class."""
    read_before = qwo.Moments.from_data(data)
    for method, given, options in (
        ("qwo", data, {}),
        ("qwo, table read before", read_before, {}),
        ("qwo, restarts=0", data, {"restarts": 0}),
    ):
        begin = time.process_time()
        found = qwo.discover(given, hidden_causes=True, random_state=0, **options)
        assert found.pag is not None
        yield method, found.pag.marks, time.process_time() - begin
    begin = time.process_time()
    plain = qwo.discover(data, random_state=0)
    yield "qwo, DAG's class", pag_of_mag(dag_marks(plain.dag)), time.process_time() - begin


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a stored table."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def write(path: Path, rows: list[dict[str, Any]], *, anew: bool = False) -> None:
    """Append rows to a table at once, so that a stop loses nothing; or write it anew."""
    fields = FIELDS if path in (SAMPLES, PEER_SAMPLES) else tuple(rows[0])
    (write_rows if anew else append_rows)(path, rows, fields)


def _import_all() -> None:
    """Search once, so that no measured time holds an import."""
    list(ours(np.random.default_rng(0).normal(size=(100, 4))))


def own(n: int, rows: int, sets: int) -> None:
    """Our results on a cell, in place of those that were there."""
    others = [r for r in read(SAMPLES) if (int(r["n"]), int(r["rows"])) != (n, rows)]
    _import_all()
    found = []
    for seed in range(sets):
        case = Case(n, rows, seed)
        true, data = sample(case)
        found += [row(case, method, true, marks, cpu) for method, marks, cpu in ours(data)]
    write(SAMPLES, [*others, *found], anew=True)


def peers(n: int, rows: int, sets: int, methods: list[str]) -> None:
    """What peers find on the sets of a cell; one that did not end in time is told without marks."""
    done = {(r["method"], int(r["n"]), int(r["rows"]), int(r["seed"])) for r in read(PEER_SAMPLES)}
    with tempfile.TemporaryDirectory() as folder:
        for method in methods:
            seeds = [s for s in range(sets) if (method, n, rows, s) not in done]
            late = 0
            while seeds and late < MOST_LATE:
                ended = _run_peer(Path(folder), Case(n, rows, 0), method, seeds)
                seeds = seeds[ended:]
                if seeds:
                    late += 1
                    case = Case(n, rows, seeds.pop(0))
                    told = dict(zip(FIELDS, (*case_fields(case), method), strict=False))
                    write(PEER_SAMPLES, [{**told, "cpu": limit_of(n)}])


def _run_peer(folder: Path, cell: Case, method: str, seeds: list[int]) -> int:
    """Run a peer on the sets of these seeds, and tell how many it has ended."""
    files = [folder / f"{seed}.npy" for seed in seeds]
    for seed, file in zip(seeds, files, strict=True):
        if not file.exists():
            np.save(file, sample(cell._replace(seed=seed))[1])
    ended = 0
    for k, found, cpu in _answers(method, files, limit_of(cell.n)):
        case = cell._replace(seed=seeds[k])
        write(PEER_SAMPLES, [row(case, method, sample(case)[0], found, cpu)])
        ended += 1
    return ended


def grid(n: int, rows: int, sets: int, methods: list[str]) -> None:
    """Sums over so many sets of every degree, share of hidden variables and noise, by method."""
    _import_all()
    for degree in DEGREES:
        kinds = list(product(SHARES, NOISES))
        points = [
            Point(n, rows, 1000 * (degree * 10 + k) + number, degree, *kind)
            for k, kind in enumerate(kinds)
            for number in range(sets)
        ]
        true, own = [], []
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{k}.npy" for k in range(len(points))]
            for point, file in zip(points, files, strict=True):
                known, data = sample(point)
                found, cpu = timed(qwo.discover, data, hidden_causes=True, random_state=0)
                assert found.pag is not None
                true.append(known)
                own.append(row(point, "qwo", known, found.pag.marks, cpu))
                if methods:
                    np.save(file, data)
            told: dict[str, dict[int, Any]] = {"qwo": dict(enumerate(own))}
            for method in methods:
                told[method], left, late = {}, list(range(len(points))), 0
                while left and late < MOST_LATE:
                    answers = _answers(method, [files[k] for k in left], limit_of(n))
                    ended = 0
                    for at, marks, cpu in answers:
                        k = left[at]
                        told[method][k] = row(points[k], method, true[k], marks, cpu)
                        ended += 1
                    late += ended < len(left)
                    left = left[ended + 1 :]
        sums = [
            _summed(own, [by[k] for k in sorted(by) if points[k][4:] == kind], sets)
            for by in told.values()
            for kind in kinds
            if any(points[k][4:] == kind for k in by)
        ]
        same = {tuple(str(line[f]) for f in (*FIELDS[:5], "method")) for line in sums}
        kept = [r for r in read(GRID) if tuple(r[f] for f in (*FIELDS[:5], "method")) not in same]
        write(GRID, [*kept, *sums], anew=True)


def _summed(own: list[dict[str, Any]], found: list[dict[str, Any]], sets: int) -> dict[str, Any]:
    """A line of the grid: sums over the sets that a method ended, and over ours on the same."""
    by = {r["seed"]: r for r in own}
    beside = [by[r["seed"]] for r in found]
    gaps = [r["wrong"] - b["wrong"] for r, b in zip(found, beside, strict=True)]
    sums = {name: sum(r[name] for r in found) for name in ("wrong", *COUNTS, "legal")}
    ours = {f"ours_{name}": sum(r[name] for r in beside) for name in ("wrong", *COUNTS[3:6])}
    cpus = (sum(float(r["cpu"]) for r in rows) for rows in (found, beside))
    error = np.std(gaps, ddof=1) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
    told = {name: found[0][name] for name in (*FIELDS[:5], "method")} | {"asked": sets}
    told |= {"sets": len(found), **sums, **ours, "gap": f"{np.mean(gaps):.3f}"}
    return told | {
        name: f"{value:.4f}"
        for name, value in zip(("error", "cpu", "ours_cpu"), (error, *cpus), strict=True)
    }


def limit_of(n: int) -> float:
    """Seconds of processor time that a peer has for a data set."""
    return LIMIT if n <= 50 else LIMIT_LARGE


def _answers(method: str, files: list[Path], limit: float) -> Iterator[tuple[int, Any, float]]:
    """What a peer finds in files of rows: number of the file, marks, seconds of its processor."""
    environment = next(e for e, known in PEERS.items() if method in known)
    python = ENVIRONMENTS[environment].python
    command = [str(python), str(WORKER), method, str(limit), *map(str, files)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                yield told["file"], np.array(told["marks"], np.int8), told["cpu"]


def oracle(graphs: int = 2500) -> None:
    """How many true classes come back exactly from exact moments, and why the others do not."""
    counts: dict[int, list[int]] = {}
    misses = []
    for seed in range(graphs):
        rng = np.random.default_rng([7, seed])
        n, hidden = int(rng.integers(4, 9)), int(rng.integers(0, 6))
        dag, slopes, variances = model(rng, n, hidden, min(n - 1, rng.uniform(1.0, 3.0)), 0.4)
        total = np.linalg.inv(np.eye(len(dag)) - slopes)
        covariance = (total.T @ np.diag(variances) @ total)[:n, :n]
        moments = qwo.Moments.from_covariance(covariance, float("inf"))
        found = qwo.discover(moments, hidden_causes=True, random_state=0)
        assert found.pag is not None
        right = np.array_equal(found.pag.marks, truth(dag, n))
        counts.setdefault(hidden, [0, 0])
        counts[hidden][0] += 1
        counts[hidden][1] += right
        if not right:
            misses.append({"seed": seed, "n": n, "hidden": hidden, **_why(found, dag, n)})
    rows = [
        {"hidden": hidden, "graphs": one, "right": right}
        for hidden, (one, right) in sorted(counts.items())
    ]
    write(ORACLE, rows, anew=True)
    write(MISSES, misses, anew=True)


def _why(found: Any, dag: Any, n: int) -> dict[str, Any]:
    """Edges of truth and result, how much less the result costs, and the weakest true link.

    The weakest link is the least partial correlation, given any set, of a pair that the truth links
    and the result does not: no sample tells such a pair from one without a link.
    """
    told, mag = found.hidden_causes, mag_of_dag(dag, range(n, len(dag)))[0]
    costs = [told.problem.search(g, found.dag).cost for g in (told.mag.marks, mag)]
    weakest = 1.0
    for i, j in np.argwhere(np.triu((mag > 0) & (told.mag.marks == 0))).tolist():
        rest = [v for v in range(n) if v not in (i, j)]
        sets = (c for k in range(n - 1) for c in combinations(rest, k))
        sizes = (abs(partial_correlation(told.moments.correlation, i, j, c)) for c in sets)
        weakest = min(weakest, *sizes)
    return {
        "edges_true": int((mag > 0).sum()) // 2,
        "edges_found": found.mag.n_edges,
        "cheaper_by": f"{costs[1] - costs[0]:.1f}",
        "weakest_link": f"{weakest:.1e}",
    }


def tunnel(folder: str) -> None:
    """The light tunnel with red, green and blue hidden: wrong marks of all methods.

    The folder has ``uniform_reference_20vars.csv.gz`` and ``truth.json``, which is not part of the
    package.
    """
    import pandas as pd

    rows = pd.read_csv(Path(folder) / "uniform_reference_20vars.csv.gz")
    known = json.loads((Path(folder) / "truth.json").read_text())["lt_standard_20vars"]
    hidden = ("red", "green", "blue")
    names = [*(v for v in known["nodes"] if v not in hidden), *hidden]
    dag = np.zeros((len(names), len(names)), np.int8)
    for cause, effect in known["directed"]:
        dag[names.index(cause), names.index(effect)] = 1
    n = len(names) - len(hidden)
    true, data = truth(dag, n), rows[names[:n]].to_numpy(float)
    case = Case(n, len(data), 0)
    told = [row(case, method, true, found, cpu) for method, found, cpu in ours(data)]
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "0.npy"
        np.save(file, data)
        for method in (m for known in PEERS.values() for m in known):
            for _, found, cpu in _answers(method, [file], LIMIT_LARGE):
                told.append(row(case, method, true, found, cpu))
    found = qwo.discover(rows[names[:n]], hidden_causes=True, random_state=0)
    assert found.hidden_causes is not None
    problem, shown = found.hidden_causes.problem, found.hidden_causes.mag.marks
    mag = mag_of_dag(dag, range(n, len(dag)))[0]
    costs = [problem.search(graph, found.dag).cost for graph in (mag, shown)]
    missed = np.triu((mag > 0) & (shown == 0))
    weak = missed & (np.abs(problem.correlation) < WEAK)
    beside = {
        "truth_dearer": f"{costs[0] - costs[1]:.0f}",
        "missed": int(missed.sum()),
        "missed_weak": int(weak.sum()),
        **_unseen(dag, names, n, problem.correlation),
    }
    for key, given in (
        ("ranks", {"transform": "rank-normal"}),
        ("penalty_1", {"penalty_discount": 1.0}),
        ("penalty_4", {"penalty_discount": 4.0}),
        ("penalty_10", {"penalty_discount": 10.0}),
    ):
        tried = qwo.discover(rows[names[:n]], hidden_causes=True, random_state=0, **given)
        assert tried.pag is not None
        beside[key] = int((tried.pag.marks != true).sum())
    kept = ("n", "rows", "method", "wrong", *COUNTS, "legal", "cpu")
    write(REAL, [{name: r[name] for name in kept} | beside for r in told], anew=True)


def _unseen(dag: Any, names: list[str], n: int, correlation: Any) -> dict[str, Any]:
    """What the lights and polarisers of the tunnel leave behind once the colours are hidden.

    The largest correlation of a light with its sensor, given the other sensors; and the wrong marks
    of the true graph without the arrows from lights, and from polarisers too.
    """
    lights = [i for i, name in enumerate(names) if name.startswith("l_")]
    sensors = [i for i, v in enumerate(names) if v.startswith(("ir", "vis", "current"))]
    largest, true = 0.0, truth(dag, n)
    for i, j in np.argwhere(dag[lights][:, :n]).tolist():
        rest = [v for v in sensors if v != j]
        largest = max(largest, abs(partial_correlation(correlation, lights[i], j, rest)))
    fewer, wrong = dag.copy(), []
    for starts in ("l_", "pol"):
        fewer[[i for i, name in enumerate(names) if name.startswith(starts)]] = 0
        wrong.append(int((truth(fewer, n) != true).sum()))
    return {"light": f"{largest:.3f}", "without_lights": wrong[0], "without_both": wrong[1]}


def structures(sets: int) -> None:
    """Wrong marks in textbook models, slopes ±[0.5, 1.2], noise of variance 1: ours and peers'."""
    tasks, told = [], []
    for number, (name, (seen, hidden, arrows)) in enumerate(TEXTBOOK.items()):
        names = seen + hidden
        dag = np.zeros((len(names), len(names)), np.int8)
        for cause, effect in arrows.split():
            dag[names.index(cause), names.index(effect)] = 1
        for rows, seed in product((200, 500, 2000), range(sets)):
            rng = np.random.default_rng([number, rows, seed, 34])
            slopes = dag * rng.uniform(0.5, 1.2, dag.shape) * rng.choice([-1, 1], dag.shape)
            errors = rng.normal(size=(rows, len(names)))
            data = (errors @ np.linalg.inv(np.eye(len(names)) - slopes))[:, : len(seen)]
            tasks.append((name, rows, truth(dag, len(seen)), data))
    marks: dict[str, dict[int, Any]] = {"qwo": {}}
    for k, (*_, data) in enumerate(tasks):
        told_by_us = qwo.discover(data, hidden_causes=True, random_state=0).pag
        assert told_by_us is not None
        marks["qwo"][k] = told_by_us.marks
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{k}.npy" for k in range(len(tasks))]
        for file, (*_, data) in zip(files, tasks, strict=True):
            np.save(file, data)
        for method in ("Fci", "causal-learn FCI", "BFci", "GraspFci", "LvDumb"):
            marks[method] = {k: own for k, own, _ in _answers(method, files, LIMIT)}
    for name, rows in product(TEXTBOOK, (200, 500, 2000)):
        of = [k for k, task in enumerate(tasks) if task[:2] == (name, rows)]
        for method, by in marks.items():
            wrong = [int((by[k] != tasks[k][2]).sum()) for k in of if k in by]
            counts = {"sets": len(wrong), "wrong": sum(wrong), "exact": wrong.count(0)}
            told.append({"model": name, "rows": rows, "method": method, **counts})
    write(STRUCTURES, told, anew=True)


def family_dag(kind: str, rng: np.random.Generator, n: int, hidden: int) -> Any:
    """A DAG of some kind; its last vertices are hidden."""
    size = n + hidden
    dag = model(rng, n, hidden, 3, 0.2)[0]
    if kind.startswith("scale-free"):
        dag[:n, :n], worth = 0, np.ones(n)
        for j in range(1, n):
            share = worth[:j] / worth[:j].sum()
            causes = rng.choice(j, size=min(j, 2), replace=False, p=share)
            dag[causes, j] = 1
            worth[causes] += 2
    elif kind.startswith(("trees", "chains")):
        dag[:n, :n] = 0
        for j in range(1, n):
            dag[[j - 1, max(j - 2, 0)] if kind.startswith("chains") else rng.choice(j), j] = 1
    elif kind == "confounded blocks":
        for h in range(n, size):
            dag[h] = 0
            dag[h, rng.choice(n, size=5, replace=False)] = 1
    elif kind == "hidden inside":
        order = rng.permutation(size)
        dag[np.ix_(order, order)] = np.triu(rng.random(dag.shape) < 3 / (size - 1), 1)
    return dag


def family(kind: str, seed: int, n: int = 15, hidden: int = 3) -> tuple[Any, Any]:
    """The true marks and the rows of a data set of some kind."""
    rng = np.random.default_rng([77, seed, *kind.encode()])
    hidden = 0 if kind.endswith("nothing hidden") else hidden
    size, rows = n + hidden, 100 if kind == "100 rows" else 1000
    dag = family_dag(kind, rng, n, hidden)
    low, high = {"weak": (0.05, 0.3), "strong": (0.9, 1.8)}.get(kind, (0.3, 1.0))
    slopes = dag * rng.uniform(low, high, dag.shape) * rng.choice([-1, 1], dag.shape)
    errors = rng.normal(size=(rows, size))
    if kind == "mixtures":
        errors = errors * np.where(rng.random(errors.shape) < 0.15, 4.0, 0.6)
        errors += np.where(rng.random(errors.shape) < 0.2, 2.5, -0.6)
    elif kind == "t noise":
        errors = rng.standard_t(3, size=errors.shape) / np.sqrt(3.0)
    elif kind == "dependent rows":
        for t in range(1, rows):
            errors[t] += 0.6 * errors[t - 1]
    errors *= np.sqrt(rng.uniform(1.0, 3.0, size))
    return truth(dag, n), (errors @ np.linalg.inv(np.eye(size) - slopes))[:, :n]


def families(sets: int, *kinds: str) -> None:
    """Wrong marks in models and rows unlike those that the search was tried on."""
    for kind in kinds or KINDS:
        lines = [r for r in read(FAMILIES) if r["kind"] != kind]
        drawn = [family(kind, seed) for seed in range(sets)]
        marks: dict[str, dict[int, Any]] = {"qwo": {}, "qwo, DAG's class": {}}
        for k, (_, data) in enumerate(drawn):
            for method, found, _ in ours(data):
                if method in marks:
                    marks[method][k] = found
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{k}.npy" for k in range(sets)]
            for file, (_, data) in zip(files, drawn, strict=True):
                np.save(file, data)
            for method in ("LvDumb", "LvLite", "BFci"):
                marks[method] = {k: found for k, found, _ in _answers(method, files, LIMIT)}
        for method, by in marks.items():
            both = [(by[k], marks["qwo"][k], drawn[k][0]) for k in by]
            gaps = [int((a != t).sum()) - int((b != t).sum()) for a, b, t in both]
            counts = {"sets": len(by), "wrong": sum(int((a != t).sum()) for a, _, t in both)}
            counts["legal"] = sum(is_pag(a) for a in by.values())
            error = np.std(gaps, ddof=1) / len(gaps) ** 0.5
            beside = {"gap": f"{np.mean(gaps):.2f}", "error": f"{error:.2f}"}
            lines.append({"kind": kind, "method": method, **counts, **beside})
        write(FAMILIES, lines, anew=True)


def thresholds(n: int, rows: int, sets: int) -> None:
    """Wrong marks by how many changes are expected beforehand, on sets of their own."""
    from qwo.hidden import search

    told: dict[float, dict[float, list[int]]] = {}
    for seed in range(9000, 9000 + sets):
        case = Case(n, rows, seed)
        true, data = sample(case)
        moments = qwo.Moments.from_data(data)
        for expected in (EVERY, 18.0, 9.0, search.EXPECTED, 2.0, 1.0, NONE):
            with patch.object(search, "EXPECTED", expected):
                found = qwo.discover(moments, hidden_causes=True, random_state=0)
            assert found.pag is not None
            wrong = told.setdefault(case.share, {}).setdefault(expected, [])
            wrong.append(int((found.pag.marks != true).sum()))
    others = [r for r in read(THRESHOLDS) if (int(r["n"]), int(r["rows"])) != (n, rows)]
    lines = []
    for share, by in sorted(told.items()):
        for expected, wrong in by.items():
            gaps = np.subtract(wrong, by[NONE])
            beside = {"gap": gaps.mean(), "error": gaps.std(ddof=1) / len(gaps) ** 0.5}
            own = {"n": n, "rows": rows, "share": share, "expected": expected, "sets": len(wrong)}
            lines.append(own | {"wrong": sum(wrong)} | {k: f"{v:.3f}" for k, v in beside.items()})
    write(THRESHOLDS, [*others, *lines], anew=True)


def main(words: list[str]) -> None:
    command, *rest = words
    methods = [m for known in PEERS.values() for m in known]
    cells = [tuple(map(int, word.split(","))) for word in rest if word[:1].isdigit()]
    if command == "oracle":
        oracle()
    elif command in ("structures", "families"):
        (structures if command == "structures" else families)(int(rest[0]), *rest[1:])
    elif command == "tunnel":
        tunnel(rest[0])
    elif command == "page":
        from benchmarks.hidden_page import write_page

        write_page()
    for cell in cells:
        if command == "ours":
            own(*cell)
        elif command == "thresholds":
            thresholds(*cell)
        elif command == "grid":
            grid(*cell, [m for m in methods if m in rest])
        elif command == "peers":
            peers(*cell, [m for m in methods if m in rest] or methods)


if __name__ == "__main__":
    main(sys.argv[1:])
