"""Parquet files, folders of them, and datasets of pyarrow, read in batches of rows.

Only the columns that are wanted are decoded, in pyarrow's own threads, and never more than a batch
of rows at a time, however large the row groups are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from qwo.errors import FileFormatError
from qwo.moments.arrays import Batch, Rows, is_number, rows_of_arrow
from qwo.moments.findings import Finding
from qwo.moments.text_files import fractions, places_in

THREADED_ROWS, THREADED_PROCESSORS = 1 << 14, 5
"""From how many rows of a batch on, or processors, Parquet is decoded in threads. Their task is one
column of a batch, and to begin it takes as long as to decode two thousand numbers."""

BUFFER = 1 << 18
"""Bytes of each column of a Parquet file that are read ahead."""

INDEX = "__index_level_0__"
"""What pandas calls an index without a name in a Parquet file."""

BROKEN = (pa.ArrowException, OSError, ValueError, EOFError)
"""What a damaged file makes pyarrow raise."""


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns, and columns that the folders' names give."""

    files: tuple[Path, ...]
    root: Path | None = None

    @cached_property
    def names(self) -> Sequence[str]:
        """The columns of the first file, then those of the folders."""
        stored = _open_parquet(self.files[0]).schema_arrow.names
        return [*(name for name in stored if name != INDEX), *self._keys(self.files[0])]

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Nothing."""
        return ()

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
                    table = _with_keys(pa.Table.from_batches([batch]), keys, wanted)
                    load = _loader(table, wanted, done)
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


def _loader(table: pa.Table, names: Sequence[str], above: int) -> Callable[[], Rows]:
    def load() -> Rows:
        try:
            return rows_of_arrow(table, names, above)
        except BROKEN as error:
            raise FileFormatError(f"the Parquet data cannot be read: {error}") from error

    return load


def _with_keys(table: pa.Table, keys: dict[str, str], wanted: Sequence[str]) -> pa.Table:
    """The columns wanted, in order, with the folders' values as numbers where they are."""
    for name in wanted:
        if name in keys:
            value = float(keys[name]) if is_number(keys[name]) else keys[name]
            table = table.append_column(name, pa.repeat(value, table.num_rows))
    return table.select(list(wanted))


def _open_parquet(file: Path) -> pq.ParquetFile:
    try:
        # Without a buffer, or with all of it at once, whole row groups would be held in memory.
        return pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER)
    except BROKEN as error:
        raise FileFormatError(f"{file} is not a readable Parquet file: {error}") from error


def is_dataset(source: Any) -> bool:
    """Whether this is a dataset of pyarrow, whose module brings pandas and is slow to import."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


@dataclass(frozen=True)
class ArrowDataset:
    """A dataset of pyarrow, on whatever file system and with whatever partitions it has."""

    dataset: Any

    @cached_property
    def names(self) -> Sequence[str]:
        """The names in the schema."""
        return list(self.dataset.schema.names)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Nothing."""
        return ()

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Batches of rows; pyarrow decodes a row group at a time."""
        wanted = [self.names[k] for k in columns]
        done, total = 0, max(self.dataset.count_rows(), 1)
        for batch in self.dataset.to_batches(
            columns=wanted, batch_size=n_rows, batch_readahead=2, fragment_readahead=1
        ):
            load = _loader(pa.Table.from_batches([batch]), wanted, done)
            done += batch.num_rows
            yield Batch(load, done / total)
