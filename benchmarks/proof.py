"""Proof: how far the default search is from the best graph, and from the bound on any graph.

    python -m benchmarks.proof [exact errors gaps parts gobnilp] [--sets N] [--results FOLDER] \\
        [--gobnilp PYTHON]

Up to 16 variables the default goes through all graphs itself, of 17 and 18 where there are two
edges a variable; there it is compared with ``search="exact"``. The gap of larger graphs is that of
``found.bound``; ``parts`` tells how many graphs of more than 24 variables are proved, and what gap
is left of the others. GOBNILP is pygobnilp 1.0 with the licence that gurobipy brings along (2000
variables and constraints), in an environment of its own. Tables in ``benchmarks/results/proof``, to
which runs add what they have not got yet.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import qwo
from benchmarks.rows import extend_rows, read_rows, timed

RESULTS = Path(__file__).parent / "results" / "proof"
SETS = {"exact": 1, "errors": 1000, "gaps": 20, "parts": 3, "gobnilp": 3}
"""Data sets of a cell."""


def table(n, rows, degree, seed):
    return qwo.simulate(
        "er", n_variables=n, n_samples=rows, degree=degree, random_state=seed, standardize=True
    ).data


class Parts:
    """The tables, each with its cells and what is measured in one of them."""

    def __init__(self, options):
        self.options = options

    def exact(self, _sets):
        """Time and memory of the best graph of all."""
        for n in (12, 14, 16, 17, 18, 19, 20, 22, 24):
            yield {"n": n}

    def measure_exact(self, n):
        moments = qwo.Moments.from_data(table(n, 1000, 3, n))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        _, seconds = timed(lambda: qwo.discover(moments, search="exact", penalty_discount=2))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {"seconds": round(seconds, 3), "mib_more": round(peak - before)}

    def errors(self, sets):
        """Score of the default less that of the best graph of all."""
        for k in range(sets):
            yield {"set": k}

    def measure_errors(self, **cell):
        k = cell["set"]
        rng = np.random.default_rng(k)
        n, degree = int(rng.integers(17, 19)), float(rng.choice([2, 4, 6]))
        rows = int(rng.choice([200, 1000, 5000]))
        moments = qwo.Moments.from_data(table(n, rows, degree, k))
        options = {"penalty_discount": 2, "random_state": 0}
        found, seconds = timed(lambda: qwo.discover(moments, **options))
        best, exact = timed(lambda: qwo.discover(moments, search="exact", **options))
        yield {
            "n": n,
            "degree": degree,
            "rows": rows,
            "score": round(best.score, 3),
            "lost": round(best.score - found.score, 4),
            "seconds": round(seconds, 4),
            "exact_seconds": round(exact, 4),
        }

    def gaps(self, sets):
        """How far the bound is above the score found."""
        for n, rows, k in product((20, 30, 50, 100), (500, 1000, 10_000), range(sets)):
            yield {"n": n, "rows": rows, "degree": (2, 3, 4, 6)[k % 4], "set": k}

    def measure_gaps(self, n, rows, degree, **cell):
        found = qwo.discover(table(n, rows, degree, cell["set"]), random_state=0)
        bound, seconds = timed(lambda: found.bound)
        yield {
            "score": round(found.score, 2),
            "points": round(bound - found.score, 2),
            "percent": round(100 * (bound - found.score) / bound, 3),
            "bound_seconds": round(seconds, 5),
        }

    def parts(self, sets):
        """How often graphs of more than 24 variables are proved, within a minute and longer."""
        for n, degree, k in product((26, 28, 30, 35, 40), (1, 1.5, 2, 3), range(sets)):
            yield {"n": n, "degree": degree, "rows": 1000, "set": k, "limit": 60}
        for n, degree, k in ((28, 2, 3), (30, 2, 1), (35, 1.5, 3), (40, 2, 0)):
            yield {"n": n, "degree": degree, "rows": 1000, "set": k, "limit": 400}

    def measure_parts(self, n, degree, rows, limit, **cell):
        data = table(n, rows, degree, cell["set"])
        options = {"penalty_discount": 2, "random_state": 0}
        default = qwo.discover(data, **options)
        exact = {"search": "exact", "time_limit": limit}
        found, seconds = timed(lambda: qwo.discover(data, **exact, **options))
        yield {
            "proved": found.proved,
            "status": found.status,
            "default_lost": round(found.score - default.score, 3),
            "points": round(found.bound - found.score, 2),
            "percent": round(100 * (found.bound - found.score) / found.bound, 3),
            "default_points": round(default.bound - default.score, 2),
            "seconds": round(seconds, 2),
            "mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }

    def gobnilp(self, sets):
        """The same best score by GOBNILP, and its time."""
        for n, k in product((6, 8), range(sets)):
            yield {"n": n, "set": k}

    def measure_gobnilp(self, n, **cell):
        data = table(n, 500, 2, cell["set"])
        best, seconds = timed(lambda: qwo.discover(data, search="exact", penalty_discount=1))
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file, data)
            worker = Path(__file__).parent / "peers" / "gobnilp_worker.py"
            command = [self.options.gobnilp, worker, file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        told = json.loads(lines[-1]) if lines else {"error": done.stderr[-200:]}
        row = {"score": round(best.score, 3), "seconds": round(seconds, 4)}
        if "graph" in told:
            own = float(qwo.score_graph(data, np.array(told["graph"], dtype=np.int8), 1.0))
            row |= {
                "gobnilp_score": round(own, 3),
                "gobnilp_seconds": round(told["seconds"], 3),
                "gobnilp_scoring_seconds": round(told["scoring_seconds"], 3),
            }
        yield row | {"error": told.get("error", "")}


def sentences(folder=RESULTS):
    """What the tables say, as the page on the search says it."""
    errors, gaps, parts, exact = (
        read_rows(folder / f"{part}.csv") for part in ("errors", "gaps", "parts", "exact")
    )
    for key, name in (("n", "variables"), ("seconds", "seconds"), ("mib_more", "MiB")):
        told = [row[key] for row in exact if row["n"] >= 16]
        yield f"| {name} | {' | '.join(f'{x:.2g}' if x < 10 else f'{x:g}' for x in told)} |"
    lost = [row["lost"] for row in errors]
    yield (
        f"Of {len(errors)} data sets with 17 and 18 variables, of which the default proves "
        f"the dense, it missed the best graph in {sum(loss > 0.01 for loss in lost)}, by "
        f"{max(lost):.1f} points at most"
    )
    for rows in (1000, 10_000):
        medians = []
        for n in (20, 30, 50, 100):
            own = [row for row in gaps if (row["n"], row["rows"]) == (n, rows)]
            percent, points = (
                np.median([row[key] for row in own]) for key in ("percent", "points")
            )
            medians.append(f"{percent:.2g} % ({points:.0f} points) of {n}")
        yield f"With {rows} rows the median gap is {', '.join(medians)} variables"
    for degree in (1, 1.5, 2, 3):
        told = []
        for n in (26, 28, 30, 35, 40):
            own = [r for r in parts if (r["n"], r["degree"], r["limit"]) == (n, degree, 60)]
            told.append(f"{sum(row['proved'] for row in own)} of {len(own)}")
        yield f"| {degree:g} | {' | '.join(told)} |"
    short = [
        r for r in parts if r["limit"] == 60 and not r["proved"] and r["status"] != "converged"
    ]
    before, after = (np.median([r[key] for r in short]) for key in ("default_points", "points"))
    yield (
        f"of the {len(short)} that a minute cut off the median gap fell from {before:.0f} to "
        f"{after:.0f} points"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=SETS)
    parser.add_argument("--sets", type=int)
    parser.add_argument("--gobnilp", metavar="PYTHON")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.results.mkdir(parents=True, exist_ok=True)
    tables = Parts(options)
    for part in options.parts or [name for name in SETS if name != "gobnilp"]:
        cells, measure = getattr(tables, part)(options.sets or SETS[part]), f"measure_{part}"
        path = options.results / f"{part}.csv"
        print(part, len(extend_rows(path, cells, getattr(tables, measure))), "rows")


if __name__ == "__main__":
    main()
