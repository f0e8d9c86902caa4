"""The descent over MAGs from the DAG of an order search, by N Σ f(district) + price · edges.

With exact moments there is a second start, a class from tests: FCI's steps from the edges of a DAG,
each test at the penalty of an edge. P. Spirtes, C. Meek, T. S. Richardson, Causal inference in the
presence of latent variables and selection bias (UAI 1995).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.graph.dag import ancestor_matrix
from qwo.graph.marks import CIRCLE, HEAD
from qwo.graph.pag import NO_MASK, dag_marks, is_mag, mag_of_pag, mark_limits, orient_by_sets
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.order.reference import partial_correlation
from qwo.search.control import SLICE, Control, Progress, Status, Stopped
from qwo.types import Adjacency, FloatArray, Mask

LEAST_SAVING = 1.0
"""What a change must save, so that rounding is no reason for one."""

EXPECTED = 4.5
"""How many changes are expected beforehand, among so many as there are variables; each that is kept
makes another one likelier (``python -m benchmarks.hidden thresholds``)."""

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
        deleted = self.before > self.after == 0
        return self.saving - excess * deleted - 2 * math.log(2) * self.common


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

    ``steps`` led from the DAG to the best MAG, whose cost is ``least``; those that are ``undoing``
    led on, at a loss, to one with fewer doubtful colliders, which is the one found. ``worths`` says
    of each ↔ how much the cost rises if it is the best other edge, or none; of a pair that only the
    DAG has linked, how much it rises with the best edge there.
    """

    marks: Adjacency
    cost: float
    dag_cost: float
    least: float
    steps: tuple[MagStep, ...]
    undoing: tuple[MagStep, ...]
    status: Status
    worths: FloatArray


def search_mags(
    problem: MagProblem, dag: Adjacency, control: Control, doubtful: Mask | None = None
) -> MagOutcome:
    """The MAG of least cost that descents from the DAG, and from tests with exact data, reach.

    Changes that hang together and save too little are taken back; and so is what makes colliders of
    ``doubtful`` arrows of the DAG, at [i, j] for i → j, at the penalty of an edge at most for each.
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
    least = best.cost
    undoing: tuple[MagStep, ...] = ()
    if doubtful is not None and doubtful.any() and status == "converged":
        best = problem.search(best.marks(), dag)
        best.doubt(_trusted(best.marks(), doubtful, steps), problem.price + LEAST_SAVING)
        status = _descend(best, control)
        undoing = tuple(MagStep(*step) for step in best.steps())
        best = problem.search(best.marks(), dag)
    told = dag_cost, least, steps, undoing, status, _worths(best, dag)
    return MagOutcome(best.marks(), best.cost, *told)


def _trusted(marks: Adjacency, doubtful: Mask, steps: tuple[MagStep, ...]) -> npt.NDArray[np.uint8]:
    """Arrowheads that are not doubtful, or at what the changes that were kept have touched."""
    doubted = doubtful.copy()
    for one, other, *_, z, _, _ in steps:
        doubted[:, [one, other, *z]] = False
    return np.ascontiguousarray((marks == HEAD) & ~doubted, np.uint8)


def without_weak(
    marks: Adjacency, dag: Adjacency, steps: tuple[MagStep, ...], excess: float
) -> tuple[Adjacency, tuple[MagStep, ...]]:
    """The graph, and the changes that led to it, less those of too little evidence together.

    Changes hang together if they touch a vertex in common. The best ones come first; the odds of
    others beforehand are those that are expected and kept, by the number of variables.
    """
    kept: list[MagStep] = []
    groups = [(sum(step.evidence(excess) for step in own), own) for own in _together(steps)]
    for evidence, group in sorted(groups, key=lambda told: -told[0]):
        too_little = evidence < 2 * math.log(len(dag) / (EXPECTED + len(kept)))
        fewer = marks.copy()
        for one, other, *_, z, _, _ in group:
            for a, b in ((one, other), *product(z, (one, other))):
                fewer[a, b], fewer[b, a] = dag[a, b], dag[b, a]
        if too_little and is_mag(fewer):
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


def pag_from_tests(
    correlation: FloatArray, n_samples: float, price: float, dag: Adjacency
) -> Adjacency:
    """The marks that the tests imply; with few rows they need not be those of any class."""
    least = -np.expm1(-price / n_samples)
    # A pair that is linked in the true graph depends given any set, so given all others.
    precision = np.linalg.inv(correlation)
    given_all = precision**2 > least * np.outer(np.diag(precision), np.diag(precision))
    linked = ((dag != 0) | (dag.T != 0) | given_all) & ~np.eye(len(dag), dtype=bool)
    sets = _sets_of_dag(dag, linked)
    for rounds in range(2):
        marks = _colliders(linked, sets)
        for x, y in np.argwhere(np.triu(linked)).tolist():
            if rounds == 0:
                pools = [set(np.flatnonzero(linked[v]).tolist()) - {x, y} for v in (x, y)]
            else:
                pools = [possible_separators(marks, v) - {x, y} for v in (x, y)]
            found = _separating(correlation, least, x, y, pools)
            if found is not None:
                linked[x, y] = linked[y, x] = False
                sets[x, y, list(found)] = sets[y, x, list(found)] = True
    return orient_by_sets(_colliders(linked, sets), sets)


def _separating(
    correlation: FloatArray, least: float, x: int, y: int, pools: list[set[int]]
) -> tuple[int, ...] | None:
    """The smallest set within one of the pools that separates the two; None if none does."""
    tried = set()
    for size in range(max(map(len, pools)) + 1):
        for pool in pools:
            for chosen in combinations(sorted(pool), size):
                if chosen not in tried:
                    tried.add(chosen)
                    if partial_correlation(correlation, x, y, chosen) ** 2 < least:
                        return chosen
    return None


def _sets_of_dag(dag: Adjacency, linked: Mask) -> Mask:
    """For each pair without an edge, the parents of whichever is no cause of the other."""
    n = len(dag)
    sets = np.zeros((n, n, n), bool)
    causes = ancestor_matrix(dag)
    for x, y in combinations(range(n), 2):
        if not linked[x, y]:
            later = x if causes[y, x] else y
            sets[x, y] = sets[y, x] = dag[:, later] != 0
    return sets


def _colliders(linked: Mask, sets: Mask) -> Adjacency:
    """Circles, and arrowheads at z from x and y without an edge, if z does not separate them."""
    marks = np.where(linked, CIRCLE, 0).astype(np.int8)
    for x, y in np.argwhere(np.triu(~linked, 1)).tolist():
        for z in np.flatnonzero(linked[x] & linked[y] & ~sets[x, y]):
            marks[x, z] = marks[y, z] = HEAD
    return marks


def possible_separators(marks: Adjacency, x: int) -> set[int]:
    """Possible-d-sep: ends of paths from x whose inner vertices are colliders or in triangles."""
    seen: set[tuple[int, int]] = set()
    stack = [(x, int(v)) for v in np.flatnonzero(marks[x])]
    while stack:
        u, v = stack.pop()
        if (u, v) in seen:
            continue
        seen.add((u, v))
        for w in np.flatnonzero(marks[v]).tolist():
            collides = marks[u, v] == HEAD and marks[w, v] == HEAD
            if w not in (u, x) and (marks[u, w] or collides):
                stack.append((v, w))
    return {v for _, v in seen}
