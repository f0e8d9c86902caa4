"""The default search on long and thin graphs, beside others: ``python -m benchmarks.thin``.

Gap to the best score known, to that of the true graph, SHD and processor time on the families of
`benchmarks.peers.thin`, and on random graphs. Rows are kept in ``benchmarks/results/thin.csv``:
started again, it goes on where it was. ``--report`` runs nothing; either way the tables of the page
on the search are written anew from the rows. `benchmarks.peers.environments` makes the environments
of the others; methods without theirs are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.markdown import Row, markdown_table, short, update_page
from benchmarks.peers.methods import FLOP, OURS, TETRAD, XGES, Method
from benchmarks.peers.process import ROOT, Workers
from benchmarks.peers.thin import NAMES, draw_thin
from benchmarks.rows import read_rows
from qwo.graph import shd, to_cpdag
from qwo.moments import Moments
from qwo.sem import score_graph
from qwo.simulation import random_model
from qwo.text import write_whole
from qwo.types import Adjacency, FloatArray

RESULTS = ROOT / "benchmarks" / "results" / "thin.csv"
PAGE = ROOT / "docs" / "concepts" / "search.md"
N_SAMPLES = 1000
PENALTY = 2.0
VISIBLE = 0.05
"""Points from which on a score is worse than another."""

RANDOM: dict[str, tuple[str, int]] = {
    "er-2": ("er", 2),
    "er-4": ("er", 4),
    "er-8": ("er", 8),
    "scale-free-in": ("scale-free-in", 4),
    "scale-free-out": ("scale-free-out", 4),
}
"""Kinds of graph and degrees."""

BEFORE = Method("qwo, before", "before", "qwo")
EARLIER = "earlier runs"
METHODS = {m.name: m for m in (*OURS[:2], OURS[3], BEFORE, *FLOP[:2], *TETRAD, XGES[0])}


USUAL = {50: 10, 100: 8, 200: 4, 500: 2}
SHARES: Mapping[str, Mapping[int, int]] = defaultdict(lambda: USUAL) | {
    FLOP[1].name: {50: 10, 100: 8, 200: 4},
    TETRAD[0].name: {50: 1, 100: 1},
    TETRAD[1].name: {50: 1, 100: 1},
    XGES[0].name: {50: 1},
}
"""On how many data sets of each family a method runs, by the number of variables."""

COLUMNS = ("family", "n", "seed", "method", "score", "truth", "shd", "cpu")
Record = dict[str, Any]
Problem = tuple[str, int, int]


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the rows are kept")
    parser.add_argument("--again", nargs="*", default=[], metavar="METHOD", help="run these anew")
    parser.add_argument("--only", nargs="*", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--before", type=Path, help="Python with an earlier version of qwo")
    parser.add_argument("--largest", type=int, default=500, help="most variables")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds of a call")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin nothing after these")
    parser.add_argument("--jobs", type=int, default=1, help="data sets at a time")
    arguments = parser.parse_args()
    records = retire(read_rows(arguments.results), arguments.again)
    if not arguments.report:
        pythons = ready_pythons()
        if arguments.before:
            pythons["before"] = arguments.before
        complete(records, pythons, arguments)
    tables = report(records)
    print(tables)
    if arguments.results == RESULTS:
        update_page(PAGE, tables, "thin")


def complete(
    records: list[Record], pythons: Mapping[str, Path], arguments: argparse.Namespace
) -> None:
    """Run the methods that there are on all data sets that they lack."""
    end = time.monotonic() + 60 * arguments.minutes
    done = {(*problem_of(record), record["method"]) for record in records}
    wanted = [m for m in METHODS.values() if m.name in arguments.only and m.environment in pythons]
    idle = SimpleQueue[Workers]()

    def run_missing(problem: Problem, missing: Sequence[Method]) -> list[Record]:
        if time.monotonic() > end:
            return []
        workers = idle.get()
        try:
            return measure(problem, missing, workers, arguments.limit)
        finally:
            idle.put(workers)

    with ExitStack() as stack:
        for _ in range(arguments.jobs):
            idle.put(stack.enter_context(Workers(pythons)))
        pool = stack.enter_context(ThreadPoolExecutor(arguments.jobs))
        running = []
        for n, seed, family in problems(arguments.largest):
            missing = [
                method
                for method in wanted
                if seed < SHARES[method.name].get(n, 0)
                and (family, n, seed, method.name) not in done
            ]
            if missing:
                running.append(pool.submit(run_missing, (family, n, seed), missing))
        for ended in as_completed(running):
            records += ended.result()
            write(records, arguments.results)


def problems(largest: int) -> Iterator[tuple[int, int, str]]:
    """Number of variables, seed and family, small ones first."""
    for n in sorted(USUAL):
        for seed in range(USUAL[n] if n <= largest else 0):
            yield from ((n, seed, family) for family in (*NAMES, *RANDOM))


def draw(problem: Problem) -> tuple[FloatArray, Adjacency]:
    """Data with shuffled columns, and the true graph."""
    family, n, seed = problem
    rng = np.random.default_rng([seed, n, zlib.crc32(family.encode())])
    if family in RANDOM:
        kind, degree = RANDOM[family]
        model = random_model(kind, n_variables=n, degree=degree, random_state=rng)
        data, dag = model.sample(N_SAMPLES, random_state=rng), model.dag
        data = (data - data.mean(axis=0)) / data.std(axis=0)
    else:
        data, dag = draw_thin(family, n, N_SAMPLES, rng)
    shuffled = rng.permutation(n)
    return data[:, shuffled], dag[np.ix_(shuffled, shuffled)]


def measure(
    problem: Problem, methods: Sequence[Method], workers: Workers, limit: float
) -> list[Record]:
    """A record for each method; one that ran out of time has no score and no SHD."""
    data, dag = draw(problem)
    moments = Moments.from_data(data)
    truth = score_graph(moments, dag, PENALTY).score
    records = []
    for method in methods:
        graph, cpu = run(workers, method, problem[2], data, limit)
        score = np.nan if graph is None else score_graph(moments, graph, PENALTY).score
        distance = np.nan if graph is None else shd(graph, to_cpdag(dag))
        figures = (*problem, method.name, score, truth, distance, cpu)
        records.append(dict(zip(COLUMNS, figures, strict=True)))
    return records


def run(
    workers: Workers, method: Method, seed: int, data: FloatArray, limit: float
) -> tuple[Adjacency | None, float]:
    """The graph that a method finds, if it does in time, and its processor seconds."""
    with TemporaryDirectory() as folder:
        given, found = Path(folder, "data.npy"), Path(folder, "graph.npy")
        np.save(given, data)
        request = method.request(PENALTY, seed) | {"data": str(given), "graph": str(found)}
        answer = workers[method.environment].ask(request, limit=limit)
        if answer.get("timeout"):
            return None, limit
        if answer.get("error"):
            raise RuntimeError(f"{method.name} failed: {answer['error']}")
        return np.load(found), float(answer["cpu"])


def write(records: Sequence[Record], path: Path) -> None:
    """All records, in place of what there was."""
    lines = [",".join(COLUMNS)]
    for record in sorted(records, key=lambda r: (r["n"], r["seed"], r["family"], r["method"])):
        family, n, seed, method, score, truth, distance, cpu = (record[c] for c in COLUMNS)
        figures = f"{score:.4f},{truth:.4f},{distance:.0f},{cpu:.4f}"
        lines.append(f'{family},{n},{seed},"{method}",{figures}')
    write_whole(path, "\n".join(lines) + "\n")


def retire(records: Sequence[Record], methods: Sequence[str]) -> list[Record]:
    """The records without those of some methods, of which the best score is still known."""
    kept = [record for record in records if record["method"] not in (*methods, EARLIER)]
    best: dict[Problem, Record] = {}
    for record in records:
        if record["method"] in (*methods, EARLIER):
            known = best.get(problem_of(record))
            if known is None or record["score"] > known["score"]:
                best[problem_of(record)] = record | {"method": EARLIER}
    return [*kept, *best.values()]


def problem_of(record: Record) -> Problem:
    """Family, number of variables and seed."""
    return record["family"], record["n"], record["seed"]


class Scores:
    """What was found on each data set, and the best of it."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.by_method: dict[str, dict[Problem, Record]] = defaultdict(dict)
        self.best: dict[Problem, float] = defaultdict(lambda: -np.inf)
        for record in records:
            problem = problem_of(record)
            self.by_method[record["method"]][problem] = record
            self.best[problem] = np.fmax(self.best[problem], record["score"])
            self.best[problem] = max(self.best[problem], record["truth"])

    def ended(self, method: str, which: Callable[[Problem], bool]) -> list[Record]:
        """The runs of a method on some data sets that have ended in time."""
        runs = self.by_method[method].items()
        return [run for problem, run in runs if which(problem) and not np.isnan(run["score"])]

    def gap(self, record: Record) -> float:
        """Points short of the best score known."""
        return float(self.best[problem_of(record)] - record["score"])

    def gaps(self, method: str, which: Callable[[Problem], bool]) -> list[float]:
        """The same for all runs of a method on some data sets."""
        return [self.gap(run) for run in self.ended(method, which)]

    def worse(self, method: str, other: str, which: Callable[[Problem], bool]) -> tuple[int, int]:
        """On how many data sets a method scores below another, or the truth, of how many."""
        pairs = []
        for run in self.ended(method, which):
            against = run["truth"]
            if other != "truth":
                against = self.by_method[other].get(problem_of(run), {}).get("score", np.nan)
            if not np.isnan(against):
                pairs.append(run["score"] < against - VISIBLE)
        return sum(pairs), len(pairs)

    def times(self, method: str, other: str, which: Callable[[Problem], bool]) -> float:
        """The processor time of a method in that of another, on the data sets that both have."""
        own, others = self.by_method[method], self.by_method[other]
        shared = [problem for problem in own if problem in others and which(problem)]
        used = sum(others[problem]["cpu"] for problem in shared)
        return sum(own[problem]["cpu"] for problem in shared) / used if used else np.nan


