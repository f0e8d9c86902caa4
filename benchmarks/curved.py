"""Curved relations and arrows from the noise: distance to the truth, evidence and time.

    python -m benchmarks.curved run --out benchmarks/results/curved.csv
    python -m benchmarks.curved table benchmarks/results/curved.csv

Random graphs of mean degree 3; every variable is standardised as it is made; an edge is w f(x) with
f of unit variance and w from 0.5 to 1; noise has 0.5 to 1 standard deviations. The structural
Hamming distance is to the DAG: an undirected edge counts 1, and so does a wrong arrow. `wrong` of
`sure` are the arrows of real edges with z of 3 or more that point the wrong way. Times are
processor seconds of one thread.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import qwo

KINDS = ("linear", "half linear", "random", "sine", "square", "network")
NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "gauss": lambda rng, n: rng.standard_normal(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "t5": lambda rng, n: rng.standard_t(5, size=n),
    "spread": lambda rng, n: rng.standard_normal(n),
}
COLUMNS = ("kind", "noise", "n", "rows", "seed", "method", "shd", "shd_class", "missed", "extra")
COLUMNS = (*COLUMNS, "reversed", "open", "wrong", "sure", "seconds")
METHODS: dict[str, dict[str, Any]] = {
    "linear": {},
    "noise": {"arrows": "noise"},
    "curved": {"relations": "curved"},
}


def _unit(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def _curve(x: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "half linear":
        kind = "linear" if rng.random() < 0.5 else "random"
    if kind == "linear":
        return x * rng.choice([-1, 1])
    if kind == "square":
        bend = rng.choice([-1, 1]) * rng.uniform(0.3, 1)
        return _unit(rng.choice([-1, 1]) * x + bend * (x**2 - 1))
    if kind == "sine":
        if rng.random() < 0.5:
            return _unit(np.tanh(rng.uniform(1, 3) * x + rng.normal()))
        return _unit(np.sin(rng.uniform(1, 2.5) * x + rng.uniform(0, 2 * np.pi)))
    waves, shifts = rng.standard_normal(100), rng.uniform(0, 2 * np.pi, 100)
    return _unit(np.cos(np.outer(x, waves) + shifts) @ rng.standard_normal(100))


def data_set(kind: str, noise: str, n: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the DAG behind them; with noise "spread" it grows with the first cause."""
    rng = np.random.default_rng([zlib.crc32(f"{kind} {noise}".encode()), n, rows, seed])
    order = rng.permutation(n)
    dag = np.zeros((n, n), np.int8)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < min(1.0, 3 / (n - 1)), 1)
    x = np.empty((rows, n))
    for v in order:
        parents = np.flatnonzero(dag[:, v])
        own = rng.uniform(0.5, 1.0) * _unit(NOISES[noise](rng, rows))
        if noise == "spread" and len(parents):
            own = own * np.exp(0.4 * x[:, parents[0]])
        if kind == "network" and len(parents):
            weights = rng.normal(size=(len(parents), 50)) * 1.5
            joint = np.tanh(x[:, parents] @ weights + rng.normal(size=50)) @ rng.normal(size=50)
            own = own + 0.8 * np.sqrt(len(parents)) * _unit(joint)
        else:
            for u in parents:
                own = own + rng.uniform(0.5, 1.0) * _curve(x[:, u], kind, rng)
        x[:, v] = _unit(own)
    return x, dag


def distances(found: np.ndarray, dag: np.ndarray) -> dict[str, int]:
    """How far a graph with open edges is from a DAG."""
    there, true = (found != 0) | (found.T != 0), (dag != 0) | (dag.T != 0)
    upper = np.triu(np.ones_like(true), 1)
    arrows = (found == 1) & (found.T == 0)
    right, wrong = int((arrows & (dag == 1)).sum()), int((arrows & (dag.T == 1)).sum())
    missed, extra = int((true & ~there & upper).sum()), int((there & ~true & upper).sum())
    open_ = int((there & true & upper).sum()) - right - wrong
    shd = missed + extra + wrong + open_
    return {"shd": shd, "missed": missed, "extra": extra, "reversed": wrong, "open": open_}


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


def grid(sets: int) -> Iterator[tuple[str, str, int, int, int]]:
    """Kinds by noise with ten variables; then sizes, with fewer data sets where they are dear."""
    for kind, noise, seed in itertools.product(KINDS, NOISES, range(sets)):
        yield kind, noise, 10, 2000, seed
    for kind, noise, rows in (
        ("random", "gauss", 200),
        ("random", "gauss", 500),
        ("random", "gauss", 10_000),
        ("linear", "exponential", 200),
        ("linear", "exponential", 500),
        ("linear", "gauss", 500),
    ):
        yield from ((kind, noise, 10, rows, seed) for seed in range(sets))
    for n, most in ((20, sets), (50, 3), (100, 2), (300, 1)):
        for kind, noise in (("random", "gauss"), ("linear", "exponential"), ("linear", "gauss")):
            yield from ((kind, noise, n, 2000 if n < 300 else 1000, s) for s in range(most))


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
    began = time.monotonic()
    with asked.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for cell in grid(asked.sets):
            if time.monotonic() - began > asked.seconds:
                print("time is up at", cell, file=sys.stderr)
                break
            writer.writerows(measure(*cell))
            file.flush()


if __name__ == "__main__":
    main()
