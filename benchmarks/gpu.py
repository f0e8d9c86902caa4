"""The GPU engine measured: time of moments and scans, and whole searches with their accuracy.

    python -m benchmarks.gpu 1000 10000 20000 > gpu.json

For each number of variables n: a random linear Gaussian model (ER4), N = 5 n samples drawn and
their covariance computed on the device. Scans are timed with CUDA events after a warm-up, the
median of five; searches by the wall clock, from the correlation matrix in the host's memory to the
DAG, compiled kernels and all. What the factor costs to read once is compared with the bandwidth of
a copy on the same device.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from qwo import Moments
from qwo.graph.distances import skeleton_f1
from qwo.order.device import GpuEngine, gpu_moments
from qwo.order.device.cuda import load_cupy
from qwo.order.objective import ObjectiveName
from qwo.search.batch_insertion import batch_insertion
from qwo.simulation.random_graphs import random_dag

SAMPLES_PER_VARIABLE = 5
ROWS = 4096
BATCH = 128


def main(sizes: list[int]) -> None:
    cp = load_cupy()
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    results: dict[str, Any] = {"device": device, "cupy": cp.__version__, "copy": copy_speed()}
    searched(*drawn(200, 1), {})  # compiles
    for n in sizes:
        moments, dag = drawn(n, seed=5)
        figures: dict[str, Any] = {"N": int(moments.n_samples)}
        figures["moments"] = moments_speed(n)
        for objective in ("edges", "likelihood"):
            figures[f"scan {objective}"] = scan_speed(moments, objective)
        figures["searches"] = [
            searched(moments, dag, test)
            for test in ({"penalty_discount": 2.0}, {"alpha": 2 / n**2})
        ]
        results[str(n)] = figures
        print(n, figures, file=sys.stderr, flush=True)
    print(json.dumps(results, indent=1))


def drawn(n: int, seed: int) -> tuple[Moments, Any]:
    """Moments of N = 5 n samples of a random model, and its DAG."""
    cp = load_cupy()
    rng = np.random.default_rng(seed)
    dag = random_dag("er", n, 4.0, True, rng)
    weights = np.zeros(dag.shape)
    edges = np.nonzero(dag)
    weights[edges] = rng.uniform(0.5, 2.0, len(edges[0])) * rng.choice([-1, 1], len(edges[0]))
    mixing = cp.linalg.inv(cp.eye(n) - cp.asarray(weights))
    scale = cp.asarray(np.sqrt(rng.uniform(1.0, 2.0, n)))
    noise, scatter = cp.random.default_rng(seed), cp.zeros((n, n))
    n_samples = SAMPLES_PER_VARIABLE * n
    for first in range(0, n_samples, ROWS):
        rows = (noise.standard_normal((min(ROWS, n_samples - first), n)) * scale) @ mixing
        scatter += rows.T @ rows
    spread = cp.sqrt(cp.diag(scatter))
    correlation = scatter / (spread[:, None] * spread)
    correlation = cp.asnumpy((correlation + correlation.T) / 2)
    np.fill_diagonal(correlation, 1.0)
    names = tuple(f"X{k}" for k in range(n))
    return Moments(names, float(n_samples), np.zeros(n), np.ones(n), correlation), dag


def copy_speed() -> float:
    """Bytes per second, read and written, of a copy on the device."""
    source = load_cupy().zeros(2**27)
    return float(2 * source.nbytes / (median_ms(source.copy) / 1e3))


def moments_speed(n: int) -> dict[str, float]:
    """Seconds for the moments of 20,000 rows, on the device and by NumPy on the host."""
    data = np.random.default_rng(0).normal(size=(20_000, n))
    seconds = {}
    for name, compute in (("gpu", gpu_moments), ("numpy", lambda x: np.corrcoef(x, rowvar=False))):
        begin = time.perf_counter()
        compute(data)
        seconds[name] = time.perf_counter() - begin
    return seconds


def scan_speed(moments: Moments, objective: ObjectiveName) -> dict[str, float]:
    """Milliseconds for all places of one variable and of a batch, and seconds for all variables."""
    n = moments.n_variables
    order = np.random.default_rng(0).permutation(n)
    engine = GpuEngine(moments, objective=objective, order=order, penalty_discount=2.0)
    one, batch = order[:1], order[:BATCH]
    lone = median_ms(lambda: engine.scan_best(one))
    many = median_ms(lambda: engine.scan_best(batch))
    return {"one ms": lone, f"batch of {BATCH} ms": many, "all s": many * n / BATCH / 1e3}


def median_ms(run: Callable[[], object], repeats: int = 5) -> float:
    """The median time on the device, after a warm-up."""
    cp = load_cupy()
    times = []
    for repeat in range(repeats + 1):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        if repeat:
            times.append(cp.cuda.get_elapsed_time(begin, end))
    return float(np.median(times))


def searched(moments: Moments, dag: Any, test: dict[str, float]) -> dict[str, Any]:
    """A search from the R² order to a local optimum of the edge count."""
    begin = time.perf_counter()
    engine = GpuEngine(moments, objective="edges", **test)
    outcome = batch_insertion(engine, random_state=0)
    found = engine.dag()
    return {
        **test,
        "seconds": time.perf_counter() - begin,
        "skeleton F1": skeleton_f1(found, dag),
        "edges": int(found.sum()),
        "true edges": int(dag.sum()),
        "moves": outcome.n_moves,
        "scans": outcome.n_evaluations // moments.n_variables,
        "status": outcome.status,
    }


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
