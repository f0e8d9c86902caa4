"""What the first rows of a table show: codes, identifiers, rounding, marks of missing values.

Sums do not tell a code from a measurement, nor a row from its copy. The rows that were kept for
this purpose, all of them where there are few, are looked at as they are. Nothing here is an error:
data may look like this and be sound, so that each finding says what it saw.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from qwo.errors import Cure, list_names
from qwo.moments.findings import Finding, drop_cure
from qwo.options import Kind
from qwo.types import FloatArray, Indices, Mask

FEW_ROWS = 50
"""Rows that show most columns to be measurements."""

FEW_CODES = 10
"""Whole numbers with no more different values than this may be codes."""

CODE_REPEATS = 3
"""How often each code appears on average, at least."""

MANY_ROWS = 20
"""Rows below which nothing is said of repeated, dependent or numbered rows: chance does such."""

ID_NAME = re.compile(
    r"(^|[_. ])(id|ids|idx|index|key|no|nr|number|row|rownames|rn)$|^id", re.IGNORECASE
)
"""Names of columns that number rows."""

SENTINELS = tuple(sign * (10.0**k - 1) for k in (2, 3, 4, 5, 6) for sign in (-1, 1))
"""-99, 999, …: what some programs write for a missing value."""

REPEATED_SHARE = 0.05
"""Share of rows with a copy from which on they are worth a warning."""

SERIAL, SERIAL_ERRORS = 0.3, 4.0
"""Correlation with the row before that counts: in itself, and in standard errors 1 / √N."""

NEAR_COPY = 0.98
"""Correlation from which on two rounded columns are compared."""

MAX_PAIRS = 100
"""Pairs that are compared."""

SCAN_ENTRIES = 1 << 22
"""Entries of the correlation matrix that are looked through at a time."""

SKEWNESS, EXCESS_KURTOSIS = 2.0, 7.0
"""What counts as far from normal, as is usual (West, Finch and Curran, 1995): that of an
exponential distribution, nearly, and more than that of Student's t with five degrees of freedom."""

LEAST = 20
"""Values of a column below which its shape is chance; no twenty normal ones come near the above."""


def column_kinds(names: Sequence[str], rows: FloatArray) -> dict[str, Kind]:
    """What the values of each column seem to be."""
    whole = _whole(rows)
    # A look at few rows spares the look at all for columns of measurements.
    few = whole | (_count_different(rows[:FEW_ROWS]) <= 2)
    kinds: dict[str, Kind] = dict.fromkeys(names, "continuous")
    for k in np.flatnonzero(few).tolist():
        values = len(_different(rows[:, k]))
        if values == 2:
            kinds[names[k]] = "binary"
        elif whole[k] and 2 < values <= FEW_CODES and CODE_REPEATS * values <= len(rows):
            kinds[names[k]] = "ordinal"
    return kinds


def inspect_rows(
    names: Sequence[str],
    rows: FloatArray,
    correlation: FloatArray | None,
    kinds: Mapping[str, Kind],
    declared: Collection[str] = (),
) -> Iterator[Finding]:
    """Findings about rows that were kept, in which missing values are NaN.

    Of the types of columns that were `declared` nothing is said. `kinds` may have more variables
    than these: those that are no numbers, which count among all.
    """
    yield from inspect_codes(names, rows, kinds, declared)
    yield from _two_values(names, rows, kinds)
    yield from _identifiers(names, rows)
    scores = _Scores.of(rows)
    yield from _sentinels(names, rows, scores)
    if correlation is not None and len(rows) >= 3:
        yield from _near_copies(names, rows, correlation)
    if len(rows) >= MANY_ROWS:
        yield from _repeated(names, rows, kinds)
        yield from _serial(names, scores, kinds)
    yield from inspect_shape(names, rows, scores, kinds)


