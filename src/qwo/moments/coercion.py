"""Whatever the user calls data, as moments."""

from __future__ import annotations

from typing import Any

from qwo.errors import ArgumentError
from qwo.moments.audit import Missing
from qwo.moments.covariance import estimator_name
from qwo.moments.moments import Moments


def as_moments(
    data: Any, *, covariance_estimator: str | Any = "plain", missing: Missing = "raise"
) -> Moments:
    """The moments of whatever the user calls data.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Moments are returned as they are; a path ends in .csv, .tsv, .txt or .parquet.
    covariance_estimator, missing
        As for `Moments.from_data`.
    """
    if not isinstance(data, Moments):
        return Moments.from_data(data, covariance_estimator=covariance_estimator, missing=missing)
    wanted = estimator_name(covariance_estimator)
    if wanted not in ("plain", data.estimator):
        raise ArgumentError(
            f"covariance_estimator is {wanted!r}, but the Moments given were estimated by "
            f"{data.estimator!r}; choose the estimator when making them"
        )
    return data
