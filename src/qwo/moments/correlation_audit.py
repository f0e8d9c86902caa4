"""What a correlation matrix shows of its data: too few samples, copies, linear combinations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from scipy.linalg import eigvalsh

from qwo.errors import list_names
from qwo.moments.covariance import Sample
from qwo.moments.dependence import (
    PivotedCholesky,
    Relation,
    copy_groups,
    smallest_relation,
)
from qwo.moments.findings import Finding
from qwo.types import FloatArray

Severity = Literal["error", "warning"]

SMALL_SAMPLE = 10
"""Below this many samples only correlations above 0.6 differ from zero at the usual levels."""

NEAR_SINGULAR = 1e-10
"""Reciprocal condition below which a factorisation keeps fewer than six of sixteen digits."""

SEMIDEFINITE_TOLERANCE = 1e-8
"""What rounding may leave of a semidefinite matrix where its pivots vanish."""

INVOLVED = 0.05
"""Relative size of the coefficients that are worth a mention in a near dependence."""

MAX_RELATIONS = 100
"""Dependent columns whose relations are compared in the search for the smallest."""

ESTIMATORS = "covariance_estimator='ledoit-wolf' or 'oas' with the data"


def inspect_correlation(
    names: Sequence[str], sample: Sample, *, given: bool = False, shrunk: bool = False
) -> Iterator[Finding]:
    """Sample size, copies, linear dependence and condition of a correlation matrix.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    sample : Sample
        Moments without constant columns.
    given : bool
        Whether the matrix was given as such, so that it may not be a correlation matrix at all.
    shrunk : bool
        Whether it will be regularised; then singularity is a warning, and expected with n ≥ N.

    Notes
    -----
    A covariance matrix of N samples has rank N - 1 at most. With n ≥ N variables it is singular for
    that reason alone: this is one warning, and dependences that it entails are not reported.
    """
    wide = sample.n_samples <= len(names)
    severity: Severity = "warning" if shrunk else "error"
    if sample.n_samples < SMALL_SAMPLE:
        yield _small(sample.n_samples)
    if wide and not shrunk:
        yield _wide(len(names), sample.n_samples)
    groups = copy_groups(sample.correlation)
    if groups:
        yield _copies(names, sample, groups, severity)
    if wide and not given:
        return
    spare = {column for group in groups for column in group[1:]}
    kept = [column for column in range(len(names)) if column not in spare]
    labels = [names[column] for column in kept]
    correlation = sample.correlation[np.ix_(kept, kept)] if spare else sample.correlation
    cholesky = PivotedCholesky.of(correlation)
    if given and cholesky.remainder(correlation) > SEMIDEFINITE_TOLERANCE:
        yield _indefinite(labels, correlation, cholesky)
    elif cholesky.rank < len(kept) and not wide:
        yield _dependence(labels, sample.scales[kept], cholesky, severity)
    elif not shrunk and 0 < cholesky.reciprocal_condition < NEAR_SINGULAR:
        yield _near_dependence(labels, cholesky)


def _small(n_samples: float) -> Finding:
    """A sample too small for almost any edge to show."""
    return Finding(
        "few-rows",
        "warning",
        (),
        f"there are only {n_samples:g} samples; below {SMALL_SAMPLE} hardly any correlation "
        "differs from chance",
    )


def _wide(n_variables: int, n_samples: float) -> Finding:
    """A sample smaller than the number of variables."""
    return Finding(
        "wide",
        "warning",
        (),
        f"there are {n_variables} variables but only {n_samples:g} samples, so that the covariance "
        f"matrix is singular; use engine='bic', the default, or pass {ESTIMATORS}",
    )


def _copies(
    names: Sequence[str], sample: Sample, groups: list[list[int]], severity: Severity
) -> Finding:
    """Groups of columns that are one column."""
    pairs = [(group[0], copy) for group in groups for copy in group[1:]]
    copies = [names[copy] for _, copy in pairs]
    shown = ", ".join(
        f"{names[copy]!r} {'repeats' if _identical(sample, first, copy) else 'is linear in'} "
        f"{names[first]!r}"
        for first, copy in pairs[:5]
    )
    more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
    return Finding(
        "duplicate",
        severity,
        tuple(names[column] for group in groups for column in group),
        f"columns are copies of others (correlation 1 or -1): {shown}{more}; keep one of each, for "
        f"example leave out {list_names(copies)}",
    )


def _identical(sample: Sample, first: int, copy: int) -> bool:
    """Whether perfectly correlated columns agree in sign, scale and mean too."""
    scale = sample.scales[first]
    return bool(
        sample.correlation[first, copy] > 0
        and abs(sample.scales[copy] - scale) <= 1e-9 * scale
        and abs(sample.means[copy] - sample.means[first]) <= 1e-9 * scale
    )


def _dependence(
    names: Sequence[str], scales: FloatArray, cholesky: PivotedCholesky, severity: Severity
) -> Finding:
    """The smallest set of columns that the factorisation shows to be dependent."""
    dependent = [names[k] for k in cholesky.pivots[cholesky.rank :]]
    smallest = smallest_relation(cholesky.null_vectors(cholesky.rank, limit=MAX_RELATIONS))
    columns = tuple(names[k] for k in (smallest.column, *smallest.others))
    if len(dependent) == 1:
        cure = "leave out one of them"
    else:
        cure = f"leave out {list_names(dependent)} ({len(dependent)} columns too many in all)"
    return Finding(
        "linear-dependence",
        severity,
        columns,
        f"columns {list_names(columns)} are linearly dependent: "
        f"{_equation(names, scales, smallest)}; "
        f"{cure}" + ("" if severity == "warning" else f", or pass {ESTIMATORS}"),
    )


def _equation(names: Sequence[str], scales: FloatArray, relation: Relation) -> str:
    """The dependence in the units of the data."""
    terms = []
    for other, coefficient in list(zip(relation.others, relation.coefficients, strict=True))[:5]:
        weight = coefficient * scales[relation.column] / scales[other]
        terms.append(f"{weight:+.4g}·{names[other]!r}")
    if len(relation.others) > 5:
        terms.append(f"… {len(relation.others) - 5} more terms")
    return f"{names[relation.column]!r} = constant {' '.join(terms)}"


def _near_dependence(names: Sequence[str], cholesky: PivotedCholesky) -> Finding:
    """Columns that all but determine one another."""
    columns = _nearly_dependent(names, cholesky)
    condition = 1 / cholesky.reciprocal_condition
    return Finding(
        "near-singular",
        "warning",
        columns,
        f"the correlation matrix is nearly singular (condition number {condition:.1e}): "
        f"{columns[0]!r} is almost determined by {list_names(columns[1:])}; leave one of them out, "
        f"or pass {ESTIMATORS}",
    )


def determined_columns(names: Sequence[str], correlation: FloatArray) -> tuple[str, ...]:
    """The column that others come closest to determining, and those others."""
    return _nearly_dependent(names, PivotedCholesky.of(correlation))


def _nearly_dependent(names: Sequence[str], cholesky: PivotedCholesky) -> tuple[str, ...]:
    vector = cholesky.null_vectors(len(names) - 1, limit=1)[0]
    relation = Relation.of(vector, negligible=INVOLVED)
    return tuple(names[k] for k in (relation.column, *relation.others))


def _indefinite(
    names: Sequence[str], correlation: FloatArray, cholesky: PivotedCholesky
) -> Finding:
    """A given matrix that no data can have."""
    columns = tuple(names[k] for k in cholesky.pivots[cholesky.rank :])
    smallest = eigvalsh(correlation, subset_by_index=[0, 0])[0]
    return Finding(
        "indefinite",
        "error",
        columns,
        f"the matrix is not positive semidefinite (smallest eigenvalue {smallest:.2g} on the "
        f"correlation scale, seen at {list_names(columns)}), so that no data can have it. Matrices "
        "computed pair by pair or rounded to few digits look like this: compute it from complete "
        "rows, or give more digits",
    )
