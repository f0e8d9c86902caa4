"""Moments computed on the device, for data of many rows and thousands of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qwo.moments import Moments
from qwo.moments.tables import as_table
from qwo.order.device.cuda import load_cupy

BLOCK_BYTES = 2**28
"""How much of the data goes to the device at a time."""


def gpu_moments(data: Any, names: Sequence[object] | None = None, *, xp: Any = None) -> Moments:
    """Plain moments of data, as `Moments.from_data`, with the products of columns on a GPU.

    One pass over blocks of rows: deviations from the mean of the first block, whose own mean is
    taken off at the end. Data that the device cannot make sense of (missing values, constant
    columns) go through the audit of `Moments.from_data`, which names the columns.

    Parameters
    ----------
    data : array-like, data frame, str or path
        Samples in rows and variables in columns.
    names : sequence, optional
        One name per column of an array or frame.
    xp : module, optional
        What computes: CuPy if not given; NumPy does the same on the host.
    """
    table = as_table(data, names)
    n_rows, n = table.values.shape
    if n_rows < 3 or n < 2 or table.refused:
        return Moments.from_data(data, names)
    xp = load_cupy() if xp is None else xp
    rows = max(BLOCK_BYTES // (8 * n), 1)
    shift = table.values[:rows].mean(axis=0)
    offset, scatter = xp.zeros(n), xp.zeros((n, n))
    for first in range(0, n_rows, rows):
        block = xp.asarray(table.values[first : first + rows]) - xp.asarray(shift)
        offset += block.sum(axis=0)
        scatter += block.T @ block
    offset /= n_rows
    covariance = scatter / n_rows - offset[:, None] * offset
    scales = xp.sqrt(xp.diag(covariance))
    correlation = covariance / (scales[:, None] * scales)
    xp.fill_diagonal(correlation, 1.0)
    # What rounds differently on both sides of the diagonal is averaged.
    result, spread, mean = (
        _host((correlation + correlation.T) / 2),
        _host(scales),
        shift + _host(offset),
    )
    if not (np.isfinite(result).all() and (spread > 1e-12 * np.abs(mean)).all()):
        return Moments.from_data(data, names)
    return Moments(table.names, float(n_rows), mean, spread, result)


def _host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array
