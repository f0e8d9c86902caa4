"""What all replicates have in common: the size of a resample, and the options of the search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from qwo.discovery import Discovery, discover
from qwo.discovery.choices import whole_number
from qwo.errors import ArgumentError
from qwo.moments import Moments

Shard = tuple[int, int]


@dataclass(frozen=True, eq=False)
class SearchOptions:
    """The options of `discover` for every replicate; the meanings are the same."""

    search: Any
    engine: Any
    penalty_discount: float
    alpha: float | None
    gamma: float | None
    restarts: int | None
    time_limit: float | None
    knowledge: Any
    start: Any

    def discover(self, moments: Moments, seed: int) -> Discovery:
        """The graph of one set of moments."""
        return discover(
            moments,
            search=self.search,
            engine=self.engine,
            penalty_discount=self.penalty_discount,
            alpha=self.alpha,
            gamma=self.gamma,
            restarts=self.restarts,
            time_limit=self.time_limit,
            knowledge=self.knowledge,
            start=self.start,
            random_state=seed,
        )

    def as_used(self, params: Mapping[str, Any]) -> SearchOptions:
        """The options with what was left open as the search on all data has filled it in.

        On a resample the same would not always be filled in: gamma, for one, depends on whether
        there are more samples than variables.
        """
        names = ("search", "engine", "gamma", "restarts")
        return replace(self, **{name: params[name] for name in names})


def refuse_engine_object(engine: Any) -> None:
    """Raise unless the engine is given by name."""
    if not isinstance(engine, str):
        raise ArgumentError(
            f"engine is a {type(engine).__name__}, which holds data and a penalty of its own; "
            "wanted its name. For an engine object call qwo.discover"
        )


def check_size(n_samples: float, fraction: Any, *, drawn_back: bool) -> float:
    """N of a resample; ``drawn_back`` says whether a row may be drawn again."""
    if not isinstance(fraction, int | float) or not 0 < fraction <= 1:
        raise ArgumentError(f"sample_fraction is {fraction!r}; wanted a number above 0, at most 1")
    if fraction == 1 and not drawn_back:
        raise ArgumentError(
            "with replace=False and sample_fraction=1 every resample is the whole sample; wanted a "
            "fraction below 1, such as 0.5"
        )
    size = fraction * n_samples
    if size < 3:
        raise ArgumentError(
            f"sample_fraction is {fraction:g}: resamples of {size:.3g} of {n_samples:g} rows have "
            "no correlations; wanted 3 rows at least"
        )
    return float(size)


def check_resamples(n_resamples: Any) -> int:
    """How many resamples there are to be."""
    number = whole_number("n_resamples", n_resamples)
    if number < 1:
        raise ArgumentError(f"n_resamples is {number}; wanted 1 at least, better 100")
    return number


def check_tolerance(tolerance: float | None, shard: Shard | None) -> None:
    """Raise unless replicates can end early at this tolerance."""
    if tolerance is None:
        return
    if not 0 < tolerance < math.inf:
        raise ArgumentError(f"tolerance is {tolerance!r}; wanted a number above 0, such as 0.05")
    if shard is not None:
        raise ArgumentError(
            "tolerance ends a run by its own replicates, but the table of several shards needs all "
            "of theirs; leave tolerance out, or run without shard"
        )


def check_shard(shard: Any, random_state: int | None) -> Shard | None:
    """The shard (i, k), which has replicates i - 1, i - 1 + k, i - 1 + 2k and so on."""
    if shard is None:
        return None
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise ArgumentError(f"shard is {shard!r}; wanted two numbers, such as (2, 8)")
    number, count = (whole_number("shard", part) for part in shard)
    if not 1 <= number <= count:
        raise ArgumentError(
            f"shard is {number} of {count}; shards are counted from 1: wanted (1, {count}) to "
            f"({count}, {count})"
        )
    if random_state is None:
        raise ArgumentError(
            "shards of one run must draw from one seed; give all of them the same random_state"
        )
    return number, count
