"""Checks of the arguments that say how to simulate."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from qwo.errors import ArgumentError

Range = tuple[float, float]


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed; a generator stays what it is."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"random_state is {random_state!r}; wanted None, an integer from 0 up, or a Generator"
        ) from error


def at_least(name: str, value: int, smallest: int) -> int:
    """An integer argument within its range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; wanted an integer") from None
    if number < smallest:
        raise ArgumentError(f"{name} is {number}; wanted at least {smallest}")
    return number


def between(name: str, value: float, low: float, high: float) -> float:
    """A number within its range."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        raise ArgumentError(f"{name} is {value!r}; wanted a number between {low} and {high}")
    return number


def positive_range(name: str, limits: Range) -> Range:
    """A pair 0 < low ≤ high of finite numbers."""
    try:
        low, high = (float(limit) for limit in limits)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {limits!r}; wanted a pair (low, high)") from None
    if not 0 < low <= high < math.inf:
        raise ArgumentError(f"{name} is {limits!r}; wanted finite numbers with 0 < low <= high")
    return low, high
