"""Tables in memory, Parquet files and datasets: Arrow columns, or arrays of numbers as they are.

Of Parquet only the columns that are wanted are decoded, in pyarrow's own threads, and never more
than a batch of rows at a time, however large the row groups are.
"""

# Long because frames and arrays have many ways of not being a table of numbers.

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from qwo.columns.levels import RefusedColumn, Rows, Words, in_order_of, of_times, short
from qwo.columns.recipes import PLAIN, Coding, column_names, is_number
from qwo.errors import ColumnNameError, FileFormatError, InputError, ShapeError, list_names
from qwo.inspection.audit import Finding
from qwo.moments.sums import Batch
from qwo.names import default_names
from qwo.types import FloatArray, Indices

if TYPE_CHECKING:
    import narwhals as nw

THREADED_ROWS, THREADED_PROCESSORS = 1 << 14, 5
"""From how many rows of a batch on, or processors, Parquet is decoded in threads. Their task is one
column of a batch, and to begin it takes as long as to decode two thousand numbers."""

BUFFER = 1 << 18
"""Bytes of each column of a Parquet file that are read ahead."""

INDEX = "__index_level_0__"
"""What pandas calls an index without a name in a Parquet file."""

BROKEN = (pa.ArrowException, OSError, ValueError, EOFError)
"""What a damaged file makes pyarrow raise."""

Column = Any
"""A column as it was read: Arrow's, an array of numbers, or one that is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of numbers, missing ones as NaN, and the columns that are not numbers.

    names, values: the numeric columns, in any memory order, and the codes of categories.
    refused: the other columns; order: all as they stand in the data, where some are refused.
    coding: what the codes stand for; notes: what is worth knowing of how the table was read.
    clusters: the number of the cluster that each row belongs to, where rows belong together.
    """

    names: tuple[str, ...]
    values: FloatArray
    refused: tuple[RefusedColumn, ...] = ()
    coding: Coding = PLAIN
    order: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()
    clusters: Indices | None = None

    def __post_init__(self) -> None:
        if not self.coding.variables:
            object.__setattr__(self, "coding", Coding.plain(len(self.names)))

    def rows(self, chosen: Any) -> Table:
        """The table with some of its rows."""
        own = None if self.clusters is None else self.clusters[chosen]
        return replace(self, values=self.values[chosen], clusters=own)

    def columns(self) -> FloatArray:
        """The columns that are summed up: each category as a block of indicators."""
        return self.coding.columns(self.values)


@dataclass
class InMemory:
    """A table in memory: its names, a function that gives some of its columns, and its rows."""

    names: Sequence[str]
    rows: Callable[[Sequence[int]], Rows]
    n_rows: float
    notes: tuple[Finding, ...] = ()

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """All rows at once, however many are asked for."""
        del n_rows
        yield Batch(lambda: self.rows(columns))


def open_memory(data: Any, names: Sequence[object] | None = None) -> InMemory:
    """The reader of an array, a list of rows, a data frame or a table."""
    if isinstance(data, Table):
        return _open_table(data)
    if is_frame(data):
        return _open_frame(data, names)
    data, own = _labelled(data)
    array = _as_array(data)
    if array.ndim != 2:
        cure = "; one variable cannot have a graph" if array.ndim == 1 else ""
        raise ShapeError(
            f"the data have {array.ndim} dimensions (shape {array.shape}); wanted two, samples in "
            f"rows and variables in columns{cure}"
        )
    n_rows, width = array.shape
    given = own if names is None else names
    labels = column_names(default_names(width) if given is None else given)
    check_count(labels, width)
    if array.dtype.kind in "biuf":
        # Extended precision may exceed float64: the infinity that results is reported as such.
        with np.errstate(over="ignore"):
            values = np.asarray(array, dtype=np.float64)
        every = list(range(width))
        return InMemory(
            labels, lambda k: Rows(values if list(k) == every else values[:, list(k)]), n_rows
        )
    if array.dtype.kind == "O":
        columns: list[Column] = [_objects(labels[k], array[:, k]) for k in range(width)]
    else:
        example = f", for example {short(array.flat[0])}" if array.size else ""
        columns = [RefusedColumn(name, f"{array.dtype}{example}") for name in labels]
    return InMemory(
        labels, lambda k: rows_of([columns[j] for j in k], [labels[j] for j in k], n_rows), n_rows
    )


