"""Rows that were read, and the levels of columns that are not numbers.

What the user says of a column counts; of the others, text and categories with few levels are
nominal, and numbers are numbers. Whatever is in doubt is refused with a cure.
"""

# Long because what text may mean, and how it is said, stand together.

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast, get_args

import numpy as np
import numpy.typing as npt

from qwo.columns.recipes import Variable, is_number, looks_like_cluster, looks_like_place
from qwo.errors import ArgumentError, ColumnNameError, Cure, list_names
from qwo.options import Kind, Types
from qwo.types import FloatArray

MANY_STRAYS = 3
"""More different words than this among the numbers of a column are no marks of missing values."""

BLANKS = re.compile(
    r"[-.?*/\\#]{1,3}|n\.?/?[adk]\.?|nan|none|null|nil|nat|missing|unknown|unk|tbd|blank|empty"
    r"|\W(na|null)\W|not (available|applicable|known)|no data|#(n/a|(div/0|ref|value|num|null)!)",
    re.IGNORECASE,
)
"""How missing values are spelt."""

MOST_LEVELS = 20
"""Text with more different values is no category, unless the user says so."""

LEVEL_REPEATS = 3
"""How often each level of a text column appears on average, at least."""

MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
CLOCK = r"\d{1,2}:\d{2}(:\d{2}.*)?"
DATE = re.compile(
    rf"\s*((\d{{4}}[-/.]\d{{1,2}}([-/.]\d{{1,2}})?|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}"
    rf"|\d{{4}}[- ]?q[1-4]|q[1-4][- ]?\d{{4}}|(\d{{1,2}}[-/. ]+)?{MONTH}[-/., ]+\d{{1,4}}"
    rf"([-/., ]+\d{{2,4}})?)([T ]{CLOCK}.*)?|{CLOCK})\s*",
    re.IGNORECASE,
)
"""Text that is a day, a month, a quarter or a time."""

AROUND = re.compile(r"\s*[='\"(<>]*[-+]?([A-Z]{3}\s|[$€£¥])?\s*[-+]?\d[\d.,']*\s*\D{0,12}")
"""A number with a currency or marks such as quotes before it, or a unit behind it."""

LIMIT = re.compile(r"\s*[<>≤≥]=?\s*\d")
"""A value below what an instrument can detect, or above."""

MOST_DECLARED = 200
"""Levels of a variable that the user calls nominal, at most."""

LISTED = ("nominal", "binary")
"""Types whose levels count."""

