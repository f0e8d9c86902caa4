"""Values as JSON has them: no numpy types, no tuples, and null for numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Plain = dict[str, Any] | list[Any] | str | int | float | bool | None


def plain(value: Any) -> Plain:
    """The value as dictionaries, lists, strings, numbers, booleans and None.

    What is none of these, such as a path or a date, becomes its text.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(part) for part in value]
    return str(value)
