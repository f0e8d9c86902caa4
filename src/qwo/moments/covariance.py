"""Means, scales and correlation matrix of a sample: regularised, inverted or given.

Everything is done on the correlation scale. A column is divided by a power of two near its largest
value before anything is squared, so that columns of size 1e-150 and 1e150 can stand side by side,
and is centred before products are formed, so that a large offset costs no digits.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from qwo.errors import (
    ArgumentError,
    CovarianceError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
    list_names,
)
from qwo.moments.arrays import table_of
from qwo.moments.dependence import PivotedCholesky
from qwo.types import FloatArray

BLOCK_ENTRIES = 1 << 16
"""Entries of a matrix that are copied at a time."""

WIDE_ROW = 4096
"""Entries from which on the length of a row costs nothing."""

BLOCK_ROWS = 64
"""Rows that are compared with columns at a time."""

SYMMETRY_TOLERANCE = 1e-8
"""How far entries that should agree may differ, and |r| exceed 1, by rounding of the input."""

MIN_SAMPLES = 3
"""Any two points lie on a line: a correlation takes three to say anything."""

LATENT = "latent"
"""The estimator that takes ordinal columns for pieces of normal ones: `qwo.moments.latent`."""

SAFE = 1e100
"""Sums of squares of values between 1/SAFE and SAFE neither overflow nor vanish."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """First and second moments of nameless columns: N, means, standard deviations, correlation."""

    n_samples: float
    means: FloatArray
    scales: FloatArray
    correlation: FloatArray


def extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of each column; NaN where a column has one."""
    n_rows, n_columns = values.shape
    low, high = np.full((2, n_columns), np.inf) * [[1.0], [-1.0]]
    if not values.size:
        return low, high
    # NumPy is slow at reducing short rows, so that several are put side by side at first.
    beside = max(WIDE_ROW // n_columns, 1)
    even = n_rows // beside * beside if values.flags.c_contiguous else 0
    for part in (values[:even].reshape(-1, beside * n_columns), values[even:]):
        if len(part):
            lowest = part.min(axis=0).reshape(-1, n_columns).min(axis=0)
            highest = part.max(axis=0).reshape(-1, n_columns).max(axis=0)
            low, high = np.minimum(low, lowest), np.maximum(high, highest)
    return low, high


def finite_extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest finite value of each column; ∞ and -∞ where there is none."""
    finite = np.where(np.isfinite(values), values, np.nan)
    low = np.fmin.reduce(finite, axis=0, initial=np.inf)
    return low, np.fmax.reduce(finite, axis=0, initial=-np.inf)


def standardized(values: FloatArray, sample: Sample) -> FloatArray:
    """The sample's columns with mean 0 and standard deviation 1."""
    unit = power_of_two(np.maximum(np.abs(sample.means), sample.scales))
    scores = values / unit
    scores -= sample.means / unit
    scores /= sample.scales / unit
    return scores


def regularized(values: FloatArray, sample: Sample, estimator: str | Any) -> Sample:
    """The sample's moments as another covariance estimator sees them.

    The estimator works on standardised columns, so that its result does not depend on units. For
    Ledoit-Wolf and OAS shrinkage this leaves the scales alone and multiplies every correlation by
    one number below 1.

    Parameters
    ----------
    values : ndarray of shape (N, n)
        The data.
    sample : Sample
        The plain moments of `values`.
    estimator : str or object
        ``"ledoit-wolf"``, ``"oas"``, or an object with ``fit`` and then ``covariance_``, as the
        covariance estimators of scikit-learn; it is copied, not fitted in place.
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
    return Sample(
        n_samples=sample.n_samples,
        means=sample.means + location * sample.scales,
        scales=sample.scales * spans,
        correlation=correlation,
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


def split_covariance(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations and correlation matrix of a covariance matrix, whose memory is reused.

    Its lower triangle counts.
    """
    scales = np.sqrt(np.diagonal(covariance))
    covariance /= scales[:, None]
    covariance /= scales
    np.fill_diagonal(covariance, 1.0)
    return scales, mirror_lower(covariance)


def mirror_lower(matrix: FloatArray) -> FloatArray:
    """The exactly symmetric matrix with the lower triangle of `matrix`, in place."""
    size = len(matrix)
    rows = max(BLOCK_ENTRIES // max(size, 1), 1)
    for start in range(0, size, rows):
        stop = min(start + rows, size)
        corner = matrix[start:stop, start:stop]
        corner[...] = np.where(np.tri(stop - start, dtype=np.bool_), corner, corner.T)
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix if matrix.flags.c_contiguous else matrix.T


def power_of_two(size: FloatArray) -> FloatArray:
    """The largest power of two not above each size (1 for size 0): division by it is exact."""
    exponent = np.frexp(size)[1] - 1
    return np.where(size > 0, np.ldexp(1.0, exponent), 1.0)


def _named_estimator(estimator: str | Any) -> Any:
    """The estimator object behind a keyword."""
    if estimator == "ledoit-wolf":
        from sklearn.covariance import LedoitWolf

        return LedoitWolf(assume_centered=True, store_precision=False)
    if estimator == "oas":
        from sklearn.covariance import OAS

        return OAS(assume_centered=True, store_precision=False)
    return estimator


def sample_from_covariance(
    matrix: Any, n_samples: float | None, names: Sequence[object] | None, means: Any
) -> tuple[tuple[str, ...], Sample]:
    """Names and moments of a given covariance or correlation matrix."""
    labels, covariance = _symmetric(matrix, names, "covariance")
    size = sample_size(n_samples)
    centre = np.full(len(labels), np.nan) if means is None else _numbers(means, "means")
    if centre.shape != (len(labels),):
        raise ShapeError(f"means has shape {centre.shape}; wanted ({len(labels)},)")
    scales, correlation = split_covariance(covariance)
    check_bounds(labels, correlation)
    return labels, Sample(size, centre, scales, correlation)


def sample_from_precision(
    matrix: Any, n_samples: float | None, names: Sequence[object] | None
) -> tuple[tuple[str, ...], Sample]:
    """Names and moments of a given inverse covariance matrix."""
    labels, precision = _symmetric(matrix, names, "precision")
    size = sample_size(n_samples)
    units, scaled = split_covariance(precision)
    covariance = inverse(scaled)
    if covariance is None:
        cholesky = PivotedCholesky.of(scaled)
        columns = [labels[k] for k in cholesky.pivots[cholesky.rank :]]
        raise CovarianceError(
            "the precision matrix is not positive definite, so that it has no inverse "
            f"(seen at {list_names(columns)}); check it, or give a covariance matrix",
            columns,
        )
    spans, correlation = split_covariance(covariance)
    return labels, Sample(size, np.full(len(labels), np.nan), spans / units, correlation)


def _symmetric(
    matrix: Any, names: Sequence[object] | None, kind: str
) -> tuple[tuple[str, ...], FloatArray]:
    """Names and a fresh copy of a square, symmetric, finite matrix with a positive diagonal."""
    table = table_of(matrix, names)
    if table.refused:
        refused = [column.name for column in table.refused]
        raise NonNumericError(
            f"the {kind} matrix has entries that are not real numbers in {list_names(refused)} "
            f"({table.refused[0].reason})",
            refused,
        )
    values = np.array(table.values, order="C")
    if values.shape[0] != values.shape[1] or len(values) < 2:
        raise ShapeError(
            f"the {kind} matrix has shape {values.shape}; wanted it square and 2 × 2 at least"
        )
    check_matrix(table.names, values, kind)
    return table.names, mirror_lower(values)


def check_matrix(names: tuple[str, ...], values: FloatArray, kind: str) -> None:
    """See that a matrix is finite and symmetric and has a positive diagonal."""
    _check_entries(names, values, kind)
    _check_symmetry(names, values, kind)


def _check_entries(names: tuple[str, ...], values: FloatArray, kind: str) -> None:
    finite = np.isfinite(values).all(axis=0)
    if not finite.all():
        wrong = [names[k] for k in np.flatnonzero(~finite)]
        raise MissingValuesError(
            f"the {kind} matrix has missing or infinite entries in {list_names(wrong)}", wrong
        )
    diagonal = np.diagonal(values)
    if (diagonal <= 0).any():
        places = np.flatnonzero(diagonal <= 0)
        wrong = [names[k] for k in places]
        raise CovarianceError(
            f"the diagonal of the {kind} matrix must be positive; it is "
            f"{diagonal[places[0]]:g} for "
            f"{list_names(wrong)}. A variable without variance must be left out",
            wrong,
        )


def _check_symmetry(names: tuple[str, ...], values: FloatArray, kind: str) -> None:
    size = np.sqrt(np.diagonal(values))
    for start in range(0, len(values), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        gap = np.abs(values[block] - values[:, block].T) / size / size[block, None]
        row, j = np.unravel_index(int(gap.argmax()), gap.shape)
        if gap[row, j] > SYMMETRY_TOLERANCE:
            i = start + row
            raise CovarianceError(
                f"the {kind} matrix is not symmetric: {values[i, j]:g} for ({names[i]!r}, "
                f"{names[j]!r}), but {values[j, i]:g} for ({names[j]!r}, {names[i]!r}). If one "
                "triangle is left blank, fill it in",
                (names[i], names[j]),
            )


def check_bounds(names: tuple[str, ...], correlation: FloatArray) -> None:
    """See that no correlation is beyond 1."""
    for i, row in enumerate(correlation):
        j = int(np.abs(row).argmax())
        if abs(row[j]) > 1 + SYMMETRY_TOLERANCE:
            raise CovarianceError(
                f"the matrix gives {names[i]!r} and {names[j]!r} a correlation of {row[j]:.6g}, "
                "beyond 1, so that no data can have it",
                (names[i], names[j]),
            )


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} is {values!r}; wanted numbers", option=name) from error


def sample_size(n_samples: float | None) -> float:
    """N as a float; infinity stands for the exact matrix of a distribution."""
    if n_samples is None:
        return math.inf
    try:
        size = float(n_samples)
    except (TypeError, ValueError):
        size = math.nan
    if not size >= MIN_SAMPLES:
        raise SampleSizeError(
            f"n_samples is {n_samples!r}; wanted a number from {MIN_SAMPLES} up, or None if the "
            "matrix is exact",
            option="n_samples",
        )
    return size
