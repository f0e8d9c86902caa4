"""Files, folders and datasets of any size as a series of pieces: batches of rows.

A piece is loaded where it is worked on, so that text is parsed by all workers at once; Parquet is
decoded column by column in pyarrow's own threads, and never more than a batch of rows at a time,
however large the row groups are.
"""

from __future__ import annotations

import dataclasses
import glob
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from qwo.errors import ColumnNameError, FileFormatError, MissingFileError, list_names
from qwo.moments.arrays import Columns, Table, column_names, is_number, select_columns
from qwo.moments.files import CsvFormat, CsvText, existing_file, open_csv
from qwo.moments.frames import table_from_frame
from qwo.moments.tables import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    file_format,
    known_format,
)

GLOB_MARKS = "*?["
WHOLE_ROWS = 1 << 16
"""Rows in a piece where all pieces are kept."""

THREADED_ROWS, THREADED_PROCESSORS = 1 << 14, 5
"""From how many rows of a batch on, or processors, Parquet is decoded in threads. Their task is one
column of a batch, and to begin it takes as long as to decode two thousand numbers."""

BUFFER = 1 << 18
"""Bytes of each column of a Parquet file that are read ahead."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A batch of rows that is still to be loaded, as a pyarrow table of the columns wanted.

    Attributes
    ----------
    load : callable
        Gives the table.
    fraction : float
        How much of all data has been read once this piece has.
    """

    load: Callable[[], pa.Table]
    fraction: float


class Pieces(Protocol):
    """Data that come in pieces."""

    @property
    def names(self) -> Sequence[str]:
        """The names of all columns, as they stand in the first file."""
        ...

    def read(self, columns: Sequence[int], n_rows: int) -> Iterator[Piece]:
        """The pieces, with these columns in this order, of about so many rows."""
        ...


def find_pieces(source: Any, form: CsvFormat) -> Pieces:
    """The pieces of a file, a folder, a pattern such as ``"part-*.csv"``, a list, or a dataset.

    Parameters
    ----------
    source : str, path, list of them, or pyarrow.dataset.Dataset
        Files are told by their suffixes and must all be of one kind; a folder is searched to the
        bottom, and ``name=value`` folders in it give columns, as Hive writes them.
    form : CsvFormat
        How text files are written.
    """
    if _is_dataset(source):
        return ArrowDataset(source)
    files, root = _find_files(source)
    kinds = {file_format(file) for file in files}
    if len(kinds) > 1:
        raise FileFormatError(
            f"{source} holds text and Parquet files ({files[0].name!r}, …); wanted one kind"
        )
    if kinds == {"parquet"}:
        return ParquetFiles(tuple(files), root)
    return CsvFiles(tuple(files), form)


def _is_dataset(source: Any) -> bool:
    """Whether this is a dataset of pyarrow, whose module brings pandas and is slow to import."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


def is_collection(source: Any) -> bool:
    """Whether a source can only be read in pieces: a folder, a pattern, a list of files."""
    if _is_dataset(source):
        return True
    if isinstance(source, str | PathLike):
        path = Path(source)
        return path.is_dir() or (_is_pattern(source) and not path.exists())
    return (
        isinstance(source, Sequence)
        and len(source) > 0
        and all(isinstance(item, str | PathLike) for item in source)
    )


def table_from_pieces(pieces: Pieces, columns: Columns, drop: Columns) -> Table:
    """All pieces as one table in memory."""
    names = list(pieces.names)
    chosen = select_columns(names, columns, drop)
    tables = [piece.load() for piece in pieces.read(chosen, WHOLE_ROWS)]
    labels = [names[k] for k in chosen]
    if not tables:
        return Table(column_names(labels), np.empty((0, len(labels))))
    plain = [table.rename_columns([str(k) for k in range(len(labels))]) for table in tables]
    whole = pa.concat_tables(plain, promote_options="permissive")
    return table_from_frame(whole, labels)


def _is_pattern(source: str | PathLike[str]) -> bool:
    return any(mark in str(source) for mark in GLOB_MARKS)


def _find_files(source: Any) -> tuple[list[Path], Path | None]:
    """The files in order of their names, and the folder under which name=value folders count."""
    if not isinstance(source, str | PathLike):
        return [existing_file(item) for item in source], None
    path = Path(source)
    if path.is_dir():
        found = sorted(
            file
            for file in path.rglob("*")
            if known_format(file) and file.is_file() and not file.name.startswith((".", "_"))
        )
        if not found:
            raise MissingFileError(
                f"the folder {str(path)!r} holds no files that end in one of "
                f"{', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}"
            )
        return found, path
    if _is_pattern(source) and not path.exists():
        # Path.glob takes a pattern below a folder only, while this one may be absolute.
        found = [Path(name) for name in sorted(glob.glob(str(source), recursive=True))]  # noqa: PTH207
        if not found:
            raise MissingFileError(
                f"no file matches {str(source)!r} (looked from {Path.cwd()}); check the pattern"
            )
        return found, None
    return [existing_file(path)], None


def _fractions(files: Sequence[Path]) -> list[tuple[float, float]]:
    """Where each file begins and ends in the whole, by its size."""
    sizes = [max(file.stat().st_size, 1) for file in files]
    ends = [sum(sizes[: k + 1]) / sum(sizes) for k in range(len(sizes))]
    return list(zip([0.0, *ends[:-1]], ends, strict=True))


def _places(file: Path, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns stand in a file."""
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ColumnNameError(
            f"{file} lacks columns that the first file has: {list_names(lacking)}; it has "
            f"{list_names(names)}",
            lacking,
        )
    return [names.index(name) for name in wanted]


