"""Columns with roles: the recipe by which each variable becomes columns of numbers.

A variable is computed from one column of a table: the column itself, its logarithm or ranks, one
indicator for each level but the first of a nominal one (the degenerate Gaussian score of Andrews,
Ramsey and Cooper, 2019), the indicator of one regime, a copy of an earlier row, or itself and some
functions of it (`qwo.columns.curves`). A table has
numbers, and the codes 0 … k of levels; `Coding.columns` makes of its rows what is summed up. A
variable is searched, or given: it stands in front of all others and has no parents.

Missing values stay missing, and infinite ones infinite. Standardising changes neither the search
nor its graph, which see correlations alone; it does change the units of coefficients.
"""

# Long because all recipes, and what is done with them, stand in one place.

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from qwo.columns.curves import SmoothBasis, curve_of
from qwo.errors import ArgumentError, ColumnNameError, Cure, list_names
from qwo.names import check_choice
from qwo.options import Columns, Kind, Transform, TransformName
from qwo.types import FloatArray, Indices

Role = Literal["searched", "given"]

LOWEST: dict[str, float] = {"log": 0.0, "log1p": -1.0}
"""Transformations with a domain, and the value above which it lies."""

SINGULAR = 1e-10
"""Eigenvalue of the correlations of a block below which a direction of it does not exist."""


def some_words(text: str) -> frozenset[str]:
    """The words of a text, such as names of columns have."""
    return frozenset(text.split())


CLUSTERS = some_words(
    "patient subject participant person individual household family school classroom village "
    "animal mouse litter firm company pid"
)
"""Words for whom or what several rows may be of."""

PLACES = some_words(
    "country state county province region district city municipality hospital clinic site station "
    "sensor store shop branch ticker symbol"
)
"""Words for what several rows may be of where it is told by many different texts."""


def column_names(names: Iterable[object], *, cured: bool = False) -> tuple[str, ...]:
    """Names as strings, none of them empty or used twice; columns may be dropped if `cured`."""
    if isinstance(names, str):
        raise ColumnNameError(f"names is the single string {names!r}; wanted one name per column")
    labels = tuple(str(name) for name in names)
    empty = [place for place, label in enumerate(labels) if not label.strip()]
    if empty:
        places = ", ".join(map(str, empty[:5]))
        cure = Cure("drop", empty, "leaves them out")
        raise ColumnNameError(
            f"{len(empty)} of {len(labels)} columns without a name (counted from 0: {places}); "
            "name them, or leave them out if they only number the rows",
            cures=[cure] if cured and len(labels) - len(empty) >= 2 else [],
        )
    if len(set(labels)) < len(labels):
        repeated = [label for label, count in Counter(labels).items() if count > 1]
        again = [k for k, label in enumerate(labels) if label in labels[:k]]
        cure = Cure("drop", again, "leaves out all but the first of each name")
        raise ColumnNameError(
            f"column names are used more than once: {list_names(repeated)}; rename or drop columns",
            repeated,
            cures=[cure] if cured and len(labels) - len(again) >= 2 else [],
        )
    return labels


def is_number(text: str) -> bool:
    """Whether a string spells a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def looks_like_cluster(name: str) -> bool:
    """Whether a column is named like someone of whom there may be several rows."""
    words = words_of(name)
    return bool(words) and (words[0] in CLUSTERS or (len(words) > 1 and words[-1] == "id"))


def looks_like_place(name: str) -> bool:
    """Whether a column is named like a place or a source of several rows."""
    return not PLACES.isdisjoint(words_of(name))


def words_of(name: str) -> list[str]:
    """The words in the name of a column, such as age, at, onset in ``AgeAtOnset``."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


def select_columns(labels: Sequence[str], columns: Columns, drop: Columns) -> list[int]:
    """Positions of the columns to take."""
    chosen = range(len(labels)) if columns is None else _positions(labels, columns)
    dropped = set() if drop is None else set(_positions(labels, drop))
    return [place for place in chosen if place not in dropped]


