"""What the rows say against linear equations with normal noise: family by family, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import fdtrc

from qwo.columns.recipes import Coding
from qwo.graph.dag import topological_order
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
"""Parts of the rows, each predicted from the others."""

MEMBERS = 100
"""Ways to direct an undirected piece of a class up to which all are looked at."""


@dataclass(frozen=True, eq=False)
class StandardRows:
    """Complete rows in standard deviations, the columns of each variable, and which are numbers.

    The indicators of a category have neither linear equations nor noise that is independent of
    the causes, however right the graph: they are causes here, and no effects but of the density.
    """

    values: FloatArray
    columns: Sequence[Indices]
    numeric: Mask

    @classmethod
    def of(cls, values: FloatArray, coding: Coding | None = None) -> StandardRows:
        """Rows whose columns are those of a coding, or variables each."""
        coding = coding or Coding.plain(values.shape[1])
        columns = [coding.columns_of([v]) for v in range(len(coding.variables))]
        numeric = [not recipe.levels for recipe in coding.variables]
        return cls(values, columns, np.array(numeric))

    def __len__(self) -> int:
        return len(self.values)

    def effect(self, variable: int) -> FloatArray:
        """The values of a variable of one column."""
        return np.asarray(self.values[:, self.columns[variable][0]])

    def places(self, variables: Iterable[int]) -> list[int]:
        """The columns of some variables."""
        return [int(c) for v in variables for c in self.columns[v]]

    def equations(self, dag: Adjacency) -> Iterator[tuple[int, list[int]]]:
        """Each column with those of its causes, and with those before it of the same variable."""
        for variable, column in enumerate(dag.T):
            causes = self.places(np.flatnonzero(column))
            for own in self.columns[variable].tolist():
                yield own, causes
                causes = [*causes, own]


@dataclass(frozen=True, eq=False)
class ShuffledNoise:
    """The linear equations of a graph, and their noise, from which rows are put together anew."""

    rows: StandardRows
    equations: Sequence[tuple[list[int], Indices, FloatArray, FloatArray]]

    @classmethod
    def of(cls, rows: StandardRows, dag: Adjacency) -> ShuffledNoise:
        """Those of the causes and the columns of each variable, causes first."""
        found: list[tuple[list[int], Indices, FloatArray, FloatArray]] = []
        for v in topological_order(dag).tolist():
            causes, own = rows.places(np.flatnonzero(dag[:, v])), rows.columns[v]
            values = rows.values[:, own]
            slopes = np.asarray(np.linalg.lstsq(rows.values[:, causes], values)[0], np.float64)
            found.append((causes, own, slopes, values - rows.values[:, causes] @ slopes))
        return cls(rows, found)

    def drawn(self, rng: np.random.Generator) -> StandardRows:
        """Rows in which the noise of each variable comes from rows in an order of its own."""
        values = np.empty_like(self.rows.values)
        for causes, own, slopes, noise in self.equations:
            values[:, own] = values[:, causes] @ slopes + noise[rng.permutation(len(values))]
        return StandardRows(values, self.rows.columns, self.rows.numeric)


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
    rows: StandardRows, dag: Adjacency, settled: Mask | None = None
) -> Iterator[FamilyFit]:
    """The tests of every equation of a variable that is a number.

    Noise is held against the parents of ``settled`` variables alone, if these are given: those
    whose parents are the same in every graph of the class.
    """
    for variable in np.flatnonzero(rows.numeric).tolist():
        parents = np.flatnonzero(dag[:, variable])
        design, residuals, extra = _equation(rows, variable, parents)
        linear = equal = np.nan
        if parents.size:
            linear = _added(design, extra, rows.effect(variable))
            every = np.column_stack([design[:, 1:], extra])
            equal = _added(np.ones((len(design), 1)), every, residuals**2)
        yield FamilyFit(
            variable,
            linearity=linear,
            equal_variance=equal,
            normality=_normality(residuals),
            outliers=int((np.abs(residuals) > FAR * residuals.std()).sum()),
            independence=_Powers.of(residuals, design[:, 1:]).p_value()
            if parents.size and len(rows) >= FEWEST and (settled is None or settled[variable])
            else np.nan,
        )


def open_linearity(rows: StandardRows, graph: Adjacency) -> Iterator[float]:
    """p-value of linear equations for each undirected piece of a class.

    It is that of the member in which the piece looks most linear: if the equations are linear in
    the true one, the p-value is no smaller than there, whichever it is. Pieces with more than
    `MEMBERS` ways to direct them are left out.
    """
    open_edges = csr_array(graph == 2)
    _, piece_of = connected_components(open_edges, directed=False)
    known: dict[tuple[int, bytes], float] = {}
    for number in np.flatnonzero(np.bincount(piece_of) > 1).tolist():
        piece = np.flatnonzero(piece_of == number)
        outside = (graph[:, piece] == 1).T.copy()
        outside[:, piece] = False
        members = list(enumerate_dags(graph[np.ix_(piece, piece)], limit=MEMBERS + 1))
        if len(members) <= MEMBERS:
            inside = ([piece[column == 1] for column in member.T] for member in members)
            yield max(_piece_linearity(rows, piece, outside, own, known) for own in inside)


def _piece_linearity(
    rows: StandardRows,
    piece: Indices,
    outside: Mask,
    inside: Sequence[Indices],
    known: dict[tuple[int, bytes], float],
) -> float:
    """p-value of the equations of some variables, their parents inside the piece being given."""
    found = []
    for variable, others, own in zip(piece.tolist(), outside, inside, strict=True):
        parents = np.concatenate([np.flatnonzero(others), own])
        if parents.size and rows.numeric[variable]:
            key = variable, parents.tobytes()
            if key not in known:
                known[key] = _linearity(rows, variable, parents)
            found.append(known[key])
    return float(min(1.0, np.nanmin(found, initial=1.0) * len(found)))


def _linearity(rows: StandardRows, variable: int, parents: Indices) -> float:
    design, _, extra = _equation(rows, variable, parents)
    return _added(design, extra, rows.effect(variable))


def least_linear(rows: StandardRows, dag: Adjacency, graph: Adjacency) -> float:
    """p-value of linear equations, over all variables whose parents a class settles, and pieces.

    That counts on noise that is about normal. NaN where there is nothing to test.
    """
    settled = ~(graph == 2).any(axis=0) & rows.numeric & dag.any(axis=0)
    found = [
        _linearity(rows, v, np.flatnonzero(dag[:, v])) for v in np.flatnonzero(settled).tolist()
    ]
    found = [p for p in (*found, *open_linearity(rows, graph)) if not np.isnan(p)]
    return float(min(1.0, min(found) * len(found))) if found else float("nan")


def _equation(
    rows: StandardRows, variable: int, parents: Indices
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Constant and parents, residuals of the variable, and squares of parents and fitted values."""
    causes = rows.values[:, rows.places(parents)]
    design = np.column_stack([np.ones(len(rows)), causes])
    residuals, fitted = _least_squares(design, rows.effect(variable))
    return design, residuals, np.column_stack([np.square(causes), np.square(fitted)])


