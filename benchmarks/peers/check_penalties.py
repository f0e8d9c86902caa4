"""Whether a penalty means the same in all tools: ``python -m benchmarks.peers.check_penalties``.

Two checks at penalties 1, 2 and 4. First, the difference of the scores that a tool gives to two
DAGs on the same data, against ours; a tool may count one log-likelihood or two, so a fixed factor
is allowed. Second, what a tool does: on data in which two variables have a sample correlation of
exactly r, the edge pays if N log(1 / (1 - r²)) > c log N. So a tool has to draw it for an r that is
a little above that point, and must not for one that is a little below.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from benchmarks.peers.environments import ready_pythons
from benchmarks.peers.methods import METHODS, Method
from benchmarks.peers.process import Workers
from benchmarks.timing import print_table
from qwo.simulation import simulate

PENALTIES = (1.0, 2.0, 4.0)
WITHOUT_PENALTY = ("DAGMA", "DirectLiNGAM", "var-sort-regress", "R²-sort-regress")
SCALES = {"qwo": 1.0, "tetrad": 1.0, "causal_learn": 0.5, "xges": 0.5, "pgmpy": 0.5}
"""A tool's score as a multiple of ours, which counts the log-likelihood twice."""
TOLERANCE = 1e-6
MARGIN = 0.01
N_SAMPLES = 500

FloatArray = npt.NDArray[np.float64]


def main() -> int:
    """Print both tables; 1 if anything differs."""
    with Workers(ready_pythons()) as workers, TemporaryDirectory() as folder:
        here = [method for method in METHODS.values() if method.environment in workers]
        asked = [method for method in here if method.name not in WITHOUT_PENALTY]
        scores = list(compare_scores(_one_each(asked), workers, Path(folder)))
        thresholds = list(compare_thresholds(asked, workers, Path(folder)))
    print_table(("tool", "penalty", "score difference", "ours, in its unit", "same"), scores)
    print_table(("method", "penalty", "edge below", "edge above", "same"), thresholds)
    return int(any(row[-1] != "yes" for row in (*scores, *thresholds)))


def compare_scores(methods: list[Method], workers: Workers, folder: Path) -> Iterator[list[str]]:
    """The score of a DAG less that of a sparser one, by each tool that gives scores."""
    data, dag, _ = simulate(
        "er", n_variables=8, n_samples=N_SAMPLES, degree=3, standardize=True, random_state=1
    )
    sparse = dag.copy()
    sparse[:, ::2] = 0
    files = {
        "data": folder / "scores.npy",
        "rich": folder / "rich.npy",
        "poor": folder / "poor.npy",
    }
    for path, array in zip(files.values(), (data, dag, sparse), strict=True):
        np.save(path, array)

    def difference(method: Method, penalty_discount: float) -> float | None:
        values = []
        for graph in ("rich", "poor"):
            request = method.request(penalty_discount, 0) | {"task": "score"}
            paths = {"data": str(files["data"]), "graph": str(files[graph])}
            values.append(workers[method.environment].ask(request | paths)["score"])
        return None if None in values else values[0] - values[1]

    for penalty_discount in PENALTIES:
        ours = difference(METHODS["qwo"], penalty_discount)
        assert ours is not None
        for method in methods:
            theirs = difference(method, penalty_discount)
            if theirs is not None:
                wanted = ours * SCALES[method.tool]
                same = math.isclose(theirs, wanted, rel_tol=TOLERANCE)
                shown = f"{penalty_discount:g}", f"{theirs:.6f}", f"{wanted:.6f}"
                yield [method.tool, *shown, "yes" if same else "NO"]


def compare_thresholds(
    methods: list[Method], workers: Workers, folder: Path
) -> Iterator[list[str]]:
    """Whether a method draws an edge just below and just above the point where it pays."""
    for penalty_discount in PENALTIES:
        gain = penalty_discount * math.log(N_SAMPLES)
        files = []
        for share in (1 - MARGIN, 1 + MARGIN):
            correlation = math.sqrt(-math.expm1(-share * gain / N_SAMPLES))
            files.append(folder / f"pair-{share}.npy")
            np.save(files[-1], correlated(correlation))
        for method in methods:
            drawn = [_draws_edge(method, penalty_discount, file, workers) for file in files]
            shown = ["yes" if edge else "no" for edge in drawn]
            same = "yes" if drawn == [False, True] else "NO"
            yield [method.name, f"{penalty_discount:g}", *shown, same]


def correlated(correlation: float) -> FloatArray:
    """Standardised columns, of which the first two have this sample correlation, others none."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(N_SAMPLES, 4))
    columns, _ = np.linalg.qr(noise - noise.mean(axis=0))
    columns *= math.sqrt(N_SAMPLES)
    columns[:, 1] = correlation * columns[:, 0] + math.sqrt(1 - correlation**2) * columns[:, 1]
    return columns


def _draws_edge(method: Method, penalty_discount: float, data: Path, workers: Workers) -> bool:
    graph = data.with_name("graph.npy")
    graph.unlink(missing_ok=True)
    request = method.request(penalty_discount, 0) | {"data": str(data), "graph": str(graph)}
    answer = workers[method.environment].ask(request)
    if answer.get("error"):
        raise RuntimeError(f"{method.name}: {answer['error']}")
    return bool(np.load(graph)[:2, :2].any())


def _one_each(methods: list[Method]) -> list[Method]:
    """One method of each tool."""
    return list({method.tool: method for method in methods}.values())


if __name__ == "__main__":
    sys.exit(main())