def check_count(names: Sequence[object], width: int) -> None:
    """See that there is a name for each column."""
    if len(names) != width:
        raise ShapeError(f"got {len(names)} names for {width} columns")


def table_of(data: Any, names: Sequence[object] | None = None) -> Table:
    """The table behind an array, a list of rows or a data frame."""
    if isinstance(data, Table):
        return data
    reader = open_memory(data, names)
    labels = column_names(reader.names)
    rows = reader.rows(range(len(labels)))
    odd = {column.name for column in rows.refused}
    good = [k for k, name in enumerate(labels) if name not in odd]
    values = rows.values[:, good] if odd else rows.values
    own = tuple(labels[k] for k in good)
    return Table(own, values, rows.refused, order=labels if odd else ())


def rows_of(columns: Sequence[Column], names: Sequence[str], n_rows: int, above: int = 0) -> Rows:
    """Columns under these names as a batch of rows; `above` rows were read before it."""
    values = np.empty((n_rows, len(names)), order="F")
    refused: list[RefusedColumn] = []
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        own = column
        if isinstance(own, pa.ChunkedArray) and not _fill(values[:, k], own):
            own = _of_arrow(name, own, above)
        if isinstance(own, RefusedColumn):
            refused.append(own)
            values[:, k] = np.nan
        elif isinstance(own, np.ndarray):
            values[:, k] = own
    return Rows(values, tuple(refused))


def _fill(target: FloatArray, column: pa.ChunkedArray) -> bool:
    """Write numbers to an array, NaN for null; False if the column has none."""
    kind, types = column.type, pa.types
    real = types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)
    if not (real or types.is_boolean(kind)):
        return False
    start = 0
    for chunk in column.chunks:
        plain = pc.cast(chunk, pa.float64(), safe=False)
        if plain.null_count:
            plain = pc.fill_null(plain, math.nan)
        # ``Array.to_numpy`` imports pandas first. That takes longer than to read a small table, and
        # forgets a Ctrl-C that comes meanwhile.
        target[start : start + len(plain)] = np.from_dlpack(plain)
        start += len(plain)
    return True


def _of_arrow(name: str, column: pa.ChunkedArray, above: int) -> FloatArray | RefusedColumn:
    """A column of text as its words; what else is no number, as its frame tells it."""
    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not text:
        import narwhals as nw

        [series] = nw.from_native(pa.table([column], names=[name])).iter_columns()
        odd = _of_series(name, series)
        return odd if not isinstance(odd, pa.ChunkedArray) else _of_arrow(name, odd, above)
    coded = pc.dictionary_encode(column.combine_chunks())
    codes = np.from_dlpack(pc.fill_null(coded.indices, -1)).astype(np.int64)
    return RefusedColumn.of_text(name, Words(codes, tuple(coded.dictionary.to_pylist())), above)


def _open_table(table: Table) -> InMemory:
    places = {name: k for k, name in enumerate(table.names)}
    refused = {column.name: column for column in table.refused}
    names = table.order or table.names
    every = list(range(len(table.names)))

    def rows(columns: Sequence[int]) -> Rows:
        if list(columns) == every and not table.order:
            return Rows(table.values)
        own: list[Column] = [
            table.values[:, places[name]] if name in places else refused[name]
            for name in (names[k] for k in columns)
        ]
        return rows_of(own, [names[k] for k in columns], len(table.values))

    return InMemory(names, rows, len(table.values))


def is_frame(data: Any) -> bool:
    """Whether narwhals knows the object as a data frame."""
    if isinstance(data, np.ndarray | str | list | tuple | dict):
        return False
    import narwhals as nw

    try:
        wrapped = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        return True
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame)


