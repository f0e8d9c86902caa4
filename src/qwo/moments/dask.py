"""Moments of Dask arrays and data frames: sums over each partition, merged in a tree.

Nothing but the sums, n × n numbers for each partition, leaves the worker that holds the rows. The
tree depends on the number of partitions alone, so that the result is the same on any cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from qwo.compute import one_blas_thread
from qwo.errors import ArgumentError, ShapeError, optional_module
from qwo.moments.audit import Finding
from qwo.moments.columns import Coding, Variable, default_names
from qwo.moments.levels import RefusedColumn, Rows
from qwo.moments.reading import TableReading, with_weights
from qwo.moments.sums import Batch, PartialSums
from qwo.moments.tables import open_memory
from qwo.options import ReadOptions, estimator_name

FAN_IN = 8
"""How many sums are merged at a time."""


class _Total(NamedTuple):
    """Sums over rows, and the columns that are not numbers."""

    sums: PartialSums
    refused: tuple[RefusedColumn, ...]


@dataclass
class _Partitions:
    """Partitions as delayed objects, none of them computed, and the names of all columns."""

    names: Sequence[str]
    parts: list[Any]
    notes: tuple[Finding, ...] = ()
    n_rows: float = math.inf

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        raise NotImplementedError("partitions stay where they are")


class DaskReading(TableReading):
    """A reading of a Dask collection, whose rows stay where its partitions are."""

    def __init__(self, source: Any, options: ReadOptions) -> None:
        _check_options(options)
        if hasattr(source, "columns"):
            own = [str(name) for name in source.columns]
            parts = list(source.to_delayed())
        elif getattr(source, "ndim", None) == 2:
            own = list(default_names(source.shape[1]))
            parts = list(source.rechunk({1: -1}).to_delayed().ravel())
        else:
            raise ShapeError(
                f"the data are a Dask {type(source).__name__} of {getattr(source, 'ndim', '?')} "
                "dimensions; wanted a data frame, or an array of two: samples and variables"
            )
        labels = own if options.names is None else [str(name) for name in options.names]
        if len(labels) != len(own):
            raise ShapeError(f"got {len(labels)} names for {len(own)} columns")
        self._dask = optional_module("dask", "Dask collections need", "dask[distributed]")
        self._parts = parts
        super().__init__(_Partitions(labels, parts), options)

    def parts(self, names: Sequence[str]) -> Iterable[Rows]:
        """The columns of each partition whose levels are to be found."""
        places = [self.chosen[self.names.index(name)] for name in names]
        load = self._dask.delayed(_rows, pure=True)
        labels = self.reader.names
        return list(self._dask.compute(*(load(part, labels, places) for part in self._parts)))

    def sums(
        self, names: tuple[str, ...], coding: Coding
    ) -> tuple[PartialSums, tuple[RefusedColumn, ...]]:
        """The sums over all partitions, each computed where it is."""
        labels, delayed = self.reader.names, self._dask.delayed
        wanted = [self.chosen[self.names.index(name)] for name in names]
        how = (names, coding, self.types.variables, self.weight)
        sums = [
            delayed(_sums, pure=True)(part, labels, wanted, how, first=k == 0)
            for k, part in enumerate(self._parts)
        ]
        while len(sums) > 1:
            groups = [sums[start : start + FAN_IN] for start in range(0, len(sums), FAN_IN)]
            sums = [delayed(_merged, pure=True)(group) for group in groups]
        [total] = self._dask.compute(*sums)
        return total.sums, total.refused


def _check_options(options: ReadOptions) -> None:
    """Refuse what takes all rows at once, or cannot be told to the workers."""
    name = estimator_name(options.covariance_estimator)
    if name != "plain":
        raise ArgumentError(
            f"covariance_estimator is {name!r}, but the data are a Dask collection; only 'plain' "
            "moments can be summed up from parts",
            option="covariance_estimator",
        )
    if options.missing == "em":
        raise ArgumentError(
            "missing is 'em', but Dask collections take 'raise' or 'drop'; EM goes over the data "
            "many times: pass data.compute()",
            option="missing",
        )
    if options.transform is not None or options.null_values:
        raise ArgumentError(
            "Dask collections are not transformed or searched for marks of missing values here; "
            "do so with Dask"
        )
    if not isinstance(options.weights, str | int | None):
        raise ArgumentError("weights of a Dask collection must be the name of one of its columns")


def _rows(part: Any, names: Sequence[str], places: Sequence[int]) -> Rows:
    return open_memory(part, names).rows(places)


def _sums(
    part: Any,
    names: Sequence[str],
    wanted: list[int],
    how: tuple[tuple[str, ...], Coding, dict[str, Variable], int | None],
    first: bool,
) -> _Total:
    """The sums over one partition; those of the first keep rows."""
    labels, coding, variables, weight = how
    rows = _rows(part, names, wanted if weight is None else [*wanted, weight])
    if weight is not None:
        rows = with_weights(rows, names[weight])
    rows = rows.encoded(labels, variables)
    with one_blas_thread():
        sums = PartialSums(coding.n_columns, keep=first)
        sums.add(coding.columns(rows.values), rows.weights).close()
    return _Total(sums, rows.refused)


def _merged(parts: list[_Total]) -> _Total:
    """The sums over several partitions, which are left as they are."""
    total = PartialSums(parts[0].sums.n_columns)
    for part in parts:
        total.merge(part.sums)
    return _Total(total, next((part.refused for part in parts if part.refused), ()))
