"""The class of graphs with hidden common causes: a descent from the DAG of an order search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.hidden_regimes import read_conditions
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError, Cure
from qwo.graph.pag import pag_of_mag
from qwo.hidden.result import HiddenCauses
from qwo.hidden.search import MagOutcome, MagProblem, search_mags
from qwo.moments import Moments, as_moments
from qwo.options import SearchOptions
from qwo.order.score import BIC
from qwo.search.control import Control, Progress

EXACT_SAMPLES = 1e12
"""N that stands for infinity: at 1e10 some weak edges of random models do not pay, and far above
1e12 rounding counts as fit."""

_ASKED = ("hidden_causes", "time_limit", "regime", "targets", "reference")

RESTARTS = 4
"""Of the search for the DAG. With 20, as without hidden causes, as many marks are wrong on random
models of 10 to 50 variables, for up to a third more time."""

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
    outcome = search_mags(problem, first.dag, control)
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


def _check_numbers(moments: Moments) -> None:
    """Refuse categories of several columns."""
    if not moments.has_blocks:
        return
    sizes = moments.coding.sizes
    several = [name for name, k in zip(moments.names, sizes, strict=True) if k > 1]
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
