"""Our default, whose price is chosen, beside ours at the price of all: no other tool takes part.

Run with ``python -m benchmarks.peers.prices --sets 5``. The data are those of the page on peers, up
to 107 variables, but for thin graphs. DaO models take the environment that draws them (``python -m
benchmarks.peers.environments measure``); ``QWO_CAUSAL_CHAMBER`` names the folder of the chamber's
data. What is missing is left out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Literal

import qwo
from benchmarks.peers.cells import STANDARD, Cell
from benchmarks.peers.data import Sources
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.process import Workers
from benchmarks.timing import print_table

PRICES: tuple[float | Literal["auto"], ...] = (2.0, "auto")
LARGEST = 107


def main() -> None:
    """A line for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    chamber = os.environ.get("QWO_CAUSAL_CHAMBER")
    measure = ENVIRONMENTS["measure"]
    rows, changes = [], []
    with Workers({"measure": measure.python} if measure.is_ready else {}) as workers:
        sources = Sources(workers, Path(chamber) if chamber else None)
        for cell in STANDARD.cells:
            usual = cell.penalty_discount == PRICES[0] and cell.section != "thin"
            if usual and cell.kind.n <= LARGEST and not sources.missing(cell.kind):
                means = _means(cell, sources, arguments.sets)
                rows.append([cell.title, *_figures(means)])
                changes.append(log((means["auto"][0] + 0.5) / (means[PRICES[0]][0] + 0.5)))
    prices = [f"{name}, {price}" for name in ("SHD", "arrows", "ms") for price in PRICES]
    print_table(["data", *prices, "price", "expected false", "false"], rows)
    print(f"\ngeometric mean of SHD + 0.5 against that at 2: {exp(fmean(changes)):.2f}")


Means = dict[float | Literal["auto"], list[float]]


def _means(cell: Cell, sources: Sources, sets: int) -> Means:
    """SHD, time, precision and recall of arrows, price, expected and true false edges."""
    runs: dict[float | Literal["auto"], list[tuple[float, ...]]] = {price: [] for price in PRICES}
    for seed in range(sets):
        problem = sources.draw(cell.kind, seed)
        moments = qwo.Moments.from_data(problem.data)
        for price, done in runs.items():
            begun = time.process_time()
            found = qwo.discover(moments, penalty_discount=price, random_state=seed)
            spent = 1e3 * (time.process_time() - begun)
            judged = qwo.compare(found, problem.dag, aid=False)
            arrows = judged.arrowhead
            chosen = found.params["penalty_discount"], found.expected_false_edges
            precise = arrows.precision, arrows.recall
            done.append((judged.shd_cpdag, spent, *precise, *chosen, len(judged.extra)))
    return {
        price: [fmean(column) for column in zip(*done, strict=True)] for price, done in runs.items()
    }


def _figures(means: Means) -> list[str]:
    """The same as text: both prices, then what the chosen one expects."""
    figures = [f"{means[price][0]:.1f}" for price in PRICES]
    figures += [f"{means[price][2]:.2f}; {means[price][3]:.2f}" for price in PRICES]
    figures += [f"{means[price][1]:.0f}" for price in PRICES]
    taken, expected, false = means["auto"][4:]
    return [*figures, f"{taken:.2f}", f"{expected:.2f}", f"{false:.1f}"]


if __name__ == "__main__":
    main()