def _open_frame(frame: Any, names: Sequence[object] | None = None) -> InMemory:
    """The reader of an eager frame of any library that narwhals knows."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError:
        column_names(getattr(frame, "column_names", None) or list(frame.columns))
        raise
    if isinstance(wrapped, nw.LazyFrame):
        how = "compute" if hasattr(frame, "compute") else "collect"
        raise InputError(f"the data are a lazy {type(frame).__name__}; pass data.{how}() instead")
    assert isinstance(wrapped, nw.DataFrame)
    given = [str(name) for name in (wrapped.columns if names is None else names)]
    check_count(given, len(wrapped.columns))
    # By position, since the frame's own names need not be strings.
    native: Any = wrapped.to_native()
    if nw.dependencies.is_pandas_dataframe(native) and all(map(_plain_number, native.dtypes)):
        return InMemory(given, lambda k: Rows(_of_numbers(native, k)), len(native))
    series, n_rows = list(wrapped.iter_columns()), len(wrapped)

    def rows(columns: Sequence[int]) -> Rows:
        labels = [given[k] for k in columns]
        return rows_of([_of_series(given[k], series[k]) for k in columns], labels, n_rows)

    return InMemory(given, rows, n_rows)


def _plain_number(dtype: Any) -> bool:
    """Whether the column of a pandas frame is an array of numbers."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _of_numbers(frame: Any, columns: Sequence[int]) -> FloatArray:
    """Some columns of a pandas frame of numbers, which costs some microseconds for all together."""
    with np.errstate(over="ignore"):
        return np.asfortranarray(frame.iloc[:, list(columns)].to_numpy(dtype=np.float64))


def _of_series(name: str, series: nw.Series[Any]) -> Column:
    """The column as float64 with NaN for null, as Arrow's text, or why it is neither."""
    import narwhals as nw

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
    if dtype == nw.String:
        return pa.chunked_array([series.to_arrow()]).cast(pa.string())
    kind = getattr(series.to_native(), "dtype", dtype) if dtype == nw.Unknown else dtype
    reason, cures = f"{kind}, for example {short(series[int(np.argmin(null))])}", []
    if dtype.is_temporal():
        reason = of_times(str(series[int(np.argmin(null))]).removesuffix(" 00:00:00"))
        cures = [in_order_of(name)]
    pairs = zip(series.to_list(), null, strict=True)
    texts = [None if missing else str(value).removesuffix(" 00:00:00") for value, missing in pairs]
    if dtype not in (nw.Categorical, nw.Enum):
        return RefusedColumn(name, reason, labels=Words.of_texts(texts), cures=tuple(cures))
    return RefusedColumn(name, reason, words=_categories(series, texts))


def _categories(series: nw.Series[Any], texts: Sequence[str | None]) -> Words:
    """The values of a categorical column, in the order of its categories."""
    native: Any = getattr(series.to_native(), "dtype", None)
    dtype: Any = series.dtype
    pandas = hasattr(native, "ordered") and hasattr(native, "categories")
    # Elsewhere categories stand in the order in which they happened to be met.
    known = str(dtype).startswith("Enum") or pandas
    listed = (native if pandas else dtype).categories if known else dict.fromkeys(texts)
    levels = tuple(str(level) for level in listed if level is not None)
    places = {level: k for k, level in enumerate(levels)}
    codes = np.array([-1 if text is None else places[text] for text in texts], dtype=np.int64)
    ordered = pandas and bool(native.ordered)
    return Words(codes, levels, category=True, listed=known, ordered=ordered)


def _objects(name: str, objects: npt.NDArray[np.object_]) -> FloatArray | RefusedColumn:
    """Python objects as numbers, NaN for None; else as words, where they are plain values."""
    result, reason = np.empty(len(objects)), ""
    for row, value in enumerate(objects):
        if value is None:
            result[row] = np.nan
        elif isinstance(value, numbers.Real | Decimal | np.bool_):
            try:
                result[row] = value
            except OverflowError:
                reason = f"{type(value).__name__} beyond float64, {short(value)}, in row {row}"
                break
        else:
            reason = f"{type(value).__name__}, for example {short(value)} in row {row}"
            break
    if not reason:
        return result
    words = Words.of_texts([None if value is None else str(value) for value in objects])
    if not all(value is None or isinstance(value, str | numbers.Real) for value in objects):
        return RefusedColumn(name, reason, labels=words)
    return RefusedColumn(name, reason, words=words)


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
            f"the data are of type {type(data).__name__}; wanted an array, a list of rows, a data "
            "frame, the path of a CSV or Parquet file, or Moments"
        )
    try:
        return np.asarray(data)
    except (ValueError, TypeError) as error:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in data]
        odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise ShapeError(f"the data do not form a table: {error}") from error
        raise ShapeError(
            f"row {odd} has {lengths[odd]} values, but row 0 has {lengths[0]}; make them equal"
        ) from error


