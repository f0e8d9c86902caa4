"""Rows of a table grouped by which of their values are missing, for work on many rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qwo.types import FloatArray, Indices, Mask

CHUNK_ENTRIES = 1 << 20
"""Entries of the stack of small matrices that is alive at a time: eight megabytes."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternGroup:
    """Patterns with the same number m of missing values, and the rows that have them.

    Attributes
    ----------
    columns : ndarray of shape (P, m)
        The missing columns of each pattern.
    counts : ndarray of shape (P,)
        How many rows have it.
    rows : ndarray of shape (R,)
        Those rows, pattern after pattern.
    owners : ndarray of shape (R,)
        The pattern of each row.
    """

    columns: Indices
    counts: FloatArray
    rows: Indices
    owners: Indices

    def blocks(self, matrix: FloatArray) -> FloatArray:
        """The stack of submatrices at the missing columns: shape (P, m, m)."""
        block: FloatArray = matrix[self.columns[:, :, None], self.columns[:, None, :]]
        return block


def group_patterns(missing: Mask) -> list[PatternGroup]:
    """The groups of all rows with missing values, cut so that the stack of each fits the memory."""
    affected = np.flatnonzero(missing.any(axis=1))
    packed = np.packbits(missing[affected], axis=1)
    _, first, owner = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    owner = owner.reshape(-1)
    patterns = missing[affected[first]]
    sizes = patterns.sum(axis=1)
    groups: list[PatternGroup] = []
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size)
        number = np.full(len(patterns), -1)
        number[places] = np.arange(len(places))
        columns = np.nonzero(patterns[places])[1].reshape(len(places), size)
        mine = np.flatnonzero(number[owner] >= 0)
        mine = mine[np.argsort(number[owner[mine]], kind="stable")]
        groups.extend(_cut(columns, affected[mine], number[owner[mine]]))
    return groups


def _cut(columns: Indices, rows: Indices, owners: Indices) -> Iterator[PatternGroup]:
    """Runs of rows whose small matrices, one for each row at worst, make up a chunk."""
    most = max(CHUNK_ENTRIES // max(columns.shape[1] ** 2, 1), 1)
    for start in range(0, len(rows), most):
        part = owners[start : start + most]
        seen, local, counts = np.unique(part, return_inverse=True, return_counts=True)
        yield PatternGroup(
            columns[seen], counts.astype(np.float64), rows[start : start + most], local.reshape(-1)
        )
