"""The order engine against the paper's Algorithm 1: growth with n, and ratios at n = 500.

Run with ``make bench``. One thread throughout. A "move" takes a variable over d = 5 places; what is
timed includes the call from Python, the edge tests and the new cost. Algorithm 1 is timed for the
same blocks in two spellings by NumPy matrix products: the reference function, which returns a new
Q, and one that writes into Q; neither is charged for reading the graph off Q.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from benchmarks.timing import growth_exponent, print_table, readable, seconds
from qwo import _core
from qwo.moments import Moments
from qwo.order.qwo import QwoEngine
from qwo.order.reference import (
    coefficient_matrix,
    order_factor_from_basis,
    qwo_by_matrix_products,
    whitening_matrix,
)
from qwo.order.reference_engine import ReferenceEngine

SIZES = (200, 400, 800, 1600, 3200)
LARGEST_REFERENCE = 1600
COMPARED = 500
DISTANCE = 5
MANY = 16
MOVES = 400
N_SAMPLES = 10_000.0

Matrix = npt.NDArray[np.float64]


class Update(NamedTuple):
    """A block of the order in which the first variable goes to the end."""

    first: int
    last: int


def correlation_matrix(n: int, rng: np.random.Generator) -> Matrix:
    """Of a model with ten common factors: regular at any size, and nothing in it is zero."""
    loadings = rng.standard_normal((n, 10)) / 3
    covariance = loadings @ loadings.T + np.diag(rng.uniform(0.5, 1.5, n))
    scale = np.sqrt(np.diag(covariance))
    correlation: Matrix = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def make_moments(n: int) -> Moments:
    names = tuple(f"X{i}" for i in range(n))
    correlation = correlation_matrix(n, np.random.default_rng(n))
    return Moments(names, N_SAMPLES, np.zeros(n), np.ones(n), correlation)


def make_engine(moments: Moments, **options: str | None) -> QwoEngine:
    order = np.random.default_rng(1).permutation(moments.n_variables)
    return QwoEngine(moments, penalty_discount=2.0, order=order, **options)


def updates(n: int) -> list[Update]:
    """Blocks all over the order."""
    starts = np.random.default_rng(2).integers(0, n - DISTANCE, MOVES // 2)
    return [Update(int(k), int(k) + DISTANCE) for k in starts]


def time_moves(engine: QwoEngine) -> float:
    """One move; each goes there and back again, so that every run starts from the same order."""
    order = engine.order
    there_and_back = [(int(order[k]), k, last) for k, last in updates(engine.n_variables)]

    def run() -> None:
        for variable, first, last in there_and_back:
            engine.move(variable, last)
            engine.move(variable, first)

    return seconds(run, repeats=7, calls=MOVES)


def time_scan(engine: QwoEngine) -> float:
    variables = cycle(engine.order[:: max(engine.n_variables // 9, 1)].tolist())
    return seconds(lambda: engine.scan(next(variables)), repeats=21)


def time_many_scans(engine: QwoEngine) -> float:
    variables = engine.order[:: engine.n_variables // MANY][:MANY]
    return seconds(lambda: engine.scan_many(variables), repeats=7, calls=MANY)


def update_in_place(
    order: npt.NDArray[np.intp], w: Matrix, by_place: Matrix, block: Update
) -> None:
    """Algorithm 1 for one block, on the rows of Q by place."""
    square = np.zeros(len(order))
    later = by_place[block.last + 1 :]
    square[block.last + 1 :] = np.einsum("ij,ij->i", later, later)
    for i in range(block.last, block.first - 1, -1):
        row = w[order[i]]  # W is symmetric, and its rows are contiguous
        later = by_place[i + 1 :]
        r = row - ((later @ row) / square[i + 1 :]) @ later
        by_place[i] = r / (r @ row)
        square[i] = by_place[i] @ by_place[i]


class AlgorithmOne:
    """Q of an order and the two spellings of its update, which leave the order as it was."""

    def __init__(self, engine: QwoEngine, whitening: Matrix, colouring: Matrix) -> None:
        self.order, self.whitening = engine.order, whitening
        rows = np.eye(len(whitening)) - engine.coefficients().T
        self.basis = rows @ colouring
        self.blocks: Iterator[Update] = cycle(updates(len(whitening)))

    def changed(self, block: Update) -> npt.NDArray[np.intp]:
        order = self.order.copy()
        order[block.first : block.last + 1] = np.roll(order[block.first : block.last + 1], -1)
        return order

    def time_reference(self) -> float:
        def run() -> None:
            block = next(self.blocks)
            qwo_by_matrix_products(self.changed(block), self.whitening, *block, self.basis)

        return seconds(run, repeats=15)

    def time_in_place(self) -> float:
        by_place = self.basis[self.order]

        def run() -> None:
            update_in_place(self.order, self.whitening, by_place, next(self.blocks))

        return seconds(run, repeats=15)


def square_roots(correlation: Matrix) -> tuple[Matrix, Matrix]:
    """W = S^(-1/2) and S^(1/2)."""
    values, vectors = eigh(correlation)
    return (vectors / np.sqrt(values)) @ vectors.T, (vectors * np.sqrt(values)) @ vectors.T


def growth() -> None:
    """Times over n and the exponents that they grow with."""
    columns: dict[str, list[float]] = {
        "build": [],
        "move, d = 5": [],
        "scan": [],
        f"scan, {MANY} at once, each": [],
        "Algorithm 1, d = 5": [],
        "in place": [],
    }
    for n in SIZES:
        engine = make_engine(make_moments(n))
        order = engine.order
        found = [
            seconds(lambda e=engine, o=order: e.reset(o), repeats=5 if n < 1000 else 3),
            time_moves(engine),
            time_scan(engine),
            time_many_scans(engine),
        ]
        if n <= LARGEST_REFERENCE:
            algorithm = AlgorithmOne(engine, *square_roots(engine.moments.correlation))
            found += [algorithm.time_reference(), algorithm.time_in_place()]
        for times, value in zip(columns.values(), found, strict=False):
            times.append(value)
    rows = [
        [str(n), *(readable(times[k]) if k < len(times) else "" for times in columns.values())]
        for k, n in enumerate(SIZES)
    ]
    exponents = [f"{growth_exponent(SIZES[: len(t)], t):.2f}" for t in columns.values()]
    print_table(["n", *columns], [*rows, ["exponent", *exponents]])


def check(moments: Moments) -> None:
    """The engine and Algorithm 1 agree on L, B, graph, cost and changes of the cost."""
    engine = make_engine(moments)
    reference = ReferenceEngine(moments, penalty_discount=2.0, order=engine.order)
    for first, last in updates(COMPARED)[:5]:
        variable = int(engine.order[first])
        change = engine.scan(variable)[last]
        before = reference.cost
        costs = engine.move(variable, last), reference.move(variable, last)
        np.testing.assert_allclose(costs[0], costs[1], rtol=1e-9)
        np.testing.assert_allclose(change, costs[1] - before, atol=1e-6)
    np.testing.assert_array_equal(engine.dag(), reference.dag())
    np.testing.assert_allclose(engine.coefficients(), reference.coefficients(), atol=1e-10)

    order, w = engine.order, whitening_matrix(moments.correlation)
    block = updates(COMPARED)[7]
    by_place = np.zeros_like(w)
    update_in_place(order, w, by_place, Update(0, COMPARED - 1))
    update_in_place(order, w, by_place, block)
    q = np.empty_like(w)
    q[order] = by_place
    np.testing.assert_allclose(coefficient_matrix(q, w).T, engine.coefficients(), atol=1e-9)
    np.testing.assert_allclose(
        order_factor_from_basis(order, q, w), engine._factor.rows(), atol=1e-9
    )
    print(f"Checked at n = {COMPARED}: engine and Algorithm 1 agree on L, B, graph and costs.\n")


def ratios(moments: Moments) -> None:
    """The two goals at n = 500."""
    engine = make_engine(moments)
    move, scan = time_moves(engine), time_scan(engine)
    algorithm = AlgorithmOne(engine, *square_roots(moments.correlation))
    reference, in_place = algorithm.time_reference(), algorithm.time_in_place()

    def row(what: str, ours: float, theirs: float, goal: str) -> list[str]:
        return [what, readable(ours), readable(theirs), f"{theirs / ours:.0f}", goal]

    print_table(
        ["at n = 500", "engine", "Algorithm 1", "ratio", "goal"],
        [
            row("one update, d = 5", move, reference, "≥ 100"),
            row("the same, against Q in place", move, in_place, "≥ 100"),
            row("scan of 500 places, against 3 updates", scan, 3 * reference, "> 1"),
            row("the same, against Q in place", scan, 3 * in_place, "> 1"),
        ],
    )


def instruction_sets(moments: Moments) -> None:
    """What each instruction set and objective takes at n = 500."""
    tasks: tuple[Callable[[QwoEngine], float], ...] = (time_moves, time_scan, time_many_scans)
    rows = []
    for name in _core.available_kernels():
        for objective in ("likelihood", "edges"):
            engine = make_engine(moments, kernels=name, objective=objective)
            rows.append([name, objective, *(readable(task(engine)) for task in tasks)])
    print_table(
        ["kernels", "objective", "move, d = 5", "scan", f"scan, {MANY} at once, each"], rows
    )


def main() -> None:
    config = _core.build_config()
    print(
        f"qwo {config['version']}, {config['compiler']}, kernels {config['kernels']}; "
        f"Python {sys.version.split()[0]}, NumPy {np.__version__}; one thread\n"
    )
    with threadpool_limits(limits=1):
        moments = make_moments(COMPARED)
        check(moments)
        ratios(moments)
        instruction_sets(moments)
        growth()


if __name__ == "__main__":
    main()
