"""Tables of nothing but categories: blocks of indicators, and BDeu, which counts rows.

Run with ``python -m benchmarks.counts``. Random graphs of 15 variables, average degree 3, with 2 to
4 levels each. *Sums*: multinomial logits of what parents add; *tables*: every combination of the
parents has probabilities of its own, drawn from a Dirichlet distribution; *cut*: linear Gaussian
models in pieces whose order is lost. SHD counts the pairs whose edge in the CPDAG is wrong.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd

import qwo
from benchmarks.mixed import Table, conditional, discretised
from benchmarks.rows import timed
from benchmarks.timing import print_table


def tables(dag: Any, levels: list[int], rows: int, rng: Any) -> Table:
    """Probabilities of its own for each combination of the parents."""
    values = np.zeros((rows, len(dag)), dtype=np.int64)
    for v in qwo.graph.topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        _, place = np.unique(values[:, parents], axis=0, return_inverse=True)
        shares = rng.dirichlet([0.5] * levels[v], place.max() + 1).cumsum(axis=1)
        values[:, v] = (rng.random(rows)[:, None] > shares[place.ravel(), :-1]).sum(axis=1)
    return values.astype(float)


MODELS = {"sums": conditional, "tables": tables, "cut": discretised}


def point(model: str, rows: int, sets: int) -> list[str]:
    """Mean SHD and CPU seconds of both scores over data sets."""
    found = []
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        _, dag, _ = qwo.simulate("er", n_variables=15, n_samples=3, degree=3, random_state=rng)
        levels = rng.integers(2, 5, 15).tolist()
        codes = MODELS[model](dag, levels, rows, rng).astype(int)
        frame = pd.DataFrame(codes).add_prefix("X").astype("category")
        frame = frame.loc[:, frame.nunique() > 1]
        kept = [int(name[1:]) for name in frame]
        row = []
        for options in ({"penalty_discount": 2.0}, {"score": "bdeu"}):
            answer, seconds = timed(qwo.discover, frame, random_state=0, **options)
            true = qwo.to_cpdag(dag)[np.ix_(kept, kept)]
            row += [qwo.compare(answer.cpdag, true).shd_cpdag, seconds]
        found.append(row)
    means = np.mean(found, axis=0)
    change = np.subtract(*np.array(found).T[[2, 0]])
    error = change.std() / np.sqrt(sets)
    numbers = [f"{means[0]:.1f}", f"{means[2]:.1f}", f"{change.mean():+.1f} ± {error:.1f}"]
    return [model, str(rows), *numbers, f"{means[1]:.2f}", f"{means[3]:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 2000, 10_000])
    parser.add_argument("--sets", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    rows = []
    for model in MODELS:
        for size in options.samples:
            rows.append(point(model, size, options.sets))
            print(*rows[-1], flush=True)
    print_table(["model", "N", "blocks", "BDeu", "difference", "CPU s", "CPU s, BDeu"], rows)


if __name__ == "__main__":
    main()
