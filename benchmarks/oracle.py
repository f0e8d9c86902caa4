"""Whether exact covariances lead to the true class: ``python -m benchmarks.oracle``.

25,000 random models with up to 30 variables, and 1,000 paths with up to 200. Finished hundreds are
kept in ``benchmarks/results/oracle.csv``: started again, it goes on where it was. A class that is
not the true one is an error of the search if its score is below that of the true graph; else the
score, at the N that stands for infinity, prefers it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import qwo
from benchmarks.peers.process import ROOT
from benchmarks.rows import Row, made, read_rows, write_rows
from qwo.graph import to_cpdag
from qwo.moments import Moments
from qwo.order.score import ORACLE_SAMPLES
from qwo.sem import score_graph
from qwo.simulation import random_model
from qwo.types import Adjacency, FloatArray

RESULTS = ROOT / "benchmarks" / "results" / "oracle.csv"
COLUMNS = ("kind", "first", "wrong", "worse")
EACH = 100
KINDS = ("er", "scale-free-in", "scale-free-out")
Model = tuple[FloatArray, Adjacency]


def random_case(seed: int) -> Model:
    """Covariance and graph of a random model with 2 to 30 variables."""
    rng = np.random.default_rng([7, seed])
    n, degree = int(rng.integers(2, 31)), float(rng.choice([1, 2, 3, 4, 6]))
    kind = KINDS[seed % 3] if n > 4 else "er"
    model = random_model(kind, n_variables=n, degree=int(min(degree, n - 1)), random_state=rng)
    return model.covariance(), model.dag


def path_case(seed: int) -> Model:
    """The same of a path with 2 to 200 variables, in random order."""
    rng = np.random.default_rng([8, seed])
    n = int(rng.integers(2, 201))
    logs = np.concatenate([[0.0], np.cumsum(np.log(rng.uniform(0.3, 0.9, n - 1)))])
    shuffled = np.ix_(*[rng.permutation(n)] * 2)
    correlation = np.exp(-np.abs(logs[:, None] - logs[None, :]))
    return correlation[shuffled], np.eye(n, k=1, dtype=np.int8)[shuffled]


CASES: dict[str, tuple[int, Callable[[int], Model]]] = {
    "random": (25_000, random_case),
    "path": (1_000, path_case),
}


def main() -> None:
    """Run what is missing and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin nothing after these")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    rows = read_rows(arguments.results)
    done = {(row["kind"], int(row["first"])) for row in rows}
    hundreds = [(kind, first) for kind in CASES for first in range(0, CASES[kind][0], EACH)]
    missing = [hundred for hundred in hundreds if hundred not in done]
    limits = {"jobs": arguments.jobs, "seconds": 60 * arguments.minutes}
    for _, row in made(examine, missing, **limits):
        rows.append(row)
        write(rows, arguments.results)
    print("\n".join(told(rows)))


def examine(hundred: tuple[str, int]) -> dict[str, str]:
    """The seeds of a hundred whose class is not the true one, and those whose score is worse."""
    kind, first = hundred
    case = CASES[kind][1]
    wrong, worse = [], []
    for seed in range(first, first + EACH):
        covariance, dag = case(seed)
        moments = Moments.from_covariance(covariance, np.inf)
        found = qwo.discover(moments, penalty_discount=2.0, random_state=seed)
        if np.array_equal(found.cpdag, to_cpdag(dag)):
            continue
        wrong.append(str(seed))
        many = Moments.from_covariance(covariance, ORACLE_SAMPLES)
        if score_graph(many, found.dag, 2.0).score < score_graph(many, dag, 2.0).score:
            worse.append(str(seed))
    return dict(zip(COLUMNS, (kind, str(first), " ".join(wrong), " ".join(worse)), strict=True))


def write(rows: list[Row], path: Path) -> None:
    """All rows, in place of what there was."""
    write_rows(path, sorted(rows, key=lambda row: (row["kind"], int(row["first"]))), COLUMNS)


def told(rows: list[Row]) -> list[str]:
    """For each kind how many models there were, and the seeds that came out otherwise."""
    lines = []
    for kind in CASES:
        own = [row for row in rows if row["kind"] == kind]
        wrong = " ".join(str(row["wrong"]) for row in own).split()
        worse = " ".join(str(row["worse"]) for row in own).split()
        lines.append(
            f"{kind}: {EACH * len(own)} models, {len(wrong)} classes not the true one "
            f"({' '.join(wrong) or 'none'}), {len(worse)} of them with a worse score"
        )
    return lines


if __name__ == "__main__":
    main()
