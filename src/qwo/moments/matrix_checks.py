"""What sums show: constant columns, too few samples, copies, linear combinations, conditions.

A copy, whatever its shift, scale and sign, has a correlation of ±1 with its original. A linear
combination shows as a vanishing pivot of the Cholesky factorisation with diagonal pivoting
P R Pᵀ = L Lᵀ: the pivot of a column is its variance given the columns before it.
"""

# Long because the factorisation is of no use to anyone else, and the checks to no one without it.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Self

import numpy as np
from scipy.linalg import eigvalsh, lapack, solve_triangular

from qwo.errors import Cure, list_names
from qwo.moments.audit import Finding, Severity, count_of, drop_cure, shown
from qwo.moments.columns import block_squares
from qwo.moments.moments import Moments
from qwo.types import FloatArray, Indices

TOLERANCE = 1e-13
"""Pivots, and 1 - |r| of copies, below this are rounding of the data in float64, and no more."""

NEGLIGIBLE = 3e-7
"""Relative size of a standardised coefficient whose square no pivot shows: √TOLERANCE."""

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""

SAFE_PIVOT = 1e-3
"""Relative size below which an entry is passed over in elimination, for the sake of rounding."""

CLEAR = 1e-3
"""A standard deviation given other columns that shows a column not to be a combination of them."""

SCAN_ENTRIES = 1 << 22
"""Entries of the correlation matrix that are compared at a time."""


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

RARE = 5
"""Rows with a level below which nothing can be said of it."""

INVOLVED = 0.05
"""Relative size of the coefficients that are worth a mention in a near dependence."""

MAX_RELATIONS = 100
"""Dependent columns whose relations are compared in the search for the smallest."""

SHRINK = (
    Cure("covariance_estimator", "ledoit-wolf", "shrinks the correlations"),
    Cure("covariance_estimator", "oas", "shrinks them too"),
)


def inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    constant = tuple(compress(names, low == high))
    if constant:
        yield Finding(
            "constant",
            "error",
            constant,
            f"{count_of(len(constant), len(names))} constant: {list_names(constant)}",
            drop_cure(names, constant),
        )
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    nearly = tuple(compress(names, flat))
    if nearly:
        yield Finding(
            "nearly-constant",
            "warning",
            nearly,
            f"{count_of(len(nearly), len(names))} constant but for the last digits of float64: "
            f"{list_names(nearly)}; subtract the offset before the data are stored",
            drop_cure(names, nearly),
        )


def inspect_matrix(
    moments: Moments, *, given: bool = False, shrunk: bool = False, rows: bool = True
) -> Iterator[Finding]:
    """Sample size, copies, linear dependence and condition of a correlation matrix.

    A matrix that was `given` as such may not be a correlation matrix at all. Where it is or will be
    `shrunk`, singularity is a warning, and expected with n ≥ N. With `rows` there are some to which
    another estimator could be applied. No column may be constant.

    A covariance matrix of N samples has rank N - 1 at most. With n ≥ N variables it is singular for
    that reason alone: this is one warning, and dependences that it entails are not reported.
    """
    severity: Severity = "warning" if shrunk else "error"
    sound = np.isfinite(moments.scales) & (moments.scales > 0)
    sound &= np.isfinite(moments.correlation).all(axis=1)
    if moments.has_blocks or not sound.all():
        wrong = list(compress(moments.column_names, ~sound))
        yield from [_out_of_range(wrong)] if wrong else _inspect_blocks(moments, severity)
        return
    names, n_samples, correlation = moments.names, moments.n_samples, moments.correlation
    wide = n_samples <= len(names)
    groups = copy_groups(correlation)
    # In a handful of rows columns agree by chance: the rows are to blame, and not the columns.
    chance = bool(groups) and wide and n_samples <= HANDFUL
    few = n_samples < min(FEW_SAMPLES, FEW_PER_VARIABLE * len(names)) and not wide
    if few or n_samples < SMALL_SAMPLE:
        yield small_sample(names, n_samples, groups if chance else [], severity)
    if wide and not shrunk:
        yield _wide(len(names), n_samples, rows)
    if groups and not chance:
        yield _copies(moments, groups, severity)
    if wide and not given:
        return
    spare = {column for group in groups for column in group[1:]}
    kept = [column for column in range(len(names)) if column not in spare]
    labels = [names[column] for column in kept]
    correlation = correlation[np.ix_(kept, kept)] if spare else correlation
    if is_far_from_singular(correlation, FAR_FROM_SINGULAR):
        return
    cholesky = PivotedCholesky.of(correlation)
    if given and cholesky.remainder(correlation) > SEMIDEFINITE_TOLERANCE:
        yield _indefinite(labels, correlation, cholesky)
    elif cholesky.rank < len(kept) and not wide:
        yield _dependence(labels, moments.scales[kept], cholesky, severity, rows)
    elif not shrunk and 0 < cholesky.reciprocal_condition < NEAR_SINGULAR:
        yield _near_dependence(labels, cholesky, rows)


