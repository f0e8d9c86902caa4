"""Types of columns: what the values of each are, and the numbers that stand for them.

Continuous, ordinal and binary variables are one column of numbers or scores. A nominal variable
with k + 1 levels is a block of k columns, one indicator for each level but the first, the
reference: they are explained together and enter together as causes (the degenerate Gaussian score
of Andrews, Ramsey and Cooper, 2019). A table holds such a variable as codes 0 … k; blocks are made
where rows are summed up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError, ColumnNameError, Cure, list_names
from qwo.options import Kind, Types
from qwo.types import FloatArray, Indices

"""What the values of a column seem to be, or are said to be."""

MOST_LEVELS = 20
"""Text with more different values is no category, unless the user says so."""

LEVEL_REPEATS = 3
"""How often each level of a text column appears on average, at least."""

MOST_DECLARED = 200
"""Levels of a variable that the user calls nominal, at most."""

MOST_COUNTED = 10_000
"""Different values of a column that are told apart at all."""

RARE = 5
"""Rows with a level below which nothing can be said of it."""

SINGULAR = 1e-10
"""Eigenvalue of the correlations of a block below which a direction of it does not exist."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Values of a column as places in a list of levels.

    Attributes
    ----------
    codes : ndarray of int
        The level of each row; -1 where it is missing.
    levels : tuple of str
        The levels.
    category : bool
        Whether the data themselves call the column a category.
    listed : bool
        Whether they say which levels there are, in which order.
    ordered : bool
        Whether they say that this order has a meaning.
    """

    codes: npt.NDArray[np.int64]
    levels: tuple[str, ...]
    category: bool = False
    listed: bool = False
    ordered: bool = False

    @classmethod
    def of_numbers(cls, values: FloatArray) -> Words:
        """The different numbers of a column as levels."""
        finite = np.isfinite(values)
        different, places = np.unique(values[finite], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[finite] = places
        return cls(codes, tuple(map(number_text, different.tolist())))

    @classmethod
    def of_texts(cls, texts: Sequence[str | None]) -> Words:
        """Strings as levels, in the order in which they appear."""
        places: dict[str, int] = {}
        codes = [-1 if t is None else places.setdefault(t, len(places)) for t in texts]
        return cls(np.array(codes, dtype=np.int64), tuple(places))

    def without(self, marks: Sequence[str]) -> Words:
        """The words in which these levels are missing."""
        if not set(marks) & set(self.levels):
            return self
        places = np.array([-1 if level in marks else k for k, level in enumerate(self.levels)])
        codes = np.where(self.codes < 0, -1, places[self.codes])
        return replace(self, codes=codes)

    def counts(self) -> list[int]:
        """How many rows have each level."""
        given = self.codes[self.codes >= 0]
        counted: list[int] = np.bincount(given, minlength=len(self.levels)).tolist()
        return counted


def number_text(value: float) -> str:
    """A number as the name of a level."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


@dataclass(slots=True)
class LevelCounts:
    """The levels of a column over all that has been read, and how many rows have each."""

    counts: dict[str, int] = field(default_factory=dict)
    category: bool = False
    listed: bool = False
    ordered: bool = False

    def add(self, words: Words) -> None:
        """Count the rows of some more words."""
        self.category |= words.category
        self.listed |= words.listed
        self.ordered |= words.ordered
        for level, count in zip(words.levels, words.counts(), strict=True):
            known = level in self.counts or len(self.counts) < MOST_COUNTED
            if known and (count or words.listed):
                self.counts[level] = self.counts.get(level, 0) + count

    @property
    def seen(self) -> tuple[str, ...]:
        """The levels that some row has: in the order of the data's categories, or sorted.

        Of three sorted ones or more the most frequent comes first, to be what the others are
        compared with.
        """
        there = [level for level, count in self.counts.items() if count]
        if self.listed:
            return tuple(there)
        there.sort(key=_sort_key)
        if len(there) > 2:
            there.sort(key=lambda level: self.counts[level] < max(self.counts.values()))
        return tuple(there)

    @property
    def repeats(self) -> bool:
        """Whether levels appear again and again, as categories do and identifiers do not."""
        return LEVEL_REPEATS * len(self.seen) <= sum(self.counts.values())

    @property
    def are_categories(self) -> bool:
        """Whether levels are so few that text can mean nothing else."""
        return len(self.seen) <= MOST_LEVELS and self.repeats

    def as_category(self, name: str) -> tuple[Cure, ...]:
        """The cure of saying that the column is a category, where it may be one."""
        possible = self.repeats and len(self.seen) <= MOST_DECLARED
        cure = Cure("types", {name: "nominal"}, "takes it for a category")
        return (cure,) if possible else ()


