"""Moments of Dask arrays and data frames: sums over each partition, merged in a tree.

Nothing but the sums, n × n numbers for each partition, leaves the worker that holds the rows. The
tree depends on the number of partitions alone, so that the result is the same on any cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from qwo.blas import one_blas_thread
from qwo.errors import ArgumentError, ShapeError
from qwo.moments.arrays import RefusedColumn, Rows, rows_of_table, table_of
from qwo.moments.audit import Estimate, inspect_types, survey
from qwo.moments.columns import chosen_columns, column_names, default_names
from qwo.moments.encoding import ColumnTypes, encoded
from qwo.moments.findings import Audit
from qwo.moments.kinds import check_types
from qwo.moments.partial import PartialSums, check_weights
from qwo.moments.plan import check_width
from qwo.optional import optional_module
from qwo.options import ReadOptions, estimator_name

FAN_IN = 8
"""How many sums are merged at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """Sums over rows, and the columns that are not numbers."""

    sums: PartialSums
    refused: tuple[RefusedColumn, ...]


def is_dask(data: Any) -> bool:
    """Whether this is a Dask collection; Dask is not imported to tell."""
    package = type(data).__module__.partition(".")[0]
    return package.startswith("dask") and hasattr(data, "__dask_graph__")


def estimate_dask(source: Any, options: ReadOptions) -> Estimate:
    """Audited moments of a Dask collection, computed where its partitions are."""
    _check_options(options)
    given, parts = partitions(source, options.names)
    chosen, weight = chosen_columns(given, options)
    names = column_names(given[k] for k in chosen)
    check_width(len(names))
    types = ColumnTypes(check_types(options.types, names))
    odd = types.needed
    while True:
        if odd:
            types.find(odd, level_rows(parts, given, [given.index(name) for name in odd]), odd)
        left = [k for k in chosen if given[k] not in types.refused]
        kept = tuple(given[k] for k in left)
        if len(kept) < 2 or types.refused:
            findings = inspect_types(kept, tuple(types.refused.values()))
            return Estimate(names, None, "plain", Audit(tuple(findings)))
        coding = types.coding(kept)
        total = sum_partitions(parts, given, left, weight, types)
        if not total.refused:
            break
        odd = [column.name for column in total.refused]
    with one_blas_thread():
        return survey(names, total.sums, missing=options.missing, coding=coding)


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
    if options.transform is not None or options.marks:
        raise ArgumentError(
            "Dask collections are not transformed or searched for marks of missing values here; "
            "do so with Dask"
        )
    if not isinstance(options.weights, str | int | None):
        raise ArgumentError("weights of a Dask collection must be the name of one of its columns")


def partitions(data: Any, names: Sequence[object] | None) -> tuple[list[str], list[Any]]:
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


def level_rows(parts: list[Any], given: list[str], wanted: list[int]) -> list[Rows]:
    """The columns of each partition whose levels are to be found."""
    dask = optional_module("dask", "Dask collections need", "dask[distributed]")
    found = [dask.delayed(_levels, pure=True)(part, given, wanted) for part in parts]
    return list(dask.compute(*found))


def _levels(part: Any, names: list[str], wanted: list[int]) -> Rows:
    return rows_of_table(table_of(part, names), [names[k] for k in wanted])


def sum_partitions(
    parts: list[Any],
    given: list[str],
    wanted: list[int],
    weight: int | None,
    types: ColumnTypes,
) -> Total:
    """The sums over all partitions, each computed where it is."""
    dask = optional_module("dask", "Dask collections need", "dask[distributed]")
    sums = [
        dask.delayed(_sums, pure=True)(part, given, wanted, weight, (types, k == 0))
        for k, part in enumerate(parts)
    ]
    while len(sums) > 1:
        sums = [
            dask.delayed(_merged, pure=True)(sums[start : start + FAN_IN])
            for start in range(0, len(sums), FAN_IN)
        ]
    [total] = dask.compute(*sums)
    assert isinstance(total, Total)
    return total


def _sums(
    part: Any,
    names: list[str],
    wanted: list[int],
    weight: int | None,
    how: tuple[ColumnTypes, bool],
) -> Total:
    """The sums over one partition; those of the first keep rows."""
    table, (types, first) = table_of(part, names), how
    labels = [names[k] for k in wanted]
    rows = encoded(rows_of_table(table, labels), labels, types.variables)
    coding = types.coding(labels)
    if weight is not None:
        rows = with_weights(rows, rows_of_table(table, [names[weight]]), names[weight])
    with one_blas_thread():
        values = rows.values if coding is None else coding.expand(rows.values)
        sums = PartialSums(values.shape[1], keep=first).add(values, rows.weights).close()
    return Total(sums, rows.refused)


def with_weights(rows: Rows, column: Rows, name: str) -> Rows:
    """Rows with the weights in another column."""
    if column.refused:
        raise ArgumentError(f"the weights in {name!r} are {column.refused[0].reason}")
    return replace(rows, weights=check_weights(column.values[:, 0], f"column {name!r}"))


def _merged(parts: list[Total]) -> Total:
    """The sums over several partitions, which are left as they are."""
    total = PartialSums(parts[0].sums.n_columns)
    for part in parts:
        total.merge(part.sums)
    return Total(total, next((part.refused for part in parts if part.refused), ()))
