"""Wide data on a processor: the search from 500 to 10,000 variables, and scans against the memory.

    python -m benchmarks.wide [--largest 10000] [--full 5000] [--threads 2]
    python -m benchmarks.wide --quality
    python -m benchmarks.wide --scans --threads 2

Searches are whole calls of `qwo.discover` from moments, on random graphs of average degree 4 with
N = 5n, each in a process of its own, whose peak of memory is counted in n×n matrices of floats. Up
to ``--full`` variables, the search in which every variable is a candidate is run for comparison.
The moments are those of a sample that is never drawn: see `moments_of_sample`. ``--quality``
compares the two searches on graphs of all kinds instead, ``--scans`` one thread with several by
the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import qwo
from benchmarks.micro import make_engine, make_moments, time_many_scans, time_scan
from benchmarks.timing import growth_exponent, print_table, readable
from qwo.discovery import resolve
from qwo.graph.dag import adjacency_lists, topological_order
from qwo.moments import Moments
from qwo.order.qwo import QwoEngine
from qwo.simulation.random_models import random_model
from qwo.types import Adjacency

SEARCHED = (500, 1000, 2000, 5000, 10_000)
SCANNED = (1000, 2000, 4000)
DEGREE, SAMPLES_PER_VARIABLE = 4, 5
SCANS = 16
QUALITY = (
    ("er", 2, 1500, 10),
    ("er", 4, 2000, 5),
    ("er", 6, 1500, 5),
    ("er", 8, 1100, 5),
    ("scale-free", 4, 1100, 5),
    ("scale-free-out", 4, 1500, 5),
    ("er", 4, 1500, 1.2),
    ("er", 4, 1500, 0.5),
)
"""Kind of graph, degree, n and N/n."""
SEEDS = 3
SHARED, TURNS = 64, 40
STREAM = 2**26


def moments_of_sample(
    n: int, n_samples: int, seed: int, graph: str = "er", degree: float = DEGREE
) -> tuple[Moments, Adjacency]:
    """Moments as of n_samples draws from a random linear model, and its DAG.

    For N > n the scatter matrix of the noise is drawn by Bartlett's decomposition A Aᵀ, and A is
    passed through the structural equations as if its columns were samples.
    """
    rng = np.random.default_rng(seed)
    model = random_model(graph, n_variables=n, degree=degree, random_state=rng)
    rows = rng.standard_normal((n, min(n, n_samples - 1)))
    if n_samples > n:
        rows = np.tril(rows, -1)
        np.fill_diagonal(rows, np.sqrt(rng.chisquare(n_samples - 1 - np.arange(n))))
    rows *= np.sqrt(model.noise_variances)[:, None]
    parents = adjacency_lists(model.dag).parents
    for child in topological_order(model.dag).tolist():
        if parents[child]:
            rows[child] += model.coefficients[parents[child], child] @ rows[parents[child]]
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    correlation = rows @ rows.T
    np.fill_diagonal(correlation, 1.0)
    names = tuple(f"X{k}" for k in range(n))
    return Moments(names, float(n_samples), np.zeros(n), np.ones(n), correlation), model.dag


def memory(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def search_once(n: int, full: bool, threads: int) -> dict[str, float]:
    """One search in this process, timed and weighed."""
    if full:
        resolve.ALL_CANDIDATES_UP_TO = n
    small, _ = moments_of_sample(10, 100, 0)
    moments, dag = moments_of_sample(n, SAMPLES_PER_VARIABLE * n, n)
    with threadpool_limits(limits=threads):
        qwo.discover(small, penalty_discount=2.0, random_state=0)
        Path("/proc/self/clear_refs").write_text("5")
        before, wall, start = memory("VmRSS"), time.perf_counter(), time.process_time()
        found = qwo.discover(moments, penalty_discount=2.0, random_state=0)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
        peak = memory("VmHWM") - before
        inverse = time.process_time()
        qwo.order.linalg.precision_matrix(moments.correlation, moments.n_samples)
        inverse = time.process_time() - inverse
    result = qwo.compare(found, dag, aid=False)
    return {
        "seconds": seconds,
        "wall": wall,
        "inverse": inverse,
        "matrices": 1 + peak / (8 * n * n),
        "bytes": 8 * n * n + peak,
        "edges": found.n_edges,
        "true": int(dag.sum()),
        "f1": result.skeleton_f1,
        "shd": result.shd_cpdag,
        "score": found.score,
    }


def in_own_process(n: int, full: bool, threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.wide", "--one", str(n), "--threads", str(threads)]
    done = subprocess.run(
        [*command, *(["--whole"] if full else [])],
        env=os.environ | {"OPENBLAS_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def searches(largest: int, largest_full: int, threads: int) -> None:
    sizes = [n for n in SEARCHED if n <= largest]
    header = ["n", "candidates", "CPU", "of it the inverse", "matrices", "memory"]
    rows, times, bytes_used = [], [], []
    for n in sizes:
        kinds = [True] if n <= resolve.ALL_CANDIDATES_UP_TO else [False, True]
        for full in kinds:
            if full and n > largest_full:
                continue
            r = in_own_process(n, full, threads)
            if full == kinds[0]:
                times.append(r["seconds"])
                bytes_used.append(r["bytes"])
            rows.append(
                [
                    f"{n}",
                    "all" if full else "lists",
                    readable(r["seconds"]),
                    readable(r["inverse"]),
                    f"{r['matrices']:.1f}",
                    f"{r['bytes'] / 2**30:.2f} GiB",
                    f"{r['edges']:.0f}",
                    f"{r['true']:.0f}",
                    f"{r['f1']:.4f}",
                    f"{r['shd']:.0f}",
                    f"{r['score']:.1f}",
                ]
            )
            print(f"done: n = {n}, {rows[-1]}", file=sys.stderr)
    print_table([*header, "edges", "true", "F1", "SHD", "score"], rows)
    if len(sizes) > 1:
        print(
            f"Exponents, default search, n = {sizes[0]} … {sizes[-1]}: "
            f"time {growth_exponent(sizes, times):.2f}, "
            f"memory {growth_exponent(sizes, bytes_used):.2f}\n"
        )


def quality() -> None:
    """Lists against all candidates: difference of the scores in edges' penalties, SHD and time."""
    rows = []
    for graph, degree, n, per_variable in QUALITY:
        for seed in range(SEEDS):
            n_samples, gamma = int(per_variable * n), 0.0 if per_variable > 1 else 0.5
            moments, dag = moments_of_sample(n, n_samples, seed, graph, degree)
            found, seconds = [], []
            for all_up_to in (n, n - 1):
                resolve.ALL_CANDIDATES_UP_TO = all_up_to
                start = time.process_time()
                found.append(
                    qwo.discover(moments, penalty_discount=2.0, random_state=0, gamma=gamma)
                )
                seconds.append(time.process_time() - start)
            penalty = 2 * np.log(n_samples) + 2 * gamma * np.log(n)
            edges, scores = [f.n_edges for f in found], [f.score for f in found]
            extra = 2 * gamma * np.log(n) * (edges[1] - edges[0])
            shds = [f"{qwo.compare(f, dag, aid=False).shd_cpdag}" for f in found]
            rows.append(
                [
                    f"{graph}, degree {degree}",
                    f"{n}",
                    f"{n_samples}",
                    f"{(scores[1] - scores[0] - extra) / penalty:.1f}",
                    *shds,
                    *(readable(t) for t in seconds),
                ]
            )
            print(f"done: {rows[-1]}", file=sys.stderr)
    header = ["graph", "n", "N", "score, lists - all", "SHD, all", "lists", "CPU, all", "lists"]
    print_table(header, rows)