MOST_COUNTED = 10_000
"""Different values of a column that are told apart at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Values of a column as places in a list of levels, -1 where they are missing.

    The data may call the column a `category`, say which levels there are and in which order
    (`listed`), and that this order has a meaning (`ordered`).
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
        return cls(codes, tuple(map(_number_text, different.tolist())))

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
        return replace(self, codes=np.where(self.codes < 0, -1, places[self.codes]))

    def counts(self) -> list[int]:
        """How many rows have each level."""
        given = self.codes[self.codes >= 0]
        counted: list[int] = np.bincount(given, minlength=len(self.levels)).tolist()
        return counted

    def coded(self, name: str, levels: Sequence[str]) -> FloatArray:
        """The place of each value in another list of levels; NaN where it is missing."""
        places = {level: float(k) for k, level in enumerate(levels)}
        present = [level for level, n in zip(self.levels, self.counts(), strict=True) if n]
        unknown = [level for level in present if level not in places]
        if unknown:
            raise ArgumentError(
                f"column {name!r} has {list_names(unknown)}, which is none of its levels "
                f"{list_names(levels)}",
                [name],
            )
        table = np.array([*(places.get(level, np.nan) for level in self.levels), np.nan])
        return np.asarray(table[self.codes])


@dataclass(frozen=True, slots=True)
class RefusedColumn:
    """A column without numbers: what it holds, its words, and what would make it usable.

    `strays` are the few words that stand among numbers, as marks of missing values do, and `line`
    is the row of the only one; `labels` tell rows apart where words that are no categories, such as
    dates, do.
    """

    name: str
    reason: str
    strays: tuple[str, ...] = ()
    words: Words | None = field(default=None, repr=False, compare=False)
    cures: tuple[Cure, ...] = ()
    labels: Words | None = field(default=None, repr=False, compare=False)
    line: int = field(default=0, compare=False)

    @classmethod
    def of_text(cls, name: str, words: Words, above: int = 0) -> RefusedColumn:
        """A column of text, of which `above` rows were read before."""
        counts = words.counts()
        odd = [k for k, level in enumerate(words.levels) if not is_number(level)]
        n_given, n_odd = sum(counts), sum(counts[k] for k in odd)
        if not odd:
            shown = short(words.levels[0])
            return cls(name, f"text that spells numbers, for example {shown}", words=words)
        first = int(np.argmax(np.isin(words.codes, odd)))
        shown = short(words.levels[int(words.codes[first])])
        if n_odd == n_given:
            return cls(name, f"text, for example {shown}", words=words)
        # Names of families or patients, some of which look like numbers.
        named = looks_like_cluster(name) and len(words.levels) <= 0.8 * n_given
        unknown = sum(BLANKS.fullmatch(words.levels[k].strip()) is None for k in odd)
        limits = all(LIMIT.match(words.levels[k]) for k in odd)
        few = unknown <= MANY_STRAYS and 2 * n_odd <= n_given and not (named or limits)
        more = "; enter the limit, or half of it: such values are not missing at random"
        return cls(
            name,
            f"text, since {n_odd} of {n_given} values cannot be read as a number; the first is "
            f"{shown} in data row {above + first + 1}{more if limits else ''}",
            tuple(words.levels[k] for k in odd) if few else (),
            words,
            line=above + first + 1 if n_odd == 1 else 0,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A batch of rows: numbers, NaN where there are none; columns that are not; weights; groups."""

    values: FloatArray
    refused: tuple[RefusedColumn, ...] = ()
    weights: FloatArray | None = None
    groups: Words | None = None

    def words(self, names: Sequence[str], name: str) -> Words | None:
        """The values of a column as levels; None where it is neither numbers nor text."""
        for column in self.refused:
            if column.name == name:
                return column.words
        return Words.of_numbers(self.values[:, list(names).index(name)])

    def labels(self, names: Sequence[str], name: str) -> Words | None:
        """The values of a column that tells rows apart, whatever they are."""
        own = next((column.labels for column in self.refused if column.name == name), None)
        return self.words(names, name) if own is None else own

    def encoded(self, names: Sequence[str], variables: Mapping[str, Variable]) -> Rows:
        """The rows in which categories are codes: the places of their levels."""
        coded = {name: v.levels for name, v in variables.items() if v.levels and name in names}
        if not coded:
            return self
        values = np.array(self.values, order="F")
        for name, levels in coded.items():
            words = self.words(names, name)
            assert words is not None, "levels were found in it"
            values[:, list(names).index(name)] = words.coded(name, levels)
        refused = tuple(column for column in self.refused if column.name not in coded)
        return replace(self, values=values, refused=refused)


