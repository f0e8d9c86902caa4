"""What rows and sums of a table show: codes, identifiers, copies, too few samples, conditions.

Sums do not tell a code from a measurement, nor a row from its copy. The rows that were kept for
this purpose, all of them where there are few, are looked at as they are. Nothing in rows is an
error: data may look like this and be sound, so that each finding says what it saw. A check of rows
is a line of `CHECKS`: what it looks for, and how `qwo.inspection.findings` words what it has found.
"""

# Long because all that is looked at in every table stands in one place.

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from scipy.linalg import lapack

from qwo import _core
from qwo.columns.levels import RefusedColumn
from qwo.columns.recipes import PLAIN, Coding, looks_like_cluster, some_words, words_of
from qwo.compute import one_blas_thread
from qwo.inspection import findings as word
from qwo.inspection.audit import Finding, Severity, shown
from qwo.options import Kind
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from qwo.moments.moments import Moments
    from qwo.moments.sums import Seen

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

TIMES = some_words("date day week month quarter season hour time wave visit")
"""Words for times."""

REPEATED_SHARE = 0.05
"""Share of rows with a copy from which on they are worth a warning."""

SERIAL, SERIAL_ERRORS = 0.3, 4.0
"""Correlation with the row before that counts: in itself, and in standard errors 1 / √N."""

SENTINELS = frozenset(sign * (10.0**k - 1) for k in (2, 3, 4, 5, 6) for sign in (-1, 1))
"""-99, 999, …: what some programs write for a missing value."""

NEAR_COPY = 0.98
"""Correlation from which on two rounded columns are compared."""

MAX_PAIRS = 100
"""Pairs that are compared."""

SCAN_ENTRIES = 1 << 22
"""Entries of the correlation matrix that are looked through at a time."""

LEAST = 20
"""Values of a column below which its shape is chance; no twenty normal ones come near the above."""

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""

CLEAR = 1e-3
"""A standard deviation given other columns that shows a column not to be a combination of them."""

HANDFUL = 5
"""Up to so many samples, columns of whole numbers agree by chance."""

FEW_SAMPLES, FEW_PER_VARIABLE = 30, 5
"""Fewer samples than both, the second times n, make for a doubtful graph. On random graphs of 7 and
10 variables, two or three samples for each miss a quarter to a half of the links, and up to a fifth
of those found are false (``python -m benchmarks.few_rows``). From 30 samples on that is better,
however many variables there are."""

BENT, MOST_SCREENED = 0.05, 300
"""Share of variance from which a bend is told of, and columns up to which pairs are looked at."""

UNEXPLAINED = 0.01
"""Share of a variable left unexplained by others below which it may be computed from them."""

HOLDS, REFITS = 0.9, 3
"""Share of the rows that must lie on a line, and how often it is fitted without the others."""

NEAR_SINGULAR = 1e-10
"""Reciprocal condition below which a factorisation keeps fewer than six of sixteen digits."""

FAR_FROM_SINGULAR = 10 * NEAR_SINGULAR
"""One above which there is nothing to say, whichever way it is estimated."""

MOST_AT_ONCE = 32
"""Columns up to which the core sees at once that rows are plain; products of matrices beyond."""

SMALLEST = 1e-150
"""A standard deviation below this has squares that float64 holds with fewer digits, or not."""

