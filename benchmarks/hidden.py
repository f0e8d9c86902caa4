"""Hidden causes: wrong marks, legality and processor time, beside FCI and its relatives.

``python -m benchmarks.hidden oracle`` counts exactly recovered classes from exact moments;
``… ours n,N,sets …`` searches samples; ``… peers n,N,sets … [METHOD …]`` lets the peers do so, in
environments of their own (``python -m benchmarks.peers.environments tetrad clearn``), where they
have not done so yet. Rows go to ``benchmarks/results/hidden.csv``. ``… page`` writes the tables of
``docs/benchmarks/hidden.md``.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import qwo
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.process import ROOT
from qwo.graph.pag import HEAD, TAIL, dag_marks, is_pag, mag_of_dag, pag_of_mag

RESULTS = ROOT / "benchmarks" / "results"
SAMPLES = RESULTS / "hidden.csv"
ORACLE = RESULTS / "hidden_oracle.csv"
WORKER = Path(__file__).parent / "peers" / "hidden_worker.py"
PEERS = {
    "tetrad": ("Fci", "GFci", "BFci", "GraspFci", "LvDumb", "LvLite"),
    "clearn": ("causal-learn FCI",),
}
LIMIT, MOST_LATE = 10.0, 2
"""Seconds for one data set; how many sets of a cell a peer may fail to end before it is left."""

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


def sample(case: Case) -> tuple[Any, Any]:
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


def case_fields(case: Case) -> tuple[Any, ...]:
    return (case.n, case.rows, case.degree, case.share, case.noise, case.seed)


def row(case: Case, method: str, true: Any, found: Any, cpu: float) -> dict[str, Any]:
    """Counts of one result."""
    once = np.triu_indices(case.n, 1)
    claims = [((true > 0)[once], (found > 0)[once]), (true == HEAD, found == HEAD)]
    claims += [(true == TAIL, found == TAIL)]
    claims += [tuple(((g == HEAD) & (g.T == HEAD))[once] for g in (true, found))]
    counts = [int(c.sum()) for t, f in claims for c in (t & f, f, t)]
    numbers = (int((true != found).sum()), *counts, int(is_pag(found)), f"{cpu:.4f}")
    return dict(zip(FIELDS, (*case_fields(case), method, *numbers), strict=True))


def ours(data: Any) -> Iterator[tuple[str, Any, float]]:
    """With hidden causes, and the class of the best DAG."""
    begin = time.process_time()
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    assert found.pag is not None
    yield "qwo", found.pag.marks, time.process_time() - begin
    begin = time.process_time()
    plain = qwo.discover(data, random_state=0)
    yield "qwo, DAG's class", pag_of_mag(dag_marks(plain.dag)), time.process_time() - begin


def read(path: Path = SAMPLES) -> list[dict[str, str]]:
    """The rows of a stored table."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def add(rows: list[dict[str, Any]]) -> None:
    """Append rows to the results at once, so that a stop loses nothing."""
    begun = SAMPLES.exists()
    with SAMPLES.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if not begun:
            writer.writeheader()
        writer.writerows(rows)


def own(n: int, rows: int, sets: int) -> None:
    """Our results on a cell, in place of those that were there."""
    kept = [
        r
        for r in read()
        if not (r["method"].startswith("qwo") and (int(r["n"]), int(r["rows"])) == (n, rows))
    ]
    SAMPLES.unlink(missing_ok=True)
    add(kept)
    list(ours(np.random.default_rng(0).normal(size=(100, 4))))  # imports what it needs
    for seed in range(sets):
        case = Case(n, rows, seed)
        true, data = sample(case)
        add([row(case, method, true, found, cpu) for method, found, cpu in ours(data)])


def peers(n: int, rows: int, sets: int, methods: list[str]) -> None:
    """What peers find on the sets of a cell; one that did not end in time is told without marks."""
    done = {(r["method"], int(r["n"]), int(r["rows"]), int(r["seed"])) for r in read()}
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
                    add([{**told, "cpu": LIMIT}])


def _run_peer(folder: Path, cell: Case, method: str, seeds: list[int]) -> int:
    """Run a peer on the sets of these seeds, and tell how many it has ended."""
    files = [folder / f"{seed}.npy" for seed in seeds]
    for seed, file in zip(seeds, files, strict=True):
        if not file.exists():
            np.save(file, sample(cell._replace(seed=seed))[1])
    environment = next(e for e, known in PEERS.items() if method in known)
    python = ENVIRONMENTS[environment].python
    command = [str(python), str(WORKER), method, str(LIMIT), *map(str, files)]
    ended = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                case = cell._replace(seed=seeds[told["file"]])
                found = np.array(told["marks"], np.int8)
                add([row(case, method, sample(case)[0], found, told["cpu"])])
                ended += 1
    return ended


def oracle(graphs: int = 1000) -> None:
    """How many true classes come back exactly from exact moments, by number of hidden variables."""
    counts: dict[int, list[int]] = {}
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
        own = counts.setdefault(hidden, [0, 0])
        own[0] += 1
        own[1] += right
        if not right:
            print("missed:", seed, file=sys.stderr)
    with ORACLE.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("hidden", "graphs", "right"))
        writer.writerows((hidden, *own) for hidden, own in sorted(counts.items()))


def main(words: list[str]) -> None:
    if words[:1] == ["oracle"]:
        oracle()
    elif words[:1] == ["page"]:
        from benchmarks.hidden_page import write_page

        write_page()
    else:
        methods = [m for known in PEERS.values() for m in known]
        for word in words[1:]:
            if word in methods:
                continue
            cell = tuple(int(part) for part in word.split(","))
            if words[0] == "ours":
                own(*cell)
            else:
                peers(*cell, [m for m in methods if m in words] or methods)


if __name__ == "__main__":
    main(sys.argv[1:])
