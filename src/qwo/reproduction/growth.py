"""Table 1 measured: processor time to build G^π, and to update it, at one size.

The exponents are slopes over many sizes, see `qwo.reproduction.aggregate`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from qwo.order.local_score import LocalScore, LocalScoreEngine
from qwo.order.reference import qwo, qwo_by_matrix_products, whitening_matrix
from qwo.reproduction.methods import SCORES, Problem, make_engine, sample_of
from qwo.search import start_order
from qwo.types import FloatArray, Indices

LEAST_SECONDS = 0.05
"""A step is repeated until this much time has gone by; shorter times are mostly the clock's."""

MOST_REPEATS = 10_000

BLOCKS = 8
"""Updates are averaged over so many places in the order, as far as the time allows."""


Build = Callable[..., FloatArray]
ALGORITHM_1: dict[str, Build] = {"algorithm-1": qwo_by_matrix_products, "algorithm-1-lines": qwo}
"""Algorithm 1 with the sum of its line 5 as two products of matrices, and line by line."""


class Step(NamedTuple):
    """A step to be timed, what goes before each repeat, and how many scores it has computed."""

    prepare: Callable[[], object]
    take: Callable[[], object]
    n_scores: Callable[[], int | None]


def measure_growth(run: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """The mean processor time of a step, and the number of local scores that it took."""
    step = _step(run, problem)
    seconds, repeats = 0.0, 0
    while seconds < LEAST_SECONDS and repeats < MOST_REPEATS:
        step.prepare()
        begin = time.process_time()
        step.take()
        seconds += time.process_time() - begin
        repeats += 1
    return {
        "status": "done",
        "cpu": seconds / repeats,
        "repeats": repeats,
        "scores": step.n_scores(),
    }


def _step(run: Mapping[str, Any], problem: Problem) -> Step:
    module, phase = run["method"], run["phase"]
    moments = problem.moments
    order = start_order("markov-boundary", moments.correlation, moments.n_samples)
    blocks = _blocks(len(order), run["block"])
    if module in ALGORITHM_1:
        return _algorithm_1(ALGORITHM_1[module], phase, problem, order, blocks[0])
    if module in SCORES:
        return _local_scores(phase, SCORES[module](sample_of(problem)), order, blocks)
    engine = make_engine("qwo" if module == "order-factor" else module, problem)
    if phase == "initial":
        return Step(lambda: None, lambda: engine.reset(order), lambda: None)
    # There and back again, so that every move starts from the same order.
    moves = cycle((int(order[block[0]]), end) for block in blocks for end in reversed(block))
    return Step(lambda: None, lambda: engine.move(*next(moves)), lambda: None)


def _blocks(n: int, length: int) -> list[tuple[int, int]]:
    """First and last places of blocks all over the order, the one in the middle first."""
    starts = [(n - length) // 2, *np.linspace(0, n - length, BLOCKS - 1).astype(int).tolist()]
    return [(start, start + length - 1) for start in starts]


def _algorithm_1(
    build: Build, phase: str, problem: Problem, order: Indices, block: tuple[int, int]
) -> Step:
    """The paper's Algorithm 1 for the whole order, or for a block of it."""
    whitening = whitening_matrix(problem.moments.correlation)
    if phase == "initial":
        return Step(lambda: None, lambda: build(order, whitening), lambda: None)
    first, last = block
    basis = build(order, whitening)
    moved = order.copy()
    moved[first : last + 1] = [*order[first + 1 : last + 1], order[first]]

    def update() -> None:
        build(moved, whitening, first, last, basis)

    return Step(lambda: None, update, lambda: None)


def _local_scores(
    phase: str, score: LocalScore, order: Indices, blocks: list[tuple[int, int]]
) -> Step:
    """Grow–shrink with every score computed anew, as the paper counts."""
    calls = [0]

    def counted(variable: int, parents: tuple[int, ...]) -> float:
        calls[0] += 1
        return score(variable, parents)

    engine = _Forgetful(counted, len(order))
    engine.reset(order)
    engine.learn()
    moves = cycle((int(order[first]), last) for first, last in blocks)

    def forget() -> None:
        engine.recall()
        engine.reset(order)
        engine.forget()
        calls[0] = 0

    def take() -> None:
        if phase == "initial":
            engine.reset(order)
        else:
            engine.move(*next(moves))

    return Step(forget, take, lambda: calls[0])


class _Forgetful(LocalScoreEngine):
    """An engine that forgets all scores but those of its present DAG, and can recall them."""

    def learn(self) -> None:
        self._learnt = dict(self._costs)

    def recall(self) -> None:
        self._costs = dict(self._learnt)

    def forget(self) -> None:
        kept = [(v, parents) for v, parents in enumerate(self._state.parents)]
        self._costs = {key: self._costs[key] for key in kept}
