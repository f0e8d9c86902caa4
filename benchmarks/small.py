"""``python -m benchmarks.small``: what a call of `discover` costs on few variables.

Processor time of one thread, the lower quartile of 200 calls on ten data sets of 1000 rows. What is
spent beside the search is the same however hard the search is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import qwo
from benchmarks.timing import print_table

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


def main() -> None:
    """Print a row for each number of variables."""
    rows = []
    for n in SIZES:
        times: dict[str, list[float]] = {}
        for seed in range(SETS):
            data = qwo.simulate("er", n_variables=n, n_samples=1000, random_state=seed).data
            moments = qwo.Moments.from_data(data)
            calls: dict[str, Callable[[], object]] = {
                "array": lambda data=data: qwo.discover(data, random_state=0),
                "moments": lambda own=moments: qwo.discover(own, random_state=0),
                "moments, price given": lambda own=moments: qwo.discover(
                    own, penalty_discount=2.0, random_state=0
                ),
                "Moments.from_data": lambda data=data: qwo.Moments.from_data(data),
            }
            for name, call in calls.items():
                times.setdefault(name, []).extend(milliseconds(call))
        quartiles = [f"{np.quantile(own, 0.25):.2f} ms" for own in times.values()]
        rows.append([str(n), *quartiles])
    print_table(["n", *times], rows)


if __name__ == "__main__":
    main()
