"""New rows added to moments that are known, without reading the old rows again."""

from __future__ import annotations

from os import PathLike
from typing import Any

from qwo.errors import NonNumericError, ShapeError
from qwo.moments.arrays import Table, selected
from qwo.moments.covariance import Sample
from qwo.moments.estimation import Estimate
from qwo.moments.frames import is_frame
from qwo.moments.partial import partial_sums, sums_of_sample
from qwo.moments.source import ReadOptions, plain_estimate, read_source
from qwo.moments.streaming import RowPolicy, survey_sums
from qwo.moments.table_audit import inspect_types
from qwo.moments.tables import as_table


def updated_estimate(
    names: tuple[str, ...], sample: Sample, data: Any, missing: RowPolicy
) -> Estimate:
    """Audited moments of a sample's rows and of new ones."""
    table = _new_rows(names, data)
    if table.refused:
        [finding, *_] = inspect_types(table.names, table.refused)
        raise NonNumericError(finding.message, finding.columns)
    new = partial_sums(table.values.T, keep_bounds=missing == "raise")
    return plain_estimate(survey_sums(names, sums_of_sample(sample).merged(new), missing))


def _new_rows(names: tuple[str, ...], data: Any) -> Table:
    """The columns of the names; those of an array by position."""
    if isinstance(data, str | PathLike):
        return read_source(data, ReadOptions(columns=names))
    if is_frame(data):
        return selected(as_table(data), names, None)
    table = as_table(data)
    width = len(table.names) + len(table.refused)
    if width != len(names):
        raise ShapeError(f"the new rows have {width} columns; wanted {len(names)}, as before")
    return table
