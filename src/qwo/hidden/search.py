"""The descent over MAGs from the DAG of an order search, by N Σ f(district) + price · edges."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.graph.pag import NO_MASK, dag_marks, is_mag, mag_of_pag, mark_limits
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.hidden.tests_start import pag_from_tests
from qwo.search.control import Control, Progress, Status, Stopped
from qwo.types import Adjacency, FloatArray, Mask

SLICE = 0.02
"""Seconds that the core runs before it is asked whether to go on."""

LEAST_SAVING = 6.0
"""What a change must save: a Bayes factor of e³. Less did more harm than good on samples."""

NEARBY = 4.0
"""Pairs with N r² above this, given all others, may be linked anew."""

EXACT_FROM = 1e6
"""From so many rows on, tests are trusted to make a second start; with fewer it gains nothing."""

MOST_TESTED = 30
"""Up to so many variables there is a second start: its separating sets are among neighbours."""

SWEEPS, EXACT_SWEEPS = 200, 1000


class MagStep(NamedTuple):
    """One change: the edge of a pair before and after, who became a collider, what it saved.

    An edge is 0 for none, 1 for first → second, 2 for second → first, 3 for ↔.
    """

    first: int
    second: int
    before: int
    after: int
    colliders: list[int]
    saving: float


@dataclass(frozen=True, slots=True, eq=False)
class MagOutcome:
    """The MAG found by its marks, its cost and that of the DAG, and the changes between them."""

    marks: Adjacency
    cost: float
    dag_cost: float
    steps: tuple[MagStep, ...]
    status: Status
    coefficients: FloatArray
    covariances: FloatArray
    worths: FloatArray


def search_mags(
    correlation: FloatArray,
    n_samples: float,
    dag: Adjacency,
    *,
    price: float,
    knowledge: ResolvedKnowledge | None,
    control: Control,
) -> MagOutcome:
    """The MAG of least cost that descents from the DAG, and from tests with exact data, reach."""
    exact = n_samples >= EXACT_FROM
    correlation = np.ascontiguousarray(correlation, dtype=np.float64)
    starts = [dag_marks(dag)]
    if exact and len(dag) <= MOST_TESTED and knowledge is None:
        tested = mag_of_pag(pag_from_tests(correlation, n_samples, price, dag))
        if is_mag(tested):
            starts.append(tested)
    best, dag_cost = None, 0.0
    status: Status = "converged"
    for start in starts:
        found = _core.HiddenCausesSearch(
            correlation,
            np.ascontiguousarray(start),
            samples=float(n_samples),
            edge=price,
            least_saving=LEAST_SAVING,
            candidates=candidate_pairs(correlation, n_samples, dag),
            **_limits(knowledge),
            most_sweeps=EXACT_SWEEPS if exact else SWEEPS,
        )
        if best is None:
            dag_cost = found.cost
        status = _descend(found, control)
        if best is None or found.cost < best.cost - 0.01:
            best = found
        if status != "converged":
            break
    assert best is not None
    return MagOutcome(
        best.marks(),
        best.cost,
        dag_cost,
        tuple(MagStep(*step) for step in best.steps()),
        status,
        best.coefficients(),
        best.covariances(),
        _worths(best),
    )


def _descend(found: _core.HiddenCausesSearch, control: Control) -> Status:
    try:
        while not found.run(min(SLICE, control.remaining)):
            if control.is_due():
                done = len(found.steps())
                progress = Progress("hidden causes", done, found.cost, found.cost, control.seconds)
                control.report(progress)
    except Stopped as stopped:
        return stopped.status
    return "converged"


def _worths(found: _core.HiddenCausesSearch) -> FloatArray:
    """What each ↔ is worth: the rise of the cost if it is the best other edge, or none.

    All else stays as it is. NaN for other edges, infinite where no other edge is allowed.
    """
    marks = found.marks()
    worths = np.full(marks.shape, np.nan)
    for i, j in np.argwhere(np.triu((marks == 2) & (marks.T == 2))).tolist():
        worths[i, j] = worths[j, i] = min(found.change(i, j, link) for link in (0, 1, 2))
    return worths


def candidate_pairs(
    correlation: FloatArray, n_samples: float, dag: Adjacency
) -> npt.NDArray[np.uint8]:
    """Pairs that may be linked: those of the DAG, and those that depend given all others."""
    near: Mask = (dag != 0) | (dag.T != 0)
    with suppress(np.linalg.LinAlgError):
        precision = np.linalg.inv(correlation) if n_samples > 2 * len(dag) else np.eye(len(dag))
        scale = np.diag(precision)
        near |= n_samples * precision**2 > NEARBY * np.outer(scale, scale)
    np.fill_diagonal(near, False)
    pairs: npt.NDArray[np.uint8] = near.astype(np.uint8)
    return pairs


def _limits(knowledge: ResolvedKnowledge | None) -> dict[str, npt.NDArray[np.uint8]]:
    if knowledge is None:
        return {"no_tail": NO_MASK, "required": NO_MASK, "never": NO_MASK}
    no_tail, required = mark_limits(knowledge)
    # Whoever comes before j must not have j among its ancestors.
    never = np.ascontiguousarray(knowledge.before, dtype=np.uint8)
    return {"no_tail": no_tail, "required": required, "never": never}
