"""``python -m benchmarks.arrows``: how far the graph that is shown is from the truth.

Distances (marks that differ, of pairs of variables) to the true class: of the class of the best
score at the penalty that the data chose (``best``); of that without edges that are more likely
false than true (`Discovery.cpdag`, ``without_weak``); of the graph that is shown
(`Discovery.graph`, ``shown``), in which arrows that the data do not support are lines; and, on the
first data sets of a point, of FLOP with 0 and 20 restarts and of the posterior's
``least_shd_graph``. ``expected`` and ``wrong`` count marks of links that are in the true class,
too: as expected by `ArrowEvidence.expected_wrong`, and as found; ``odds`` counts arrows by their
stated probability, as true of all. Rows are kept in ``benchmarks/results/arrows.csv``: started
again, it goes on where it was. The table goes to the page on how sure one may be.
"""

from __future__ import annotations

import argparse
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import qwo
from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.peers.methods import FLOP, Method
from benchmarks.peers.process import ROOT, Workers
from benchmarks.peers.thin import draw_thin
from benchmarks.rows import Row, extend_rows, read_rows, timed
from qwo.datasets import list_networks, load_gaussian_network
from qwo.graph.compare import shd
from qwo.simulation.random_models import random_dag
from qwo.types import Adjacency, FloatArray

RESULTS = ROOT / "benchmarks" / "results" / "arrows.csv"
PAGE = ROOT / "docs" / "howto" / "how-sure.md"
OWN = ("best", "without_weak", "shown", "expected", "wrong", "odds", "cpu")
BESIDE = RESULTS.with_stem("arrows-peers")
CASE = ("group", "kind", "n", "N", "seed")
PEERS = {"flop 0": "FLOP 0", "flop 20": "FLOP 20", "least_shd": "`least_shd_graph`"}
EFFECTS = {"strong": (0.5, 2.0), "weak": (0.2, 0.6), "mixed": (0.1, 1.0)}
THIN = ("path", "ar2", "band", "tree", "grid", "small-world")
GRAPHS = {"er2": ("er", 2), "er4": ("er", 4), "er8": ("er", 8), "sf4": ("scale-free-in", 4)}
SIZES = (20, 50, 100, 300)
ROWS = (200, 1000, 5000)
SETS = {
    "own": {20: 20, 50: 20, 100: 20, 300: 20},
    "flop 0": {20: 4, 50: 4, 100: 2, 300: 0},
    "flop 20": {20: 4, 50: 4, 100: 1, 300: 0},
    "least_shd": {20: 2, 50: 1, 100: 0, 300: 0},
}
"""Data sets of a point that each is run on, by the number of variables."""

BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 0.99, 1.0)
FIRST_SEED = 70_000


class Case(NamedTuple):
    """A data set that can be drawn: its group, kind, size and number."""

    group: str
    kind: str
    n: int
    rows: int
    seed: int

    def draw(self) -> tuple[FloatArray, Adjacency]:
        """Standardised rows, columns shuffled, and the true DAG."""
        code = zlib.crc32(f"{self.group} {self.kind}".encode())
        rng = np.random.default_rng([FIRST_SEED + self.seed, self.n, self.rows, code])
        if self.group == "published":
            network = load_gaussian_network(self.kind)
            return network.sample(self.rows, FIRST_SEED + self.seed), network.dag
        if self.group.startswith("thin"):
            data, dag = draw_thin(f"{self.kind}-{self.group[6:]}", self.n, self.rows, rng)
        else:
            graph, degree = GRAPHS[self.kind]
            dag = random_dag(graph, self.n, degree, shuffle=True, rng=rng)
            data = draw_linear(dag, self.rows, EFFECTS[self.group[8:]], rng)
        places = rng.permutation(self.n)
        return data[:, places], dag[np.ix_(places, places)]


