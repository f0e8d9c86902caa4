"""Whatever the user calls data, of whatever size and wherever it is, as audited moments.

One table of cases: saved moments, a covariance matrix, a Dask collection, files that are read in
pieces, and tables in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

import numpy as np
import pyarrow.parquet as pq

from qwo.errors import ArgumentError, FileFormatError, list_names
from qwo.moments.arrays import Columns, Table, select_columns, selected
from qwo.moments.audit import Missing
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, estimator_name
from qwo.moments.distributed import is_dask, survey_dask
from qwo.moments.estimation import Estimate, estimate_moments
from qwo.moments.files import CsvFormat, existing_file, table_from_csv, table_from_parquet
from qwo.moments.findings import Audit
from qwo.moments.frames import table_from_frame
from qwo.moments.matrices import sample_from_covariance
from qwo.moments.matrix_files import is_matrix_file, read_matrix
from qwo.moments.pieces import (
    CsvFiles,
    ParquetFiles,
    Pieces,
    find_pieces,
    is_collection,
    table_from_pieces,
)
from qwo.moments.plan import physical_memory
from qwo.moments.streaming import RowPolicy, StreamSurvey, Watch, Weights, survey_pieces
from qwo.moments.tables import COMPRESSIONS, as_table, file_format, table_from_file
from qwo.moments.transforms import Transform, can_stream, transformed

MEMORY_SHARE = 0.25
"""Share of the machine's memory that a table may take before it is read in pieces instead."""

EXPANSION = 5
"""How much larger than its file a compressed text file is, roughly."""


class ReadArguments(TypedDict, total=False):
    """The keyword arguments of whatever reads data; `ReadOptions` says what each means."""

    columns: Columns
    drop: Columns
    transform: Transform
    missing: Missing
    covariance_estimator: str | Any
    separator: str | None
    decimal: str
    header: bool
    null_values: Sequence[str]
    weights: Weights
    memory_limit: int | str | None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read of a source, and what to do with it.

    Attributes
    ----------
    names : sequence, optional
        One name per column of an array or frame, instead of those that it has. Not for files.
    columns, drop : sequence of names or positions, optional
        The columns to take, in this order, and those to leave out.
    transform : str or mapping, optional
        ``"log"``, ``"log1p"``, ``"rank-normal"`` or ``"standardise"`` for all columns, or a mapping
        from column names to these.
    missing : {"raise", "drop", "em"}
        Whether missing and infinite values are an error, their rows are left out, or the moments
        are those of largest Gaussian likelihood given all that the rows have.
    covariance_estimator : str or object
        ``"plain"``, ``"ledoit-wolf"``, ``"oas"``, or a covariance estimator of scikit-learn.
    separator, decimal, header, null_values
        How a text file is written, as for `Moments.from_csv`.
    weights : name, position or array, optional
        How many rows each row counts for.
    memory_limit : int or str, optional
        Bytes to keep within while reading.
    n_jobs : int
        Threads; their number does not change the result.
    progress : callable, optional
        Gets a `qwo.moments.streaming.StreamProgress` after each piece.
    """

    names: Sequence[object] | None = None
    columns: Columns = None
    drop: Columns = None
    transform: Transform = None
    missing: Missing = "raise"
    covariance_estimator: str | Any = "plain"
    separator: str | None = None
    decimal: str = "."
    header: bool = True
    null_values: Sequence[str] = ()
    weights: Weights = None
    memory_limit: int | str | None = None
    n_jobs: int | None = -1
    progress: Watch | None = None

    @property
    def form(self) -> CsvFormat:
        """How text files are written."""
        return CsvFormat(self.separator, self.decimal, self.header, self.null_values)

    @property
    def streams(self) -> bool:
        """Whether one pass over the rows is enough."""
        return (
            self.missing != "em"
            and estimator_name(self.covariance_estimator) == "plain"
            and can_stream(self.transform)
        )


def estimate_source(source: Any, request: ReadOptions) -> Estimate:
    """Audited moments of a table, in memory or not; a matrix goes by `estimate_matrix`.

    Raises
    ------
    InputError
        If the data cannot be used.
    """
    if is_dask(source):
        return _estimate_dask(source, request)
    if request.weights is not None:
        return estimate_pieces(_weighted_pieces(source, request.form), request)
    if request.streams and reads_in_pieces(source):
        return estimate_pieces(find_pieces(source, request.form), request)
    table = transformed(read_source(source, request), request.transform)
    return estimate_moments(table, request.covariance_estimator, request.missing)


def estimate_frame(frame: Any, request: ReadOptions) -> Estimate:
    """Audited moments of a data frame, and of nothing else."""
    if is_dask(frame):
        return _estimate_dask(frame, request)
    table = table_from_frame(frame, columns=request.columns, drop=request.drop)
    return estimate_moments(table, request.covariance_estimator, request.missing)


def estimate_file(
    path: str | PathLike[str], kind: Literal["csv", "parquet"], request: ReadOptions
) -> Estimate:
    """Audited moments of a file of a known format, whatever its name."""
    file = existing_file(path)
    if kind == "parquet" and file.is_dir():
        return estimate_source(file, request)
    if request.streams and _table_bytes(file, kind) > MEMORY_SHARE * physical_memory():
        pieces = ParquetFiles((file,)) if kind == "parquet" else CsvFiles((file,), request.form)
        return estimate_pieces(pieces, request)
    if kind == "parquet":
        table = table_from_parquet(file, columns=request.columns, drop=request.drop)
    else:
        table = table_from_csv(file, request.form, columns=request.columns, drop=request.drop)
    return estimate_moments(table, request.covariance_estimator, request.missing)


def estimate_pieces(pieces: Pieces, request: ReadOptions) -> Estimate:
    """Audited moments of data that are read in pieces."""
    _refuse_estimator(request, "are read in pieces")
    found = survey_pieces(
        pieces,
        columns=request.columns,
        drop=request.drop,
        transform=request.transform,
        missing=cast(RowPolicy, request.missing),
        weights=request.weights,
        memory_limit=request.memory_limit,
        n_jobs=request.n_jobs,
        progress=request.progress,
    )
    return plain_estimate(found)


def estimate_matrix(source: Any, n_samples: float | None, request: ReadOptions) -> Estimate:
    """Moments with the covariance matrix of a file, array or frame; its audit is not enforced."""
    columns, drop = request.columns, request.drop
    if isinstance(source, str | PathLike):
        read = read_matrix(source, request.form, columns=columns, drop=drop, n_samples=n_samples)
        names, sample = sample_from_covariance(read.matrix, read.n_samples, read.names, None)
    else:
        names, sample = sample_from_covariance(source, n_samples, None, None)
        chosen = select_columns(names, columns, drop)
        names = tuple(names[k] for k in chosen)
        sample = Sample(
            sample.n_samples,
            sample.means[chosen],
            sample.scales[chosen],
            sample.correlation[np.ix_(chosen, chosen)],
        )
    audit = Audit(tuple(inspect_correlation(names, sample, given=True)))
    return Estimate(names, sample, "given", audit)


def read_source(source: Any, request: ReadOptions) -> Table:
    """The table of a source in memory, not yet transformed, unless it is a matrix in disguise."""
    columns, drop = request.columns, request.drop
    if is_collection(source):
        table = table_from_pieces(find_pieces(source, request.form), columns, drop)
    elif isinstance(source, str | PathLike):
        table = table_from_file(source, request.form, columns=columns, drop=drop)
    else:
        table = selected(as_table(source, request.names), columns, drop)
    values = table.values
    if values.shape[0] == values.shape[1] > 2 and np.array_equal(values, values.T):
        raise FileFormatError(
            f"the table of {list_names(table.names)} is square and symmetric, like a covariance "
            "matrix and unlike data; give the number of samples behind it to have it read as one "
            "(n_samples= of read_moments, Moments.from_covariance or from_covariance_file)"
        )
    return table


def is_matrix(source: Any) -> bool:
    """Whether a file's name says that it holds a covariance matrix."""
    return isinstance(source, str | PathLike) and is_matrix_file(source)