def _inspect_blocks(moments: Moments, severity: Severity) -> Iterator[Finding]:
    """Variables that follow from others, blocks or not, and levels that determine each other."""
    names, width = moments.names, moments.coding.n_columns
    if moments.n_samples < SMALL_SAMPLE:
        yield small_sample(names, moments.n_samples, [], "warning")
    if moments.n_samples <= width:
        yield _wide(width, moments.n_samples, rows=True)
        return
    matrix, sizes = moments.whitened()
    shared = block_squares(matrix, sizes)
    # Entry (u, v): all columns of v are linear in those of u.
    follows = (shared >= sizes - FOLLOWS) & ~np.eye(len(sizes), dtype=bool)
    pairs: list[tuple[int, int]] = []
    spare: set[int] = set()
    for v in np.lexsort((-np.arange(len(sizes)), sizes)).tolist():
        sources = [u for u in np.flatnonzero(follows[:, v]).tolist() if u not in spare]
        if sources:
            pairs.append((sources[0], v))
            spare.add(v)
    if pairs:
        pairs.sort(key=lambda pair: pair[1])
        said = [
            f"{names[v]!r} {'repeats' if follows[v, u] else 'follows from'} {names[u]!r}"
            for u, v in pairs
        ]
        yield Finding(
            "duplicate",
            severity,
            tuple(dict.fromkeys(names[k] for pair in pairs for k in pair)),
            f"columns say nothing that another does not say: {shown(said)}",
            drop_cure(names, [names[v] for _, v in pairs]),
        )
    owners = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.flatnonzero(~np.isin(owners, list(spare)))
    cholesky = PivotedCholesky.of(matrix[np.ix_(columns, columns)])
    if cholesky.rank == len(columns):
        return
    relation = smallest_relation(cholesky.null_vectors(cholesky.rank, limit=MAX_RELATIONS))
    own = [relation.column, *relation.others]
    involved = list(dict.fromkeys(names[owners[columns[k]]] for k in own))
    yield Finding(
        "linear-dependence",
        "warning",
        tuple(involved),
        f"levels of {list_names(involved)} determine each other: which of them is the cause of "
        "such a level, data cannot tell, and their coefficients are not determined",
        drop_cure(names, involved[:1]),
    )


def _out_of_range(columns: Sequence[str]) -> Finding:
    """Columns whose squares left the range of float64 while they were summed up."""
    return Finding(
        "range",
        "error",
        tuple(columns),
        f"squares of {list_names(columns)} leave the range of float64: their values differ too "
        "much in size from one part of the data to another; rescale or log-transform them",
    )


def inspect_levels(moments: Moments) -> Iterator[Finding]:
    """Levels of blocks that hardly any row has."""
    few: dict[str, str] = {}
    coding = moments.coding
    for name, variable, start in zip(moments.names, coding.variables, coding.starts, strict=True):
        if variable.size == 1:
            continue
        own = moments.means[start : start + variable.size]
        shares = np.concatenate(([1 - own.sum()], own))
        counts = np.rint(moments.n_samples * shares).astype(int).tolist()
        rare = [pair for pair in zip(variable.levels, counts, strict=True) if pair[1] < RARE]
        if rare:
            levels = ", ".join(f"{level}: {count}" for level, count in rare[:4])
            few[name] = f"{name!r} ({levels})"
    if few:
        yield Finding(
            "rare-levels",
            "warning",
            tuple(few),
            f"categories have levels that fewer than {RARE} rows have: {shown(list(few.values()))}"
            ". So few rows tell nothing about a level, yet it adds a coefficient to every edge of "
            "the variable: merge it with another",
        )


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


def _copies(moments: Moments, groups: list[list[int]], severity: Severity) -> Finding:
    """Groups of columns that are one column."""
    names = moments.names
    pairs = [(group[0], copy) for group in groups for copy in group[1:]]
    copies = [names[copy] for _, copy in pairs]
    said = [
        f"{names[copy]!r} {'repeats' if _identical(moments, first, copy) else 'is linear in'} "
        f"{names[first]!r}"
        for first, copy in pairs
    ]
    return Finding(
        "duplicate",
        severity,
        tuple(names[column] for group in groups for column in group),
        f"columns are copies of others (correlation 1 or -1): {shown(said)}",
        drop_cure(names, copies, "keeps one of each"),
    )


