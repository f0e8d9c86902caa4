"""How findings about rows and matrices are worded, and what takes a closer look to be worded.

`qwo.inspection.checks` looks; nothing of this module runs while there is nothing to say. A copy,
whatever its shift, scale and sign, has a correlation of ±1 with its original. A linear combination
shows as a vanishing pivot of the Cholesky factorisation with diagonal pivoting P R Pᵀ = L Lᵀ: the
pivot of a column is its variance given the columns before it.
"""

# Long because each finding is as long as what it says to the user.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.linalg import eigvalsh, lapack, solve_triangular

from qwo.columns.recipes import block_squares, looks_like_cluster
from qwo.errors import Cure, list_names
from qwo.inspection.audit import Finding, Severity, belonging, count_of, drop_cure, shown
from qwo.text import count as counted
from qwo.types import FloatArray, Indices

if TYPE_CHECKING:
    from qwo.inspection.checks import View
    from qwo.moments.moments import Moments

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

SMALL_SAMPLE = 10
"""Below this many samples only correlations above 0.6 differ from zero at the usual levels."""

one_norm: Any = lapack.dlange
"""‖·‖₁ of a matrix, without a second one of its size; the stub of it lacks an argument."""

TOLERANCE = 1e-13
"""Pivots, and 1 - |r| of copies, below this are rounding of the data in float64, and no more."""

NEGLIGIBLE = 3e-7
"""Relative size of a standardised coefficient whose square no pivot shows: √TOLERANCE."""

SAFE_PIVOT = 1e-3
"""Relative size below which an entry is passed over in elimination, for the sake of rounding."""

SKEWNESS, EXCESS_KURTOSIS = 2.0, 7.0
"""What counts as far from normal, as is usual (West, Finch and Curran, 1995): that of an
exponential distribution, nearly, and more than that of Student's t with five degrees of freedom."""

MOST_PAIRED, FARTHEST = 50, 50
"""Columns of which pairs are looked at, and rows apart, for what dependent rows are worth."""


def different(column: FloatArray) -> FloatArray:
    """The different finite values of a column."""
    return np.unique(column[np.isfinite(column)])


def codes(view: View, found: list[int]) -> Finding:
    """Few whole numbers, which may be codes."""
    columns = view.named(found)
    return Finding(
        "codes",
        "warning",
        columns,
        f"{count_of(len(found), len(view.kinds), 'holds', 'hold')} few different whole numbers, "
        f"read as quantities: {view.values(found)}. If they are codes of categories without an "
        "order, adding or averaging them makes no sense",
        (
            Cure("types", dict.fromkeys(columns, "nominal"), "treats them as categories"),
            Cure("types", dict.fromkeys(columns, "ordinal"), "says that their order counts"),
        ),
    )


def two_values(view: View, found: list[int]) -> Finding:
    """Columns of two values."""
    text = f"{count_of(len(found), len(view.kinds), 'has', 'have')} two values: "
    text += f"{view.values(found)}. That is fine: as a cause such a column shifts means; as an "
    text += "effect, its coefficients are changes of the share of the second value"
    return Finding("binary", "note", view.named(found), text)


def identifiers(view: View, found: list[int]) -> Finding:
    """Columns that number the rows."""
    columns = view.named(found)
    one = len(columns) == 1
    text = f"{'column' if one else 'columns'} {list_names(columns)} {'seems' if one else 'seem'} "
    text += "to number or identify the rows: whole numbers, all different, in order or named like "
    text += "it. An edge to or from it would mean nothing, unless it stands for time"
    return Finding("identifier", "warning", columns, text, drop_cure(view.names, columns))


def sentinels(view: View, found: dict[int, float]) -> Finding:
    """Values that stand for missing ones."""
    said = [
        f"{value:g} in {view.names[k]!r} ({view.marks[int(value > view.ends[0, k]), k]} times)"
        for k, value in found.items()
    ]
    more = f" and in {len(said) - 5} more columns" if len(said) > 5 else ""
    marks = [f"{value:g}" for value in dict.fromkeys(found.values())]
    return Finding(
        "sentinel",
        "warning",
        view.named(list(found)),
        f"values far from all others, as codes for missing values are: {', '.join(said[:5])}{more}",
        (Cure("null_values", marks, "treats them as missing"),),
    )