def _sort_key(level: str) -> tuple[float, str, str]:
    """By number where levels are numbers, else by letter."""
    try:
        return float(level), "", level
    except ValueError:
        return np.inf, level.casefold(), level


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as columns of numbers.

    Attributes
    ----------
    kind : {"continuous", "ordinal", "nominal", "binary"}
        What its values are.
    levels : tuple of str
        The levels behind its codes 0, 1, …, of which the first is the reference; empty where it is
        numbers as they are.
    said : bool
        Whether the user has said so.
    """

    kind: Kind = "continuous"
    levels: tuple[str, ...] = ()
    said: bool = field(default=False, compare=False)

    @property
    def size(self) -> int:
        """How many columns it has."""
        return max(len(self.levels) - 1, 1) if self.kind == "nominal" else 1

    def labels(self, name: str) -> tuple[str, ...]:
        """What its columns are called: ``race=black`` is 1 where the race is black."""
        if self.kind in ("nominal", "binary") and len(self.levels) > 1:
            return tuple(f"{name}={level}" for level in self.levels[1:])
        return (name,)


@dataclass(frozen=True, slots=True)
class Coding:
    """How the variables of a table become columns: one variable after the other."""

    variables: tuple[Variable, ...]

    @property
    def sizes(self) -> Indices:
        """How many columns each variable has."""
        return np.array([variable.size for variable in self.variables], dtype=np.intp)

    @property
    def starts(self) -> Indices:
        """The first column of each variable."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return int(self.sizes.sum())

    @property
    def has_blocks(self) -> bool:
        """Whether a variable has several columns."""
        return self.n_columns > len(self.variables)

    @property
    def owners(self) -> Indices:
        """The variable of each column."""
        return np.repeat(np.arange(len(self.variables)), self.sizes)

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
        """The coding of some of the variables."""
        return Coding(tuple(self.variables[k] for k in chosen))

    def expand(self, values: FloatArray) -> FloatArray:
        """Rows of codes and numbers as rows of columns; NaN where a code is missing."""
        if not self.has_blocks:
            return values
        columns = np.empty((len(values), self.n_columns), order="F")
        for k, (variable, start) in enumerate(zip(self.variables, self.starts, strict=True)):
            codes = values[:, k]
            if variable.size == 1:
                columns[:, start] = codes
                continue
            missing = np.isnan(codes)
            for level in range(1, len(variable.levels)):
                columns[:, start + level - 1] = np.where(missing, np.nan, codes == level)
        return columns

    def observed(
        self, low: FloatArray, high: FloatArray, shares: FloatArray
    ) -> tuple[Indices, Coding]:
        """The columns that vary, and the coding with the levels that there are.

        Parameters
        ----------
        low, high : ndarray
            Bounds of the columns.
        shares : ndarray
            Their means: the share of rows with each level.
        """
        kept, variables = [], []
        for variable, start in zip(self.variables, self.starts.tolist(), strict=True):
            own = [c for c in range(start, start + variable.size) if low[c] < high[c]]
            levels = variable.levels
            if variable.size > 1 and own:
                levels = tuple(variable.levels[c - start + 1] for c in own)
                if shares[own].sum() < 1 - 1e-9:
                    levels = (variable.levels[0], *levels)
                elif len(own) > 1:
                    # Nobody has the reference: the first of the others takes its place.
                    own = own[1:]
            kept += own
            variables.append(replace(variable, levels=levels))
        return np.array(kept, dtype=np.intp), Coding(tuple(variables))

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


def change_of_levels(old: Coding, new: Coding) -> tuple[FloatArray, FloatArray]:
    """A and b with which columns x of a coding are xA + b in another order of its levels."""
    matrix = np.zeros((old.n_columns, new.n_columns))
    offset = np.zeros(new.n_columns)
    pairs = zip(old.variables, new.variables, old.starts, new.starts, strict=True)
    for before, after, first, place in pairs:
        if before.levels == after.levels or before.kind != "nominal":
            matrix[first, place] = 1.0
            matrix[first : first + before.size, place : place + before.size] = np.eye(before.size)
            continue
        for k, level in enumerate(after.levels[1:], place):
            if level == before.levels[0]:
                matrix[first : first + before.size, k], offset[k] = -1.0, 1.0
            else:
                matrix[first + before.levels.index(level) - 1, k] = 1.0
    return matrix, offset


def whitened(correlation: FloatArray, coding: Coding) -> tuple[FloatArray, Indices, FloatArray]:
    """The correlations of columns that are uncorrelated within each block.

    Parameters
    ----------
    correlation : ndarray, W×W
        That of the columns.
    coding : Coding
        Their variables.

    Returns
    -------
    matrix : ndarray
        With identity matrices as its diagonal blocks.
    sizes : ndarray of int
        How many columns each variable has: the rank of its block.
    basis : ndarray
        What the standardised columns are multiplied by from the right.
    """
    width, starts = coding.n_columns, coding.starts
    parts, sizes = [], []
    for start, size in zip(starts.tolist(), coding.sizes.tolist(), strict=True):
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
    ends = np.cumsum(sizes)
    for stop, size in zip(ends.tolist(), sizes, strict=True):
        matrix[stop - size : stop, stop - size : stop] = np.eye(size)
    return matrix, np.array(sizes, dtype=np.intp), basis