SEMIDEFINITE_TOLERANCE = 1e-8
"""What rounding may leave of a semidefinite matrix where its pivots vanish."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows that were kept, in which missing values are NaN, and what is known of their columns.

    The rows come from all over the data; `first` are those that stand at their head, one after the
    other. Extremes, and `marks` that count them, are those of all rows. The columns that are looked
    at are `numbers`, some of all. `kinds` has all variables, those that are no numbers, too, which
    count among all; `places` has the columns of each kind; `whole` says which hold whole numbers
    only. Of the types of columns that were `declared` nothing is said. Where the rows are `plain`
    no check of rows alone has anything to say. `groups` has the first rows of variables with few
    values, in as many columns as each has.
    """

    names: Sequence[str]
    rows: FloatArray
    first: FloatArray
    ends: FloatArray
    marks: Indices
    numbers: Sequence[int]
    kinds: Mapping[str, Kind]
    places: Mapping[Any, list[int]]
    whole: Mask
    declared: Collection[str] = ()
    correlation: FloatArray | None = None
    scores: Any = None
    plain: bool = False
    groups: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls, names: Sequence[str], seen: Seen, coding: Coding, refused: Sequence[RefusedColumn]
    ) -> View:
        """The variables that are numbers, in rows of all columns; and what all seem to be.

        What is not known of kinds, their values tell.
        """
        told = dict(zip(names, coding.variables, strict=True))
        known: dict[str, Kind] = {n: v.kind for n, v in told.items() if v.levels or v.said}
        known |= {column.name: "nominal" for column in refused}
        numbers = [k for k, name in enumerate(names) if not told[name].levels]
        columns, declared = coding.starts[numbers], [n for n, v in told.items() if v.said]
        rows, head = seen.spread, seen.first
        ends = np.array([seen.lowest, seen.highest])
        marks = np.zeros(ends.shape, dtype=np.int64) if seen.marks is None else seen.marks
        if len(columns) < len(seen.low):
            rows, head, ends = rows[:, columns], head[:, columns], ends[:, columns]
            marks = marks[:, columns]
        own, head = [names[k] for k in numbers], rows if len(head) == len(rows) else head
        kinds: dict[str, Kind] = dict.fromkeys(names, "continuous")
        if head is rows and not (known or declared or seen.marks is not None) and _are_plain(rows):
            where, nothing = {"continuous": numbers}, np.zeros(len(own), dtype=np.bool_)
            return cls(own, rows, head, ends, marks, numbers, kinds, where, nothing, plain=True)
        few = rows[:FEW_ROWS]
        finite = np.isfinite(few)
        with np.errstate(invalid="ignore"):
            whole = np.asarray(((few == np.rint(few)) | ~finite).all(axis=0))
        # A look at few rows spares the look at all for columns of measurements.
        ranked = np.sort(np.where(finite, few, np.nan), axis=0)
        steps = (ranked[1:] > ranked[:-1]).sum(axis=0) + np.isfinite(ranked[:1]).sum(axis=0)
        for k in np.flatnonzero(whole | (steps <= 2)).tolist():
            levels = np.unique(rows[np.isfinite(rows[:, k]), k])
            values = len(levels)
            whole[k] &= values > 0 and bool((levels == np.rint(levels)).all())
            if values == 2:
                kinds[own[k]] = "binary"
            elif whole[k] and 2 < values <= FEW_CODES and CODE_REPEATS * values <= len(rows):
                kinds[own[k]] = "ordinal"
        kinds.update(known)
        places: dict[Kind, list[int]] = {kind: [] for kind in get_args(Kind)}
        for k, name in enumerate(own):
            places[kinds[name]].append(k)
        few_values = {
            name: seen.first[:, coding.columns_of([k])]
            for k, name in enumerate(names)
            if kinds[name] != "continuous" and not (looks_like_cluster(name) or is_time(name))
        }
        known_now = places, whole, declared
        return cls(own, rows, head, ends, marks, numbers, kinds, *known_now, groups=few_values)

    def named(self, places: Sequence[int]) -> tuple[str, ...]:
        """The names of columns."""
        return tuple(self.names[k] for k in places)

    def values(self, places: Sequence[int]) -> str:
        """Columns with the different values that they have."""
        said = []
        for k in places:
            texts = [f"{value:g}" for value in word.different(self.rows[:, k])]
            texts = texts if len(texts) <= 4 else [*texts[:3], "…", texts[-1]]
            said.append(f"{self.names[k]!r} ({', '.join(texts)})")
        return shown(said)