def rounded_copies(view: View, pairs: list[tuple[int, int]]) -> Finding:
    """Columns that follow from others but for rounding."""
    names = view.names
    said = ", ".join(f"{names[j]!r} follows from {names[i]!r}" for i, j in pairs[:5])
    return Finding(
        "near-duplicate",
        "warning",
        tuple(dict.fromkeys(names[k] for pair in pairs for k in pair)),
        f"columns are copies of others but for rounding: {said}. With both in the table, "
        "no other variable shows an effect on either",
        drop_cure(names, list(dict.fromkeys(names[j] for _, j in pairs)), "keeps one of each"),
    )


def computed(view: View, found: list[tuple[int, list[int], FloatArray, int]]) -> Finding:
    """Columns computed from others, but for a few rows."""
    names, said = view.names, []
    for k, others, weights, on in found:
        pairs = zip(weights.tolist(), others, strict=True)
        line = " ".join(f"{weight:+.4g}·{names[other]!r}" for weight, other in pairs)
        said.append(f"{names[k]!r} = constant {line} in {on:,} of {len(view.rows):,} rows")
    text = f"columns seem to be computed from others: {shown(said)}. They tell nothing of their "
    text += "own, so that few rows and rounding decide about the edges of all of these"
    columns = view.named(sorted({k for c, others, *_ in found for k in (c, *others)}))
    cures = drop_cure(names, [names[k] for k, *_ in found])
    return Finding("determined", "warning", columns, text, cures)


def repeated_rows(view: View, found: tuple[int, int]) -> Finding:
    """Rows that repeat others."""
    text = f"{found[0]} of the {len(view.first)} rows looked at repeat others exactly, up to "
    text += f"{found[1]} times: the sample is smaller than it looks, so that chance patterns "
    return Finding("repeated-rows", "warning", (), f"{text}appear as edges. Remove the copies")


def totals(view: View, found: list[int]) -> Finding:
    """A last row of sums."""
    said, names = shown([repr(name) for name in view.named(found)]), view.named(found)
    text = f"the last row holds the sums of all others in {said}: it is no sample, and outweighs "
    return Finding("totals", "warning", names, f"{text}all of them. Delete it")


