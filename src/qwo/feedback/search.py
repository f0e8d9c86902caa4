"""The directed graph, cycles allowed, of the best penalised likelihood: equation (12) of the paper.

Every linear model of a covariance S is a matrix M of rows with M S M^T = I, and all of those are
U M with U orthogonal. Rows are rotated towards few non-zeros, given to variables, and the graph
that they draw is improved by single edges on its exact likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.graph.dag import is_acyclic
from qwo.order.linalg import as_mask
from qwo.search.control import Control, Progress, Status, Stopped
from qwo.types import Adjacency, FloatArray, Indices, Mask

RUNS, MOST_RUNS = 24, 80
"""Annealed rotations from the order found: so many that draw no new graph end the search."""

STEPS = (100, 100, 300, 300)
FEW = 8
"""Rotations tried for each variable in a run, by turns; in proportion fewer below `FEW` rows."""

EXACT_RUNS, EXACT_STEPS = 40, 3000
"""The same of exact moments."""

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
    near = _near(dag, np.asarray(np.linalg.inv(correlation)), *likelihood)
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
        turned = np.full(len(dag), True) if oracle else around_triangles(dag)
        rows = order_rows(correlation, order)
        size, unit = likelihood
        draws = _core.RowDraws(rows, turned[order].tolist(), samples=size, price=unit)
        idle = 0
        for run, asked in enumerate(_runs(n_samples, price, int(turned.sum()))):
            is_new = draws.draw(seed + run, *asked, control.remaining)
            best.look(run)
            if is_new is None:
                raise Stopped("time limit")
            idle = 0 if is_new else idle + 1
            if is_new:
                best.descend_from(draws.graph() & may | required)
            elif idle == RUNS and not oracle:
                break
    except Stopped as stopped:
        status = stopped.status
    coefficients = graphs.coefficients(as_mask(best.graph))
    found = best.graph, best.cost, best.acyclic, best.acyclic_cost
    return CyclicOutcome(*found, coefficients, status, tuple(best.trace))


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


def _runs(n_samples: float, price: float, rows: int) -> Iterator[tuple[float, float, int, float]]:
    """Sample size and penalty of each run, its rotations of a row, and its temperature."""
    if math.isinf(n_samples):
        for scale in EXACT_RUNS * [EXACT] + [(size, 2 * math.log(size)) for size in SOFT + SOFT]:
            yield *scale, EXACT_STEPS, TEMPERATURES[0]
        return
    for run in range(MOST_RUNS):
        yield n_samples, price, STEPS[run % 4] * min(rows, FEW) // FEW, TEMPERATURES[run % 2]


def around_triangles(dag: Adjacency) -> Mask:
    """Variables of three that are joined pairwise, and their neighbours; all, if there are none.

    A graph without cycles joins three variables of every cycle that shows in the data.
    """
    links = ((dag | dag.T) != 0).astype(np.int64)
    found = ((links @ links) * links).any(axis=0)
    return np.asarray(found | links[found].any(axis=0) if found.any() else ~found)


def order_rows(correlation: FloatArray, order: Indices) -> FloatArray:
    """M with M S M^T = I, row k of which has non-zeros in the first k + 1 places of the order."""
    rows = np.zeros_like(correlation)
    factor = np.linalg.cholesky(correlation[np.ix_(order, order)])
    rows[:, order] = np.linalg.inv(factor)
    return rows


def _near(dag: Adjacency, precision: FloatArray, n_samples: float, price: float) -> Mask:
    """Pairs that are joined or have a common child, or whose partial correlation may be an edge."""
    joined = dag != 0
    unit = np.sqrt(np.diag(precision))
    partial = n_samples * (precision / np.outer(unit, unit)) ** 2 > 0.5 * price
    return np.asarray(joined | joined.T | (joined.astype(int) @ joined.T.astype(int) > 0) | partial)
