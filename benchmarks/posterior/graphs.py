"""How long a posterior takes, and how far its graph of least expected SHD is from the truth.

Time is that of the processor, for whole calls of `qwo.posterior`. Distances are from the CPDAG of
the true graph, on data sets of `benchmarks.peers`: of the graph of least expected SHD with BGe and
with BIC (penalty 1.5), and of `qwo.discover` by default and at penalty 2.
"""

from __future__ import annotations

import numpy as np

import qwo
from benchmarks.peers.cells import Kind
from benchmarks.peers.data import Sources
from benchmarks.peers.process import Workers
from benchmarks.posterior.rows import Key, Row
from benchmarks.rows import timed as cpu_of
from qwo.graph.compare import shd

UNSURE = 0.005

TIMED: list[Key] = [
    (graph, n, n_samples, degree)
    for n in (20, 50, 100, 200)
    for graph, degree in (("er", 2), ("er", 4), ("scale-free", 4))
    for n_samples in (200, 1000)
]


def timed(graph: str, n: int, n_samples: int, degree: int) -> Row:
    """Processor seconds of one posterior, beside those of a search, and how its chains did."""
    data, _, _ = qwo.simulate(
        graph,
        n_variables=n,
        n_samples=n_samples,
        degree=degree,
        standardize=True,
        random_state=1000 + n,
    )
    qwo.posterior(data[:, :4], n_draws=16, random_state=0)  # modules are loaded outside the clock
    moments = qwo.Moments.from_data(data)
    found, seconds = cpu_of(qwo.posterior, moments, random_state=1)
    _, discovery = cpu_of(qwo.discover, moments, random_state=1)
    p = found.edge_probabilities
    unsure = (p > UNSURE) & (p < 1 - UNSURE)
    rhat = found.rhat[unsure]
    return {
        "seconds": seconds,
        "discover": discovery,
        "longest_list": max(len(listed) for listed in found.candidates),
        "core": sum(len(core) for core in found.core),
        "unsure": int(unsure.sum()),
        "agreeing": float((rhat < 1.05).mean()) if rhat.size else 1.0,
        "rhat_99": found.to_dict()["rhat_99"],
        "least_ess": found.to_dict()["least_ess"],
        "sweeps_per_draw": found.params["sweeps_per_draw"],
        "outside": found.largest_outside,
        "t": found.params["t"],
    }


FAMILIES = (
    *(
        (family, n, 4)
        for n in (20, 50, 100)
        for family in ("er", "scale-free-in", "scale-free-out")
    ),
    ("er", 50, 2),
    ("er", 50, 8),
    ("gaussian magic-niab", 44, 0),
    ("gaussian ecoli70", 46, 0),
    ("gaussian magic-irri", 64, 0),
    ("gaussian arth150", 107, 0),
    ("structure alarm", 37, 0),
    ("structure hepar2", 70, 0),
    ("structure win95pts", 76, 0),
)
"""Random graphs, and published networks with their own or with random coefficients."""

SAMPLES = (25, 50, 100, 250, 1000)


def kinds() -> list[Key]:
    """Families with few and with many rows: name, n, degree, N."""
    return [(*family, n_samples) for n_samples in SAMPLES for family in FAMILIES]


def distance(name: str, n: int, degree: int, n_samples: int, seed: int) -> Row:
    """SHD from the true CPDAG of what each method finds in one data set, and CPU seconds."""
    family, _, network = name.partition(" ")
    kind = Kind(family, n, n_samples, degree or None, network=network)
    problem = Sources(Workers({})).draw(kind, seed)
    moments, truth = qwo.Moments.from_data(problem.data), qwo.to_cpdag(problem.dag)
    found, seconds = cpu_of(qwo.posterior, moments, random_state=1)
    graph, more = cpu_of(lambda: found.least_shd_graph.matrix)
    bic = qwo.posterior(moments, random_state=1, score="bic", penalty_discount=1.5)
    default, discovery = cpu_of(qwo.discover, moments, random_state=1)
    at_2 = qwo.discover(moments, penalty_discount=2.0, random_state=1).cpdag
    return {
        "edges": int(problem.dag.sum()),
        "posterior": shd(graph, truth),
        "expected": found.expected_shd,
        "bic_posterior": shd(bic.least_shd_graph.matrix, truth),
        "discover": shd(default.cpdag, truth),
        "discover_2": shd(at_2, truth),
        "seconds": seconds + more,
        "discover_seconds": discovery,
    }


def report_distances(done: dict[Key, Row]) -> list[Row]:
    """Means over the data sets of each kind, and of the difference from `discover`'s default."""
    rows: list[Row] = []
    names = ("family", "n", "degree", "samples")
    for kind in kinds():
        of = [done[key] for key in sorted(done, key=str) if key[:-1] == kind]
        if not of:
            continue
        row: Row = dict(zip(names, kind, strict=True)) | {"sets": len(of)}
        row |= {name: float(np.mean([each[name] for each in of])) for name in of[0]}
        for name in ("posterior", "bic_posterior"):
            nearer = np.array([each["discover"] - each[name] for each in of])
            row[f"{name}_nearer"] = float(nearer.mean())
            row[f"{name}_nearer_se"] = float(nearer.std() / np.sqrt(max(len(of) - 1, 1)))
        rows.append(row)
    return rows
