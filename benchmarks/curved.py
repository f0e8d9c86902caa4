"""Curved relations and arrows from the noise: distance to the truth, evidence and time.

    python -m benchmarks.curved run --out benchmarks/results/curved.csv
    python -m benchmarks.curved table benchmarks/results/curved.csv
    .venv-peers-python/bin/python -m benchmarks.curved_peers --out FILE direct-lingam …

Random graphs of mean degree 3; every variable is standardised as it is made; an edge is w f(x) with
f of unit variance and w from 0.5 to 1; noise has 0.5 to 1 standard deviations. The structural
Hamming distance is to the DAG: an undirected edge counts 1, and so does a wrong arrow. `wrong` of
`sure` are the arrows of real edges with z of 3 or more that point the wrong way. Times are
processor seconds of one thread.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.curved_data import KINDS, NOISES, OTHER_KINDS, data_set, distances

COLUMNS = ("kind", "noise", "n", "rows", "seed", "method", "shd", "shd_class", "missed", "extra")
COLUMNS = (*COLUMNS, "reversed", "open", "wrong", "sure", "seconds")
METHODS: dict[str, dict[str, Any]] = {
    "linear": {},
    "noise": {"arrows": "noise"},
    "curved": {"relations": "curved"},
}


def class_distance(found: np.ndarray, dag: np.ndarray) -> int:
    """Pairs whose marks differ between the classes of two DAGs."""
    a, b = qwo.to_cpdag(found), qwo.to_cpdag(dag)
    return int((np.triu((a != b) | (a.T != b.T), 1)).sum())


def measure(kind: str, noise: str, n: int, rows: int, seed: int) -> Iterator[dict[str, Any]]:
    """One row of the table for each method."""
    x, dag = data_set(kind, noise, n, rows, seed)
    for method, options in METHODS.items():
        began = time.process_time()
        found = qwo.discover(x, random_state=0, **options)
        seconds = time.process_time() - began
        wrong = sure = 0
        if found.noise is not None:
            pairs = np.argwhere(found.noise.supported & ((dag + dag.T) != 0))
            sure, wrong = len(pairs), int(sum(not dag[i, j] for i, j in pairs))
        yield {
            "kind": kind,
            "noise": noise,
            "n": n,
            "rows": rows,
            "seed": seed,
            "method": method,
            **distances(found.cpdag, dag),
            "shd_class": class_distance(found.dag, dag),
            "wrong": wrong,
            "sure": sure,
            "seconds": round(seconds, 4),
        }


SIZES = ((10, 200, 20), (10, 500, 20), (10, 10_000, 10), (20, 2000, 20), (50, 2000, 6))
LARGE = ((100, 2000, 2), (300, 1000, 1))
OTHERS = 6
"""Variables, rows and data sets of cells beside those of ten variables and 2000 rows; data sets of
the kinds that nothing was chosen on."""


def grid(sets: int) -> Iterator[tuple[str, str, int, int, int]]:
    """Data set by data set: kinds by noise with ten variables, then sizes, fewer where dear."""
    some = (("random", "gauss"), ("linear", "exponential"), ("linear", "gauss"))
    for seed in range(sets):
        yield from ((kind, noise, 10, 2000, seed) for kind in KINDS for noise in NOISES)
        some_noises = ("gauss", "exponential") if seed < OTHERS else ()
        yield from ((kind, noise, 10, 2000, seed) for kind in OTHER_KINDS for noise in some_noises)
        for n, rows, most in SIZES:
            yield from ((*cell, n, rows, seed) for cell in some if seed < most)
    yield from (
        (*cell, n, rows, seed) for n, rows, most in LARGE for seed in range(most) for cell in some
    )


def table(path: Path) -> str:
    """Means over data sets, one line a cell, as a table of Markdown."""
    with path.open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    cells: dict[tuple[str, ...], dict[str, list[dict[str, str]]]] = {}
    for record in records:
        key = tuple(record[name] for name in ("kind", "noise", "n", "rows"))
        cells.setdefault(key, {}).setdefault(record["method"], []).append(record)
    lines = [
        "| relations | noise | n | rows | sets | linear | noise | curved | wrong | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key, methods in cells.items():
        shown = [f"{np.mean([float(r['shd']) for r in methods[m]]):.1f}" for m in METHODS]
        every = [record for method in methods.values() for record in method]
        wrong = [sum(int(record[name]) for record in every) for name in ("wrong", "sure")]
        spent = [f"{np.mean([float(r['seconds']) for r in methods[m]]):.2g}" for m in METHODS]
        count = len(methods["linear"])
        lines.append(
            f"| {' | '.join(key)} | {count} | {' | '.join(shown)} | {wrong[0]} of {wrong[1]} | "
            f"{', '.join(spent)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--sets", type=int, default=5)
    run.add_argument("--seconds", type=float, default=480)
    shown = commands.add_parser("table")
    shown.add_argument("file", type=Path)
    asked = parser.parse_args()
    if asked.command == "table":
        print(table(asked.file))
        return
    warnings.simplefilter("ignore", qwo.DataWarning)
    began, done = time.monotonic(), set()
    if asked.out.exists():
        with asked.out.open(encoding="utf-8", newline="") as file:
            done = {tuple(row[k] for k in COLUMNS[:5]) for row in csv.DictReader(file)}
    with asked.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for cell in grid(asked.sets):
            if tuple(map(str, cell)) in done:
                continue
            if time.monotonic() - began > asked.seconds:
                print("time is up at", cell, file=sys.stderr)
                break
            writer.writerows(measure(*cell))
            file.flush()


if __name__ == "__main__":
    main()
