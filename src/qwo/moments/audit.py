"""What is wrong or doubtful about the data, found before anything is computed from them.

The input is looked at in three steps, each of which needs the one before: the table (types, missing
values, size), the columns (constant or nearly so), the correlation matrix (copies, linear
combinations, condition). Nothing is repaired; every finding names columns and a cure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from qwo.errors import ArgumentError
from qwo.moments.arrays import Table
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, extremes, finite_extremes, sample_moments
from qwo.moments.findings import Audit
from qwo.moments.incomplete import survey_incomplete
from qwo.moments.shape_audit import inspect_shape
from qwo.moments.table_audit import (
    MissingCounts,
    dropped_rows,
    inspect_size,
    inspect_spread,
    inspect_types,
    refused_values,
)
from qwo.moments.tables import as_table
from qwo.types import FloatArray

Missing = Literal["raise", "drop", "em"]
POLICIES: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """A table after inspection: what was found, and what was computed on the way.

    Attributes
    ----------
    audit : Audit
        The findings.
    values : ndarray
        The rows that were kept.
    sample : Sample or None
        Their moments; None if errors stood in the way.
    estimator : {"plain", "em"}
        How the moments were estimated.
    """

    audit: Audit
    values: FloatArray
    sample: Sample | None
    estimator: Literal["plain", "em"] = "plain"


def audit_data(data: Any, *, missing: Missing = "raise") -> Audit:
    """All that is wrong or doubtful about a data set, without raising or warning.

    Parameters
    ----------
    data : array-like, data frame, str or path
        Samples in rows and variables in columns.
    missing : {"raise", "drop", "em"}
        Whether rows with missing or infinite values are an error, are left out, or are used for
        what they have; see `Moments.from_data`.

    Raises
    ------
    InputError
        If there is no table to look at: no such file, lines of unequal length, names used twice.

    Examples
    --------
    >>> print(audit_data([[1, 5], [2, 5], [4, 5]]))
    error: 1 of 2 columns is constant: 'X1'; leave it out
    warning: there are only 3 samples; below 10 hardly any correlation differs from chance
    """
    return audit_table(as_table(data), missing)


def audit_table(table: Table, missing: Missing = "raise", *, shrunk: bool = False) -> Audit:
    """What `survey` finds and, if the table can be used, notes on the shape of its columns."""
    seen = survey(table, missing, shrunk=shrunk)
    if seen.audit.errors:
        return seen.audit
    return Audit((*seen.audit.findings, *inspect_shape(table.names, seen.values)))


def survey(table: Table, missing: Missing = "raise", *, shrunk: bool = False) -> Survey:
    """Inspect a table as far as its errors allow.

    Parameters
    ----------
    table : Table
        The data.
    missing : {"raise", "drop", "em"}
        See `audit_data`.
    shrunk : bool
        Whether the covariance will be regularised; then singularity is a warning, not an error.
    """
    if missing not in POLICIES:
        raise ArgumentError(f"missing is {missing!r}; wanted {' or '.join(map(repr, POLICIES))}")
    findings = list(inspect_types(table.names, table.refused))
    values = table.values
    bounds = extremes(values)
    dropped = 0
    if len(values) and not np.isfinite(bounds).all():
        usable = np.isfinite(values)
        counts = MissingCounts.of(table.names, values, usable)
        if missing == "raise":
            low, high = finite_extremes(values)
            # What the finite values show of each column by itself is worth knowing all the same.
            findings += [refused_values(counts), *inspect_spread(table.names, low, high)]
            return Survey(Audit(tuple(findings)), values, None)
        if missing == "em":
            found, sample = survey_incomplete(values, counts)
            return Survey(Audit((*findings, *found)), values, sample, "em")
        findings.append(dropped_rows(counts))
        values = values[usable.all(axis=1)]
        bounds = extremes(values)
        dropped = counts.rows
    findings.extend(inspect_size(len(values), dropped))
    if any(finding.code in ("few-columns", "few-rows") for finding in findings):
        return Survey(Audit(tuple(findings)), values, None)
    low, high = bounds
    findings.extend(inspect_spread(table.names, low, high))
    varying = np.flatnonzero(low < high)
    complete = len(varying) == len(table.names)
    sample = sample_moments(values, bounds) if complete else sample_moments(values[:, varying])
    names = [table.names[k] for k in varying]
    findings.extend(inspect_correlation(names, sample, shrunk=shrunk))
    return Survey(Audit(tuple(findings)), values, sample if complete else None)
