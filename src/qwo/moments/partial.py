"""Sums over some of the rows of a table, from which the moments of all rows are put together.

Every piece is centred at its own mean before products are formed, and two pieces are merged by the
pairwise update of Chan, Golub and LeVeque: offsets cost no digits, however many pieces there are.
Variables stand in rows here, as they come from columnar files.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from qwo.errors import ArgumentError
from qwo.moments.arrays import RefusedColumn
from qwo.moments.covariance import (
    SAFE,
    Sample,
    finite_extremes,
    mirror_lower,
    power_of_two,
    split_covariance,
)
from qwo.types import FloatArray

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What was seen of the values of some rows.

    Attributes
    ----------
    n_rows, n_incomplete : int
        Rows, and those of them with missing or infinite values.
    low, high : ndarray of shape (n,)
        Smallest and largest finite values.
    absent, infinite : ndarray of int
        Missing and infinite values of each column.
    refused : tuple of RefusedColumn
        Columns that are not numbers; there they count as missing.
    """

    n_rows: int
    n_incomplete: int
    low: FloatArray
    high: FloatArray
    absent: Counts
    infinite: Counts
    refused: tuple[RefusedColumn, ...] = ()

    def merged(self, other: Seen) -> Seen:
        """What was seen of the rows of both."""
        return Seen(
            self.n_rows + other.n_rows,
            self.n_incomplete + other.n_incomplete,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.absent + other.absent,
            self.infinite + other.infinite,
            self.refused or other.refused,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PartialSums:
    """Weight, means and centred products of complete rows, and what was seen of all.

    Attributes
    ----------
    seen : Seen
        Counts and bounds.
    weight : float
        Total weight of the complete rows; their number if rows have no weights.
    means : ndarray of shape (n,)
        Their means.
    unit : ndarray of shape (n,)
        Powers of two by which deviations from the means are divided before they are multiplied.
    scatter : ndarray of shape (n, n)
        Σ w (x - mean)(x - mean)ᵀ in these units; only the lower triangle has meaning.
    """

    seen: Seen
    weight: float
    means: FloatArray
    unit: FloatArray
    scatter: FloatArray

    def merged(self, other: PartialSums) -> PartialSums:
        """The sums over the rows of both; the memory of this one's products is used for them."""
        seen = self.seen.merged(other.seen)
        if other.weight == 0 or self.weight == 0:
            return dataclasses.replace(self if other.weight == 0 else other, seen=seen)
        weight = self.weight + other.weight
        unit = np.maximum(self.unit, other.unit)
        step = other.means / unit - self.means / unit
        scatter = _rescaled(self.scatter, self.unit / unit)
        scatter += _rescaled(other.scatter, other.unit / unit)
        share = self.weight * (other.weight / weight)
        scatter = dsyrk(share, step[:, None], beta=1.0, c=scatter, lower=1, overwrite_c=1)
        means = self.means + step * (other.weight / weight) * unit
        return PartialSums(seen, weight, means, unit, scatter)

    def sample(self) -> Sample:
        """The moments of columns none of which is constant."""
        spans, correlation = split_covariance(mirror_lower(self.scatter.copy(order="F")))
        scales = spans / math.sqrt(self.weight) * self.unit
        return Sample(self.weight, self.means, scales, correlation)


def sums_of_sample(sample: Sample) -> PartialSums:
    """The sums that a sample's moments stand for."""
    unit = power_of_two(sample.scales)
    spread = sample.scales / unit
    n = len(unit)
    none = np.zeros(n, dtype=np.int64)
    # The bounds are unknown, but no column is constant.
    seen = Seen(round(sample.n_samples), 0, np.full(n, -np.inf), np.full(n, np.inf), none, none)
    scatter = sample.n_samples * sample.correlation * np.outer(spread, spread)
    return PartialSums(seen, sample.n_samples, sample.means, unit, np.asfortranarray(scatter))


def partial_sums(
    columns: FloatArray,
    weights: FloatArray | None = None,
    *,
    keep_bounds: bool = False,
    overwrite: bool = False,
) -> PartialSums:
    """The sums over rows of data.

    Parameters
    ----------
    columns : ndarray of shape (n, N)
        One variable in each row, in any memory order.
    weights : ndarray of shape (N,), optional
        How many rows each row counts for.
    keep_bounds : bool
        Whether smallest and largest values are those of all rows, or of the complete ones.
    overwrite : bool
        Whether the memory of `columns` may be used.
    """
    n, n_rows = columns.shape
    low = columns.min(axis=1, initial=np.inf)
    high = columns.max(axis=1, initial=-np.inf)
    absent = infinite = np.zeros(n, dtype=np.int64)
    n_incomplete = 0
    if n_rows and not (np.isfinite(low).all() and np.isfinite(high).all()):
        usable = np.isfinite(columns)
        absent = np.isnan(columns).sum(axis=1)
        infinite = (~usable).sum(axis=1) - absent
        complete = usable.all(axis=0)
        n_incomplete = int(n_rows - complete.sum())
        low, high = finite_extremes(columns.T if keep_bounds else columns[:, complete].T)
        columns, overwrite = columns[:, complete], True
        weights = None if weights is None else weights[complete]
    seen = Seen(n_rows, n_incomplete, low, high, absent, infinite)
    return PartialSums(seen, *_centred_products(columns, weights, low, high, overwrite))


def check_weights(weights: FloatArray, name: str = "weights") -> FloatArray:
    """Weights that are numbers from 0 up."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ArgumentError(
            f"{name}: {wrong.sum()} of {len(weights)} weights are negative, infinite or missing, "
            f"the first {weights[wrong][0]:g}; wanted numbers from 0 up: how many rows each row "
            "counts for"
        )
    return weights


def _centred_products(
    columns: FloatArray,
    weights: FloatArray | None,
    low: FloatArray,
    high: FloatArray,
    overwrite: bool,
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Weight, means, units and scatter of finite columns."""
    n, n_rows = columns.shape
    weight = float(n_rows if weights is None else weights.sum())
    if weight == 0:
        return 0.0, np.zeros(n), np.ones(n), np.zeros((n, n), order="F")
    largest = np.maximum(np.abs(low), np.abs(high))
    size = np.ones(n)
    if not largest.max() < SAFE:
        size = power_of_two(largest)
        columns = columns / size[:, None]
    scaled = columns.mean(axis=1) if weights is None else columns @ weights / weight
    centred = np.subtract(columns, scaled[:, None], out=columns if overwrite else None)
    spread = np.maximum(high / size - scaled, scaled - low / size)
    small = np.ones(n)
    if spread.min(initial=1.0, where=spread > 0) < 1 / SAFE:
        small = power_of_two(spread)
        centred /= small[:, None]
    if weights is not None:
        centred *= np.sqrt(weights)
    # Transposed for BLAS, which wants columns in one piece; the matrix is symmetric.
    scatter = (centred @ centred.T).T
    return weight, scaled * size, size * small, scatter


def _rescaled(scatter: FloatArray, factor: FloatArray) -> FloatArray:
    """Products in other units; the very same array if the units are the same."""
    if (factor == 1).all():
        return scatter
    return scatter * factor * factor[:, None]
