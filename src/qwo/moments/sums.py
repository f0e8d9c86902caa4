"""Sums over rows, from which moments are put together: one way for every reader.

Rows are copied into a block of fixed size in C order, so that neither the layout of the data nor
the pieces in which they come can change a bit of the result. In a block, deviations from an origin,
the mean of the first block, are multiplied. A few blocks make a piece, whose sums are moved to its
own mean and merged with those of the pieces before it, in order, by the pairwise update of Chan,
Golub and LeVeque: offsets cost no digits, however many rows there are. Where blocks and pieces end
depends on the number of columns alone. Every product is the work of one BLAS thread; pieces, or the
stripes of a wide table, are shared among threads.
"""

# Long because reading in threads, blocks, pieces and merging share one arithmetic, bit by bit.

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk

from qwo.columns.levels import RefusedColumn, Rows
from qwo.columns.recipes import PLAIN, Coding
from qwo.compute import count_workers, one_blas_thread, present_module, to_host
from qwo.errors import ArgumentError, ShapeError
from qwo.inspection.checks import SENTINELS
from qwo.moments.moments import Moments
from qwo.names import default_names
from qwo.types import FloatArray, Indices

Counts = npt.NDArray[np.int64]

BLOCK_ENTRIES = 1 << 16
"""Entries of a block: half a megabyte, to stay in the cache."""

MIN_BLOCK_ROWS, WIDE_BLOCK_ROWS = 256, 1024
"""Fewer rows than this would make a matrix product wait for memory; those of a wide table are added
to sums that no cache holds."""

PIECE_BLOCKS = 8
"""Blocks of a piece: enough for a thread to be busy, and few enough to wait for."""

WIDE, STRIPE = 512, 256
"""Columns from which on a table is one piece, and threads share stripes of so many columns."""

KEPT_ENTRIES, KEPT_ROWS = 1 << 17, 1000
"""Entries of the rows that are kept for the audit, and how many rows at least: so many of the
first, and between half as many and as many from all over the data."""

DEFAULT_MEMORY = 1 << 29
"""Half a gigabyte; more for thousands of variables, whose products alone take that."""

BATCH_BYTES = 1 << 23
"""Eight megabytes of numbers in a batch: enough for a thread to be busy, few enough to wait for."""

BATCH_ROWS = 1 << 12
"""Rows in a batch at least, if memory allows: each column of a batch costs some microseconds."""

SMALL_SQUARE = 1 << 23
"""Bytes of a matrix that any machine has room for."""

COPIES = 5
"""Copies of a batch alive while it is worked on: as read, as decoded, as numbers, as products."""

MATRICES = 3
"""Matrices of n × n numbers that are alive at a time, at least, on the way to a graph."""

WIDE_ROW = 4096
"""Entries from which on the length of a row costs nothing."""

SMALL_WORK = 1 << 27
"""Products of a table in memory that are computed sooner than threads are there."""


BEYOND = np.errstate(over="ignore", invalid="ignore")
"""What leaves the range of float64 shows in the moments, of which the audit says so."""


