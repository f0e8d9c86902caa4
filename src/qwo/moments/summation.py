"""Sums over batches of rows, which several threads load and multiply; added up in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from qwo.blas import one_blas_thread
from qwo.errors import ArgumentError
from qwo.moments.arrays import Batch, RefusedColumn, Rows
from qwo.moments.partial import WIDE, PartialSums, Piece, piece_rows
from qwo.types import FloatArray


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far reading has come: rows so far, and the fraction of all data."""

    n_rows: int
    fraction: float


Watch = Callable[[StreamProgress], object]


class Summation:
    """The sums over batches of rows, loaded and multiplied by several threads, added in order.

    Parameters
    ----------
    n_columns, workers, threads : int
        n, how many batches and pieces are worked on at once, and by how many threads; neither
        changes a bit of the result.
    weights : ndarray, optional
        One weight for each row of all batches together.
    progress : callable, optional
        Gets a `StreamProgress` after each batch.
    """

    def __init__(
        self,
        n_columns: int,
        workers: int,
        threads: int,
        weights: FloatArray | None = None,
        progress: Watch | None = None,
    ) -> None:
        self.refused: tuple[RefusedColumn, ...] = ()
        self._n_columns = n_columns
        self._workers = workers
        self._threads = threads
        self._weights = weights
        self._progress = progress
        self._n_rows = 0
        self._pool: Executor | None = None
        self._filling: list[tuple[FloatArray, FloatArray | None]] = []
        self._filled = 0
        self._pieces: deque[Future[Piece]] = deque()

    def run(self, batches: Iterator[Batch]) -> PartialSums:
        """The sums over all batches, or up to the first with columns that are not numbers."""
        with ExitStack() as stack:
            stack.enter_context(one_blas_thread())
            if self._threads > 1:
                self._pool = stack.enter_context(ThreadPoolExecutor(self._threads, "qwo-moments"))
                stack.callback(self._pool.shutdown, wait=True, cancel_futures=True)
            self.total = PartialSums(self._n_columns, keep=True, pool=self._pool)
            for rows, fraction in self._loaded(batches):
                self._n_rows += len(rows.values)
                self.refused = rows.refused
                if self.refused:
                    break
                self._add(rows)
                if self._progress is not None:
                    self._progress(StreamProgress(self._n_rows, fraction))
            self._send()
            while self._pieces:
                self.total.take(self._pieces.popleft().result())
            self.total.close()
        self._check_weights()
        return self.total

    def _loaded(self, batches: Iterator[Batch]) -> Iterator[tuple[Rows, float]]:
        """The batches in order, loaded by the threads."""
        if self._pool is None:
            yield from ((batch.load(), batch.fraction) for batch in batches)
            return
        waiting: deque[tuple[Future[Rows], float]] = deque()
        for batch in batches:
            waiting.append((self._pool.submit(batch.load), batch.fraction))
            if len(waiting) > self._workers:
                future, fraction = waiting.popleft()
                yield future.result(), fraction
        while waiting:
            future, fraction = waiting.popleft()
            yield future.result(), fraction

    def _add(self, rows: Rows) -> None:
        weights = rows.weights
        if self._weights is not None:
            weights = self._weights[self._n_rows - len(rows.values) : self._n_rows]
            if len(weights) < len(rows.values):
                raise ArgumentError(
                    f"there are {len(self._weights)} weights but more rows; wanted one weight per "
                    "row"
                )
        if self._pool is None or self.total.n_columns > WIDE:
            self.total.add(rows.values, weights)
            return
        size = piece_rows(self.total.n_columns)
        start = 0
        while start < len(rows.values):
            part = slice(start, start + size - self._filled)
            values = rows.values[part]
            self._filling.append((values, None if weights is None else weights[part]))
            self._filled += len(values)
            start += len(values)
            if self._filled == size:
                self._send()

    def _send(self) -> None:
        """Have the piece that is full summed up."""
        if not self._filling:
            return
        assert self._pool is not None
        piece = self.total.new_piece()
        self._pieces.append(self._pool.submit(_filled, piece, self._filling))
        self._filling, self._filled = [], 0
        while len(self._pieces) > self._workers:
            self.total.take(self._pieces.popleft().result())

    def _check_weights(self) -> None:
        if self._weights is None or self.refused or self._n_rows == len(self._weights):
            return
        raise ArgumentError(
            f"there are {len(self._weights)} weights but {self._n_rows} rows; wanted one weight "
            "per row"
        )


def _filled(piece: Piece, parts: list[tuple[FloatArray, FloatArray | None]]) -> Piece:
    for values, weights in parts:
        piece.add(values, weights)
    return piece.close()