def _whole(rows: FloatArray) -> Mask:
    """Which columns hold whole numbers only, and at least one."""
    first = rows[:FEW_ROWS]
    with np.errstate(invalid="ignore"):
        whole = ((first == np.rint(first)) | ~np.isfinite(first)).all(axis=0)
    for k in np.flatnonzero(whole).tolist():
        column = rows[np.isfinite(rows[:, k]), k]
        whole[k] = len(column) > 0 and bool((column == np.rint(column)).all())
    return np.asarray(whole)


def _count_different(rows: FloatArray) -> Indices:
    """How many different finite values each column has."""
    ranked = np.sort(np.where(np.isfinite(rows), rows, np.nan), axis=0)
    steps = (ranked[1:] > ranked[:-1]).sum(axis=0)
    return np.asarray(steps + (np.isfinite(ranked[:1]).sum(axis=0)))


def _different(column: FloatArray) -> FloatArray:
    """The different finite values of a column."""
    return np.unique(column[np.isfinite(column)])


def inspect_codes(
    names: Sequence[str],
    rows: FloatArray,
    kinds: Mapping[str, Kind],
    declared: Collection[str] = (),
) -> Iterator[Finding]:
    """Whole numbers with few different values, as categories are coded; not those declared."""
    # No code is below 0: rounded measurements are.
    coded = [
        k
        for k, name in enumerate(names)
        if kinds[name] == "ordinal" and name not in declared and np.nanmin(rows[:, k]) >= 0
    ]
    if not coded:
        return
    shown = ", ".join(f"{names[k]!r} ({_values(rows[:, k])})" for k in coded[:5])
    more = f" and {len(coded) - 5} more" if len(coded) > 5 else ""
    columns = tuple(names[k] for k in coded)
    verb = "holds" if len(coded) == 1 else "hold"
    yield Finding(
        "codes",
        "warning",
        columns,
        f"{len(coded)} of {len(kinds)} columns {verb} few different whole numbers: {shown}{more}. "
        "They are taken for numbers; if they are codes of categories without an order, sums and "
        "differences of them mean nothing",
        (
            Cure("types", dict.fromkeys(columns, "nominal"), "takes them for categories"),
            Cure("types", dict.fromkeys(columns, "ordinal"), "says that their order counts"),
        ),
    )


def _two_values(
    names: Sequence[str], rows: FloatArray, kinds: Mapping[str, Kind]
) -> Iterator[Finding]:
    """A note on columns with two values, which need no cure."""
    binary = [k for k, name in enumerate(names) if kinds[name] == "binary"]
    if not binary:
        return
    shown = ", ".join(f"{names[k]!r} ({_values(rows[:, k])})" for k in binary[:5])
    more = f" and {len(binary) - 5} more" if len(binary) > 5 else ""
    verb = "has" if len(binary) == 1 else "have"
    yield Finding(
        "binary",
        "note",
        tuple(names[k] for k in binary),
        f"{len(binary)} of {len(kinds)} columns {verb} two values: {shown}{more}. That is fine: as "
        "a cause such a column shifts means, and an effect on it is a change of shares",
    )


def _values(column: FloatArray) -> str:
    different = [f"{value:g}" for value in _different(column)]
    return ", ".join(different if len(different) <= 4 else [*different[:3], "…", different[-1]])


def _identifiers(names: Sequence[str], rows: FloatArray) -> Iterator[Finding]:
    """Columns that number the rows."""
    if len(rows) < 10:
        return
    candidates = np.flatnonzero(_whole(rows)).tolist()
    numbered = [k for k in candidates if _numbers_rows(names[k], rows[:, k])]
    if not numbered:
        return
    columns = tuple(names[k] for k in numbered)
    one = len(columns) == 1
    yield Finding(
        "identifier",
        "warning",
        columns,
        f"{'column' if one else 'columns'} {list_names(columns)} "
        f"{'seems' if one else 'seem'} to number or identify the rows: whole numbers, all "
        "different, in order or named like it. An edge to or from it would mean nothing, unless it "
        "stands for time",
        drop_cure(names, columns),
    )