def is_dataset(source: Any) -> bool:
    """Whether this is a dataset of pyarrow, whose module brings pandas and is slow to import."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


class ArrowDataset:
    """A dataset of pyarrow, on whatever file system and with whatever partitions it has."""

    n_rows = math.inf
    notes: tuple[Finding, ...] = ()

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.names: Sequence[str] = list(dataset.schema.names)

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Batches of rows; pyarrow decodes a row group at a time."""
        wanted = [self.names[k] for k in columns]
        done, total = 0, max(self.dataset.count_rows(), 1)
        for batch in self.dataset.to_batches(
            columns=wanted, batch_size=n_rows, batch_readahead=2, fragment_readahead=1
        ):
            above, done = done, done + batch.num_rows
            yield Batch(_loader(pa.Table.from_batches([batch]), wanted, above), done / total)


def _loader(table: pa.Table, names: Sequence[str], above: int) -> Callable[[], Rows]:
    def load() -> Rows:
        try:
            return rows_of(table.columns, names, len(table), above)
        except BROKEN as error:
            raise FileFormatError(f"the Parquet data cannot be read: {error}") from error

    return load


def fractions(files: Sequence[Path]) -> list[tuple[float, float]]:
    """Where each file begins and ends in the whole, by its size."""
    sizes = [max(file.stat().st_size, 1) for file in files]
    ends = [sum(sizes[: k + 1]) / sum(sizes) for k in range(len(sizes))]
    return list(zip([0.0, *ends[:-1]], ends, strict=True))


def places_in(file: Path, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns stand in a file."""
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ColumnNameError(
            f"{file} lacks columns that the first file has: {list_names(lacking)}; it has "
            f"{list_names(names)}",
            lacking,
        )
    return [names.index(name) for name in wanted]


class ParquetFiles:
    """Parquet files with the same columns, and columns that the folders' names give."""

    n_rows = math.inf
    notes: tuple[Finding, ...] = ()

    def __init__(self, files: Sequence[Path], root: Path | None = None) -> None:
        self.files, self.root = files, root
        stored = _open_parquet(files[0]).schema_arrow.names
        own = [name for name in stored if name != INDEX]
        self.names: Sequence[str] = [*own, *self._keys(files[0])]

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Batches of rows."""
        wanted = [self.names[k] for k in columns]
        for file, (start, stop) in zip(self.files, fractions(self.files), strict=True):
            keys = self._keys(file)
            parquet = _open_parquet(file)
            places_in(file, [*parquet.schema_arrow.names, *keys], wanted)
            total, done = max(parquet.metadata.num_rows, 1), 0
            stored = [name for name in wanted if name not in keys]
            threads = n_rows >= THREADED_ROWS or pa.cpu_count() >= THREADED_PROCESSORS
            try:
                for batch in parquet.iter_batches(n_rows, columns=stored, use_threads=threads):
                    table = pa.Table.from_batches([batch])
                    for name, value in keys.items():
                        if name in wanted:
                            own = float(value) if is_number(value) else value
                            table = table.append_column(name, pa.repeat(own, table.num_rows))
                    load = _loader(table.select(wanted), wanted, done)
                    done += batch.num_rows
                    yield Batch(load, start + done / total * (stop - start))
            except BROKEN as error:
                raise FileFormatError(f"{file} cannot be read: {error}") from error

    def _keys(self, file: Path) -> dict[str, str]:
        """The columns that folders of the form name=value stand for."""
        if self.root is None:
            return {}
        folders = file.relative_to(self.root).parts[:-1]
        pairs = [folder.partition("=") for folder in folders if "=" in folder]
        return {name: value for name, _, value in pairs}


def _open_parquet(file: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        # Without a buffer, or with all of it at once, whole row groups would be held in memory.
        return pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER)
    except BROKEN as error:
        raise FileFormatError(f"{file} is not a readable Parquet file: {error}") from error