def is_time(name: str) -> bool:
    """Whether a column is named like a time, by which rows are sorted that follow each other."""
    return any(word in TIMES or word.endswith("year") for word in words_of(name))


def _are_plain(rows: FloatArray) -> bool:
    """Whether the core sees that checks of rows would find nothing; if not, they have to look."""
    if len(rows) < FEW_ROWS or not 2 <= rows.shape[1] <= MOST_AT_ONCE:
        return False
    how = FEW_ROWS, word.SKEWNESS, word.EXCESS_KURTOSIS, SERIAL, SERIAL_ERRORS, REPEATED_SHARE, BENT
    return _core.are_plain(np.ascontiguousarray(rows), *how, 2 * math.log(rows.size))


def inspect_rows(
    view: View, correlation: FloatArray | None = None, coding: Coding = PLAIN
) -> Iterator[Finding]:
    """Findings about rows, in the order of the checks; correlations are those of all columns."""
    if not view.names:
        return
    if correlation is not None and len(view.names) < len(correlation):
        columns = coding.starts[list(view.numbers)]
        correlation = correlation[np.ix_(columns, columns)]
    scores = None if view.plain else Scores.of(view.rows)
    view = replace(view, correlation=correlation, scores=scores)
    for look, tell in CHECKS:
        # Correlations are another matter than rows.
        found = (look in (_near_copies, _computed) or not view.plain) and look(view)
        if found:
            yield tell(view, found)
    if view.whole.any():
        yield from word.clusters(view)


def _numbers_rows(view: View, place: int) -> bool:
    """Whether a column of whole numbers numbers or identifies the rows."""
    name, column = view.names[place], view.first[:, place]
    if (
        not view.whole[place]
        or len(column) < 10
        or not np.isfinite(column).all()
        or len(np.unique(column)) < len(column)
    ):
        return False
    steps = np.diff(column)
    consecutive = column.max() - column.min() == len(column) - 1
    monotone = len(column) >= MANY_ROWS and bool((steps > 0).all() or (steps < 0).all())
    return bool(consecutive or monotone or ID_NAME.search(name))


def _marks(view: View) -> dict[int, float]:
    """Values such as -999, farther from all others of their column than those from each other."""
    found: dict[int, float] = {}
    for k in np.flatnonzero(view.marks.any(axis=0)).tolist():
        column = view.rows[np.isfinite(view.rows[:, k]), k]
        for mark in view.ends[:, k].tolist():
            others = column[column != mark]
            far = len(others) > 1 and np.abs(others - mark).min() > 2 * np.ptp(others) > 0
            if mark in SENTINELS and far:
                found[k] = mark
    return found


