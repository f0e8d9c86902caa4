"""What rows of a table show: codes, identifiers, rounding, marks of missing values, shapes.

Sums do not tell a code from a measurement, nor a row from its copy. The rows that were kept for
this purpose, all of them where there are few, are looked at as they are. Nothing here is an error:
data may look like this and be sound, so that each finding says what it saw. A check is a line of
`CHECKS`: what it looks for, and how it words what it has found.
"""

# Long because each check is as long as what it says to the user.

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, get_args

import numpy as np

from qwo.errors import Cure, list_names
from qwo.moments.audit import Finding, count_of, drop_cure, shown
from qwo.moments.columns import PLAIN, Coding
from qwo.moments.name_checks import belonging, looks_like_cluster
from qwo.moments.sums import SENTINELS, Seen
from qwo.options import Kind, offered
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

REPEATED_SHARE = 0.05
"""Share of rows with a copy from which on they are worth a warning."""

MOST_PAIRED, FARTHEST = 50, 50
"""Columns of which pairs are looked at, and rows apart, for what dependent rows are worth."""

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


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows that were kept, in which missing values are NaN, and what is known of their columns.

    The rows come from all over the data; `first` are those that stand at their head, one after the
    other. Extremes, and `marks` that count them, are those of all rows. The columns that are looked
    at are `numbers`, some of all. `kinds` has all variables, those that are no
    numbers, too, which count among all; `places` has the columns of each kind; `whole` says which
    hold whole numbers only. Of the types of columns that were `declared` nothing is said.
    """

    names: Sequence[str]
    rows: FloatArray
    first: FloatArray
    ends: FloatArray
    marks: Indices
    numbers: Sequence[int]
    kinds: Mapping[str, Kind]
    places: Mapping[Kind, list[int]]
    whole: Mask
    declared: Collection[str] = ()
    correlation: FloatArray | None = None
    scores: Any = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        seen: Seen,
        numbers: Sequence[int],
        columns: Indices,
        *,
        known: Mapping[str, Kind],
        declared: Collection[str] = (),
    ) -> View:
        """The view of some variables; what is not `known` of kinds, their values tell."""
        rows, head = seen.spread, seen.first
        ends = np.array([seen.lowest, seen.highest])
        marks = np.zeros(ends.shape, dtype=np.int64) if seen.marks is None else seen.marks
        if len(columns) < len(seen.low):
            rows, head, ends = rows[:, columns], head[:, columns], ends[:, columns]
            marks = marks[:, columns]
        head = rows if len(head) == len(rows) else head
        few = rows[:FEW_ROWS]
        finite = np.isfinite(few)
        with np.errstate(invalid="ignore"):
            whole = np.asarray(((few == np.rint(few)) | ~finite).all(axis=0))
        # A look at few rows spares the look at all for columns of measurements.
        ranked = np.sort(np.where(finite, few, np.nan), axis=0)
        steps = (ranked[1:] > ranked[:-1]).sum(axis=0) + np.isfinite(ranked[:1]).sum(axis=0)
        own = [names[k] for k in numbers]
        kinds: dict[str, Kind] = dict.fromkeys(names, "continuous")
        for k in np.flatnonzero(whole | (steps <= 2)).tolist():
            different = np.unique(rows[np.isfinite(rows[:, k]), k])
            values = len(different)
            whole[k] &= values > 0 and bool((different == np.rint(different)).all())
            if values == 2:
                kinds[own[k]] = "binary"
            elif whole[k] and 2 < values <= FEW_CODES and CODE_REPEATS * values <= len(rows):
                kinds[own[k]] = "ordinal"
        kinds.update(known)
        places: dict[Kind, list[int]] = {kind: [] for kind in get_args(Kind)}
        for k, name in enumerate(own):
            places[kinds[name]].append(k)
        return cls(own, rows, head, ends, marks, numbers, kinds, places, whole, declared)

    def named(self, places: Sequence[int]) -> tuple[str, ...]:
        """The names of columns."""
        return tuple(self.names[k] for k in places)

    def values(self, places: Sequence[int]) -> str:
        """Columns with the different values that they have."""
        said = []
        for k in places:
            texts = [f"{value:g}" for value in _different(self.rows[:, k])]
            texts = texts if len(texts) <= 4 else [*texts[:3], "…", texts[-1]]
            said.append(f"{self.names[k]!r} ({', '.join(texts)})")
        return shown(said)


def inspect_rows(
    view: View,
    correlation: FloatArray | None = None,
    coding: Coding = PLAIN,
) -> Iterator[Finding]:
    """Findings about rows, in the order of the checks; correlations are those of all columns."""
    if not view.names:
        return
    if correlation is not None and len(view.names) < len(correlation):
        columns = coding.starts[list(view.numbers)]
        correlation = correlation[np.ix_(columns, columns)]
    view = replace(view, correlation=correlation, scores=Scores.of(view.rows))
    for look, word in CHECKS:
        found = look(view)
        if found:
            yield word(view, found)
    if view.whole.any():
        yield from _clusters(view)


def _different(column: FloatArray) -> FloatArray:
    """The different finite values of a column."""
    return np.unique(column[np.isfinite(column)])


def _codes(view: View, found: list[int]) -> Finding:
    columns = view.named(found)
    return Finding(
        "codes",
        "warning",
        columns,
        f"{count_of(len(found), len(view.kinds), 'holds', 'hold')} few different whole numbers: "
        f"{view.values(found)}. They are taken for numbers; if they are codes of categories "
        "without an order, sums and differences of them mean nothing",
        (
            Cure("types", dict.fromkeys(columns, "nominal"), "takes them for categories"),
            Cure("types", dict.fromkeys(columns, "ordinal"), "says that their order counts"),
        ),
    )


def _two_values(view: View, found: list[int]) -> Finding:
    return Finding(
        "binary",
        "note",
        view.named(found),
        f"{count_of(len(found), len(view.kinds), 'has', 'have')} two values: "
        f"{view.values(found)}. That is fine: as a cause such a column shifts means; as an effect, "
        "its coefficients are changes of the share of the second value",
    )


def _numbers_rows(name: str, column: FloatArray) -> bool:
    """Whether a column of whole numbers numbers or identifies the rows."""
    if not np.isfinite(column).all() or len(np.unique(column)) < len(column):
        return False
    steps = np.diff(column)
    consecutive = column.max() - column.min() == len(column) - 1
    monotone = len(column) >= MANY_ROWS and bool((steps > 0).all() or (steps < 0).all())
    return bool(consecutive or monotone or ID_NAME.search(name))


def _identifiers(view: View, found: list[int]) -> Finding:
    columns = view.named(found)
    one = len(columns) == 1
    return Finding(
        "identifier",
        "warning",
        columns,
        f"{'column' if one else 'columns'} {list_names(columns)} "
        f"{'seems' if one else 'seem'} to number or identify the rows: whole numbers, all "
        "different, in order or named like it. An edge to or from it would mean nothing, unless it "
        "stands for time",
        drop_cure(view.names, columns),
    )


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


def _sentinels(view: View, found: dict[int, float]) -> Finding:
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
        f"values far from all others, such as stand for missing ones: {', '.join(said[:5])}{more}",
        (Cure("null_values", marks, "takes them for missing"),),
    )


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


def _copies(view: View, pairs: list[tuple[int, int]]) -> Finding:
    names = view.names
    said = ", ".join(f"{names[j]!r} follows from {names[i]!r}" for i, j in pairs[:5])
    return Finding(
        "near-duplicate",
        "warning",
        tuple(dict.fromkeys(names[k] for pair in pairs for k in pair)),
        f"columns are copies of others but for rounding: {said}. Next to its copy, no other "
        "variable shows an effect on either",
        drop_cure(names, list(dict.fromkeys(names[j] for _, j in pairs)), "keeps one of each"),
    )


def _repeats(view: View) -> tuple[int, int] | None:
    """Rows that appear more than once although their values could hardly agree by chance."""
    rows, measured = view.first, view.places["continuous"]
    if len(rows) < MANY_ROWS or not measured:
        return None
    enough = max(REPEATED_SHARE * len(rows), 3)
    # One column shows quickly that rows differ; only if it does not are whole rows compared.
    if len(rows) - len(np.unique(rows[:, measured[0]])) < enough:
        return None
    combinations = np.log([max(len(_different(column)), 1) for column in rows.T]).sum()
    if combinations <= 2 * np.log(len(rows)) + 3:
        return None
    _, counts = np.unique(np.nan_to_num(rows), axis=0, return_counts=True)
    spare = len(rows) - len(counts)
    return (spare, int(counts.max())) if spare >= enough else None


def _repeated(view: View, found: tuple[int, int]) -> Finding:
    return Finding(
        "repeated-rows",
        "warning",
        (),
        f"{found[0]} of the {len(view.first)} rows looked at repeat others exactly, up to "
        f"{found[1]} times: as if there were more samples than there are, which makes chance look "
        "like structure. Leave the copies out",
    )


def _dependent(view: View) -> list[int]:
    """Columns whose values depend on the row before, if that is most of them."""
    measured = np.array([view.kinds[name] != "binary" for name in view.names])
    if len(view.first) < MANY_ROWS or measured.sum() < 2:
        return []
    scores = view.scores if view.first is view.rows else Scores.of(view.first)
    before, after, count = scores.values[:, :-1], scores.values[:, 1:], scores.count - 1
    if scores.there is not None:
        both = scores.there[:, 1:] & scores.there[:, :-1]
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
    related = np.flatnonzero(measured & beyond & (count >= MANY_ROWS - 1)).tolist()
    return related if len(related) >= max(2, measured.sum() / 2) else []


def _worth(view: View, found: list[int]) -> float:
    """Share of rows that count for the correlation of two columns (Bartlett).

    The median over pairs of 1 / (1 + 2 Σ_k r_i(k) r_j(k)); autocorrelations below 2 / √N are noise.
    """
    scores = view.scores if view.first is view.rows else Scores.of(view.first)
    values = scores.values[found[:MOST_PAIRED]]
    count = values.shape[1]
    squares = np.maximum(np.einsum("ij,ij->i", values, values), 1e-300)
    total = np.zeros((len(values),) * 2)
    for lag in range(1, min(FARTHEST, count // 4) + 1):
        r = np.einsum("ij,ij->i", values[:, lag:], values[:, :-lag]) / squares
        r[np.abs(r) < 2 / np.sqrt(count)] = 0.0
        if not r.any():
            break
        total += np.outer(r, r)
    pairs = 1 + 2 * total[np.triu_indices(len(values), 1)]
    return float(1 / max(1.0, np.median(pairs)))


def _serial(view: View, found: list[int]) -> Finding:
    columns = view.named(found)
    return Finding(
        "serial",
        "warning",
        columns,
        f"rows depend on the row before them in {len(columns)} of {len(view.kinds)} columns "
        f"({list_names(columns)}): a time series, or sorted rows. Dependent rows tell "
        f"less than independent ones (each about {_worth(view, found):.2g} of one), so that "
        "edges appear by chance. If their order means nothing, as in a table sorted by one of its "
        "columns, ignore this",
        (
            *offered("lags", "auto", "adds the rows before as causes"),
            *offered("lags", 0, "counts the rows for what they are worth, without causes in time"),
        ),
    )


def _shapes(view: View, found: list[tuple[int, float, float]]) -> Finding:
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
    return Finding(
        "non-gaussian",
        "note",
        columns,
        f"{count_of(len(far), len(view.kinds))} far from normal: {shown(said)}. This does no harm "
        "where relations are linear; where the scale of measurement bends them, a transformation "
        "helps",
        tuple(cures),
    )


def _clusters(view: View) -> Iterator[Finding]:
    """Whole numbers that repeat, in columns named like whom or what several rows are of."""
    for k in np.flatnonzero(view.whole).tolist():
        name = view.names[k]
        if looks_like_cluster(name):
            count = len(_different(view.rows[:, k]))
            if 2 < count <= 0.8 * len(view.rows):
                yield belonging(name, count)


CHECKS: tuple[tuple[Callable[[View], Any], Callable[[View, Any], Finding]], ...] = (
    # No code is below 0: rounded measurements are.
    (
        lambda view: [
            k
            for k in view.places["ordinal"]
            if view.names[k] not in view.declared and np.nanmin(view.rows[:, k]) >= 0
        ],
        _codes,
    ),
    (lambda view: view.places["binary"], _two_values),
    (
        lambda view: [
            k
            for k in np.flatnonzero(view.whole & (len(view.first) >= 10)).tolist()
            if _numbers_rows(view.names[k], view.first[:, k])
        ],
        _identifiers,
    ),
    (
        lambda view: view.marks.any() and _marks(view),
        _sentinels,
    ),
    (_near_copies, _copies),
    (_repeats, _repeated),
    (_dependent, _serial),
    (
        lambda view: [
            (k, skew, excess)
            for k, (skew, excess) in enumerate(zip(*view.scores.shapes(), strict=True))
            if (abs(skew) > SKEWNESS or excess > EXCESS_KURTOSIS) and k in view.places["continuous"]
        ],
        _shapes,
    ),
)
"""What is looked for, and how what was found is worded."""


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


def shape(column: FloatArray) -> tuple[float, float]:
    """Skewness and excess kurtosis of the finite values; 0 for both if there are few, or one."""
    skewness, kurtosis = Scores.of(np.reshape(column, (-1, 1))).shapes()
    return float(skewness[0]), float(kurtosis[0])