def is_thin(problem: Problem) -> bool:
    """Whether a data set is of a long, thin or clustered family."""
    return problem[0] not in RANDOM


def report(records: Sequence[Record]) -> str:
    """All tables, in Markdown."""
    scores = Scores(records)
    header = ("n", "method", *FIGURES)
    sizes = sorted({record["n"] for record in records})
    parts = [
        summary(scores),
        "Long, thin and clustered graphs:",
        markdown_table(header, _by_method(scores, thin=True), 2),
        "Random and scale-free graphs:",
        markdown_table(header, _by_method(scores, thin=False), 2),
        BY_FAMILY,
        markdown_table(("family", *(f"n = {n}" for n in sizes)), list(_by_family(scores, sizes))),
    ]
    return "\n\n".join(parts) + "\n"


def headline(records: Sequence[Record]) -> str:
    """What the page of evidence says of the thin families."""
    scores = Scores(records)

    def both(problem: Problem) -> bool:
        ran = [problem in scores.by_method[method] for method in ("qwo", FLOP[1].name)]
        return is_thin(problem) and all(ran)

    ours, others = (scores.gaps(method, both) for method in ("qwo", FLOP[1].name))
    return (
        f"short of the best score known on {sum(gap > VISIBLE for gap in ours)} of {len(ours)} "
        f"data sets; FLOP with 20 restarts on {sum(gap > VISIBLE for gap in others)}"
    )


