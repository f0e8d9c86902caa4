"""The price of an edge that is chosen from the data, beside fixed ones.

Run with ``python -m benchmarks.price --sets 20``. For each kind of data and each data set: a search
without restarts with the chosen price, with fixed ones, and with the extended BIC (gamma 0.5).
Effects are strong (±0.5 to ±2, as they are), weak (±0.2 to ±0.6), faint (±0.1 to ±0.4) or mixed
(±0.1 to ±1.2); but for strong ones every variable is scaled to variance 1 before it acts. With
onion effects the correlations of a variable with its causes are uniform over all possible ones, an
idea of the DaO method (Andrews and Kummerfeld, 2024). Each run is appended to a file of lines, so
that a later call adds data sets, a half of them with 100 variables and a quarter with 200, and the
first four with faint effects or c = 1.5. The summary goes to ``benchmarks/results/price.csv`` and
``price-rates.csv``; the tables made of them are those of the page on the penalty. ``--again auto``
forgets what a method has found, ``--sets 0`` makes the tables from the summary alone.

SHD counts the pairs of variables whose edge in the CPDAG is wrong, and is compared on the same data
sets. Expected are the false edges by `Discovery.expected_false_edges`, false those that were drawn:
in cells of one size and kind of effects, graphs together, in which twenty or more are expected.
Calibration compares the false rate of single edges with the share of them that are false.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import qwo
from benchmarks.peers import thin
from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.rows import Row, read_rows, timed, write_rows
from qwo.datasets import load_gaussian_network
from qwo.graph import shd
from qwo.graph.dag import topological_order
from qwo.reproduction.aggregate import interval
from qwo.simulation import LinearModel
from qwo.simulation.random_models import random_dag

RESULTS = Path(__file__).parent / "results"
PAGE = RESULTS.parents[1] / "docs" / "howto" / "choosing-the-penalty.md"
EFFECTS = {"strong": (0.5, 2.0), "weak": (0.2, 0.6), "faint": (0.1, 0.4), "mixed": (0.1, 1.2)}
RANDOM = ("er2", "er3", "er4", "er8", "scale-free-in", "scale-free-out")
NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
SIZES: tuple[tuple[int, int], ...] = (
    (10, 200),
    (10, 1000),
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
    (200, 100),
    (200, 500),
)
FIXED = (1.5, 2.0, 2.5, 3.0)
METHODS: dict[str, dict[str, Any]] = {
    "auto": {"penalty_discount": "auto"},
    **{f"c = {c:g}": {"penalty_discount": c, "gamma": 0.0} for c in FIXED},
    "gamma = 0.5": {"penalty_discount": 2.0, "gamma": 0.5},
}
BASE = "c = 2"
FIRST = 4
"""Data sets with faint effects, and those searched at c = 1.5."""

BINS = 10
ENOUGH, FACTOR = 20.0, 1.3
"""False edges to expect in a cell that is judged, and the factor by which it may be off."""


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
        return "N ≤ n" if self.is_few else self.effects

    @property
    def is_few(self) -> bool:
        """Whether there are no more samples than variables."""
        return self.n_samples <= self.n_variables

    def methods(self, seed: int = 0) -> list[str]:
        """What is tried: a low price finds hundreds of false edges where samples are few."""
        low = not self.is_few and seed < FIRST
        return [name for name in METHODS if low or name != "c = 1.5"]

    def sets(self, most: int) -> int:
        """How many data sets are drawn, if at most so many."""
        share = 1 if self.n_variables < 100 else 2 if self.n_variables < 200 else 4
        return min(-(-most // share), FIRST if self.effects == "faint" else most)


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


def draw_data(setting: Setting, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    """Rows of a kind of data, and their DAG."""
    rng = np.random.default_rng([seed, *setting[2:4], *map(ord, "".join(setting[:2]))])
    if setting.effects == "thin":
        data, dag = thin.draw_thin(setting.graph, setting.n_variables, setting.n_samples, rng)
        place = rng.permutation(len(dag))
        return data[:, place], dag[np.ix_(place, place)]
    drawn = model(setting, rng)
    return drawn.sample(setting.n_samples, setting.noise, rng), drawn.dag


def draw(setting: Setting, seed: int) -> tuple[qwo.Moments, npt.NDArray[np.int8]]:
    """A data set of a kind, and its DAG."""
    data, dag = draw_data(setting, seed)
    return qwo.Moments.from_data(data), dag


def run(
    setting: Setting, seed: int, methods: Iterable[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """One data set by some methods."""
    moments, dag = draw(setting, seed)
    truth = qwo.to_cpdag(dag)
    for name in methods:
        options = {"restarts": 0, "random_state": seed, **METHODS[name]}
        result, seconds = timed(qwo.discover, moments, **options)
        yield name, judged(result, dag, truth) | {"time": seconds}


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
                missing = [name for name in setting.methods(seed) if name not in known]
                if seed < setting.sets(most) and missing:
                    for name, found in run(setting, seed, missing):
                        known[name] = found
                        lines.write(json.dumps([setting, seed, name, found]) + "\n")
                    lines.flush()


def summary(runs: Runs) -> list[Row]:
    """One row for each kind of data and method."""
    kinds: dict[Setting, list[dict[str, dict[str, Any]]]] = defaultdict(list)
    for (setting, _), found in runs.items():
        if BASE in found and "auto" in found:
            kinds[setting].append(found)
    return [
        _row(setting, name, [one for one in found if name in one])
        for setting, found in kinds.items()
        for name in setting.methods()
        if any(name in one for one in found)
    ]


def _row(setting: Setting, name: str, found: list[dict[str, dict[str, Any]]]) -> Row:
    mean = {
        key: float(np.mean([one[name][key] for one in found]))
        for key, value in found[0][name].items()
        if not isinstance(value, list)
    }
    change = interval([one[name]["shd"] - one[BASE]["shd"] for one in found])
    return {
        **setting._asdict(),
        "family": setting.family,
        "method": name,
        "sets": len(found),
        "shd": mean["shd"],
        "shd_change": change.mean,
        "standard_error": change.error,
        "arrow_precision": mean["right"] / max(mean["arrows"], 1e-9),
        "arrow_recall": mean["recalled"] / max(mean["true_arrows"], 1e-9),
        "penalty": mean["penalty"],
        "edges": mean["edges"],
        "false": mean["false"],
        "expected": mean["expected"],
        "milliseconds": 1e3 * mean["time"],
    }


def _is_random(kind: Setting) -> bool:
    return kind.family in (*EFFECTS, "N ≤ n")


GROUPS: dict[str, Callable[[Setting], bool]] = {
    "strong effects (±0.5 to ±2), N > n": lambda kind: kind.family == "strong",
    "weak effects (±0.2 to ±0.6)": lambda kind: kind.family == "weak",
    "mixed effects (±0.1 to ±1.2)": lambda kind: kind.family == "mixed",
    "faint effects (±0.1 to ±0.4)": lambda kind: kind.family == "faint",
    "N ≤ n, all effects": lambda kind: kind.family == "N ≤ n",
    "strong, weak and mixed effects": lambda kind: _is_random(kind) and kind.effects != "faint",
    "all of these": _is_random,
    "paths, trees, bands, grids and other thin graphs": lambda kind: kind.family == "thin",
    "published Gaussian networks": lambda kind: kind.family == "published",
    "effects drawn by the onion method": lambda kind: kind.family == "onion",
    "exponential, Gumbel, uniform noise": lambda kind: kind.family == "other noise",
}


def kind_of(row: Row) -> Setting:
    """The kind of data of a row."""
    return Setting(*(row[key] for key in Setting._fields))


def change(rows: Iterable[Row]) -> float:
    """The geometric mean of SHD (+ 0.5) against that at c = 2, on the same data sets."""
    ratios = [(row["shd"] + 0.5) / (row["shd"] - row["shd_change"] + 0.5) for row in rows]
    return math.exp(np.log(ratios).mean()) if ratios else math.nan


def half_strong(rows: Sequence[Row]) -> float:
    """The same if strong effects are half of all kinds: N > n, 20 to 100 variables, strong 200."""
    parts = []
    for strong in (True, False):
        kinds = [
            row
            for row in rows
            if (kind := kind_of(row)).family in EFFECTS
            and (kind.effects == "strong") == strong
            and 20 <= kind.n_variables <= (200 if strong else 100)
        ]
        parts.append(change(kinds))
    return math.sqrt(parts[0] * parts[1])


def families(rows: Sequence[Row]) -> list[list[str]]:
    """SHD of each method against c = 2, by group."""
    columns = [name for name in METHODS if name != BASE]
    table = []
    for title, belongs in GROUPS.items():
        own = [row for row in rows if belongs(kind_of(row))]
        if not own:
            continue
        by_method = {m: [row for row in own if row["method"] == m] for m in columns}
        whole = {m: len(found) == len(by_method["auto"]) for m, found in by_method.items()}
        sets = sum(row["sets"] for row in by_method["auto"])
        figures = [f"{change(by_method[m]):.2f}" if whole[m] else "" for m in columns]
        table.append([title, str(len(by_method["auto"])), str(sets), *figures])
    return table


def precision_and_recall(rows: Sequence[Row], method: str) -> tuple[float, float]:
    """The means of arrows on random graphs."""
    own = [row for row in rows if row["method"] == method and _is_random(kind_of(row))]
    precision, recall = (fmean(row[f"arrow_{k}"] for row in own) for k in ("precision", "recall"))
    return precision, recall


def time_ratio(rows: Sequence[Row], least: int, most: int) -> float:
    """The geometric mean of the time of a chosen price against c = 2, N > n."""
    by_kind: dict[Setting, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        kind = kind_of(row)
        if not kind.is_few and least <= kind.n_variables <= most:
            by_kind[kind][row["method"]] = row
    logs = [math.log(k["auto"]["milliseconds"] / k[BASE]["milliseconds"]) for k in by_kind.values()]
    return math.exp(fmean(logs))


def losses(rows: Iterable[Row], share: float = 0.25) -> list[Row]:
    """Kinds on which the chosen price is worse than c = 2 by a quarter, two errors subtracted."""
    return [
        row
        for row in rows
        if row["method"] == "auto"
        and row["shd_change"] - 2 * row["standard_error"] > share * (row["shd"] - row["shd_change"])
    ]


class Cell(NamedTuple):
    """False edges of kinds of one size and kind of effects, graphs together, by one method."""

    group: str
    method: str
    n_variables: int
    n_samples: int
    expected: float
    false: float

    @property
    def ratio(self) -> float:
        """Found over expected."""
        return self.false / self.expected

    @property
    def fits(self) -> bool:
        """Whether the ratio is within the factor."""
        return 1 / FACTOR <= self.ratio <= FACTOR

    @property
    def may_fit(self) -> bool:
        """Whether its 95 % interval, if numbers vary as Poisson's, touches the factor."""
        error = 1.96 * math.sqrt(max(self.false, 1)) / self.expected
        return self.ratio - error <= FACTOR and self.ratio + error >= 1 / FACTOR


