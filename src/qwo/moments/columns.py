"""Columns of a table: their names, which of them to take, and transformations of each by itself.

Missing values stay missing, and infinite ones infinite. Standardising changes neither the search
nor its graph, which see correlations alone; it does change the units of coefficients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from scipy.special import ndtri

from qwo.errors import ArgumentError, ColumnNameError, Cure, list_names
from qwo.options import Columns, ReadOptions, Transform, TransformName
from qwo.types import FloatArray

LOWEST: dict[str, float] = {"log": 0.0, "log1p": -1.0}
"""Transformations with a domain, and the value above which it lies."""


def column_names(names: Iterable[object], *, cured: bool = False) -> tuple[str, ...]:
    """Names as strings, none of them empty or used twice; columns may be dropped if `cured`."""
    if isinstance(names, str):
        raise ColumnNameError(f"names is the single string {names!r}; wanted one name per column")
    labels = tuple(str(name) for name in names)
    empty = [place for place, label in enumerate(labels) if not label.strip()]
    if empty:
        places = ", ".join(map(str, empty[:5]))
        cure = Cure("drop", empty, "leaves them out")
        raise ColumnNameError(
            f"{len(empty)} of {len(labels)} columns have no name, at position {places} from 0; "
            "name them, or leave them out if they only number the rows",
            cures=[cure] if cured and len(labels) - len(empty) >= 2 else [],
        )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        again = [k for k, label in enumerate(labels) if label in labels[:k]]
        cure = Cure("drop", again, "leaves out all but the first of each name")
        raise ColumnNameError(
            f"column names are used more than once: {list_names(repeated)}; rename or drop columns",
            repeated,
            cures=[cure] if cured and len(labels) - len(again) >= 2 else [],
        )
    return labels


def default_names(n_variables: int) -> tuple[str, ...]:
    """X0, X1, …: the column index is part of the name."""
    return tuple(f"X{index}" for index in range(n_variables))


def select_columns(labels: Sequence[str], columns: Columns, drop: Columns) -> list[int]:
    """Positions of the columns to take."""
    chosen = range(len(labels)) if columns is None else _positions(labels, columns)
    dropped = set() if drop is None else set(_positions(labels, drop))
    return [place for place in chosen if place not in dropped]


def _positions(labels: Sequence[str], wanted: Sequence[str | int]) -> list[int]:
    """Positions of columns given by name or position.

    A column without a name of its own goes by its position as a text too, as it is written on a
    command line.
    """
    if isinstance(wanted, str):
        raise ColumnNameError(f"got the single string {wanted!r}; wanted a list of column names")
    places: dict[str | int, list[int]] = {k: [k] for k in range(len(labels))}
    for k, label in enumerate(labels):
        places.setdefault(label, []).append(k)
    for k, label in enumerate(labels):
        if not label.strip() or len(places[label]) > 1:
            places.setdefault(str(k), [k])
    try:
        wanted = list(wanted)
        unknown = [str(item) for item in wanted if item not in places]
    except TypeError as error:
        raise ColumnNameError(f"got {wanted!r}; wanted a list of column names") from error
    if unknown:
        raise ColumnNameError(
            f"no such columns: {list_names(unknown)}; the table has {list_names(labels)}", unknown
        )
    return [k for item in wanted for k in places[item]]


def chosen_columns(names: Sequence[str], options: ReadOptions) -> tuple[list[int], int | None]:
    """Positions of the variables, and of the weights if they are a column."""
    chosen = select_columns(names, options.columns, options.drop)
    if not isinstance(options.weights, str | int):
        return chosen, None
    [place] = select_columns(names, [options.weights], None)[:1]
    return [k for k in chosen if k != place], place


def chosen_transforms(
    transform: Transform, names: Sequence[str], others: Sequence[str] = ()
) -> dict[int, TransformName]:
    """The transformation of each column, by position.

    Parameters
    ----------
    transform : str, mapping or None
        What the user asked for.
    names : sequence of str
        The numeric columns.
    others : sequence of str
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
            "all columns, or a mapping such as {'income': 'log'}",
            option="transform",
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


def apply_transforms(
    names: Sequence[str], values: FloatArray, chosen: Mapping[int, TransformName]
) -> FloatArray:
    """The values with transformed columns.

    Raises
    ------
    ArgumentError
        If values lie outside the domain of a transformation, with the columns and how many.
    """
    if not chosen:
        return values
    _check_domain(names, values, chosen)
    result = np.array(values, order="F")
    for place, name in chosen.items():
        result[:, place] = TRANSFORMS[name](result[:, place])
    return result


def _check_domain(
    names: Sequence[str], values: FloatArray, chosen: Mapping[int, TransformName]
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
            f"transform is {name!r}; wanted one of {', '.join(map(repr, TRANSFORMS))}",
            option="transform",
        )
