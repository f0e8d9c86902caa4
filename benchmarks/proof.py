"""Proof: how far the default search is from the best graph, and from the bound on any graph.

    python -m benchmarks.proof [--sets 1000] [--gaps 20]

Up to 16 variables the default goes through all graphs itself; of 17 and 18 it is compared with
``search="exact"``. The gap of larger graphs is that of ``found.bound``. Tables in
``benchmarks/results/proof``.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
import warnings
from pathlib import Path

import numpy as np

import qwo

RESULTS = Path(__file__).parent / "results" / "proof"


def errors(sets):
    """Score of the default less that of the best graph of all."""
    for k in range(sets):
        rng = np.random.default_rng(k)
        n, degree = int(rng.integers(17, 19)), float(rng.choice([2, 4, 6]))
        rows = int(rng.choice([200, 1000, 5000]))
        data, _, _ = qwo.simulate(
            "er", n_variables=n, n_samples=rows, degree=degree, random_state=k, standardize=True
        )
        moments = qwo.Moments.from_data(data)
        options = {"penalty_discount": 2, "random_state": 0}
        begun = time.process_time()
        found = qwo.discover(moments, **options)
        seconds = time.process_time() - begun
        begun = time.process_time()
        best = qwo.discover(moments, search="exact", **options)
        exact_seconds = time.process_time() - begun
        yield {
            "set": k,
            "n": n,
            "degree": degree,
            "rows": rows,
            "score": round(best.score, 3),
            "lost": round(best.score - found.score, 4),
            "seconds": round(seconds, 4),
            "exact_seconds": round(exact_seconds, 4),
        }


def gaps(sets):
    """How far the bound is above the score found."""
    for n in (10, 20, 30, 50, 100):
        for rows in (500, 1000, 10_000):
            for k in range(sets):
                degree = (2, 3, 4, 6)[k % 4]
                data, _, _ = qwo.simulate(
                    "er", n_variables=n, n_samples=rows, degree=degree, random_state=k
                )
                found = qwo.discover(data, random_state=0)
                begun = time.process_time()
                bound = found.bound if n > 10 else found.score
                seconds = time.process_time() - begun
                yield {
                    "n": n,
                    "rows": rows,
                    "degree": degree,
                    "set": k,
                    "score": round(found.score, 2),
                    "points": round(bound - found.score, 2),
                    "percent": round(100 * (bound - found.score) / bound, 3),
                    "bound_seconds": round(seconds, 5),
                }


def exact(_sets):
    """Time and memory of the best graph of all."""
    for n in (12, 14, 16, 17, 18, 19, 20):
        data, _, _ = qwo.simulate("er", n_variables=n, n_samples=1000, degree=3, random_state=n)
        begun = time.process_time()
        qwo.discover(data, search="exact", penalty_discount=2)
        seconds = time.process_time() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {"n": n, "seconds": round(seconds, 3), "peak_mib": round(peak)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--gaps", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    parts = {"exact": exact(0), "errors": errors(options.sets), "gaps": gaps(options.gaps)}
    for part, rows in parts.items():
        table = list(rows)
        with (RESULTS / f"{part}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
        print(part, len(table), "rows")


if __name__ == "__main__":
    main()