def cells(rows: Iterable[Row]) -> list[Cell]:
    """The cells in which enough false edges are expected."""
    sums: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        kind = kind_of(row)
        group = kind.effects if kind.family in (*EFFECTS, "N ≤ n") else kind.family
        key = group, row["method"], kind.n_variables, kind.n_samples
        for place, name in enumerate(("expected", "false")):
            sums[key][place] += row[name] * row["sets"]
    found = [Cell(*key, *both) for key, both in sums.items()]
    return [cell for cell in found if cell.expected >= ENOUGH]


def false_edges(rows: Sequence[Row]) -> list[list[str]]:
    """Expected and found false edges, by whether samples are few and how the price was set."""
    table = []
    groups = {
        "random graphs, N > n": lambda c: c.group in EFFECTS and c.n_samples > c.n_variables,
        "random graphs, N ≤ n": lambda c: c.group in EFFECTS and c.n_samples <= c.n_variables,
        "other noise": lambda c: c.group == "other noise",
        "thin graphs": lambda c: c.group == "thin",
        "published and onion": lambda c: c.group in ("published", "onion"),
    }
    every = cells(rows)
    for title, belongs in groups.items():
        for price, chosen in (("given", False), ("chosen", True)):
            own = [c for c in every if belongs(c) and (c.method == "auto") == chosen]
            if own:
                expected, false = sum(c.expected for c in own), sum(c.false for c in own)
                within, may = (fmean(getattr(c, k) for c in own) for k in ("fits", "may_fit"))
                shares = [f"{within:.0%}", f"{may:.0%}"]
                totals = [f"{expected:,.0f}", f"{false:,.0f}"]
                table.append([title, price, str(len(own)), *totals, *shares])
    return table


