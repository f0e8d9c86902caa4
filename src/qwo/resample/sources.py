"""Where the moments of a resample come from: weights of rows, rows themselves, or a normal model.

Each source draws with a generator of its own for each replicate, so that who asks and when does not
matter. Resamples that no graph can be learnt from raise an `InputError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal, Protocol

import numpy as np

from qwo.errors import ConstantColumnError, list_names
from qwo.moments import Moments
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing
from qwo.moments.correlation_audit import inspect_correlation
from qwo.moments.covariance import Sample, split_covariance
from qwo.moments.findings import Audit
from qwo.resample.table_moments import resampled_moments
from qwo.resample.weighted import draw_weights, weighted_moments
from qwo.resample.wishart import draw_scatter
from qwo.types import FloatArray

Method = Literal["rows", "parametric"]


class Source(Protocol):
    """What draws the moments of a resample."""

    def draw(self, rng: np.random.Generator) -> Moments:
        """The moments of one resample."""
        ...


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Resamples of the rows of a table, as weights.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    scores : ndarray of shape (N, n), C-contiguous
        The columns with mean 0 and standard deviation 1: all resamples read this one table.
    means, scales : ndarray of shape (n,)
        What takes scores back to the units of the data.
    size : int
        Rows of a resample.
    replace : bool
        Whether a row may be drawn more than once.
    """

    names: tuple[str, ...]
    scores: FloatArray
    means: FloatArray
    scales: FloatArray
    size: int
    replace: bool

    def draw(self, rng: np.random.Generator) -> Moments:
        """The plain moments of one resample."""
        weights = draw_weights(rng, len(self.scores), self.size, replace=self.replace)
        sample = weighted_moments(self.scores, weights)
        if sample is None:
            present = self.scores[weights > 0]
            constant = list(compress(self.names, np.ptp(present, axis=0) == 0))
            raise ConstantColumnError(
                f"columns are constant in the resample: {list_names(constant)}", constant
            )
        _check(self.names, sample, int(np.count_nonzero(weights)))
        means = self.means + self.scales * sample.means
        scales = self.scales * sample.scales
        return Moments(self.names, float(self.size), means, scales, sample.correlation)


@dataclass(frozen=True, eq=False)
class RefittedRows:
    """Resamples of the rows of a table, for estimators that need the rows themselves."""

    table: Table
    size: int
    replace: bool
    estimator: str | Any
    missing: Missing

    def draw(self, rng: np.random.Generator) -> Moments:
        """The moments of one resample under the estimator."""
        n_rows = len(self.table.values)
        weights = draw_weights(rng, n_rows, self.size, replace=self.replace)
        rows = np.repeat(np.arange(n_rows), weights)
        return resampled_moments(self.table, rows, self.estimator, self.missing)


@dataclass(frozen=True, eq=False)
class NormalModel:
    """Samples of a normal distribution with given moments: the parametric bootstrap.

    Attributes
    ----------
    moments : Moments
        The moments.
    root : ndarray, n×n
        A square root of their correlation matrix.
    size : float
        N of a sample.
    """

    moments: Moments
    root: FloatArray
    size: float

    def draw(self, rng: np.random.Generator) -> Moments:
        """The moments of one sample."""
        scatter = draw_scatter(rng, self.root, self.size - 1)
        spans, correlation = split_covariance(scatter)
        scales = spans / math.sqrt(self.size) * self.moments.scales
        sample = Sample(self.size, self.moments.means, scales, correlation)
        _check(self.moments.names, sample, self.size)
        return Moments(self.moments.names, self.size, sample.means, scales, correlation)


def _check(names: Sequence[str], sample: Sample, distinct: float) -> None:
    """Raise if columns are copies or combinations of others, unless for want of distinct rows.

    A resample with replacement of N rows has the rank of its distinct rows, about 0.63 N: beyond so
    many columns it is as singular as any sample with more columns than rows.
    """
    seen = inspect_correlation(names, replace(sample, n_samples=float(distinct)))
    errors = tuple(finding for finding in seen if finding.severity == "error")
    Audit(errors).raise_errors()
