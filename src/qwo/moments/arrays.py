"""A table of named float64 columns, and how arrays and nested sequences become one."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo.errors import ColumnNameError, InputError, ShapeError, list_names
from qwo.types import FloatArray

Columns = Sequence[str | int] | None


@dataclass(frozen=True, slots=True)
class RefusedColumn:
    """A column without numbers: its name, and the type and value that show it."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of numbers, missing ones as NaN, and the columns that are not numbers.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of `values`.
    values : float64 ndarray of shape (N, n)
        The numeric columns, in any memory order.
    refused : tuple of RefusedColumn
        The other columns.
    """

    names: tuple[str, ...]
    values: FloatArray
    refused: tuple[RefusedColumn, ...] = ()


def table_from_array(data: Any, names: Sequence[object] | None = None) -> Table:
    """The table with the columns of a two-dimensional array or of a list of rows."""
    array = _as_array(data)
    if array.ndim != 2:
        cure = "; one variable cannot have a graph" if array.ndim == 1 else ""
        raise ShapeError(
            f"the data have {array.ndim} dimensions (shape {array.shape}); wanted two, samples in "
            f"rows and variables in columns{cure}"
        )
    labels = column_names(default_names(array.shape[1]) if names is None else names)
    if len(labels) != array.shape[1]:
        raise ShapeError(f"got {len(labels)} names for {array.shape[1]} columns")
    if array.dtype.kind in "biuf":
        return Table(labels, _floats(array))
    if array.dtype.kind == "O":
        return assemble(labels, [number_column(column) for column in array.T], len(array))
    example = f", for example {short(array.flat[0])}" if array.size else ""
    reason = f"{array.dtype}{example}"
    return Table((), np.empty((len(array), 0)), tuple(RefusedColumn(n, reason) for n in labels))


def assemble(labels: Sequence[str], columns: Sequence[FloatArray | str], n_rows: int) -> Table:
    """A table from one item per column: its numbers, or the reason why there are none."""
    good = [k for k, column in enumerate(columns) if not isinstance(column, str)]
    values = np.empty((n_rows, len(good)), order="F")
    for place, k in enumerate(good):
        values[:, place] = columns[k]
    refused = tuple(
        RefusedColumn(name, column)
        for name, column in zip(labels, columns, strict=True)
        if isinstance(column, str)
    )
    return Table(tuple(labels[k] for k in good), values, refused)


def column_names(names: Iterable[object]) -> tuple[str, ...]:
    """Names as strings, none of them empty or used twice."""
    if isinstance(names, str):
        raise ColumnNameError(f"names is the single string {names!r}; wanted one name per column")
    labels = tuple(str(name) for name in names)
    empty = [place for place, label in enumerate(labels) if not label.strip()]
    if empty:
        places = ", ".join(map(str, empty[:5]))
        raise ColumnNameError(
            f"{len(empty)} of {len(labels)} columns have no name, at position {places} from 0; "
            f"name them, or drop them if they only number the rows (drop=[{places}] when reading)"
        )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise ColumnNameError(
            f"column names are used more than once: {list_names(repeated)}; rename or drop columns",
            repeated,
        )
    return labels


def select_columns(labels: Sequence[str], columns: Columns, drop: Columns) -> list[int]:
    """Positions of the columns to take."""
    chosen = range(len(labels)) if columns is None else _positions(labels, columns)
    dropped = set(_positions(labels, drop or ()))
    return [place for place in chosen if place not in dropped]


def _positions(labels: Sequence[str], wanted: Sequence[str | int]) -> list[int]:
    """Positions of columns given by name or position."""
    if isinstance(wanted, str):
        raise ColumnNameError(f"got the single string {wanted!r}; wanted a list of column names")
    places: dict[str | int, list[int]] = {k: [k] for k in range(len(labels))}
    for k, label in enumerate(labels):
        places.setdefault(label, []).append(k)
    unknown = [str(item) for item in wanted if item not in places]
    if unknown:
        raise ColumnNameError(
            f"no such columns: {list_names(unknown)}; the table has {list_names(labels)}", unknown
        )
    return [k for item in wanted for k in places[item]]


def selected(table: Table, columns: Columns, drop: Columns) -> Table:
    """A table with some of its columns, in the order asked for; text columns come last."""
    names = [*table.names, *(column.name for column in table.refused)]
    chosen = select_columns(names, columns, drop)
    width = len(table.names)
    numeric = [k for k in chosen if k < width]
    refused = tuple(table.refused[k - width] for k in chosen if k >= width)
    if numeric == list(range(width)):
        return Table(table.names, table.values, refused)
    return Table(column_names(names[k] for k in numeric), table.values[:, numeric], refused)


def default_names(n_variables: int) -> tuple[str, ...]:
    """X0, X1, …: the column index is part of the name."""
    return tuple(f"X{index}" for index in range(n_variables))


def number_column(values: npt.NDArray[np.object_]) -> FloatArray | str:
    """Python objects as numbers, with NaN for None; or the first object that is not one."""
    result = np.empty(len(values))
    for row, value in enumerate(values):
        if value is None:
            result[row] = np.nan
        elif isinstance(value, numbers.Real | Decimal | np.bool_):
            result[row] = value
        else:
            return f"{type(value).__name__}, for example {short(value)} in row {row}"
    return result


def is_number(text: str) -> bool:
    """Whether a string spells a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def short(value: object, width: int = 40) -> str:
    """A value as it may stand in a message."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _as_array(data: Any) -> npt.NDArray[Any]:
    """The array behind what the user gave, with masked entries as NaN."""
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(data.astype(np.float64), np.nan)
    if hasattr(data, "toarray"):
        raise InputError(
            f"the data are a sparse {type(data).__name__}; pass data.toarray() instead"
        )
    if isinstance(data, dict | str | bytes) or not (
        hasattr(data, "__array__") or isinstance(data, Sequence)
    ):
        raise InputError(
            f"the data are a {type(data).__name__}; wanted an array, a list of rows, a data frame, "
            "the path of a CSV or Parquet file, or Moments"
        )
    try:
        return np.asarray(data)
    except ValueError as error:
        raise ShapeError(_ragged(data) or f"the data do not form a table: {error}") from error


def _ragged(rows: Sequence[Any]) -> str | None:
    """The first row that is not as long as row 0."""
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in rows]
    for place, length in enumerate(lengths):
        if length != lengths[0]:
            return f"row {place} has {length} values, but row 0 has {lengths[0]}; make them equal"
    return None


def _floats(array: npt.NDArray[Any]) -> FloatArray:
    """The array as native float64, itself if it is that already."""
    # Extended precision may exceed float64: the infinity that results is reported as such.
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float64)
