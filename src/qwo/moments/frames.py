"""Data frames of pandas, polars, pyarrow and others as tables, through narwhals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from qwo.errors import ColumnNameError, InputError, ShapeError, list_names
from qwo.moments.arrays import (
    Columns,
    Table,
    assemble,
    column_names,
    is_number,
    number_column,
    select_columns,
    short,
)
from qwo.types import FloatArray


def is_frame(data: Any) -> bool:
    """Whether narwhals knows the object as a data frame."""
    try:
        wrapped = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        return True
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame)


def table_from_frame(
    frame: Any,
    names: Sequence[object] | None = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
) -> Table:
    """The table with the columns of a data frame.

    Parameters
    ----------
    frame : data frame
        An eager frame of any library that narwhals knows.
    names : sequence, optional
        One name per column, instead of the frame's own.
    columns, drop : sequence of names or positions, optional
        The columns to take, in this order, and those to leave out.
    """
    wrapped = _wrap(frame)
    given = [str(name) for name in (wrapped.columns if names is None else names)]
    if len(given) != len(wrapped.columns):
        raise ShapeError(f"got {len(given)} names for {len(wrapped.columns)} columns")
    chosen = select_columns(given, columns, drop)
    labels = column_names(given[k] for k in chosen)
    # By position, since the frame's own names need not be strings.
    series = list(wrapped.iter_columns())
    return assemble(labels, [_numbers(series[k]) for k in chosen], len(wrapped))


def _wrap(frame: Any) -> nw.DataFrame[Any]:
    """The frame behind narwhals' interface."""
    try:
        wrapped = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        labels = getattr(frame, "column_names", None) or list(frame.columns)
        repeated = [str(name) for name, count in Counter(labels).items() if count > 1]
        raise ColumnNameError(
            f"column names are used more than once: {list_names(repeated)}; rename or drop columns",
            repeated,
        ) from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(f"the data are a lazy {type(frame).__name__}; pass data.collect() instead")
    if not isinstance(wrapped, nw.DataFrame):
        raise InputError(
            f"the data are a {type(frame).__name__}; wanted a pandas, polars or pyarrow data frame"
        )
    return wrapped


def _numbers(series: nw.Series[Any]) -> FloatArray | str:
    """The column as float64 with NaN for null, or why it is not numeric."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    null = series.is_null().to_numpy()
    if null.all():
        return np.full(len(series), np.nan)
    if dtype == nw.Object:
        objects = np.array(series.to_list(), dtype=object)
        objects[null] = None
        return number_column(objects)
    if dtype == nw.String:
        values = zip(series.to_list(), null, strict=True)
        return _describe_text([None if missing else value for value, missing in values])
    kind = getattr(series.to_native(), "dtype", dtype) if dtype == nw.Unknown else dtype
    return f"{kind}, for example {short(series[int(np.argmin(null))])}"


def _describe_text(values: Sequence[str | None]) -> str:
    """What keeps a column of text from being numbers."""
    given = [value for value in values if value is not None]
    words = [value for value in given if not is_number(value)]
    if not words:
        return f"text that spells numbers, for example {short(given[0])}"
    if len(words) == len(given):
        return f"text, for example {short(words[0])}"
    return (
        f"text, since {len(words)} of {len(given)} values are not numbers; the first is "
        f"{short(words[0])} in data row {values.index(words[0]) + 1}"
    )
