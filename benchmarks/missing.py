"""Graphs from data with values removed at random: EM, dropping rows, and the complete data.

Run with ``python -m benchmarks.missing``. For each share of missing values and each model (random
graphs of average degree 3, weights and noise as `qwo.simulate` has them), three searches with the
same settings. "Samples" is the N that the score uses: all rows, the effective sample size of EM,
or the rows without a missing value. SHD counts the pairs of variables whose edge in the CPDAG is
wrong; extra and lost are edges of the skeleton.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import qwo
from benchmarks.timing import print_table, readable
from qwo.moments import Moments

SHARES = (0.05, 0.1, 0.2)
POLICIES: dict[str, Callable[[npt.NDArray[np.float64]], Moments]] = {
    "em": lambda data: Moments.from_data(data, missing="em"),
    "drop": lambda data: Moments.from_data(data, missing="drop"),
}


def outcome(moments: Moments, dag: npt.NDArray[np.int8], seed: int) -> list[float]:
    """Samples, SHD, extra and lost edges of the graph found."""
    found = qwo.discover(moments, penalty_discount=2.0, random_state=seed)
    compared = qwo.compare(found.cpdag, qwo.to_cpdag(dag))
    return [
        moments.n_samples,
        compared.shd_cpdag,
        len(compared.extra),
        len(compared.missing),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--models", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    rows: dict[tuple[str, float], list[list[float]]] = {}
    for seed in range(options.models):
        data, dag, _ = qwo.simulate(
            "er",
            n_variables=options.variables,
            n_samples=options.samples,
            degree=3,
            random_state=seed,
        )
        complete = [*outcome(Moments.from_data(data), dag, seed), math.nan]
        rows.setdefault(("complete", 0.0), []).append(complete)
        draws = np.random.default_rng(seed).random(data.shape)
        for share in SHARES:
            holes = np.where(draws < share, np.nan, data)
            for name, estimate in POLICIES.items():
                start = time.process_time()
                try:
                    moments = estimate(holes)
                except qwo.InputError:
                    continue  # too few rows are left
                spent = time.process_time() - start
                rows.setdefault((name, share), []).append([*outcome(moments, dag, seed), spent])
    print(
        f"{options.models} models, {options.variables} variables, {options.samples} rows, "
        "penalty_discount 2; means over the models\n"
    )
    header = ["missing", "by", "models", "samples", "SHD", "extra", "lost", "moments"]
    cells = []
    for (name, share), results in sorted(rows.items(), key=lambda item: (item[0][1], item[0][0])):
        mean = np.mean(results, axis=0)
        spent = "" if math.isnan(mean[4]) else readable(mean[4])
        numbers = [f"{mean[0]:.0f}", *(f"{value:.2f}" for value in mean[1:4])]
        cells.append([f"{share:.0%}", name, str(len(results)), *numbers, spent])
    print_table(header, cells)


if __name__ == "__main__":
    main()
