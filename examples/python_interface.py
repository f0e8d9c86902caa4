"""The Python interface: a graph of 100 variables learnt from data, step by step, with timings.

Run with ``python examples/python_interface.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import qwo
from qwo.datasets import load_sachs
from qwo.graph import topological_order
from qwo.order.qwo import QwoEngine

N_VARIABLES, N_SAMPLES, DEGREE, SEED = 100, 10_000, 4, 7

Result = TypeVar("Result")


def timed(task: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = task()
    return result, 1e3 * (time.perf_counter() - start)


def show(label: str, took: float, text: str = "") -> None:
    print(f"  {label:<28}{took:9.2f} ms   {text}")


def orders(moments: qwo.Moments, truth: np.ndarray, rng: np.random.Generator) -> None:
    """The paper's G^π, for the true order and for a random one, and a scan over insertions."""
    print(f"\nThe paper's object: G^π of an order π (the true graph has {truth.sum()} edges)")
    random = rng.permutation(N_VARIABLES)
    for name, order in (("true", topological_order(truth)), ("random", random)):
        found, took = timed(lambda order=order: qwo.order_dag(moments, order, penalty_discount=2.0))
        show(f"G^π of the {name} order", took, f"{found.n_edges} edges")
    engine = QwoEngine(moments, penalty_discount=2.0, order=random)
    changes, took = timed(lambda: engine.scan_many(range(N_VARIABLES)))
    show(f"all {changes.size} insertions", took, "each with its change of the cost")


def searches(moments: qwo.Moments, truth: np.ndarray) -> None:
    """Searches over orders."""
    print("\nSearches over orders")
    for label, options in (
        ("hill climbing on QWO", {"search": "hill-climbing", "engine": "qwo"}),
        ("GRaSP on QWO", {"search": "grasp", "engine": "qwo"}),
        ("the default", {}),
    ):
        found, took = timed(lambda o=options: qwo.discover(moments, random_state=SEED, **o))
        comparison = qwo.compare(found, truth, aid=False)
        show(label, took, f"SHD {comparison.shd_cpdag}, skeleton F1 {comparison.skeleton_f1:.3f}")


def real_data() -> None:
    """The proteins of Sachs et al. (2005)."""
    sachs = load_sachs()
    frame = sachs.to_frame()
    found, took = timed(lambda: qwo.discover(frame, random_state=SEED))
    print(
        f"\n{sachs.values.shape[1]} proteins in {len(frame)} cells, logarithms (Sachs et al. 2005)"
    )
    show("qwo.discover", took, f"{found.n_edges} edges, score {found.score:.1f}")
    for cause, mark, effect in found.edges:
        print(f"      {cause} {mark} {effect}")


def main() -> None:
    rng = np.random.default_rng(SEED)
    data, truth, _ = qwo.simulate(
        "er",
        n_variables=N_VARIABLES,
        n_samples=N_SAMPLES,
        degree=DEGREE,
        standardize=True,
        random_state=rng,
    )
    print(f"{N_SAMPLES} samples of {N_VARIABLES} variables, simulated")
    moments, took = timed(lambda: qwo.Moments.from_data(data))
    show("moments", took)
    orders(moments, truth, rng)
    searches(moments, truth)
    real_data()


if __name__ == "__main__":
    main()
