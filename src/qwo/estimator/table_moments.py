"""Moments of a table that is kept, because samples of its rows are still to be drawn."""

from __future__ import annotations

from typing import Any

from qwo.graph.dag import Indices
from qwo.moments import Moments
from qwo.moments.arrays import Table
from qwo.moments.audit import survey
from qwo.moments.covariance import Sample, estimator_name, regularized
from qwo.moments.estimation import estimate_moments


def table_moments(table: Table, estimator: str | Any) -> Moments:
    """The moments of all rows, once an audit has found no error; what is doubtful is warned of."""
    return _named(table, estimate_moments(table, estimator, "raise"), estimator)


def resampled_moments(table: Table, rows: Indices, estimator: str | Any) -> Moments:
    """The moments of some of the rows.

    Errors are raised, as where a column is constant in these rows. Warnings are not given: a part
    is smaller than the whole by intention, and all else was said of the whole.
    """
    part = Table(table.names, table.values[rows], table.refused)
    plain = estimator_name(estimator) == "plain"
    seen = survey(part, shrunk=not plain)
    if seen.audit.errors:
        seen.audit.enforce()
    assert seen.sample is not None, "an audit without errors leaves moments"
    sample = seen.sample if plain else regularized(seen.values, seen.sample, estimator)
    return _named(table, sample, estimator)


def _named(table: Table, sample: Sample, estimator: str | Any) -> Moments:
    return Moments(
        table.names,
        sample.n_samples,
        sample.means,
        sample.scales,
        sample.correlation,
        estimator_name(estimator),
    )
