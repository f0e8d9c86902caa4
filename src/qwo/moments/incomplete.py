"""Tables with missing values that are kept: what is wrong or doubtful, and moments by EM."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from qwo.errors import list_names
from qwo.moments.correlation_audit import determined_columns, inspect_correlation
from qwo.moments.covariance import Sample, finite_extremes
from qwo.moments.em import EmFit, fit_em
from qwo.moments.findings import Finding
from qwo.moments.table_audit import MissingCounts, inspect_size, inspect_spread
from qwo.types import FloatArray


def survey_incomplete(
    values: FloatArray, counts: MissingCounts
) -> tuple[list[Finding], Sample | None]:
    """Findings and maximum-likelihood moments of a table with missing values.

    Infinite values count as missing, and rows without any value are left out. The moments are None
    if errors stood in the way.
    """
    names = counts.names
    values = np.where(np.isfinite(values), values, np.nan)
    values = values[~np.isnan(values).all(axis=1)]
    findings = [*_inspect_columns(counts), *inspect_size(len(values), counts.n_rows - len(values))]
    findings += inspect_spread(names, *finite_extremes(values))
    findings += _inspect_width(names, len(values))
    if len(names) < 2 or any(finding.severity == "error" for finding in findings):
        return findings, None
    fit = fit_em(values)
    findings = [_estimated(counts, fit), *findings, *_inspect_pairs(names, values)]
    findings += _inspect_fit(names, fit)
    return findings, fit.sample


def _inspect_columns(counts: MissingCounts) -> Iterator[Finding]:
    """Columns of which nothing is known."""
    if counts.empty:
        yield Finding(
            "missing-values",
            "error",
            counts.empty,
            f"columns without any value: {list_names(counts.empty)}; leave them out "
            "(drop=[…] where a file or frame is read)",
        )


def _inspect_width(names: Sequence[str], n_rows: int) -> Iterator[Finding]:
    """Tables with too few rows for a maximum of the likelihood to exist."""
    if n_rows <= len(names):
        yield Finding(
            "wide",
            "error",
            (),
            f"there are {len(names)} variables but only {n_rows} rows with values: EM (missing="
            "'em') needs more rows than variables; leave variables out, or fill in values and "
            "pass covariance_estimator='ledoit-wolf'",
        )


def _estimated(counts: MissingCounts, fit: EmFit) -> Finding:
    """What EM made of the missing values."""
    infinite = "; infinite values count as missing" if counts.infinite.any() else ""
    empty = counts.n_rows - fit.n_rows
    left_out = f"; rows without any value, left out: {empty}" if empty else ""
    return Finding(
        "missing-values",
        "warning",
        counts.affected,
        f"{counts}incomplete{infinite}{left_out}. EM uses what they have: effective sample size "
        f"{fit.sample.n_samples:.0f} of {counts.n_rows} rows, right if values are missing at "
        "random",
    )


def _inspect_pairs(names: Sequence[str], values: FloatArray) -> Iterator[Finding]:
    """Pairs of columns that no row has both of."""
    present = (~np.isnan(values)).astype(np.float64)
    first, second = np.nonzero(np.triu(present.T @ present == 0, 1))
    if len(first):
        ends = zip(first.tolist(), second.tolist(), strict=True)
        pairs = [f"{names[i]!r} and {names[j]!r}" for i, j in ends]
        more = f" and {len(pairs) - 5} more pairs" if len(pairs) > 5 else ""
        yield Finding(
            "unpaired",
            "warning",
            tuple(names[k] for k in sorted({*first.tolist(), *second.tolist()})),
            f"no row has values of both {', of both '.join(pairs[:5])}{more}: nothing shows "
            "whether they depend on each other given the rest, and an edge between them, or its "
            "absence, means nothing; leave one of each pair out",
        )


def _inspect_fit(names: Sequence[str], fit: EmFit) -> Iterator[Finding]:
    """How EM ended, and the correlation matrix that it found."""
    if fit.status == "iterations":
        yield Finding(
            "no-convergence",
            "warning",
            (),
            f"EM did not settle within {len(fit.loglik)} passes over the data: some moments are "
            "hardly determined; leave out columns with many missing values",
        )
    complete = dataclasses.replace(fit.sample, n_samples=float(fit.n_rows))
    if fit.status == "singular":
        columns = determined_columns(names, fit.sample.correlation)
        yield Finding(
            "linear-dependence",
            "error",
            columns,
            f"the likelihood grows without bound as {columns[0]!r} becomes determined by "
            f"{list_names(columns[1:])}: they are linearly dependent, or too few rows have values "
            "of them all; leave one of them out, or pass missing='drop'",
        )
    else:
        yield from inspect_correlation(names, complete)