def block_squares(matrix: FloatArray, sizes: Indices) -> FloatArray:
    """The sum of squares of each block of a whitened matrix: of the canonical correlations."""
    starts = np.cumsum(sizes) - sizes
    squares = np.add.reduceat(np.square(matrix), starts, axis=0)
    return np.asarray(np.add.reduceat(squares, starts, axis=1))


def check_types(types: Types, names: Sequence[str]) -> dict[str, Kind | tuple[str, ...]]:
    """What the user says of columns: a type, or levels in their order."""
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise ArgumentError(
            f"types is a {type(types).__name__}; wanted a mapping such as {{'race': 'nominal'}}",
            option="types",
        )
    unknown = [str(name) for name in types if name not in names]
    if unknown:
        raise ColumnNameError(
            f"no such columns to give a type: {list_names(unknown)}; the table has "
            f"{list_names(names)}",
            unknown,
        )
    return {name: _check_type(name, said) for name, said in types.items()}


def _check_type(name: str, said: object) -> Kind | tuple[str, ...]:
    kinds = get_args(Kind)
    if isinstance(said, str) and said in kinds:
        kind: Kind = said  # type: ignore[assignment]
        return kind
    if isinstance(said, Sequence) and not isinstance(said, str) and len(set(said)) == len(said) > 1:
        return tuple(
            number_text(float(level)) if isinstance(level, int | float) else str(level)
            for level in said
        )
    raise ArgumentError(
        f"types has {said!r} for {name!r}; wanted {', '.join(map(repr, kinds))}, or a list of two "
        "levels or more, the lowest first",
        [name],
        option="types",
    )


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a column cannot have the type that it has been given, or any; and what would help."""

    reason: str
    cures: tuple[Cure, ...] = ()


def declared_variable(
    name: str, said: Kind | tuple[str, ...], found: LevelCounts, *, numbers: bool
) -> Variable | Doubt:
    """A variable whose type the user has given; `numbers` says whether it is a number anyway."""
    levels = found.seen
    doubt = _contradiction(said, levels)
    if doubt:
        return Doubt(doubt)
    if isinstance(said, tuple):
        return Variable("ordinal", said)
    if said == "nominal":
        return Variable("binary" if len(levels) == 2 else "nominal", levels)
    if numbers or said == "binary" or (said == "ordinal" and found.ordered):
        return Variable(said, () if numbers else levels)
    if said == "continuous":
        return Doubt("text, but is said to be continuous")
    cure = Cure("types", {name: list(levels)}, "gives the levels, the lowest first")
    return Doubt("text, of which only you can know the order", (cure,))


def _contradiction(said: Kind | tuple[str, ...], levels: Sequence[str]) -> str:
    """What speaks against a type."""
    if isinstance(said, tuple):
        others = [level for level in levels if level not in said]
        return f"{list_names(others)} among its values, but not among its levels" * bool(others)
    if said == "binary" and len(levels) > 2:
        return f"{len(levels)} different values, but is said to be binary"
    if said == "nominal" and len(levels) > MOST_DECLARED:
        return f"{len(levels)} different values, too many for a category"
    return ""


def inferred_variable(name: str, found: LevelCounts) -> Variable | Doubt:
    """The variable behind a column of text or categories that the user has said nothing of."""
    levels = found.seen
    if len(levels) < 2 or (found.category and len(levels) <= MOST_DECLARED):
        kind: Kind = "ordinal" if found.ordered else "nominal"
        return Variable("binary" if len(levels) == 2 else kind, levels)
    if found.are_categories:
        return Variable("binary" if len(levels) == 2 else "nominal", levels)
    reason = f"text with {len(levels)} different values, for example {levels[0]!r}"
    return Doubt(reason, found.as_category(name))


def rare_levels(
    names: Sequence[str], coding: Coding, shares: FloatArray, n_samples: float
) -> Iterable[tuple[str, list[tuple[str, int]]]]:
    """Variables with levels that hardly any row has, and how many have them."""
    for name, variable, start in zip(names, coding.variables, coding.starts.tolist(), strict=True):
        if variable.size == 1:
            continue
        own = shares[start : start + variable.size]
        counts = np.rint(n_samples * np.concatenate(([1 - own.sum()], own))).astype(int).tolist()
        few = [pair for pair in zip(variable.levels, counts, strict=True) if pair[1] < RARE]
        if few:
            yield name, few
