"""What a correlation matrix shows: too few samples, copies, linear combinations, its condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np
from scipy.linalg import eigvalsh

from qwo.errors import Cure, list_names
from qwo.moments.covariance import Sample
from qwo.moments.dependence import (
    PivotedCholesky,
    Relation,
    copy_groups,
    is_far_from_singular,
    smallest_relation,
)
from qwo.moments.findings import Finding, Severity, drop_cure
from qwo.moments.kinds import Coding, block_squares, whitened
from qwo.types import FloatArray, Indices, Mask

HANDFUL = 5
"""Up to so many samples, columns of whole numbers agree by chance."""

SMALL_SAMPLE = 10
"""Below this many samples only correlations above 0.6 differ from zero at the usual levels."""

FEW_SAMPLES, FEW_PER_VARIABLE = 30, 5
"""Fewer samples than both, the second times n, make for a doubtful graph. On random graphs of 7 and
10 variables, two or three samples for each miss a quarter to a half of the links, and up to a fifth
of those found are false (``python -m benchmarks.few_rows``). From 30 samples on that is better,
however many variables there are."""

NEAR_SINGULAR = 1e-10
"""Reciprocal condition below which a factorisation keeps fewer than six of sixteen digits."""

FAR_FROM_SINGULAR = 10 * NEAR_SINGULAR
"""One above which there is nothing to say, whichever way it is estimated."""

SEMIDEFINITE_TOLERANCE = 1e-8
"""What rounding may leave of a semidefinite matrix where its pivots vanish."""

FOLLOWS = 1e-9
"""What rounding may leave of the columns of a block that follow from another variable."""

INVOLVED = 0.05
"""Relative size of the coefficients that are worth a mention in a near dependence."""

MAX_RELATIONS = 100
"""Dependent columns whose relations are compared in the search for the smallest."""

SHRINK = (
    Cure("covariance_estimator", "ledoit-wolf", "shrinks the correlations"),
    Cure("covariance_estimator", "oas", "shrinks them too"),
)


def inspect_coded(
    names: Sequence[str],
    sample: Sample,
    coding: Coding | None,
    *,
    shrunk: bool = False,
) -> Iterator[Finding]:
    """What `inspect_correlation` sees, and variables that follow from others, blocks or not."""
    if coding is None or not coding.has_blocks:
        yield from inspect_correlation(names, sample, shrunk=shrunk)
        return
    if sample.n_samples < SMALL_SAMPLE:
        yield small_sample(names, sample.n_samples, [], "warning")
    if sample.n_samples <= coding.n_columns:
        yield _wide(coding.n_columns, sample.n_samples, rows=True)
        return
    matrix, sizes, _ = whitened(sample.correlation, coding)
    shared = block_squares(matrix, sizes)
    # Entry (u, v): all columns of v are linear in those of u.
    follows = (shared >= sizes - FOLLOWS) & ~np.eye(len(sizes), dtype=bool)
    pairs = _redundant(follows, sizes)
    if pairs:
        yield _followers(names, pairs, follows, "warning" if shrunk else "error")
    kept = [k for k in range(len(names)) if k not in {v for _, v in pairs}]
    columns = np.flatnonzero(np.isin(np.repeat(np.arange(len(sizes)), sizes), kept))
    cholesky = PivotedCholesky.of(matrix[np.ix_(columns, columns)])
    if cholesky.rank < len(columns):
        yield _entangled(names, np.repeat(np.arange(len(sizes)), sizes)[columns], cholesky)


def _redundant(follows: Mask, sizes: Indices) -> list[tuple[int, int]]:
    """Pairs (u, v) in which v follows from u: one for each v, and u is kept."""
    pairs: list[tuple[int, int]] = []
    gone: set[int] = set()
    for v in np.lexsort((-np.arange(len(sizes)), sizes)).tolist():
        sources = [u for u in np.flatnonzero(follows[:, v]).tolist() if u not in gone]
        if sources:
            pairs.append((sources[0], v))
            gone.add(v)
    return sorted(pairs, key=lambda pair: pair[1])


def _followers(
    names: Sequence[str], pairs: list[tuple[int, int]], follows: Mask, severity: Severity
) -> Finding:
    """Variables that say nothing which another does not say."""
    shown = ", ".join(
        f"{names[v]!r} {'repeats' if follows[v, u] else 'follows from'} {names[u]!r}"
        for u, v in pairs[:5]
    )
    more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
    spare = [names[v] for _, v in pairs]
    return Finding(
        "duplicate",
        severity,
        tuple(dict.fromkeys(names[k] for pair in pairs for k in pair)),
        f"columns say nothing that another does not say: {shown}{more}",
        drop_cure(names, spare),
    )


def _entangled(names: Sequence[str], owners: Indices, cholesky: PivotedCholesky) -> Finding:
    """Levels of some variables that determine levels of others."""
    relation = smallest_relation(cholesky.null_vectors(cholesky.rank, limit=MAX_RELATIONS))
    columns = [relation.column, *relation.others]
    involved = list(dict.fromkeys(names[owners[k]] for k in columns))
    return Finding(
        "linear-dependence",
        "warning",
        tuple(involved),
        f"levels of {list_names(involved)} determine each other: which of them is the cause of "
        "such a level, data cannot tell, and their coefficients are not determined",
        drop_cure(names, involved[:1]),
    )


def inspect_range(names: Sequence[str], sample: Sample) -> Iterator[Finding]:
    """Columns whose squares left the range of float64 while they were summed up."""
    sound = np.isfinite(sample.correlation).all(axis=1) & np.isfinite(sample.means)
    sound &= np.isfinite(sample.scales) & (sample.scales > 0)
    wrong = list(compress(names, ~sound))
    if wrong:
        yield Finding(
            "range",
            "error",
            tuple(wrong),
            f"squares of {list_names(wrong)} leave the range of float64: their values differ too "
            "much in size from one part of the data to another; rescale or log-transform them",
        )


def inspect_correlation(
    names: Sequence[str],
    sample: Sample,
    *,
    given: bool = False,
    shrunk: bool = False,
    rows: bool = True,
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
    rows : bool
        Whether there are rows to which another estimator could be applied.

    Notes
    -----
    A covariance matrix of N samples has rank N - 1 at most. With n ≥ N variables it is singular for
    that reason alone: this is one warning, and dependences that it entails are not reported.
    """
    wide = sample.n_samples <= len(names)
    severity: Severity = "warning" if shrunk else "error"
    groups = copy_groups(sample.correlation)
    # In a handful of rows columns agree by chance: the rows are to blame, and not the columns.
    chance = bool(groups) and wide and sample.n_samples <= HANDFUL
    few = sample.n_samples < min(FEW_SAMPLES, FEW_PER_VARIABLE * len(names)) and not wide
    if few or sample.n_samples < SMALL_SAMPLE:
        yield small_sample(names, sample.n_samples, groups if chance else [], severity)
    if wide and not shrunk:
        yield _wide(len(names), sample.n_samples, rows)
    if groups and not chance:
        yield _copies(names, sample, groups, severity)
    if wide and not given:
        return
    spare = {column for group in groups for column in group[1:]}
    kept = [column for column in range(len(names)) if column not in spare]
    labels = [names[column] for column in kept]
    correlation = sample.correlation[np.ix_(kept, kept)] if spare else sample.correlation
    if is_far_from_singular(correlation, FAR_FROM_SINGULAR):
        return
    cholesky = PivotedCholesky.of(correlation)
    if given and cholesky.remainder(correlation) > SEMIDEFINITE_TOLERANCE:
        yield _indefinite(labels, correlation, cholesky)
    elif cholesky.rank < len(kept) and not wide:
        yield _dependence(labels, sample.scales[kept], cholesky, severity, rows)
    elif not shrunk and 0 < cholesky.reciprocal_condition < NEAR_SINGULAR:
        yield _near_dependence(labels, cholesky, rows)


