"""How often the default search ends at the best score known: ``python -m benchmarks.seeds``.

Counted over pairs of a data set and a seed of the search, on random graphs of degree 2 to 12 and on
long and thin ones, N = 1000, penalty 2. Rows are kept in ``benchmarks/results/seeds.csv``, one for
each data set and version of the search, whose name ``--label`` gives; data sets that a version has
are not run again. The best score known is that of all rows and of the true graph.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.peers.markdown import markdown_table, short
from benchmarks.peers.thin import NAMES, draw_thin
from qwo import discover, score_graph
from qwo.moments import Moments
from qwo.types import Adjacency, FloatArray

RESULTS = Path(__file__).parent / "results" / "seeds.csv"
N_SAMPLES, PENALTY = 1000, 2.0
VISIBLE = 0.05
"""Points from which on a score is worse than another."""

DEGREES = (2, 4, 8, 12)
RANDOM = {20: (20, 5), 50: (20, 5), 100: (8, 4), 200: (3, 3)}
THIN = {20: (3, 5), 50: (4, 4), 100: (2, 3), 200: (1, 2)}
"""Data sets of each family, and seeds of the search on each, by the number of variables."""

FRESH = 1000
"""The number of the first data set that no constant of the search was chosen on."""


class Row(NamedTuple):
    """What a version of the search has found on one data set, with several seeds."""

    family: str
    n: int
    data: int
    label: str
    truth: float
    cpu: float
    scores: tuple[float, ...]

    @property
    def problem(self) -> tuple[str, int, int]:
        """What the best score is known of."""
        return self.family, self.n, self.data

    def written(self) -> list[str]:
        """As text: milliseconds of a run, points to the hundredth."""
        scores = " ".join(f"{score:.2f}" for score in self.scores)
        numbers = f"{self.truth:.2f}", f"{1e3 * self.cpu:.1f}"
        return [self.family, str(self.n), str(self.data), self.label, *numbers, scores]

    @classmethod
    def from_text(cls, cells: Sequence[str]) -> Row:
        """The reverse."""
        family, n, data, label, truth, cpu, scores = cells
        found = tuple(map(float, scores.split()))
        return cls(family, int(n), int(data), label, float(truth), float(cpu) / 1e3, found)


def draw(family: str, n: int, data: int) -> tuple[FloatArray, Adjacency]:
    """Standardised data and the true DAG, columns in random order."""
    if not family.startswith("er-"):
        rng = np.random.default_rng([data, n, zlib.crc32(family.encode())])
        drawn, dag = draw_thin(family, n, N_SAMPLES, rng)
        shuffled = rng.permutation(n)
        return drawn[:, shuffled], dag[np.ix_(shuffled, shuffled)]
    degree = int(family[3:])
    rng = np.random.default_rng([data, n, 10 * degree])
    upper = np.triu(rng.random((n, n)) < degree / (n - 1), 1)
    places = np.ix_(*(rng.permutation(n),) * 2)
    sizes, signs = rng.uniform(0.5, 2, (n, n)), rng.choice([-1, 1], (n, n))
    effects = (upper * sizes * signs)[places]
    noise = rng.standard_normal((N_SAMPLES, n)) * np.sqrt(rng.uniform(1, 2, n))
    drawn = noise @ np.linalg.inv(np.eye(n) - effects)
    return (drawn - drawn.mean(axis=0)) / drawn.std(axis=0), upper[places].astype(np.int8)


def problems(largest: int, first: int) -> Iterator[tuple[str, int, int, int]]:
    """Family, number of variables, data set and seeds, small ones first."""
    for n in sorted(RANDOM):
        if n > largest:
            break
        for family in (*(f"er-{degree}" for degree in DEGREES), *NAMES):
            sets, seeds = (RANDOM if family.startswith("er-") else THIN)[n]
            yield from ((family, n, data, seeds) for data in range(first, first + sets))


def measure(family: str, n: int, data: int, seeds: int, label: str) -> Row:
    """The row of one data set."""
    drawn, dag = draw(family, n, data)
    moments = Moments.from_data(drawn)
    begun = time.process_time()
    scores = tuple(
        discover(moments, penalty_discount=PENALTY, random_state=seed).score
        for seed in range(seeds)
    )
    cpu = (time.process_time() - begun) / seeds
    truth = score_graph(moments, dag, penalty_discount=PENALTY).score
    return Row(family, n, data, label, truth, cpu, scores)


def read(path: Path) -> list[Row]:
    """The rows that there are."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [Row.from_text(cells) for cells in list(csv.reader(file))[1:]]


def write(path: Path, rows: Sequence[Row]) -> None:
    """All rows in place of what there was."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["family", "n", "data", "label", "truth", "cpu_ms", "scores"])
        ordered = sorted(rows, key=lambda row: (row.n, row.family, row.data, row.label))
        writer.writerows(row.written() for row in ordered)


def best_known(rows: Sequence[Row]) -> dict[tuple[str, int, int], float]:
    """The best score of each data set, of all versions and the true graph."""
    best: dict[tuple[str, int, int], float] = {}
    for row in rows:
        best[row.problem] = max(best.get(row.problem, -np.inf), row.truth, *row.scores)
    return best


def gaps(rows: Sequence[Row], label: str) -> FloatArray:
    """Points short of the best score known, one for each data set and seed of a version."""
    best = best_known(rows)
    return np.array([best[r.problem] - s for r in rows if r.label == label for s in r.scores])


def report(rows: Sequence[Row]) -> str:
    """By version, kind of graph and number of variables: how many pairs end short, by how much."""
    lines = []
    for label in sorted({row.label for row in rows}):
        fresh = [row for row in rows if row.data >= FRESH]
        kinds = {"all": rows, "data drawn after the rules": fresh}
        for n in sorted(RANDOM):
            for degree in DEGREES:
                family = f"er-{degree}"
                kinds[f"{family}, n = {n}"] = [r for r in rows if (r.family, r.n) == (family, n)]
            kinds[f"thin, n = {n}"] = [r for r in rows if r.family in NAMES and r.n == n]
        for kind, chosen in kinds.items():
            gap = gaps(chosen, label)
            if gap.size:
                cpu = np.mean([row.cpu for row in chosen if row.label == label])
                share = f"{100 * (gap > VISIBLE).mean():.2f} %"
                figures = short(gap.mean()), short(gap.max(), 3), f"{1e3 * cpu:.1f}"
                lines.append((label, kind, str(gap.size), share, *figures))
    header = ("version", "graphs", "pairs", "short", "mean", "most", "CPU ms")
    return markdown_table(header, lines, texts=2)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--label", help="the version of the search to run; none if not given")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the rows are kept")
    parser.add_argument("--largest", type=int, default=200, help="most variables")
    parser.add_argument("--fresh", action="store_true", help="data drawn after the rules")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read(arguments.results)
    done = {row.problem for row in rows if row.label == arguments.label}
    first = FRESH if arguments.fresh else 0
    todo = problems(arguments.largest, first) if arguments.label else ()
    for family, n, data, seeds in todo:
        if (family, n, data) not in done:
            rows.append(measure(family, n, data, seeds, arguments.label))
            write(arguments.results, rows)
    print(report(rows))


if __name__ == "__main__":
    main()
