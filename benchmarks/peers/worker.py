"""One run of one tool, in a process of its own: ``python -m benchmarks.peers.worker JOB``.

JOB is a JSON object with the tool, the files of the data and of the graph to write, and the
options. The figures go to standard output as a JSON object. Whoever starts this process sets the
number of threads. It runs in the environments of other tools, so it imports nothing of ours unless
it is asked to.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Run = Callable[[npt.NDArray[np.float64]], npt.NDArray[Any]]


def main(job: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a run; a tool that refuses the data is quoted."""
    run, build = TOOLS[job["tool"]](job)
    data = np.load(job["data"])
    run(np.random.default_rng(0).normal(size=(200, 5)))
    _reset_peak()
    before = _peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        cpdag, error = run(data), ""
    except (RuntimeError, ValueError) as refusal:
        cpdag, error = None, str(refusal)
    figures = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "memory": _peak_bytes() - before,
        "error": error,
        "build": f"{build}; Python {platform.python_version()}, NumPy {np.__version__}",
    }
    if cpdag is not None:
        np.save(job["graph"], np.asarray(cpdag).astype(np.int8))
    return figures


def _qwo(job: Mapping[str, Any]) -> tuple[Run, str]:
    import qwo
    from qwo import _core
    from qwo.order.build import versions

    options = {name: job[name] for name in ("restarts", "gamma") if job[name] is not None}
    found = versions()
    core = found["core"]

    def run(data: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        return qwo.discover(
            data, penalty_discount=job["penalty"], random_state=job["seed"], **options
        ).cpdag

    # The version stays the same between releases; the files tell two states apart.
    sources = sorted(Path(str(qwo.__file__)).parent.rglob("*.py"))
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in [Path(str(_core.__file__)), *sources]))
    build = f"qwo {found['qwo']} ({digest.hexdigest()[:8]}), {core['compiler']}"
    return run, f"{build} {core['build_type']}, {core['kernels']}"


def _flop(job: Mapping[str, Any]) -> tuple[Run, str]:
    import flopsearch  # type: ignore[import-not-found]

    def run(data: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        graph: npt.NDArray[Any] = flopsearch.flop(data, job["penalty"], restarts=job["restarts"])
        return graph

    return run, f"flopsearch {version('flopsearch')}"


TOOLS = {"qwo": _qwo, "flop": _flop}


def _reset_peak() -> None:
    """Let the peak of the resident memory start anew (Linux)."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def _peak_bytes() -> float:
    """The peak of the resident memory; that of getrusage begins with the parent's at a fork."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return 1024.0 * int(line.split()[1])


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
