"""Bent scales: whether lines between normal scores explain rows better than sums of functions.

A variable may be a sum of effects and noise seen through a bent scale, y = g(Σ b x + e): a skewed
measure, or noise that multiplies. Then noise is not added on the scale of y, and its shape there
tells nothing of arrows. Normal scores undo any such scale. The likelihood of lines between them, a
Gaussian copula on a DAG, times the density of each variable, is one of the rows themselves: it can
be compared with that of residuals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from qwo.columns.recipes import Coding
from qwo.curved.fit import ranks_of
from qwo.curved.noise import NoiseModel, parents_of, vuong
from qwo.moments.curves import RowSample
from qwo.types import Adjacency, FloatArray


def in_scores(sample: RowSample, coding: Coding) -> RowSample:
    """The rows with normal scores in the place of numbers."""
    columns = np.array(sample.columns, order="F")
    for variable, start in zip(coding.variables, coding.starts.tolist(), strict=True):
        if not variable.levels:
            columns[:, start] = ndtri(ranks_of(columns[:, start], np.ones(len(columns))))
    return replace(sample, columns=columns)


def scores_ahead(
    model: NoiseModel, dag: Adjacency, scores: RowSample, coding: Coding, lines: Adjacency
) -> float:
    """Vuong's z of lines between normal scores against a DAG under a model of residuals.

    The families of variables with a density count. Scores have a standard normal density each, in
    whose place comes that of the variable.
    """
    weights = model.weights / model.weights.sum()
    given = scores.columns.T - (scores.columns.T @ weights)[:, None]
    given = given / np.sqrt(np.maximum(given**2 @ weights, 1e-300))[:, None]
    difference, coefficients = np.zeros(given.shape[1]), 0
    now, then = parents_of(dag), parents_of(lines)
    for v in np.flatnonzero(model.numbers).tolist():
        own, places = given[coding.starts[v]], coding.columns_of(np.array(then[v], np.intp))
        left = own - fitted_by(given[places], own, weights)
        variance = max(float(left**2 @ weights), 1e-12)
        difference += model.rows([(v, now[v])]) - model.rows([(v, [])])
        difference -= np.log(variance) + left**2 / variance - own**2
        coefficients += int(model.sizes[now[v]].sum()) - len(places)
    return vuong(difference, model.weights, model.price * coefficients)[1]


def fitted_by(design: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """What a regression on some columns, each a row of numbers, makes of values."""
    weighed = design * weights
    inverse = np.linalg.pinv(weighed @ design.T, rcond=1e-12, hermitian=True)
    return np.asarray((inverse @ (weighed @ values)) @ design)
