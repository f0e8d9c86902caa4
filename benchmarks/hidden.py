"""Hidden causes: wrong marks, legality and processor time, beside FCI and its relatives.

``python -m benchmarks.hidden oracle`` counts exactly recovered classes from exact moments;
``… samples [n,N,sets …]`` searches samples, ours and, where their environments are (``python -m
benchmarks.peers.environments tetrad`` and one with causal-learn), the peers; rows are added to
``benchmarks/results/hidden.csv``. ``… page`` writes the tables of ``docs/benchmarks/hidden.md``.
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
LIMIT = 20.0
"""Seconds for one data set."""

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


def row(case: Case, method: str, true: Any, found: Any, cpu: float) -> dict[str, Any]:
    """Counts of one result."""
    once = np.triu_indices(case.n, 1)
    claims = [((true > 0)[once], (found > 0)[once]), (true == HEAD, found == HEAD)]
    claims += [(true == TAIL, found == TAIL)]
    claims += [tuple(((g == HEAD) & (g.T == HEAD))[once] for g in (true, found))]
    counts = [int(c.sum()) for t, f in claims for c in (t & f, f, t)]
    told = (case.n, case.rows, case.degree, case.share, case.noise, case.seed, method)
    numbers = (int((true != found).sum()), *counts, int(is_pag(found)), f"{cpu:.4f}")
    return dict(zip(FIELDS, (*told, *numbers), strict=True))


def ours(data: Any) -> Iterator[tuple[str, Any, float]]:
    """With hidden causes, and the class of the best DAG."""
    begin = time.process_time()
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    assert found.pag is not None
    yield "qwo", found.pag.marks, time.process_time() - begin
    begin = time.process_time()
    plain = qwo.discover(data, random_state=0)
    yield "qwo, DAG's class", pag_of_mag(dag_marks(plain.dag)), time.process_time() - begin


def peers(files: list[Path], sizes: tuple[int, int]) -> Iterator[tuple[int, str, Any, float]]:
    """What each peer finds in files of rows: number of the file, method, marks, seconds."""
    n, _ = sizes
    for environment, methods in PEERS.items():
        python = ROOT / f".venv-peers-{environment}" / "bin" / "python"
        if not python.exists():
            continue
        for method in methods:
            if n > 20 and method in ("causal-learn FCI", "GFci", "GraspFci", "LvLite"):
                continue
            if n > 100 and method != "LvDumb":
                continue
            command = [str(python), str(WORKER), method, str(LIMIT), *map(str, files)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            for line in done.stdout.splitlines():
                if line.startswith("{"):
                    told = json.loads(line)
                    yield told["file"], method, np.array(told["marks"], np.int8), told["cpu"]
            if done.returncode:
                print(method, "ended:", done.stderr.strip().splitlines()[-1:], file=sys.stderr)


def samples(n: int, rows: int, sets: int) -> None:
    """Add the rows of so many data sets of a size to the results."""
    cases = [Case(n, rows, seed) for seed in range(sets)]
    with tempfile.TemporaryDirectory() as folder, SAMPLES.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if stream.tell() == 0:
            writer.writeheader()
        truths, files = [], []
        list(ours(np.random.default_rng(0).normal(size=(100, 4))))  # imports what it needs
        for case in cases:
            true, data = sample(case)
            truths.append(true)
            files.append(Path(folder) / f"{case.seed}.npy")
            np.save(files[-1], data)
            for method, found, cpu in ours(data):
                writer.writerow(row(case, method, true, found, cpu))
        for k, method, found, cpu in peers(files, (n, rows)):
            writer.writerow(row(cases[k], method, truths[k], found, cpu))
            stream.flush()


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
        for word in words[1:]:
            samples(*(int(part) for part in word.split(",")))


if __name__ == "__main__":
    main(sys.argv[1:])