def _numbers_rows(name: str, column: FloatArray) -> bool:
    if not np.isfinite(column).all() or len(np.unique(column)) < len(column):
        return False
    steps = np.diff(column)
    consecutive = column.max() - column.min() == len(column) - 1
    monotone = len(column) >= MANY_ROWS and bool((steps > 0).all() or (steps < 0).all())
    return bool(consecutive or monotone or ID_NAME.search(name))


def _sentinels(names: Sequence[str], rows: FloatArray, scores: _Scores) -> Iterator[Finding]:
    """Values such as -999, far from all others of their column."""
    found: dict[int, float] = {}
    ends = scores.ends
    for k in np.flatnonzero((ends[..., None] == SENTINELS).any(axis=(0, 2))).tolist():
        column = rows[np.isfinite(rows[:, k]), k]
        for mark in ends[:, k].tolist():
            if mark in SENTINELS and _far(mark, column[column != mark]):
                found[k] = mark
    if not found:
        return
    shown = ", ".join(
        f"{value:g} in {names[k]!r} ({int((rows[:, k] == value).sum())} times)"
        for k, value in list(found.items())[:5]
    )
    more = f" and in {len(found) - 5} more columns" if len(found) > 5 else ""
    marks = [f"{value:g}" for value in dict.fromkeys(found.values())]
    yield Finding(
        "sentinel",
        "warning",
        tuple(names[k] for k in found),
        f"values far from all others, such as stand for missing ones: {shown}{more}",
        (Cure("null_values", marks, "takes them for missing"),),
    )


def _far(mark: float, others: FloatArray) -> bool:
    """Whether a value lies farther from the others than those from each other."""
    if len(others) < 2:
        return False
    gap, spread = np.abs(others - mark).min(), np.ptp(others)
    return bool(gap > 2 * spread > 0)


def _near_copies(
    names: Sequence[str], rows: FloatArray, correlation: FloatArray
) -> Iterator[Finding]:
    """Columns that are linear in another but for rounding."""
    near = list(islice(_near_pairs(correlation), MAX_PAIRS))
    complete = rows[np.isfinite(rows).all(axis=1)] if near else rows
    pairs = [(i, j) for i, j in near if _agree(complete[:, i], complete[:, j])]
    if not pairs:
        return
    copies = list(dict.fromkeys(names[j] for _, j in pairs))
    shown = ", ".join(f"{names[j]!r} follows from {names[i]!r}" for i, j in pairs[:5])
    yield Finding(
        "near-duplicate",
        "warning",
        tuple(dict.fromkeys(names[k] for pair in pairs for k in pair)),
        f"columns are copies of others but for rounding: {shown}. Next to its copy, no other "
        "variable shows an effect on either",
        drop_cure(names, copies, "keeps one of each"),
    )