def block_rows(n_columns: int) -> int:
    """The rows of a block."""
    if n_columns > WIDE:
        return WIDE_BLOCK_ROWS
    return max(BLOCK_ENTRIES // max(n_columns, 1), MIN_BLOCK_ROWS)


def kept_rows(n_columns: int) -> int:
    """How many of the first rows are kept for the audit, and about how many of all."""
    return max(KEPT_ENTRIES // max(n_columns, 1), KEPT_ROWS)


@dataclass(frozen=True, slots=True)
class Plan:
    """How many rows are read at a time, and how many batches and pieces are worked on at once.

    Threads share more than that in a wide table: the products of one batch.
    """

    n_rows: int
    workers: int
    threads: int

    @classmethod
    def of(cls, n_variables: int, memory_limit: int | str | None, threads: int) -> Plan:
        """The plan that keeps within a memory limit; if none is given, within a reasonable one."""
        square = 8 * n_variables**2
        if square > SMALL_SQUARE:
            check_width(n_variables)
        fixed = 3 * square + 16 * n_variables * block_rows(n_variables)
        limit = (
            max(DEFAULT_MEMORY, 2 * fixed) if memory_limit is None else parse_bytes(memory_limit)
        )
        wanted = max(BATCH_BYTES, 8 * n_variables * BATCH_ROWS)
        n_rows = max(min(wanted, limit // 32) // (8 * n_variables), 256)
        batch = COPIES * 8 * n_variables * n_rows
        piece = (
            0
            if n_variables > WIDE
            else 16 * n_variables * PIECE_BLOCKS * block_rows(n_variables) + square
        )
        if fixed + batch > limit:
            raise ArgumentError(
                f"memory_limit is {limit / 1e6:.0f} MB, but the moments of {n_variables} variables "
                f"take {(fixed + batch) / 1e6:.0f} MB at least; allow more, or leave variables out"
            )
        spare = limit - fixed
        if n_variables > WIDE:
            stripe = 8 * n_variables * STRIPE
            threads = max(min((spare - batch) // stripe, threads), 1)
            spare -= threads * stripe
        workers = max(min(spare // (batch + piece), threads), 1)
        return cls(n_rows, workers, threads if n_variables > WIDE else workers)


def parse_bytes(amount: int | str) -> int:
    """A number of bytes, as such or like ``"500 MB"`` or ``"2 GiB"``."""
    units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(amount).lower())
    if not match:
        raise ArgumentError(
            f"memory_limit is {amount!r}; wanted a number of bytes, or a string such as '2 GB'"
        )
    number, unit, binary = match.groups()
    factor = 1024 ** " kmgt".index(unit) if binary and unit else units[unit]
    return int(float(number) * factor)


def check_width(n_variables: int) -> None:
    """Refuse more variables than the machine has memory for, before any is asked for."""
    square = 8.0 * n_variables**2
    try:
        memory = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return
    if MATRICES * square > memory:
        raise ShapeError(
            f"there are {n_variables} variables: each matrix of their correlations takes "
            f"{square / 1e9:.3g} GB, {MATRICES} of them are needed, and the machine has "
            f"{memory / 1e9:.3g} GB; choose fewer columns"
        )


@dataclass(slots=True, eq=False)
class Seen:
    """What was seen of the values of some rows.

    `low` and `high` are the bounds of complete rows, `lowest` and `highest` those of finite values
    in any row; `absent` and `infinite` count those values. `marks` counts the rows that have these
    extremes, where they may stand for missing values. `first` are the first rows, `spread` every
    `stride`-th of all.
    """

    n_rows: int
    n_incomplete: int
    low: FloatArray
    high: FloatArray
    lowest: FloatArray
    highest: FloatArray
    absent: Counts
    infinite: Counts
    marks: Counts | None
    first: FloatArray
    spread: FloatArray
    stride: int = 1

    @classmethod
    def nothing(cls, n: int) -> Seen:
        """What was seen of no row."""
        low, high, none = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n, dtype=np.int64)
        rows = np.empty((0, n))
        return cls(0, 0, low, high, low, high, none, none, None, rows, rows)

    def merged(self, other: Seen) -> Seen:
        """What was seen of the rows of both, of which the other's come later."""
        n = len(self.low)
        if not self.n_rows and len(other.first) <= kept_rows(n):
            return other
        wanted = kept_rows(n) - len(self.first)
        # What is kept is one run of rows: it ends where the first part of the data was not kept.
        whole = len(self.first) == self.n_rows and wanted > 0
        kept = [self.first, other.first[:wanted]] if whole and len(other.first) else [self.first]
        stride = max(self.stride, other.stride)
        spread = self.spread[:: stride // self.stride]
        if len(other.spread):
            spread = np.concatenate([spread, other.spread[:: stride // other.stride]])
        marks = self.marks
        if marks is not None or other.marks is not None:
            mine, theirs = (0 if seen.marks is None else seen.marks for seen in (self, other))
            lows, highs = (self.lowest, other.lowest), (self.highest, other.highest)
            marks = mine * np.array([np.less_equal(*lows), np.greater_equal(*highs)])
            marks += theirs * np.array([np.greater_equal(*lows), np.less_equal(*highs)])
        return Seen(
            self.n_rows + other.n_rows,
            self.n_incomplete + other.n_incomplete,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self.absent + other.absent,
            self.infinite + other.infinite,
            marks,
            np.concatenate(kept) if len(kept) > 1 else self.first,
            spread,
            stride,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Weight and means of rows, and the lower triangle of Σ w (x - mean)(x - mean)ᵀ."""

    weight: float
    means: FloatArray
    scatter: FloatArray

    @BEYOND
    def merged(self, other: Sums) -> Sums:
        """The sums over the rows of both; the memory of this one's products is used for them."""
        weight = self.weight + other.weight
        step, share, scatter = other.means - self.means, other.weight / weight, self.scatter
        scatter += other.scatter
        _add_outer(scatter, step, self.weight * share)
        return Sums(weight, self.means + step * share, scatter)


@dataclass(eq=False)
class _Run:
    """Blocks with one origin."""

    origin: FloatArray
    scatter: FloatArray
    total: FloatArray
    module: Any = np
    weight: float = 0.0

    def add(self, block: FloatArray, weights: FloatArray | None, pool: Executor | None) -> None:
        """Add the products of a block, whose memory is used."""
        block -= self.origin
        if weights is None:
            self.weight += len(block)
            self.total += np.ones(len(block)) @ block
        else:
            self.weight += float(weights.sum())
            self.total += weights @ block
            block *= np.sqrt(weights)[:, None]
        self.scatter = _add_products(self.scatter, block, pool, self.module)

    def sums(self) -> Sums:
        """The sums about the mean."""
        offset = self.total / self.weight
        scatter = to_host(self.scatter)
        _add_outer(scatter, offset, -self.weight)
        return Sums(self.weight, self.origin + offset, scatter)


@dataclass(eq=False)
class Piece:
    """The rows between two fixed places in the data, and the sums over them."""

    n_columns: int
    kept: int = 0
    pool: Executor | None = None
    sums: Sums | None = None
    seen: Seen = field(kw_only=True)
    _run: _Run | None = None
    _block: FloatArray | None = None
    _weights: FloatArray | None = None
    _filled: int = 0
    _first: list[FloatArray] = field(default_factory=list)
    _spread: list[FloatArray] = field(default_factory=list)
    start: int = 0
    first_kept: int = 0
    stride: int = 1

    @property
    def n_rows(self) -> int:
        """The rows so far."""
        return self.seen.n_rows + self._filled

    def add(self, rows: FloatArray, weights: FloatArray | None = None) -> None:
        """Add rows, in any layout."""
        size = block_rows(self.n_columns)
        if self._block is None:
            self._block = np.empty((size, self.n_columns))
            self._weights = None if weights is None else np.empty(size)
        start = 0
        while start < len(rows):
            count = min(size - self._filled, len(rows) - start)
            stop = self._filled + count
            self._block[self._filled : stop] = rows[start : start + count]
            if weights is not None and self._weights is not None:
                self._weights[self._filled : stop] = weights[start : start + count]
            self._filled, start = stop, start + count
            if stop == size:
                self._close_block()

    @BEYOND
    def close(self) -> Piece:
        """Sum up all that was added."""
        if self._filled:
            self._close_block()
        if self._run is not None:
            self.sums, self._run = self._run.sums(), None
        if self._first:
            self.seen.first = np.concatenate(self._first)
        if self._spread:
            self.seen.spread, self.seen.stride = np.concatenate(self._spread), self.stride
        self._block = self._weights = self.pool = None
        return self

    @BEYOND
    def _close_block(self) -> None:
        assert self._block is not None
        block = self._block[: self._filled]
        weights = None if self._weights is None else self._weights[: self._filled]
        self._filled = 0
        if self.first_kept > self.seen.n_rows:
            self._first.append(block[: self.first_kept - self.seen.n_rows].copy())
        if self.kept:
            self._keep(block)
        seen = _look(block)
        if seen.n_incomplete:
            complete = np.isfinite(block).all(axis=1)
            block, weights = block[complete], None if weights is None else weights[complete]
            seen.low, seen.high = extremes(block)
        self.seen = self.seen.merged(seen)
        if len(block) == 0 or (weights is not None and not weights.any()):
            return
        if self._run is None:
            self._run = _new_run(block, weights)
        self._run.add(block, weights, self.pool)

    def _keep(self, block: FloatArray) -> None:
        """Keep every so many-th row, by its number in the data; and fewer of them as they grow."""
        above = self.start + self.seen.n_rows
        self._spread.append(block[-above % self.stride :: self.stride].copy())
        if sum(map(len, self._spread)) > self.kept:
            uneven = -(-self.start // self.stride) % 2
            self._spread = [np.concatenate(self._spread)[uneven::2].copy()]
            self.stride *= 2


def _look(block: FloatArray) -> Seen:
    """What there is to see in a block of rows."""
    n_rows, n = block.shape
    none = np.zeros(n, dtype=np.int64)
    first = np.empty((0, n)), np.empty((0, n))
    low, high = extremes(block)
    if np.isfinite(high - low).all():
        return Seen(n_rows, 0, low, high, low, high, none, none, _marks(block, low, high), *first)
    usable = np.isfinite(block)
    absent = np.isnan(block).sum(axis=0)
    infinite = n_rows - usable.sum(axis=0) - absent
    n_incomplete = n_rows - int(usable.all(axis=1).sum())
    low, high = finite_extremes(block)
    marks = _marks(block, low, high)
    return Seen(n_rows, n_incomplete, low, high, low, high, absent, infinite, marks, *first)


def _marks(block: FloatArray, low: FloatArray, high: FloatArray) -> Counts | None:
    """How many rows have the extremes of columns, if one of these is a mark of missing values."""
    if SENTINELS.isdisjoint(low.tolist()) and SENTINELS.isdisjoint(high.tolist()):
        return None
    return np.array([(block == low).sum(axis=0), (block == high).sum(axis=0)])


def extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of each column; NaN where a column has one."""
    n_rows, n = values.shape
    # NumPy is slow at reducing short rows, so that several are put side by side at first.
    most = min(WIDE_ROW // max(n, 1), math.isqrt(n_rows)) if values.flags.c_contiguous else 1
    even = n_rows - n_rows % (beside := max(most, 1))
    wide, rest = values[:even].reshape(even // beside, beside * n), values[even:]

    def last(end: np.ufunc, first: float) -> FloatArray:
        part = end.reduce(wide, initial=first).reshape(beside, n)
        return np.asarray(end.reduce(np.concatenate((part, rest))))

    return last(np.minimum, np.inf), last(np.maximum, -np.inf)


def finite_extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest finite value of each column; ∞ and -∞ where there is none."""
    finite = np.where(np.isfinite(values), values, np.nan)
    low = np.fmin.reduce(finite, axis=0, initial=np.inf)
    return low, np.fmax.reduce(finite, axis=0, initial=-np.inf)


def _new_run(block: FloatArray, weights: FloatArray | None) -> _Run:
    n = block.shape[1]
    share = np.ones(len(block)) if weights is None else weights
    origin = (share @ block) / (len(block) if weights is None else weights.sum())
    # Elsewhere than on the host only the products are worth their way there.
    xp = present_module() if n > WIDE else np
    scatter = np.zeros((n, n), order="F") if n <= WIDE else xp.zeros((n, n))
    return _Run(origin, scatter, np.zeros(n), xp)


def _add_products(
    scatter: FloatArray, block: FloatArray, pool: Executor | None, xp: Any
) -> FloatArray:
    """Add blockᵀ block to the lower triangle of a matrix, which is of the array module."""
    n = len(scatter)
    if xp is not np:
        there = xp.asarray(block)
        scatter += there.T @ there
        return scatter
    if n <= WIDE:
        # A C-ordered block is its transpose in Fortran's eyes: no copy is made for BLAS.
        return np.asarray(dsyrk(1.0, block.T, beta=1.0, c=scatter, lower=1, overwrite_c=1))

    def add_stripe(start: int) -> None:
        stop = min(start + STRIPE, n)
        scatter[start:, start:stop] += block[:, start:].T @ block[:, start:stop]

    starts = range(0, n, STRIPE)
    # The first stripes are the longest, so that threads end at about the same time.
    for _ in map(add_stripe, starts) if pool is None else pool.map(add_stripe, starts):
        pass
    return scatter


def _add_outer(scatter: FloatArray, vector: FloatArray, factor: float) -> None:
    """Add factor · vector vectorᵀ, in place."""
    scaled = factor * vector
    for start in range(0, len(vector), MIN_BLOCK_ROWS):
        rows = slice(start, start + MIN_BLOCK_ROWS)
        scatter[rows] += scaled[rows, None] * vector


class PartialSums:
    """Weight, means and centred products of complete rows, and what was `seen` of all.

    With `keep` rows are kept for the audit. Threads of the `pool` share the products of a
    wide table, until the sums are closed.
    """

    def __init__(self, n_columns: int, *, keep: bool = False, pool: Executor | None = None) -> None:
        self.n_columns = n_columns
        self.seen = Seen.nothing(n_columns)
        self._keep = keep
        self._issued = 0
        self._pool = pool
        self.total: Sums | None = None
        self._piece: Piece | None = None

    def covariance(self) -> tuple[float, FloatArray, FloatArray]:
        """N, means and covariances (divisor N) of complete rows."""
        sums = self.close().total
        if sums is None:
            nothing = np.full(self.n_columns, np.nan)
            return 0.0, nothing, np.full((self.n_columns, self.n_columns), np.nan)
        return sums.weight, sums.means, mirror_lower(sums.scatter / sums.weight)

    def add(self, rows: FloatArray, weights: FloatArray | None = None) -> PartialSums:
        """Add rows, in any memory order, with missing values as NaN; each counts for its weight."""
        size = PIECE_BLOCKS * block_rows(self.n_columns)
        start = 0
        while start < len(rows):
            if self._piece is None:
                self._piece = self.new_piece()
            room = len(rows) if self.n_columns > WIDE else size - self._piece.n_rows
            part = slice(start, start + room)
            self._piece.add(rows[part], None if weights is None else weights[part])
            start += room
            if self.n_columns <= WIDE and self._piece.n_rows == size:
                self.close()
        return self

    def new_piece(self) -> Piece:
        """A piece to be filled, perhaps elsewhere, and handed to `take`.

        The first of all keeps first rows, of which it has more than enough. All keep rows by their
        number in the data, which is known beforehand: that of the threads does not matter.
        """
        kept = kept_rows(self.n_columns) if self._keep else 0
        start, stride = self._issued * PIECE_BLOCKS * block_rows(self.n_columns), 1
        while kept and start // stride >= kept:
            stride *= 2
        self._issued += 1
        pool = self._pool if self.n_columns > WIDE else None
        return Piece(
            self.n_columns,
            kept,
            pool,
            seen=Seen.nothing(self.n_columns),
            start=start,
            first_kept=kept if start == 0 else 0,
            stride=stride,
        )

    def take(self, piece: Piece) -> None:
        """Add the sums over the piece that follows."""
        self.seen = self.seen.merged(piece.seen)
        if piece.sums is not None:
            self.total = piece.sums if self.total is None else self.total.merged(piece.sums)

    def close(self) -> PartialSums:
        """These sums, with no piece under way."""
        if self._piece is not None:
            piece, self._piece = self._piece, None
            self.take(piece.close())
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.close().__dict__, "_pool": None}

    def merge(self, other: PartialSums) -> PartialSums:
        """These sums with those over the rows of another, which is left as it is."""
        self.close()
        other.close()
        self.seen = self.seen.merged(other.seen)
        if self.total is None:
            theirs = other.total
            self.total = theirs and replace(theirs, scatter=theirs.scatter.copy(order="K"))
        elif other.total is not None:
            self.total = self.total.merged(other.total)
        return self

    def moments(
        self,
        names: tuple[str, ...] = (),
        coding: Coding = PLAIN,
        columns: Indices | None = None,
        *,
        overwrite: bool = False,
    ) -> Moments:
        """The moments of variables, of which no column, of all or some, is constant.

        With `overwrite` the memory of the sums is used, and nothing can be added any more.
        """
        self.close()
        sums = self.total
        assert sums is not None, "there are rows"
        means = sums.means
        if columns is not None and len(columns) < len(means):
            scatter, means = sums.scatter[np.ix_(columns, columns)], means[columns]
        else:
            scatter = sums.scatter if overwrite else sums.scatter.copy(order="K")
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            spans, correlation = split_covariance(scatter)
            scales = spans / math.sqrt(sums.weight)
        labels = names or default_names(len(means))
        return Moments(labels, sums.weight, means, scales, correlation, coding=coding)

    @classmethod
    def of(cls, moments: Moments) -> PartialSums:
        """The sums that a sample's moments stand for."""
        n, spread = len(moments.means), moments.scales
        scatter = moments.n_samples * moments.correlation * np.outer(spread, spread)
        total = cls(n)
        total.total = Sums(moments.n_samples, moments.means, scatter)
        # The bounds are unknown, but no column is constant.
        total.seen.n_rows = round(moments.n_samples)
        total.seen.low = total.seen.lowest = np.full(n, -np.inf)
        total.seen.high = total.seen.highest = np.full(n, np.inf)
        return total


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far reading has come: rows so far, and the fraction of all data."""

    n_rows: int
    fraction: float


Watch = Callable[[StreamProgress], object]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are still to be loaded, and how much of all data has been read once they are."""

    load: Callable[[], Rows]
    fraction: float = 1.0


@dataclass(eq=False)
class Summation:
    """The sums over batches of rows, loaded and multiplied by several threads, added in order.

    Neither the number of batches and pieces that are worked on at once nor that of the threads
    changes a bit of the result. `weights` has one for each row of all batches together. Where rows
    have groups, the sums over each are kept, too.
    """

    coding: Coding
    plan: Plan
    weights: FloatArray | None = None
    progress: Watch | None = None
    refused: tuple[RefusedColumn, ...] = ()
    groups: dict[str, PartialSums] = field(default_factory=dict)
    _n_rows: int = 0
    _above: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    _filling: list[tuple[FloatArray, FloatArray | None]] = field(default_factory=list)
    _filled: int = 0
    _pieces: deque[Future[Piece]] = field(default_factory=deque)

    def run(self, batches: Iterator[Batch]) -> PartialSums:
        """The sums over all batches, or up to the first with columns that are not numbers."""
        with ExitStack() as stack:
            stack.enter_context(one_blas_thread())
            pool = None
            if self.plan.threads > 1:
                pool = stack.enter_context(ThreadPoolExecutor(self.plan.threads, "qwo-moments"))
                stack.callback(pool.shutdown, wait=True, cancel_futures=True)
            self.total = PartialSums(self.coding.n_columns, keep=True, pool=pool)
            for rows, fraction in self._loaded(batches, pool):
                self._n_rows += len(rows.values)
                self.refused = rows.refused
                if self.refused:
                    break
                self._add(rows, pool)
                if self.progress is not None:
                    self.progress(StreamProgress(self._n_rows, fraction))
            if pool is not None and self._filling:
                self._send(pool)
            while self._pieces:
                self.total.take(self._pieces.popleft().result())
            self.total.close()
        given = self.weights
        if given is not None and not self.refused and self._n_rows != len(given):
            raise ArgumentError(
                f"there are {len(given)} weights but {self._n_rows} rows; wanted one weight per row"
            )
        return self.total

    def _loaded(
        self, batches: Iterator[Batch], pool: Executor | None
    ) -> Iterator[tuple[Rows, float]]:
        """The batches in order, loaded by the threads."""
        waiting: deque[tuple[Future[Rows], float]] = deque()
        for batch in batches:
            if pool is None:
                yield batch.load(), batch.fraction
                continue
            waiting.append((pool.submit(batch.load), batch.fraction))
            if len(waiting) > self.plan.workers:
                future, fraction = waiting.popleft()
                yield future.result(), fraction
        while waiting:
            future, fraction = waiting.popleft()
            yield future.result(), fraction

    def _add(self, rows: Rows, pool: Executor | None) -> None:
        values, weights = rows.values, rows.weights
        if self.weights is not None:
            weights = self.weights[self._n_rows - len(values) : self._n_rows]
            if len(weights) < len(values):
                raise ArgumentError(
                    f"there are {len(self.weights)} weights but more rows; wanted one weight per "
                    "row"
                )
        if self.coding.rows_before:
            # Rows look back at rows of the batch before, which only here come in order.
            values = np.concatenate([self._above, values]) if len(self._above) else values
            self._above = values[-self.coding.rows_before :].copy()
            values = self.coding.columns(values)
            weights = None if weights is None else weights[len(weights) - len(values) :]
        if rows.groups is not None:
            codes = rows.groups.codes[len(rows.groups.codes) - len(values) :]
            for code in np.unique(codes[codes >= 0]).tolist():
                own = codes == code
                sums = self.groups.setdefault(
                    rows.groups.levels[code], PartialSums(self.coding.n_columns)
                )
                sums.add(values[own], None if weights is None else weights[own])
        if pool is None or self.total.n_columns > WIDE:
            self.total.add(values, weights)
            return
        size, start = PIECE_BLOCKS * block_rows(self.total.n_columns), 0
        while start < len(values):
            part = slice(start, start + size - self._filled)
            own = values[part]
            self._filling.append((own, None if weights is None else weights[part]))
            self._filled += len(own)
            start += len(own)
            if self._filled == size:
                self._send(pool)

    def _send(self, pool: Executor) -> None:
        """Have the piece that is full summed up."""
        self._pieces.append(pool.submit(_filled, self.total.new_piece(), self._filling))
        self._filling, self._filled = [], 0
        while len(self._pieces) > self.plan.workers:
            self.total.take(self._pieces.popleft().result())


def _filled(piece: Piece, parts: list[tuple[FloatArray, FloatArray | None]]) -> Piece:
    for values, weights in parts:
        piece.add(values, weights)
    return piece.close()


def sums_in_memory(
    coding: Coding, columns: FloatArray, weights: FloatArray | None = None
) -> PartialSums:
    """The sums over rows in memory, by threads where they take more time than to start these."""
    small = columns.size * max(columns.shape[1], 128) < SMALL_WORK
    threads = 1 if small else count_workers(-1)
    summation = Summation(coding, Plan(len(columns), threads, threads))
    return summation.run(iter([Batch(lambda: Rows(columns, (), weights))]))


def sums_over(rows: FloatArray, weights: FloatArray | None = None) -> PartialSums:
    """The sums over the rows of one array, by one thread."""
    with one_blas_thread():
        return PartialSums(rows.shape[1]).add(rows, weights).close()


def check_weights(weights: FloatArray, name: str = "weights") -> FloatArray:
    """Weights that are numbers from 0 up."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ArgumentError(
            f"{name}: {wrong.sum()} of {len(weights)} weights are negative, infinite or missing, "
            f"the first {weights[wrong][0]:g}; wanted numbers from 0 up: how many rows each row "
            "counts for"
        )
    return weights


def split_covariance(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations and correlation matrix of a covariance matrix, whose memory is reused.

    Its lower triangle counts.
    """
    scales = np.sqrt(np.diagonal(covariance))
    covariance /= scales[:, None]
    covariance /= scales
    np.fill_diagonal(covariance, 1.0)
    return scales, mirror_lower(covariance)


def mirror_lower(matrix: FloatArray) -> FloatArray:
    """The exactly symmetric matrix with the lower triangle of `matrix`, in place."""
    size = len(matrix)
    rows = max(BLOCK_ENTRIES // max(size, 1), 1)
    for start in range(0, size, rows):
        stop = min(start + rows, size)
        corner = matrix[start:stop, start:stop]
        places = np.arange(stop - start)
        corner[...] = np.where(np.greater_equal.outer(places, places), corner, corner.T)
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix if matrix.flags.c_contiguous else matrix.T


def inverse(matrix: FloatArray) -> FloatArray | None:
    """Inverse of a symmetric matrix, or None where it is not numerically positive definite."""
    factor, info = lapack.dpotrf(matrix, lower=1)
    if info != 0:
        return None
    result, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return mirror_lower(result) if info == 0 else None
