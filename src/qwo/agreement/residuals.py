"""What the rows say against linear equations with normal noise: family by family, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from qwo.types import Adjacency, FloatArray

FAR = 5.0
"""Residuals beyond so many standard deviations are outliers: of normal ones, one in two million."""

FOLDS = 5


@dataclass(frozen=True, slots=True)
class FamilyFit:
    """Tests of one equation; p-values that are NaN could not be computed.

    Attributes
    ----------
    variable : int
        The effect.
    linearity : float
        p-value of adding the squares of the parents and of the fitted values (Ramsey's RESET).
    equal_variance : float
        p-value of a trend of the squared residuals over parents and fitted values (Breusch–Pagan,
        in Koenker's form, which needs no normal noise).
    normality : float
        p-value of skewness and kurtosis of the residuals (Jarque–Bera, as D'Agostino and Pearson
        have it).
    outliers : int
        Residuals beyond `FAR` standard deviations.
    """

    variable: int
    linearity: float
    equal_variance: float
    normality: float
    outliers: int


def family_fits(rows: FloatArray, dag: Adjacency) -> Iterator[FamilyFit]:
    """The tests of every equation, from standardised rows."""
    for variable, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
        residuals, fitted = _least_squares(design, rows[:, variable])
        extra = np.column_stack([np.square(rows[:, parents]), np.square(fitted)])
        yield FamilyFit(
            variable,
            linearity=_added(design, extra, rows[:, variable]) if parents.size else np.nan,
            equal_variance=_trend(design, extra, residuals) if parents.size else np.nan,
            normality=_normality(residuals),
            outliers=int((np.abs(residuals) > FAR * residuals.std()).sum()),
        )


def _least_squares(design: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    slopes = np.linalg.lstsq(design, target, rcond=None)[0]
    fitted = design @ slopes
    return target - fitted, fitted


def _added(design: FloatArray, extra: FloatArray, target: FloatArray) -> float:
    """p-value of an F-test of more columns."""
    full = np.column_stack([design, extra])
    more = np.linalg.matrix_rank(full) - np.linalg.matrix_rank(design)
    left = len(target) - design.shape[1] - more
    if more < 1 or left < 1:
        return float("nan")
    before = np.square(_least_squares(design, target)[0]).sum()
    after = np.square(_least_squares(full, target)[0]).sum()
    return float(stats.f.sf((before - after) / more / (after / left), more, left))


def _trend(design: FloatArray, extra: FloatArray, residuals: FloatArray) -> float:
    return _added(np.ones((len(design), 1)), np.column_stack([design[:, 1:], extra]), residuals**2)


def _normality(residuals: FloatArray) -> float:
    if len(residuals) < 20:
        return float("nan")
    return float(stats.normaltest(residuals).pvalue)


def influential_rows(rows: FloatArray, dag: Adjacency, count: int) -> list[tuple[int, float]]:
    """Rows that the equations together explain worst: number, and the sum of squared residuals.

    Residuals are in standard deviations; under the model the sum is χ² with n degrees of freedom.
    """
    total = np.zeros(len(rows))
    for variable, column in enumerate(dag.T):
        design = np.column_stack([np.ones(len(rows)), rows[:, np.flatnonzero(column)]])
        residuals, _ = _least_squares(design, rows[:, variable])
        total += np.square(residuals / max(residuals.std(), 1e-300))
    worst = np.argsort(-total, kind="stable")[:count]
    return [(int(row), float(total[row])) for row in worst]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Mean log density of rows that a model was not fitted to, per row, and its standard error.

    ``graph`` and ``saturated`` are differences to the model without edges.
    """

    graph: float
    graph_error: float
    saturated: float
    saturated_error: float


def held_out(rows: FloatArray, dag: Adjacency, rng: np.random.Generator) -> HeldOut | None:
    """Cross-validated likelihood of the graph and the saturated model; None with too few rows."""
    n = rows.shape[1]
    if len(rows) < FOLDS * (n + 2):
        return None
    complete = np.triu(np.ones((n, n), dtype=dag.dtype), 1)
    parts = np.array_split(rng.permutation(len(rows)), FOLDS)
    models = [np.zeros_like(dag), dag, complete]
    density = np.zeros((3, len(rows)))
    for part in parts:
        kept = np.setdiff1d(np.arange(len(rows)), part, assume_unique=True)
        for model, which in enumerate(models):
            density[model, part] = _log_density(rows[kept], rows[part], which)
    gains = density[1:] - density[0]
    errors = gains.std(axis=1) / np.sqrt(len(rows))
    means = gains.mean(axis=1)
    return HeldOut(float(means[0]), float(errors[0]), float(means[1]), float(errors[1]))


def _log_density(train: FloatArray, test: FloatArray, dag: Adjacency) -> FloatArray:
    total = np.zeros(len(test))
    for variable, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        design = np.column_stack([np.ones(len(train)), train[:, parents]])
        slopes = np.linalg.lstsq(design, train[:, variable], rcond=None)[0]
        variance = np.square(train[:, variable] - design @ slopes).mean()
        outside = np.column_stack([np.ones(len(test)), test[:, parents]])
        residuals = test[:, variable] - outside @ slopes
        total += stats.norm.logpdf(residuals, scale=np.sqrt(max(variance, 1e-300)))
    return total
