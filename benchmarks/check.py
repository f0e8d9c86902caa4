"""How often `qwo.check` rings, with and without a fault: python -m benchmarks.check --sets 20.

Random graphs with 10 variables, degree 3; effects ±[0.5, 1.5] on variables of variance 1. Faults:

right          the true graph, given beforehand
learnt         the graph that `discover` finds in the same data
hidden         learnt from a table that lacks two variables with at least two children
bent           learnt; every effect of a cause x is that of x² - 1 + x/2 instead of x
cycle          learnt; one effect feeds back into an ancestor
edge missing   the true graph without its strongest edge
edge turned    the true graph with one compelled edge turned
turned inside  the true graph with one edge turned that its class leaves open
other graph    the true graph with its nodes permuted

Noise is normal, exponential less its mean, or log-normal less its mean. Beside the share of alarms
stands the area under the ROC curve: how often a case with a fault has a smaller p-value, the
smallest of its tests, than one without; graphs that are learnt are held against those of the case
"learnt", others against "right".
Figures are kept as they come, and a run goes on from those that are there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import qwo
from benchmarks.rows import Row, extend_rows
from qwo.graph.dag import ancestor_matrix

N_VARIABLES, DEGREE = 10, 3.0


def sample(dag, weights, n_samples, rng, *, bent=False, feedback=None):
    """Rows of a linear model, or one whose effects are bent, or one with an arrow back."""
    n = len(dag)
    noise = NOISE[rng.kind]
    if feedback is not None:
        system = np.eye(n) - weights.T
        cause, effect = feedback
        system[effect, cause] -= 0.6
        return np.linalg.solve(system, noise(rng.source, (n, n_samples))).T
    data = np.zeros((n_samples, n))
    for v in qwo.graph.topological_order(dag):
        parents = data[:, dag[:, v] == 1]
        parents = (parents - parents.mean(0)) / parents.std(0) if parents.size else parents
        shape = (parents**2 - 1 + parents / 2) / 1.5 if bent else parents
        data[:, v] = shape @ weights[dag[:, v] == 1, v] + noise(rng.source, n_samples)
    return data


class Source(NamedTuple):
    """Where noise comes from, and of which kind it is."""

    source: np.random.Generator
    kind: str


NOISE: dict[str, Callable] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
    "log-normal": lambda rng, size: np.exp(rng.normal(size=size)) - np.exp(0.5),
}


def model(seed):
    seed, kind = seed
    rng = np.random.default_rng([seed, 1])
    _, dag, _ = qwo.simulate(
        "er", n_variables=N_VARIABLES, n_samples=10, degree=DEGREE, random_state=seed
    )
    weights = dag * rng.uniform(0.5, 1.5, dag.shape) * rng.choice([-1, 1], dag.shape)
    return dag, weights, Source(rng, kind)


def right(seed, n):
    dag, weights, rng = model(seed)
    return sample(dag, weights, n, rng), dag


def learnt(seed, n):
    data, _ = right(seed, n)
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed[0])


def hidden(seed, n):
    data, dag = right(seed, n)
    causes = np.argsort(-dag.sum(axis=1), kind="stable")[:2]
    seen = np.delete(data, causes, axis=1)
    return seen, qwo.discover(seen, penalty_discount=2.0, random_state=seed[0])


def bent(seed, n):
    dag, weights, rng = model(seed)
    data = sample(dag, weights, n, rng, bent=True)
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed[0])


def cycle(seed, n):
    dag, weights, rng = model(seed)
    far = np.argwhere(ancestor_matrix(dag))
    ancestor, descendant = far[rng.source.integers(len(far))]
    data = sample(dag, weights * 0.6, n, rng, feedback=(descendant, ancestor))
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed[0])


def edge_missing(seed, n):
    dag, weights, rng = model(seed)
    data, wrong = sample(dag, weights, n, rng), dag.copy()
    wrong[np.unravel_index(np.abs(weights).argmax(), weights.shape)] = 0
    return data, wrong


def edge_turned(seed, n):
    data, dag = right(seed, n)
    return data, turned(dag, 1, seed[0])


def turned_inside(seed, n):
    data, dag = right(seed, n)
    wrong = turned(dag, 2, seed[0])
    same = wrong is not None and (qwo.to_cpdag(wrong) == qwo.to_cpdag(dag)).all()
    return data, wrong if same else None


def turned(dag, code, seed):
    """The graph with an edge turned that has this code in its class, if that makes no cycle."""
    rng = np.random.default_rng([seed, 2])
    for i, j in rng.permutation(np.argwhere((qwo.to_cpdag(dag) == code) & (dag == 1))):
        wrong = dag.copy()
        wrong[i, j], wrong[j, i] = 0, 1
        if not np.linalg.matrix_power(np.eye(len(dag), dtype=int) + wrong, len(dag))[i, j]:
            return wrong
    return None


def other_graph(seed, n):
    data, dag = right(seed, n)
    shuffled = np.random.default_rng([seed[0], 3]).permutation(len(dag))
    return data, dag[np.ix_(shuffled, shuffled)]


CASES: dict[str, Callable] = {
    "right": right,
    "learnt": learnt,
    "hidden": hidden,
    "bent": bent,
    "cycle": cycle,
    "edge missing": edge_missing,
    "edge turned": edge_turned,
    "turned inside": turned_inside,
    "other graph": other_graph,
}


LEARNT = ("learnt", "hidden", "bent", "cycle")
KEYS = ("case", "noise", "N", "seed")
COLUMNS = (
    *KEYS,
    "alarm",
    "implied independences",
    "overall fit",
    "subsets of variables",
    "linear equations",
    "independent noise",
)


def run(options: argparse.Namespace) -> list[Row]:
    """Check what has not been checked yet, set by set."""
    sets = product(range(options.sets), options.samples, options.noise, options.cases)
    cells = (dict(zip(KEYS, cell[::-1], strict=True)) for cell in sets)

    def measure(case: str, noise: str, seed: int, **samples: int) -> Iterator[Row]:
        data, graph = CASES[case]((seed, noise), samples["N"])
        if graph is not None:
            found = qwo.check(data, graph, n_draws=options.draws, random_state=seed)
            tests = dict.fromkeys(COLUMNS[len(KEYS) + 1 :], "")
            tests |= {test.name: f"{test.p_value:.3g}" for test in found.tests}
            yield {"alarm": int(found.alarm), **tests}

    return extend_rows(options.output, cells, measure)


def p_value(row: Row, test: str) -> float:
    """That of a test; 1 where it was not made."""
    return 1.0 if row[test] == "" else float(row[test])


def smallest(row: Row) -> float:
    return min(p_value(row, test) for test in COLUMNS[len(KEYS) + 1 :])


def area(faults: list[float], controls: list[float]) -> float:
    """How often a case with a fault has the smaller p-value; half of a tie counts."""
    pairs = np.subtract.outer(faults, controls)
    return float((pairs < 0).mean() + (pairs == 0).mean() / 2)


def report(rows: list[Row]) -> None:
    """The share of alarms, the area under the curve, and which tests ring."""
    for noise, n in sorted({(row["noise"], row["N"]) for row in rows}):
        here = [row for row in rows if (row["noise"], row["N"]) == (noise, n)]
        for name in dict.fromkeys(row["case"] for row in here):
            mine = [row for row in here if row["case"] == name]
            control = "learnt" if name in LEARNT else "right"
            controls = [smallest(row) for row in here if row["case"] == control]
            alarms = np.mean([int(row["alarm"]) for row in mine])
            rings = {
                test: np.mean([p_value(row, test) <= 0.01 for row in mine])
                for test in COLUMNS[len(KEYS) + 1 :]
            }
            shown = ", ".join(f"{test} {share:.2f}" for test, share in rings.items() if share)
            roc = area([smallest(row) for row in mine], controls) if controls else np.nan
            print(f"{noise}, N = {n}, {name} ({len(mine)}): alarm {alarms:.2f}, ", end="")
            print(f"area {roc:.2f}; {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000])
    usual = ["normal", "exponential"]
    parser.add_argument("--noise", nargs="+", default=usual, choices=list(NOISE))
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/check.csv"))
    options = parser.parse_args()
    begun = time.process_time()
    report(run(options))
    print(f"{time.process_time() - begun:.0f} s")


if __name__ == "__main__":
    main()
