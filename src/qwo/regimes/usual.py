"""The covariance that the usual equations of all variables imply together.

The usual equation of a variable is that of the regimes that leave it alone. Each variable is
regressed on all that precede it in an order of the DAG, in the rows of these regimes less their
means; put together, the regressions are those of one population in which nothing was touched. Of
the others nothing is used: rows of a changed equation would bend coefficients towards it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qwo.moments.moments import Moments
from qwo.moments.sums import split_covariance
from qwo.regimes.sums import RegimeSums
from qwo.types import Adjacency, Indices, Mask

RIDGE = 1e-9

ROWS_PER_PREDICTOR = 3
"""With fewer rows a variable is regressed on its parents alone."""


def usual_moments(
    moments: Moments, sums: RegimeSums, dag: Adjacency, order: Indices, touched: Mask
) -> Moments:
    """Moments of the usual equations; `touched` has regimes in rows, sums the units of the data.

    A variable that all regimes touch, or that never varies in the others, has the equation of all
    rows. As many samples are counted as
    the variable with the fewest rows has, so that no standard error is too small.
    """
    ends = np.cumsum(sums.sizes)
    owned = [np.arange(end - size, end) for end, size in zip(ends, sums.sizes, strict=True)]
    means, covariance = np.zeros(ends[-1]), np.zeros((ends[-1], ends[-1]))
    fewest, before = float(sums.rows.sum()), np.empty(0, dtype=np.intp)
    for v in order.tolist():
        calm = ~touched[:, v]
        moves = sums.covariances[:, owned[v], owned[v]] > 1e-12 * moments.scales[owned[v]] ** 2
        if not moves[calm].any(axis=0).all():
            calm = np.ones(sums.n_regimes, dtype=bool)
        rows, centre, within = sums.within(calm)
        own, known = owned[v], before
        if rows < ROWS_PER_PREDICTOR * len(known):
            parents = [owned[p] for p in np.flatnonzero(dag[:, v])]
            known = np.concatenate([np.empty(0, dtype=np.intp), *parents])
        among = within[np.ix_(known, known)]
        # In the units of the data: what is constant in the calm regimes explains nothing there.
        ridge = RIDGE * np.diag(moments.scales[known] ** 2)
        slopes = np.linalg.solve(among + ridge, within[np.ix_(known, own)])
        residual = within[np.ix_(own, own)] - within[np.ix_(own, known)] @ slopes
        means[own] = centre[own] + (means[known] - centre[known]) @ slopes
        cross = covariance[np.ix_(before, known)] @ slopes
        covariance[np.ix_(before, own)], covariance[np.ix_(own, before)] = cross, cross.T
        explained = slopes.T @ covariance[np.ix_(known, known)] @ slopes
        covariance[np.ix_(own, own)] = residual + (explained + explained.T) / 2
        fewest, before = min(fewest, rows), np.concatenate([before, own])
    scales, correlation = split_covariance(covariance)
    return replace(
        moments, n_samples=fewest, means=means, scales=scales, correlation=correlation, found=None
    )
