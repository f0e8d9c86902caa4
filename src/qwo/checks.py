"""Checks of plain arguments: numbers within bounds, choices, seeds."""

from __future__ import annotations

import math
import operator
from collections.abc import Container
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
