"""Arrays, nested sequences and data frames as tables of named float64 columns."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from qwo.errors import ColumnNameError, Cure, InputError, ShapeError, list_names
from qwo.moments.columns import column_names, default_names, select_columns
from qwo.moments.findings import Finding
from qwo.moments.kinds import Coding, Words
from qwo.options import Columns
from qwo.types import FloatArray

MANY_STRAYS = 3
"""More different words than this among the numbers of a column are no marks of missing values."""


@dataclass(frozen=True, slots=True)
class RefusedColumn:
    """A column without numbers: its name, and the type and value that show it.

    Attributes
    ----------
    name, reason : str
        The column, and what it holds.
    strays : tuple of str
        The few words that stand among numbers, as marks of missing values do.
    words : Words, optional
        The values, where they are text or categories.
    cures : tuple of Cure
        What would make the column usable.
    """

    name: str
    reason: str
    strays: tuple[str, ...] = ()
    words: Words | None = field(default=None, repr=False, compare=False)
    cures: tuple[Cure, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of numbers, missing ones as NaN, and the columns that are not numbers.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of `values`.
    values : float64 ndarray of shape (N, n)
        The numeric columns, in any memory order, and the codes of categories.
    refused : tuple of RefusedColumn
        The other columns.
    coding : Coding, optional
        What the codes stand for; None if all columns are numbers.
    order : tuple of str
        All columns as they stand in the data, where some are refused.
    notes : tuple of Finding
        What is worth knowing of how the table was read.
    """

    names: tuple[str, ...]
    values: FloatArray
    refused: tuple[RefusedColumn, ...] = ()
    coding: Coding | None = None
    order: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()

    def rows(self, chosen: Any) -> Table:
        """The table with some of its rows."""
        return replace(self, values=self.values[chosen])

    def columns(self) -> FloatArray:
        """The columns that are summed up: each category as a block of indicators."""
        return self.values if self.coding is None else self.coding.expand(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows that were read: NaN for missing values, and in columns that are not numbers.

    Attributes
    ----------
    values : ndarray of shape (k, n)
        The numbers, in any layout.
    refused : tuple of RefusedColumn
        The columns that are not numbers.
    weights : ndarray of shape (k,), optional
        How many rows each row counts for.
    """

    values: FloatArray
    refused: tuple[RefusedColumn, ...] = ()
    weights: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are still to be loaded, and how much of all data has been read once they are."""

    load: Callable[[], Rows]
    fraction: float


def table_of(data: Any, names: Sequence[object] | None = None) -> Table:
    """The table behind an array, a list of rows or a data frame."""
    if isinstance(data, Table):
        return data
    if is_frame(data):
        return table_from_frame(data, names)
    return table_from_array(data, names)


def table_from_array(data: Any, names: Sequence[object] | None = None) -> Table:
    """The table with the columns of a two-dimensional array or of a list of rows."""
    data, own = _labelled(data)
    array = _as_array(data)
    if array.ndim != 2:
        cure = "; one variable cannot have a graph" if array.ndim == 1 else ""
        raise ShapeError(
            f"the data have {array.ndim} dimensions (shape {array.shape}); wanted two, samples in "
            f"rows and variables in columns{cure}"
        )
    given = own if names is None else names
    labels = column_names(default_names(array.shape[1]) if given is None else given)
    if len(labels) != array.shape[1]:
        raise ShapeError(f"got {len(labels)} names for {array.shape[1]} columns")
    if array.dtype.kind in "biuf":
        return Table(labels, _floats(array))
    if array.dtype.kind == "O":
        objects = zip(labels, array.T, strict=True)
        return assemble(labels, [_objects(name, column) for name, column in objects], len(array))
    example = f", for example {short(array.flat[0])}" if array.size else ""
    reason = f"{array.dtype}{example}"
    refused = tuple(RefusedColumn(name, reason) for name in labels)
    return Table((), np.empty((len(array), 0)), refused, order=labels)


def assemble(
    labels: Sequence[str], columns: Sequence[FloatArray | str | RefusedColumn], n_rows: int
) -> Table:
    """A table from one item per column: its numbers, or the reason why there are none."""
    good = [k for k, column in enumerate(columns) if isinstance(column, np.ndarray)]
    values = np.empty((n_rows, len(good)), order="F")
    numeric = [column for column in columns if isinstance(column, np.ndarray)]
    for place, column in enumerate(numeric):
        values[:, place] = column
    refused = [
        RefusedColumn(name, column) if isinstance(column, str) else column
        for name, column in zip(labels, columns, strict=True)
        if not isinstance(column, np.ndarray)
    ]
    names = tuple(labels[k] for k in good)
    return Table(names, values, tuple(refused), order=tuple(labels) if refused else ())


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


def number_column(values: npt.NDArray[np.object_]) -> FloatArray | str:
    """Python objects as numbers, with NaN for None; or the first object that is not one."""
    result = np.empty(len(values))
    for row, value in enumerate(values):
        if value is None:
            result[row] = np.nan
        elif isinstance(value, numbers.Real | Decimal | np.bool_):
            try:
                result[row] = value
            except OverflowError:
                return f"{type(value).__name__} beyond float64, {short(value)}, in row {row}"
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


def _labelled(data: Any) -> tuple[Any, Sequence[object] | None]:
    """The array in a labelled array or data set of xarray, and the names of its columns."""
    if not type(data).__module__.startswith("xarray"):
        return data, None
    if hasattr(data, "data_vars"):
        names = list(data.data_vars)
        columns = [np.asarray(data[name]) for name in names]
        if any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
            raise ShapeError(
                "the variables of the xarray data set have different shapes; wanted one dimension, "
                "the samples, for all of them"
            )
        return np.stack(columns, axis=1) if columns else np.empty((0, 0)), names
    last = data.dims[-1] if data.ndim == 2 else None
    named = last is not None and last in data.coords
    return np.asarray(data), np.asarray(data.coords[last]).tolist() if named else None


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
    except (ValueError, TypeError) as error:
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


def is_frame(data: Any) -> bool:
    """Whether narwhals knows the object as a data frame."""
    if isinstance(data, np.ndarray):
        return False
    try:
        wrapped = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        return True
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame)