def _positions(labels: Sequence[str], wanted: Sequence[str | int]) -> list[int]:
    """Positions of columns given by name or position.

    A column without a name of its own goes by its position as a text too, as it is written on a
    command line.
    """
    if isinstance(wanted, str):
        raise ColumnNameError(f"got the single string {wanted!r}; wanted a list of column names")
    places: dict[str | int, list[int]] = {k: [k] for k in range(len(labels))}
    for k, label in enumerate(labels):
        places.setdefault(label, []).append(k)
    for k, label in enumerate(labels):
        if not label.strip() or len(places[label]) > 1:
            places.setdefault(str(k), [k])
    try:
        wanted = list(wanted)
        unknown = [str(item) for item in wanted if item not in places]
    except TypeError as error:
        raise ColumnNameError(f"got {wanted!r}; wanted a list of column names") from error
    if unknown:
        close = get_close_matches(unknown[0], labels)
        known = f"did you mean {list_names(close)}?" if close else ""
        known = known or f"the table has {list_names(labels)}"
        raise ColumnNameError(f"no such columns: {list_names(unknown)}; {known}", unknown)
    return [k for item in wanted for k in places[item]]


@dataclass(frozen=True, slots=True)
class Variable:
    """The recipe of a variable: which columns it is made of.

    kind: what its values are; said: whether the user has said so.
    levels: those behind its codes 0, 1, …, the first of which is the reference; empty for numbers.
    transform: what is done to its numbers before anything else.
    role: whether it may have causes ("searched") or not ("given").
    source: the column of the table that it is computed from, if not the one at its own place.
    lag: how many rows earlier its values stand.
    level: the one level of which it is the indicator, as of a regime.
    curve: the functions of it that follow it as further columns.
    """

    kind: Kind = "continuous"
    levels: tuple[str, ...] = ()
    said: bool = field(default=False, compare=False)
    transform: TransformName | None = field(default=None, compare=False)
    role: Role = "searched"
    source: int | None = None
    lag: int = 0
    level: int | None = None
    curve: SmoothBasis | None = None

    @property
    def size(self) -> int:
        """How many columns it has."""
        if self.curve is not None:
            return self.curve.size
        if self.kind != "nominal" or self.level is not None:
            return 1
        return max(len(self.levels) - 1, 1)

    @property
    def is_itself(self) -> bool:
        """Whether it is the column at its source as that stands, by all that is said of it."""
        told = replace(self, kind="continuous", levels=(), role="searched", source=None)
        return self.size == 1 and told == Variable()

    def columns(self, codes: FloatArray) -> FloatArray:
        """Its columns, of the column that it is computed from: a matrix."""
        if self.curve is not None:
            return self.curve.columns(codes)
        if self.size == 1 and self.level is None:
            return codes[:, None]
        levels = range(1, len(self.levels)) if self.level is None else [self.level]
        missing = np.isnan(codes)
        return np.stack([np.where(missing, np.nan, codes == level) for level in levels], axis=1)

    def labels(self, name: str) -> tuple[str, ...]:
        """What its columns are called: ``race=black`` is 1 where the race is black."""
        if self.curve is not None:
            return name, *(f"{name}~{k}" for k in range(2, self.size + 1))
        if self.level is None and self.kind in ("nominal", "binary") and len(self.levels) > 1:
            return tuple(f"{name}={level}" for level in self.levels[1:])
        return (name,)


