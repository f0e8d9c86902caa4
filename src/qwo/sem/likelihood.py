"""The log-likelihood of single rows: how well a model predicts data that it was not fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from qwo.errors import (
    ColumnNameError,
    InputError,
    MissingValuesError,
    NonNumericError,
    ShapeError,
    list_names,
)
from qwo.moments import Moments
from qwo.moments.arrays import Table
from qwo.moments.frames import is_frame
from qwo.moments.tables import as_table
from qwo.sem.regression import Regression
from qwo.types import FloatArray


def row_log_likelihood(
    moments: Moments, equations: Sequence[Regression], rows: FloatArray
) -> FloatArray:
    """The log-density of each row: the sum over variables of that given their parents."""
    if np.isnan(moments.means).any():
        raise InputError(
            "the model was fitted to moments without means, so that rows have no likelihood; fit "
            "it to data, or pass Moments.from_covariance(…, means=…)"
        )
    scores = np.asfortranarray((rows - moments.means) / moments.scales)
    distance = np.zeros(len(rows))
    constant = moments.n_variables * math.log(2 * math.pi)
    for equation in equations:
        explained = scores[:, equation.predictors] @ equation.slopes
        residual = scores[:, equation.target] - explained
        distance += np.square(residual) / equation.residual_variance
        constant += math.log(equation.residual_variance)
        constant += 2 * math.log(moments.scales[equation.target])
    return -(distance + constant) / 2


def rows_in_order(data: Any, names: Sequence[str]) -> FloatArray:
    """The rows of a table with its columns in the order of ``names``.

    The columns of a frame or file are found by name, those of an array by position.
    """
    if isinstance(data, Moments):
        raise InputError("the likelihood of rows needs the rows; got their Moments")
    named = is_frame(data) or isinstance(data, str | PathLike)
    table = as_table(data)
    refused = [column.name for column in table.refused if not named or column.name in names]
    if refused:
        raise NonNumericError(
            f"columns are not numeric: {list_names(refused)} ({table.refused[0].reason})", refused
        )
    rows = _select(table, names) if named else table.values
    if rows.shape[1] != len(names):
        raise ShapeError(
            f"the data have {rows.shape[1]} columns; wanted the {len(names)} of the model, in its "
            "order"
        )
    wrong = [names[k] for k in np.flatnonzero(~np.isfinite(rows).all(axis=0)).tolist()]
    if wrong:
        raise MissingValuesError(
            f"missing or infinite values in {list_names(wrong)}; leave those rows out", wrong
        )
    return rows


def _select(table: Table, names: Sequence[str]) -> FloatArray:
    """The columns called ``names``."""
    place = {name: k for k, name in enumerate(table.names)}
    absent = [name for name in names if name not in place]
    if absent:
        raise ColumnNameError(
            f"the model has variables that the data lack: {list_names(absent)}; the data have "
            f"{list_names(table.names)}",
            absent,
        )
    return table.values[:, [place[name] for name in names]]
