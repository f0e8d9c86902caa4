"""Our default, whose price is chosen, beside ours at the price of all: no other tool takes part.

Run with ``python -m benchmarks.peers.prices --sets 5``. The data are those of the page on peers, up
to 107 variables; thin graphs and models that another package draws (DaO) are left out.
``QWO_CAUSAL_CHAMBER`` names the folder of the chamber's data.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from statistics import fmean
from typing import Literal

import qwo
from benchmarks.peers.cells import STANDARD, Cell
from benchmarks.peers.data import Sources
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
    sources = Sources(Workers({}), Path(chamber) if chamber else None)
    rows = []
    for cell in STANDARD.cells:
        usual = cell.penalty_discount == PRICES[0] and cell.section != "thin"
        if usual and cell.kind.n <= LARGEST and not sources.missing(cell.kind):
            rows.append([cell.title, *_figures(cell, sources, arguments.sets)])
    prices = [f"{name}, {price}" for name in ("SHD", "arrows", "ms") for price in PRICES]
    print_table(["data", *prices, "price", "expected false", "false"], rows)


def _figures(cell: Cell, sources: Sources, sets: int) -> list[str]:
    """SHD, precision and recall of arrows, and time at each price; what the chosen one expects."""
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
    means = {
        price: [fmean(column) for column in zip(*done, strict=True)] for price, done in runs.items()
    }
    figures = [f"{means[price][0]:.1f}" for price in PRICES]
    figures += [f"{means[price][2]:.2f}; {means[price][3]:.2f}" for price in PRICES]
    figures += [f"{means[price][1]:.0f}" for price in PRICES]
    taken, expected, false = means["auto"][4:]
    return [*figures, f"{taken:.2f}", f"{expected:.2f}", f"{false:.1f}"]


if __name__ == "__main__":
    main()