@dataclass(frozen=True)
class Coding:
    """The recipes of all variables: how a table's rows become columns, variable by variable.

    sizes, starts: how many columns each variable has, and the first of them; n_columns: of all.
    has_blocks: a variable has several; has_curves: one has functions of itself.
    is_plain: nothing is known of any variable but that it is numbers.
    rows_before: how many earlier rows a row's columns are made from, besides itself.
    given: the variables that stand before all others and have no parents.
    """

    variables: tuple[Variable, ...] = ()
    sizes: Indices = field(init=False, repr=False, compare=False)
    starts: Indices = field(init=False, repr=False, compare=False)
    n_columns: int = field(init=False, repr=False, compare=False)
    has_blocks: bool = field(init=False, repr=False, compare=False)
    has_curves: bool = field(init=False, repr=False, compare=False)
    is_plain: bool = field(init=False, repr=False, compare=False)
    rows_before: int = field(init=False, repr=False, compare=False)
    given: Indices = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers, own = Variable(), self.variables
        plain = [v == numbers for v in own]
        sizes = [1 if known else v.size for v, known in zip(own, plain, strict=True)]
        known = {
            "sizes": np.array(sizes, dtype=np.intp),
            "starts": np.cumsum([0, *sizes], dtype=np.intp)[:-1],
            "n_columns": sum(sizes),
            "has_blocks": sum(sizes) > len(own),
            "has_curves": sum(sizes) > len(own) and any(v.curve is not None for v in own),
            "is_plain": all(plain) and not any(v.said for v in own),
            "rows_before": max((v.lag for v in own), default=0),
            "given": np.array([k for k, v in enumerate(own) if v.role == "given"], np.intp),
        }
        self.__dict__.update(known)

    @classmethod
    def plain(cls, n_variables: int) -> Coding:
        """Each variable is the column at its place."""
        return cls((Variable(),) * n_variables)

    @cached_property
    def owners(self) -> Indices:
        """The variable of each column."""
        return np.repeat(np.arange(len(self.variables)), self.sizes)

    @cached_property
    def _is_identity(self) -> bool:
        """Whether the columns are those of the table, in order."""
        pairs = enumerate(self.variables)
        return self.is_plain or all(v.source in (None, k) and v.is_itself for k, v in pairs)

    def columns_of(self, variables: Sequence[int] | Indices) -> Indices:
        """The columns of some variables, one after the other."""
        starts, sizes = self.starts, self.sizes
        parts = [np.arange(starts[v], starts[v] + sizes[v]) for v in variables]
        return np.concatenate(parts) if parts else np.empty(0, np.intp)

    def labels(self, names: Sequence[str]) -> tuple[str, ...]:
        """What the columns are called."""
        pairs = zip(self.variables, names, strict=True)
        return tuple(label for variable, name in pairs for label in variable.labels(name))

    def select(self, chosen: Sequence[int]) -> Coding:
        """The recipes of some of the variables."""
        return Coding(tuple(self.variables[k] for k in chosen))

    def columns(self, values: FloatArray) -> FloatArray:
        """The columns of rows of codes and numbers; NaN where a code is missing.

        The first `rows_before` rows are looked back at only, and have no columns of their own:
        whoever has the rows in pieces puts the last rows of one in front of the next.
        """
        if self._is_identity:
            return values
        above = self.rows_before
        n_rows = max(len(values) - above, 0)
        columns = np.empty((n_rows, self.n_columns), order="F")
        for k, (variable, start) in enumerate(zip(self.variables, self.starts, strict=True)):
            source = k if variable.source is None else variable.source
            first = above - variable.lag
            own = variable.columns(values[first : first + n_rows, source])
            columns[:, start : start + variable.size] = own
        return columns

    def recoded(self, values: FloatArray, old: Coding) -> FloatArray:
        """The columns of rows of codes whose levels are some of those of another coding."""
        result = values
        for k, (before, after) in enumerate(zip(old.variables, self.variables, strict=True)):
            if before.levels != after.levels:
                result = np.array(values) if result is values else result
                places = {level: float(place) for place, level in enumerate(after.levels)}
                table = np.array([*(places.get(level, np.nan) for level in before.levels), np.nan])
                codes = np.where(np.isnan(values[:, k]), -1, values[:, k]).astype(int)
                result[:, k] = table[codes]
        return self.columns(result)

    def observed(
        self, low: FloatArray, high: FloatArray, shares: FloatArray
    ) -> tuple[Indices, Coding]:
        """The columns that vary, by their bounds, and the coding with the levels that there are.

        `shares` are their means: the share of rows with each level.
        """
        if not self.has_blocks:
            return np.flatnonzero(low < high), self
        kept, variables = [], []
        blocks = zip(self.variables, self.starts.tolist(), self.sizes.tolist(), strict=True)
        for variable, start, size in blocks:
            own = [c for c in range(start, start + size) if low[c] < high[c]]
            levels = variable.levels
            if levels and size > 1 and own:
                levels = tuple(variable.levels[c - start + 1] for c in own)
                if shares[own].sum() < 1 - 1e-9:
                    levels = (variable.levels[0], *levels)
                elif len(own) > 1:
                    # Nobody has the reference: the first of the others takes its place.
                    own = own[1:]
            kept += own
            variables.append(replace(variable, levels=levels))
        return np.array(kept, dtype=np.intp), Coding(tuple(variables))

    def bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of the variables from those of their columns; 0 and 1 for a block that varies."""
        if not self.has_blocks:
            return low, high
        starts, single = self.starts, self.sizes == 1
        varies = np.logical_or.reduceat(low < high, starts)
        return np.where(single, low[starts], 0.0), np.where(single, high[starts], varies * 1.0)

    def described(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The type of each variable, and its levels if it has some, the reference first."""
        return {
            name: {"type": variable.kind} | ({"levels": list(levels)} if levels else {})
            for name, variable in zip(names, self.variables, strict=True)
            for levels in [variable.levels]
        }

    def to_plain(self) -> list[Any]:
        """Lists and strings, from which `from_plain` makes it again."""
        return [[variable.kind, list(variable.levels)] for variable in self.variables]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> Coding:
        """The coding that `to_plain` has written down."""
        kinds = get_args(Kind)
        if not all(kind in kinds for kind, _ in plain):
            raise ValueError("unknown types of columns")
        return cls(tuple(Variable(kind, tuple(map(str, levels))) for kind, levels in plain))


