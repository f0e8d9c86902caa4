"""Runs jobs one after the other: data by seed, a process for each run, a record of each result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.peers.flop.records import Record
from benchmarks.peers.flop.settings import PENALTY_DISCOUNT, Job, Setting, Tool
from benchmarks.peers.process import Worker
from qwo.errors import DataWarning
from qwo.graph import exact_recovery, shd, skeleton_f1, to_cpdag
from qwo.moments import Moments
from qwo.sem import score_graph
from qwo.simulation import Simulation, simulate

LIMIT = 3600.0
"""Processor seconds after which a run is given up, and the benchmark with it."""

Pythons = Mapping[Tool, Path]


def draw(setting: Setting, seed: int) -> Simulation:
    """The data set of a seed: shuffled, standardised columns."""
    return simulate(
        "er",
        n_variables=setting.n,
        n_samples=setting.n_samples,
        degree=setting.degree,
        standardize=True,
        random_state=[seed, setting.n, setting.degree, setting.n_samples],
    )


def run_jobs(setting: Setting, jobs: Sequence[Job], pythons: Pythons) -> Iterator[Record]:
    """The records of jobs that are sorted by data set."""
    for seed, same_data in groupby(jobs, key=lambda job: job.seed):
        truth = draw(setting, seed)
        moments = _moments(truth)
        cpdag = to_cpdag(truth.dag)
        with TemporaryDirectory() as folder:
            data = Path(folder, "data.npy")
            np.save(data, truth.data)
            for job in same_data:
                graph = Path(folder, "graph.npy")
                graph.unlink(missing_ok=True)
                figures = _run(job, pythons[job.tool], data, graph)
                yield Record(
                    **job._asdict(), **figures, **_judge(graph, cpdag, moments, figures["error"])
                )


def _moments(truth: Simulation) -> Moments:
    """The moments to score graphs with; that n > N is what such a setting is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Moments.from_data(truth.data)


def _run(job: Job, python: Path, data: Path, graph: Path) -> dict[str, Any]:
    """What a process of its own says about a run."""
    given = {"restarts": job.restarts, "gamma": job.gamma}
    options = {name: value for name, value in given.items() if value is not None}
    if job.tool == "qwo":
        options["random_state"] = job.seed
    request = {
        "task": "run",
        "tool": job.tool,
        "options": options | {"penalty_discount": PENALTY_DISCOUNT},
        "data": str(data),
        "graph": str(graph),
    }
    worker = Worker(python)
    try:
        figures = worker.ask(request, limit=LIMIT)
    finally:
        worker.close()
    if "build" not in figures:
        raise RuntimeError(f"{job} failed: {figures['error']}")
    return figures


def _judge(graph: Path, truth: Any, moments: Moments, error: str) -> dict[str, Any]:
    """The figures of the graph that a run has left."""
    if error:
        return dict.fromkeys(("shd", "skf1", "exact", "edges", "score"))
    found = np.load(graph)
    score = score_graph(moments, found, PENALTY_DISCOUNT)
    return {
        "shd": shd(found, truth),
        "skf1": skeleton_f1(found, truth),
        "exact": exact_recovery(found, truth),
        "edges": score.n_edges,
        "score": score.score,
    }
