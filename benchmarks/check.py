"""How often `qwo.check` rings, with and without a fault: python -m benchmarks.check --sets 40.

Random graphs with 10 variables, degree 3; effects ±[0.5, 1.5] on variables of variance 1. Faults:

right          the true graph, given beforehand
learnt         the graph that `discover` finds in the same data
hidden         learnt from a table that lacks two variables with at least two children
bent           learnt; every effect of a cause x is that of x² - 1 + x/2 instead of x
cycle          learnt; one effect feeds back into an ancestor
edge missing   the true graph without its strongest edge
edge turned    the true graph with one compelled edge turned
other graph    a random graph with as many edges
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import qwo
from qwo.graph.dag import ancestor_matrix

N_VARIABLES, DEGREE = 10, 3.0


def sample(dag, weights, n_samples, rng, *, bent=False, feedback=None):
    """Rows of a linear model, or one whose effects are bent, or one with an arrow back."""
    n = len(dag)
    if feedback is not None:
        system = np.eye(n) - weights.T
        cause, effect = feedback
        system[effect, cause] -= 0.6
        return np.linalg.solve(system, rng.normal(size=(n, n_samples))).T
    data = np.zeros((n_samples, n))
    for v in qwo.graph.topological_order(dag):
        parents = data[:, dag[:, v] == 1]
        parents = (parents - parents.mean(0)) / parents.std(0) if parents.size else parents
        shape = (parents**2 - 1 + parents / 2) / 1.5 if bent else parents
        data[:, v] = shape @ weights[dag[:, v] == 1, v] + rng.normal(size=n_samples)
    return data


def model(seed):
    rng = np.random.default_rng([seed, 1])
    _, dag, _ = qwo.simulate(
        "er", n_variables=N_VARIABLES, n_samples=10, degree=DEGREE, random_state=seed
    )
    weights = dag * rng.uniform(0.5, 1.5, dag.shape) * rng.choice([-1, 1], dag.shape)
    return dag, weights, rng


def right(seed, n):
    dag, weights, rng = model(seed)
    return sample(dag, weights, n, rng), dag


def learnt(seed, n):
    data, _ = right(seed, n)
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed)


def hidden(seed, n):
    data, dag = right(seed, n)
    causes = np.argsort(-dag.sum(axis=1), kind="stable")[:2]
    seen = np.delete(data, causes, axis=1)
    return seen, qwo.discover(seen, penalty_discount=2.0, random_state=seed)


def bent(seed, n):
    dag, weights, rng = model(seed)
    data = sample(dag, weights, n, rng, bent=True)
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed)


def cycle(seed, n):
    dag, weights, rng = model(seed)
    far = np.argwhere(ancestor_matrix(dag))
    ancestor, descendant = far[rng.integers(len(far))]
    data = sample(dag, weights * 0.6, n, rng, feedback=(descendant, ancestor))
    return data, qwo.discover(data, penalty_discount=2.0, random_state=seed)


def edge_missing(seed, n):
    dag, weights, rng = model(seed)
    data, wrong = sample(dag, weights, n, rng), dag.copy()
    wrong[np.unravel_index(np.abs(weights).argmax(), weights.shape)] = 0
    return data, wrong


def edge_turned(seed, n):
    data, dag = right(seed, n)
    rng = np.random.default_rng([seed, 2])
    for i, j in rng.permutation(np.argwhere(qwo.to_cpdag(dag) == 1)):
        wrong = dag.copy()
        wrong[i, j], wrong[j, i] = 0, 1
        if not np.linalg.matrix_power(np.eye(len(dag), dtype=int) + wrong, len(dag))[i, j]:
            return data, wrong
    return data, None


def other_graph(seed, n):
    data, dag = right(seed, n)
    shuffled = np.random.default_rng([seed, 3]).permutation(len(dag))
    return data, dag[np.ix_(shuffled, shuffled)]


CASES: dict[str, Callable] = {
    "right": right,
    "learnt": learnt,
    "hidden": hidden,
    "bent": bent,
    "cycle": cycle,
    "edge missing": edge_missing,
    "edge turned": edge_turned,
    "other graph": other_graph,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000])
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/check.csv"))
    options = parser.parse_args()
    rows = []
    for n in options.samples:
        for name in options.cases:
            begin = time.process_time()
            for seed in range(options.sets):
                data, graph = CASES[name](seed, n)
                if graph is None:
                    continue
                found = qwo.check(data, graph, n_draws=options.draws, random_state=seed)
                tests = {test.name: test.p_value for test in found.tests}
                rows.append(
                    {"case": name, "N": n, "seed": seed, "alarm": int(found.alarm), **tests}
                )
            seconds = (time.process_time() - begin) / options.sets
            mine = [row for row in rows if row["case"] == name and row["N"] == n]
            rate = np.mean([row["alarm"] for row in mine])
            print(f"{name}, N = {n}: alarm {rate:.2f} of {len(mine)}, {seconds:.1f} s", flush=True)
            for test in list(mine[0])[4:]:
                rings = np.mean([row.get(test, 1.0) <= 0.05 / 4 for row in mine])
                print(f"    {test}: {rings:.2f}", flush=True)
    names = list(dict.fromkeys(key for row in rows for key in row))
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
