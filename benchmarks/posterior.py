"""The posterior: is it calibrated, how long does it take, do its chains agree?

    python -m benchmarks.posterior calibration [--sets 40 20 5]
    python -m benchmarks.posterior time
    python -m benchmarks.posterior distance [--sets 10]

Calibration: models drawn from the prior (DAGs with κ to the number of edges, coefficients of BGe),
and random graphs of average degree 3 with coefficients of at least 0.5; N = 100 (n = 10, 20) and
200 (n = 50). Beside it the bootstrap with replacement and on halves, 100 resamples each, on the
same data; an undirected edge counts half for each direction, and the log loss takes probabilities
clipped to [0.005, 0.995]. Time is that of the processor, for whole calls of `qwo.posterior`.
Distance is the SHD of the graph of least expected SHD, and of `qwo.discover`, from the true CPDAG.
Results go to benchmarks/results/posterior-*.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.timing import print_table
from qwo.graph.dag import topological_order
from qwo.types import Adjacency, FloatArray

RESULTS = Path(__file__).parent / "results"
CLIP = 0.005
SETTINGS = ((10, 100), (20, 100), (50, 200))
PRIOR_T = 0.1

Judge = Callable[[FloatArray], FloatArray]


def prior_dag(n: int, rng: np.random.Generator) -> Adjacency:
    """A DAG with probability proportional to κ^edges, by adding and dropping single edges."""
    odds = 1 / (2 * (n - 1))
    dag = np.zeros((n, n), dtype=np.int8)
    for _ in range(40 * n * n):
        i, j = rng.integers(n, size=2)
        if dag[i, j]:
            dag[i, j] = 0
        elif i != j and not dag[j, i] and rng.random() < odds and not reaches(dag, j, i):
            dag[i, j] = 1
    return dag


def reaches(dag: Adjacency, start: int, end: int) -> bool:
    stack, seen = [start], {start}
    while stack:
        v = stack.pop()
        if v == end:
            return True
        fresh = set(np.flatnonzero(dag[v]).tolist()) - seen
        seen |= fresh
        stack += fresh
    return False


def prior_sample(n: int, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, Adjacency]:
    """A DAG of the prior, coefficients of BGe with T = tI, and rows of that model."""
    dag = prior_dag(n, rng)
    rows = np.zeros((n_samples, n))
    for v in topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        variance = PRIOR_T / 2 / rng.gamma((len(parents) + 3) / 2)
        slopes = rng.normal(size=len(parents)) * np.sqrt(variance / PRIOR_T)
        rows[:, v] = rows[:, parents] @ slopes + np.sqrt(variance) * rng.normal(size=n_samples)
    return rows, dag


def er_sample(n: int, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, Adjacency]:
    data, dag, _ = qwo.simulate(
        "er",
        n_variables=n,
        n_samples=n_samples,
        degree=3,
        standardize=True,
        random_state=int(rng.integers(2**31)),
    )
    return data, dag


def posterior_edges(data: FloatArray) -> FloatArray:
    return qwo.posterior(data, random_state=1).edge_probabilities


def bootstrap_edges(**how: Any) -> Judge:
    def edges(data: FloatArray) -> FloatArray:
        found = qwo.bootstrap(data, n_resamples=100, random_state=1, **how)
        return found.arrow_support + found.undirected_support / 2

    return edges


METHODS: dict[str, Judge] = {
    "posterior": posterior_edges,
    "replacement": bootstrap_edges(resampling="replacement"),
    "halves": bootstrap_edges(resampling="halves"),
}


def expected_calibration_error(p: FloatArray, truth: FloatArray, bins: int = 10) -> float:
    """Mean over predictions of |mean probability - share that is true| of their tenth."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [
        (place == b).mean() * abs(p[place == b].mean() - truth[place == b].mean())
        for b in np.unique(place)
    ]
    return float(np.sum(gaps))


def judge(p: FloatArray, truth: FloatArray) -> dict[str, float]:
    clipped = np.clip(p, CLIP, 1 - CLIP)
    loss = -np.where(truth > 0, np.log(clipped), np.log1p(-clipped))
    unsure = (p > 0.02) & (p < 0.98)
    return {
        "log_loss": float(loss.mean()),
        "brier": float(((p - truth) ** 2).mean()),
        "ece": expected_calibration_error(p, truth),
        "ece_unsure": expected_calibration_error(p[unsure], truth[unsure]),
        "n_unsure": int(unsure.sum()),
    }


