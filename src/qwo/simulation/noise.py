"""Noise of mean 0 and variance 1, of several shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from qwo.checks import is_choice
from qwo.errors import ArgumentError
from qwo.types import FloatArray

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]


def noise_source(kind: str) -> Draw:
    """The source of noise with mean 0 and variance 1."""
    if not is_choice(kind, _SHAPES):
        raise ArgumentError(f"noise is {kind!r}; wanted one of {', '.join(map(repr, _SHAPES))}")
    return _SHAPES[kind]


def _exponential(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.standard_exponential(shape)
    draws -= 1.0
    return draws


def _gumbel(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.gumbel(size=shape)
    draws -= np.euler_gamma
    draws *= math.sqrt(6) / math.pi
    return draws


def _uniform(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    draws = rng.random(shape)
    draws -= 0.5
    draws *= math.sqrt(12)
    return draws


_SHAPES: dict[str, Draw] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "exponential": _exponential,
    "gumbel": _gumbel,
    "uniform": _uniform,
}
