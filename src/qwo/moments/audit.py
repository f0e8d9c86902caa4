"""What is wrong or doubtful about the data, found before anything is computed from them.

The input is looked at in three steps, each of which needs the one before: the table (types, missing
values, size), the columns (constant or nearly so), the correlation matrix (copies, linear
combinations, condition). Nothing is repaired; every finding names columns and a cure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError, list_names
from qwo.moments.arrays import Table
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, extremes, sample_moments
from qwo.moments.findings import Audit, Finding
from qwo.moments.tables import as_table

FloatArray = npt.NDArray[np.float64]
Missing = Literal["raise", "drop"]

MIN_SAMPLES = 3
"""Any two points lie on a line: a correlation takes three to say anything."""

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""


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
        Their plain moments; None if errors stood in the way.
    """

    audit: Audit
    values: FloatArray
    sample: Sample | None


def audit_data(data: Any, *, missing: Missing = "raise") -> Audit:
    """All that is wrong or doubtful about a data set, without raising or warning.

    Parameters
    ----------
    data : array-like, data frame, str or path
        Samples in rows and variables in columns.
    missing : {"raise", "drop"}
        Whether rows with missing or infinite values are an error or are left out.

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
    return survey(as_table(data), missing).audit


def survey(table: Table, missing: Missing = "raise", *, shrunk: bool = False) -> Survey:
    """Inspect a table as far as its errors allow.

    Parameters
    ----------
    table : Table
        The data.
    missing : {"raise", "drop"}
        See `audit_data`.
    shrunk : bool
        Whether the covariance will be regularised; then singularity is a warning, not an error.
    """
    if missing not in ("raise", "drop"):
        raise ArgumentError(f"missing is {missing!r}; wanted 'raise' or 'drop'")
    findings = list(_inspect_types(table))
    values = table.values
    bounds = extremes(values)
    if len(values) and not np.isfinite(bounds).all():
        usable = np.isfinite(values)
        findings.append(_missing_values(table, usable, missing))
        if missing == "raise":
            # What the finite values show of each column by itself is worth knowing all the same.
            finite = np.where(usable, values, np.nan)
            low = np.fmin.reduce(finite, axis=0, initial=np.inf)
            high = np.fmax.reduce(finite, axis=0, initial=-np.inf)
            findings.extend(_inspect_spread(table.names, low, high))
            return Survey(Audit(tuple(findings)), values, None)
        values = values[usable.all(axis=1)]
        bounds = extremes(values)
    findings.extend(_inspect_size(table, len(values)))
    if any(finding.code in ("few-columns", "few-rows") for finding in findings):
        return Survey(Audit(tuple(findings)), values, None)
    low, high = bounds
    findings.extend(_inspect_spread(table.names, low, high))
    varying = np.flatnonzero(low < high)
    complete = len(varying) == len(table.names)
    sample = sample_moments(values, bounds) if complete else sample_moments(values[:, varying])
    names = [table.names[k] for k in varying]
    findings.extend(inspect_correlation(names, sample, shrunk=shrunk))
    return Survey(Audit(tuple(findings)), values, sample if complete else None)


def _inspect_types(table: Table) -> Iterator[Finding]:
    """Columns that are not numbers, and tables without two that are."""
    if table.refused:
        shown = [f"{column.name!r} ({column.reason})" for column in table.refused]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        names = tuple(column.name for column in table.refused)
        yield Finding(
            "non-numeric",
            "error",
            names,
            f"{_of(len(shown), len(shown) + len(table.names))} not numeric: "
            f"{', '.join(shown[:5])}{more}; "
            f"leave out or encode as numbers (drop=[…] where a file or frame is read)",
        )
    if len(table.names) < 2:
        seen = f"only {table.names[0]!r}" if table.names else "none"
        yield Finding(
            "few-columns",
            "error",
            table.names,
            f"a graph needs at least two numeric columns; the table has {seen}. If it comes from a "
            "text file, check the separator",
        )


def _inspect_size(table: Table, n_rows: int) -> Iterator[Finding]:
    """Tables with too few rows for a correlation."""
    if n_rows < MIN_SAMPLES:
        dropped = len(table.values) - n_rows
        reason = f" after {dropped} with missing values were dropped" if dropped else ""
        yield Finding(
            "few-rows",
            "error",
            (),
            f"the table has {n_rows} rows{reason}; wanted {MIN_SAMPLES} at the very least, and "
            "many more than columns for a result to trust",
        )


def _missing_values(table: Table, usable: npt.NDArray[np.bool_], missing: Missing) -> Finding:
    """How many values are missing or infinite, in which columns, and how many rows that costs."""
    absent = np.isnan(table.values).sum(axis=0)
    infinite = (~usable).sum(axis=0) - absent
    affected = np.flatnonzero(absent + infinite)
    names = tuple(table.names[k] for k in affected)
    counts = [
        f"{table.names[k]!r} ({_counts(int(absent[k]), int(infinite[k]))})" for k in affected[:5]
    ]
    more = f" and {len(affected) - 5} more columns" if len(affected) > 5 else ""
    rows = int((~usable.all(axis=1)).sum())
    seen = (
        f"{absent.sum()} missing and {infinite.sum()} infinite values in {len(affected)} of "
        f"{len(table.names)} columns: {', '.join(counts)}{more}; {rows} of {len(usable)} rows are "
    )
    if missing == "drop":
        return Finding("missing-values", "warning", names, f"{seen}left out")
    empty = [table.names[k] for k in affected if absent[k] == len(usable)]
    hint = f" (but leave out {list_names(empty)}, without any value, first)" if empty else ""
    cure = f"affected; pass missing='drop' to leave those rows out{hint}, or fill in values"
    return Finding("missing-values", "error", names, seen + cure)


def _counts(absent: int, infinite: int) -> str:
    """What is wrong with one column."""
    parts = [(absent, "missing"), (infinite, "infinite")]
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def _inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    constant = tuple(compress(names, low == high))
    if constant:
        yield Finding(
            "constant",
            "error",
            constant,
            f"{_of(len(constant), len(names))} constant: {list_names(constant)}; leave "
            f"{'it' if len(constant) == 1 else 'them'} out",
        )
    size = np.maximum(np.abs(low), np.abs(high))
    flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    nearly = tuple(compress(names, flat))
    if nearly:
        yield Finding(
            "nearly-constant",
            "warning",
            nearly,
            f"{_of(len(nearly), len(names))} constant but for the last digits of float64: "
            f"{list_names(nearly)}; subtract the offset before the data are stored, or leave "
            f"{'it' if len(nearly) == 1 else 'them'} out",
        )


def _of(count: int, total: int) -> str:
    """Such as ``1 of 5 columns is``."""
    return f"{count} of {total} columns {'is' if count == 1 else 'are'}"
