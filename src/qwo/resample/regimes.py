"""Resamples of rows within regimes, and the classes learnt from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery import Discovery
from qwo.discovery.discover import discover_as
from qwo.discovery.regimes import RegimeKnowledge, learn_regimes
from qwo.errors import ArgumentError
from qwo.options import SearchOptions
from qwo.regimes.reading import read_regimes, regime_options, regime_rows
from qwo.regimes.sums import RegimeSums
from qwo.resample.bootstrap import ResamplePlan
from qwo.resample.draws import Resampling, Scheme
from qwo.resample.options import Prepared, check_size, digest_of
from qwo.resample.runner import Replication
from qwo.search.control import Status
from qwo.types import Adjacency, FloatArray, Indices


@dataclass(frozen=True, eq=False)
class RegimeRows:
    """Rows of which a resample has the same share of each regime.

    ``sizes`` says how many consecutive columns each variable owns.
    """

    columns: FloatArray
    regimes: tuple[Indices, ...]
    schemes: tuple[Scheme, ...]
    sizes: tuple[int, ...]

    def draw(self, seed: int, number: int) -> RegimeSums:
        """The sums of one resample, regime by regime."""
        parts = []
        for k, (rows, scheme) in enumerate(zip(self.regimes, self.schemes, strict=True)):
            # A stream of its own for each regime.
            weights = scheme.weights(seed + (k << 64), number)
            parts.append(self.columns[np.repeat(rows, weights)])
        return RegimeSums.of(parts, self.sizes)


@dataclass(frozen=True, eq=False)
class RegimeReplication(Replication):
    """All that a replicate within regimes needs besides its number."""

    known: RegimeKnowledge | None = None

    def _search(self, drawn: Any, options: SearchOptions) -> tuple[Adjacency, Status]:
        assert self.known is not None
        assert self.order is not None
        return learn_regimes(drawn, self.order, options, self.known)


@dataclass(frozen=True, eq=False)
class RegimePlan(ResamplePlan):
    """The same for rows of several regimes."""

    data: Any
    given: ReadArguments
    known: RegimeKnowledge

    def learn(self) -> Discovery:
        """The graph of all data."""
        return discover_as(self.data, self.options, self.given)

    def problem(
        self, used: SearchOptions, seed: int, order: Indices | None, reference: Discovery
    ) -> Replication:
        """What every replicate needs; all searches start from the order found on all data."""
        del order
        return RegimeReplication(self.prepared.source, used, seed, reference.order, self.known)


def regime_plan(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments,
    resampling: Resampling,
    sample_fraction: float | None,
) -> RegimePlan:
    """The rows with their regimes, and what is known of these."""
    if {"relations", "arrows"} & set(options.dropped):
        raise ArgumentError(
            "resamples of several conditions are searched by lines, and for classes: leave "
            "relations and arrows out, or resample the rows of one condition",
            option="relations" if "relations" in options.dropped else "arrows",
        )
    options = regime_options(data, options)
    given = read_regimes(data, options, reading)
    table, labels = regime_rows(data, options, reading)
    coding = given.moments.coding
    columns = np.ascontiguousarray(coding.recoded(table.values, table.coding))
    regimes = tuple(np.flatnonzero(labels == label) for label in given.labels)
    schemes = tuple(
        Scheme(resampling, len(own), int(check_size(len(own), resampling, sample_fraction)))
        for own in regimes
    )
    source: Any = RegimeRows(columns, regimes, schemes, tuple(coding.sizes.tolist()))
    digest = digest_of((*table.names, *labels.tolist()), table.values)
    size = sum(scheme.size for scheme in schemes)
    return RegimePlan(
        Prepared(given.moments, source, "rows", size, digest),
        options,
        {"missing": reading.get("missing", "raise"), "covariance_estimator": "plain"},
        data,
        reading,
        RegimeKnowledge.of(options, given.labels, given.moments.names),
    )