def _least_squares(design: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    slopes = np.linalg.lstsq(design, target, rcond=None)[0]
    fitted = design @ slopes
    return target - fitted, fitted


def _added(design: FloatArray, extra: FloatArray, target: FloatArray) -> float:
    """p-value of an F-test of more columns."""
    before, fewer = _left(design, target)
    after, every = _left(np.column_stack([design, extra]), target)
    more, left = every - fewer, len(target) - design.shape[1] - (every - fewer)
    if more < 1 or left < 1:
        return float("nan")
    return float(fdtrc(more, left, (before - after) / more / (after / left)))


def _left(design: FloatArray, target: FloatArray) -> tuple[float, int]:
    """The sum of squares that columns leave, and their rank."""
    slopes, _, rank, _ = np.linalg.lstsq(design, target, rcond=None)
    return float(np.square(target - design @ slopes).sum()), int(rank)


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
    rows: StandardRows, dag: Adjacency, settled: Mask, n_draws: int, rng: np.random.Generator
) -> float:
    """p-value of noise that goes with causes in squares or cubes, over all equations together.

    The largest sum against those of noise whose rows are permuted, alike for all equations. NaN
    where there is no settled variable with a parent, or nothing to compare with.
    """
    powers = []
    for variable in np.flatnonzero(settled & rows.numeric & (dag.sum(axis=0) > 0)).tolist():
        causes = rows.values[:, rows.places(np.flatnonzero(dag[:, variable]))]
        design = np.column_stack([np.ones(len(rows)), causes])
        powers.append(_Powers.of(_least_squares(design, rows.effect(variable))[0], causes))
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


def influential_rows(rows: StandardRows, dag: Adjacency, count: int) -> list[tuple[int, float]]:
    """Rows that the equations together explain worst: number, and the sum of squared residuals.

    Residuals are in standard deviations; under the model the sum is χ² with n degrees of freedom.
    """
    total = np.zeros(len(rows))
    for own, causes in rows.equations(dag):
        design = np.column_stack([np.ones(len(rows)), rows.values[:, causes]])
        residuals, _ = _least_squares(design, rows.values[:, own])
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


def held_out(rows: StandardRows, dag: Adjacency, rng: np.random.Generator) -> HeldOut | None:
    """Cross-validated likelihood of the graph and the saturated model; None with too few rows."""
    n = len(dag)
    if len(rows) < FOLDS * (rows.values.shape[1] + 2):
        return None
    complete = np.triu(np.ones((n, n), dtype=dag.dtype), 1)
    parts = np.array_split(rng.permutation(len(rows)), FOLDS)
    models = [np.zeros_like(dag), dag, complete]
    density = np.zeros((3, len(rows)))
    for part in parts:
        kept = np.setdiff1d(np.arange(len(rows)), part, assume_unique=True)
        for model, which in enumerate(models):
            equations = rows.equations(which)
            density[model, part] = _log_density(rows.values[kept], rows.values[part], equations)
    gains = density[1:] - density[0]
    errors = gains.std(axis=1) / np.sqrt(len(rows))
    means = gains.mean(axis=1)
    return HeldOut(float(means[0]), float(errors[0]), float(means[1]), float(errors[1]))


def _log_density(
    train: FloatArray, test: FloatArray, equations: Iterable[tuple[int, list[int]]]
) -> FloatArray:
    total = np.zeros(len(test))
    for variable, parents in equations:
        design = np.column_stack([np.ones(len(train)), train[:, parents]])
        slopes = np.linalg.lstsq(design, train[:, variable], rcond=None)[0]
        variance = np.square(train[:, variable] - design @ slopes).mean()
        outside = np.column_stack([np.ones(len(test)), test[:, parents]])
        residuals = test[:, variable] - outside @ slopes
        total += stats.norm.logpdf(residuals, scale=np.sqrt(max(variance, 1e-300)))
    return total
