"""``python -m benchmarks.small``: what a call of `discover` costs on few variables.

Processor time of one thread, the lower quartile of 200 calls on ten data sets of 1000 rows. What is
spent beside the search is the same however hard the search is. Beside it FLOP with 20 restarts at
penalty 2, if `benchmarks.peers.environments` has made its environment: the same of 20 parts of a
second, in which it is called over and over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import qwo
from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.methods import FLOP
from benchmarks.peers.process import Workers
from benchmarks.timing import print_table
from qwo.types import FloatArray

SIZES = (5, 10, 12, 20)
SETS, CALLS = 10, 20


def milliseconds(call: Callable[[], object]) -> list[float]:
    """The processor time of each of some calls."""
    times = []
    for _ in range(CALLS):
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return times


def by_flop(data: FloatArray, workers: Workers) -> list[float]:
    """The processor time of a call of FLOP in each of two parts of a second."""
    with TemporaryDirectory() as folder:
        given, found = Path(folder, "data.npy"), Path(folder, "graph.npy")
        np.save(given, data)
        paths = {"data": str(given), "graph": str(found), "repeat": 0.05}
        answers = [workers["flop"].ask(FLOP[1].request(2.0, 0) | paths) for _ in range(2)]
    return [1e3 * float(answer["cpu"]) for answer in answers]


def main() -> None:
    """Print a row for each number of variables."""
    rows, pythons = [], ready_pythons()
    with Workers(pythons) as workers:
        for n in SIZES:
            times: dict[str, list[float]] = {}
            for seed in range(SETS):
                data = qwo.simulate("er", n_variables=n, n_samples=1000, random_state=seed).data
                moments = qwo.Moments.from_data(data)
                calls: dict[str, Callable[[], object]] = {
                    "array": partial(qwo.discover, data, random_state=0),
                    "array, price given": partial(
                        qwo.discover, data, penalty_discount=2.0, random_state=0
                    ),
                    "moments": partial(qwo.discover, moments, random_state=0),
                    "Moments.from_data": partial(qwo.Moments.from_data, data),
                }
                for name, call in calls.items():
                    times.setdefault(name, []).extend(milliseconds(call))
                if "flop" in pythons:
                    times.setdefault("FLOP 20", []).extend(by_flop(data, workers))
            quartiles = [f"{np.quantile(own, 0.25):.2f} ms" for own in times.values()]
            rows.append([str(n), *quartiles])
    print_table(["n", *times], rows)


if __name__ == "__main__":
    main()
