"""Rows that belong together: their clusters, and how many independent rows they are worth.

Of two variables whose shares of variance between clusters are ρ₁ and ρ₂ (intraclass correlations),
a sum of products over rows has 1 + (m - 1) ρ₁ρ₂ times the variance of one over independent rows,
m being the mean size of the cluster of a row (Moulton 1986). The mean of this design effect over
all pairs of variables divides N. A pair of variables that are constant within clusters is worth
less than that, a pair that varies freely more: what each edge is worth, a bootstrap that draws
whole clusters tells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qwo.errors import ArgumentError
from qwo.moments.audit import Audit, Finding
from qwo.moments.moments import Moments
from qwo.moments.tables import Table
from qwo.types import FloatArray, Indices

if TYPE_CHECKING:
    from qwo.moments.reading import TableReading

FEWEST = 3
"""Clusters without which nothing can be told of how they differ."""

FEW = 20
"""Clusters below which that is rough."""

EXPLAINED = ("serial", "repeated-rows", "clusters")
"""What the audit says of dependent rows where nobody has told it of clusters."""


def cluster_numbers(reading: TableReading) -> Indices:
    """The number of the cluster of each row; refused where a row has none, or clusters are few."""
    assert reading.group is not None
    name, labels = str(reading.reader.names[reading.group]), reading.labels()
    without = int((labels == "").sum())
    if without:
        raise ArgumentError(
            f"{without} rows have no value of {name!r}, the column of clusters; leave these rows "
            "out, or give them a cluster",
            [name],
            option="cluster",
        )
    different, numbers = np.unique(labels, return_inverse=True)
    if len(different) < FEWEST:
        raise ArgumentError(
            f"{name!r} has {len(different)} different values, but clusters are many, such as "
            "patients; to tell conditions apart, give regime, or keep it as a variable",
            [name],
            option="cluster",
        )
    return numbers.astype(np.intp)


def design_effect(columns: FloatArray, clusters: Indices) -> float:
    """By how much clusters raise the variance of a sum of products, on average over all pairs."""
    shares = intraclass_correlations(columns, clusters)
    n, counts = len(shares), np.bincount(clusters)
    size = float((counts.astype(np.float64) ** 2).sum() / counts.sum())
    pairs = (shares.sum() ** 2 - (shares**2).sum()) / max(n * (n - 1), 1)
    return 1.0 + max(size - 1.0, 0.0) * float(pairs)


def intraclass_correlations(columns: FloatArray, clusters: Indices) -> FloatArray:
    """The share of the variance of each column between clusters, by analysis of variance."""
    counts = np.bincount(clusters).astype(np.float64)
    n_rows, n_clusters = counts.sum(), len(counts)
    order = np.argsort(clusters, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts[:-1])]).astype(np.intp)
    centred = columns[order] - columns.mean(axis=0)
    means = np.add.reduceat(centred, starts, axis=0) / counts[:, None]
    between = (counts[:, None] * means**2).sum(axis=0)
    within = np.maximum((centred**2).sum(axis=0) - between, 0.0) / max(n_rows - n_clusters, 1.0)
    typical = (n_rows - (counts**2).sum() / n_rows) / (n_clusters - 1)
    variance = np.maximum(between / (n_clusters - 1) - within, 0.0) / max(typical, 1e-300)
    total = variance + within
    shares: FloatArray = np.divide(variance, total, out=np.zeros_like(total), where=total > 0)
    return shares


def effective_share(table: Table) -> float:
    """What a row counts as, of an independent one; 1 where rows stand for themselves.

    Rows in which something is missing take no part in comparing clusters.
    """
    if table.clusters is None:
        return 1.0
    complete = np.isfinite(table.values).all(axis=1)
    rows = table.rows(complete) if complete.sum() > 2 * FEWEST else table
    assert rows.clusters is not None
    _, clusters = np.unique(rows.clusters, return_inverse=True)
    return 1.0 / design_effect(np.nan_to_num(rows.columns()), clusters)


def with_effective_size(found: Moments | Audit, table: Table) -> Moments | Audit:
    """Moments with the effective N of clustered rows; as they are where rows are on their own."""
    if table.clusters is None:
        return found
    audit = (found if isinstance(found, Audit) else found.audit()).without(EXPLAINED)
    if isinstance(found, Audit):
        return audit
    size, many = effective_share(table) * found.n_samples, len(np.unique(table.clusters))
    rough = f"; from {many} clusters that is rough" if many < FEW else ""
    note = Finding(
        "effective-size",
        "warning" if rough else "note",
        (),
        f"{found.n_samples:.10g} rows in {many} clusters count as {size:.0f} independent ones, "
        f"because rows of a cluster resemble each other{rough}",
    )
    return replace(found, n_samples=size, found=audit.beside(after=[note]))
