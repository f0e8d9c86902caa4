"""What a GPU saves: `qwo.discover` with device="cpu" and device="gpu", time and accuracy.

    python -m benchmarks.gpu --sizes 2000 10000 20000 --out benchmarks/results

For each number of variables n: a random linear Gaussian model (ER4), N = 5 n samples drawn from it,
and their correlation matrix, from which the search begins. Times are by the wall clock, after a
small search on each device that compiles and warms up. Results are added to gpu.json in the folder
after each run, so that sizes may be measured by one command or by several. ``--stand-in`` puts
NumPy in the place of CuPy, to try the benchmark itself on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import qwo
from qwo.compute import array_module, computing_with, to_host
from qwo.graph.compare import skeleton_f1
from qwo.simulation.random_models import random_dag
from qwo.types import Adjacency

SAMPLES_PER_VARIABLE = 5
DEGREE = 4.0
ROWS = 4096
WARM_UP = 1100
"""Variables of the first search: just enough for lists of candidates."""

MOMENTS_ROWS = 20_000


class NumpyAsCupy(ModuleType):
    """NumPy under the name of CuPy, with a device that is none."""

    def __init__(self) -> None:
        super().__init__("cupy")
        runtime = SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError)
        self.cuda = SimpleNamespace(runtime=runtime)
        self.__version__ = f"NumPy {np.__version__} in its place"

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def main() -> int:
    options = arguments()
    if options.stand_in:
        sys.modules["cupy"] = NumpyAsCupy()
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "gpu.json"
    results: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}
    results["machine"] = machine(options.devices)
    failed = False
    for device in options.devices:
        failed |= "error" in attempt(device, min(WARM_UP, max(options.sizes)), options.seed + 1)
    for n in options.sizes:
        for device in options.devices:
            figures = attempt(device, n, options.seed)
            failed |= "error" in figures
            results.setdefault(str(n), {})[device] = figures
            target.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(n, device, figures, flush=True)
    return int(failed)


def arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 10_000, 20_000])
    parser.add_argument("--devices", nargs="+", default=["gpu", "cpu"], choices=["cpu", "gpu"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--stand-in", action="store_true", help="NumPy in the place of CuPy")
    return parser.parse_args()


def machine(devices: list[str]) -> dict[str, Any]:
    """What the figures were measured on."""
    found: dict[str, Any] = {"cpus": os.cpu_count(), "python": platform.python_version()}
    found["processor"] = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    if "gpu" in devices:
        try:
            cupy = array_module("gpu")
            found["cupy"] = cupy.__version__
            found["gpu"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        except Exception as error:  # noqa: BLE001
            found["gpu"] = f"{type(error).__name__}: {error}"
    return found


def attempt(device: str, n: int, seed: int) -> dict[str, Any]:
    """One measurement; a failure is a result, too, and the others go on."""
    try:
        return measure(device, n, seed)
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}


def measure(device: str, n: int, seed: int) -> dict[str, Any]:
    """A search from the correlation matrix in the host's memory to the graph."""
    xp = array_module(device)
    moments, dag = drawn(n, seed)
    begin = time.perf_counter()
    found = qwo.discover(moments, penalty_discount=2.0, device=device, n_jobs=-1, random_state=0)
    seconds = time.perf_counter() - begin
    return {
        "N": int(moments.n_samples),
        "seconds": round(seconds, 3),
        "skeleton F1": round(skeleton_f1(found.dag, dag), 5),
        "edges": found.n_edges,
        "true edges": int(dag.sum()),
        "score": found.score,
        "status": found.status,
        "moments seconds": round(moments_seconds(n, xp), 3) if n <= 10_000 else None,
    }


def drawn(n: int, seed: int) -> tuple[qwo.Moments, Adjacency]:
    """Moments of N = 5 n samples of a random model, and its DAG; the same for every device.

    Samples are drawn where it is fastest, and so differ between machines with and without a GPU.
    """
    try:
        xp = array_module("gpu")
    except qwo.InputError:
        xp = np
    rng = np.random.default_rng(seed)
    dag = random_dag("er", n, DEGREE, True, rng)
    weights = np.zeros(dag.shape)
    edges = np.nonzero(dag)
    weights[edges] = rng.uniform(0.5, 2.0, len(edges[0])) * rng.choice([-1, 1], len(edges[0]))
    mixing = xp.linalg.inv(xp.eye(n) - xp.asarray(weights))
    scale = xp.asarray(np.sqrt(rng.uniform(1.0, 2.0, n)))
    noise, scatter = xp.random.default_rng(seed), xp.zeros((n, n))
    n_samples = SAMPLES_PER_VARIABLE * n
    for first in range(0, n_samples, ROWS):
        rows = (noise.standard_normal((min(ROWS, n_samples - first), n)) * scale) @ mixing
        scatter += rows.T @ rows
    spread = xp.sqrt(xp.diagonal(scatter))
    correlation = to_host((scatter + scatter.T) / (2 * spread[:, None] * spread))
    np.fill_diagonal(correlation, 1.0)
    names = tuple(f"X{k}" for k in range(n))
    return qwo.Moments(names, float(n_samples), np.zeros(n), np.ones(n), correlation), dag


def moments_seconds(n: int, xp: Any) -> float:
    """Seconds from rows in the host's memory to their moments, audit and all."""
    data = np.random.default_rng(0).standard_normal((MOMENTS_ROWS, n))
    begin = time.perf_counter()
    with computing_with(xp):
        qwo.Moments.from_data(data)
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
