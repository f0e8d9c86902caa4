"""``python -m benchmarks.arrows``: how far the graph that is shown is from the truth.

Distances (marks that differ, of pairs of variables) to the true class of three graphs: the class of
the best score at the penalty that the data chose; the class without edges that are more likely
false than true (`Discovery.cpdag`); and the graph that is shown (`Discovery.graph`), in which
arrows that the data do not support are lines. The data were drawn after the rules had been fixed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import qwo
from benchmarks.rows import Row, read_rows, write_rows
from qwo.datasets import list_networks, load_gaussian_network

RESULTS = Path(__file__).with_name("results") / "arrows.csv"
COLUMNS = ("group", "kind", "n", "N", "seed", "best", "without_weak", "shown")
EFFECTS = {"strong": (0.5, 2.0), "weak": (0.2, 0.6), "mixed": (0.1, 1.0)}
FIRST_SEED = 40_000


class Case(NamedTuple):
    group: str
    kind: str
    dag: np.ndarray
    data: np.ndarray
    seed: int


def thin(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    dag = np.zeros((n, n), np.int8)
    for i in range(1, n):
        first = {"path": i - 1, "binary tree": (i - 1) // 2, "AR(2)": i - 1}
        dag[first.get(kind, int(rng.integers(i))), i] = 1
        if kind == "AR(2)" and i > 1:
            dag[i - 2, i] = 1
    return dag


def drawn(
    dag: np.ndarray, size: int, effects: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The DAG with its variables shuffled, and standardised rows; children are kept in bounds."""
    n, (low, high) = len(dag), EFFECTS[effects]
    weights = dag * rng.uniform(low, high, (n, n)) * rng.choice([-1, 1], (n, n))
    rows = rng.standard_normal((size, n))
    for v in range(n):
        rows[:, v] += rows @ weights[:, v] - rows[:, v] * weights[v, v]
        rows[:, v] /= rows[:, v].std()
    order = rng.permutation(n)
    return dag[np.ix_(order, order)], rows[:, order]


def cases(seed: int) -> Iterator[Case]:
    for n, degree, size, effects in product((10, 20, 50), (2, 4, 6), (200, 500, 2000), EFFECTS):
        rng = np.random.default_rng([seed, n, degree, size, len(effects)])
        dag = np.triu(rng.random((n, n)) < degree / (n - 1), 1).astype(np.int8)
        yield Case("random", effects, *drawn(dag, size, effects, rng), seed)
    kinds = ("path", "binary tree", "tree", "AR(2)")
    for kind, n, size, effects in product(kinds, (20, 50, 100), (500, 1000), ("strong", "weak")):
        rng = np.random.default_rng([seed, n, size, len(effects), len(kind)])
        yield Case("thin", kind, *drawn(thin(kind, n, rng), size, effects, rng), seed)
    for name in list_networks(gaussian=True):
        network = load_gaussian_network(name)
        for size in (500, 1000, 5000):
            yield Case("published", name, network.dag, network.sample(size, seed), seed)


def distance(estimated: np.ndarray, truth: np.ndarray) -> int:
    pairs = np.triu_indices(len(truth), 1)
    return int(((estimated != truth) | (estimated.T != truth.T))[pairs].sum())


def measured(case: Case) -> Row:
    truth = qwo.to_cpdag(case.dag)
    found = qwo.discover(case.data, random_state=case.seed)
    price = found.params["penalty_discount"]
    best = qwo.discover(case.data, random_state=case.seed, penalty_discount=price)
    graphs = best.cpdag, found.cpdag, found.graph.matrix
    size, n = case.data.shape
    values = case.group, case.kind, n, size, case.seed, *(distance(g, truth) for g in graphs)
    return dict(zip(COLUMNS, values, strict=True))


def table(rows: list[Row]) -> str:
    """Means by kind, and the paired difference that showing makes, with its standard error."""
    header = "graphs", "data sets", "class of the best score", "without weak edges", "shown"
    lines = [f"| {' | '.join(header)} | shown − best |", "|---" * 6 + "|"]
    kinds = dict.fromkeys((row["group"], row["kind"]) for row in rows)
    for group, kind in kinds:
        own = [row for row in rows if (row["group"], row["kind"]) == (group, kind)]
        values = np.array([[row[name] for name in COLUMNS[-3:]] for row in own], float)
        change = values[:, 2] - values[:, 0]
        error = change.std(ddof=1) / np.sqrt(len(own))
        means = " | ".join(f"{mean:.1f}" for mean in values.mean(axis=0))
        change_text = f"{change.mean():+.1f} ± {error:.1f}".replace("-", "−")
        lines.append(f"| {group}, {kind} | {len(own)} | {means} | {change_text} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--report", action="store_true", help="print the table of what is stored")
    given = parser.parse_args()
    if not given.report:
        warnings.simplefilter("ignore", qwo.DataWarning)
        seeds = range(FIRST_SEED, FIRST_SEED + given.sets)
        write_rows(RESULTS, [measured(case) for seed in seeds for case in cases(seed)], COLUMNS)
    print(table(read_rows(RESULTS)))


if __name__ == "__main__":
    main()
