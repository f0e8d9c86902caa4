"""Tables with categories: blocks of columns, codes taken for numbers, and Tetrad's own searches.

Run with ``python -m benchmarks.mixed``. Two families of models on random graphs of average degree
3: *conditional* ones, in which categories depend on their parents by a multinomial logit and shift
the means of their children, and *discretised* ones, linear Gaussian models of which some columns
are cut into categories without an order. SHD counts the pairs of variables whose edge in the CPDAG
is wrong. Tetrad's BOSS and GRaSP (one start) maximise the same degenerate Gaussian score; "gap" is
what their graph scores less than ours, under our own score. Its environment is that of
``python -m benchmarks.peers.environments tetrad``; without it Tetrad is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import qwo
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.timing import print_table
from qwo.moments import Moments

Table = npt.NDArray[np.float64]

SEARCHES = ("boss", "grasp")


class Sample(NamedTuple):
    """A table of numbers and codes, how many levels each column has (0: a number), and its DAG."""

    values: Table
    levels: list[int]
    dag: npt.NDArray[np.int8]


def conditional(dag: npt.NDArray[np.int8], levels: list[int], rows: int, rng: Any) -> Table:
    """Categories by a multinomial logit of their parents; numbers with means shifted by theirs."""
    n = len(dag)
    values, shown = np.empty((rows, n)), np.empty((rows, n), dtype=object)
    for v in qwo.graph.topological_order(dag):
        parents = [shown[:, u] for u in np.flatnonzero(dag[:, v])]
        own = max(levels[v], 1)
        signal = np.zeros((rows, own))
        for u, parent in zip(np.flatnonzero(dag[:, v]), parents, strict=True):
            effects = rng.normal(size=(max(levels[u], 1), own))
            effects *= rng.uniform(0.8, 1.6) / np.abs(effects).mean()
            column = np.stack(parent).astype(float)
            column = column[:, None] if column.ndim == 1 else column
            signal += column @ effects
        if levels[v]:
            noisy = signal + rng.gumbel(size=signal.shape)
            values[:, v] = noisy.argmax(axis=1)
            shown[:, v] = list(np.eye(own)[noisy.argmax(axis=1)])
        else:
            number = signal[:, 0] + rng.normal(size=rows)
            values[:, v] = number
            shown[:, v] = (number - number.mean()) / number.std()
    return values


def discretised(dag: npt.NDArray[np.int8], levels: list[int], rows: int, rng: Any) -> Table:
    """A linear Gaussian model; some columns cut at random quantiles, the pieces in random order."""
    values, _, _ = qwo.simulate(dag, n_samples=rows, random_state=rng, standardize=True)
    for v, own in enumerate(levels):
        if own:
            cuts = np.quantile(values[:, v], np.sort(rng.dirichlet([4.0] * own).cumsum()[:-1]))
            values[:, v] = rng.permutation(own)[np.digitize(values[:, v], cuts)]
    return values


MODELS = {"conditional": conditional, "discretised": discretised}


def draw(model: str, n: int, share: float, rows: int, seed: int) -> Sample:
    """One data set."""
    rng = np.random.default_rng(seed)
    _, dag, _ = qwo.simulate("er", n_variables=n, n_samples=3, degree=3, random_state=rng)
    chosen = rng.permutation(n)[: round(share * n)]
    levels = [int(rng.integers(2, 6)) if v in chosen else 0 for v in range(n)]
    return Sample(MODELS[model](dag, levels, rows, rng), levels, dag)


def moments_of(sample: Sample) -> Moments:
    """Those with categories as such."""
    names = [f"X{v}" for v in range(len(sample.levels))]
    types = {name: "nominal" for name, own in zip(names, sample.levels, strict=True) if own}
    return Moments.from_data(pd.DataFrame(sample.values, columns=names), types=types or None)


def compared(cpdag: Any, sample: Sample) -> list[float]:
    """SHD, and precision and recall of arrows."""
    found = qwo.compare(cpdag, qwo.to_cpdag(sample.dag))
    return [found.shd_cpdag, found.arrowhead.precision, found.arrowhead.recall]


def tetrad(samples: list[Sample], python: Path, discount: float) -> list[dict[str, Any]]:
    """What Tetrad finds in all samples, in one virtual machine: matrices and CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        for k, sample in enumerate(samples):
            np.savez(Path(folder, f"{k}.npz"), values=sample.values, levels=sample.levels)
        command = [str(python), "-m", "benchmarks.mixed_tetrad", folder, str(discount), *SEARCHES]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measured(samples: list[Sample], python: Path | None) -> Iterator[tuple[str, list[float]]]:
    """For each method and sample: SHD, arrow precision and recall, gap, CPU seconds."""
    best = []
    for seed, sample in enumerate(samples):
        moments = moments_of(sample)
        started = time.process_time()
        found = qwo.discover(moments, penalty_discount=2.0, random_state=seed)
        seconds = time.process_time() - started
        best.append((moments, found.score))
        yield "blocks", [*compared(found.cpdag, sample), 0.0, seconds]
        started = time.process_time()
        once = qwo.discover(moments, penalty_discount=2.0, restarts=0, random_state=seed)
        seconds = time.process_time() - started
        yield (
            "blocks, one start",
            [
                *compared(once.cpdag, sample),
                found.score - once.score,
                seconds,
            ],
        )
        started = time.process_time()
        codes = qwo.discover(sample.values, penalty_discount=2.0, random_state=seed)
        yield (
            "codes as numbers",
            [
                *compared(codes.cpdag, sample),
                np.nan,
                time.process_time() - started,
            ],
        )
    for answer in [] if python is None else tetrad(samples, python, 2.0):
        moments, score = best[answer["sample"]]
        cpdag = np.array(answer["graph"], dtype=np.int8)
        try:
            gap = score - qwo.score_graph(moments, cpdag).score
        except qwo.InputError:
            gap = np.nan
        measures = compared(cpdag, samples[answer["sample"]])
        yield f"Tetrad {answer['search']}", [*measures, gap, answer["seconds"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--tetrad", type=Path, help="The Python of Tetrad's environment.")
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    python = options.tetrad
    if python is None and ENVIRONMENTS["tetrad"].is_ready:
        python = ENVIRONMENTS["tetrad"].python
    rows = []
    for model in MODELS:
        for share in options.shares:
            for size in options.samples:
                samples = [
                    draw(model, options.variables, share, size, seed)
                    for seed in range(options.models)
                ]
                found: dict[str, list[list[float]]] = {}
                for method, values in measured(samples, python):
                    found.setdefault(method, []).append(values)
                for method, values in found.items():
                    shd, precision, recall, gap, seconds = np.mean(values, axis=0)
                    error = np.std([v[0] for v in values]) / np.sqrt(len(values))
                    worse = sum(v[3] < -1e-6 for v in values)
                    rows.append(
                        [
                            model,
                            f"{share:.0%}",
                            str(size),
                            method,
                            f"{shd:.2f} ± {error:.2f}",
                            f"{precision:.2f}",
                            f"{recall:.2f}",
                            f"{gap:.1f}",
                            str(worse),
                            f"{seconds:.3f}",
                        ]
                    )
                    print(*rows[-1], flush=True)
    header = [
        "model",
        "categories",
        "N",
        "method",
        "SHD",
        "precision",
        "recall",
        "gap",
        "better",
        "CPU",
    ]
    print_table(header, rows)


if __name__ == "__main__":
    main()
