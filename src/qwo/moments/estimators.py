"""Covariance estimators beside the plain one: their names, and what they make of the rows.

Everything is done on the correlation scale. A column is divided by a power of two near its largest
value before anything is squared, so that columns of size 1e-150 and 1e150 can stand side by side,
and is centred before products are formed, so that a large offset costs no digits.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import lapack

from qwo.errors import ArgumentError, CovarianceError
from qwo.moments.moments import Moments
from qwo.moments.sums import mirror_lower, power_of_two, split_covariance
from qwo.options import estimator_name
from qwo.types import FloatArray


def standardized(values: FloatArray, sample: Moments) -> FloatArray:
    """The sample's columns with mean 0 and standard deviation 1."""
    unit = power_of_two(np.maximum(np.abs(sample.means), sample.scales))
    scores = values / unit
    scores -= sample.means / unit
    scores /= sample.scales / unit
    return scores


def regularized(values: FloatArray, sample: Moments, estimator: str | Any) -> Moments:
    """The sample's moments as another covariance estimator sees them, which is left unfitted.

    The estimator works on standardised columns, so that its result does not depend on units. For
    Ledoit-Wolf and OAS shrinkage this leaves the scales alone and multiplies every correlation by
    one number below 1.
    """
    fitted = copy.deepcopy(_named_estimator(estimator))
    fitted.fit(standardized(values, sample))
    if not hasattr(fitted, "covariance_"):
        raise ArgumentError(
            f"covariance_estimator {estimator!r} has no covariance_ after fit; wanted an estimator "
            "that leaves one",
            option="covariance_estimator",
        )
    covariance = _checked(fitted.covariance_, values.shape[1], estimator)
    location = np.asarray(getattr(fitted, "location_", 0.0), dtype=np.float64)
    if location.shape not in ((), (values.shape[1],)) or not np.isfinite(location).all():
        raise ArgumentError(
            f"covariance_estimator {estimator!r} gives location_ as {location!r}; wanted "
            f"{values.shape[1]} numbers",
            option="covariance_estimator",
        )
    spans, correlation = split_covariance(covariance)
    return replace(
        sample,
        means=sample.means + location * sample.scales,
        scales=sample.scales * spans,
        correlation=correlation,
        estimator=estimator_name(estimator),
    )


def _checked(given: Any, size: int, estimator: str | Any) -> FloatArray:
    """The covariance matrix that an estimator made, if it is one by its looks."""
    try:
        covariance = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        covariance = np.empty(0)
    wrong = ""
    if covariance.shape != (size, size):
        wrong = f"shape {np.shape(given)}; wanted ({size}, {size})"
    elif not np.isfinite(covariance).all():
        wrong = f"{(~np.isfinite(covariance)).sum()} missing or infinite entries; wanted numbers"
    elif (np.diagonal(covariance) <= 0).any():
        wrong = f"a diagonal entry of {np.diagonal(covariance).min():g}; wanted them above 0"
    if wrong:
        raise CovarianceError(
            f"covariance_estimator {estimator!r} made a matrix with {wrong}",
            option="covariance_estimator",
        )
    return covariance


def inverse(matrix: FloatArray) -> FloatArray | None:
    """Inverse of a symmetric matrix, or None where it is not numerically positive definite."""
    factor, info = lapack.dpotrf(matrix, lower=1)
    if info != 0:
        return None
    result, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return mirror_lower(result) if info == 0 else None


def _named_estimator(estimator: str | Any) -> Any:
    """The estimator object behind a keyword."""
    if estimator == "ledoit-wolf":
        from sklearn.covariance import LedoitWolf

        return LedoitWolf(assume_centered=True, store_precision=False)
    if estimator == "oas":
        from sklearn.covariance import OAS

        return OAS(assume_centered=True, store_precision=False)
    return estimator
