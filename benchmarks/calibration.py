"""How far the support of links and arrows can be taken for a probability, and what it costs.

    python -m benchmarks.calibration [--sets 20] [--resamples 60] [--write]
    python -m benchmarks.calibration --starts [--write]
    python -m benchmarks.calibration --costs --resamples 200

Data: Erdős–Rényi graphs of average degree 3, of which the truth is known. A pair is linked if the
true graph joins it; an arrow is true if the true CPDAG has it. The expected calibration error is
the mean distance between the supports and the share of true ones in ten bins of the support,
weighted by the pairs in them: over all pairs, most of which are surely absent, and over those with
a support between 2 and 98 %. The log loss takes supports to be at least 0.5 % and at most 99.5 %.
The price of an edge is 2 log N, but for "price chosen", where it is chosen on all data, once. The
cost of a resample is its processor time in searches on all data (``qwo.discover``), all with one
BLAS thread. ``--starts`` compares searches that start from the order found on all data, without
restarts, with searches from scratch on the same halves: how far their supports are apart, beside
how far those of two searches from scratch are that start elsewhere. ``--costs`` prints what all
resamples together cost at the price that the data choose, in searches. ``--write`` keeps the
figures in ``benchmarks/results`` and draws the picture of the documentation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import qwo
from benchmarks.rows import timed as cpu_of
from benchmarks.rows import write_rows
from benchmarks.timing import print_table
from qwo.resample import Bootstrap, bootstrap
from qwo.types import Adjacency, FloatArray

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "calibration.png"
DEGREE = 3
SETTINGS = ((30, 200), (50, 1000))
STARTS = ((10, 500, 10), (20, 500, 10), (50, 500, 6), (100, 500, 3), (300, 1000, 1))
"""Variables, samples and data sets of the comparison of starts."""

COSTS = ((10, 1000, 4), (20, 1000, 4), (50, 1000, 3), (100, 1000, 2), (300, 1000, 1))
"""The same of the costs."""

BINS = np.linspace(0, 1, 11)
CLIP = 0.005
UNSURE = (0.02, 0.98)
HABIT: dict[str, Any] = {"penalty_discount": 2.0}
SCRATCH: dict[str, Any] = {"start": "r2"}


class Claims(NamedTuple):
    """Supports, and whether what they are the supports of is so."""

    support: FloatArray
    true: FloatArray

    def error(self, *, unsure: bool = False) -> float:
        """The expected calibration error."""
        low, high = UNSURE
        kept = (self.support > low) & (self.support < high) if unsure else self.support >= 0
        share, truth = self.support[kept], self.true[kept]
        bins = np.minimum(np.digitize(share, BINS[1:-1]), len(BINS) - 2)
        gaps = [abs((share - truth)[bins == k].sum()) for k in range(len(BINS) - 1)]
        return float(sum(gaps) / max(len(share), 1))

    def log_loss(self) -> float:
        """The mean of -log p of what is so."""
        p = np.clip(self.support, CLIP, 1 - CLIP)
        return float(-np.mean(np.log(np.where(self.true > 0, p, 1 - p))))

    def bins(self) -> Iterator[tuple[float, float, int]]:
        """For each bin that is not empty the mean support, the share of true ones, the number."""
        place = np.minimum(np.digitize(self.support, BINS[1:-1]), len(BINS) - 2)
        for k in np.unique(place):
            here = place == k
            yield float(self.support[here].mean()), float(self.true[here].mean()), int(here.sum())


class Run(NamedTuple):
    """What one way of resampling says of one data set, and its cost in searches a resample."""

    links: Claims
    arrows: Claims
    searches: float


def simulated(n: int, n_samples: int, seed: int) -> tuple[FloatArray, Adjacency]:
    data, dag, _ = qwo.simulate(
        "er", n_variables=n, n_samples=n_samples, degree=DEGREE, random_state=1000 + seed
    )
    return data, qwo.to_cpdag(dag)


def timed(
    data: FloatArray, once: float, n_resamples: int, **options: Any
) -> tuple[Bootstrap, float]:
    """A bootstrap, and how many searches a resample costs, the search on all data apart."""
    how = {"n_resamples": n_resamples, "random_state": 0, **HABIT, **options}
    found, spent = cpu_of(bootstrap, data, **how)
    return found, (spent / once - 1) / n_resamples


def search_time(data: FloatArray, **options: Any) -> float:
    """The processor time of a search, which is the same whatever else the machine does."""
    start = time.process_time()
    for _ in range(3):
        qwo.discover(data, random_state=0, **{**HABIT, **options})
    return (time.process_time() - start) / 3


def judged(cpdag: Adjacency, found: Bootstrap, searches: float) -> Run:
    upper = np.triu_indices(len(cpdag), 1)
    others = ~np.eye(len(cpdag), dtype=bool)
    joined = ((cpdag + cpdag.T) > 0).astype(float)
    return Run(
        Claims(found.link_support[upper], joined[upper]),
        Claims(found.arrow_support[others], (cpdag == 1).astype(float)[others]),
        searches,
    )


def calibration(n_sets: int, n_resamples: int) -> Iterator[tuple[list[Any], Claims, Claims]]:
    """A row for each setting and way of resampling, with all its claims."""
    ways: dict[str, dict[str, Any]] = {
        "halves": {},
        "halves, price chosen": {"penalty_discount": "auto"},
        "halves, from scratch": SCRATCH,
        "replacement, from scratch": {"resampling": "replacement", **SCRATCH},
    }
    for n, n_samples in SETTINGS:
        runs: dict[str, list[Run]] = {way: [] for way in ways}
        for seed in range(n_sets):
            data, cpdag = simulated(n, n_samples, seed)
            once = search_time(data)
            for way, options in ways.items():
                runs[way].append(judged(cpdag, *timed(data, once, n_resamples, **options)))
        for way in ways:
            yield summary(n, n_samples, way, runs[way])


def summary(n: int, n_samples: int, way: str, runs: list[Run]) -> tuple[list[Any], Claims, Claims]:
    links, arrows = (
        Claims(*(np.concatenate(parts) for parts in zip(*claims, strict=True)))
        for claims in ([run.links for run in runs], [run.arrows for run in runs])
    )
    row: list[Any] = [str(n), str(n_samples), str(len(runs)), way]
    for claims in (links, arrows):
        row += [f"{claims.error():.4f}", f"{claims.error(unsure=True):.3f}"]
        row += [f"{claims.log_loss():.4f}"]
    row.append(f"{np.mean([run.searches for run in runs]):.2f}")
    return row, links, arrows


HEADER = [
    "n",
    "N",
    "sets",
    "resamples",
    "link error",
    "unsure",
    "log loss",
    "arrow error",
    "unsure",
    "log loss",
    "searches",
]


def starts(n_resamples: int) -> Iterator[list[Any]]:
    """A row for each number of variables: supports from the order found and from scratch."""
    for n, n_samples, n_sets in STARTS:
        rows = []
        for seed in range(n_sets):
            data, cpdag = simulated(n, n_samples, seed)
            once = search_time(data)
            scratch, cold = timed(data, once, n_resamples, **SCRATCH)
            again, _ = timed(data, once, n_resamples, start="random")
            warm, cheap = timed(data, once, n_resamples)
            claims = [judged(cpdag, found, 0.0) for found in (scratch, warm)]
            losses = [run.links.log_loss() for run in claims]
            losses += [run.arrows.log_loss() for run in claims]
            rows.append([*apart(again, scratch), *apart(warm, scratch), *losses, cold, cheap])
        yield [
            str(n),
            str(n_samples),
            str(n_sets),
            *(f"{mean:.4f}" for mean in np.mean(rows, axis=0)),
        ]


def costs(n_resamples: int) -> Iterator[list[str]]:
    """A row for each number of variables: the searches that resamples cost, at the price chosen."""
    chosen: dict[str, Any] = {"penalty_discount": "auto"}
    for n, n_samples, n_sets in COSTS:
        each = []
        for seed in range(n_sets):
            data, _ = simulated(n, n_samples, seed)
            each.append(timed(data, search_time(data, **chosen), n_resamples, **chosen)[1])
        mean = n_resamples * np.mean(each)
        yield [str(n), str(n_samples), str(n_sets), f"{mean:.1f}"]


STARTS_HEADER = [
    "n",
    "N",
    "sets",
    "links, again",
    "arrows, again",
    "links, warm",
    "arrows, warm",
    "link loss, scratch",
    "link loss, warm",
    "arrow loss, scratch",
    "arrow loss, warm",
    "searches, scratch",
    "searches, warm",
]


def apart(first: Bootstrap, second: Bootstrap) -> tuple[float, float]:
    """The mean distance of the supports of links and arrows, over those that either has."""
    return (
        _distance(np.triu(first.link_support), np.triu(second.link_support)),
        _distance(first.arrow_support, second.arrow_support),
    )


def _distance(first: FloatArray, second: FloatArray) -> float:
    seen = (first > 0) | (second > 0)
    return float(np.abs(first - second)[seen].mean())


def draw(found: dict[tuple[int, int], dict[str, tuple[Claims, Claims]]]) -> None:
    """The share of true links and arrows against their support, for halves and replacement."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(found), figsize=(8.0, 7.2), sharex=True, sharey=True)
    for column, ((n, n_samples), ways) in enumerate(found.items()):
        for row, what in enumerate(("link", "arrow")):
            ax = axes[row, column]
            ax.plot([0, 1], [0, 1], color="#8b97a5", linewidth=0.8, linestyle=(0, (4, 3)))
            for way, colour, marker in (
                ("halves", "#0072b2", "o"),
                ("replacement, from scratch", "#d55e00", "s"),
            ):
                support, truth, number = zip(*ways[way][row].bins(), strict=True)
                ax.plot(support, truth, color=colour, linewidth=1.3, label=way.split(",")[0])
                sizes = 8 + 12 * np.log10(number)
                ax.scatter(support, truth, s=sizes, color=colour, marker=marker, zorder=3)
            ax.set_title(f"{what}s: n = {n}, N = {n_samples}", fontsize=10)
            ax.set_xlim(-0.03, 1.03)
            ax.set_ylim(-0.03, 1.03)
            ax.set_aspect("equal")
    for ax in axes[:, 0]:
        ax.set_ylabel("share that is true")
    for ax in axes[1]:
        ax.set_xlabel("support")
    axes[0, 0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=100)


def write(name: str, header: list[str], rows: list[list[Any]]) -> None:
    write_rows(RESULTS / name, (dict(zip(header, row, strict=True)) for row in rows), header)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=60)
    parser.add_argument("--starts", action="store_true")
    parser.add_argument("--costs", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with threadpool_limits(limits=1, user_api="blas"):
        if options.costs:
            print_table(["n", "N", "sets", "searches"], list(costs(options.resamples)))
            return
        if options.starts:
            rows = []
            for row in starts(options.resamples):
                print(row, flush=True)
                rows.append(row)
            print_table(STARTS_HEADER, rows)
            if options.write:
                write("calibration-starts.csv", STARTS_HEADER, rows)
            return
        found = list(calibration(options.sets, options.resamples))
    print_table(HEADER, [row for row, _, _ in found])
    if options.write:
        write("calibration.csv", HEADER, [row for row, _, _ in found])
        claims: dict[tuple[int, int], dict[str, tuple[Claims, Claims]]] = {}
        for (n, n_samples, _, way, *_), links, arrows in found:
            claims.setdefault((int(n), int(n_samples)), {})[way] = links, arrows
        draw(claims)


if __name__ == "__main__":
    main()
