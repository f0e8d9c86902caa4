"""The price of an edge that is chosen from the data, beside fixed ones.

Run with ``python -m benchmarks.price --sets 20``. For each kind of data and each data set: a search
without restarts with the chosen price, with fixed ones, and with the extended BIC (gamma 0.5).
Effects are strong (±0.5 to ±2, as they are), weak (±0.2 to ±0.6), faint (±0.1 to ±0.4) or mixed
(±0.1 to ±1.2); but for strong ones every variable is scaled to variance 1 before it acts. With
onion effects the correlations of a variable with its causes are uniform over all possible ones, an
idea of the DaO method (Andrews and Kummerfeld, 2024). Each run is appended to a file of lines, so
that a later call adds data sets, a half of them with 100 variables and a quarter with 200; the
summary goes to ``benchmarks/results/price.csv``. ``--again auto`` forgets what a method has found.

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
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import qwo
from benchmarks.peers import thin
from benchmarks.timing import print_table
from qwo.datasets import load_gaussian_network
from qwo.graph import shd
from qwo.graph.dag import topological_order
from qwo.simulation import LinearModel
from qwo.simulation.random_models import random_dag

RESULTS = Path(__file__).parent / "results"
EFFECTS = {"strong": (0.5, 2.0), "weak": (0.2, 0.6), "faint": (0.1, 0.4), "mixed": (0.1, 1.2)}
RANDOM = ("er2", "er3", "er4", "er8", "scale-free-in", "scale-free-out")
NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
SIZES: tuple[tuple[int, int], ...] = (
    (10, 200),
    (20, 100),
    (20, 500),
    (20, 5000),
    (50, 25),
    (50, 50),
    (50, 100),
    (50, 250),
    (50, 1000),
    (50, 5000),
    (100, 50),
    (100, 200),
    (100, 1000),
    (200, 500),
)
FIXED = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
METHODS: dict[str, dict[str, Any]] = {
    "auto": {"penalty_discount": "auto"},
    **{f"c = {c:g}": {"penalty_discount": c, "gamma": 0.0} for c in FIXED},
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
        if self.effects in ("published", "thin", "onion"):
            return self.effects
        return "N ≤ n" if self.n_samples <= self.n_variables else self.effects

    @property
    def methods(self) -> list[str]:
        """What is tried: a low price finds hundreds of false edges where samples are few."""
        few = self.n_samples <= self.n_variables
        return [name for name in METHODS if not (few and name == "c = 1.5")]

    def sets(self, most: int) -> int:
        """How many data sets are drawn, if at most so many."""
        return -(-most // (1 if self.n_variables < 100 else 2 if self.n_variables < 200 else 4))


def settings() -> Iterator[Setting]:
    """All kinds of data."""
    for effects in EFFECTS:
        for graph in RANDOM:
            for n, n_samples in SIZES:
                if (graph, n) != ("er8", 10):
                    yield Setting(effects, graph, n, n_samples)
    for name in thin.NAMES:
        yield from (Setting("thin", name, 50, n_samples) for n_samples in (200, 1000))
    for name in NETWORKS:
        n = load_gaussian_network(name).n_variables
        yield from (Setting("published", name, n, n_samples) for n_samples in (200, 1000))
    for graph in ("er4", "er8"):
        yield from (Setting("onion", graph, 50, n_samples) for n_samples in (200, 1000))
    for noise in ("exponential", "gumbel", "uniform"):
        for effects in ("strong", "weak"):
            yield from (Setting(effects, "er4", 50, size, noise) for size in (60, 500))


def model(setting: Setting, rng: np.random.Generator) -> LinearModel:
    """Equations of a kind."""
    if setting.effects == "published":
        return load_gaussian_network(setting.graph).model
    n, kind = setting.n_variables, setting.graph
    degree = float(kind[2:]) if kind.startswith("er") else 4.0
    dag = random_dag(kind.rstrip("0123456789"), n, degree, True, rng)
    weights, noise, covariance = np.zeros((n, n)), np.ones(n), np.zeros((n, n))
    for child in topological_order(dag):
        causes = np.flatnonzero(dag[:, child])
        joint = covariance[np.ix_(causes, causes)]
        effects = drawn_effects(setting.effects, joint, rng)
        variance = 1 + effects @ joint @ effects
        scale = 1.0 if setting.effects == "strong" else math.sqrt(variance)
        weights[causes, child] = effects / scale
        noise[child] = 1 / scale**2
        covariance[child] = weights[causes, child] @ covariance[causes]
        covariance[:, child] = covariance[child]
        covariance[child, child] = variance / scale**2
    return LinearModel(dag, weights, noise)


def drawn_effects(
    kind: str, joint: npt.NDArray[np.float64], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Effects of causes with some covariance on a variable with noise of variance 1."""
    n = len(joint)
    if kind != "onion" or n == 0:
        sizes = rng.uniform(*EFFECTS.get(kind, (0.0, 1.0)), n)
        signs: npt.NDArray[np.float64] = rng.choice([-1.0, 1.0], n)
        return sizes * signs
    direction = rng.standard_normal(n)
    share = rng.random() ** (2 / n)
    direction *= math.sqrt(share / (1 - share)) / np.linalg.norm(direction)
    solved: npt.NDArray[np.float64] = np.linalg.solve(np.linalg.cholesky(joint).T, direction)
    return solved


