"""Lists of those that may become parents of whom, where thousands of variables need them.

The parents of v in an order are among the variables that depend on v given all others of its
prefix. In a good order these are the Markov boundary of v, which shows in the inverse of the
correlation matrix; in a poor one, with few variables before v, those that it is correlated with.
Where most are correlated with most, lists cannot foresee what a poor order needs, and should not
come in before the first descent of the search has ended: see `are_crowded`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo.compute import to_host
from qwo.order.blocks import net_gains, whitened_within
from qwo.order.edge_test import BicRule
from qwo.order.score import ORACLE_SAMPLES, Score
from qwo.types import FloatArray, Indices

PARTIAL, MARGINAL = 50, 200
"""How many candidates a variable gets at least for their partial, and for their marginal
correlation.

With these, and lists that come in late where correlations are crowded, the search ends within an
edge's price or so of one in which all are candidates: n = 1100 … 2000, average degree 4 to 8 and
hubs, N = 5n.
"""

MOST_SIGNIFICANT = 1000
"""How many candidates a variable gets at most for their partial correlation. Hubs need hundreds:
with 50 for each, half of the searches with scale-free graphs ended far from the best score."""


CROWDED = 150
"""Graphs are crowded if more than half of the variables have more significant correlations than
this. At n = 1500 and N = 5n that is so from an average degree of 5 on; and there searches begin to
end far from the best score, by 80 edges' prices and more, if lists are there from the start."""


ROWS_AT_ONCE = 256
"""Rows that are ranked together: few calls for a device, and few megabytes for the host."""


def are_crowded(correlation: FloatArray, n_samples: float, xp: Any = np) -> bool:
    """Whether variables are correlated with so many others that lists should come in late."""
    threshold = BicRule().threshold(len(correlation), min(n_samples, ORACLE_SAMPLES))
    counts = [
        to_host(xp.count_nonzero(correlation[rows] ** 2 > threshold, axis=1)) - 1
        for rows in _batches(len(correlation))
    ]
    return bool(np.median(np.concatenate(counts)) > CROWDED)


def candidate_parents(
    correlation: FloatArray,
    precision: FloatArray,
    n_samples: float,
    *,
    partial: int = PARTIAL,
    marginal: int = MARGINAL,
    xp: Any = np,
) -> list[Indices]:
    """For each variable those with the largest partial and marginal correlations, ascending.

    So many are taken for their correlation given all others (`partial`; more, if more are
    significant with what N leaves after conditioning on n variables) and given nothing
    (`marginal`). Both matrices are arrays of `xp`; the lists are in the host's memory.
    """
    n = len(correlation)
    left = min(n_samples, ORACLE_SAMPLES) - n
    threshold = BicRule().threshold(n, left) if left >= 2 else 1.0
    scales = 1.0 / xp.sqrt(xp.diagonal(precision))
    lists: list[Indices] = []
    for rows in _batches(n):
        given_all = precision[rows] * scales * scales[rows, None]
        significant = to_host(xp.count_nonzero(given_all**2 > threshold, axis=1)) - 1
        counts = np.maximum(partial, np.minimum(significant, MOST_SIGNIFICANT))
        alone = np.full(len(counts), marginal)
        lists += _either(
            _largest(given_all, rows, counts, xp), _largest(correlation[rows], rows, alone, xp)
        )
    return lists


def block_candidates(
    correlation: FloatArray,
    precision: FloatArray,
    sizes: Indices,
    n_samples: float,
    *,
    score: Score,
    leading: Indices | None = None,
    partial: int = PARTIAL,
    marginal: int = MARGINAL,
) -> tuple[list[Indices], bool]:
    """The same for variables that own blocks of columns, and whether they are crowded.

    Candidates are ranked by what they explain of a variable less what the edge would cost, given
    all others and given nothing. The correlations are those of columns whitened within each block.
    """
    size = min(n_samples, ORACLE_SAMPLES)
    n, left = len(sizes), max(size - len(correlation), 2.0)
    within = whitened_within(precision, sizes)
    # Given all others a variable is taken whole: given its own functions nothing is left of it.
    given_all = net_gains(within, sizes, sizes, left, score)
    lead = sizes if leading is None else leading
    given_nothing = net_gains(correlation, sizes, lead, size, score)
    everyone = slice(0, n)
    counts = np.maximum(partial, np.minimum((given_all > 0).sum(axis=1), MOST_SIGNIFICANT))
    lists = _either(
        _largest(given_all - given_all.min(), everyone, counts, np),
        _largest(given_nothing - given_nothing.min(), everyone, np.full(n, marginal), np),
    )
    crowded = bool(np.median((given_nothing > 0).sum(axis=1)) > CROWDED)
    return lists, crowded


def _batches(n: int) -> list[slice]:
    return [slice(first, min(first + ROWS_AT_ONCE, n)) for first in range(0, n, ROWS_AT_ONCE)]


def _either(first: list[Indices], second: list[Indices]) -> list[Indices]:
    """What is in one of two lists, ascending, for each variable."""
    return [np.unique(np.concatenate(both)) for both in zip(first, second, strict=True)]


def _largest(values: Any, rows: slice, counts: Indices, xp: Any) -> list[Indices]:
    """In each of some rows, so many other variables with the largest values by magnitude."""
    sizes = xp.abs(values)
    height, n = sizes.shape
    sizes[xp.arange(height), xp.arange(rows.start, rows.stop)] = -1.0
    counts = np.minimum(counts, n - 1)
    found: list[Indices] = [np.empty(0, dtype=np.intp)] * height
    for count in np.unique(counts).tolist():
        alike = np.flatnonzero(counts == count)
        ranked = xp.argpartition(sizes[xp.asarray(alike)], n - 1 - count, axis=1)
        for row, listed in zip(alike.tolist(), to_host(ranked[:, n - count :]), strict=True):
            found[row] = listed
    return found
