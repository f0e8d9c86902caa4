"""The price of an edge that is chosen from the data, beside fixed ones.

Run with ``python -m benchmarks.price --sets 5``. For each kind of data and each data set: a search
without restarts with the chosen price, with fixed ones, and with the extended BIC (gamma 0.5).
Effects are strong (±0.5 to ±2, as they are), weak (±0.2 to ±0.6), mixed (±0.1 to ±1.2) or middling
(±0.5 to ±1.5); but for strong ones every variable is scaled to variance 1 before it acts. Each run
is appended to a file of lines, so that a later call adds data sets; the summary goes to
``benchmarks/results/price.csv``.

SHD counts the pairs of variables whose edge in the CPDAG is wrong. Expected are the false edges
that chance would give by `Discovery.expected_false_edges`, false those that were drawn. Calibration
compares the false rate of single edges with the share of them that are false.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import qwo
from benchmarks.timing import print_table
from qwo.datasets import load_gaussian_network
from qwo.graph.dag import topological_order
from qwo.simulation import LinearModel
from qwo.simulation.random_models import random_dag

RESULTS = Path(__file__).parent / "results"
EFFECTS = {"strong": (0.5, 2.0), "weak": (0.2, 0.6), "mixed": (0.1, 1.2), "middling": (0.5, 1.5)}
RANDOM = ("er2", "er4", "er8", "scale-free-in", "scale-free-out")
THIN = ("path", "tree", "band", "grid")
NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
SIZES: tuple[tuple[int, int], ...] = (
    (10, 200),
    (20, 100),
    (20, 1000),
    (50, 25),
    (50, 50),
    (50, 100),
    (50, 500),
    (50, 5000),
    (100, 50),
    (100, 200),
    (100, 1000),
)
METHODS: dict[str, dict[str, Any]] = {
    "auto": {"penalty_discount": "auto"},
    **{f"c = {c:g}": {"penalty_discount": c, "gamma": 0.0} for c in (1.5, 2.0, 2.5, 3.0)},
    "gamma = 0.5": {"penalty_discount": 2.0, "gamma": 0.5},
}
BASE = "c = 2"
BINS = 10


class Setting(NamedTuple):
    """A kind of data."""

    effects: str
    graph: str
    n_variables: int
    n_samples: int
    noise: str = "gaussian"

    @property
    def family(self) -> str:
        """What it is counted under."""
        if self.noise != "gaussian":
            return "other noise"
        if self.graph in NETWORKS:
            return "published networks"
        if self.n_samples <= self.n_variables:
            return "N ≤ n"
        return f"thin, {self.effects}" if self.graph in THIN else self.effects


def settings() -> Iterator[Setting]:
    """All kinds of data."""
    for effects in ("strong", "weak", "mixed"):
        for graph in RANDOM:
            for n, n_samples in SIZES:
                if (graph, n) != ("er8", 10):
                    yield Setting(effects, graph, n, n_samples)
    yield Setting("strong", "er4", 200, 500)
    for effects in ("weak", "middling"):
        for graph in THIN:
            yield from (Setting(effects, graph, 50, n_samples) for n_samples in (200, 1000))
    for name in NETWORKS:
        n = load_gaussian_network(name).n_variables
        yield from (Setting("published", name, n, n_samples) for n_samples in (200, 1000))
    for noise in ("exponential", "gumbel", "uniform"):
        yield from (Setting("strong", "er4", 50, n_samples, noise) for n_samples in (60, 500))


def graph(setting: Setting, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """A DAG of a kind, its columns shuffled."""
    n, kind = setting.n_variables, setting.graph
    if kind.startswith("er"):
        return random_dag("er", n, float(kind[2:]), True, rng)
    if kind.startswith("scale-free"):
        return random_dag(kind, n, 4.0, True, rng)
    width = math.isqrt(n)
    parents: dict[str, Callable[[int], list[int]]] = {
        "path": lambda k: [k - 1],
        "tree": lambda k: [int(rng.integers(max(0, k - 10), k))],
        "band": lambda k: list(range(max(0, k - 3), k)),
        "grid": lambda k: [k - 1] * (k % width > 0) + [k - width] * (k >= width),
    }
    place = rng.permutation(n)
    dag = np.zeros((n, n), dtype=np.int8)
    for k in range(1, n):
        dag[place[parents[kind](k)], place[k]] = 1
    return dag


def model(setting: Setting, rng: np.random.Generator) -> LinearModel:
    """Equations of a kind."""
    if setting.effects == "published":
        return load_gaussian_network(setting.graph).model
    dag = graph(setting, rng)
    n = len(dag)
    low, high = EFFECTS[setting.effects]
    weights = dag * rng.uniform(low, high, (n, n)) * rng.choice([-1, 1], (n, n))
    noise, covariance = np.ones(n), np.zeros((n, n))
    if setting.effects != "strong":
        for child in topological_order(dag):
            causes = np.flatnonzero(dag[:, child])
            effects = weights[causes, child]
            variance = 1 + effects @ covariance[np.ix_(causes, causes)] @ effects
            weights[causes, child] = effects / math.sqrt(variance)
            noise[child] = 1 / variance
            covariance[child] = weights[causes, child] @ covariance[causes]
            covariance[:, child] = covariance[child]
            covariance[child, child] = 1
    return LinearModel(dag, weights, noise)


def run(setting: Setting, seed: int) -> dict[str, Any]:
    """One data set by all methods."""
    rng = np.random.default_rng([seed, *setting[2:4], *map(ord, "".join(setting[:2]))])
    drawn = model(setting, rng)
    moments = qwo.Moments.from_data(drawn.sample(setting.n_samples, setting.noise, rng))
    truth = qwo.to_cpdag(drawn.dag)
    found = {}
    for name, options in METHODS.items():
        begun = time.process_time()
        result = qwo.discover(moments, restarts=0, random_state=seed, **options)
        found[name] = judged(result, drawn.dag, truth) | {"time": time.process_time() - begun}
    return {"setting": setting, "seed": seed, "found": found}


def judged(
    result: qwo.Discovery, dag: npt.NDArray[np.int8], truth: npt.NDArray[np.int8]
) -> dict[str, Any]:
    """What is right and wrong with a graph."""
    arrows = result.cpdag == 1
    evidence = result.evidence
    assert evidence is not None
    wrong = (dag + dag.T)[evidence.causes, evidence.effects] == 0
    place = np.minimum((evidence.false_rates * BINS).astype(int), BINS - 1)
    return {
        "shd": qwo.compare(result.cpdag, truth).shd_cpdag,
        "penalty": result.params["penalty_discount"],
        "edges": result.n_edges,
        "false": int(wrong.sum()),
        "expected": result.expected_false_edges,
        "arrows": int(arrows.sum()),
        "right": int((arrows & (dag == 1)).sum()),
        "counts": np.bincount(place, minlength=BINS).tolist(),
        "rates": np.bincount(place, evidence.false_rates, minlength=BINS).tolist(),
        "wrong": np.bincount(place, wrong, minlength=BINS).tolist(),
    }


Runs = dict[Setting, list[dict[str, dict[str, Any]]]]


def read(file: Path) -> Runs:
    """What has been run, by kind of data."""
    runs: Runs = defaultdict(list)
    if file.exists():
        for line in file.read_text().splitlines():
            row = json.loads(line)
            runs[Setting(*row["setting"])].append(row["found"])
    return runs


def summary(runs: Runs) -> list[dict[str, Any]]:
    """One row for each kind of data and method."""
    rows = []
    for setting, found in runs.items():
        for name in METHODS:
            mine = [one[name] for one in found]
            mean = {
                key: float(np.mean([one[key] for one in mine]))
                for key in mine[0]
                if not isinstance(mine[0][key], list)
            }
            change = np.array([one[name]["shd"] - one[BASE]["shd"] for one in found], dtype=float)
            error = change.std(ddof=1) / math.sqrt(len(change)) if len(change) > 1 else math.nan
            rows.append(
                {
                    **setting._asdict(),
                    "family": setting.family,
                    "method": name,
                    "sets": len(found),
                    "shd": mean["shd"],
                    "shd_change": float(change.mean()),
                    "standard_error": float(error),
                    "arrow_precision": mean["right"] / max(mean["arrows"], 1e-9),
                    "penalty": mean["penalty"],
                    "edges": mean["edges"],
                    "false": mean["false"],
                    "expected": mean["expected"],
                    "milliseconds": 1e3 * mean["time"],
                }
            )
    return rows


def print_summary(runs: Runs, rows: list[dict[str, Any]]) -> None:
    """Tables by family and method."""
    base = {tuple(row[k] for k in Setting._fields): row for row in rows if row["method"] == BASE}
    groups: dict[tuple[str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = defaultdict(list)
    for row in rows:
        pair = row, base[tuple(row[k] for k in Setting._fields)]
        groups[row["family"], row["method"]].append(pair)
        if row["family"] in ("strong", "weak", "mixed", "N ≤ n"):
            groups["all random graphs", row["method"]].append(pair)
    cells = []
    for (family, method), pairs in sorted(groups.items()):
        ratio = np.mean([math.log((a["shd"] + 0.5) / (b["shd"] + 0.5)) for a, b in pairs])
        mean = {
            key: np.mean([a[key] for a, _ in pairs])
            for key in ("shd", "arrow_precision", "penalty", "false", "expected")
        }
        spent = np.mean([math.log(a["milliseconds"] / b["milliseconds"]) for a, b in pairs])
        cells.append(
            [
                family,
                method,
                str(len(pairs)),
                f"{math.exp(ratio):.2f}",
                *(f"{value:.2f}" for value in mean.values()),
                f"{math.exp(spent):.2f}",
            ]
        )
    print_table(
        [
            "family",
            "method",
            "kinds",
            "SHD ratio",
            "SHD",
            "precision",
            "price",
            "false",
            "expected",
            "time ratio",
        ],
        cells,
    )
    for name in ("auto", BASE):
        counts, rates, wrong = (
            np.sum([one[name][key] for found in runs.values() for one in found], axis=0)
            for key in ("counts", "rates", "wrong")
        )
        error = np.abs(rates - wrong).sum() / counts.sum()
        shown = " ".join(
            f"{r / c:.2f}:{w / c:.2f}" for r, w, c in zip(rates, wrong, counts, strict=True) if c
        )
        print(f"\ncalibration, {name}: error {error:.4f}; rate:seen {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5, help="data sets of each kind")
    parser.add_argument("--runs", type=Path, default=RESULTS / "price.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    runs = read(options.runs)
    with options.runs.open("a") as file:
        for seed in range(options.sets):
            for setting in settings():
                if len(runs[setting]) <= seed:
                    done = run(setting, seed)
                    runs[setting].append(done["found"])
                    file.write(json.dumps(done) + "\n")
                    file.flush()
    rows = summary({setting: found for setting, found in runs.items() if found})
    with (RESULTS / "price.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(
            {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )
    print_summary(runs, rows)


if __name__ == "__main__":
    main()
