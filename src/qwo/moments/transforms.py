"""Transformations of single columns, before moments are computed: log, rank-normal, standardise.

Missing values stay missing, and infinite ones infinite. Standardising changes neither the search
nor its graph, which see correlations alone; it does change the units of coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from scipy.special import ndtri

from qwo.errors import ArgumentError, ColumnNameError, list_names
from qwo.moments.arrays import Table
from qwo.types import FloatArray

TransformName = Literal["log", "log1p", "rank-normal", "standardise", "standardize"]
Transform = TransformName | Mapping[str, TransformName] | None
"""One transformation for all columns, or that of each column named; None for none."""

LOWEST: dict[str, float] = {"log": 0.0, "log1p": -1.0}
"""Transformations with a domain, and the value above which it lies."""


def transformed(table: Table, transform: Transform) -> Table:
    """A table with transformed columns; columns that are not numbers stay as they are.

    Raises
    ------
    ArgumentError
        If values lie outside the domain of a transformation, with the columns and how many.
    ColumnNameError
        If a column named is not in the table.
    """
    chosen = chosen_transforms(transform, table.names, [column.name for column in table.refused])
    if not chosen:
        return table
    check_domain(table.names, table.values, chosen)
    values = np.array(table.values, order="F")
    for place, name in chosen.items():
        values[:, place] = TRANSFORMS[name](values[:, place])
    return Table(table.names, values, table.refused)


def can_stream(transform: Transform) -> bool:
    """Whether each value can be transformed by itself, without knowing the others."""
    if isinstance(transform, Mapping):
        return set(transform.values()) <= set(ELEMENTWISE)
    return transform in (None, *ELEMENTWISE)


def chosen_transforms(
    transform: Transform, names: tuple[str, ...], others: list[str]
) -> dict[int, TransformName]:
    """The transformation of each column, by position.

    Parameters
    ----------
    transform : str, mapping or None
        What the user asked for.
    names : tuple of str
        The numeric columns.
    others : list of str
        Columns that are not numeric: they may be named, since the audit has more to say of them.
    """
    if transform is None:
        return {}
    if isinstance(transform, str):
        _check_name(transform)
        return dict.fromkeys(range(len(names)), transform)
    if not isinstance(transform, Mapping):
        raise ArgumentError(
            f"transform is a {type(transform).__name__}; wanted the name of a transformation for "
            "all columns, or a mapping such as {'income': 'log'}"
        )
    for name in transform.values():
        _check_name(name)
    unknown = [str(column) for column in transform if column not in names and column not in others]
    if unknown:
        raise ColumnNameError(
            f"no such columns to transform: {list_names(unknown)}; the table has "
            f"{list_names(names)}",
            unknown,
        )
    return {k: transform[name] for k, name in enumerate(names) if name in transform}


def check_domain(
    names: tuple[str, ...], values: FloatArray, chosen: dict[int, TransformName]
) -> None:
    """See that logarithms exist."""
    wrong = {
        place: int((values[:, place] <= LOWEST[name]).sum())
        for place, name in chosen.items()
        if name in LOWEST
    }
    wrong = {place: count for place, count in wrong.items() if count}
    if not wrong:
        return
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
        f"{', '.join(shown)}{more}; use {other} where it fits, add a constant to these columns, or "
        "leave them as they are",
        [names[place] for place in wrong],
    )


def rank_normal(values: FloatArray) -> FloatArray:
    """Normal scores Φ⁻¹((rank - ½) / m) of the m finite values of a column; ties share a rank."""
    # SciPy's statistics take longer to import than the rest of this package.
    from scipy.stats import rankdata

    result = np.array(values)
    finite = np.isfinite(values)
    result[finite] = ndtri((rankdata(values[finite]) - 0.5) / max(finite.sum(), 1))
    return result


def standardised(values: FloatArray) -> FloatArray:
    """A column with mean 0 and standard deviation 1 (divisor N) over its finite values."""
    finite = values[np.isfinite(values)]
    if finite.size == 0 or finite.min() == finite.max():
        return values
    unit = np.abs(finite).max()  # squares of huge or tiny values leave the range of float64
    scaled = finite / unit
    return np.asarray((values / unit - scaled.mean()) / scaled.std())


ELEMENTWISE: dict[str, Callable[[FloatArray], FloatArray]] = {"log": np.log, "log1p": np.log1p}
"""Transformations of each value by itself."""

TRANSFORMS: dict[str, Callable[[FloatArray], FloatArray]] = {
    **ELEMENTWISE,
    "rank-normal": rank_normal,
    "standardise": standardised,
    "standardize": standardised,
}


def _check_name(name: object) -> None:
    if name not in TRANSFORMS:
        raise ArgumentError(
            f"transform is {name!r}; wanted one of {', '.join(map(repr, TRANSFORMS))}"
        )
