"""The descent over MAGs from the DAG of an order search, by N Σ f(district) + price · edges."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.graph.marks import HEAD
from qwo.graph.pag import NO_MASK, dag_marks, is_mag, mag_of_pag, mark_limits
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.hidden.tests_start import pag_from_tests
from qwo.search.control import Control, Progress, Status, Stopped
from qwo.types import Adjacency, FloatArray, Mask

SLICE = 0.02
"""Seconds that the core runs before it is asked whether to go on."""

LEAST_SAVING = 1.0
"""What a change must save, so that rounding is no reason for one."""

LEAST_EVIDENCE = 3.0
"""What changes that hang together must be worth in all to be kept, as `MagStep.evidence` has it:
odds of e^1.5 (``python -m benchmarks.hidden thresholds``)."""

FARTHEST = 80.0
"""Savings beyond which nobody doubts a mark."""

NEARBY = 4.0
"""Pairs with N r² above this, given all others, may be linked anew."""

EXACT_FROM = 1e6
"""From so many rows on, tests are trusted to make a second start; with fewer it gains nothing."""

MOST_TESTED = 30
"""Up to so many variables there is a second start: its separating sets are among neighbours."""

SWEEPS, EXACT_SWEEPS = 200, 1000
"""Of the fit of a district, at most: exact moments are fitted to more digits."""


class MagStep(NamedTuple):
    """One change: the edge of a pair before and after, who became a collider, what it saved.

    An edge is 0 for none, 1 for first → second, 2 for second → first, 3 for ↔. The colliders are
    some of so many common neighbours.
    """

    first: int
    second: int
    before: int
    after: int
    colliders: list[int]
    saving: float
    common: int = 0

    def evidence(self, excess: float) -> float:
        """Twice its log odds: what it saves by the BIC, less twice the log of the choices.

        The penalty of an edge that is deleted is more than the log N of the BIC by an excess. Of
        all ways to choose colliders from the common neighbours the best one saves by chance, too.
        """
        return self.saving - (0 if self.after else excess) - 2 * math.log(2) * self.common


@dataclass(frozen=True, eq=False)
class MagProblem:
    """What a MAG is scored by: correlations, N and the penalty of an edge; and what is known.

    Pairs that are ``clear`` have no hidden cause in common.
    """

    correlation: FloatArray
    n_samples: float
    price: float
    knowledge: ResolvedKnowledge | None = None
    clear: Mask | None = None

    @property
    def exact(self) -> bool:
        """Whether there are so many rows that tests are trusted."""
        return self.n_samples >= EXACT_FROM

    def search(self, start: Adjacency, dag: Adjacency) -> _core.HiddenCausesSearch:
        """A descent from a MAG; pairs of the DAG, and those that depend, may be linked."""
        known = self.knowledge
        correlation = np.ascontiguousarray(self.correlation, dtype=np.float64)
        return _core.HiddenCausesSearch(
            correlation,
            np.ascontiguousarray(start, dtype=np.int8),
            samples=float(self.n_samples),
            edge=self.price,
            least_saving=LEAST_SAVING,
            candidates=candidate_pairs(correlation, self.n_samples, dag),
            **mark_limits(known, self.clear),
            # Whoever comes before j must not have j among its ancestors.
            never=NO_MASK if known is None else known.before.astype(np.uint8, order="C"),
            most_sweeps=EXACT_SWEEPS if self.exact else SWEEPS,
        )


@dataclass(frozen=True, slots=True, eq=False)
class MagOutcome:
    """The MAG found by its marks, its cost and that of the DAG, and the changes between them.

    ``worths`` says of each ↔ how much the cost rises if it is the best other edge, or none; of a
    pair that only the DAG has linked, how much it rises with the best edge there.
    """

    marks: Adjacency
    cost: float
    dag_cost: float
    steps: tuple[MagStep, ...]
    status: Status
    worths: FloatArray


def search_mags(problem: MagProblem, dag: Adjacency, control: Control) -> MagOutcome:
    """The MAG of least cost that descents from the DAG, and from tests with exact data, reach.

    Changes that hang together and save too little are taken back.
    """
    best = problem.search(dag_marks(dag), dag)
    dag_cost = best.cost
    status = _descend(best, control)
    tests = problem.exact and len(dag) <= MOST_TESTED and problem.knowledge is None
    if tests and status == "converged":
        given = problem.correlation, problem.n_samples, problem.price
        tested = mag_of_pag(pag_from_tests(*given, dag))
        if is_mag(tested):
            other = problem.search(tested, dag)
            status = _descend(other, control)
            if other.cost < best.cost - 0.01:
                best = other
    steps = tuple(MagStep(*step) for step in best.steps())
    if not problem.exact:
        excess = problem.price - math.log(problem.n_samples)
        marks, kept = without_weak(best.marks(), dag_marks(dag), steps, excess)
        if len(kept) < len(steps):
            best, steps = problem.search(marks, dag), kept
    return MagOutcome(best.marks(), best.cost, dag_cost, steps, status, _worths(best, dag))


def without_weak(
    marks: Adjacency, dag: Adjacency, steps: tuple[MagStep, ...], excess: float
) -> tuple[Adjacency, tuple[MagStep, ...]]:
    """The graph, and the changes that led to it, less those of too little evidence together.

    Changes hang together if they touch a vertex in common.
    """
    kept: list[MagStep] = []
    for group in _together(steps):
        if sum(step.evidence(excess) for step in group) >= LEAST_EVIDENCE:
            kept += group
            continue
        fewer = marks.copy()
        for one, other, *_, z, _, _ in group:
            for a, b in ((one, other), *product(z, (one, other))):
                fewer[a, b], fewer[b, a] = dag[a, b], dag[b, a]
        if is_mag(fewer):
            marks = fewer
        else:
            kept += group
    return marks, tuple(step for step in steps if step in kept)


def _together(steps: tuple[MagStep, ...]) -> list[list[MagStep]]:
    """The changes in groups that touch no vertex in common."""
    groups: list[tuple[set[int], list[MagStep]]] = []
    for step in steps:
        touched = {step.first, step.second, *step.colliders}
        near = [own for own in groups if own[0] & touched]
        groups = [own for own in groups if not own[0] & touched]
        every = [earlier for _, others in near for earlier in others]
        groups.append((touched.union(*(vertices for vertices, _ in near)), [*every, step]))
    return [own for _, own in groups]


def _descend(found: _core.HiddenCausesSearch, control: Control) -> Status:
    try:
        while not found.run(min(SLICE, control.remaining)):
            if control.is_due():
                told = found.cost, found.cost, control.seconds
                control.report(Progress("hidden causes", len(found.steps()), *told))
    except Stopped as stopped:
        return stopped.status
    return "converged"


def _worths(found: _core.HiddenCausesSearch, dag: Adjacency) -> FloatArray:
    """What each ↔, and each edge of the DAG that is gone, is worth; NaN for other pairs.

    All else stays as it is. Infinite where no other edge is allowed.
    """
    marks, worths = found.marks(), np.full(dag.shape, np.nan)
    gone = (dag != 0) & (marks == 0)
    gone |= gone.T
    for i, j in np.argwhere(np.triu(gone | ((marks == HEAD) & (marks.T == HEAD)))).tolist():
        others = (1, 2, 3) if gone[i, j] else (0, 1, 2)
        worths[i, j] = worths[j, i] = min(found.change(i, j, link) for link in others)
    return worths


def candidate_pairs(correlation: FloatArray, size: float, dag: Adjacency) -> npt.NDArray[np.uint8]:
    """Pairs that may be linked: those of the DAG, and those that depend given all others."""
    near: Mask = (dag != 0) | (dag.T != 0)
    with suppress(np.linalg.LinAlgError):
        precision = np.linalg.inv(correlation) if size > 2 * len(dag) else np.eye(len(dag))
        scale = np.diag(precision)
        near |= size * precision**2 > NEARBY * np.outer(scale, scale)
    np.fill_diagonal(near, False)
    return near.astype(np.uint8)
