"""The directed graph, cycles allowed, of the best penalised likelihood: equation (12) of the paper.

Every linear model of a covariance S is a matrix M of rows with M S M^T = I, and all of those are
U M with U orthogonal. Rows are rotated towards few non-zeros, given to variables, and the graph
that they draw is improved by single edges on its exact likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from qwo import _core
from qwo.graph.dag import is_acyclic
from qwo.order.cyclic import as_mask
from qwo.search.control import Control, Progress, Status, Stopped
from qwo.types import Adjacency, FloatArray, Indices, Mask

RUNS, MOST_RUNS = 10, 40
"""Annealed rotations from the order found, the more the fewer variables: `benchmarks.feedback`."""

STEPS = 3000
"""Rotations tried for each variable in a run."""

TEMPERATURES = 0.3, 1.0
"""In units of the penalty of an edge, at the start of runs by turns."""

ALL_PAIRS = 20
"""Variables up to which every pair may be joined."""

SOFT = (300.0, 1e3, 3e3, 1e4, 1e5)
"""Sample sizes at which exact moments are annealed as well: some sparse rows are roots of equations
that no chain of rotations to exact zeros leads to."""

EXACT = (1e16, 1.0)
"""Sample size and penalty at which the cost of rotations is the number of non-zeros."""

EXACT_LIKELIHOOD = (1e7, 20.0)
"""The same for the likelihood: an edge is missed if a row of data would lose 2e-6 without it."""

SLICE = 0.05
"""Seconds that the core runs before it is asked whether to go on."""


@dataclass(frozen=True, slots=True, eq=False)
class CyclicOutcome:
    """The best graph found, cycles allowed, and the best without.

    Costs are N log-variances less determinants plus penalties, 0 for the graph without edges; of
    exact moments, with `EXACT_LIKELIHOOD`. Row i of the coefficients is the equation of i, of
    standardised variables.
    """

    graph: Adjacency
    cost: float
    acyclic: Adjacency
    acyclic_cost: float
    coefficients: FloatArray
    status: Status
    trace: tuple[tuple[float, float], ...]


def search_cyclic(
    correlation: FloatArray,
    n_samples: float,
    price: float,
    dag: Adjacency,
    order: Indices,
    *,
    allowed: Mask,
    required: Mask,
    seed: int,
    control: Control,
) -> CyclicOutcome:
    """Search from the DAG of an order; `allowed` and `required` edges are [cause, effect]."""
    oracle = math.isinf(n_samples)
    likelihood = EXACT_LIKELIHOOD if oracle else (n_samples, price)
    precision = np.asarray(np.linalg.inv(correlation), dtype=np.float64)
    near = _moral(dag) | _partial(precision, *likelihood)
    may = allowed & (near | (len(dag) <= ALL_PAIRS)) | required
    graphs = _core.CyclicGraphs(
        np.ascontiguousarray(correlation),
        samples=likelihood[0],
        price=likelihood[1],
        may=may.astype(np.uint8),
        must=required.astype(np.uint8),
    )
    best = _Best(graphs, control)
    status: Status = "converged"
    try:
        best.descend_from(dag)
        rows = order_rows(correlation, order)
        for run, (size, unit) in enumerate(_scales(n_samples, price, len(dag))):
            rotations = _core.RowRotations(rows, samples=size, price=unit, seed=seed + run)
            heat = TEMPERATURES[0] if oracle else TEMPERATURES[run % 2]
            if not rotations.anneal(STEPS * len(rows), heat, control.remaining):
                raise Stopped("time limit")
            drawn = graph_of_rows(rotations.rows(), size, unit)
            if drawn is not None:
                best.descend_from(drawn & may | required)
            best.look(run)
    except Stopped as stopped:
        status = stopped.status
    coefficients = graphs.coefficients(as_mask(best.graph))
    return CyclicOutcome(
        best.graph,
        best.cost,
        best.acyclic,
        best.acyclic_cost,
        coefficients,
        status,
        tuple(best.trace),
    )


class _Best:
    """The best graph of several descents, and the best without cycles."""

    def __init__(self, graphs: _core.CyclicGraphs, control: Control) -> None:
        self._graphs, self._control = graphs, control
        self.cost = self.acyclic_cost = math.inf
        self.graph = self.acyclic = np.empty((0, 0), np.int8)
        self.trace: list[tuple[float, float]] = []

    def descend_from(self, graph: npt.NDArray[np.generic]) -> None:
        self._graphs.start(as_mask(graph))
        self.keep(graph.astype(np.int8))
        while not self._graphs.descend(min(SLICE, self._control.remaining)):
            self.keep(self._graphs.found())
            self.look(0)
        self.keep(self._graphs.found())

    def keep(self, graph: Adjacency) -> None:
        cost = self._graphs.found_cost
        if cost < self.cost:
            self.cost, self.graph = cost, graph
            self.trace.append((self._control.seconds, cost))
        if cost < self.acyclic_cost and is_acyclic(graph):
            self.acyclic_cost, self.acyclic = cost, graph

    def look(self, run: int) -> None:
        if self._control.is_due():
            seconds = self._control.seconds
            self._control.report(Progress("feedback", run, self.cost, self.cost, seconds))


def _scales(n_samples: float, price: float, n: int) -> list[tuple[float, float]]:
    """Sample size and penalty of each run."""
    if not math.isinf(n_samples):
        return min(max(400 // n, RUNS), MOST_RUNS) * [(n_samples, price)]
    return RUNS * [EXACT] + [(size, 2 * math.log(size)) for size in SOFT + SOFT]


def order_rows(correlation: FloatArray, order: Indices) -> FloatArray:
    """M with M S M^T = I, row k of which has non-zeros in the first k + 1 places of the order."""
    rows = np.zeros_like(correlation)
    factor = np.linalg.cholesky(correlation[np.ix_(order, order)])
    rows[:, order] = np.linalg.inv(factor)
    return rows


def graph_of_rows(rows: FloatArray, n_samples: float, price: float) -> Mask | None:
    """The graph of the entries that count, each row an equation; None if no variable is its own.

    Rows go to variables by an assignment, such that the shares of their own are the largest.
    """
    shares = rows**2 / (rows**2).sum(axis=0)
    counts = n_samples * (shares + shares**2 / 2) > 0.999 * price
    loss = np.where(counts, -np.log(np.maximum(shares, 1e-300)), 1e6)
    _, variables = linear_sum_assignment(loss)
    if not counts[np.arange(len(rows)), variables].all():
        return None
    graph = np.zeros_like(counts)
    graph[:, variables] = counts.T
    np.fill_diagonal(graph, False)
    return np.asarray(graph)


def _moral(dag: Adjacency) -> Mask:
    """Pairs that are joined or have a common child."""
    joined = dag != 0
    return np.asarray(joined | joined.T | ((joined.astype(int) @ joined.T.astype(int)) > 0))


def _partial(precision: FloatArray, n_samples: float, price: float) -> Mask:
    """Pairs whose partial correlation given all others is worth half an edge or more."""
    unit = np.sqrt(np.diag(precision))
    return np.asarray(n_samples * (precision / np.outer(unit, unit)) ** 2 > 0.5 * price)
