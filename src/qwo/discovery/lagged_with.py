"""Lags with one assumption more dropped: equations that change with conditions, curves, even noise.

A row belongs to the condition of its own time; the rows before it are given, whatever theirs was.
What was learnt of conditions is that of `qwo.discovery.regimes`, for the present variables. Curves
are functions of the present and of its copies as columns.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.columns.curves import MOST_COLUMNS
from qwo.columns.recipes import with_curves
from qwo.discovery.curved import chosen_size
from qwo.discovery.price import keeping_apart
from qwo.discovery.regimes import RESTARTS, RegimeKnowledge, descent_of, read_regime_outcome
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError, Cure, DataWarning, list_names
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.curves import leading_columns
from qwo.moments.moments import Moments
from qwo.options import SearchOptions
from qwo.regimes.reading import (
    RegimeData,
    check_sizes,
    known_targets,
    reference_of,
    regime_options,
    within_regimes,
)
from qwo.regimes.result import Regimes
from qwo.regimes.sums import RegimeSums
from qwo.regimes.targets import Changes
from qwo.search.control import Control
from qwo.series.design import curved_lag_moments
from qwo.series.lags import uneven_edges
from qwo.series.reading import SeriesData
from qwo.types import FloatArray, Indices


def lagged_regime_options(
    data: Any, options: SearchOptions, reading: ReadArguments
) -> SearchOptions:
    """The options in which the column of conditions is named, if conditions are asked for."""
    if isinstance(data, Mapping):
        raise ArgumentError(
            "lags look back in one table, but the data are several; put all rows into one with a "
            "column for the condition (regime=) and one for the series (unit=)",
            option="lags",
        )
    if "regime" not in options.dropped:
        return options
    if options.arrows == "noise":
        raise ArgumentError(
            "lags, regime and arrows together are more than the rows of one condition tell of "
            "noise; leave one of them out",
            option="arrows",
        )
    if reading.get("missing") == "em":
        raise ArgumentError(
            "missing is 'em', which does not go with regime: equations may differ between "
            "conditions",
            option="missing",
            cures=[Cure("missing", "drop", "leaves incomplete rows out")],
        )
    return regime_options(data, options)


def regime_data(
    series: SeriesData, moments: Moments, rows: FloatArray, regimes: Indices
) -> RegimeData:
    """Sums of the rows with their lags, by the condition of each row."""
    labels = series.regime_labels
    counts = [int((regimes == r).sum()) for r in range(len(labels))]
    check_sizes(labels, counts, len(rows))
    sizes = tuple(moments.coding.sizes.tolist())
    sums = RegimeSums.of([rows[regimes == r] for r in range(len(labels))], sizes)
    return RegimeData(labels, moments, within_regimes(moments, sums), sums)


def searched_regimes(
    first: Discovery,
    given: RegimeData,
    options: SearchOptions,
    control: Control,
    edges: ResolvedKnowledge,
) -> Discovery:
    """The result over the present and its copies, from one that knows nothing of conditions.

    Copies are what they are under each condition; no change of theirs is asked for.
    """
    labels, names = given.labels, given.moments.names
    own = np.array([v.role != "given" for v in given.moments.coding.variables])
    present = [name for name, told in zip(names, own, strict=True) if told]
    touched = np.zeros((len(labels), len(names)), bool)
    touched[:, own] = known_targets(options, labels, present)
    fixed = touched if options.effect == "perfect" else np.zeros_like(touched)
    touched &= ~fixed
    sums = given.sums.standardised()
    settled = {name: first.params[name] for name in ("penalty_discount", "random_state")}
    restarts = RESTARTS if options.restarts is None else options.restarts
    used = replace(options, **settled, restarts=restarts)
    outcome = descent_of(sums, first.order, edges, used, control)(touched | ~own, fixed)
    reference = reference_of(options.reference, labels)
    known = RegimeKnowledge(touched, fixed | ~own, reference, edges)
    regimes, graph = read_regime_outcome(outcome, sums, given, known)
    return replace(
        first,
        cpdag=graph,
        dag=outcome.dag,
        order=outcome.order,
        score=outcome.score,
        n_edges=int(outcome.dag.sum()),
        trace=tuple((seconds, -cost) for seconds, cost in outcome.trace),
        status="interrupted" if control.interrupted else outcome.status,
        seconds=control.seconds,
        evidence=None,
        arrow_evidence=None,
        weak_edges=(),
        proved=False,
        regimes=_of_present(regimes, present),
    )


def _of_present(regimes: Regimes, names: Sequence[str]) -> Regimes:
    """What was learnt of conditions for the first variables, which are the present ones."""
    n = len(names)
    changes = {name: getattr(regimes.changes, name)[..., :n] for name in Changes.__slots__}
    return replace(
        regimes,
        names=tuple(names),
        changes=Changes(**changes),
        status=tuple(row[:n] for row in regimes.status),
        reasons={pair: why for pair, why in regimes.reasons.items() if set(pair) <= set(names)},
        n_causes=regimes.n_causes[:n],
        within=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class CurvedLags:
    """A graph over the present and its copies, the moments it was found with, and their costs."""

    found: Discovery
    moments: Moments
    costs: dict[int, float]


def with_curved_lags(
    linear: CurvedLags,
    rows: FloatArray,
    options: SearchOptions,
    asked: int | None,
    *,
    known: ResolvedKnowledge,
    control: Control,
    search: Callable[[Moments], Discovery],
) -> CurvedLags:
    """The graph with as many functions of each column as pay; that of lines where none do."""
    curved = with_curves(linear.moments.coding, rows, asked or MOST_COLUMNS)
    full = curved_lag_moments(linear.moments, rows, curved)
    choice = chosen_size(full, linear.found, options, asked, control, known=known)
    if choice.size == 1:
        return replace(linear, costs=choice.costs)
    own = leading_columns(full, choice.size)
    return CurvedLags(search(own), own, choice.costs)


def check_curved_lags(series: SeriesData) -> None:
    """Refuse curves where rows are not in memory, or equations may change as well."""
    if series.streamed is not None:
        raise ArgumentError(
            'relations="curved" looks at rows, but the file is read piece by piece; leave '
            "memory_limit out, or take fewer rows",
            option="relations",
        )
    if series.regimes is not None:
        raise ArgumentError(
            "lags, regime and relations together are more than the rows of one condition tell of "
            "curves; leave one of them out",
            option="relations",
        )


ROUNDS = 3
"""How often edges that few rows carry are looked for, in the graph without those found before."""


def without_uneven_edges(
    first: tuple[Discovery, Moments, FloatArray, ResolvedKnowledge],
    search: Callable[[ResolvedKnowledge], Discovery],
) -> tuple[Discovery, ResolvedKnowledge, list[str]]:
    """The result without edges that few rows carry, what is known with that, and what is said.

    From the first result, its moments and rows, and what was known.
    """
    found, moments, rows, known = first
    names, told = moments.names, list[str]()
    apart = np.zeros((len(names),) * 2, bool)
    for _ in range(ROUNDS):
        price = found.params["penalty_discount"] * math.log(moments.n_samples)
        edges = uneven_edges(moments, found.dag, rows, price)
        edges = [edge for edge in edges if not known.required[edge]]
        if not edges:
            break
        for cause, effect in edges:
            apart[cause, effect] = apart[effect, cause] = True
            told.append(f"{names[cause]} → {names[effect]}")
        known = keeping_apart(known, names, apart)
        with warnings.catch_warnings():  # They have been given once.
            warnings.simplefilter("ignore", DataWarning)
            found = search(known)
    note = f"noise is uneven: few rows carry {list_names(told)}, which are left out"
    return found, known, [note] if told else []