BY_FAMILY = (
    "Points short of the best known, the mean by family, ours; FLOP's with 20 restarts (share of "
    "data sets on which ours is short):"
)


def summary(scores: Scores) -> str:
    """The figures that matter most, in words."""

    def small(problem: Problem) -> bool:
        return problem[1] <= 200

    def random(problem: Problem) -> bool:
        return not is_thin(problem)

    gaps = scores.gaps("qwo", small)
    below = sum(gap > VISIBLE for gap in gaps)
    truth, flop = (scores.worse("qwo", other, small) for other in ("truth", FLOP[1].name))
    before = scores.gaps(BEFORE.name, small)
    return (
        f"Of {len(gaps)} data sets with up to 200 variables this search ends below the best score "
        f"known on {below} ({below / max(len(gaps), 1):.1%}), below the truth's on {truth[0]}, and "
        f"below that of FLOP with 20 restarts on {flop[0]} of {flop[1]}; the search before did on "
        f"{sum(gap > VISIBLE for gap in before)} of {len(before)}. On random graphs it takes "
        f"{scores.times('qwo', BEFORE.name, random):.2f} times the processor time of that one."
    )


FIGURES = (
    "data sets",
    "short",
    "short at all",
    "below the truth",
    "below FLOP 20",
    "SHD",
    "CPU s",
    "time / ours",
)


def _points(value: float) -> str:
    """Points or ratios, of which the third digit says nothing; nothing where there is none."""
    return "" if np.isnan(value) else short(round(value, 2))


def _by_method(scores: Scores, *, thin: bool) -> list[Row]:
    rows: list[Row] = []
    for n in USUAL:

        def which(problem: Problem, n: int = n) -> bool:
            return problem[1] == n and is_thin(problem) == thin

        rows += [
            (str(n), method, *_figures(scores, method, which))
            for method in METHODS
            if scores.ended(method, which)
        ]
    return rows


def _figures(scores: Scores, method: str, which: Callable[[Problem], bool]) -> Iterator[str]:
    ended = scores.ended(method, which)
    gaps = scores.gaps(method, which)
    late = sum(map(which, scores.by_method[method])) - len(ended)
    yield f"{len(ended)}" + (f" (+ {late} too slow)" if late else "")
    yield _points(fmean(gaps))
    yield f"{fmean(gap > VISIBLE for gap in gaps):.0%}"
    for other in ("truth", FLOP[1].name):
        worse, pairs = scores.worse(method, other, which)
        yield f"{worse / pairs:.0%}" if pairs and method != other else ""
    yield f"{fmean(run['shd'] for run in ended):.1f}"
    yield short(fmean(run["cpu"] for run in ended), 2)
    yield _points(scores.times(method, "qwo", which))


def _by_family(scores: Scores, sizes: Sequence[int]) -> Iterator[Row]:
    for family in (*NAMES, *RANDOM):
        yield family, *(_of_family(scores, family, n) for n in sizes)


def _of_family(scores: Scores, family: str, n: int) -> str:
    gaps = scores.gaps("qwo", lambda problem: problem[:2] == (family, n))
    if not gaps:
        return ""
    flop = scores.gaps(FLOP[1].name, lambda problem: problem[:2] == (family, n))
    beside = _points(fmean(flop)) if flop else "–"
    share = fmean(gap > VISIBLE for gap in gaps)
    return f"{_points(fmean(gaps))}; {beside}" + (f" ({share:.0%})" if share else "")


if __name__ == "__main__":
    sys.exit(main())
