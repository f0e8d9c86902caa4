"""From data to a source of resamples, and the fingerprint by which a run is known again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.errors import ArgumentError, SampleSizeError
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.moments.arrays import Table
from qwo.moments.audit import Missing
from qwo.moments.covariance import Sample, estimator_name, standardized
from qwo.moments.tables import as_table
from qwo.resample.options import check_size
from qwo.resample.sources import Method, NormalModel, RefittedRows, Source, WeightedRows
from qwo.resample.table_moments import kept_rows, table_moments
from qwo.resample.wishart import square_root
from qwo.types import FloatArray

BLOCK_ROWS = 4096

FREE_PARAMS = ("n_resamples", "tolerance", "shard")
"""Parameters that say which replicates are run; none of the replicates depends on them."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """The moments of all data, and what draws resamples of them.

    Attributes
    ----------
    moments : Moments
        Of all data.
    source : Source
        What draws the moments of a resample.
    method : str
        ``"rows"`` or ``"parametric"``.
    size : float
        Rows, or N, of a resample.
    digest : str
        Of the data, bit by bit.
    """

    moments: Moments
    source: Source
    method: Method
    size: float
    digest: str


def prepare(
    data: Any, *, sample_fraction: float, replace: bool, estimator: str | Any, missing: Missing
) -> Prepared:
    """Look at the data once, for all replicates."""
    if isinstance(data, Moments):
        return _prepare_moments(
            as_moments(data, covariance_estimator=estimator), sample_fraction, replace
        )
    table = data if isinstance(data, Table) else as_table(data)
    moments = table_moments(table, estimator, missing)
    table = kept_rows(table, missing)
    size = round(check_size(len(table.values), sample_fraction, drawn_back=replace))
    source = _source(
        table, moments, size=size, replace=replace, estimator=estimator, missing=missing
    )
    return Prepared(moments, source, "rows", size, digest_of(table.names, table.values))


def _prepare_moments(moments: Moments, sample_fraction: float, replace: bool) -> Prepared:
    if moments.is_oracle:
        raise SampleSizeError(
            "exact moments (N = ∞) have nothing to resample; give the number of samples, as in "
            "Moments.from_covariance(matrix, n_samples=1000)"
        )
    if not replace:
        raise ArgumentError(
            "replace=False draws rows, but Moments have none: their bootstrap is parametric; leave "
            "replace out, or give the data themselves"
        )
    size = check_size(moments.n_samples, sample_fraction, drawn_back=True)
    source = NormalModel(moments, square_root(moments.correlation), size)
    digest = digest_of((*moments.names, f"{moments.n_samples!r}"), moments.correlation)
    return Prepared(moments, source, "parametric", size, digest)


def _source(
    table: Table,
    moments: Moments,
    *,
    size: int,
    replace: bool,
    estimator: str | Any,
    missing: Missing,
) -> Source:
    """Weights where moments can be had from them; the rows themselves for any other estimator."""
    complete = bool(np.isfinite(table.values).all())
    if estimator_name(estimator) != "plain" or not complete:
        return RefittedRows(table, size, replace, estimator, "raise" if complete else missing)
    sample = Sample(moments.n_samples, moments.means, moments.scales, moments.correlation)
    scores = np.ascontiguousarray(standardized(table.values, sample))
    return WeightedRows(table.names, scores, moments.means, moments.scales, size, replace)


def digest_of(texts: tuple[str, ...], values: FloatArray) -> str:
    """A digest of texts and of an array, whatever its memory layout."""
    digest = hashlib.sha256(json.dumps([texts, values.shape]).encode())
    for start in range(0, len(values), BLOCK_ROWS):
        digest.update(values[start : start + BLOCK_ROWS].tobytes())
    return digest.hexdigest()


def fingerprint_of(
    digest: str, params: Mapping[str, Any], knowledge: ResolvedKnowledge | None
) -> str:
    """A digest of all that replicates depend on: data, parameters, knowledge."""
    depends = {key: value for key, value in params.items() if key not in FREE_PARAMS}
    result = hashlib.sha256(json.dumps([digest, depends], sort_keys=True).encode())
    if knowledge is not None:
        for matrix in (knowledge.forbidden, knowledge.required, knowledge.before):
            result.update(np.packbits(matrix).tobytes())
    return result.hexdigest()