PLAIN = Coding()
"""In the record of a table or of moments: each variable is one column of numbers."""


def lagged(names: Sequence[str], coding: Coding, n_lags: int) -> tuple[tuple[str, ...], Coding]:
    """The variables, and behind them as given ones their copies 1 to `n_lags` rows earlier."""
    own = [replace(v, source=k) for k, v in enumerate(coding.variables)]
    labels, variables = list(names), list(own)
    for lag in range(1, n_lags + 1):
        labels += [f"{name}[t-{lag}]" for name in names]
        variables += [replace(variable, lag=lag, role="given") for variable in own]
    return column_names(labels), Coding(tuple(variables))


def regimes(name: str, levels: Sequence[str], source: int) -> dict[str, Variable]:
    """One given variable for each regime but the first: an indicator by itself, and no block."""
    return {
        f"{name}={level}": Variable("nominal", tuple(levels), role="given", source=source, level=k)
        for k, level in enumerate(levels)
        if k > 0
    }


def change_of_levels(old: Coding, new: Coding) -> tuple[FloatArray, FloatArray]:
    """A and b with which columns x of a coding are xA + b in another order of its levels."""
    matrix = np.zeros((old.n_columns, new.n_columns))
    offset = np.zeros(new.n_columns)
    pairs = zip(old.variables, new.variables, old.starts, new.starts, strict=True)
    for before, after, first, place in pairs:
        if before.levels == after.levels or before.kind != "nominal":
            matrix[first : first + before.size, place : place + before.size] = np.eye(before.size)
            continue
        for k, level in enumerate(after.levels[1:], place):
            if level == before.levels[0]:
                matrix[first : first + before.size, k], offset[k] = -1.0, 1.0
            else:
                matrix[first + before.levels.index(level) - 1, k] = 1.0
    return matrix, offset


def whitened(correlation: FloatArray, coding: Coding) -> tuple[FloatArray, Indices]:
    """The correlations of columns uncorrelated within each block, and the ranks of the blocks.

    The columns of a curve are so already: the variable itself has to stay the first of them.
    """
    if all(v.size == 1 or v.curve is not None for v in coding.variables):
        return correlation, coding.sizes
    width, parts, sizes = coding.n_columns, [], []
    for start, size in zip(coding.starts.tolist(), coding.sizes.tolist(), strict=True):
        own = slice(start, start + size)
        values, vectors = np.linalg.eigh(correlation[own, own])
        there = values > SINGULAR * size
        part = np.zeros((width, int(there.sum())))
        # The symmetric root hardly turns the columns; of a singular block there is none.
        root = vectors[:, there] / np.sqrt(values[there])
        part[own] = root @ vectors.T if there.all() else root
        parts.append(part)
        sizes.append(part.shape[1])
    basis = np.concatenate(parts, axis=1)
    matrix = basis.T @ correlation @ basis
    matrix = (matrix + matrix.T) / 2
    for stop, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True):
        matrix[stop - size : stop, stop - size : stop] = np.eye(size)
    return matrix, np.array(sizes, dtype=np.intp)


def block_squares(matrix: FloatArray, sizes: Indices) -> FloatArray:
    """The sum of squares of each block of a whitened matrix: of the canonical correlations."""
    starts = np.cumsum(sizes) - sizes
    squares = np.add.reduceat(np.square(matrix), starts, axis=0)
    return np.asarray(np.add.reduceat(squares, starts, axis=1))


