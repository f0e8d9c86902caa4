"""Moments of Dask arrays and data frames: sums over each partition, merged in a tree.

Nothing but the sums, n × n numbers for each partition, leaves the worker that holds the rows. The
tree depends on the number of partitions alone, so that the result is the same on any cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, ShapeError
from qwo.moments.arrays import (
    Columns,
    RefusedColumn,
    Table,
    column_names,
    default_names,
    select_columns,
    selected,
    table_from_array,
)
from qwo.moments.frames import table_from_frame
from qwo.moments.partial import PartialSums, check_weights, partial_sums
from qwo.moments.streaming import RowPolicy, StreamSurvey, survey_sums
from qwo.optional import optional_module
from qwo.types import FloatArray

FAN_IN = 8
"""How many sums are merged at a time."""


def is_dask(data: Any) -> bool:
    """Whether this is a Dask collection; Dask is not imported to tell."""
    package = type(data).__module__.partition(".")[0]
    return package.startswith("dask") and hasattr(data, "__dask_graph__")


def survey_dask(
    data: Any,
    names: Any = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
    missing: RowPolicy = "raise",
    weights: str | int | None = None,
) -> StreamSurvey:
    """Audit and moments of a Dask array or data frame, computed where its partitions are."""
    dask = optional_module("dask", "Dask collections need", "qwo[cluster]")
    if missing not in ("raise", "drop"):
        raise ArgumentError(
            f"missing is {missing!r}, but Dask collections take 'raise' or 'drop'; EM goes over "
            "the data many times: pass data.compute()"
        )
    given, parts = _partitions(data, names)
    chosen = select_columns(given, columns, drop)
    weight = None if weights is None else select_columns(given, [weights], None)[0]
    labels = column_names(given[k] for k in chosen if k != weight)
    wanted = [k for k in chosen if k != weight]
    sums = [
        dask.delayed(_sums, pure=True)(part, given, wanted, weight, missing == "raise")
        for part in parts
    ]
    while len(sums) > 1:
        sums = [
            dask.delayed(_merged, pure=True)(sums[start : start + FAN_IN])
            for start in range(0, len(sums), FAN_IN)
        ]
    [total] = dask.compute(*sums)
    return survey_sums(labels, total, missing)


def _partitions(data: Any, names: Any) -> tuple[list[str], list[Any]]:
    """Names of all columns, and the partitions as delayed objects, none of them computed."""
    if hasattr(data, "columns"):
        own = [str(name) for name in data.columns]
        parts = list(data.to_delayed())
    elif getattr(data, "ndim", None) == 2:
        own = list(default_names(data.shape[1]))
        parts = list(data.rechunk({1: -1}).to_delayed().ravel())
    else:
        raise ShapeError(
            f"the data are a Dask {type(data).__name__} of {getattr(data, 'ndim', '?')} "
            "dimensions; wanted a data frame, or an array of two: samples and variables"
        )
    labels = own if names is None else [str(name) for name in names]
    if len(labels) != len(own):
        raise ShapeError(f"got {len(labels)} names for {len(own)} columns")
    return labels, parts


def _sums(
    part: Any, names: list[str], wanted: list[int], weight: int | None, keep_bounds: bool
) -> PartialSums:
    """The sums over one partition."""
    array = isinstance(part, np.ndarray)
    table = table_from_array(part, names) if array else table_from_frame(part, names)
    weights = None
    if weight is not None:
        column = selected(table, [names[weight]], None)
        if column.refused:
            reason = column.refused[0].reason
            raise ArgumentError(f"the weights in {names[weight]!r} are {reason}")
        weights = check_weights(column.values[:, 0], f"column {names[weight]!r}")
    columns, refused = _full(table, [names[k] for k in wanted])
    sums = partial_sums(columns, weights, keep_bounds=keep_bounds)
    return replace(sums, seen=replace(sums.seen, refused=refused))


def _full(table: Table, names: list[str]) -> tuple[FloatArray, tuple[RefusedColumn, ...]]:
    """The columns of these names as rows of an array, NaN where they are not numbers."""
    refused = {column.name: column for column in table.refused if column.name in names}
    if not refused and list(table.names) == names:
        return table.values.T, ()
    places = {name: k for k, name in enumerate(table.names)}
    columns = np.full((len(names), len(table.values)), np.nan)
    for row, name in enumerate(names):
        if name not in refused:
            columns[row] = table.values[:, places[name]]
    return columns, tuple(refused.values())


def _merged(parts: list[PartialSums]) -> PartialSums:
    """The sums over several partitions, which are left as they are."""
    total = replace(parts[0], scatter=parts[0].scatter.copy(order="F"))
    for part in parts[1:]:
        own = total.weight == 0
        total = total.merged(part)
        if own:
            total = replace(total, scatter=total.scatter.copy(order="F"))
    return total