@dataclass(frozen=True)
class CsvFiles:
    """Text files with the same columns."""

    files: tuple[Path, ...]
    form: CsvFormat

    @cached_property
    def names(self) -> Sequence[str]:
        """The names in the first line of the first file."""
        return open_csv(self.files[0], self.form)[0]

    def read(self, columns: Sequence[int], n_rows: int) -> Iterator[Piece]:
        """Blocks of lines, to be parsed by whoever loads them."""
        names = self.names
        wanted = [names[k] for k in columns]
        for file, (start, stop) in zip(self.files, _fractions(self.files), strict=True):
            own, text = open_csv(file, self.form)
            places = columns if list(own) == list(names) else _places(file, list(own), wanted)
            text = dataclasses.replace(text, chosen=tuple(places))
            size = file.stat().st_size
            done = 0
            # Lines may hold much besides the columns wanted: text is measured by what was planned.
            for block in text.blocks(8 * n_rows * max(len(columns), 1)):
                done += len(block.content or b"")
                share = min(done / max(size, 1), 1.0)
                yield Piece(_loader(block), start + share * (stop - start))


def _loader(block: CsvText) -> Callable[[], pa.Table]:
    return block.columns


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns, and columns that the folders' names give."""

    files: tuple[Path, ...]
    root: Path | None = None

    @cached_property
    def names(self) -> Sequence[str]:
        """The columns of the first file, then those of the folders."""
        return [*_open_parquet(self.files[0]).schema_arrow.names, *self._keys(self.files[0])]

    def read(self, columns: Sequence[int], n_rows: int) -> Iterator[Piece]:
        """Batches of rows."""
        names = self.names
        wanted = [names[k] for k in columns]
        for file, (start, stop) in zip(self.files, _fractions(self.files), strict=True):
            keys = self._keys(file)
            parquet = _open_parquet(file)
            _places(file, [*parquet.schema_arrow.names, *keys], wanted)
            total, done = max(parquet.metadata.num_rows, 1), 0
            stored = [name for name in wanted if name not in keys]
            threads = n_rows >= THREADED_ROWS or pa.cpu_count() >= THREADED_PROCESSORS
            try:
                for batch in parquet.iter_batches(n_rows, columns=stored, use_threads=threads):
                    done += batch.num_rows
                    table = _with_keys(pa.Table.from_batches([batch]), keys, wanted)
                    yield Piece(_constant(table), start + done / total * (stop - start))
            except pa.ArrowException as error:
                raise FileFormatError(f"{file} cannot be read: {error}") from error

    def _keys(self, file: Path) -> dict[str, str]:
        """The columns that folders of the form name=value stand for."""
        if self.root is None:
            return {}
        folders = file.relative_to(self.root).parts[:-1]
        pairs = [folder.partition("=") for folder in folders if "=" in folder]
        return {name: value for name, _, value in pairs}


def _constant(table: pa.Table) -> Callable[[], pa.Table]:
    return lambda: table


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
    except pa.ArrowInvalid as error:
        raise FileFormatError(f"{file} is not a readable Parquet file: {error}") from error


@dataclass(frozen=True)
class ArrowDataset:
    """A dataset of pyarrow, on whatever file system and with whatever partitions it has."""

    dataset: Any

    @cached_property
    def names(self) -> Sequence[str]:
        """The names in the schema."""
        return list(self.dataset.schema.names)

    def read(self, columns: Sequence[int], n_rows: int) -> Iterator[Piece]:
        """Batches of rows; pyarrow decodes a row group at a time."""
        wanted = [self.names[k] for k in columns]
        total = max(self.dataset.count_rows(), 1)
        done = 0
        for batch in self.dataset.to_batches(
            columns=wanted, batch_size=n_rows, batch_readahead=2, fragment_readahead=1
        ):
            done += batch.num_rows
            yield Piece(_constant(pa.Table.from_batches([batch])), done / total)
