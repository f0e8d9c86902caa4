"""Twenty fixed problems, and what the engines say of them at fixed orders and after fixed moves.

``python -m tests.helpers.pinned`` prints the record of this build as JSON, numbers to the last bit,
and what searches come to: two builds of the core on one machine may be compared with ``diff``. With
``--write`` the record becomes the one that `tests/properties/test_pins.py` holds the engines to.
"""

from __future__ import annotations

import json
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qwo.errors import DataWarning
from qwo.graph.dag import Indices
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.search.control import bic_insertion
from tests.helpers.random_knowledge import random_knowledge

RECORD = Path(__file__).with_name("pinned.json")

Record = dict[str, Any]


class Problem(NamedTuple):
    """A linear model with ``degree`` edges a variable on average, and a sample of it."""

    seed: int
    n: int
    n_samples: int
    degree: float
    strength: float = 1.0
    penalty_discount: float = 2.0
    gamma: float = 0.0
    max_parents: int | None = None
    known: bool = False
    listed: bool = False

    @property
    def name(self) -> str:
        return f"{self.seed}: n={self.n} N={self.n_samples} degree={self.degree:g}"

    def moments(self) -> Moments:
        """From sums that no BLAS rounds in its own way."""
        rng = np.random.default_rng(self.seed)
        rows = rng.standard_normal((self.n_samples, self.n))
        for j in range(self.n):
            parents = np.flatnonzero(rng.random(j) < self.degree / max(self.n - 1, 1))
            weights = self.strength * rng.uniform(0.3, 1.0, parents.size)
            rows[:, j] += (rows[:, parents] * weights).sum(axis=1)
        rows = rows[:, rng.permutation(self.n)]
        rows -= rows.mean(axis=0)
        columns = np.ascontiguousarray(rows.T)
        covariance = np.array([[(x * y).sum() for y in columns] for x in columns])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of fewer samples than variables
            return Moments.from_covariance(covariance / self.n_samples, self.n_samples)


PROBLEMS = [
    Problem(1, 3, 50, 2),
    Problem(2, 5, 200, 2),
    Problem(3, 6, 1000, 3),
    Problem(4, 8, 40, 3),
    Problem(5, 10, 500, 4, penalty_discount=1.0),
    Problem(6, 10, 5000, 8),
    Problem(7, 12, 300, 3, gamma=0.5),
    Problem(8, 12, 2000, 5, max_parents=2),
    Problem(9, 15, 150, 4, known=True),
    Problem(10, 15, 1000, 6, listed=True),
    Problem(11, 20, 400, 4),
    Problem(12, 20, 400, 4, known=True, listed=True),
    Problem(13, 25, 60, 6, max_parents=4),
    Problem(14, 30, 300, 8),
    Problem(15, 30, 1000, 2, strength=5.0),
    Problem(16, 40, 500, 4, known=True),
    Problem(17, 40, 200, 3, strength=0.3, penalty_discount=0.5),
    Problem(18, 60, 500, 5, listed=True),
    Problem(19, 70, 50, 2, gamma=0.5),
    Problem(20, 80, 1000, 6),
]


def record_of(problem: Problem) -> Record:
    """What both engines say; the dense one only where it can work."""
    record: Record = {"bic": list(_states(problem, _bic_engine))}
    if problem.n_samples > problem.n + 2:
        record["qwo"] = list(_states(problem, _qwo_engine))
    return record


Maker = Callable[[Problem, Moments, np.random.Generator], OrderEngine]


def _bic_engine(problem: Problem, moments: Moments, rng: np.random.Generator) -> OrderEngine:
    n = problem.n
    return BicEngine(
        moments,
        penalty_discount=problem.penalty_discount,
        gamma=problem.gamma,
        max_parents=problem.max_parents,
        knowledge=random_knowledge(rng, n) if problem.known else None,
        candidates=_lists(rng, n) if problem.listed else None,
    )


def _qwo_engine(problem: Problem, moments: Moments, _: np.random.Generator) -> OrderEngine:
    return QwoEngine(moments, penalty_discount=problem.penalty_discount)


def _lists(rng: np.random.Generator, n: int) -> list[Indices]:
    others = [np.delete(np.arange(n), v) for v in range(n)]
    return [np.sort(rng.choice(own, n // 2, replace=False)) for own in others]


def _states(problem: Problem, make: Maker) -> Iterator[Record]:
    """At the first order, at a random one, after moves, after their undoing, after renewals."""
    rng = np.random.default_rng([problem.seed, 1])
    engine = make(problem, problem.moments(), rng)
    yield _state("first order", engine)
    if not problem.known:
        engine.reset(rng.permutation(problem.n))
        yield _state("random order", engine)
    _wander(engine, rng)
    yield _state("moves", engine)
    mark = engine.mark()
    _wander(engine, rng)
    yield _state("more moves", engine)
    engine.undo(mark)
    yield _state("undone", engine)
    if problem.listed and isinstance(engine, BicEngine):
        for v in range(problem.n):
            engine.renew(v)
        yield _state("renewed", engine)


def _wander(engine: OrderEngine, rng: np.random.Generator) -> None:
    for _ in range(12):
        v = int(rng.integers(engine.n_variables))
        engine.move(v, int(rng.choice(np.flatnonzero(np.isfinite(engine.scan(v))))))


def _state(name: str, engine: OrderEngine) -> Record:
    """The cost, the graph, and the sum of what all moves of all variables would change."""
    dag = engine.dag()
    scans = [engine.scan(v) for v in range(engine.n_variables)]
    changes = sum(float(scan[np.isfinite(scan)].sum()) for scan in scans)
    return {
        "state": name,
        "cost": engine.cost,
        "changes": changes,
        "edges": int(dag.sum()),
        "dag": zlib.crc32(dag.astype(np.int8).tobytes()),
    }


def record() -> Record:
    """The record of this build."""
    return {problem.name: record_of(problem) for problem in PROBLEMS}


def searches_of(problem: Problem) -> Iterator[Record]:
    """What whole searches come to, to the last bit; with other kernels they may end elsewhere."""
    for options in (
        {"restarts": 0},
        {"restarts": 45, "n_jobs": 2},
        {"nearby": True},
        {"starts": 2},
    ):
        engine = _bic_engine(problem, problem.moments(), np.random.default_rng([problem.seed, 1]))
        assert isinstance(engine, BicEngine)
        found = bic_insertion(engine, random_state=problem.seed, **options)
        classes = zlib.crc32(engine.cpdag().tobytes())
        yield {
            "search": options,
            "cost": found.cost.hex(),
            "class": classes,
            "moves": found.n_moves,
        }


def main() -> None:
    """Print the record of this build, and what searches come to; or write the record."""
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(record(), indent=1) + "\n", encoding="utf-8")
        return
    searches = {problem.name: list(searches_of(problem)) for problem in PROBLEMS}
    sys.stdout.write(json.dumps([record(), searches], indent=1) + "\n")


if __name__ == "__main__":
    main()
