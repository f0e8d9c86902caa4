"""The types of the columns that are read, and their values as codes.

What the user says of a column counts; of the others, text and categories with few levels are
nominal, and numbers are numbers. Whatever is in doubt is refused with a cure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from qwo.errors import ArgumentError, list_names
from qwo.moments.arrays import RefusedColumn, Rows, is_number
from qwo.moments.kinds import (
    Coding,
    Doubt,
    LevelCounts,
    Variable,
    Words,
    declared_variable,
    inferred_variable,
)
from qwo.options import Kind
from qwo.types import FloatArray


class ColumnTypes:
    """The types of columns: what the user says, and what is found in the data.

    Parameters
    ----------
    declared : mapping
        What `qwo.moments.kinds.check_types` gives.

    Attributes
    ----------
    variables : dict
        The variables that are not plain numbers, by name.
    refused : dict
        The columns that cannot be used, by name.
    """

    def __init__(self, declared: Mapping[str, Kind | tuple[str, ...]]) -> None:
        self.declared = declared
        self.variables: dict[str, Variable] = {
            name: Variable(said, said=True)
            for name, said in declared.items()
            if not isinstance(said, tuple)
        }
        self.refused: dict[str, RefusedColumn] = {}

    @property
    def needed(self) -> list[str]:
        """The columns whose levels must be known before any row can be used."""
        return [
            name
            for name, said in self.declared.items()
            if isinstance(said, tuple) or said in ("nominal", "binary")
        ]

    def has_levels(self, name: str) -> bool:
        """Whether a column is categories."""
        return name in self.variables and bool(self.variables[name].levels)

    def coding(self, names: Sequence[str]) -> Coding | None:
        """The columns of variables; None if all are plain numbers."""
        if not any(name in self.variables for name in names):
            return None
        return Coding(tuple(self.variables.get(name, Variable()) for name in names))

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
                words = words_of(part, names, name)
                if words is None:
                    hopeless.add(name)
                else:
                    count.add(words)
        for name, count in counts.items():
            seen = odd.get(name, RefusedColumn(name, "numbers"))
            found = self._decided(name, count, name not in odd) if name not in hopeless else None
            if isinstance(found, Variable):
                self.variables[name] = found
            else:
                self.refused[name] = _refused(seen, found)

    def _decided(self, name: str, found: LevelCounts, numbers: bool) -> Variable | Doubt:
        said = self.declared.get(name)
        if said is not None:
            variable = declared_variable(name, said, found, numbers=numbers)
            return replace(variable, said=True) if isinstance(variable, Variable) else variable
        if found.category or not any(map(is_number, found.counts)):
            return inferred_variable(name, found)
        return Doubt("", found.as_category(name) if found.are_categories else ())


def _refused(column: RefusedColumn, doubt: Doubt | None) -> RefusedColumn:
    """A column with the reason why it cannot be used; without its values."""
    if doubt is None:
        return column
    return RefusedColumn(
        column.name, doubt.reason or column.reason, column.strays, cures=doubt.cures
    )


def words_of(rows: Rows, names: Sequence[str], name: str) -> Words | None:
    """The values of a column as levels; None where it is neither numbers nor text."""
    for column in rows.refused:
        if column.name == name:
            return column.words
    return Words.of_numbers(rows.values[:, list(names).index(name)])


def encoded(rows: Rows, names: Sequence[str], variables: Mapping[str, Variable]) -> Rows:
    """The rows in which categories are codes: the places of their levels."""
    if not variables:
        return rows
    values = np.array(rows.values, order="F")
    for k, name in enumerate(names):
        variable = variables.get(name)
        if variable is None or not variable.levels:
            continue
        words = words_of(rows, names, name)
        assert words is not None, "levels were found in it"
        values[:, k] = _codes(name, words, variable)
    refused = tuple(c for c in rows.refused if not _has_levels(variables.get(c.name)))
    return replace(rows, values=values, refused=refused)


def _has_levels(variable: Variable | None) -> bool:
    return variable is not None and bool(variable.levels)


def _codes(name: str, words: Words, variable: Variable) -> FloatArray:
    places = {level: float(k) for k, level in enumerate(variable.levels)}
    present = [level for level, n in zip(words.levels, words.counts(), strict=True) if n]
    unknown = [level for level in present if level not in places]
    if unknown:
        raise ArgumentError(
            f"column {name!r} has {list_names(unknown)}, which is none of its levels "
            f"{list_names(variable.levels)}",
            [name],
        )
    table = np.array([*(places.get(level, np.nan) for level in words.levels), np.nan])
    return np.asarray(table[words.codes])


def recoded(values: FloatArray, old: Coding | None, new: Coding) -> FloatArray:
    """The columns of rows of codes whose levels are some of those of another coding."""
    result = np.array(values)
    for k, (before, after) in enumerate(zip((old or new).variables, new.variables, strict=True)):
        if before.levels != after.levels:
            places = {level: float(place) for place, level in enumerate(after.levels)}
            table = np.array([*(places.get(level, np.nan) for level in before.levels), np.nan])
            result[:, k] = table[np.where(np.isnan(values[:, k]), -1, values[:, k]).astype(int)]
    return new.expand(result)