def reads_in_pieces(source: Any) -> bool:
    """Whether a source is made up of several files, or too large for the memory."""
    if is_collection(source):
        return True
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return False
    return _table_bytes(Path(source), file_format(source)) > MEMORY_SHARE * physical_memory()


def _table_bytes(file: Path, kind: Literal["csv", "parquet"]) -> float:
    """About how much memory the table in a file takes."""
    size = file.stat().st_size
    if kind == "parquet" and size > MEMORY_SHARE * physical_memory() / 100:
        metadata = pq.read_metadata(file)
        return float(8 * metadata.num_rows * metadata.num_columns)
    return float(size * EXPANSION if file.suffix.lower() in COMPRESSIONS else size)


def _weighted_pieces(source: Any, form: CsvFormat) -> Pieces:
    """The pieces of files, which alone have weights so far."""
    if is_collection(source) or isinstance(source, str | PathLike):
        return find_pieces(source, form)
    raise ArgumentError(
        f"weights are for files and datasets, and the data are a {type(source).__name__}; pass a "
        "path, or Moments.from_covariance of the weighted covariance matrix"
    )


def _estimate_dask(source: Any, request: ReadOptions) -> Estimate:
    _refuse_estimator(request, "are a Dask collection")
    if request.transform is not None:
        raise ArgumentError("transform is not for Dask collections; transform them with Dask")
    if not isinstance(request.weights, str | int | None):
        raise ArgumentError("weights of a Dask collection must be the name of one of its columns")
    found = survey_dask(
        source,
        request.names,
        columns=request.columns,
        drop=request.drop,
        missing=cast(RowPolicy, request.missing),
        weights=request.weights,
    )
    return plain_estimate(found)


def _refuse_estimator(request: ReadOptions, what: str) -> None:
    name = estimator_name(request.covariance_estimator)
    if name != "plain":
        raise ArgumentError(
            f"covariance_estimator is {name!r}, but the data {what}; only 'plain' moments can be "
            "summed up from parts"
        )


def plain_estimate(found: StreamSurvey) -> Estimate:
    """The moments that a survey found, if it found no error."""
    found.audit.raise_errors()
    assert found.sample is not None, "an audit without errors leaves moments"
    return Estimate(found.names, found.sample, "plain", found.audit)