def bandwidth() -> float:
    """Bytes per second that one thread reads from memory, by the scalar product of two vectors."""
    x, y = np.ones(STREAM), np.ones(STREAM)
    best = np.inf
    for _ in range(7):
        start = time.thread_time()
        np.dot(x, y)
        best = min(best, time.thread_time() - start)
    return 2 * x.nbytes / best


def scans() -> None:
    """Time of a scan against what reading L and D, n²/2 numbers each, takes at least."""
    speed = bandwidth()
    print(f"Memory: {speed / 1e9:.1f} GB/s read by one thread\n")
    rows = []
    for n in SCANNED:
        moments = make_moments(n)
        for objective in ("likelihood", "edges"):
            engine = make_engine(moments, objective=objective)
            single, shared, floor = time_scan(engine), time_many_scans(engine), 8 * n * n / speed
            rows.append(
                [
                    f"{n}",
                    objective,
                    readable(floor),
                    readable(single),
                    f"{single / floor:.2f}",
                    readable(shared),
                    f"{shared / floor:.2f}",
                ]
            )
    print_table(
        ["n", "objective", "reading", "scan", "ratio", f"{SCANS} at once, each", "ratio"], rows
    )


def timed_scan(engine: QwoEngine, threads: int) -> float:
    """Wall-clock seconds of one of many scans that share passes and threads."""
    engine.threads = threads
    variables = engine.order[:: engine.n_variables // SHARED][:SHARED]
    start = time.perf_counter()
    engine.scan_many(variables)
    return (time.perf_counter() - start) / SHARED


def threaded_scans(threads: int) -> None:
    """One thread against several; the fastest of many turns, when nobody else was there."""
    cases = [(n, objective) for n in SCANNED for objective in ("likelihood", "edges")]
    engines = [make_engine(make_moments(n), objective=objective) for n, objective in cases]
    turns = [[[timed_scan(e, t) for t in (1, threads)] for e in engines] for _ in range(TURNS)]
    rows = [
        [f"{n}", objective, readable(one), readable(many), f"{one / many:.2f}"]
        for (n, objective), (one, many) in zip(cases, np.min(turns, axis=0), strict=True)
    ]
    print_table(["n", "objective", "one thread", f"{threads} threads", "speed-up"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SEARCHED[-1])
    parser.add_argument("--full", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--whole", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--scans", action="store_true")
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(search_once(given.one, given.whole, given.threads)))
        return
    if given.scans:
        with threadpool_limits(limits=1):
            threaded_scans(max(given.threads, 2))
        return
    if given.quality:
        with threadpool_limits(limits=1):
            quality()
        return
    with threadpool_limits(limits=1):
        scans()
    searches(given.largest, given.full, given.threads)


if __name__ == "__main__":
    main()
