"""The paper's searches in the paper's settings, beside the figures that the paper reports.

Run with ``python -m benchmarks.paper_searches [graphs]``. Linear Gaussian models on Erdős–Rényi
graphs of average total degree 2, 3 and 4, N = 10,000 samples, level 2/n², start by Markov boundary
size. GRaSP's depths are those of covered, singular and all edges. Published figures are read off
the paper's plots; its times are those of another machine. One thread; times are processor seconds
and include the start order and the first factor.

The same searches run on the reference engine, which calls the paper's Algorithm 1, for one graph
with 100 variables: they must find the same graph.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import print_table, readable
from qwo.graph import pshd, skeleton_f1
from qwo.moments import Moments
from qwo.order.objective import ObjectiveName
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.search import SearchOutcome, grasp, hill_climbing, start_order
from qwo.simulation import simulate

DEGREES = (2, 3, 4)
SIZES = (50, 100, 150)
N_SAMPLES = 10_000
OBJECTIVES: tuple[ObjectiveName, ...] = ("edges", "likelihood")

Search = Callable[..., SearchOutcome]
Engine = type[QwoEngine] | type[ReferenceEngine]


class Published(NamedTuple):
    skf1: float
    pshd: float
    seconds: str


PUBLISHED = {
    ("HC", 2): (Published(0.916, 0.458, "2.4"), (0.884, 0.567, "13"), (0.879, 0.585, "38")),
    ("GRaSP", 2): ((0.978, 0.189, "2.6"), (0.965, 0.239, "23"), (0.960, 0.247, "98")),
    ("HC", 3): ((0.834, 1.008, "4.0"), (0.793, 1.177, "25"), (0.783, 1.232, "62")),
    ("GRaSP", 3): ((0.940, 0.397, "6.6"), (0.950, 0.310, "71"), (0.936, 0.380, "237")),
    ("HC", 4): ((0.772, 1.627, "6.4"), (0.722, 2.018, "40"), (0.672, 2.434, "154")),
    ("GRaSP", 4): ((0.930, 0.526, "11"), (0.920, 0.543, "127"), (0.883, 0.782, "")),
}

GRASP_DEPTHS = {
    "GRaSP 0 (3, 0, 0)": {"version": 0, "depth": 3},
    "GRaSP 1 (3, 3, 0)": {"version": 1, "depth": 3},
    "GRaSP 2 (1, 1, 1)": {"depth": 1},
    "GRaSP 2 (3, 1, 1)": {"depth": 3, "singular_depth": 1, "nonsingular_depth": 1},
    "GRaSP 2 (2, 2, 2)": {"depth": 2},
    "GRaSP 2 (3, 3, 3)": {"depth": 3},
}
SEARCHES: dict[str, Search] = {
    "HC": hill_climbing,
    **{name: partial(grasp, **depths) for name, depths in GRASP_DEPTHS.items()},
}
DEFAULT = "GRaSP 2 (3, 3, 3)"


class Figures(NamedTuple):
    skf1: float
    pshd: float
    seconds: float


def run(
    search: Search, engine_type: Engine, objective: ObjectiveName, case: Case, seed: int
) -> tuple[Figures, SearchOutcome]:
    """One search from the paper's start."""
    begin = time.process_time()
    start = start_order("markov-boundary", case.moments.correlation, N_SAMPLES)
    engine = engine_type(case.moments, objective=objective, order=start)
    outcome = search(engine, random_state=seed)
    seconds = time.process_time() - begin
    dag = engine.dag()
    return Figures(skeleton_f1(dag, case.dag), pshd(dag, case.dag), seconds), outcome


class Case(NamedTuple):
    moments: Moments
    dag: np.ndarray[tuple[int, int], np.dtype[np.int8]]


def draw(degree: int, n: int, seed: int) -> Case:
    data, dag, _ = simulate(
        n_variables=n, n_samples=N_SAMPLES, degree=degree, random_state=[seed, degree, n]
    )
    return Case(Moments.from_data(data), dag)


def setting(degree: int, n: int, graphs: int) -> Iterator[tuple[list[str], bool]]:
    """A row for each search and objective, and whether it is as good as published."""
    cases = [draw(degree, n, seed) for seed in range(graphs)]
    for (name, search), objective in product(SEARCHES.items(), OBJECTIVES):
        figures = [
            run(search, QwoEngine, objective, case, seed)[0] for seed, case in enumerate(cases)
        ]
        mean = Figures(*np.mean(figures, axis=0))
        published = Published(*PUBLISHED[name.split()[0], degree][SIZES.index(n)])
        better = mean.skf1 >= published.skf1 and mean.pshd <= published.pshd
        row = [f"ER{degree}", str(n), name, objective, f"{mean.skf1:.3f}", f"{mean.pshd:.3f}"]
        row += [readable(mean.seconds), f"{published.skf1:.3f}", f"{published.pshd:.3f}"]
        yield [*row, published.seconds], better or name != DEFAULT


def against_reference() -> Iterator[list[str]]:
    """The same search with the same seed on both engines, n = 100, average degree 4."""
    case = draw(4, 100, 0)
    for name in ("HC", "GRaSP 2 (1, 1, 1)"):
        ours, found = run(SEARCHES[name], QwoEngine, "edges", case, 0)
        theirs, reference = run(SEARCHES[name], ReferenceEngine, "edges", case, 0)
        if not np.array_equal(found.order, reference.order):
            raise SystemExit(f"{name}: the engines disagree: {found.cost}, {reference.cost}")
        ratio = theirs.seconds / ours.seconds
        yield [name, readable(ours.seconds), readable(theirs.seconds), f"{ratio:.0f}"]


def main() -> None:
    graphs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with threadpool_limits(1):
        results = [result for d, n in product(DEGREES, SIZES) for result in setting(d, n, graphs)]
        header = ["graph", "n", "search", "objective", "SKF1", "PSHD", "time"]
        print_table([*header, "paper SKF1", "paper PSHD", "paper s"], [row for row, _ in results])
        header = ["search, n = 100", "QwoEngine", "ReferenceEngine", "ratio"]
        print_table(header, list(against_reference()))
    worse = [" ".join(row[:4]) for row, good in results if not good]
    if worse:
        raise SystemExit(f"below the published curves: {', '.join(worse)}")


if __name__ == "__main__":
    main()