def rates(runs: Runs) -> list[Row]:
    """False rates of single edges in ten bins: how many, the sum of the rates, how many false."""
    bins: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
    for (setting, _), found in runs.items():
        for method, one in found.items():
            key = "N ≤ n" if setting.is_few else "N > n", method
            own = np.array([one["counts"], one["rates"], one["wrong"]], dtype=float)
            bins[key] = bins.get(key, 0.0) + own
    return [
        {"where": where, "method": method, "bin": k, "edges": e, "expected": r, "false": w}
        for (where, method), own in sorted(bins.items())
        for k, (e, r, w) in enumerate(zip(*own, strict=True))
    ]


def calibration_error(binned: Iterable[Row], where: str, method: str) -> float:
    """The expected calibration error."""
    own = [row for row in binned if (row["where"], row["method"]) == (where, method)]
    off = sum(abs(row["expected"] - row["false"]) for row in own)
    return float(off / sum(row["edges"] for row in own))


def write_csv(path: Path, rows: list[Row]) -> None:
    """Rows with rounded numbers."""
    write_rows(
        path,
        ({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()} for row in rows),
    )


def single_figures(rows: Sequence[Row], binned: Sequence[Row]) -> list[list[str]]:
    """What is said of the chosen price, and of c = 2, in a number each."""
    auto = [row for row in rows if row["method"] == "auto"]
    table = [
        ["SHD if strong effects are half of the kinds, N > n", f"{half_strong(auto):.2f}", "1"]
    ]
    for n in (10, 20, 50, 100, 200):
        own = [r for r in auto if r["n_variables"] == n and kind_of(r).family in EFFECTS]
        table.append([f"SHD for {n} variables, N > n", f"{change(own):.2f}", "1"])
    arrows = [precision_and_recall(rows, method) for method in ("auto", BASE)]
    for title, both in zip(("precision", "recall"), zip(*arrows, strict=True), strict=True):
        table.append([f"{title} of arrows, random graphs", *(f"{value:.2f}" for value in both)])
    for title, sizes in (("from 50 variables on", (50, 200)), ("below", (0, 49))):
        table.append([f"processor time {title}, N > n", f"{time_ratio(rows, *sizes):.2f}", "1"])
    worse = f"{len(losses(rows))} of {len(auto)}"
    table.append(["kinds worse by a quarter beyond two standard errors", worse, ""])
    for where in ("N > n", "N ≤ n"):
        errors = (calibration_error(binned, where, method) for method in ("auto", BASE))
        table.append([f"calibration error of false rates, {where}", *(f"{e:.3f}" for e in errors)])
    return table


