"""What the rows say against linear equations with normal noise: family by family, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from qwo.graph.pdag import enumerate_dags
from qwo.types import Adjacency, FloatArray, Indices, Mask

FAR = 5.0
"""Residuals beyond so many standard deviations are outliers: of normal ones, one in two million."""

CLIP = 4.0
"""Standard deviations beyond which a value counts as if it were there: fourth powers of a few rows
would decide otherwise."""

FEWEST = 50
"""Rows below which such powers say nothing."""

FOLDS = 5

MEMBERS = 100
"""Ways to direct an undirected piece of a class up to which all are looked at."""


@dataclass(frozen=True, slots=True)
class FamilyFit:
    """Tests of one equation; p-values that are NaN could not be computed.

    ``linearity`` is of adding the squares of the parents and of the fitted values (Ramsey's RESET);
    ``equal_variance`` of a trend of the squared residuals over both (Breusch–Pagan, in Koenker's
    form, which needs no normal noise); ``normality`` of skewness and kurtosis of the residuals
    (D'Agostino and Pearson); ``outliers`` counts residuals beyond `FAR` standard deviations.
    ``independence`` is of noise that goes with a parent in squares or cubes, the smallest times the
    number of tests: noise is uncorrelated with the parents by construction; if it is not normal, it
    is independent of them only where the equation is right (Darmois and Skitovich 1953): not with a
    hidden common cause, feedback, or an effect for a cause. Normal noise does not show them.
    """

    variable: int
    linearity: float
    equal_variance: float
    normality: float
    outliers: int
    independence: float = np.nan


def family_fits(
    rows: FloatArray, dag: Adjacency, settled: Mask | None = None
) -> Iterator[FamilyFit]:
    """The tests of every equation, from standardised rows.

    Noise is held against the parents of ``settled`` variables alone, if these are given: those
    whose parents are the same in every graph of the class.
    """
    for variable, column in enumerate(dag.T):
        parents = np.flatnonzero(column)
        design, residuals, extra = _equation(rows, variable, parents)
        yield FamilyFit(
            variable,
            linearity=_added(design, extra, rows[:, variable]) if parents.size else np.nan,
            equal_variance=_trend(design, extra, residuals) if parents.size else np.nan,
            normality=_normality(residuals),
            outliers=int((np.abs(residuals) > FAR * residuals.std()).sum()),
            independence=_Powers.of(residuals, rows[:, parents]).p_value()
            if parents.size and len(rows) >= FEWEST and (settled is None or settled[variable])
            else np.nan,
        )


def open_linearity(rows: FloatArray, graph: Adjacency) -> Iterator[float]:
    """p-value of linear equations for each undirected piece of a class, from standardised rows.

    It is that of the member in which the piece looks most linear: if the equations are linear in
    the true one, the p-value is no smaller than there, whichever it is. Pieces with more than
    `MEMBERS` ways to direct them are left out.
    """
    open_edges = csr_array(graph == 2)
    _, piece_of = connected_components(open_edges, directed=False)
    for number in np.flatnonzero(np.bincount(piece_of) > 1).tolist():
        piece = np.flatnonzero(piece_of == number)
        outside = (graph[:, piece] == 1).T.copy()
        outside[:, piece] = False
        members = list(enumerate_dags(graph[np.ix_(piece, piece)], limit=MEMBERS + 1))
        if len(members) <= MEMBERS:
            inside = ([piece[column == 1] for column in member.T] for member in members)
            yield max(_piece_linearity(rows, piece, outside, parents) for parents in inside)


def _piece_linearity(
    rows: FloatArray, piece: Indices, outside: Mask, inside: Sequence[Indices]
) -> float:
    """p-value of the equations of some variables, their parents inside the piece being given."""
    found = []
    for variable, others, own in zip(piece.tolist(), outside, inside, strict=True):
        parents = np.concatenate([np.flatnonzero(others), own])
        if parents.size:
            design, _, extra = _equation(rows, variable, parents)
            found.append(_added(design, extra, rows[:, variable]))
    return float(min(1.0, np.nanmin(found, initial=1.0) * len(found)))


def _equation(
    rows: FloatArray, variable: int, parents: Indices
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Constant and parents, residuals of the variable, and squares of parents and fitted values."""
    design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
    residuals, fitted = _least_squares(design, rows[:, variable])
    return design, residuals, np.column_stack([np.square(rows[:, parents]), np.square(fitted)])


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


@dataclass(frozen=True, eq=False)
class _Powers:
    """Powers of noise and causes whose products have mean 0 where these are independent.

    e² with x and x², and e³ - 3e with x, all with variance 1. Errors of the slopes move none of the
    sums: the derivatives of e² and of e³ - 3e have mean 0.
    """

    even: FloatArray
    odd: FloatArray
    causes: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, residuals: FloatArray, causes: FloatArray) -> _Powers:
        e, x = _unit(residuals), _unit(causes)
        e, x = np.clip(e, -CLIP, CLIP), np.clip(x, -CLIP, CLIP)
        return cls(_unit(e**2), _unit(e**3 - 3 * e), _unit(x), _unit(x**2))

    def largest(self, order: Indices | slice = slice(None)) -> float:
        """The largest sum, in standard errors, with the noise of the rows in another order."""
        even, odd = self.even[order], self.odd[order]
        sums = np.concatenate([even @ self.causes, even @ self.squares, odd @ self.causes])
        return float(np.abs(sums).max() / np.sqrt(len(even)))

    def p_value(self) -> float:
        n_sums = 3 * self.causes.shape[1]
        return float(min(1.0, 2 * stats.norm.sf(self.largest()) * n_sums))


def _unit(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def noise_dependence(
    rows: FloatArray, dag: Adjacency, settled: Mask, n_draws: int, rng: np.random.Generator
) -> float:
    """p-value of noise that goes with causes in squares or cubes, over all equations together.

    The largest sum against those of noise whose rows are permuted, alike for all equations. NaN
    where there is no settled variable with a parent, or nothing to compare with.
    """
    powers = []
    for variable in np.flatnonzero(settled & (dag.sum(axis=0) > 0)).tolist():
        causes = rows[:, np.flatnonzero(dag[:, variable])]
        design = np.column_stack([np.ones(len(rows)), causes])
        powers.append(_Powers.of(_least_squares(design, rows[:, variable])[0], causes))
    if not powers or not n_draws or len(rows) < FEWEST:
        return float("nan")
    seen = max(power.largest() for power in powers)
    as_large = 0
    for _ in range(n_draws):
        order = rng.permutation(len(rows))
        as_large += any(power.largest(order) >= seen for power in powers)
    return (1 + as_large) / (1 + n_draws)


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
