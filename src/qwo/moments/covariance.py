"""Means, scales and correlation matrix of a sample: plain, regularised, pooled or inverted.

Everything is done on the correlation scale. A column is divided by a power of two near its largest
value before anything is squared, so that columns of size 1e-150 and 1e150 can stand side by side,
and is centred before products are formed, so that a large offset costs no digits.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk

from qwo.device import present_module, to_host
from qwo.errors import ArgumentError
from qwo.types import FloatArray

BLOCK_ENTRIES = 1 << 16
"""Entries of the centred copy that is alive at a time: half a megabyte, to stay in the cache."""

DEVICE_ENTRIES = 1 << 25
"""Entries that go to a device at a time: a quarter of a gigabyte."""

MIN_BLOCK_ROWS = 256
"""Fewer rows than this would make the matrix product of a wide table wait for memory."""

WIDE_ROW = 4096
"""Entries from which on the length of a row costs nothing."""

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


def sample_moments(
    values: FloatArray, bounds: tuple[FloatArray, FloatArray] | None = None
) -> Sample:
    """Maximum-likelihood moments (divisor N) of finite columns, none of them constant.

    One pass: deviations from the mean of the first block, whose own mean is taken off at the end.
    What that costs in digits is bounded by the share of the first block in the rows. Values are
    scaled by powers of two, which changes no digit, where squares could leave the range of float64.

    Parameters
    ----------
    values : ndarray of shape (N, n)
        The data.
    bounds : pair of ndarray, optional
        The `extremes` of the values, if they are known already.
    """
    n_rows, n_columns = values.shape
    low, high = extremes(values) if bounds is None else bounds
    largest = np.maximum(np.abs(low), np.abs(high))
    safe = largest.max() < SAFE and (high - low).min() > 1 / SAFE
    unit = np.ones(n_columns) if safe else power_of_two(largest)
    blocks = _blocks(values)
    shift = (blocks[0] / unit).mean(axis=0)
    spread = unit if safe else power_of_two(np.maximum(high / unit - shift, shift - low / unit))
    buffer = np.empty_like(blocks[0], order="C")
    ones = np.ones(len(blocks[0]))
    total = np.zeros(n_columns)
    scatter = np.zeros((n_columns, n_columns), order="F")
    if safe and present_module() is not np:
        total, scatter = _sums_elsewhere(values, shift, present_module())
        blocks = []
    for block in blocks:
        centred = buffer[: len(block)]
        if safe:
            np.subtract(block, shift, out=centred)
        else:
            np.divide(block, unit, out=centred)
            centred -= shift
            centred /= spread
        total += ones[: len(block)] @ centred
        # A C-ordered block is its transpose in Fortran's eyes: no copy is made for BLAS.
        scatter = dsyrk(1.0, centred.T, beta=1.0, c=scatter, lower=1, overwrite_c=1)

    offset = total / n_rows
    scatter = dsyrk(-float(n_rows), offset[:, None], beta=1.0, c=scatter, lower=1, overwrite_c=1)
    spans, correlation = split_covariance(mirror_lower(scatter))
    return Sample(
        n_samples=float(n_rows),
        means=(shift + offset * spread) * unit,
        scales=spans / math.sqrt(n_rows) * spread * unit,
        correlation=correlation,
    )


def _sums_elsewhere(
    values: FloatArray, shift: FloatArray, xp: Any
) -> tuple[FloatArray, FloatArray]:
    """Sums of deviations from a shift, and of their products, by another array module."""
    n_rows, n_columns = values.shape
    total, scatter = xp.zeros(n_columns), xp.zeros((n_columns, n_columns))
    rows = max(DEVICE_ENTRIES // n_columns, 1)
    for start in range(0, n_rows, rows):
        centred = xp.asarray(values[start : start + rows]) - xp.asarray(shift)
        total += centred.sum(axis=0)
        scatter += centred.T @ centred
    return to_host(total), to_host(scatter).T


def _blocks(values: FloatArray) -> list[FloatArray]:
    """Views of consecutive rows that fit the cache."""
    rows = max(BLOCK_ENTRIES // max(values.shape[1], 1), MIN_BLOCK_ROWS)
    return [values[start : start + rows] for start in range(0, len(values), rows)]


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
            "that leaves one"
        )
    covariance = np.array(fitted.covariance_, dtype=np.float64)
    location = np.asarray(getattr(fitted, "location_", 0.0), dtype=np.float64)
    spans, correlation = split_covariance(covariance)
    return Sample(
        n_samples=sample.n_samples,
        means=sample.means + location * sample.scales,
        scales=sample.scales * spans,
        correlation=correlation,
    )


def estimator_name(estimator: str | Any) -> str:
    """What to call an estimator: its keyword, or the name of its class."""
    choices = ("plain", "ledoit-wolf", "oas")
    if isinstance(estimator, str):
        if estimator in choices:
            return estimator
    elif callable(getattr(estimator, "fit", None)) and not isinstance(estimator, type):
        return type(estimator).__name__
    raise ArgumentError(
        f"covariance_estimator is {estimator!r}; wanted one of {', '.join(map(repr, choices))}, or "
        "a covariance estimator with the methods of scikit-learn's, such as GraphicalLasso()"
    )


def pooled(first: Sample, second: Sample) -> Sample:
    """Moments of the union of two disjoint samples (Chan, Golub and LeVeque's pairwise update)."""
    weight = first.n_samples + second.n_samples
    unit = power_of_two(
        np.maximum.reduce([first.scales, second.scales, np.abs(second.means / 2 - first.means / 2)])
    )
    step = second.means / unit - first.means / unit
    share_first, share_second = first.n_samples / weight, second.n_samples / weight
    covariance = share_first * share_second * np.outer(step, step)
    for sample, share in ((first, share_first), (second, share_second)):
        scales = sample.scales / unit
        covariance += share * sample.correlation * np.outer(scales, scales)
    spans, correlation = split_covariance(covariance)
    means = first.means + share_second * step * unit
    return Sample(weight, means, spans * unit, correlation)


def inverse(matrix: FloatArray) -> FloatArray | None:
    """Inverse of a symmetric matrix, or None where it is not numerically positive definite."""
    factor, info = lapack.dpotrf(matrix, lower=1)
    if info != 0:
        return None
    result, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return mirror_lower(result) if info == 0 else None


def split_covariance(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations and correlation matrix of a covariance matrix, whose memory is reused."""
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
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
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
