"""Plain arguments, checked: numbers, choices, seeds, and variables by name or column number."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, ColumnNameError, InputError, list_names
from qwo.text import listed, shown

Range = tuple[float, float]


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed; a generator stays what it is."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"random_state is {random_state!r}; wanted None, an integer from 0 up, or a Generator",
            option="random_state",
        ) from error


def drawn_seed() -> int:
    """A seed that nobody gave, for results to tell."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def at_least(name: str, value: object, smallest: int) -> int:
    """An integer argument within its range."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; wanted an integer", option=name) from None
    if number < smallest:
        raise ArgumentError(f"{name} is {number}; wanted at least {smallest}", option=name)
    return number


def between(name: str, value: object, low: float, high: float) -> float:
    """A number within its range."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise ArgumentError(
            f"{name} is {value!r}; wanted a number between {low} and {high}", option=name
        )
    return number


def number_pair(name: str, given: Any, wanted: str = "two numbers") -> Range:
    """A pair of finite numbers."""
    try:
        first, second = (float(number) for number in given)
    except (TypeError, ValueError, OverflowError):
        first = second = math.nan
    if not math.isfinite(first + second):
        raise ArgumentError(f"{name} is {given!r}; wanted {wanted}", option=name)
    return first, second


def positive_range(name: str, limits: Any) -> Range:
    """A pair 0 < low ≤ high of finite numbers."""
    wanted = "a pair (low, high) of finite numbers with 0 < low <= high"
    low, high = number_pair(name, limits, wanted)
    if not 0 < low <= high:
        raise ArgumentError(f"{name} is {limits!r}; wanted {wanted}", option=name)
    return low, high


def check_size(what: str, n_bytes: int, limit: int = 2**36) -> None:
    """Refuse what could not be held in any usual memory, before it is asked for."""
    if n_bytes > limit:
        raise ArgumentError(
            f"{what} would take {n_bytes / 2**30:,.0f} GB; the limit is {limit / 2**30:,.0f} GB"
        )


def is_choice(value: object, choices: Container[str]) -> bool:
    """Whether a value is one of some names; what is no text, and cannot be looked up, is not."""
    return isinstance(value, str) and value in choices


def check_choice(option: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not among the choices."""
    if not isinstance(value, str | None) or value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise ArgumentError(f"{option} is {value!r}; wanted one of {wanted}", option=option)


Variable = str | int
"""A name, or a column number from 0."""


def default_names(n_variables: int) -> tuple[str, ...]:
    """X0, X1, …: the column number is part of the name."""
    return tuple(f"X{index}" for index in range(n_variables))


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a graph's variables: at least one, each a string, none blank, none twice."""
    if isinstance(names, str):
        raise ColumnNameError(f"names is the single string {shown(names)}; wanted one per variable")
    if not isinstance(names, Iterable):
        raise ColumnNameError(f"names is {names!r}; wanted one for each variable")
    labels = tuple(names)
    if not labels:
        raise ColumnNameError("the graph has no variables; wanted at least one")
    for place, label in enumerate(labels):
        if not isinstance(label, str):
            raise ColumnNameError(f"the name at place {place} is {label!r}; wanted a string")
        if not label.strip():
            raise ColumnNameError(f"the variable at place {place} has no name; give it one")
        if not _is_unicode(label):
            raise ColumnNameError(
                f"the name {shown(label)} holds half a surrogate pair and is not valid Unicode; "
                f"rename it",
                columns=[label],
            )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise ColumnNameError(
            f"names must be unique; {listed(repeated)} occurs more than once; rename all but one",
            columns=repeated,
        )
    return labels


def _is_unicode(label: str) -> bool:
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def as_column(
    names: Sequence[str], variable: object, role: str, error: type[InputError] = ColumnNameError
) -> int:
    """The column number of a variable given by name or by column number.

    The role is what messages call it, such as ``"cause"``.
    """
    if isinstance(variable, int | np.integer) and not isinstance(variable, bool):
        if 0 <= variable < len(names):
            return int(variable)
        raise error(
            f"{role}: there is no column {variable}; columns are numbered 0 to {len(names) - 1}"
        )
    if not isinstance(variable, str):
        raise error(f"{role} is {variable!r}; wanted the name or number of a column")
    if variable in names:
        return names.index(variable)
    raise error(
        f"{role}: no variable is called {shown(variable)}; {suggestion(variable, names)}",
        [variable],
    )


def as_columns(
    names: Sequence[str],
    variables: Iterable[object],
    role: str,
    error: type[InputError] = ColumnNameError,
) -> list[object]:
    """Many variables with column numbers in the place of names; what is no name stays as it is."""
    place = {name: k for k, name in enumerate(names)}

    def number(variable: object) -> object:
        if not isinstance(variable, str):
            return variable
        return place[variable] if variable in place else as_column(names, variable, role, error)

    return [number(variable) for variable in variables]


def as_pair(names: Sequence[str], cause: object, effect: object) -> tuple[int, int]:
    """The column numbers of two different variables."""
    x, y = as_column(names, cause, "cause"), as_column(names, effect, "effect")
    if x == y:
        raise ColumnNameError(
            f"cause and effect are both {shown(names[x])}; wanted two variables", [names[x]]
        )
    return x, y


def suggestion(wrong: str, known: Sequence[str]) -> str:
    """What a wrong name may have meant, or else what there is."""
    close = get_close_matches(wrong, known)
    return f"did you mean {list_names(close)}?" if close else f"there are {list_names(known)}"
