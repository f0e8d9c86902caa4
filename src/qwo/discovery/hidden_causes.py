"""The class of graphs with hidden common causes: a descent from the DAG of an order search.

Conditions beside hidden causes are indicators of the regimes, known exogenous causes; joint causal
inference: J. M. Mooij, S. Magliacane, T. Claassen, Joint causal inference from multiple contexts,
JMLR 21 (2020). Each regime but the reference has an indicator, 1 in its rows. Nothing measured
causes an indicator, nothing hidden causes one and a variable, and indicators go together by design.
What an arrow from one says is that the condition shifts a variable's mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.regimes import RegimeKnowledge
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError, Cure
from qwo.graph.knowledge import Knowledge, as_knowledge
from qwo.graph.pag import pag_of_mag
from qwo.hidden.result import HiddenCauses
from qwo.hidden.search import MagOutcome, MagProblem, search_mags
from qwo.moments import Moments, as_moments
from qwo.moments.sums import split_covariance
from qwo.options import SearchOptions
from qwo.order.score import BIC
from qwo.regimes.reading import COLUMN, RegimeData, read_regimes, regime_options
from qwo.search.control import Control, Progress
from qwo.types import Adjacency, Mask

EXACT_SAMPLES = 1e12
"""N that stands for infinity: at 1e10 some weak edges of random models do not pay, and far above
1e12 rounding counts as fit."""

_ASKED = ("hidden_causes", "time_limit", "regime", "targets", "reference")

RESTARTS = 4
"""Of the search for the DAG. With 20, as without hidden causes, as many marks are wrong on random
models of 10 to 50 variables, for up to a third more time."""

FEW_COLLIDERS = 0.2
"""Share of colliders among unshielded triples below which those that the data do not support are
doubted: random graphs have a quarter to a third, trees, chains and hubs few or none."""

SHARE = 0.6
"""Of the time that there is, how much the search for the DAG may take."""


def discover_hidden_causes(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``hidden_causes=True``: the best DAG, the descent from it, the class."""
    from qwo.discovery.discover import discover_as

    conditions = None
    asked = options
    if isinstance(data, Mapping) or "regime" in options.dropped:
        conditions = read_conditions(data, options, reading)
        moments, options = conditions.moments, conditions.options
    else:
        moments = as_moments(data, **reading)
    _check_numbers(moments)
    restarts = RESTARTS if options.restarts is None else options.restarts
    plain = replace(options, hidden_causes=False, restarts=restarts)
    if options.time_limit is not None:
        plain = replace(plain, time_limit=SHARE * control.remaining)

    def watch(progress: Progress) -> bool:
        control.report(progress)
        return control.interrupted

    first = discover_as(moments, plain, callback=watch, ask=False)
    size = EXACT_SAMPLES if moments.is_oracle else float(moments.n_samples)
    penalty, gamma = first.params["penalty_discount"], first.params["gamma"]
    price = BIC(penalty, gamma).price(moments.n_variables, size)
    knowledge = resolved_knowledge(options, moments.names)
    clear = None if conditions is None else conditions.clear
    problem = MagProblem(moments.correlation, size, price, knowledge, clear)
    outcome = search_mags(problem, first.dag, control, _doubtful(first))
    marks = pag_of_mag(outcome.marks, knowledge, clear)
    told = () if conditions is None else conditions.names
    # How conditions go together is known, and tells nothing.
    among = np.isin(moments.names, told)
    marks[np.ix_(among, among)] = 0
    score = _score(outcome, moments, price, penalty)
    found = HiddenCauses(marks, outcome, score, moments, problem, first.dag, told)
    status = first.status if outcome.status == "converged" else outcome.status
    return replace(
        first,
        n_edges=int(np.count_nonzero(marks)) // 2,
        score=score,
        status="interrupted" if control.interrupted else status,
        seconds=control.seconds,
        params={**first.params, **{name: getattr(asked, name) for name in _ASKED}},
        evidence=None,
        arrow_evidence=None,
        proved=False,
        weak_edges=(),
        hidden_causes=found,
    )


def _doubtful(first: Discovery) -> Mask:
    """Arrows of the best DAG that the data do not support, at [i, j] for i → j; none elsewhere."""
    doubtful: Mask = np.zeros(first.dag.shape, bool)
    if _collider_share(first.dag) < FEW_COLLIDERS and first.arrow_evidence is not None:
        arrows, doubted = first.arrow_evidence, ~first.arrow_evidence.supported
        doubtful[arrows.causes[doubted], arrows.effects[doubted]] = True
    return doubtful


