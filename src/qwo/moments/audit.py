"""What is wrong or doubtful about the data: one chain of decisions for whatever was read.

Four things are looked at, each of which needs the one before: what was seen of the table (types,
missing values, size), its columns (constant or nearly so), the correlation matrix (copies, linear
combinations, condition), and the first rows (`qwo.moments.first_rows`). Nothing is repaired; every
finding names columns, and cures where options can cure it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigvalsh

from qwo.errors import ArgumentError, Cure, list_names
from qwo.moments.arrays import RefusedColumn
from qwo.moments.covariance import MIN_SAMPLES, Sample
from qwo.moments.dependence import (
    PivotedCholesky,
    Relation,
    copy_groups,
    smallest_relation,
)
from qwo.moments.findings import Audit, Finding, Severity
from qwo.moments.first_rows import column_kinds, inspect_rows
from qwo.moments.kinds import RARE, Coding, Kind, block_squares, rare_levels, whitened
from qwo.moments.partial import PartialSums, Seen
from qwo.types import FloatArray, Indices, Mask

Missing = Literal["raise", "drop", "em"]
POLICIES: tuple[Missing, ...] = get_args(Missing)

HANDFUL = 5
"""Up to so many samples, columns of whole numbers agree by chance."""

SMALL_SAMPLE = 10
"""Below this many samples only correlations above 0.6 differ from zero at the usual levels."""

FEW_SAMPLES, FEW_PER_VARIABLE = 30, 5
"""Fewer samples than both, the second times n, make for a doubtful graph. On random graphs of 7 and
10 variables, two or three samples for each miss a quarter to a half of the links, and up to a fifth
of those found are false (``python -m benchmarks.few_rows``). From 30 samples on that is better,
however many variables there are."""

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""

NEAR_SINGULAR = 1e-10
"""Reciprocal condition below which a factorisation keeps fewer than six of sixteen digits."""

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


def check_missing(missing: Missing) -> Missing:
    """A policy for missing values that there is."""
    if missing not in POLICIES:
        raise ArgumentError(
            f"missing is {missing!r}; wanted {' or '.join(map(repr, POLICIES))}", option="missing"
        )
    return missing


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Data after inspection: what was found, and the moments if no error stood in the way.

    The coding, where there is one, has the levels that complete rows have.
    """

    audit: Audit
    sample: Sample | None
    coding: Coding | None = None


def survey(
    names: Sequence[str],
    sums: PartialSums,
    *,
    refused: Sequence[RefusedColumn] = (),
    missing: Missing = "raise",
    shrunk: bool = False,
    look: bool = True,
    coding: Coding | None = None,
) -> Survey:
    """Inspect what was seen of the rows and summed up over them, as far as its errors allow.

    Parameters
    ----------
    names : sequence of str
        The variables.
    sums : PartialSums
        Sums over their rows, whose memory is used for the moments.
    refused : sequence of RefusedColumn
        The other columns.
    missing : {"raise", "drop", "em"}
        Whether rows with missing values are an error or are left out; EM is another matter.
    shrunk : bool
        Whether the covariance will be regularised; then singularity is a warning, not an error.
    look : bool
        Whether the first rows are looked at.
    coding : Coding, optional
        The columns of each variable; one if not given.
    """
    seen = sums.close().seen
    kinds = column_types(names, seen, refused, coding) if look or coding else {}
    findings = list(inspect_types(names, refused))
    if seen.n_incomplete:
        counts = MissingCounts.of(names, seen, coding)
        if missing == "raise":
            # What the finite values show of each column by itself is worth knowing all the same.
            findings.append(refused_values(counts))
            findings += inspect_spread(names, *_bounds(seen.lowest, seen.highest, coding))
            return Survey(Audit(tuple(findings), kinds), None)
        findings.append(dropped_rows(counts))
    sized = list(inspect_size(sums.weight, seen.n_incomplete))
    findings += sized
    if len(names) < 2 or sized:
        return Survey(Audit(tuple(findings), kinds), None)
    low, high = _bounds(seen.low, seen.high, coding)
    findings += inspect_spread(names, low, high)
    varying = np.flatnonzero(low < high)
    if len(varying) < 2:
        if sums.weight < SMALL_SAMPLE:
            findings.append(_small(names, sums.weight, [], "warning"))
        return Survey(Audit(tuple(findings), kinds), None)
    columns = varying
    if coding is not None:
        columns, coding = coding.observed(seen.low, seen.high, sums.means)
        coding = coding.select(varying.tolist())
    sample = sums.moments(columns, overwrite=True)
    labels = [names[k] for k in varying.tolist()]
    broken = list(inspect_range(labels if coding is None else coding.labels(labels), sample))
    findings += broken or inspect_coded(labels, sample, coding, shrunk=shrunk)
    if look and not any(finding.severity == "error" for finding in findings):
        whole = len(columns) == seen.first.shape[1]
        first = seen.first if whole else seen.first[:, columns]
        findings += _inspect_first(labels, first, sample, coding, kinds)
    usable = not broken and len(varying) == len(names)
    return Survey(Audit(tuple(findings), kinds), sample if usable else None, coding)


