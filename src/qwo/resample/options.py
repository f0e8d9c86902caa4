"""What all replicates have in common: the size of a resample, and the options of the search."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from qwo.arguments import ReadArguments
from qwo.checks import is_number, whole_number
from qwo.discovery import Discovery
from qwo.errors import ArgumentError, Cure
from qwo.moments import Moments, as_moments, read_table
from qwo.moments.tables import Table
from qwo.options import Missing, SearchOptions
from qwo.types import Indices

Shard = tuple[int, int]
Resampling = Literal["halves", "subsamples", "replacement"]

MOST_RESAMPLES = 1_000_000


class Rows(NamedTuple):
    """Data whose rows are drawn, with what makes moments of them.

    Attributes
    ----------
    data : Moments or Table
        Moments, where there are no rows.
    covariance_estimator, missing
        As for `Moments.from_data`.
    moments : Moments or None
        Those of all rows, where they are known.
    """

    data: Any
    covariance_estimator: Any = "plain"
    missing: Missing = "raise"
    moments: Moments | None = None

    @classmethod
    def of(cls, data: Any, reading: ReadArguments) -> Rows:
        """The rows of whatever the user calls data."""
        if isinstance(data, Rows):
            return data
        selection: dict[str, Any] = {**reading}
        estimator = selection.pop("covariance_estimator", "plain")
        missing: Missing = selection.pop("missing", "raise")
        if isinstance(data, Moments):
            return cls(as_moments(data, **reading), estimator, missing)
        for name in ("weights", "memory_limit"):
            if selection.pop(name, None) is not None:
                raise ArgumentError(
                    f"{name} is for Moments, of which no rows are drawn; make them first, with "
                    "Moments.from_data, or leave it out",
                    option=name,
                )
        if not isinstance(data, Table):
            data = read_table(data, **selection)
        return cls(data, estimator, missing)


def as_used(options: SearchOptions, reference: Discovery) -> tuple[SearchOptions, Indices | None]:
    """The options of the replicates; what was left open is as the search on all data filled it in.

    On a resample the same would not always be filled in: gamma, for one, depends on whether there
    are more samples than variables. Where neither the start nor the restarts were given, an
    insertion search on the exact BIC starts from the order found on all data, which is returned
    too, and stays near it: the supports are those of searches from scratch up to chance, for a
    fraction of the time (``python -m benchmarks.calibration --starts``).
    """
    params = reference.params
    names = ("search", "engine", "penalty_discount", "alpha", "gamma", "restarts", "objective")
    used = replace(options, **{name: params[name] for name in names})
    left_open = options.start is None and options.restarts is None and options.method is None
    if left_open and params["search"] == "insertion" and params["engine"] == "bic":
        return replace(used, restarts=0), reference.order
    return used, None


def check_size(n_samples: float, resampling: Any, fraction: Any) -> float:
    """N of a resample of N rows; a whole number where N is one."""
    if resampling not in get_args(Resampling):
        raise ArgumentError(
            f"resampling is {resampling!r}; wanted one of {get_args(Resampling)}",
            option="resampling",
        )
    if resampling == "halves":
        if fraction is not None:
            raise ArgumentError(
                f"sample_fraction is {fraction!r}, but half of the rows is a half",
                cures=[
                    Cure("resampling", "subsamples", "draws any fraction of the rows, once each"),
                    Cure("resampling", "replacement", "draws them with replacement"),
                ],
                option="sample_fraction",
            )
        size = n_samples // 2
    else:
        size = _size(n_samples, resampling, fraction)
    if size < 3:
        raise ArgumentError(
            f"resamples of {size:.3g} of {n_samples:g} rows have no correlations; wanted 3 rows at "
            "least"
        )
    return size


def _size(n_samples: float, resampling: Resampling, fraction: Any) -> float:
    once = resampling == "subsamples"
    share = (0.5 if once else 1.0) if fraction is None else fraction
    if not isinstance(share, int | float | np.number) or not 0 < share <= 1:
        raise ArgumentError(
            f"sample_fraction is {share!r}; wanted a number above 0, at most 1",
            option="sample_fraction",
        )
    if share == 1 and once:
        raise ArgumentError(
            "sample_fraction is 1: every subsample is the whole sample; wanted a fraction below 1, "
            "such as 0.5",
            option="sample_fraction",
        )
    size = float(share) * n_samples
    return float(round(size)) if float(n_samples).is_integer() else size


def check_resamples(n_resamples: Any) -> int:
    """How many resamples there are to be."""
    number = whole_number("n_resamples", n_resamples)
    if not 1 <= number <= MOST_RESAMPLES:
        raise ArgumentError(
            f"n_resamples is {number}; wanted 1 at least, better 100, and {MOST_RESAMPLES:,} at "
            "most: no share is more uncertain than ± 0.001 then",
            option="n_resamples",
        )
    return number


def check_tolerance(tolerance: float | None, shard: Shard | None) -> None:
    """Raise unless replicates can end early at this tolerance."""
    if tolerance is None:
        return
    if not is_number(tolerance) or not 0 < tolerance < math.inf:
        raise ArgumentError(
            f"tolerance is {tolerance!r}; wanted a number above 0, such as 0.05", option="tolerance"
        )
    if shard is not None:
        raise ArgumentError(
            "tolerance ends a run by its own replicates, but the table of several shards needs all "
            "of theirs; leave one of them out",
            option="tolerance",
        )


def check_shard(shard: Any, random_state: int | None) -> Shard | None:
    """The shard (i, k), which has replicates i - 1, i - 1 + k, i - 1 + 2k and so on."""
    if shard is None:
        return None
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise ArgumentError(
            f"shard is {shard!r}; wanted two numbers, such as (2, 8)", option="shard"
        )
    number, count = (whole_number("shard", part) for part in shard)
    if not 1 <= number <= count:
        raise ArgumentError(
            f"shard is {number} of {count}; shards are counted from 1, up to {count}",
            option="shard",
        )
    if random_state is None:
        raise ArgumentError(
            "shards of one run must draw from one seed; give all of them the same",
            cures=[Cure("random_state", 0, "or any other number, for all")],
        )
    return number, count