def page_parts(rows: Sequence[Row], binned: Sequence[Row]) -> dict[str, str]:
    """The tables of the page on the penalty."""
    methods = [name for name in METHODS if name != BASE]
    false = ["false edges", "penalty", "cells", "expected", "found", "within 1.3", "or may be"]
    return {
        "price-shd": markdown_table(
            ["SHD against c = 2", "kinds", "sets", *methods], families(rows)
        ),
        "price-figures": markdown_table(["", "chosen", BASE], single_figures(rows, binned)),
        "price-false": markdown_table(false, false_edges(rows), texts=2),
    }


def print_exceptions(rows: Sequence[Row]) -> None:
    """Kinds on which the chosen price loses, and cells whose false edges are not as expected."""
    for row in losses(rows):
        habit = row["shd"] - row["shd_change"]
        error = row["standard_error"]
        print(f"worse: {kind_of(row)}: {habit:.1f} → {row['shd']:.1f} ± {error:.1f}")
    for cell in sorted(cells(rows)):
        if not cell.may_fit:
            print(f"off by {cell.ratio:.2f}: {cell}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5, help="data sets of each kind")
    parser.add_argument("--runs", type=Path, default=RESULTS / "price.jsonl")
    parser.add_argument("--again", nargs="*", default=(), choices=METHODS, help="methods to renew")
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    if options.sets:
        runs = read(options.runs, options.again)
        complete(runs, options.runs, options.sets)
        write_csv(RESULTS / "price.csv", summary(runs))
        write_csv(RESULTS / "price-rates.csv", rates(runs))
    rows = read_rows(RESULTS / "price.csv")
    for part, content in page_parts(rows, read_rows(RESULTS / "price-rates.csv")).items():
        update_page(PAGE, content, part)
        print(content, end="\n\n")
    print_exceptions(rows)


if __name__ == "__main__":
    main()