def draw_linear(
    dag: Adjacency, rows: int, effects: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    """Gaussian rows; each variable is scaled to variance 1 before it acts."""
    n = len(dag)
    weights = dag * rng.uniform(*effects, (n, n)) * rng.choice([-1, 1], (n, n))
    data = rng.standard_normal((rows, n))
    for v in qwo.graph.dag.topological_order(dag):
        data[:, v] += data @ weights[:, v]
        data[:, v] /= data[:, v].std()
    return data


def cases(largest: int, sets: dict[int, int]) -> Iterator[Case]:
    """One data set of every point after the other, small ones first."""
    for n in (size for size in SIZES if size <= largest):
        for seed in range(sets[n]):
            for rows in ROWS:
                for effects in ("strong", "weak"):
                    yield from (Case(f"thin, {effects}", kind, n, rows, seed) for kind in THIN)
                for effects in EFFECTS:
                    yield from (Case(f"random, {effects}", kind, n, rows, seed) for kind in GRAPHS)
                if n == 50:
                    for name in list_networks(gaussian=True):
                        size = load_gaussian_network(name).n_variables
                        yield Case("published", name, size, rows, seed)


def measured(data: FloatArray, dag: Adjacency, seed: int) -> list[object]:
    """What is found on one data set, in the order of `OWN`."""
    truth = qwo.to_cpdag(dag)
    found, cpu = timed(qwo.discover, data, random_state=seed)
    best = found.cpdag
    if found.weak_edges:
        price = found.params["penalty_discount"]
        best = qwo.discover(data, random_state=seed, penalty_discount=price).cpdag
    expected, wrong, odds = judged(found, truth)
    graphs = best, found.cpdag, found.graph.matrix
    return [*(shd(g, truth) for g in graphs), f"{expected:.3f}", wrong, odds, f"{cpu:.4f}"]


def judged(found: qwo.Discovery, truth: Adjacency) -> tuple[float, int, str]:
    """Marks of links that are true: wrong ones expected and found, and arrows by probability."""
    evidence = found.arrow_evidence
    if evidence is None:
        return 0.0, 0, ""
    causes, effects, chances = evidence.causes, evidence.effects, evidence.probabilities
    linked = (truth[causes, effects] != 0) | (truth[effects, causes] != 0)
    shown = found.graph.matrix
    expected = float((1 - chances.max(axis=1, initial=0))[linked].sum())
    same = shown[causes, effects] == truth[causes, effects]
    same &= shown[effects, causes] == truth[effects, causes]
    arrow = truth[causes, effects] == 1
    where = np.clip(np.searchsorted(BINS, chances[:, 0], side="right") - 1, 0, len(BINS) - 2)
    parts = []
    for k in range(len(BINS) - 1):
        own = linked & (where == k)
        parts.append(f"{own.sum()}:{chances[own, 0].sum():.2f}:{(arrow & own).sum()}")
    return expected, int((linked & ~same).sum()), " ".join(parts)


def by_flop(
    method: Method, workers: Workers, penalty: float = 2.0
) -> Callable[[FloatArray, int], Adjacency]:
    """What finds a class by FLOP, in an environment of its own."""

    def find(data: FloatArray, seed: int) -> Adjacency:
        with TemporaryDirectory() as folder:
            given, found = Path(folder, "data.npy"), Path(folder, "graph.npy")
            np.save(given, data)
            paths = {"data": str(given), "graph": str(found), "repeat": 0.0}
            answer = workers["flop"].ask(method.request(penalty, seed) | paths)
            if answer.get("error"):
                raise RuntimeError(answer["error"])
            graph: Adjacency = np.load(found)
            return graph

    return find


def by_posterior(data: FloatArray, seed: int) -> Adjacency:
    return qwo.posterior(data, random_state=seed).least_shd_graph.matrix


def run_own(largest: int, seconds: float) -> None:
    """What is missing of our own."""

    def measure(**cell: Any) -> list[Row]:
        case = Case(*cell.values())
        return [dict(zip(OWN, measured(*case.draw(), case.seed), strict=True))]

    own = (dict(zip(CASE, case, strict=True)) for case in cases(largest, SETS["own"]))
    extend_rows(RESULTS, own, measure, seconds)


def run_peer(name: str, largest: int, seconds: float) -> None:
    """What is missing of another method."""
    with Workers(ready_pythons()) as workers:
        ways = {f"flop {m.options['restarts']}": by_flop(m, workers) for m in FLOP[:2]}
        find = {**ways, "least_shd": by_posterior}[name]

        def measure(method: str, **cell: Any) -> list[Row]:
            del method
            data, dag = Case(*cell.values()).draw()
            return [{"shd": shd(find(data, cell["seed"]), qwo.to_cpdag(dag))}]

        own = (dict(zip(CASE, c, strict=True)) for c in cases(largest, SETS[name]))
        extend_rows(BESIDE, ({**cell, "method": name} for cell in own), measure, seconds)


def ratio(rows: list[Row], name: str, base: str) -> float:
    """Geometric mean over points of the ratio of mean distances, each plus one half."""
    points = defaultdict(list)
    for row in rows:
        points[row["group"], row["kind"], row["n"], row["N"]].append((row[name], row[base]))
    means = [np.mean(own, axis=0) + 0.5 for own in points.values()]
    return float(np.exp(np.mean([np.log(a / b) for a, b in means])))


def beside(rows: list[Row], peers: list[Row], name: str) -> str:
    """The mean distance of a peer, and of the graph shown on the same data."""
    shown = {tuple(row[c] for c in CASE): row["shown"] for row in rows}
    pairs = [
        (row["shd"], shown[key])
        for row in peers
        if row["method"] == name and (key := tuple(row[c] for c in CASE)) in shown
    ]
    if not pairs:
        return "–"
    theirs, ours = np.mean(pairs, axis=0)
    return f"{theirs:.1f} ({ours:.1f})"


def table(rows: list[Row], peers: list[Row]) -> str:
    """By kind of graph: distances, and what showing makes of them."""
    header = "graphs", "data sets", "best score", "shown", "ratio", "shown − best", *PEERS.values()
    lines = []
    kinds = dict.fromkeys((row["group"], row["kind"]) for row in rows)
    groups = {
        "all": rows,
        "thin": [row for row in rows if row["group"].startswith("thin")],
        "random": [row for row in rows if row["group"].startswith("random")],
        **{
            f"{group}, {kind}": [r for r in rows if (r["group"], r["kind"]) == (group, kind)]
            for group, kind in sorted(kinds)
        },
    }
    for name, own in groups.items():
        values = np.array([[row["best"], row["shown"]] for row in own], float)
        change = values[:, 1] - values[:, 0]
        error = change.std(ddof=1) / np.sqrt(len(own))
        text = f"{change.mean():+.2f} ± {error:.2f}".replace("-", "−")
        means = (f"{mean:.1f}" for mean in values.mean(axis=0))
        others = (beside(own, peers, peer) for peer in PEERS)
        geometric = f"{ratio(own, 'shown', 'best'):.2f}"
        lines.append([name, str(len(own)), *means, geometric, text, *others])
    return markdown_table(header, lines)


def calibration(rows: list[Row]) -> str:
    """Wrong marks expected and found by group, and arrows at their stated probability."""
    marks, arrows = [], []
    for group in sorted({row["group"] for row in rows}):
        own = [row for row in rows if row["group"] == group]
        sums = (sum(row[name] for row in own) for name in ("expected", "wrong"))
        marks.append([group, *(f"{total:.0f}" for total in sums)])
    counts = np.zeros((len(BINS) - 1, 3))
    for row in rows:
        if row["odds"]:
            counts += [[float(cell) for cell in part.split(":")] for part in row["odds"].split()]
    for low, high, (total, stated, true) in zip(BINS, BINS[1:], counts, strict=False):
        shares = (f"{part / max(total, 1):.3f}" for part in (stated, true))
        arrows.append([f"{low:g} to {high:g}", f"{total:.0f}", *shares])
    header = "stated probability of an arrow", "arrows", "mean stated", "true"
    tables = (("graphs", "wrong marks expected", "found"), marks), (header, arrows)
    return "\n\n".join(markdown_table(*table) for table in tables)


def report() -> str:
    """All tables, of the rows that are stored."""
    rows = read_rows(RESULTS)
    return f"{table(rows, read_rows(BESIDE))}\n\n{calibration(rows)}"


def main() -> None:
    """Run what is missing of some methods, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", help="own, flop 0, flop 20, least_shd")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="most variables")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin nothing after these")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    end = time.monotonic() + 60 * given.minutes
    for name in given.methods:
        left = end - time.monotonic()
        if name == "own":
            run_own(given.largest, left)
        else:
            run_peer(name, given.largest, left)
    print(report())
    update_page(PAGE, report(), "arrows")


if __name__ == "__main__":
    main()
