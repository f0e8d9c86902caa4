"""From a table to its moments, with an audit on either side of the estimate."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from qwo.moments.arrays import Table
from qwo.moments.audit import Missing, survey
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, estimator_name, regularized
from qwo.moments.findings import Audit


def estimate_moments(table: Table, estimator: str | Any, missing: Missing) -> Sample:
    """The moments of a table under an estimator, once an audit has found no error.

    Raises
    ------
    InputError
        If the table cannot be used, or if the estimator leaves a singular matrix.

    Warns
    -----
    DataWarning
        If the table is doubtful.
    """
    plain = estimator_name(estimator) == "plain"
    seen = survey(table, missing, shrunk=not plain)
    seen.audit.enforce()
    assert seen.sample is not None, "an audit without errors leaves moments"
    if plain:
        return seen.sample
    estimate = regularized(seen.values, seen.sample, estimator)
    # The size of the sample was judged above; what remains is the matrix, whatever its origin.
    matrix = dataclasses.replace(estimate, n_samples=math.inf)
    Audit(tuple(inspect_correlation(table.names, matrix, given=True))).enforce()
    return estimate
