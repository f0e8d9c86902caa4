"""Moments of a table that is kept, because samples of its rows are still to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo.moments import Moments
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing
from qwo.moments.estimation import Estimate, estimate_moments
from qwo.types import Indices


def table_moments(table: Table, estimator: str | Any, missing: Missing = "raise") -> Moments:
    """The moments of all rows, once an audit has found no error; what is doubtful is warned of."""
    estimate = estimate_moments(table, estimator, missing)
    estimate.audit.enforce()
    return _named(table, estimate)


def resampled_moments(
    table: Table, rows: Indices, estimator: str | Any, missing: Missing = "raise"
) -> Moments:
    """The moments of some of the rows.

    Errors are raised, as where a column is constant in these rows. Warnings are not given: a part
    is smaller than the whole by intention, and all else was said of the whole.
    """
    part = Table(table.names, table.values[rows], table.refused)
    return _named(table, estimate_moments(part, estimator, missing))


def kept_rows(table: Table, missing: Missing) -> Table:
    """The table without the rows that are left out for their missing or infinite values."""
    if missing != "drop":
        return table
    complete = np.isfinite(table.values).all(axis=1)
    return table if complete.all() else Table(table.names, table.values[complete], table.refused)


def _named(table: Table, estimate: Estimate) -> Moments:
    return Moments.of_sample(table.names, estimate.sample, estimate.estimator)