def short(value: object, width: int = 40) -> str:
    """A value as it may stand in a message."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _number_text(value: float) -> str:
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
        # By number where levels are numbers, else by letter.
        there.sort(key=lambda t: (float(t), "", t) if is_number(t) else (np.inf, t.casefold(), t))
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
        cures = [Cure("types", {name: "nominal"}, "treats it as a category")] if possible else []
        n_levels, n_rows = len(self.seen), sum(self.counts.values())
        repeats = 0.8 if looks_like_cluster(name) else 0.2 if looks_like_place(name) else 0.0
        if 2 < n_levels <= repeats * n_rows:
            cures.append(Cure("cluster", name, "says which rows belong together"))
        return tuple(cures)


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
        return cast("Kind", said)
    if isinstance(said, Sequence) and not isinstance(said, str) and len(set(said)) == len(said) > 1:
        return tuple(
            _number_text(float(level)) if isinstance(level, int | float) else str(level)
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


@dataclass
class ColumnTypes:
    """The types of columns: what the user says, and what is found in the data.

    `needed` are the columns whose levels must be known before any row can be used, `variables`
    those that are not plain numbers, `refused` the columns that cannot be used.
    """

    declared: dict[str, Kind | tuple[str, ...]] = field(default_factory=dict)
    needed: list[str] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    refused: dict[str, RefusedColumn] = field(default_factory=dict)

    @classmethod
    def of(cls, types: Types, names: Sequence[str]) -> ColumnTypes:
        """What the user says of these columns."""
        declared = check_types(types, names)
        levels = [n for n, t in declared.items() if isinstance(t, tuple) or t in LISTED]
        said = {n: t for n, t in declared.items() if not isinstance(t, tuple)}
        return cls(declared, levels, {n: Variable(t, said=True) for n, t in said.items()})

    def find(self, wanted: Sequence[str], parts: Iterable[Rows], names: Sequence[str]) -> None:
        """Find the levels of columns, or why they cannot be used, in all rows of these names."""
        counts = {name: LevelCounts() for name in wanted}
        odd: dict[str, RefusedColumn] = {}
        hopeless: set[str] = set()
        for part in parts:
            for column in part.refused:
                # Of text, numbers among the words are what matters most.
                if column.name not in odd or (column.strays and not odd[column.name].strays):
                    odd[column.name] = column
            for name, count in counts.items():
                words = part.words(names, name)
                if words is None:
                    hopeless.add(name)
                else:
                    count.add(words)
        for name, count in counts.items():
            seen = odd.get(name, RefusedColumn(name, "numbers"))
            if name in hopeless:
                self.refused[name] = seen
                continue
            found = self._decided(name, count, numbers=name not in odd)
            if isinstance(found, Variable):
                self.variables[name] = found
            else:
                reason = found.reason or seen.reason
                self.refused[name] = replace(seen, reason=reason, words=None, cures=found.cures)

    def _decided(self, name: str, found: LevelCounts, *, numbers: bool) -> Variable | Doubt:
        said = self.declared.get(name)
        if said is not None:
            return _declared(name, said, found, numbers=numbers)
        if found.category or not any(map(is_number, found.counts)):
            return _inferred(name, found)
        cures = found.as_category(name)
        kept = (cure for cure in cures if found.are_categories or cure.option == "cluster")
        return Doubt("", tuple(kept))


def _declared(
    name: str, said: Kind | tuple[str, ...], found: LevelCounts, *, numbers: bool
) -> Variable | Doubt:
    """A variable whose type the user has given; `numbers` says whether it is a number anyway."""
    levels = found.seen
    doubt, cures = "", list[Cure]()
    kind: Kind = "ordinal" if isinstance(said, tuple) else said
    if isinstance(said, tuple):
        others = [level for level in levels if level not in said]
        doubt = f"{list_names(others)} among its values, but not among its levels" if others else ""
        levels = said
    elif said == "nominal":
        many = len(levels) > MOST_DECLARED
        doubt = f"{len(levels)} different values, too many for a category" if many else ""
        kind = "binary" if len(levels) == 2 else "nominal"
    elif said == "binary" and len(levels) > 2:
        doubt = f"{len(levels)} different values, but is said to be binary"
    elif numbers:
        levels = ()
    elif said == "continuous":
        doubt = "text, but is said to be continuous"
    elif said == "ordinal" and not found.ordered:
        doubt = "text, of which only you can know the order"
        cures = [Cure("types", {name: list(levels)}, "gives the levels, the lowest first")]
    if doubt:
        return Doubt(doubt, tuple(cures))
    return Variable(kind, levels, said=True)


def _inferred(name: str, found: LevelCounts) -> Variable | Doubt:
    """The variable behind a column of text or categories that the user has said nothing of."""
    levels = found.seen
    if levels and all(map(DATE.fullmatch, levels)):
        # A category of days would be one without order, and each day a coefficient.
        return Doubt(of_times(levels[0]), (*found.as_category(name), in_order_of(name)))
    if len(levels) < 2 or (found.category and len(levels) <= MOST_DECLARED):
        kind: Kind = "ordinal" if found.ordered else "nominal"
        return Variable("binary" if len(levels) == 2 else kind, levels)
    if found.are_categories:
        return Variable("binary" if len(levels) == 2 else "nominal", levels)
    reason = f"text with {len(levels)} different values, for example {levels[0]!r}"
    if all(map(AROUND.fullmatch, levels)):
        reason = f"numbers with other signs beside them, for example {levels[0]!r}; write the "
        reason += "numbers alone"
    return Doubt(reason, found.as_category(name))


def of_times(example: str) -> str:
    """Why a column of dates is neither a number nor a category."""
    return f"dates or times, for example {example!r}"


def in_order_of(name: str) -> Cure:
    """What dates may be good for."""
    return Cure("time", name, "says when each row was taken, together with lags")
