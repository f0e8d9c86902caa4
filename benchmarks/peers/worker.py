"""A process that runs one tool after another: ``python -m benchmarks.peers.worker``.

Requests and answers are JSON objects, one a line, on standard input and output. It runs in the
environments of other tools, so it imports nothing of ours unless it is asked to. Whoever starts it
sets the number of threads and kills it when it takes too long.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import Call, Memory

Answer = dict[str, Any]

WARM_UP_DEGREE = 4.0
SHORT_SECONDS = 0.1
"""Shorter calls are repeated up to this time: the system's clocks of processor time are coarse."""


def serve() -> None:
    """Answer requests until there are no more."""
    # Whatever a tool prints goes to standard error; the answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    warm: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = TASKS[request["task"]](request, warm)
        except Exception as error:  # noqa: BLE001 (it is the tool's answer)
            answer = {"error": _message(error)}
        answers.write(json.dumps(answer) + "\n")


def run_tool(request: Mapping[str, Any], warm: set[str]) -> Answer:
    """The figures of one call; its graph goes to a file. A tool that refuses the data is quoted."""
    options = request["options"]
    call: Call = import_module(f"benchmarks.peers.tools.{request['tool']}").load(options)
    label = json.dumps([request["tool"], options.get("algorithm"), options.get("search")])
    if label not in warm:
        _warm_up(call)
        warm.add(label)
    data = call.prepare(np.load(request["data"]))
    repeat = request.get("repeat", SHORT_SECONDS)
    answer, found = _measure(call, data, request["limit"], repeat)
    if found is not None:
        np.save(request["graph"], np.asarray(call.matrix(found)).astype(np.int8))
    build = f"{call.version}; Python {platform.python_version()}, NumPy {np.__version__}"
    return answer | {"build": build}


def _warm_up(call: Call) -> None:
    """Let the tool import, compile and allocate what it does once only."""
    n_variables, repeats = call.warm_up
    rng = np.random.default_rng(0)
    links = np.triu(rng.uniform(0.5, 1.0, (n_variables,) * 2), 1)
    links *= rng.random(links.shape) < min(1.0, WARM_UP_DEGREE / n_variables)
    data = rng.normal(size=(1000, n_variables)) @ np.linalg.inv(np.eye(n_variables) - links)
    data = call.prepare(data / data.std(axis=0))
    for _ in range(repeats):
        call.run(data)


def _measure(call: Call, data: Any, limit: float, repeat: float) -> tuple[Answer, Any]:
    memory = call.memory or Memory(_reset_peak, _peak_bytes)
    memory.reset()
    before = 0.0 if call.memory else _peak_bytes()
    _limit_processor_time(limit)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        found, error = call.run(data), ""
    except Exception as refusal:  # noqa: BLE001 (it is the tool's answer)
        found, error = None, _message(refusal)
    used = memory.peak_bytes() - before
    calls = 1
    while not error and time.perf_counter() - wall < repeat:
        call.run(data)
        calls += 1
    answer = {
        "cpu": (time.process_time() - cpu) / calls,
        "wall": (time.perf_counter() - wall) / calls,
        "memory": used,
        "error": error,
    }
    _limit_processor_time(None)
    return answer, found


def _limit_processor_time(seconds: float | None) -> None:
    """Let the system end this process by SIGXCPU when a call has used so much more, or no more."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _message(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200]


def _reset_peak() -> None:
    """Give back free memory and let the peak of the resident memory start anew (Linux)."""
    gc.collect()
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        ctypes.CDLL(None).malloc_trim(0)
        clear.write_text("5")


def _peak_bytes() -> float:
    """The peak of the resident memory; that of getrusage begins with the parent's at a fork."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return 1024.0 * int(line.split()[1])


def score_graph(request: Mapping[str, Any], _: set[str]) -> Answer:
    """The score that a tool gives to a DAG, if it gives one."""
    options = request["options"]
    call: Call = import_module(f"benchmarks.peers.tools.{request['tool']}").load(options)
    if call.score is None:
        return {"score": None}
    return {"score": call.score(call.prepare(np.load(request["data"])), np.load(request["graph"]))}


def measure_with(request: Mapping[str, Any], _: set[str]) -> Answer:
    """The answer of a function in `benchmarks.peers.measures`."""
    from benchmarks.peers import measures

    function = getattr(measures, request["function"])
    answer: Answer = function(**request["arguments"])
    return answer


TASKS: dict[str, Callable[[Mapping[str, Any], set[str]], Answer]] = {
    "run": run_tool,
    "score": score_graph,
    "measure": measure_with,
}

if __name__ == "__main__":
    serve()