def small_sample(
    names: Sequence[str], n_samples: float, groups: list[list[int]], severity: Severity
) -> Finding:
    """A sample too small for almost any edge to show."""
    text = f"there are only {n_samples:g} samples of {len(names)} variables: "
    if n_samples < SMALL_SAMPLE:
        text += f"below {SMALL_SAMPLE} hardly any correlation differs from chance"
    else:
        text += "with so few, many edges stay unseen, and some of those found are chance"
    if not groups:
        return Finding("few-rows", "warning", (), text)
    columns = tuple(names[k] for k in groups[0])
    text += f", and columns agree without being copies: {list_names(columns)}"
    return Finding("few-rows", severity, columns, text)


def _wide(n_variables: int, n_samples: float, rows: bool) -> Finding:
    """A sample smaller than the number of variables."""
    return Finding(
        "wide",
        "warning",
        (),
        f"there are {n_variables} variables but only {n_samples:g} samples, so that the covariance "
        "matrix is singular; the default engine, 'bic', can do with that",
        SHRINK if rows else (),
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
        f"columns are copies of others (correlation 1 or -1): {shown}{more}",
        drop_cure(names, copies, "keeps one of each"),
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
    names: Sequence[str],
    scales: FloatArray,
    cholesky: PivotedCholesky,
    severity: Severity,
    rows: bool,
) -> Finding:
    """The smallest set of columns that the factorisation shows to be dependent."""
    dependent = [names[k] for k in cholesky.pivots[cholesky.rank :]]
    smallest = smallest_relation(cholesky.null_vectors(cholesky.rank, limit=MAX_RELATIONS))
    columns = tuple(names[k] for k in (smallest.column, *smallest.others))
    drop = [names[smallest.column]] if len(dependent) == 1 else dependent
    many = f" ({len(dependent)} columns too many in all)" if len(dependent) > 1 else ""
    cures = list(drop_cure(names, drop))
    if rows and severity == "error":
        cures += SHRINK
    return Finding(
        "linear-dependence",
        severity,
        columns,
        f"columns {list_names(columns)} are linearly dependent: "
        f"{_equation(names, scales, smallest)}{many}",
        tuple(cures),
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


def _near_dependence(names: Sequence[str], cholesky: PivotedCholesky, rows: bool) -> Finding:
    """Columns that all but determine one another."""
    columns = _nearly_dependent(names, cholesky)
    condition = 1 / cholesky.reciprocal_condition
    cures = drop_cure(names, columns[:1])
    return Finding(
        "near-singular",
        "warning",
        columns,
        f"the correlation matrix is nearly singular (condition number {condition:.1e}): "
        f"{columns[0]!r} is almost determined by {list_names(columns[1:])}",
        (*cures, *SHRINK) if rows else cures,
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