def frame_names(frame: Any, names: Sequence[object] | None = None) -> list[str]:
    """The names of a frame's columns, its own or those given instead."""
    own = _wrap(frame).columns
    given = [str(name) for name in (own if names is None else names)]
    if len(given) != len(own):
        raise ShapeError(f"got {len(given)} names for {len(own)} columns")
    return given


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
    given = frame_names(frame, names)
    chosen = select_columns(given, columns, drop)
    labels = column_names(given[k] for k in chosen)
    # By position, since the frame's own names need not be strings.
    series = list(wrapped.iter_columns())
    numbers_of = [_numbers(given[k], series[k]) for k in chosen]
    return assemble(labels, numbers_of, len(wrapped))


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


def _numbers(name: str, series: nw.Series[Any]) -> FloatArray | str | RefusedColumn:
    """The column as float64 with NaN for null, or why it is not numeric."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    null = series.is_null().to_numpy()
    if null.all():
        return np.full(len(series), np.nan)
    if dtype == nw.Object:
        objects = np.empty(len(series), dtype=object)
        objects[:] = series.to_list()
        objects[null] = None
        return _objects(name, objects)
    values = zip(series.to_list(), null, strict=True)
    texts = [None if missing else str(value) for value, missing in values]
    if dtype == nw.String:
        return describe_text(name, Words.of_texts(texts))
    kind = getattr(series.to_native(), "dtype", dtype) if dtype == nw.Unknown else dtype
    reason = f"{kind}, for example {short(series[int(np.argmin(null))])}"
    if dtype not in (nw.Categorical, nw.Enum):
        return reason
    return RefusedColumn(name, reason, words=_category_words(series, texts))


def _objects(name: str, objects: npt.NDArray[np.object_]) -> FloatArray | RefusedColumn:
    """Python objects as numbers; else as words, where they are plain values."""
    found = number_column(objects)
    if not isinstance(found, str):
        return found
    if not all(value is None or isinstance(value, str | numbers.Real) for value in objects):
        return RefusedColumn(name, found)
    texts = [None if value is None else str(value) for value in objects]
    return RefusedColumn(name, found, words=Words.of_texts(texts))


def _category_words(series: nw.Series[Any], texts: Sequence[str | None]) -> Words:
    """The values of a categorical column, in the order of its categories."""
    native: Any = getattr(series.to_native(), "dtype", None)
    dtype: Any = series.dtype
    pandas = hasattr(native, "ordered") and hasattr(native, "categories")
    # Elsewhere categories stand in the order in which they happened to be met.
    known = dtype == nw.Enum or pandas
    listed = (native if pandas else dtype).categories if known else dict.fromkeys(texts)
    levels = tuple(str(level) for level in listed if level is not None)
    places = {level: k for k, level in enumerate(levels)}
    codes = np.array([-1 if text is None else places[text] for text in texts], dtype=np.int64)
    ordered = pandas and bool(native.ordered)
    return Words(codes, levels, category=True, listed=known, ordered=ordered)


def describe_text(name: str, words: Words, above: int = 0) -> RefusedColumn:
    """What keeps a column of text, of which `above` rows were read before, from being numbers."""
    counts = words.counts()
    odd = [k for k, level in enumerate(words.levels) if not is_number(level)]
    n_given, n_odd = sum(counts), sum(counts[k] for k in odd)
    if not odd:
        reason = f"text that spells numbers, for example {short(words.levels[0])}"
        return RefusedColumn(name, reason, words=words)
    first = int(np.argmax(np.isin(words.codes, odd)))
    shown = short(words.levels[int(words.codes[first])])
    if n_odd == n_given:
        return RefusedColumn(name, f"text, for example {shown}", words=words)
    few = len(odd) <= MANY_STRAYS and 2 * n_odd <= n_given
    return RefusedColumn(
        name,
        f"text, since {n_odd} of {n_given} values are not numbers; the first is "
        f"{shown} in data row {above + first + 1}",
        tuple(words.levels[k] for k in odd) if few else (),
        words,
    )


def rows_of_table(table: Table, names: Sequence[str]) -> Rows:
    """The columns of these names, in this order."""
    if list(table.names) == list(names):
        return Rows(table.values)
    places = {name: k for k, name in enumerate(table.names)}
    values = np.full((len(table.values), len(names)), np.nan, order="F")
    for k, name in enumerate(names):
        if name in places:
            values[:, k] = table.values[:, places[name]]
    return Rows(values, tuple(column for column in table.refused if column.name in names))


def rows_of_arrow(table: pa.Table, names: Sequence[str], above: int = 0) -> Rows:
    """The columns of an Arrow table under these names; `above` rows were read before it."""
    values = np.empty((len(table), len(names)), order="F")
    refused: list[RefusedColumn] = []
    for k, name in enumerate(names):
        column = table.column(k)
        if _is_number(column.type):
            _fill(values[:, k], column)
            continue
        values[:, k] = np.nan
        if pa.types.is_string(column.type) and column.null_count < len(column):
            refused.append(describe_text(name, _arrow_words(column), above))
            continue
        odd = table_from_frame(pa.table([column], names=[name]))
        refused.extend(odd.refused)
        if odd.names:
            values[:, k] = odd.values[:, 0]
    return Rows(values, tuple(refused))


def _arrow_words(column: pa.ChunkedArray) -> Words:
    """Strings as levels, in the order in which they appear."""
    coded = pc.dictionary_encode(column.combine_chunks())
    codes = _as_numpy(pc.fill_null(coded.indices, -1))
    return Words(codes.astype(np.int64), tuple(coded.dictionary.to_pylist()))


def _fill(target: FloatArray, column: pa.ChunkedArray) -> None:
    start = 0
    for chunk in column.chunks:
        plain = pc.cast(chunk, pa.float64(), safe=False)
        if plain.null_count:
            plain = pc.fill_null(plain, math.nan)
        target[start : start + len(plain)] = _as_numpy(plain)
        start += len(plain)


def _as_numpy(whole: pa.Array) -> npt.NDArray[Any]:
    """The values of an array without gaps.

    ``Array.to_numpy`` imports pandas first. That takes longer than to read a small table, and
    forgets a Ctrl-C that comes meanwhile.
    """
    return np.from_dlpack(whole)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )
