"""From a table to its moments, with an audit on either side of the estimate."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from qwo.blas import blas_threads_for
from qwo.errors import ArgumentError
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing, survey
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, estimator_name, regularized
from qwo.moments.findings import Audit


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Moments of named columns under an estimator, and what the audits on the way found."""

    names: tuple[str, ...]
    sample: Sample
    estimator: str
    audit: Audit


def estimate_moments(table: Table, estimator: str | Any, missing: Missing) -> Estimate:
    """The moments of a table under an estimator, once an audit has found no error.

    Warnings are left to the caller: they stand in the audit.

    Raises
    ------
    InputError
        If the table cannot be used, or if the estimator leaves a singular matrix.
    """
    name = estimator_name(estimator)
    if missing == "em" and name != "plain":
        raise ArgumentError(
            f"missing is 'em' and covariance_estimator is {name!r}, but EM is an estimator by "
            "itself; pass covariance_estimator='plain', or missing='drop'"
        )
    n_rows, n_columns = table.values.shape
    with blas_threads_for(n_rows * n_columns**2):
        seen = survey(table, missing, shrunk=name != "plain")
    seen.audit.raise_errors()
    assert seen.sample is not None, "an audit without errors leaves moments"
    if name == "plain":
        return Estimate(table.names, seen.sample, seen.estimator, seen.audit)
    estimate = regularized(seen.values, seen.sample, estimator)
    # The size of the sample was judged above; what remains is the matrix, whatever its origin.
    matrix = dataclasses.replace(estimate, n_samples=math.inf)
    after = Audit(tuple(inspect_correlation(table.names, matrix, given=True)))
    after.raise_errors()
    return Estimate(table.names, estimate, name, Audit(seen.audit.findings + after.findings))