def _collider_share(dag: Adjacency) -> float:
    """How many of the unshielded triples of a DAG are colliders; a third of six more counts."""
    arrows = dag.astype(float)
    linked = arrows + arrows.T
    apart = (linked == 0) & ~np.eye(len(dag), dtype=bool)
    met, all_met = ((own @ own.T)[apart].sum() / 2 for own in (arrows, linked))
    return float((met + 2) / (all_met + 6))


def _check_numbers(moments: Moments) -> None:
    """Refuse categories of several columns."""
    several = [n for n, k in zip(moments.names, moments.coding.sizes, strict=True) if k > 1]
    if not several:
        return
    raise ArgumentError(
        f"{', '.join(several[:3])} has more than two levels without an order, for which there is "
        "no score with hidden causes: that of an edge between one number each is all there is. "
        "Drop it, give its levels in an order, or take two levels",
        option="hidden_causes",
        columns=several,
        cures=[Cure("drop", several, "leaves it out")],
    )


def _score(outcome: MagOutcome, moments: Moments, price: float, penalty: float) -> float:
    """The score as results tell it: without the extension of the penalty for many variables."""
    if moments.is_oracle:
        return math.nan
    edges = int((outcome.marks != 0).sum()) // 2
    return -outcome.cost + edges * (price - penalty * math.log(moments.n_samples))


@dataclass(frozen=True, eq=False)
class Conditions:
    """Variables and indicators: their moments, what is known, which pairs nothing hidden joins."""

    moments: Moments
    options: SearchOptions
    names: tuple[str, ...]

    @property
    def clear(self) -> Mask:
        """Pairs of an indicator with anything."""
        own = np.isin(self.moments.names, self.names)
        return np.asarray(own[:, None] | own[None, :])


def read_conditions(data: Any, options: SearchOptions, reading: ReadArguments) -> Conditions:
    """The rows with indicators of their regimes, as moments, and the options for these."""
    if options.effect == "perfect":
        raise ArgumentError(
            "effect is 'perfect', which does not go with hidden_causes: a variable that was set "
            "has no hidden cause in those rows, and one elsewhere; leave effect out, or learn from "
            "the rows of the other conditions",
            option="effect",
        )
    options = regime_options(data, options)
    given = read_regimes(data, options, reading)
    known = RegimeKnowledge.of(options, given)
    chosen = [k for k in range(len(given.labels)) if k != (known.reference or 0)]
    column = COLUMN if options.regime is None else str(options.regime)
    names = tuple(f"{column}={given.labels[k]}" for k in chosen)
    moments = given.moments if given.moments.has_blocks else _moments(given, chosen, names)
    # A regime of which nothing is said may have touched anything.
    touched = known.touched[chosen]
    touched = touched | ~touched.any(axis=1, keepdims=True)
    edges = _knowledge(as_knowledge(options.knowledge or {}), given.moments.names, names, touched)
    plain = replace(options, knowledge=edges, regime=None, targets=None, reference=None)
    return Conditions(moments, plain, names)


def _moments(given: RegimeData, chosen: list[int], names: tuple[str, ...]) -> Moments:
    """The moments of the variables and of indicators, from the sums of each regime."""
    total, means, covariance = given.sums.pooled()
    shares = given.sums.rows[chosen] / total
    across = (shares[:, None] * (given.sums.means[chosen] - means)).T
    own = np.diag(shares) - np.outer(shares, shares)
    scales, correlation = split_covariance(np.block([[covariance, across], [across.T, own]]))
    both = (*given.moments.names, *names)
    twice = sorted({name for name in names if name in given.moments.names})
    if twice:
        raise ArgumentError(f"there is a column {twice[0]!r} already; rename it", twice)
    return Moments(both, given.moments.n_samples, np.append(means, shares), scales, correlation)


def _knowledge(
    known: Knowledge, names: tuple[str, ...], conditions: tuple[str, ...], touched: Mask
) -> Knowledge:
    """What is known, and that conditions are causes of what they may touch and effects of none."""
    given: dict[str, Any] = {field.name: getattr(known, field.name) for field in fields(known)}
    into = [(name, condition) for name in names for condition in conditions]
    beside = [
        (condition, name)
        for condition, row in zip(conditions, touched, strict=True)
        for name, may in zip(names, row, strict=True)
        if not may
    ]
    given["forbidden"] = [*known.forbidden, *into, *beside]
    given["required"] = [*known.required, *combinations(conditions, 2)]
    return Knowledge(**given)
