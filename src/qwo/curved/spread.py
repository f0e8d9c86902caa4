"""Noise whose spread goes with causes: which lines of a graph it may have directed wrongly."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from qwo.curved.noise import parents_of
from qwo.curved.result import edge_shares
from qwo.moments.columns import Coding
from qwo.moments.curves import RowSample
from qwo.moments.moments import Moments
from qwo.order.blocks import BlockScore
from qwo.types import Adjacency, FloatArray, Mask

ALARM = 0.01
"""Level of the test of equal variance, over all families together."""

SHOULDER = 0.25
"""Squared residuals, in units of their variance, below which their logarithm levels off."""


def linear_edges(moments: Moments, dag: Adjacency, price: float) -> Mask:
    """Edges whose curve is not worth more than its line, given what is left of the effect: n×n."""
    _line, bend = edge_shares(moments, dag)
    if not moments.coding.has_curves:
        return np.asarray(dag != 0)
    left = np.maximum(explained_variances(moments, dag), 1e-9)
    worth = moments.n_samples * np.log1p(bend / left)
    return np.asarray((dag != 0) & (worth < price * (moments.coding.sizes[:, None] - 1)))


def explained_variances(moments: Moments, dag: Adjacency) -> FloatArray:
    """What is left of each variable given its parents, in units of its variance."""
    score = BlockScore(moments)
    return np.exp([score.log_det(v, parents) for v, parents in enumerate(parents_of(dag))])


def unequal_spread(sample: RowSample, coding: Coding, dag: Adjacency, tested: Mask) -> Mask:
    """Linear families in which the size of residuals goes with the parents or their squares.

    N R² of a regression of g(r) = log(1/4 + r²) - c r on both, as in Koenker's form of the test of
    Breusch and Pagan: large residuals of heavy tails would decide on squares themselves. c is the
    mean slope of the logarithm, so that errors of the coefficients do not move the mean of g where
    noise is skewed (Machado and Santos Silva, 2000). Families are named at `ALARM` each, but none
    unless one of them stands out among all that are `tested`.
    """
    values = sample.columns.T
    centre, spread = values.mean(axis=1), values.std(axis=1)
    columns = (values - centre[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]
    found = np.ones(len(dag))
    judged = [v for v in np.flatnonzero(tested).tolist() if dag[:, v].any()]
    for v in judged:
        given = columns[coding.columns_of(np.flatnonzero(dag[:, v]))]
        own = columns[coding.starts[v]]
        left = own - fitted_by(given, own)
        left /= max(float(left.std()), 1e-12)
        size = np.log(SHOULDER + left * left)
        size -= np.mean(2 * left / (SHOULDER + left * left)) * left
        size -= size.mean()
        shown = np.clip(given, -4, 4)
        design = np.concatenate([shown, shown**2])
        design = design - design.mean(axis=1, keepdims=True)
        fitted = fitted_by(design, size)
        share = float(fitted @ fitted / max(size @ size, 1e-300))
        found[v] = gammaincc(len(design) / 2, len(size) * share / 2)
    stands_out = found.min() * max(len(judged), 1) < ALARM
    return np.asarray((found < ALARM) & stands_out)


def fitted_by(
    design: FloatArray, values: FloatArray, weights: FloatArray | float = 1.0
) -> FloatArray:
    """What a regression on some columns, each a row of numbers, makes of values."""
    weighed = design * weights
    inverse = np.linalg.pinv(weighed @ design.T, rcond=1e-12, hermitian=True)
    return np.asarray((inverse @ (weighed @ values)) @ design)


def families_joined(dag: Adjacency, chosen: Mask) -> Mask:
    """Pairs that stand in one family, a variable and its parents, of those chosen: n×n.

    A variable stands in a family with itself if it is in one at all.
    """
    together = np.zeros(dag.shape, bool)
    for v in np.flatnonzero(chosen).tolist():
        family = [v, *np.flatnonzero(dag[:, v]).tolist()]
        together[np.ix_(family, family)] = True
    return together
