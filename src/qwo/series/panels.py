"""Moments within units: a mean of its own for each, less what such means take away.

Subtracting the mean of a unit's m rows takes the variance of that mean off every moment, which
makes effects of the past too small by about (1 + effect) / m (Nickell 1981) and draws edges from
effects to causes. For stationary series that variance is

    Ω_d = Σ_h w_h γ(h + d),    w_h = Σ_u (m_u - |h|)₊ / m_u / N,

for moments of rows d apart. The autocovariances γ follow from the moments themselves, by the
autoregression that these give, in some rounds; it is no use where series wander for longer than
units last, as no mean can be told then.
"""

from __future__ import annotations

import numpy as np

from qwo.types import FloatArray, Indices

ROUNDS = 6
"""More of them correct no more, and make the moments of short units noisier."""

LASTING = 0.2
"""Share of a shock that may be left after a unit's rows."""

MOST_COLUMNS = 600
"""Lagged columns up to which moments are corrected."""

FARTHEST = 500
"""Rows over which autocovariances are followed."""


def corrected_covariance(
    covariance: FloatArray, blocks: Indices, lengths: FloatArray
) -> FloatArray | None:
    """The covariance without the bias of the units' means; None where there is no telling it.

    blocks: the columns of the present and of each lag that move, (L + 1)×n; lengths: m_u.
    """
    lags, n = len(blocks) - 1, blocks.shape[1]
    if not lags or not n or n * lags > MOST_COLUMNS or lengths.sum() <= n * lags + len(lengths):
        return None
    within = covariance[np.ix_(blocks.ravel(), blocks.ravel())]
    found, root = within, 1.0
    for _ in range(ROUNDS):
        near = _autocovariances(found, n, lags)
        slopes = _slopes(near)
        root = _largest_root(slopes)
        if root >= 1:
            return None
        found = within + _variance_of_means(near, slopes, lengths)
    if root ** float(np.median(lengths)) > LASTING:
        return None
    result = covariance.copy()
    result[np.ix_(blocks.ravel(), blocks.ravel())] = found
    return result


def _autocovariances(covariance: FloatArray, n: int, lags: int) -> list[FloatArray]:
    """γ(0) … γ(L) with γ(h) = cov(x_t, x_{t-h}): means over the places where each occurs."""
    parts = covariance.reshape(lags + 1, n, lags + 1, n).swapaxes(1, 2)
    return [
        np.mean([parts[a, a + h] for a in range(lags + 1 - h)], axis=0) for h in range(lags + 1)
    ]


def _slopes(near: list[FloatArray]) -> FloatArray:
    """A_1 … A_L of x_t = Σ_k A_k x_{t-k} + e_t, by the equations of Yule and Walker: n×nL."""
    lags = range(len(near) - 1)
    among = np.block([[near[b - a] if b >= a else near[a - b].T for b in lags] for a in lags])
    return np.asarray(np.linalg.lstsq(among, np.hstack(near[1:]).T, rcond=1e-10)[0].T)


def _largest_root(slopes: FloatArray) -> float:
    n, width = slopes.shape
    companion = np.eye(width, k=-n)
    companion[:n] = slopes
    return float(np.abs(np.linalg.eigvals(companion)).max())


def _variance_of_means(
    near: list[FloatArray], slopes: FloatArray, lengths: FloatArray
) -> FloatArray:
    """Ω_{b-a} for all lags a, b."""
    lags, n = len(near) - 1, len(slopes)
    reach = min(int(lengths.max()), FARTHEST)
    far = list(near)
    while len(far) < reach + lags:
        far.append(slopes @ np.vstack(far[: -lags - 1 : -1]))
    apart = np.abs(np.arange(1 - reach, reach))
    weights = (np.maximum(lengths - apart[:, None], 0) / lengths).sum(axis=1) / lengths.sum()
    both = np.array([*(own.T for own in far[:0:-1]), *far])
    middle = len(far) - 1
    parts = [
        np.einsum("h,hij->ij", weights, both[middle + d + 1 - reach : middle + d + reach])
        for d in range(lags + 1)
    ]
    rows = [
        [parts[b - a] if b >= a else parts[a - b].T for b in range(lags + 1)]
        for a in range(lags + 1)
    ]
    return np.block(rows).reshape((lags + 1) * n, -1)