def draw(setting: Setting, seed: int) -> tuple[qwo.Moments, npt.NDArray[np.int8]]:
    """A data set of a kind, and its DAG."""
    rng = np.random.default_rng([seed, *setting[2:4], *map(ord, "".join(setting[:2]))])
    if setting.effects == "thin":
        data, dag = thin.draw_thin(setting.graph, setting.n_variables, setting.n_samples, rng)
        place = rng.permutation(len(dag))
        return qwo.Moments.from_data(data[:, place]), dag[np.ix_(place, place)]
    drawn = model(setting, rng)
    return qwo.Moments.from_data(drawn.sample(setting.n_samples, setting.noise, rng)), drawn.dag


def run(
    setting: Setting, seed: int, methods: Iterable[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """One data set by some methods."""
    moments, dag = draw(setting, seed)
    truth = qwo.to_cpdag(dag)
    for name in methods:
        begun = time.process_time()
        result = qwo.discover(moments, restarts=0, random_state=seed, **METHODS[name])
        yield name, judged(result, dag, truth) | {"time": time.process_time() - begun}


def judged(
    result: qwo.Discovery, dag: npt.NDArray[np.int8], truth: npt.NDArray[np.int8]
) -> dict[str, Any]:
    """What is right and wrong with a graph."""
    arrows, evidence = result.cpdag == 1, result.evidence
    assert evidence is not None
    wrong = (dag + dag.T)[evidence.causes, evidence.effects] == 0
    place = np.minimum((evidence.false_rates * BINS).astype(int), BINS - 1)
    return {
        "shd": shd(result.cpdag, truth),
        "penalty": result.params["penalty_discount"],
        "edges": result.n_edges,
        "false": int(wrong.sum()),
        "expected": result.expected_false_edges,
        "arrows": int(arrows.sum()),
        "right": int((arrows & (dag == 1)).sum()),
        "true_arrows": int((truth == 1).sum()),
        "recalled": int((arrows & (truth == 1)).sum()),
        "counts": np.bincount(place, minlength=BINS).tolist(),
        "rates": np.bincount(place, evidence.false_rates, minlength=BINS).tolist(),
        "wrong": np.bincount(place, wrong, minlength=BINS).tolist(),
    }


Key = tuple[Setting, int]
Runs = dict[Key, dict[str, dict[str, Any]]]


def read(file: Path, forget: Collection[str] = ()) -> Runs:
    """What methods have found on each data set; the last word counts."""
    runs: Runs = defaultdict(dict)
    if file.exists():
        for line in file.read_text().splitlines():
            setting, seed, method, found = json.loads(line)
            if method not in forget:
                runs[Setting(*setting), seed][method] = found
    return runs


def complete(runs: Runs, file: Path, most: int) -> None:
    """Run what is missing: the first data sets of all kinds first."""
    with file.open("a") as lines:
        for seed in range(most):
            for setting in settings():
                known = runs[setting, seed]
                missing = [name for name in setting.methods if name not in known]
                if seed < setting.sets(most) and missing:
                    for name, found in run(setting, seed, missing):
                        known[name] = found
                        lines.write(json.dumps([setting, seed, name, found]) + "\n")
                    lines.flush()


Row = dict[str, Any]


def summary(runs: Runs) -> list[Row]:
    """One row for each kind of data and method."""
    kinds: dict[Setting, list[dict[str, dict[str, Any]]]] = defaultdict(list)
    for (setting, _), found in runs.items():
        if BASE in found and "auto" in found:
            kinds[setting].append(found)
    return [
        _row(setting, name, [one for one in found if name in one])
        for setting, found in kinds.items()
        for name in setting.methods
    ]


def _row(setting: Setting, name: str, found: list[dict[str, dict[str, Any]]]) -> Row:
    mean = {
        key: float(np.mean([one[name][key] for one in found]))
        for key, value in found[0][name].items()
        if not isinstance(value, list)
    }
    change = np.array([one[name]["shd"] - one[BASE]["shd"] for one in found], dtype=float)
    error = change.std(ddof=1) / math.sqrt(len(change)) if len(change) > 1 else math.nan
    return {
        **setting._asdict(),
        "family": setting.family,
        "method": name,
        "sets": len(found),
        "shd": mean["shd"],
        "shd_change": float(change.mean()),
        "standard_error": float(error),
        "arrow_precision": mean["right"] / max(mean["arrows"], 1e-9),
        "arrow_recall": mean["recalled"] / max(mean["true_arrows"], 1e-9),
        "penalty": mean["penalty"],
        "edges": mean["edges"],
        "false": mean["false"],
        "expected": mean["expected"],
        "milliseconds": 1e3 * mean["time"],
    }


def print_families(rows: list[Row]) -> None:
    """SHD against the habit, and more, by family and method."""
    by_kind: dict[tuple[Any, ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by_kind[tuple(row[key] for key in Setting._fields)][row["method"]] = row
    groups: dict[tuple[str, str], list[tuple[Row, Row]]] = defaultdict(list)
    for kind in by_kind.values():
        best = min((kind[f"c = {c:g}"] for c in FIXED[1:]), key=lambda row: float(row["shd"]))
        for name, row in {**kind, "best fixed": best}.items():
            pair = row, kind[BASE]
            groups[row["family"], name].append(pair)
            if row["family"] in EFFECTS:
                groups["random graphs, N > n", name].append(pair)
            if row["family"] in (*EFFECTS, "N ≤ n"):
                groups["random graphs", name].append(pair)
    columns = ("shd", "arrow_precision", "arrow_recall", "penalty", "false", "expected")
    print_table(
        ["family", "method", "kinds", "SHD ratio", *columns, "time ratio"],
        [
            [
                family,
                method,
                str(len(pairs)),
                f"{_mean_ratio(pairs, 'shd', 0.5):.2f}",
                *(f"{np.mean([row[key] for row, _ in pairs]):.2f}" for key in columns),
                f"{_mean_ratio(pairs, 'milliseconds', 0.0):.2f}",
            ]
            for (family, method), pairs in sorted(groups.items())
        ],
    )


def _mean_ratio(pairs: list[tuple[Row, Row]], key: str, more: float) -> float:
    """Geometric mean."""
    return math.exp(np.mean([math.log((a[key] + more) / (b[key] + more)) for a, b in pairs]))


def print_losses(rows: list[Row]) -> None:
    """Kinds on which the chosen price is worse than the habit by a quarter, beyond chance."""
    for row in rows:
        habit = row["shd"] - row["shd_change"]
        if row["method"] == "auto" and row["shd_change"] - 2 * row["standard_error"] > habit / 4:
            kind = " ".join(str(row[key]) for key in Setting._fields)
            print(f"worse: {kind}: {habit:.1f} → {row['shd']:.1f} ± {row['standard_error']:.1f}")


def print_false(runs: Runs, rows: list[Row]) -> None:
    """Expected and found false edges where one or more is expected, and calibration of rates."""
    for few in (False, True):
        where = "N ≤ n" if few else "N > n"
        some = [
            row
            for row in rows
            if (row["n_samples"] <= row["n_variables"]) == few and row["expected"] >= 1
        ]
        ratios = np.array([max(row["false"], 0.1) / row["expected"] for row in some])
        within = {f: np.mean((ratios < f) & (ratios > 1 / f)) for f in (1.3, 2.0)}
        expected, false = (sum(row[key] for row in some) for key in ("expected", "false"))
        print(
            f"\n{where}, {len(some)} kinds and prices: {expected:.0f} false edges expected, "
            f"{false:.0f} found; within 1.3 "
            f"{within[1.3]:.0%}, within 2 {within[2.0]:.0%}, median ratio {np.median(ratios):.2f}"
        )
        for name in ("auto", BASE):
            chosen = [
                found[name]
                for (setting, _), found in runs.items()
                if name in found and (setting.n_samples <= setting.n_variables) == few
            ]
            counts, rates, wrong = (
                np.sum([one[key] for one in chosen], axis=0) for key in ("counts", "rates", "wrong")
            )
            error = np.abs(rates - wrong).sum() / counts.sum()
            shown = " ".join(
                f"{r / c:.2f}:{w / c:.2f}"
                for r, w, c in zip(rates, wrong, counts, strict=True)
                if c
            )
            print(f"calibration, {where}, {name}: error {error:.4f}; rate:seen {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5, help="data sets of each kind")
    parser.add_argument("--runs", type=Path, default=RESULTS / "price.jsonl")
    parser.add_argument("--again", nargs="*", default=(), choices=METHODS, help="methods to renew")
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    runs = read(options.runs, options.again)
    complete(runs, options.runs, options.sets)
    rows = summary(runs)
    with (RESULTS / "price.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(
            {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )
    print_families(rows)
    print_losses(rows)
    print_false(runs, rows)


if __name__ == "__main__":
    main()
