"""A thousand bootstrap replicates against a thousand single runs, and a run that is killed.

    python -m benchmarks.bootstrap [--replicates 1000] [--jobs 2]

Data: Erdős–Rényi graphs of 50 variables, average degree 4, 1000 and 10000 samples. Single runs are
calls of ``qwo.discover``, one after the other in this process, with one BLAS thread: of the data as
they are, and of rows drawn with replacement, whose graphs have more edges and take longer. The
bootstrap learns as many graphs from resamples; the graph of all data and the start of its workers
are included. Wall times; for what runs in this process, processor time in brackets, which leaves
out what else the machine is doing. The ratio is that of single runs on drawn rows to the bootstrap
with several workers. Then a run in a process of its own is killed when a third of it is done, and
resumed: its table must be that of the unbroken run.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import qwo
from benchmarks.timing import print_table, readable
from qwo.resample import Bootstrap, bootstrap

SEED = 1

KILLED = """
import sys
import numpy as np
from qwo.resample import bootstrap

def tell(progress):
    print(progress.n_done, flush=True)

if __name__ == "__main__":
    data, file, replicates, jobs = sys.argv[1:]
    bootstrap(np.load(data), n_resamples=int(replicates), penalty_discount=2.0, random_state=1,
              n_jobs=int(jobs), checkpoint=file, callback=tell)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [measure(n_samples, options.replicates, options.jobs) for n_samples in (1000, 10000)]
    print_table(
        [
            "N",
            "single runs, the data",
            "single runs, drawn rows",
            "bootstrap, 1 worker",
            f"{options.jobs} workers",
            "ratio",
            "killed and resumed",
        ],
        rows,
    )


def measure(n_samples: int, replicates: int, jobs: int) -> list[str]:
    """One line of the table."""
    data, _, _ = qwo.simulate(
        "er", n_variables=50, n_samples=n_samples, degree=4, random_state=SEED
    )
    data = np.asarray(data)
    with threadpool_limits(1):
        single, _ = timed(
            lambda: [
                qwo.discover(data, penalty_discount=2.0, random_state=s) for s in range(replicates)
            ]
        )
        drawn, _ = timed(
            lambda: [
                qwo.discover(drawn_rows(data, s), penalty_discount=2.0) for s in range(replicates)
            ]
        )
        alone, here = timed(
            lambda: bootstrap(data, n_resamples=replicates, penalty_discount=2.0, random_state=SEED)
        )
    shared, there = timed(
        lambda: bootstrap(
            data, n_resamples=replicates, penalty_discount=2.0, random_state=SEED, n_jobs=jobs
        )
    )
    assert isinstance(here, Bootstrap)
    assert isinstance(there, Bootstrap)
    assert same_table(here, there), "the table depends on the number of workers"
    killed_at = resume_after_kill(data, replicates, jobs, here)
    return [
        f"{n_samples}",
        *(f"{readable(t.wall)} ({readable(t.processor)})" for t in (single, drawn, alone)),
        readable(shared.wall),
        f"{drawn.wall / shared.wall:.2f}",
        f"same table (killed at {killed_at})",
    ]


def drawn_rows(data: np.ndarray, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).integers(len(data), size=len(data))
    return np.asarray(data[rows])


class Duration(NamedTuple):
    wall: float
    processor: float


def timed(task: Callable[[], object]) -> tuple[Duration, object]:
    wall, processor = time.perf_counter(), time.process_time()
    result = task()
    return Duration(time.perf_counter() - wall, time.process_time() - processor), result


def resume_after_kill(data: np.ndarray, replicates: int, jobs: int, whole: Bootstrap) -> int:
    """After how many saved replicates a run was killed; fails unless it resumes to the table."""
    with tempfile.TemporaryDirectory() as folder:
        table, file = Path(folder, "data.npy"), Path(folder, "run.npz")
        np.save(table, data)
        command = [sys.executable, "-c", KILLED, str(table), str(file), str(replicates), str(jobs)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) >= replicates / 3 and file.exists():
                    os.killpg(process.pid, signal.SIGKILL)
                    break
        stored = Bootstrap.load(file)
        assert 0 < stored.n_done < replicates, "the run was not killed in its midst"
        resumed = bootstrap(
            data, n_resamples=replicates, penalty_discount=2.0, n_jobs=jobs, checkpoint=file
        )
        assert same_table(resumed, whole), "the resumed run has another table"
        return stored.n_done


def same_table(first: Bootstrap, second: Bootstrap) -> bool:
    return first.to_records() == second.to_records() and bool(
        np.array_equal(first.directed_counts, second.directed_counts)
        and np.array_equal(first.undirected_counts, second.undirected_counts)
    )


if __name__ == "__main__":
    main()
