"""What more restarts and other starts would do: ``python -m benchmarks.peers.starts``.

On the first ten data sets of the middle-sized kinds of the standard profile, against the best graph
known there from the results of `benchmarks.peers`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import fmean

from threadpoolctl import threadpool_limits

import qwo
from benchmarks.peers.__main__ import RESULTS
from benchmarks.peers.analysis import CellFigures, figures_of
from benchmarks.peers.cells import STANDARD, Cell
from benchmarks.peers.data import Sources
from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.process import Workers
from benchmarks.peers.results import Results
from benchmarks.timing import print_table

DATA_SETS = 10
STARTS = ("r2", "markov-boundary", "conditional-variance")
SINGLE = [(start, restarts) for start in STARTS for restarts in (20, 100)] + [("r2", 500)]
SETTINGS = {
    "r2, 20 restarts": [("r2", 20)],
    "r2, 100 restarts": [("r2", 100)],
    "r2, 500 restarts": [("r2", 500)],
    "best of two starts, 20 restarts each": [(start, 20) for start in STARTS[:2]],
    "best of three starts, 20 restarts each": [(start, 20) for start in STARTS],
    "best of two starts, 100 restarts each": [(start, 100) for start in STARTS[:2]],
    "best of three starts, 100 restarts each": [(start, 100) for start in STARTS],
}
PEER = "FLOP, 20 restarts"
VISIBLE = 0.01

Costs = dict[str, tuple[float, float]]
"""Score gap and processor seconds by setting."""


def main() -> None:
    """Print the share of data sets with a gap, the mean gap and the time of each setting."""
    table = Results(RESULTS, "standard").table()
    cells = [figures for figures in figures_of(STANDARD, table) if is_middle_sized(figures.cell)]
    with Workers(ready_pythons()) as workers, threadpool_limits(1):
        costs = [cost for figures in cells for cost in data_sets(figures, Sources(workers))]
    rows = []
    for setting in (PEER, *SETTINGS):
        gaps, seconds = zip(*(cost[setting] for cost in costs if setting in cost), strict=True)
        share = fmean(gap > VISIBLE for gap in gaps)
        shown = f"{share:.0%}", f"{fmean(gaps):.2f}", f"{1e3 * fmean(seconds):.0f}"
        rows.append((setting, str(len(gaps)), *shown))
    print_table(("setting", "data sets", f"gap > {VISIBLE}", "mean gap", "CPU ms"), rows)


def is_middle_sized(cell: Cell) -> bool:
    """Whether searches may err there, and take milliseconds."""
    kind = cell.kind
    return (
        30 < kind.n < 120 and kind.n < kind.n_samples <= 1000 and kind.n * (kind.degree or 1) <= 400
    )


def data_sets(figures: CellFigures, sources: Sources) -> Iterator[Costs]:
    """The costs of all settings on each data set of a cell."""
    known = figures.best_scores
    scores, seconds = figures.values(PEER, "score"), figures.values(PEER, "cpu")
    for seed in sorted(known.index)[:DATA_SETS]:
        found = {single: _search(figures.cell, sources, int(seed), *single) for single in SINGLE}
        best = max(known[seed], *(score for score, _ in found.values()))
        costs = {
            setting: (best - max(found[s][0] for s in singles), sum(found[s][1] for s in singles))
            for setting, singles in SETTINGS.items()
        }
        if seed in scores.index:
            costs[PEER] = best - scores[seed], seconds[seed]
        yield costs


def _search(
    cell: Cell, sources: Sources, seed: int, start: str, restarts: int
) -> tuple[float, float]:
    problem = sources.draw(cell.kind, seed)
    begin = time.process_time()
    found = qwo.discover(
        problem.data,
        penalty_discount=cell.penalty_discount,
        start=start,
        restarts=restarts,
        random_state=seed,
    )
    return found.score, time.process_time() - begin


if __name__ == "__main__":
    main()