def with_transforms(
    coding: Coding, transform: Transform, names: Sequence[str], others: Sequence[str] = ()
) -> Coding:
    """The recipes with the transformations that the user asks for.

    Columns that are not numeric, the `others`, may be named too: the audit has more to say of them.
    """
    if not isinstance(transform, str | Mapping):
        raise ArgumentError(
            f"transform is a {type(transform).__name__}; wanted the name of a transformation for "
            "all columns, or a mapping such as {'income': 'log'}",
            option="transform",
        )
    alike = isinstance(transform, str)
    chosen = dict.fromkeys(names, transform) if isinstance(transform, str) else transform
    for name in chosen.values() if not alike else [transform]:
        check_choice("transform", name, TRANSFORMS)
    unknown = [str(column) for column in chosen if column not in names and column not in others]
    if unknown:
        raise ColumnNameError(
            f"no such columns to transform: {list_names(unknown)}; the table has "
            f"{list_names(names)}",
            unknown,
        )
    levels = [bool(variable.levels) for variable in coding.variables]
    coded = [n for n, own in zip(names, levels, strict=True) if own and n in chosen]
    if coded and not alike:
        raise ArgumentError(
            f"transform names {list_names(coded)}, but categories have nothing to transform",
            coded,
            option="transform",
        )
    pairs = zip(names, coding.variables, strict=True)
    return Coding(
        tuple(v if v.levels else replace(v, transform=chosen.get(name)) for name, v in pairs)
    )


def transformed(names: Sequence[str], values: FloatArray, coding: Coding) -> FloatArray:
    """The values with transformed columns; values outside a domain raise an `ArgumentError`."""
    chosen = {
        k if v.source is None else v.source: v.transform
        for k, v in enumerate(coding.variables)
        if v.transform is not None
    }
    if not chosen:
        return values
    wrong = {
        place: int((values[:, place] <= LOWEST[name]).sum())
        for place, name in chosen.items()
        if name in LOWEST
    }
    wrong = {place: count for place, count in wrong.items() if count}
    if wrong:
        shown = [
            f"{names[place]!r} ({count} of {len(values)} values, the smallest "
            f"{np.nanmin(values[:, place]):g})"
            for place, count in list(wrong.items())[:5]
        ]
        more = f" and {len(wrong) - 5} more columns" if len(wrong) > 5 else ""
        first = chosen[next(iter(wrong))]
        other = "log1p, the logarithm of 1 + value," if first == "log" else "rank-normal"
        raise ArgumentError(
            f"{first} needs values above {LOWEST[first]:g}, but there are others in "
            f"{', '.join(shown)}{more}; use {other} where it fits, add a constant to these "
            "columns, or leave them as they are",
            [names[place] for place in wrong],
        )
    result = np.array(values, order="F")
    for place, name in chosen.items():
        result[:, place] = TRANSFORMS[name](result[:, place])
    return result


def rank_normal(values: FloatArray) -> FloatArray:
    """Normal scores Φ⁻¹((rank - ½) / m) of the m finite values of a column; ties share a rank."""
    result = np.array(values)
    finite = np.isfinite(values)
    _, places, rows = np.unique(values[finite], return_inverse=True, return_counts=True)
    result[finite] = ndtri((np.cumsum(rows) - rows / 2) / max(finite.sum(), 1))[places]
    return result


def standardised(values: FloatArray) -> FloatArray:
    """A column with mean 0 and standard deviation 1 (divisor N) over its finite values."""
    finite = values[np.isfinite(values)]
    if finite.size == 0 or finite.min() == finite.max():
        return values
    unit = np.abs(finite).max()  # squares of huge or tiny values leave the range of float64
    scaled = finite / unit
    return np.asarray((values / unit - scaled.mean()) / scaled.std())


TRANSFORMS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "log": np.log,
    "log1p": np.log1p,
    "rank-normal": rank_normal,
    "standardise": standardised,
    "standardize": standardised,
}


def with_curves(
    coding: Coding, rows: FloatArray, size: int, weights: FloatArray | None = None
) -> Coding:
    """Recipes with at most so many functions of each variable, from rows in columns of a coding."""
    pairs = zip(coding.variables, coding.starts.tolist(), strict=True)
    own = [curve_of(rows[:, k], size, weights) if is_curvable(v) else None for v, k in pairs]
    return Coding(tuple(replace(v, curve=f) for v, f in zip(coding.variables, own, strict=True)))


def is_curvable(variable: Variable) -> bool:
    """Whether functions of a variable mean something: numbers that are searched, or were before."""
    own = variable.role == "searched" or variable.lag > 0
    return not variable.levels and variable.level is None and own
