"""Moments of data far larger than memory: read in pieces, summed by all cores, merged in order.

The pieces and the order in which their sums are merged do not depend on the number of workers, nor
do the results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from qwo.errors import ArgumentError, InputError, list_names
from qwo.moments.arrays import Columns, RefusedColumn, column_names, select_columns
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample
from qwo.moments.findings import Audit
from qwo.moments.frames import table_from_frame
from qwo.moments.partial import PartialSums, check_weights, partial_sums
from qwo.moments.pieces import Piece, Pieces
from qwo.moments.plan import Plan
from qwo.moments.table_audit import (
    MIN_SAMPLES,
    MissingCounts,
    dropped_rows,
    inspect_size,
    inspect_spread,
    inspect_types,
    refused_values,
)
from qwo.moments.transforms import ELEMENTWISE, Transform, check_domain, chosen_transforms
from qwo.parallel import count_workers
from qwo.types import FloatArray

Weights = str | int | npt.ArrayLike | None
RowPolicy = Literal["raise", "drop"]


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far reading has come: rows so far, and the fraction of all data."""

    n_rows: int
    fraction: float


Watch = Callable[[StreamProgress], object]


@dataclass(frozen=True, slots=True, eq=False)
class StreamSurvey:
    """Names, findings and moments of data that were read in pieces; None if errors were found."""

    names: tuple[str, ...]
    audit: Audit
    sample: Sample | None


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done with a piece."""

    names: tuple[str, ...]
    weight_name: str | None
    transforms: dict[int, Any]
    keep_bounds: bool

    def sums(self, piece: Piece, weights: FloatArray | None) -> PartialSums:
        """Load a piece and sum over its rows."""
        table = piece.load()
        columns, refused = _numbers(table, len(self.names))
        if self.weight_name is not None:
            [own], wrong = _numbers(table.select([len(self.names)]), 1)
            if wrong:
                raise ArgumentError(f"the weights in {self.weight_name!r} are {wrong[0].reason}")
            weights = check_weights(own, f"column {self.weight_name!r}")
        if self.transforms:
            check_domain(self.names, columns.T, self.transforms)
            for place, name in self.transforms.items():
                columns[place] = ELEMENTWISE[name](columns[place])
        sums = partial_sums(columns, weights, keep_bounds=self.keep_bounds, overwrite=True)
        named = tuple(RefusedColumn(self.names[int(c.name)], c.reason) for c in refused)
        return replace(sums, seen=replace(sums.seen, refused=named))


def survey_pieces(
    pieces: Pieces,
    *,
    columns: Columns = None,
    drop: Columns = None,
    transform: Transform = None,
    missing: RowPolicy = "raise",
    weights: Weights = None,
    memory_limit: int | str | None = None,
    n_jobs: int | None = -1,
    progress: Watch | None = None,
) -> StreamSurvey:
    """Read all pieces once, and audit and estimate as for a table in memory."""
    if missing not in ("raise", "drop"):
        raise ArgumentError(
            f"missing is {missing!r}, but data that are read in pieces take 'raise' or 'drop'; EM "
            "goes over the data many times, and needs them in memory"
        )
    chosen, weight_place = _chosen(list(pieces.names), columns, drop, weights)
    names = column_names(pieces.names[k] for k in chosen)
    findings = list(inspect_types(names, ()))
    if findings:
        return StreamSurvey(names, Audit(tuple(findings)), None)
    plan = Plan.of(len(names), memory_limit, count_workers(n_jobs))
    own = None if weight_place is None else str(pieces.names[weight_place])
    work = _Work(names, own, _elementwise(transform, names), missing == "raise")
    wanted = chosen if weight_place is None else [*chosen, weight_place]
    given = None if weights is None or own is not None else check_weights(_vector(weights))
    sums = _sum_up(pieces.read(wanted, plan.n_rows), work, given, plan, progress)
    return survey_sums(names, sums, missing)


def survey_sums(names: tuple[str, ...], sums: PartialSums, missing: RowPolicy) -> StreamSurvey:
    """What `qwo.moments.audit.survey` finds in a table, found in sums over its rows."""
    seen = sums.seen
    refused = {column.name for column in seen.refused}
    findings = list(inspect_types([name for name in names if name not in refused], seen.refused))
    if refused:
        return StreamSurvey(names, Audit(tuple(findings)), None)
    if seen.n_incomplete:
        counts = MissingCounts(names, seen.absent, seen.infinite, seen.n_incomplete, seen.n_rows)
        if missing == "raise":
            findings += [refused_values(counts), *inspect_spread(names, seen.low, seen.high)]
            return StreamSurvey(names, Audit(tuple(findings)), None)
        findings.append(dropped_rows(counts))
    findings.extend(inspect_size(sums.weight, seen.n_incomplete))
    if sums.weight >= MIN_SAMPLES:
        findings.extend(inspect_spread(names, seen.low, seen.high))
    if any(finding.severity == "error" for finding in findings):
        return StreamSurvey(names, Audit(tuple(findings)), None)
    sample = sums.sample()
    _check_range(names, sample)
    findings.extend(inspect_correlation(names, sample))
    return StreamSurvey(names, Audit(tuple(findings)), sample)


def _sum_up(
    pieces: Iterator[Piece],
    work: _Work,
    weights: FloatArray | None,
    plan: Plan,
    progress: Watch | None,
) -> PartialSums:
    """The sums over all pieces, merged in their order while others are worked on."""
    n = len(work.names)
    total = partial_sums(np.empty((n, 0)))
    waiting: deque[tuple[float, Future[PartialSums]]] = deque()
    offsets = _RowOffsets(weights)

    def merge_first() -> None:
        nonlocal total
        fraction, future = waiting.popleft()
        total = total.merged(future.result())
        if progress is not None:
            progress(StreamProgress(total.seen.n_rows, fraction))

    with (
        threadpool_limits(plan.blas_threads, user_api="blas"),
        ThreadPoolExecutor(plan.workers, "qwo-moments") as pool,
    ):
        try:
            for piece in pieces:
                loaded, part = offsets.take(piece)
                waiting.append((piece.fraction, pool.submit(work.sums, loaded, part)))
                if len(waiting) > plan.workers:
                    merge_first()
                if total.seen.refused:
                    break
            while waiting and not total.seen.refused:
                merge_first()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    offsets.check(total)
    return total


class _RowOffsets:
    """Hands each piece the weights of its rows."""

    def __init__(self, weights: FloatArray | None) -> None:
        self.weights = weights
        self.taken = 0

    def take(self, piece: Piece) -> tuple[Piece, FloatArray | None]:
        """The piece, loaded if that is needed to know its rows, and their weights."""
        if self.weights is None:
            return piece, None
        table = piece.load()
        part = self.weights[self.taken : self.taken + len(table)]
        self.taken += len(table)
        if len(part) < len(table):
            raise ArgumentError(
                f"there are {len(self.weights)} weights but more rows; wanted one weight per row"
            )
        return Piece(lambda: table, piece.fraction), part

    def check(self, total: PartialSums) -> None:
        if self.weights is not None and not total.seen.refused and self.taken < len(self.weights):
            raise ArgumentError(
                f"there are {len(self.weights)} weights but {self.taken} rows; wanted one weight "
                "per row"
            )


def _numbers(table: pa.Table, width: int) -> tuple[FloatArray, tuple[RefusedColumn, ...]]:
    """The first columns of a table as the rows of an array; those that are not numbers as NaN."""
    values = np.empty((width, len(table)))
    strange = []
    for k in range(width):
        column = table.column(k)
        if _is_number(column.type):
            plain = column if pa.types.is_floating(column.type) else pc.cast(column, pa.float64())
            start = 0
            for chunk in plain.chunks:
                part = chunk.to_numpy(zero_copy_only=False)
                values[k, start : start + len(part)] = part
                start += len(part)
        else:
            values[k] = np.nan
            strange.append(k)
    if not strange:
        return values, ()
    names = [str(k) for k in strange]
    odd = table_from_frame(pa.table([table.column(k) for k in strange], names=names))
    for name, column in zip(odd.names, odd.values.T, strict=True):
        values[int(name)] = column
    return values, odd.refused


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _chosen(
    names: Sequence[str], columns: Columns, drop: Columns, weights: Weights
) -> tuple[list[int], int | None]:
    """Positions of the variables, and of the weights if they are a column."""
    chosen = select_columns(names, columns, drop)
    if not isinstance(weights, str | int):
        return chosen, None
    [place] = select_columns(names, [weights], None)[:1]
    return [k for k in chosen if k != place], place


def _vector(weights: Any) -> FloatArray:
    vector = np.asarray(weights, dtype=np.float64)
    if vector.ndim != 1:
        raise ArgumentError(f"weights has {vector.ndim} dimensions; wanted one weight per row")
    return vector


def _elementwise(transform: Transform, names: tuple[str, ...]) -> dict[int, Any]:
    """Transformations of values one by one, by position."""
    chosen = chosen_transforms(transform, names, [])
    whole = sorted({name for name in chosen.values() if name not in ELEMENTWISE})
    if whole:
        raise ArgumentError(
            f"transform {', '.join(map(repr, whole))} needs all values of a column at once, but "
            f"the data are read in pieces; wanted {' or '.join(map(repr, ELEMENTWISE))}, or data "
            "in memory"
        )
    return dict(chosen)


def _check_range(names: tuple[str, ...], sample: Sample) -> None:
    """See that no product left the range of float64."""
    wrong = [names[k] for k in np.flatnonzero(~np.isfinite(sample.correlation).all(axis=1))]
    if wrong:
        raise InputError(
            f"squares of {list_names(wrong)} leave the range of float64: their values differ too "
            "much in size from one part of the data to another; rescale or log-transform them",
            wrong,
        )
