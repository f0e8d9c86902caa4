"""Covariance of files read in pieces, against NumPy's covariance of the same data in memory.

Run with ``python -m benchmarks.streaming``. Each task runs in turn, three times over, and the
fastest run of each counts; the files are in the cache of the operating system. GB/s are of float64
numbers, 8 bytes each, whatever they take in the file. Work is the time of all processors together,
which says more than the clock where others use the machine, and most with ``--one-thread``, since
threads that wait for each other work, too. The answer is checked against NumPy's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from benchmarks.timing import print_table, readable
from qwo.moments import Moments

SIZES = ((10, 4_000_000), (50, 1_000_000), (200, 250_000), (1000, 50_000))
REPEATS = 3


def fastest(tasks: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """The shortest time of each task and its least work.

    The tasks take turns, so that all meet the same machine.
    """
    infinite = float("inf")
    times = dict.fromkeys(tasks, (infinite, infinite))
    for _ in range(REPEATS):
        for name, task in tasks.items():
            start, work = time.perf_counter(), time.process_time()
            task()
            spent = time.perf_counter() - start, time.process_time() - work
            times[name] = min(times[name][0], spent[0]), min(times[name][1], spent[1])
    return times


def measure(n: int, n_rows: int, folder: Path, n_jobs: int) -> list[list[str]]:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((n, n_rows))
    data[1:] += 0.5 * data[:-1]
    table = pa.table({f"v{k}": column for k, column in enumerate(data)})
    parquet, text = folder / "t.parquet", folder / "t.csv"
    pq.write_table(table, parquet)
    pcsv.write_csv(table, text)
    del table
    expected = np.corrcoef(data)
    for file in (parquet, text):
        found = Moments.from_dataset(file).correlation
        assert np.abs(found - expected).max() < 1e-9, "the answer is wrong"
    rows = data.T
    times = fastest(
        {
            "numpy.cov, in memory": lambda: np.cov(data),
            "Moments.from_data, in memory": lambda: Moments.from_data(rows),
            "pyarrow reads Parquet, no sums": lambda: pq.read_table(parquet),
            "Moments.from_dataset, Parquet": lambda: Moments.from_dataset(parquet, n_jobs=n_jobs),
            "pyarrow reads CSV, no sums": lambda: pcsv.read_csv(text),
            "Moments.from_dataset, CSV": lambda: Moments.from_dataset(text, n_jobs=n_jobs),
        }
    )
    base, base_work = times["numpy.cov, in memory"]
    return [
        [
            name,
            readable(spent),
            f"{spent / base:.2f}",
            f"{work / base_work:.2f}",
            f"{1e9 * work / data.size:.1f} ns",
            f"{data.nbytes / spent / 1e9:.2f}",
        ]
        for name, (spent, work) in times.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows to use")
    parser.add_argument("--one-thread", action="store_true", help="of BLAS, pyarrow and ours")
    options = parser.parse_args()
    if options.one_thread:
        pa.set_cpu_count(1)
    print(f"{1 if options.one_thread else os.cpu_count()} processors\n")
    header = ["task", "time", "ratio to numpy.cov", "ratio of work", "work per number", "GB/s"]
    for n, n_rows in SIZES:
        n_used = int(n_rows * options.share)
        with (
            tempfile.TemporaryDirectory() as folder,
            threadpool_limits(1 if options.one_thread else None),
        ):
            rows = measure(n, n_used, Path(folder), 1 if options.one_thread else -1)
        print(f"{n} variables, {n_used} rows\n")
        print_table(header, rows)


if __name__ == "__main__":
    main()