def _near_copies(view: View) -> list[tuple[int, int]]:
    """Columns that are linear in another but for rounding: pairs, the later column ascending."""
    if view.correlation is None or len(view.rows) < 3:
        return []
    near: list[tuple[int, int]] = []
    step = max(SCAN_ENTRIES // max(len(view.correlation), 1), 1)
    for start in range(0, len(view.correlation), step):
        size = np.abs(view.correlation[start : start + step])
        close = (size > NEAR_COPY) & (size < 1 - 1e-13)
        if close.any() and len(near) < MAX_PAIRS:
            second, first = np.nonzero(np.tril(close, start - 1))
            pairs = zip(first.tolist(), (second + start).tolist(), strict=True)
            near += islice(pairs, MAX_PAIRS - len(near))
    complete = view.rows[np.isfinite(view.rows).all(axis=1)] if near else view.rows
    return [(i, j) for i, j in near if _agree(complete[:, i], complete[:, j])]


def _agree(first: FloatArray, second: FloatArray) -> bool:
    """Whether two columns lie on a line, up to the last digit of the coarser one."""
    grids = _resolution(first), _resolution(second)
    if len(first) < 3 or None in grids:
        return False
    deviation = first - first.mean()
    slope = deviation @ second / (deviation @ deviation)
    left = np.abs(second - second.mean() - slope * deviation).max()
    fine, coarse = grids[1] or 0.0, abs(slope) * (grids[0] or 0.0)
    return bool(left <= 1.01 * max(fine, coarse) and left < 0.05 * np.ptp(second))


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


def _repeats(view: View) -> tuple[int, int] | None:
    """Rows that appear more than once although their values could hardly agree by chance."""
    rows, measured = view.first, view.places["continuous"]
    if len(rows) < MANY_ROWS or not measured:
        return None
    enough = max(REPEATED_SHARE * len(rows), 3)
    # One column shows quickly that rows differ; only if it does not are whole rows compared.
    if len(rows) - len(np.unique(rows[:, measured[0]])) < enough:
        return None
    different = [max(len(word.different(column)), 1) for column in rows.T]
    _, counts = np.unique(np.nan_to_num(rows), axis=0, return_counts=True)
    chance = np.log(different).sum() <= 2 * np.log(len(rows)) + 3
    # Even then they are copies where each of several measurements tells which row it is.
    if chance and (len(measured) < 3 or len(counts) > min(different[k] for k in measured)):
        return None
    spare = len(rows) - len(counts)
    return (spare, int(counts.max())) if spare >= enough else None


def _dependent(view: View) -> tuple[list[int], list[str]] | None:
    """Columns whose values depend on the row before, if that is most of them.

    Beside them, the columns by which the rows are sorted, if within groups of these no such
    dependence is left.
    """
    counted = [k for k in range(len(view.names)) if not _numbers_rows(view, k)]
    measured = np.zeros(len(view.names), np.bool_)
    measured[[k for k in counted if view.kinds[view.names[k]] != "binary"]] = True
    if len(view.first) < MANY_ROWS or measured.sum() < 2:
        return None
    scores = view.scores if view.first is view.rows else Scores.of(view.first)
    related = _related(scores, measured, np.ones(len(view.first) - 1, np.bool_))
    if len(related) < max(2, measured.sum() / 2):
        return None
    by, within = _sorted_by(view.groups, len(view.first))
    if by:
        # Within groups, a column by which rows are sorted has one value.
        inside = replace(scores, values=_centred(scores, np.cumsum(np.r_[False, ~within])))
        others = measured & ~np.isin(view.names, by)
        left = _related(inside, others, within, SERIAL / 2)
        by = by if len(left) < max(2, others.sum() / 2) else []
    return related, by


def _sorted_by(groups: Mapping[str, FloatArray], n_rows: int) -> tuple[list[str], Mask]:
    """Columns whose values come in one block each, later ones within those of earlier ones.

    Beside them, which neighbouring rows are in the same block.
    """
    by: list[str] = []
    same, key = np.ones(n_rows - 1, np.bool_), np.zeros(n_rows, np.intp)
    by_size = sorted(groups, key=lambda name: len(np.unique(groups[name], axis=0)))
    for name in by_size:
        level = np.unique(np.nan_to_num(groups[name], nan=-1.0), axis=0, return_inverse=True)[1]
        _, both = np.unique(np.stack([key, level.reshape(-1)]), axis=1, return_inverse=True)
        both = both.reshape(-1)
        blocks = 1 + int((np.diff(both) != 0).sum())
        if len(np.unique(key)) < blocks == both.max() + 1 <= n_rows / FEW_CODES:
            by, key, same = [*by, name], both, np.diff(both) == 0
    return by, same


def _centred(scores: Scores, blocks: Indices) -> FloatArray:
    """Scores less their means within blocks of rows, 0 where a value is missing."""
    values, n = scores.values, int(blocks[-1]) + 1
    there = np.ones(values.shape) if scores.there is None else scores.there.astype(np.float64)
    ends = np.flatnonzero(np.r_[True, np.diff(blocks) > 0])
    sums, counts = (np.add.reduceat(each, ends, axis=1) for each in (values, there))
    means = (sums / np.maximum(counts, 1))[:, np.repeat(np.arange(n), np.bincount(blocks))]
    return np.asarray((values - means) * there)


def _related(scores: Scores, measured: Mask, pairs: Mask, least: float = SERIAL) -> list[int]:
    """Columns whose values depend on the row before, over pairs of neighbours."""
    before, after = scores.values[:, :-1][:, pairs], scores.values[:, 1:][:, pairs]
    count = np.full(len(before), pairs.sum())
    if scores.there is not None:
        both = (scores.there[:, 1:] & scores.there[:, :-1])[:, pairs]
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
    beyond = lag > np.maximum(least, SERIAL_ERRORS / np.sqrt(share))
    return np.flatnonzero(measured & beyond & (count >= MANY_ROWS - 1)).tolist()


def _curved(view: View) -> list[tuple[int, int]]:
    """Pairs of columns of which the square of one explains the other, beside a line.

    By BIC with the price of `qwo.curved.sizes.wanted_columns`, and at least `BENT` of the variance;
    values beyond three standard deviations count as three.
    """
    measured = view.places["continuous"]
    places = np.array([k for k in measured if not _numbers_rows(view, k)], np.intp)
    if len(view.rows) < MANY_ROWS or not 2 <= len(places) <= MOST_SCREENED:
        return []
    # All have mean 0, so that the norm is the standard deviation.
    z = view.scores.values[places]
    root, norm = math.sqrt(z.shape[1]), partial(np.linalg.norm, axis=1, keepdims=True)
    z = np.clip(root * z / np.maximum(norm(z), 1e-12), -3, 3)
    z = z - z.mean(axis=1, keepdims=True)
    z *= root / np.maximum(norm(z), 1e-12)
    bend = z * z - 1
    bend -= np.einsum("ij,ij->i", bend, z)[:, None] / z.shape[1] * z
    bend *= root / np.maximum(norm(bend), 1e-12)
    line, share = (z @ z.T / z.shape[1]) ** 2, (bend @ z.T / z.shape[1]) ** 2
    np.fill_diagonal(share, 0.0)
    worth = -z.shape[1] * np.log1p(-share / np.maximum(1 - line, share + 1e-12))
    cause, effect = np.nonzero((worth > 2 * math.log(z.size)) & (share > BENT))
    order = np.argsort(-share[cause, effect])
    return [
        (int(places[i]), int(places[j])) for i, j in zip(cause[order], effect[order], strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Columns in a unit of their own, in which no power leaves the range of float64.

    `values` has a row for each column, of mean 0 and between -2 and 2, and 0 where a value is
    missing; `there` says where there is one, and is None if there are all, of which `count` tells
    how many. `ends` are the smallest and the largest value, 0 in a column without any. `flat`
    columns have few values, or some that differ in their last digits only.
    """

    values: FloatArray
    there: Mask | None
    count: Indices
    ends: FloatArray
    flat: Mask

    @classmethod
    def of(cls, rows: FloatArray) -> Scores:
        """The scores of rows."""
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

    def shapes(self) -> tuple[FloatArray, FloatArray]:
        """Skewness and excess kurtosis of the columns; 0 for both where they are flat."""
        count = np.maximum(self.count, 1)
        square = self.values * self.values
        variance = np.where(self.flat, 1.0, square.sum(axis=1) / count)
        skewness = np.einsum("ij,ij->i", square, self.values) / count / variance**1.5
        kurtosis = np.einsum("ij,ij->i", square, square) / count / variance**2 - 3
        return np.where(self.flat, 0.0, skewness), np.where(self.flat, 0.0, kurtosis)


def _computed(view: View) -> list[tuple[int, list[int], FloatArray, int]]:
    """Columns that a line through others gives, rounding apart, in nearly all rows looked at.

    Each with those others, their coefficients, and in how many rows. They are looked for among
    columns that sums show to be nearly determined; a few rows may not fit.
    """
    size = 0 if view.correlation is None else len(view.correlation)
    if not 2 < size <= MOST_SCREENED or len(view.rows) < max(MANY_ROWS, 2 * size):
        return []
    factor, failed = lapack.dpotrf(np.asarray(view.correlation).T, lower=1, clean=0)
    # The last of those that depend on each other has all the others before it.
    # What follows exactly is told by sums.
    if failed or not NEAR_SINGULAR < np.diagonal(factor).min() ** 2 < UNEXPLAINED:
        return []
    left = np.flatnonzero(1 / np.diagonal(lapack.dpotri(factor, lower=1)[0]) < UNEXPLAINED).tolist()
    rows = view.rows[np.isfinite(view.rows[:, left]).all(axis=1)]
    found = []
    for k in left[::-1]:
        others = [other for other in left if other != k]
        line = _line_of_most(rows[:, others], rows[:, k]) if len(rows) > 2 * len(left) else None
        if line is not None:
            found.append((k, [others[i] for i in line[0]], line[1], line[2]))
            left = others
    return found[::-1]


def _line_of_most(
    causes: FloatArray, column: FloatArray
) -> tuple[list[int], FloatArray, int] | None:
    """The places and coefficients of a line that nearly all rows lie on, and how many do."""
    spread = causes.std(axis=0)
    design = np.column_stack([np.ones(len(causes)), (causes - causes.mean(axis=0)) / spread])
    size = float(column.std())
    # What is computed from rounded numbers may be off by more than its own rounding.
    grid = _resolution(column) or 0.0
    rounding = (share * grid for share in (1.51, 0.51) if share * grid < 0.05 * size)
    least = 1e-6 * size + next(rounding, 0.0)
    kept = np.ones(len(column), np.bool_)
    for _ in range(REFITS):
        weights = np.linalg.lstsq(design[kept], column[kept], rcond=None)[0]
        off = np.abs(column - design @ weights)
        kept = off <= max(least, np.quantile(off, HOLDS))
    on = int((off <= least).sum())
    used = np.flatnonzero(np.abs(weights[1:]) > 0.01 * size).tolist()
    if on < HOLDS * len(column) or len(used) < 2:
        return None
    return used, weights[1:][used] / spread[used], on


def _totals(view: View) -> list[int]:
    """Columns whose last value is the sum of all others, if that is so in most of two or more."""
    if view.first is not view.rows or len(view.rows) <= HANDFUL:
        return []
    last, others = view.rows[-1], np.nansum(view.rows[:-1], axis=0)
    same = np.isclose(last, others, rtol=1e-4, atol=0.0) & (last != 0)
    most = same.sum() >= max(2.0, np.isfinite(last).sum() / 2)
    return np.flatnonzero(same).tolist() if most else []


CHECKS: tuple[tuple[Callable[[View], Any], Callable[[View, Any], Finding]], ...] = (
    # No code is below 0: rounded measurements are.
    (
        lambda view: [
            k
            for k in view.places["ordinal"]
            if view.names[k] not in view.declared and np.nanmin(view.rows[:, k]) >= 0
        ],
        word.codes,
    ),
    (lambda view: view.places["binary"], word.two_values),
    (
        lambda view: [k for k in np.flatnonzero(view.whole).tolist() if _numbers_rows(view, k)],
        word.identifiers,
    ),
    (lambda view: view.marks.any() and _marks(view), word.sentinels),
    (_near_copies, word.rounded_copies),
    (_computed, word.computed),
    (_repeats, word.repeated_rows),
    (_totals, word.totals),
    (_dependent, word.serial),
    (
        lambda view: [
            (k, skew, excess)
            for k, (skew, excess) in enumerate(zip(*view.scores.shapes(), strict=True))
            if (abs(skew) > word.SKEWNESS or excess > word.EXCESS_KURTOSIS)
            and k in view.places["continuous"]
        ],
        word.shapes_of,
    ),
    (_curved, word.curves),
)
"""What is looked for, and how what was found is worded."""


def inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    same, size = low == high, np.maximum(np.abs(low), np.abs(high))
    if same.any():
        yield word.constant(names, tuple(compress(names, same)))
    with np.errstate(invalid="ignore"):
        flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    if flat.any():
        yield word.nearly_constant(names, tuple(compress(names, flat)))


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
    sound = np.isfinite(moments.scales) & (moments.scales > (0 if given else SMALLEST))
    if moments.has_blocks or not sound.all():
        wrong = list(compress(moments.column_names, ~sound))
        yield from [word.out_of_range(wrong)] if wrong else word.inspect_blocks(moments, severity)
        return
    names, n_samples, correlation = moments.names, moments.n_samples, moments.correlation
    wide = n_samples <= len(names)
    groups = copy_groups(correlation)
    # In a handful of rows columns agree by chance: the rows are to blame, and not the columns.
    chance = bool(groups) and wide and n_samples <= HANDFUL
    few = n_samples < min(FEW_SAMPLES, FEW_PER_VARIABLE * len(names)) and not wide
    if few or n_samples < word.SMALL_SAMPLE:
        yield word.small_sample(names, n_samples, groups if chance else [], severity)
    if wide and not shrunk:
        yield word.wide_table(len(names), n_samples, rows)
    if groups and not chance:
        yield word.exact_copies(moments, groups, severity)
    if wide and not given:
        return
    spare = {column for group in groups for column in group[1:]}
    kept = [column for column in range(len(names)) if column not in spare]
    labels = [names[column] for column in kept]
    correlation = correlation[np.ix_(kept, kept)] if spare else correlation
    if is_far_from_singular(correlation):
        return
    cholesky = word.PivotedCholesky.of(correlation)
    if given and cholesky.remainder(correlation) > SEMIDEFINITE_TOLERANCE:
        yield word.indefinite(labels, correlation, cholesky)
    elif cholesky.rank < len(kept) and not wide:
        yield word.dependence(labels, moments.scales[kept], cholesky, severity, rows)
    elif not shrunk and 0 < cholesky.reciprocal_condition < NEAR_SINGULAR:
        yield word.near_dependence(labels, cholesky, rows)


def copy_groups(correlation: FloatArray) -> list[list[int]]:
    """Groups of columns that equal each other up to shift, scale and sign, first column first."""
    size = len(correlation)
    rows = max(SCAN_ENTRIES // max(size, 1), 1)
    groups: list[list[int]] = []
    taken = np.zeros(size, dtype=np.bool_)
    for start in range(0, size, rows):
        same = np.abs(correlation[start : start + rows]) >= 1 - word.TOLERANCE
        for row in np.flatnonzero(same.sum(axis=1) > 1):
            if taken[start + row]:
                continue
            group = np.flatnonzero(same[row] & ~taken)
            taken[group] = True
            if len(group) > 1:
                groups.append(group.tolist())
    return groups


def is_well_conditioned(correlation: FloatArray) -> bool:
    """Whether each column keeps a share of its variance, far above rounding, given those before.

    Then none is a copy or a combination of others; this takes a tenth of what an audit takes.
    """
    factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
    return failed == 0 and bool(np.diagonal(factor).min(initial=1.0) > CLEAR)


def is_far_from_singular(correlation: FloatArray) -> bool:
    """Whether 1 / (‖R‖₁ ‖R⁻¹‖₁) is estimated to be above `FAR_FROM_SINGULAR`.

    No pivot of a factorisation is below that fraction of ‖R‖₁, so that the one with pivots, which
    takes longer, has nothing more to show.
    """
    with one_blas_thread(len(correlation) ** 3 / 3, 0.0):
        # As its own transpose it is in the order of columns, as LAPACK wants it.
        factor, failed = lapack.dpotrf(correlation.T, lower=1, clean=0)
        if failed:
            return False
        norm = word.one_norm("1", correlation.T)
        return bool(lapack.dpocon(factor, norm, uplo="L")[0] > FAR_FROM_SINGULAR)
