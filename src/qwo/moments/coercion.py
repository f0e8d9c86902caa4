"""Whatever the user calls data, as moments."""

from __future__ import annotations

from typing import Any, Unpack

from qwo.errors import ArgumentError
from qwo.moments.covariance import estimator_name
from qwo.moments.moments import Moments
from qwo.moments.source import ReadArguments


def as_moments(data: Any, **reading: Unpack[ReadArguments]) -> Moments:
    """The moments of whatever the user calls data.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Moments are returned as they are; a path ends in .csv, .tsv, .txt or .parquet.
    **reading
        Columns to take or drop, transformations, missing values, the covariance estimator, and how
        a text file is written: see `qwo.moments.source.ReadOptions`.
    """
    if not isinstance(data, Moments):
        return Moments.from_data(data, **reading)
    wanted = estimator_name(reading.pop("covariance_estimator", "plain"))
    if wanted not in ("plain", data.estimator):
        raise ArgumentError(
            f"covariance_estimator is {wanted!r}, but the Moments given were estimated by "
            f"{data.estimator!r}; choose the estimator when making them"
        )
    for option in ("columns", "drop", "transform"):
        if reading.get(option) is not None:
            raise ArgumentError(
                f"{option} is {reading[option]!r}, but Moments are given; apply it where they are "
                "made from the data"
            )
    return data