def independent_share(values: FloatArray, lengths: Indices | None = None) -> float:
    """Share of rows that count for the correlation of two series, rows of `values` (Bartlett).

    The median over pairs of 1 / (1 + 2 Σ_k r_i(k) r_j(k)); autocorrelations below 2 / √N are noise.
    With lengths, values are pieces of these, and nothing reaches from one to the next.
    """
    n, count = values.shape
    pieces = np.array([count]) if lengths is None else lengths
    reach = min(FARTHEST, int(pieces.max(initial=0)) // 4)
    # Zeros between pieces keep them apart, and the end of the last from its beginning.
    places = np.arange(count) + np.repeat(np.arange(len(pieces)) * reach, pieces)
    apart = np.zeros((n, 1 << int(count + len(pieces) * reach).bit_length()))
    apart[:, places] = values - values.mean(axis=1)[:, None]
    products = np.fft.irfft(np.abs(np.fft.rfft(apart)) ** 2)[:, : reach + 1]
    r = products[:, 1:] / np.maximum(products[:, :1], 1e-300)
    few = np.array([np.maximum(pieces - lag, 0).sum() < 10 for lag in range(1, reach + 1)], bool)
    r[:, few] = 0.0
    r[np.abs(r) < 2 / np.sqrt(count)] = 0.0
    total = r @ r.T
    pairs = 1 + 2 * (total[np.triu_indices(n, 1)] if n > 1 else total[0])
    return float(1 / max(1.0, float(np.median(pairs))))


def serial(view: View, seen: tuple[list[int], list[str]]) -> Finding:
    """Rows that depend on those before them, or are merely sorted."""
    found, by = seen
    columns = view.named(found)
    if by:
        them = "it stays" if len(by) == 1 else "they stay"
        text = f"rows are sorted by {list_names(by)}, so that neighbours are alike; within its "
        text += f"groups they are not. This does no harm as long as {them} in the table"
        return Finding("sorted", "note", tuple(by), text)
    scores = view.scores if view.first is view.rows else view.scores.of(view.first)
    worth = independent_share(scores.values[found[:MOST_PAIRED]])
    return Finding(
        "serial",
        "warning",
        columns,
        f"rows depend on the row before them in {len(columns)} of {len(view.kinds)} columns "
        f"({list_names(columns)}): a time series, or sorted rows. Dependent rows tell "
        f"less than independent ones (each about {worth:.2g} of one), so that "
        "edges appear by chance. If their order means nothing, as in a table sorted by one of its "
        "columns, ignore this",
        (
            Cure("lags", "auto", "adds the rows before as causes"),
            Cure("lags", 0, "uses the effective number of rows, without effects over time"),
        ),
    )


def shapes_of(view: View, found: list[tuple[int, float, float]]) -> Finding:
    """Second moments say all that the search needs to know of a linear model with any noise.

    Where the scale of measurement bends the relations, as with concentrations, a transformation
    may help.
    """
    far = [k for k, _, _ in found]
    columns = view.named(far)
    said = []
    for k, skew, excess in found:
        by_skew = abs(skew) > SKEWNESS
        how = f"skewness {skew:.1f}" if by_skew else f"excess kurtosis {excess:.1f}"
        said.append(f"{view.names[k]!r} ({how})")
    every = len(far) == len(view.kinds)
    ranks = "rank-normal" if every else dict.fromkeys(columns, "rank-normal")
    cures = [Cure("transform", ranks, "makes them normal by rank")]
    if np.nanmin(view.rows[:, far]) > 0 and all(skewness > 0 for _, skewness, _ in found):
        logs = "log" if every else dict.fromkeys(columns, "log")
        cures.insert(0, Cure("transform", logs, "takes logarithms"))
    cures.append(Cure("arrows", "noise", "directs edges by the shape of their noise"))
    text = f"{count_of(len(far), len(view.kinds))} far from normal: {shown(said)}. This does no "
    text += "harm where relations are linear; where the scale of measurement bends them, a "
    return Finding("non-gaussian", "note", columns, f"{text}transformation helps", tuple(cures))


def curves(view: View, found: list[tuple[int, int]]) -> Finding:
    """Relations that are no lines."""
    said = [f"{view.names[j]!r} over {view.names[i]!r}" for i, j in found]
    text = f"relations bend in {counted(len(said), 'pair')} of columns: {shown(said)}. A linear "
    text += "search may miss their edges, or draw others in"
    columns = view.named(sorted({k for pair in found for k in pair}))
    cure = Cure("relations", "curved", "explains each column by a sum of curves")
    return Finding("curved", "note", columns, f"{text} their place", (cure,))


def clusters(view: View) -> Iterator[Finding]:
    """Whole numbers that repeat, in columns named like whom or what several rows are of."""
    for k in np.flatnonzero(view.whole).tolist():
        name = view.names[k]
        # Few numbers are codes: a PID of 0 to 6 is the identification with a party.
        if looks_like_cluster(name) and view.kinds[name] != "ordinal":
            count = len(different(view.rows[:, k]))
            if 2 < count <= 0.8 * len(view.rows):
                yield belonging(name, count)


def constant(names: Sequence[str], columns: tuple[str, ...]) -> Finding:
    """Columns with one value."""
    text = f"{count_of(len(columns), len(names))} constant: {list_names(columns)}"
    return Finding("constant", "error", columns, text, drop_cure(names, columns))


def nearly_constant(names: Sequence[str], columns: tuple[str, ...]) -> Finding:
    """Columns whose values differ in their last digits only."""
    text = f"{count_of(len(columns), len(names))} constant but for the last digits of float64: "
    text += f"{list_names(columns)}; subtract the offset before the data are stored"
    return Finding("nearly-constant", "warning", columns, text, drop_cure(names, columns))


def out_of_range(columns: Sequence[str]) -> Finding:
    """Columns whose squares left the range of float64 while they were summed up."""
    text = f"squares of {list_names(columns)} leave the range of float64: their values are too "
    text += "large or too small; rescale them, or take their logarithms"
    unit = Cure("transform", dict.fromkeys(columns, "standardise"), "divides by the spread")
    return Finding("range", "error", tuple(columns), text, (unit,))


def wide_table(n_variables: int, n_samples: float, rows: bool) -> Finding:
    """A sample smaller than the number of variables."""
    text = f"there are {n_variables} variables but only {n_samples:g} samples, so that the "
    text += "covariance matrix is singular; the default engine, 'bic', can handle that"
    return Finding("wide", "warning", (), text, SHRINK if rows else ())


def exact_copies(moments: Moments, groups: list[list[int]], severity: Severity) -> Finding:
    """Groups of columns that are one column."""
    names = moments.names
    pairs = [(group[0], copy) for group in groups for copy in group[1:]]
    copies = [names[copy] for _, copy in pairs]
    said = [
        f"{names[copy]!r} {'repeats' if _identical(moments, first, copy) else 'is linear in'} "
        f"{names[first]!r}"
        for first, copy in pairs
    ]
    columns = tuple(names[column] for group in groups for column in group)
    text = f"columns are copies of others (correlation 1 or -1): {shown(said)}"
    cures = drop_cure(names, copies, "keeps one of each")
    return Finding("duplicate", severity, columns, text, cures)


def dependence(
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


def near_dependence(names: Sequence[str], cholesky: PivotedCholesky, rows: bool) -> Finding:
    """Columns that all but determine one another."""
    columns = _nearly_dependent(names, cholesky)
    condition = 1 / cholesky.reciprocal_condition
    cures = drop_cure(names, columns[:1])
    text = f"the correlation matrix is nearly singular (condition number {condition:.1e}): "
    text += f"{columns[0]!r} is almost determined by {list_names(columns[1:])}"
    return Finding("near-singular", "warning", columns, text, (*cures, *(SHRINK if rows else ())))


def indefinite(names: Sequence[str], correlation: FloatArray, cholesky: PivotedCholesky) -> Finding:
    """A given matrix that no data can have."""
    columns = tuple(names[k] for k in cholesky.pivots[cholesky.rank :])
    smallest = eigvalsh(correlation, subset_by_index=[0, 0])[0]
    text = f"the matrix is not positive semidefinite (smallest eigenvalue {smallest:.2g} on the "
    text += f"correlation scale, seen at {list_names(columns)}), so that no data can have it. "
    text += "Matrices computed pair by pair or rounded to few digits look like this: compute it "
    return Finding("indefinite", "error", columns, f"{text}from complete rows, or give more digits")


def inspect_blocks(moments: Moments, severity: Severity) -> Iterator[Finding]:
    """Variables that follow from others, blocks or not, and levels that determine each other."""
    names, width = moments.names, moments.coding.n_columns
    if moments.n_samples < SMALL_SAMPLE:
        yield small_sample(names, moments.n_samples, [], "warning")
    if moments.n_samples <= width:
        yield wide_table(width, moments.n_samples, rows=True)
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
        involved = list(dict.fromkeys(names[k] for pair in pairs for k in pair))
        text = f"columns say nothing that another does not say: {shown(said)}"
        cures = drop_cure(names, [names[v] for _, v in pairs])
        yield Finding("duplicate", severity, tuple(involved), text, cures)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.flatnonzero(~np.isin(owners, list(spare)))
    cholesky = PivotedCholesky.of(matrix[np.ix_(columns, columns)])
    if cholesky.rank == len(columns):
        return
    relation = smallest_relation(cholesky.null_vectors(cholesky.rank, limit=MAX_RELATIONS))
    own = [relation.column, *relation.others]
    involved = list(dict.fromkeys(names[owners[columns[k]]] for k in own))
    text = f"levels of {list_names(involved)} determine each other: which of them is the cause of "
    text += "such a level, data cannot tell, and their coefficients are not determined"
    cures = drop_cure(names, involved[:1])
    yield Finding("linear-dependence", "warning", tuple(involved), text, cures)


def small_sample(
    names: Sequence[str], n_samples: float, groups: list[list[int]], severity: Severity
) -> Finding:
    """A sample too small for almost any edge to show."""
    text = f"there are only {n_samples:g} samples of {len(names)} variables: "
    if n_samples < SMALL_SAMPLE:
        text += f"below {SMALL_SAMPLE} hardly any correlation differs from chance"
    else:
        text += "with so few, many edges are missed, and some of those found are due to chance"
    if not groups:
        return Finding("few-rows", "warning", (), text)
    columns = tuple(names[k] for k in groups[0])
    text += f", and columns agree without being copies: {list_names(columns)}"
    return Finding("few-rows", severity, columns, text)


def inspect_levels(moments: Moments) -> Iterator[Finding]:
    """Levels of blocks that hardly any row has, and levels that are one, spelt in two ways."""
    few: dict[str, str] = {}
    coding, twins = moments.coding, list[str]()
    for name, variable, start in zip(moments.names, coding.variables, coding.starts, strict=True):
        if variable.size == 1 or not variable.levels:
            continue
        spelt = [" ".join(level.casefold().split()) for level in variable.levels]
        twice = [v for v, s in zip(variable.levels, spelt, strict=True) if spelt.count(s) > 1]
        twins += [f"{name!r} ({list_names(twice)})"] if twice else []
        own = moments.means[start : start + variable.size]
        shares = np.concatenate(([1 - own.sum()], own))
        counts = np.rint(moments.n_samples * shares).astype(int).tolist()
        rare = [pair for pair in zip(variable.levels, counts, strict=True) if pair[1] < RARE]
        if rare:
            levels = ", ".join(f"{level}: {count}" for level, count in rare[:4])
            few[name] = f"{name!r} ({levels})"
    if twins:
        text = f"levels differ in capitals or blanks alone: {shown(twins)}. Each counts as a level "
        yield Finding("spellings", "warning", (), f"{text}of its own: write them alike")
    if few:
        text = f"categories have levels that fewer than {RARE} rows have: "
        text += f"{shown(list(few.values()))}. So few rows tell nothing about a level, yet it adds "
        text += "a coefficient to every edge of the variable: merge it with another"
        yield Finding("rare-levels", "warning", tuple(few), text)


def _identical(sample: Moments, first: int, copy: int) -> bool:
    """Whether perfectly correlated columns agree in sign, scale and mean too."""
    scale = sample.scales[first]
    return bool(
        sample.correlation[first, copy] > 0
        and abs(sample.scales[copy] - scale) <= 1e-9 * scale
        and abs(sample.means[copy] - sample.means[first]) <= 1e-9 * scale
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


def determined_columns(names: Sequence[str], correlation: FloatArray) -> tuple[str, ...]:
    """The column that others come closest to determining, and those others."""
    return _nearly_dependent(names, PivotedCholesky.of(correlation))


def _nearly_dependent(names: Sequence[str], cholesky: PivotedCholesky) -> tuple[str, ...]:
    vector = cholesky.null_vectors(len(names) - 1, limit=1)[0]
    relation = Relation.of(vector, negligible=INVOLVED)
    return tuple(names[k] for k in (relation.column, *relation.others))


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
            condition = lapack.dpocon(factor, one_norm("1", correlation.T), uplo="L")[0]
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