def column_types(
    names: Sequence[str],
    seen: Seen,
    refused: Sequence[RefusedColumn],
    coding: Coding | None,
) -> dict[str, Kind]:
    """What the values of each column are, or seem to be."""
    kinds: dict[str, Kind] = {column.name: "nominal" for column in refused}
    if coding is None:
        return {**column_kinds(names, seen.first), **kinds}
    guessed = column_kinds(names, seen.first[:, coding.starts])
    for name, variable in zip(names, coding.variables, strict=True):
        known = bool(variable.levels) or variable.said
        kinds[name] = variable.kind if known else guessed[name]
    return kinds


def _bounds(
    low: FloatArray, high: FloatArray, coding: Coding | None
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the variables from those of their columns; 0 and 1 for a block that varies."""
    if coding is None or not coding.has_blocks:
        return low, high
    starts, single = coding.starts, coding.sizes == 1
    varies = np.logical_or.reduceat(low < high, starts)
    return np.where(single, low[starts], 0.0), np.where(single, high[starts], varies * 1.0)


def _inspect_first(
    names: Sequence[str],
    first: FloatArray,
    sample: Sample,
    coding: Coding | None,
    kinds: Mapping[str, Kind],
) -> Iterator[Finding]:
    """What the first rows show of the variables that are numbers, and how rare levels are."""
    if coding is None:
        yield from inspect_rows(names, first, sample.correlation, kinds)
        return
    yield from _rare(names, sample, coding)
    numbers = [k for k, variable in enumerate(coding.variables) if not variable.levels]
    columns = coding.starts[numbers]
    if numbers:
        labels = [names[k] for k in numbers]
        between = sample.correlation[np.ix_(columns, columns)]
        said = [names[k] for k in numbers if coding.variables[k].said]
        yield from inspect_rows(labels, first[:, columns], between, kinds, said)


def _rare(names: Sequence[str], sample: Sample, coding: Coding) -> Iterator[Finding]:
    """Levels that hardly any row has."""
    few = dict(rare_levels(names, coding, sample.means, sample.n_samples))
    if not few:
        return
    shown = ", ".join(
        f"{name!r} ({', '.join(f'{level}: {count}' for level, count in levels[:4])})"
        for name, levels in list(few.items())[:5]
    )
    more = f" and {len(few) - 5} more" if len(few) > 5 else ""
    yield Finding(
        "rare-levels",
        "warning",
        tuple(few),
        f"categories have levels that fewer than {RARE} rows have: {shown}{more}. Such a level "
        "says nothing, and its column makes every edge of the variable dearer: merge it with "
        "another",
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
        yield _small(names, sample.n_samples, [], "warning")
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
        (Cure("drop", spare, _leaves(spare)),) if len(names) - len(spare) >= 2 else (),
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
        (Cure("drop", involved[:1], "leaves it out"),) if len(names) > 2 else (),
    )


@dataclass(frozen=True, slots=True, eq=False)
class MissingCounts:
    """How many values of each column are missing or infinite, and how many rows that concerns."""

    names: tuple[str, ...]
    absent: npt.NDArray[np.int64]
    infinite: npt.NDArray[np.int64]
    rows: int
    n_rows: int

    @classmethod
    def of(cls, names: Sequence[str], seen: Seen, coding: Coding | None = None) -> MissingCounts:
        """The counts of what was seen."""
        first = slice(None) if coding is None else coding.starts
        absent, infinite = seen.absent[first], seen.infinite[first]
        return cls(tuple(names), absent, infinite, seen.n_incomplete, seen.n_rows)

    @classmethod
    def in_values(cls, names: Sequence[str], values: FloatArray) -> MissingCounts:
        """The counts of rows in memory."""
        absent, finite = np.isnan(values), np.isfinite(values)
        infinite = (~finite).sum(axis=0) - absent.sum(axis=0)
        rows = int((~finite.all(axis=1)).sum())
        return cls(tuple(names), absent.sum(axis=0), infinite, rows, len(values))

    def __str__(self) -> str:
        affected = np.flatnonzero(self.absent + self.infinite)
        counts = [
            f"{self.names[k]!r} ({_counts(int(self.absent[k]), int(self.infinite[k]))})"
            for k in affected[:5]
        ]
        more = f" and {len(affected) - 5} more columns" if len(affected) > 5 else ""
        return (
            f"{self.absent.sum()} missing and {self.infinite.sum()} infinite values in "
            f"{len(affected)} of {len(self.names)} columns: {', '.join(counts)}{more}; "
            f"{self.rows} of {self.n_rows} rows are "
        )

    @property
    def affected(self) -> tuple[str, ...]:
        """The columns with missing or infinite values."""
        return tuple(compress(self.names, self.absent + self.infinite > 0))

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns without any finite value."""
        return tuple(compress(self.names, self.absent + self.infinite == self.n_rows))


def inspect_types(names: Sequence[str], refused: Sequence[RefusedColumn]) -> Iterator[Finding]:
    """Columns that are not numbers, and tables without two that are."""
    if refused:
        shown = [f"{column.name!r} ({column.reason})" for column in refused]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        columns = tuple(column.name for column in refused)
        total = len(names) + len(refused)
        yield Finding(
            "non-numeric",
            "error",
            columns,
            f"{_of(len(shown), total)} not numeric, and no category: {', '.join(shown[:5])}{more}",
            _text_cures(names, refused),
        )
    if len(names) < 2:
        seen = f"only {names[0]!r}" if names else "none"
        yield Finding(
            "few-columns",
            "error",
            tuple(names),
            f"a graph needs at least two numeric columns; the table has {seen}. If it comes from a "
            "text file, check the separator",
        )


def _text_cures(names: Sequence[str], refused: Sequence[RefusedColumn]) -> tuple[Cure, ...]:
    """Marks of missing values to declare, and columns of other text to leave out."""
    marks = list(dict.fromkeys(word for column in refused for word in column.strays))
    others = [column.name for column in refused if not column.strays]
    numeric = len(names) + len(refused) - len(others)
    cures = [Cure("null_values", marks, "takes it for missing")] if marks else []
    if others and numeric >= 2:
        cures.insert(0, Cure("drop", others, _leaves(others)))
    return (*cures, *(cure for column in refused for cure in column.cures))


def _leaves(columns: Sequence[str]) -> str:
    return f"leaves {'it' if len(columns) == 1 else 'them'} out"


def inspect_size(n_rows: float, dropped: int = 0) -> Iterator[Finding]:
    """Tables with too few rows for a correlation, after those with missing values were dropped."""
    if n_rows < MIN_SAMPLES:
        reason = f" after {dropped} with missing values were dropped" if dropped else ""
        cures = (Cure("missing", "em", "uses what such rows have"),) if dropped else ()
        yield Finding(
            "few-rows",
            "error",
            (),
            f"the table has {n_rows:g} rows{reason}; wanted {MIN_SAMPLES} at the very least, and "
            "many more than columns for a result to trust",
            cures if dropped > MIN_SAMPLES else (),
        )


def refused_values(counts: MissingCounts) -> Finding:
    """Missing values where none are allowed."""
    empty = counts.empty
    cures = [
        Cure("missing", "drop", "leaves those rows out"),
        Cure("missing", "em", "uses what they have"),
    ]
    if empty:
        left = len(counts.names) - len(empty)
        cures = [Cure("drop", list(empty), "leaves out what has no value")] if left >= 2 else []
    without = f"; {list_names(empty)} {'has' if len(empty) == 1 else 'have'} no value at all"
    return Finding(
        "missing-values",
        "error",
        counts.affected,
        f"{counts}affected{without if empty else ''}",
        tuple(cures),
    )


def dropped_rows(counts: MissingCounts) -> Finding:
    """Rows that are left out for missing values."""
    return Finding("missing-values", "warning", counts.affected, f"{counts}left out")


def inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    constant = tuple(compress(names, low == high))
    if constant:
        left = len(names) - len(constant)
        yield Finding(
            "constant",
            "error",
            constant,
            f"{_of(len(constant), len(names))} constant: {list_names(constant)}",
            (Cure("drop", list(constant), _leaves(constant)),) if left >= 2 else (),
        )
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    nearly = tuple(compress(names, flat))
    if nearly:
        left = len(names) - len(nearly)
        yield Finding(
            "nearly-constant",
            "warning",
            nearly,
            f"{_of(len(nearly), len(names))} constant but for the last digits of float64: "
            f"{list_names(nearly)}; subtract the offset before the data are stored",
            (Cure("drop", list(nearly), _leaves(nearly)),) if left >= 2 else (),
        )


def _counts(absent: int, infinite: int) -> str:
    """What is wrong with one column."""
    parts = [(absent, "missing"), (infinite, "infinite")]
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def _of(count: int, total: int) -> str:
    """Such as ``1 of 5 columns is``."""
    return f"{count} of {total} columns {'is' if count == 1 else 'are'}"


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
        yield _small(names, sample.n_samples, groups if chance else [], severity)
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
    cholesky = PivotedCholesky.of(correlation)
    if given and cholesky.remainder(correlation) > SEMIDEFINITE_TOLERANCE:
        yield _indefinite(labels, correlation, cholesky)
    elif cholesky.rank < len(kept) and not wide:
        yield _dependence(labels, sample.scales[kept], cholesky, severity, rows)
    elif not shrunk and 0 < cholesky.reciprocal_condition < NEAR_SINGULAR:
        yield _near_dependence(labels, cholesky, rows)


def _small(
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
    left = len(names) - len(copies)
    return Finding(
        "duplicate",
        severity,
        tuple(names[column] for group in groups for column in group),
        f"columns are copies of others (correlation 1 or -1): {shown}{more}",
        (Cure("drop", copies, "keeps one of each"),) if left >= 2 else (),
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
    cures = [Cure("drop", drop, _leaves(drop))] if len(names) - len(drop) >= 2 else []
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
    cures = (Cure("drop", [columns[0]], "leaves it out"),) if len(names) > 2 else ()
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