def _identical(sample: Moments, first: int, copy: int) -> bool:
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


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A standardised column as a combination Σ coefficient · column of others, largest first."""

    column: int
    others: tuple[int, ...]
    coefficients: tuple[float, ...]

    @classmethod
    def of(cls, vector: FloatArray, negligible: float = NEGLIGIBLE) -> Self:
        """The relation Σ vector[k] · column k = 0, solved for the last column that takes part.

        Whatever was computed from other columns tends to stand after them.
        """
        size = np.abs(vector)
        *others, last = np.flatnonzero(size > negligible * size.max()).tolist()
        others.sort(key=lambda k: -size[k])
        weights = [-float(vector[k] / vector[last]) for k in others]
        return cls(last, tuple(others), tuple(weights))


@dataclass(frozen=True, slots=True, eq=False)
class PivotedCholesky:
    """P R Pᵀ = L Lᵀ up to the numerical rank of a correlation matrix R.

    factor: L in its lower triangle; only the first `rank` columns, with pivots above the tolerance,
    have meaning; pivots: the column of R at each place.
    reciprocal_condition: estimate of 1 / (‖R‖₁ ‖R⁻¹‖₁); 0 where the rank is not full.
    """

    factor: FloatArray
    pivots: Indices
    rank: int
    reciprocal_condition: float

    @classmethod
    def of(cls, correlation: FloatArray) -> Self:
        """Factor a correlation matrix in n³/3 operations."""
        size = len(correlation)
        tolerance = max(TOLERANCE, 4 * size * np.finfo(np.float64).eps)
        factor, pivots, rank, _ = lapack.dpstrf(correlation.T, tol=tolerance, lower=1)
        condition = 0.0
        if rank == size:
            condition = lapack.dpocon(factor, _one_norm(correlation), uplo="L")[0]
        return cls(factor, pivots.astype(np.intp) - 1, int(rank), float(condition))

    def null_vectors(self, start: int, limit: int) -> FloatArray:
        """Vectors v with R v = 0, one for each place from `start` on: column minus its regression.

        The regression is on the leading columns, up to the rank. Where the pivot at a place does
        not vanish, R v is that pivot in the place's column and 0 in the leading ones.
        """
        leading = min(self.rank, start)
        places = range(start, min(start + limit, len(self.pivots)))
        weights = solve_triangular(
            self.factor[:leading, :leading],
            self.factor[places, :leading].T,
            trans="T",
            lower=True,
            check_finite=False,
        )
        vectors = np.zeros((len(places), len(self.pivots)))
        vectors[:, self.pivots[:leading]] = -weights.T
        vectors[np.arange(len(places)), self.pivots[places]] = 1.0
        return vectors

    def remainder(self, correlation: FloatArray) -> float:
        """Largest entry that the factorisation leaves: large only if R is not semidefinite.

        A positive semidefinite matrix whose diagonal vanishes is zero.
        """
        rest = self.pivots[self.rank :]
        if len(rest) == 0:
            return 0.0
        rows = self.factor[self.rank :, : self.rank]
        left = correlation[np.ix_(rest, rest)] - rows @ rows.T
        return float(np.abs(left).max())


def smallest_relation(vectors: FloatArray) -> Relation:
    """The relation with the fewest columns among null vectors and their reduced echelon form.

    Pivoting puts the columns of largest variance into the basis, which spreads a short relation
    over several vectors; elimination from the right, by the last columns, gathers it again.
    """
    relations = [Relation.of(vector) for vector in (*vectors, *_eliminated(vectors))]
    return min(relations, key=lambda relation: len(relation.others))


def _eliminated(vectors: FloatArray) -> FloatArray:
    """Gauss–Jordan elimination of the rows, from the last column to the first."""
    rows = vectors.copy()
    done = 0
    for column in range(rows.shape[1] - 1, -1, -1):
        pivot = done + int(np.abs(rows[done:, column]).argmax())
        if abs(rows[pivot, column]) <= SAFE_PIVOT * np.abs(rows[pivot]).max():
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        rest = np.arange(len(rows)) != done
        rows[rest] -= np.outer(rows[rest, column], rows[done])
        done += 1
        if done == len(rows):
            break
    return rows


def copy_groups(correlation: FloatArray) -> list[list[int]]:
    """Groups of columns that equal each other up to shift, scale and sign, first column first."""
    size = len(correlation)
    rows = max(SCAN_ENTRIES // max(size, 1), 1)
    groups: list[list[int]] = []
    taken = np.zeros(size, dtype=np.bool_)
    for start in range(0, size, rows):
        same = np.abs(correlation[start : start + rows]) >= 1 - TOLERANCE
        for row in np.flatnonzero(same.sum(axis=1) > 1):
            if taken[start + row]:
                continue
            group = np.flatnonzero(same[row] & ~taken)
            taken[group] = True
            if len(group) > 1:
                groups.append(group.tolist())
    return groups


def _one_norm(matrix: FloatArray) -> float:
    """‖·‖₁ of a symmetric matrix, without a second matrix of its size."""
    parts = (np.abs(matrix[start : start + 64]) for start in range(0, len(matrix), 64))
    return max(float(part.sum(axis=1).max()) for part in parts)


def is_well_conditioned(correlation: FloatArray) -> bool:
    """Whether each column keeps a share of its variance, far above rounding, given those before.

    Then none is a copy or a combination of others; this takes a tenth of what an audit takes.
    """
    factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
    return failed == 0 and bool(np.diagonal(factor).min(initial=1.0) > CLEAR)


def is_far_from_singular(correlation: FloatArray, reciprocal_condition: float) -> bool:
    """Whether 1 / (‖R‖₁ ‖R⁻¹‖₁) is estimated to be above a bound.

    No pivot of a factorisation is below that fraction of ‖R‖₁, so that the one with pivots, which
    takes longer, has nothing more to show.
    """
    # As its own transpose it is in the order of columns, as LAPACK wants it.
    factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
    if failed:
        return False
    return bool(lapack.dpocon(factor, _one_norm(correlation), uplo="L")[0] > reciprocal_condition)