def calibration(sets: list[int]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for model, sample in (("prior", prior_sample), ("er", er_sample)):
        for (n, n_samples), count in zip(SETTINGS, sets, strict=True):
            rng = np.random.default_rng([n, 7])
            problems = [sample(n, n_samples, rng) for _ in range(count)]
            upper = np.triu_indices(n, 1)
            off = ~np.eye(n, dtype=bool)
            for name, method in METHODS.items():
                started = time.process_time()
                found = [method(data) for data, _ in problems]
                seconds = (time.process_time() - started) / count
                links = np.concatenate([(p + p.T)[upper] for p in found])
                true_links = np.concatenate([(d + d.T)[upper] for _, d in problems])
                edges = np.concatenate([p[off] for p in found])
                true_edges = np.concatenate([d[off] for _, d in problems])
                for what, p, truth in (
                    ("link", links, true_links),
                    ("edge", edges, true_edges),
                ):
                    rows.append(
                        {
                            "model": model,
                            "n": n,
                            "samples": n_samples,
                            "sets": count,
                            "method": name,
                            "of": what,
                            **judge(np.minimum(p, 1), truth.astype(float)),
                            "seconds": seconds,
                        }
                    )
                    print(rows[-1], flush=True)
    return rows


def families(sizes: Iterable[int]) -> Iterable[tuple[str, int, int, int]]:
    for n in sizes:
        for graph in ("er", "scale-free"):
            for n_samples in (200, 1000):
                yield graph, n, n_samples, 1000 + n


def times() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for graph, n, n_samples, seed in families((20, 50, 100, 200)):
        data, _, _ = qwo.simulate(
            graph,
            n_variables=n,
            n_samples=n_samples,
            degree=4,
            standardize=True,
            random_state=seed,
        )
        moments = qwo.Moments.from_data(data)
        started = time.process_time()
        found = qwo.posterior(moments, random_state=1)
        seconds = time.process_time() - started
        started = time.process_time()
        qwo.discover(moments, penalty_discount=2.0, random_state=1)
        discovery = time.process_time() - started
        p = found.edge_probabilities
        unsure = (p > CLIP) & (p < 1 - CLIP)
        rhat = found.rhat[unsure]
        rows.append(
            {
                "graph": graph,
                "n": n,
                "samples": n_samples,
                "seconds": seconds,
                "discover": discovery,
                "longest_list": max(len(listed) for listed in found.candidates),
                "core": sum(len(core) for core in found.core),
                "unsure": int(unsure.sum()),
                "agreeing": float((rhat < 1.05).mean()) if rhat.size else 1.0,
                "rhat_99": found.to_dict()["rhat_99"],
                "least_ess": found.to_dict()["least_ess"],
                "sweeps_per_draw": found.params["sweeps_per_draw"],
                "outside": found.largest_outside,
                "t": found.params["t"],
            }
        )
        print(rows[-1], flush=True)
    return rows


def shd(first: Adjacency, second: Adjacency) -> int:
    return int(np.triu((first != second) | (first.T != second.T), 1).sum())


def distances(count: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for graph, n, n_samples, seed in families((50, 100)):
        for k in range(count):
            data, dag, _ = qwo.simulate(
                graph,
                n_variables=n,
                n_samples=n_samples,
                degree=4,
                standardize=True,
                random_state=10 * seed + k,
            )
            moments = qwo.Moments.from_data(data)
            truth = qwo.to_cpdag(dag)
            found = qwo.posterior(moments, random_state=1)
            bic = qwo.posterior(moments, random_state=1, score="bic", penalty_discount=1.5)
            rows.append(
                {
                    "graph": graph,
                    "n": n,
                    "samples": n_samples,
                    "set": k,
                    "posterior": shd(found.least_shd_graph.matrix, truth),
                    "expected": found.expected_shd,
                    "bic_posterior": shd(bic.least_shd_graph.matrix, truth),
                    "discover": shd(
                        qwo.discover(moments, penalty_discount=2.0, random_state=1).cpdag, truth
                    ),
                }
            )
        last = rows[-count:]
        means = {
            m: np.mean([r[m] for r in last]) for m in ("posterior", "bic_posterior", "discover")
        }
        print(graph, n, n_samples, means, flush=True)
    return rows


def write(name: str, rows: list[dict[str, object]]) -> None:
    with (RESULTS / f"posterior-{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("calibration", "time", "distance"))
    parser.add_argument("--sets", type=int, nargs="+")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    if arguments.what == "calibration":
        rows = calibration(arguments.sets or [40, 20, 5])
    elif arguments.what == "time":
        rows = times()
    else:
        rows = distances((arguments.sets or [10])[0])
    write(arguments.what, rows)
    print_table(list(rows[0]), [[shown(value) for value in row.values()] for row in rows])


def shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
