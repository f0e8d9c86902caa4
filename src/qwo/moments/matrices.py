"""Covariance, correlation and precision matrices that the user gives, checked and standardised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from qwo.errors import (
    CovarianceError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
    list_names,
)
from qwo.moments.covariance import Sample, inverse, mirror_lower, split_covariance
from qwo.moments.dependence import PivotedCholesky
from qwo.moments.table_audit import MIN_SAMPLES
from qwo.moments.tables import as_table
from qwo.types import FloatArray

BLOCK_ROWS = 64
"""Rows that are compared with columns at a time."""

SYMMETRY_TOLERANCE = 1e-8
"""How far entries that should agree may differ, and |r| exceed 1, by rounding of the input."""


def sample_from_covariance(
    matrix: Any, n_samples: float | None, names: Sequence[object] | None, means: Any
) -> tuple[tuple[str, ...], Sample]:
    """Names and moments of a given covariance or correlation matrix."""
    labels, covariance = _symmetric(matrix, names, "covariance")
    size = _sample_size(n_samples)
    centre = np.full(len(labels), np.nan) if means is None else np.array(means, dtype=np.float64)
    if centre.shape != (len(labels),):
        raise ShapeError(f"means has shape {centre.shape}; wanted ({len(labels)},)")
    scales, correlation = split_covariance(covariance)
    _check_bounds(labels, correlation)
    return labels, Sample(size, centre, scales, correlation)


def sample_from_precision(
    matrix: Any, n_samples: float | None, names: Sequence[object] | None
) -> tuple[tuple[str, ...], Sample]:
    """Names and moments of a given inverse covariance matrix."""
    labels, precision = _symmetric(matrix, names, "precision")
    size = _sample_size(n_samples)
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
    table = as_table(matrix, names)
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
    _check_entries(table.names, values, kind)
    _check_symmetry(table.names, values, kind)
    return table.names, mirror_lower(values)


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


def _check_bounds(names: tuple[str, ...], correlation: FloatArray) -> None:
    for i, row in enumerate(correlation):
        j = int(np.abs(row).argmax())
        if abs(row[j]) > 1 + SYMMETRY_TOLERANCE:
            raise CovarianceError(
                f"the matrix gives {names[i]!r} and {names[j]!r} a correlation of {row[j]:.6g}, "
                "beyond 1, so that no data can have it",
                (names[i], names[j]),
            )


def _sample_size(n_samples: float | None) -> float:
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
            "matrix is exact"
        )
    return size
