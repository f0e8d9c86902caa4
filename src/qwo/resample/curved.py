"""Resamples of rows themselves, for searches that look at rows: curves, arrows from the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery import Discovery
from qwo.discovery.curved import asked_columns
from qwo.discovery.discover import discover_as
from qwo.moments.curves import refuse_rowless
from qwo.moments.tables import Table
from qwo.options import ReadOptions, SearchOptions
from qwo.resample.bootstrap import ResamplePlan
from qwo.resample.draws import Resampling, Scheme, kept_rows
from qwo.resample.options import DataRows, Prepared, prepare
from qwo.resample.runner import Replication
from qwo.search.control import Status
from qwo.types import Adjacency, Indices


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table, drawn as they are."""

    table: Table
    scheme: Scheme

    def draw(self, seed: int, number: int) -> Any:
        """The rows of one resample, as a table."""
        weights = self.scheme.weights(seed, number)
        return self.table.rows(np.repeat(np.arange(len(weights)), weights))


def _read_with(columns: int | None) -> ReadArguments:
    return cast("ReadArguments", {} if columns is None else {"columns": columns})


@dataclass(frozen=True, eq=False)
class CurvedReplication(Replication):
    """All that a replicate needs: as many columns of each variable as all data have been given."""

    columns: int | None = None

    def _search(self, drawn: Any, options: SearchOptions) -> tuple[Adjacency, Status]:
        found = discover_as(drawn, options, _read_with(self.columns))
        return found.cpdag, found.status


@dataclass(frozen=True, eq=False)
class CurvedPlan(ResamplePlan):
    """The same for searches that look at rows."""

    table: Table
    asked: int | None

    def learn(self) -> Discovery:
        """The graph of all data."""
        return discover_as(self.table, self.options, _read_with(self.asked))

    def problem(
        self, used: SearchOptions, seed: int, order: Indices | None, reference: Discovery
    ) -> Replication:
        """What every replicate needs; the number of columns is the one found on all data."""
        del order
        columns = reference.params["basis"] if used.relations == "curved" else None
        return CurvedReplication(self.prepared.source, used, seed, None, columns)


def curved_plan(
    data: Any,
    options: SearchOptions,
    reading: ReadArguments,
    resampling: Resampling,
    sample_fraction: float | None,
) -> CurvedPlan:
    """The rows, and how many columns of each variable are asked for."""
    what = 'relations="curved"' if options.relations == "curved" else 'arrows="noise"'
    asked, reading = asked_columns(reading) if options.relations == "curved" else (None, reading)
    if isinstance(data, DataRows):
        refuse_rowless(data.data, ReadOptions(missing=data.missing), what)
    else:
        refuse_rowless(data, ReadOptions(**reading), what)
    rows = DataRows.of(data, reading)
    prepared = prepare(rows, resampling, sample_fraction)
    table = kept_rows(rows.data, rows.missing)
    size = int(prepared.size)
    source: Any = TableRows(table, Scheme(resampling, len(table.values), size))
    own = Prepared(prepared.moments, source, "rows", size, prepared.digest)
    told = {"missing": rows.missing, "covariance_estimator": "plain"}
    return CurvedPlan(own, options, told, table, asked)
