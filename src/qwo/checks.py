"""Checks of plain arguments: rules of options, numbers within bounds, seeds."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from qwo.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

Range = tuple[float, float]


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed; a generator stays what it is."""
    import numpy as np

    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"random_state is {random_state!r}; wanted None, an integer from 0 up, or a Generator",
            option="random_state",
        ) from error


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


def positive_range(name: str, limits: Any) -> Range:
    """A pair 0 < low ≤ high of finite numbers."""
    try:
        low, high = (float(limit) for limit in limits)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"{name} is {limits!r}; wanted a pair (low, high)", option=name
        ) from None
    if not 0 < low <= high < math.inf:
        raise ArgumentError(
            f"{name} is {limits!r}; wanted finite numbers with 0 < low <= high", option=name
        )
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


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and to be checked, and the plain type that it is kept as."""

    wanted: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value

    def checked(self, name: str, value: Any) -> Any:
        """The value of an option as a plain type; refused if it is not what is wanted."""
        if not self.holds(value):
            raise ArgumentError(f"{name} is {value!r}; wanted {self.wanted}", option=name)
        return self.plain(value)


def is_number(value: Any) -> bool:
    """Whether this is a real number, infinite ones included."""
    return type(value) is not bool and isinstance(value, Real) and not math.isnan(value)


def is_whole(value: Any) -> bool:
    """Whether this is an integer of whatever kind."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def whole_number(name: str, value: Any) -> int:
    """An argument that must be an integer of whatever kind."""
    if not is_whole(value):
        raise ArgumentError(f"{name} is {value!r}; wanted a whole number", option=name)
    return operator.index(value)


PENALTY = Rule(
    "a number above 0, or 'auto'",
    lambda v: (isinstance(v, str) and v == "auto") or (is_number(v) and 0 < v < math.inf),
    lambda v: v if isinstance(v, str) else float(v),
)
FROM_0 = Rule("a number from 0 up", lambda v: is_number(v) and 0 <= v < math.inf, float)
SECONDS = Rule("a number of seconds from 0", lambda v: is_number(v) and v >= 0, float)
SHARE = Rule("a number between 0 and 1", lambda v: is_number(v) and 0 < v < 1, float)
WHOLE_FROM_0 = Rule("a whole number from 0 up", lambda v: is_whole(v) and v >= 0, operator.index)
WHOLE_FROM_1 = Rule("a whole number from 1 up", lambda v: is_whole(v) and v >= 1, operator.index)
STEPS = Rule(
    "a whole number from 1 up, or math.inf",
    lambda v: is_number(v) and v >= 1 and (v == math.inf or v == int(v)),
    lambda v: v if v == math.inf else int(v),
)
VERSION = Rule("0, 1 or 2", lambda v: is_whole(v) and v in (0, 1, 2), operator.index)
