"""A first look: G^π for the true order and for a random one, and how fast an engine moves.

Run with ``make demo``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import qwo
from qwo.graph import pshd, skeleton_f1, topological_order
from qwo.order.qwo import QwoEngine

N_VARIABLES, N_SAMPLES, DEGREE, SEED = 100, 10_000, 4, 7

Result = TypeVar("Result")


def timed(task: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = task()
    return result, 1e3 * (time.perf_counter() - start)


def show(label: str, took: float, text: str = "") -> None:
    print(f"{label:<26}{took:9.2f} ms   {text}")


def main() -> None:
    rng = np.random.default_rng(SEED)
    data, truth, _ = qwo.simulate(
        "er", n_variables=N_VARIABLES, n_samples=N_SAMPLES, degree=DEGREE, random_state=rng
    )
    moments, took = timed(lambda: qwo.Moments.from_data(data))
    show("moments", took, f"{N_SAMPLES} samples of {N_VARIABLES} variables")

    orders = {"true": topological_order(truth), "random": rng.permutation(N_VARIABLES)}
    print(f"the true graph has {truth.sum()} edges")
    for name, order in orders.items():
        found, took = timed(lambda order=order: qwo.order_dag(moments, order, penalty_discount=2.0))
        accuracy = (
            f"skeleton F1 {skeleton_f1(found.dag, truth):.3f}, PSHD {pshd(found.dag, truth):.2f}"
        )
        show(f"G^π of the {name} order", took, f"{found.n_edges} edges, {accuracy}")

    engine = QwoEngine(moments, penalty_discount=2.0, order=orders["random"])
    before = engine.cost
    changes, took = timed(lambda: engine.scan_many(range(N_VARIABLES)))
    show(f"all {changes.size} insertions", took, "each with its change of the cost")
    variable, place = divmod(int(changes.argmin()), N_VARIABLES)
    after, took = timed(lambda: engine.move(variable, place))
    show("the best of them, done", took, f"cost {before:.0f} → {after:.0f}")


if __name__ == "__main__":
    main()
