"""Curves of a structural autoregression: functions of the present and of its copies as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from qwo.columns.curves import MOST_COLUMNS
from qwo.columns.recipes import with_curves
from qwo.discovery.curved import chosen_size
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.curves import leading_columns
from qwo.moments.moments import Moments
from qwo.options import SearchOptions
from qwo.search.control import Control
from qwo.series.design import curved_lag_moments
from qwo.series.reading import SeriesData
from qwo.types import FloatArray


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