def _near_pairs(correlation: FloatArray) -> Iterator[tuple[int, int]]:
    """Pairs whose correlation is next to 1 or -1, the later column ascending."""
    rows = max(SCAN_ENTRIES // max(len(correlation), 1), 1)
    for start in range(0, len(correlation), rows):
        size = np.abs(correlation[start : start + rows])
        near = (size > NEAR_COPY) & (size < 1 - 1e-13)
        if near.any():
            second, first = np.nonzero(np.tril(near, start - 1))
            yield from zip(first.tolist(), (second + start).tolist(), strict=True)


def _agree(first: FloatArray, second: FloatArray) -> bool:
    """Whether two columns lie on a line, up to the last digit of the coarser one."""
    grids = _resolution(first), _resolution(second)
    if len(first) < 3 or None in grids:
        return False
    deviation = first - first.mean()
    slope = deviation @ second / (deviation @ deviation)
    left = np.abs(second - second.mean() - slope * deviation).max()
    fine, coarse = grids[1] or 0.0, abs(slope) * (grids[0] or 0.0)
    spread = np.ptp(second)
    return bool(left <= 1.01 * max(fine, coarse) and left < 0.05 * spread)


def _resolution(column: FloatArray) -> float | None:
    """The power of ten of which all values are multiples, down to a millionth of the largest."""
    largest = np.abs(column).max(initial=0.0)
    if not 0 < largest < 1e12:
        return None
    for digits in range(7):
        scaled = column * 10.0**digits
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6 * max(1.0, largest):
            return float(10.0**-digits)
    return None


def _repeated(
    names: Sequence[str], rows: FloatArray, kinds: Mapping[str, Kind]
) -> Iterator[Finding]:
    """Rows that appear more than once although their values could hardly agree by chance."""
    measured = [k for k, name in enumerate(names) if kinds[name] == "continuous"]
    if not measured:
        return
    enough = max(REPEATED_SHARE * len(rows), 3)
    # One column shows quickly that rows differ; only if it does not are whole rows compared.
    if len(rows) - len(np.unique(rows[:, measured[0]])) < enough or not _rich(rows):
        return
    _, counts = np.unique(np.nan_to_num(rows), axis=0, return_counts=True)
    spare = len(rows) - len(counts)
    if spare < enough:
        return
    yield Finding(
        "repeated-rows",
        "warning",
        (),
        f"{spare} of the {len(rows)} rows looked at repeat others exactly, up to {counts.max()} "
        "times: as if there were more samples than there are, which makes chance look like "
        "structure. Leave the copies out",
    )


def _rich(rows: FloatArray) -> bool:
    """Whether there are far more combinations of values than pairs of rows."""
    different = [len(_different(column)) for column in rows.T]
    return bool(np.log(np.maximum(different, 1)).sum() > 2 * np.log(len(rows)) + 3)


def _serial(names: Sequence[str], scores: _Scores, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    """Columns whose values depend on the row before, as in time series."""
    measured = np.array([kinds[name] != "binary" for name in names])
    if measured.sum() < 2:
        return
    related = np.flatnonzero(measured & scores.depend_on_row_before())
    if len(related) < max(2, measured.sum() / 2):
        return
    columns = tuple(names[k] for k in related.tolist())
    yield Finding(
        "serial",
        "warning",
        columns,
        f"rows depend on the row before them in {len(columns)} of {len(kinds)} columns "
        f"({list_names(columns)}): a time series, or sorted rows. Time series hold fewer "
        "independent samples than rows, so that edges appear by chance; rows in any order by "
        "nature can be sorted as you like",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """Columns in a unit of their own, in which no power leaves the range of float64.

    Attributes
    ----------
    values : ndarray of shape (n, rows)
        Of mean 0 and between -2 and 2; 0 where a value is missing.
    there : ndarray of bool, of the same shape, or None
        Where there is one; None if there are all.
    count : ndarray of int
        How many there are.
    ends : ndarray of shape (2, n)
        The smallest and the largest, as they were; 0 for both in a column without any.
    flat : ndarray of bool
        Columns with few values, or whose values differ in their last digits only.
    """

    values: FloatArray
    there: Mask | None
    count: Indices
    ends: FloatArray
    flat: Mask

    @classmethod
    def of(cls, rows: FloatArray) -> _Scores:
        columns = np.ascontiguousarray(rows.T)
        finite = np.isfinite(columns)
        there = None if finite.all() else finite
        count = finite.sum(axis=1)
        ends = np.array(
            [
                columns.min(axis=1, initial=np.inf, where=True if there is None else there),
                columns.max(axis=1, initial=-np.inf, where=True if there is None else there),
            ]
        )
        ends[:, count == 0] = 0.0
        low, high = ends / 2
        unit, largest = high / 2 - low / 2, np.maximum(np.abs(low), np.abs(high))
        halves = columns / 2 if there is None else np.where(there, columns / 2, 0.0)
        halves -= (low / 2 + high / 2)[:, None]
        halves /= np.where(unit > 0, unit, 1.0)[:, None]
        if there is not None:
            halves[~there] = 0.0
        halves -= (halves.sum(axis=1) / np.maximum(count, 1))[:, None]
        if there is not None:
            halves[~there] = 0.0
        spread = np.sqrt(np.einsum("ij,ij->i", halves, halves) / np.maximum(count, 1))
        flat = (count < LEAST) | (spread * unit <= np.finfo(float).eps * largest)
        return cls(halves, there, count, ends, flat)

    def depend_on_row_before(self) -> Mask:
        """Whether the correlation of each column with the row before is beyond chance."""
        before, after, count = self.values[:, :-1], self.values[:, 1:], self.count - 1
        if self.there is not None:
            both = self.there[:, 1:] & self.there[:, :-1]
            before, after, count = before * both, after * both, both.sum(axis=1)
        share = np.maximum(count, 1)
        means = before.sum(axis=1) / share, after.sum(axis=1) / share
        # The means are next to 0, so that nothing is lost by taking them off afterwards.
        squares = [
            np.einsum("ij,ij->i", part, part) / share - mean**2
            for part, mean in zip((before, after), means, strict=True)
        ]
        size = np.sqrt(np.maximum(squares[0] * squares[1], 0.0))
        cross = np.einsum("ij,ij->i", before, after) / share - means[0] * means[1]
        lag = cross / np.where(size > 0, size, 1.0)
        beyond = lag > np.maximum(SERIAL, SERIAL_ERRORS / np.sqrt(share))
        return np.asarray(beyond & (count >= MANY_ROWS - 1))

    def shapes(self) -> tuple[FloatArray, FloatArray]:
        """Skewness and excess kurtosis of the columns; 0 for both where they are flat."""
        count = np.maximum(self.count, 1)
        square = self.values * self.values
        variance = np.where(self.flat, 1.0, square.sum(axis=1) / count)
        skewness = np.einsum("ij,ij->i", square, self.values) / count / variance**1.5
        kurtosis = np.einsum("ij,ij->i", square, square) / count / variance**2 - 3
        return np.where(self.flat, 0.0, skewness), np.where(self.flat, 0.0, kurtosis)


def inspect_shape(
    names: Sequence[str], values: FloatArray, scores: _Scores, kinds: Mapping[str, Kind]
) -> Iterator[Finding]:
    """A note on columns that are strongly skewed or have heavy tails; missing values do not count.

    Of a few levels no transformation makes anything normal.

    Second moments say all that the search needs to know of a linear model with any noise. Where the
    scale of measurement bends the relations, as with concentrations, a transformation may help.
    """
    skewness, kurtosis = scores.shapes()
    beyond = (np.abs(skewness) > SKEWNESS) | (kurtosis > EXCESS_KURTOSIS)
    far = [k for k in np.flatnonzero(beyond).tolist() if kinds[names[k]] == "continuous"]
    if not far:
        return
    shown = [f"{names[k]!r} ({_in_words(skewness[k], kurtosis[k])})" for k in far[:5]]
    more = f" and {len(far) - 5} more" if len(far) > 5 else ""
    right = np.nanmin(values[:, far]) > 0 and bool((skewness[far] > 0).all())
    columns = tuple(names[k] for k in far)
    every = len(far) == len(kinds)
    ranks = "rank-normal" if every else dict.fromkeys(columns, "rank-normal")
    logs = "log" if every else dict.fromkeys(columns, "log")
    cures = [Cure("transform", ranks, "makes them normal by rank")]
    if right:
        cures.insert(0, Cure("transform", logs, "takes logarithms"))
    yield Finding(
        "non-gaussian",
        "note",
        columns,
        f"{len(far)} of {len(kinds)} columns {'is' if len(far) == 1 else 'are'} far from normal: "
        f"{', '.join(shown)}{more}. This does no harm where relations are linear; where the scale "
        "of measurement bends them, a transformation helps",
        tuple(cures),
    )


def _in_words(skewness: float, kurtosis: float) -> str:
    if abs(skewness) > SKEWNESS:
        return f"skewness {skewness:.1f}"
    return f"excess kurtosis {kurtosis:.1f}"


def shape(column: FloatArray) -> tuple[float, float]:
    """Skewness and excess kurtosis of the finite values; 0 for both if there are few, or one."""
    skewness, kurtosis = _Scores.of(np.reshape(column, (-1, 1))).shapes()
    return float(skewness[0]), float(kurtosis[0])
