"""The default search on long and thin graphs, beside FLOP: ``python -m benchmarks.thin``.

Gap to the best score known, to that of the true graph, SHD and processor time on the families of
`benchmarks.peers.thin`. Rows are kept in ``benchmarks/results/thin.csv``: started again, it goes on
where it was. `make bench-flop` makes the environment that FLOP lives in; without it, ours alone.
"""

from __future__ import annotations

import argparse
import csv
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.process import ROOT, Worker
from benchmarks.peers.thin import NAMES, draw_thin
from benchmarks.timing import print_table
from qwo.graph import shd, to_cpdag
from qwo.moments import Moments
from qwo.sem import score_graph
from qwo.types import Adjacency, FloatArray

RESULTS = ROOT / "benchmarks" / "results" / "thin.csv"
DATA_SETS = {50: 5, 100: 3, 200: 2, 500: 1}
N_SAMPLES = 1000
PENALTY = 2.0
VISIBLE = 0.05
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "qwo": ("qwo", {}),
    "qwo, 0 restarts": ("qwo", {"restarts": 0}),
    "FLOP, 0 restarts": ("flop", {"restarts": 0}),
    "FLOP, 20 restarts": ("flop", {"restarts": 20}),
}
COLUMNS = ("family", "n", "seed", "method", "score", "truth", "shd", "cpu")
Row = dict[str, Any]


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flop-python", type=Path, default=ENVIRONMENTS["flop"].python)
    parser.add_argument("--largest", type=int, default=200, help="most variables")
    arguments = parser.parse_args()
    rows = _read()
    workers = {"qwo": Worker(Path(sys.executable))}
    if arguments.flop_python.exists():
        workers["flop"] = Worker(arguments.flop_python)
    done = {(row["family"], row["n"], row["seed"], row["method"]) for row in rows}
    for n, family, seed in _data_sets(arguments.largest):
        wanted = [name for name, (tool, _) in METHODS.items() if tool in workers]
        missing = [name for name in wanted if (family, n, seed, name) not in done]
        if missing:
            rows += _measure(n, family, seed, missing, workers)
            _write(rows)
    for worker in workers.values():
        worker.close()
    _print(rows)


def _data_sets(largest: int) -> Iterator[tuple[int, str, int]]:
    for n, count in DATA_SETS.items():
        for seed in range(count if n <= largest else 0):
            yield from ((n, family, seed) for family in NAMES)


def _measure(
    n: int, family: str, seed: int, methods: list[str], workers: dict[str, Worker]
) -> list[Row]:
    rng = np.random.default_rng([seed, n, zlib.crc32(family.encode())])
    data, dag = draw_thin(family, n, N_SAMPLES, rng)
    shuffled = rng.permutation(n)
    data, dag = data[:, shuffled], dag[np.ix_(shuffled, shuffled)]
    moments = Moments.from_data(data)
    truth = score_graph(moments, dag, PENALTY).score
    measured = []
    for method in methods:
        tool, options = METHODS[method]
        graph, cpu = _run(workers[tool], tool, options, seed, data)
        score = score_graph(moments, graph, PENALTY).score
        figures = (score, truth, shd(graph, to_cpdag(dag)), cpu)
        measured.append(dict(zip(COLUMNS, (family, n, seed, method, *figures), strict=True)))
    return measured


def _run(
    worker: Worker, tool: str, options: dict[str, Any], seed: int, data: FloatArray
) -> tuple[Adjacency, float]:
    """The graph that a tool finds, and its processor seconds."""
    with TemporaryDirectory() as folder:
        given, found = Path(folder, "data.npy"), Path(folder, "graph.npy")
        np.save(given, data)
        seeded = {"random_state": seed} if tool == "qwo" else {}
        request = {
            "task": "run",
            "tool": tool,
            "options": {"penalty_discount": PENALTY} | seeded | options,
            "data": str(given),
            "graph": str(found),
        }
        answer = worker.ask(request, limit=600.0)
        if answer.get("error"):
            raise RuntimeError(f"{tool} failed: {answer['error']}")
        return np.load(found), float(answer["cpu"])


def _read() -> list[Row]:
    if not RESULTS.exists():
        return []
    kinds = dict.fromkeys(("n", "seed", "shd"), int) | dict.fromkeys(
        ("score", "truth", "cpu"), float
    )
    with RESULTS.open(newline="") as file:
        return [
            {name: kinds.get(name, str)(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def _write(rows: list[Row]) -> None:
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            rounded = {"score": f"{row['score']:.4f}", "truth": f"{row['truth']:.4f}"}
            writer.writerow(row | rounded | {"cpu": f"{row['cpu']:.4f}"})


def _print(rows: list[Row]) -> None:
    """Points short of the best score known, share of such data sets, and more, by method."""
    best: dict[tuple[str, int, int], float] = defaultdict(lambda: -np.inf)
    for row in rows:
        key = row["family"], row["n"], row["seed"]
        best[key] = max(best[key], row["score"], row["truth"])
    table = []
    for n in sorted({row["n"] for row in rows}):
        for method in METHODS:
            own = [row for row in rows if (row["n"], row["method"]) == (n, method)]
            if own:
                gaps = [best[row["family"], n, row["seed"]] - row["score"] for row in own]
                table.append((str(n), method, *_figures(own, gaps)))
    header = ("n", "method", "data sets", "short", "short of best", "below truth", "SHD", "CPU ms")
    print_table(header, table)


def _figures(own: list[Row], gaps: list[float]) -> Iterator[str]:
    yield str(len(own))
    yield f"{fmean(gaps):.2f}"
    yield f"{fmean(gap > VISIBLE for gap in gaps):.0%}"
    yield f"{fmean(row['score'] < row['truth'] - VISIBLE for row in own):.0%}"
    yield f"{fmean(row['shd'] for row in own):.1f}"
    yield f"{1e3 * fmean(row['cpu'] for row in own):.0f}"


if __name__ == "__main__":
    main()
