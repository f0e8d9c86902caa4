"""The additive model on a DAG: its equations, and total effects as differences between two values.

The model is x_v = a_v + Σ_u f_u(x_u) + noise. What happens to an effect where a cause is set from
one value to another is computed row by row: the noise of each row stays what it was, and the change
runs along all paths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from qwo.columns.recipes import Coding
from qwo.compute import one_blas_thread
from qwo.curved.partial import AdditiveEquation, fit_equation
from qwo.errors import ArgumentError
from qwo.graph.dag import ancestors, descendants, topological_order
from qwo.graph.pdag import enumerate_dags
from qwo.moments import as_moments
from qwo.moments.curves import RowSample, RowSource
from qwo.names import Variable, as_column, between, number_pair
from qwo.options import ReadOptions
from qwo.text import aligned, count, fixed, number, p_value, records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from qwo.graph.causal_graph import CausalGraph

MOST_FOLLOWED = 500
"""Rows along which a change is followed."""

DRAWS = 100
"""Draws of the slopes from which the error of an effect is taken."""

MOST_MEMBERS = 20
"""Members of a class of which each gives an effect of its own."""


class AdditiveEdge(NamedTuple):
    """An edge of an additive model: the slope of its line, shares of variance, and two tests.

    p_value is of no relation at all, p_curve of a line; both by Wald's test with HC3 errors.
    """

    cause: str
    effect: str
    slope: float
    linear: float
    curved: float
    p_value: float
    p_curve: float


@dataclass(frozen=True, slots=True)
class ValueEffect:
    """How an effect changes on average where a cause is set from one value to another.

    Attributes
    ----------
    cause, effect : str
        The variables.
    values : (float, float)
        From where to where the cause is set.
    low, high : float
        The smallest and the largest estimate over the graphs of the class, equal where they agree.
    interval : (float, float)
        The confidence interval; over a class from the lowest to the highest end.
    level : float
        Of the interval.
    graphs : int
        Members of the class that were looked at.
    """

    cause: str
    effect: str
    values: tuple[float, float]
    low: float
    high: float
    interval: tuple[float, float]
    level: float
    graphs: int = 1

    @property
    def identified(self) -> bool:
        """Whether there is one estimate."""
        return self.low == self.high

    def __float__(self) -> float:
        return self.low if self.identified else math.nan

    def __str__(self) -> str:
        a, b, low, high = map(number, (*self.values, *self.interval))
        size = number(self.low) if self.identified else f"{number(self.low)} to {number(self.high)}"
        return (
            f"{self.cause} from {a} to {b}: {self.effect} changes by {size}, "
            f"{100 * self.level:.3g} % interval {low} to {high}"
        )


@dataclass(frozen=True, eq=False)
class AdditiveSem:
    """The additive model on a DAG, fitted to rows; curves have more columns than were searched.

    Attributes
    ----------
    names : tuple of str
        The variables.
    dag : ndarray of int8, n×n
        The DAG.
    linear, curved : ndarray, n×n
        Shares of variance, as in `CurvedRelations`.
    sample, coding
        The rows, and whose their columns are.
    """

    names: tuple[str, ...]
    dag: Adjacency
    linear: FloatArray
    curved: FloatArray
    sample: RowSample
    coding: Coding

    @cached_property
    def equations(self) -> dict[int, AdditiveEquation]:
        """The equation of each variable that is a number, by column."""
        numbers = [v for v, own in enumerate(self.coding.variables) if not own.levels]
        return {v: fit_equation(self.sample, self.coding, self.dag, v) for v in numbers}

    @cached_property
    def edges(self) -> tuple[AdditiveEdge, ...]:
        """One record for each edge into a number, by effect and cause."""
        found = []
        for v, equation in self.equations.items():
            for p, own in equation.places.items():
                single = not self.coding.variables[p].levels
                slope = float(equation.slopes[own.start]) if single else math.nan
                beyond = slice(own.start + 1, own.stop) if single else slice(0, 0)
                shares = float(self.linear[p, v]), float(self.curved[p, v])
                tests = equation.p_value(own), equation.p_value(beyond)
                found.append(AdditiveEdge(self.names[p], self.names[v], slope, *shares, *tests))
        return tuple(found)

    def edges_table(self) -> pd.DataFrame:
        """`edges` as a pandas data frame."""
        return records_frame(AdditiveEdge._fields, self.edges)

    def nodes_table(self) -> pd.DataFrame:
        """Each number with its residual variance and the share that its causes explain."""
        return records_frame(("name", "residual_variance", "r_squared"), self._nodes())

    def _nodes(self) -> list[tuple[Any, ...]]:
        return [(self.names[v], e.left, 1 - e.left / e.variance) for v, e in self.equations.items()]

    @one_blas_thread()
    def effect(
        self,
        cause: Variable,
        effect: Variable,
        values: tuple[float, float] | None = None,
        *,
        level: float = 0.95,
    ) -> ValueEffect:
        """How the effect changes on average where the cause is set from one value to another.

        If no values are given, from the lower to the upper quartile of the cause.
        """
        between("level", level, 0.0, 1.0)
        x, y = as_column(self.names, cause, "cause"), as_column(self.names, effect, "effect")
        on_path = self._between(x, y)
        own = self.sample.columns[:, self.coding.starts[x]]
        a, b = number_pair("values", np.quantile(own, (0.25, 0.75)) if values is None else values)
        if not on_path:
            ends = 0.0, 0.0
            return ValueEffect(self.names[x], self.names[y], (a, b), *ends, ends, level)
        size, error = self._changed(x, y, (a, b), on_path)
        reach = float(ndtri(0.5 + level / 2)) * error
        ends = size - reach, size + reach
        return ValueEffect(self.names[x], self.names[y], (a, b), size, size, ends, level)

    def _between(self, x: int, y: int) -> list[int]:
        """The variables on paths from one to another, the last included, in causal order."""
        along = set(descendants(self.dag, x)) & {*ancestors(self.dag, y), y}
        kinds = self.coding.variables
        coded = [self.names[v] for v in (x, *along) if kinds[v].levels]
        if coded and along:
            raise ArgumentError(
                f"{coded[0]} is a category, along which a difference between two values is not "
                "followed; look at found.fit().edges_table(), or at the linear model: "
                "qwo.ida(data, found.cpdag, cause, effect)"
            )
        return [v for v in topological_order(self.dag).tolist() if v in along]

    def _changed(
        self, x: int, y: int, values: tuple[float, float], on_path: list[int]
    ) -> tuple[float, float]:
        """The mean difference over the rows, and its standard error."""
        rows = self.sample.columns[:, self.coding.starts]
        step = -(-len(rows) // MOST_FOLLOWED)
        rows = rows[::step]
        weights = np.ones(len(rows))
        if self.sample.weights is not None:
            weights = self.sample.weights[::step]
        rng = np.random.default_rng(0)
        usual = {v: self.equations[v].slopes for v in on_path}
        roots = {v: _root(self.equations[v].covariance) for v in on_path}
        before = {
            (p, v): self.equations[v].columns_of(p, rows[:, p])
            for v in on_path
            for p in self.equations[v].places
            if p in (x, *on_path)
        }
        sizes, spread = [], 0.0
        for draw in range(DRAWS + 1):
            slopes = usual
            if draw:
                slopes = {
                    v: usual[v] + roots[v] @ rng.standard_normal(roots[v].shape[1]) for v in on_path
                }
            ends = [self._set(rows, x, value, slopes, before)[y] for value in values]
            change = ends[1] - ends[0]
            sizes.append(float(np.average(change, weights=weights)))
            if not draw:
                spread = float(np.average((change - sizes[0]) ** 2, weights=weights))
        error = math.sqrt(float(np.var(sizes[1:])) + spread / self.sample.n_rows)
        return sizes[0], error

    def _set(
        self,
        rows: FloatArray,
        x: int,
        value: float,
        slopes: dict[int, FloatArray],
        before: dict[tuple[int, int], FloatArray],
    ) -> dict[int, FloatArray]:
        """What variables on the paths would have been in each row, the cause set to a value.

        slopes: of each of them, in causal order; before: the columns of parents as they were.
        """
        now = {x: np.array([value])}
        for v, own in slopes.items():
            equation, shift = self.equations[v], np.zeros(len(rows))
            for p in set(equation.places) & set(now):
                moved = equation.columns_of(p, now[p]) - before[p, v]
                shift += moved @ own[equation.places[p]]
            now[v] = rows[:, v] + shift
        return now

    def summary(self) -> str:
        """The equations as two tables."""
        widths = [len(e.slopes) // len(e.places) for e in self.equations.values() if e.places]
        columns = max(widths, default=1)
        head = (
            f"Additive model: {count(len(self.names), 'variable')}, "
            f"{count(int(self.dag.sum()), 'edge')}, N = {self.sample.n_rows}; "
            f"curves of up to {count(columns, 'column')}"
        )
        edges = [("edge", "slope of the line", "by a line", "by its curve", "p", "p of a line")]
        edges += [
            (
                f"{e.cause} → {e.effect}",
                number(e.slope, 4),
                f"{e.linear:.1%}",
                f"{e.curved:.1%}",
                p_value(e.p_value),
                p_value(e.p_curve),
            )
            for e in self.edges
        ]
        nodes = [("variable", "residual variance", "R²")]
        nodes += [(name, number(left, 4), fixed(share, 3)) for name, left, share in self._nodes()]
        return "\n\n".join([head, *("\n".join(aligned(table)) for table in (edges, nodes))])

    def __str__(self) -> str:
        return self.summary()


def model_of(data: Any, dag: CausalGraph, reading: Mapping[str, Any]) -> AdditiveSem:
    """The additive model on a DAG, from data that are read anew, without shares of variance."""
    moments = as_moments(data, **reading)
    source = RowSource(data, ReadOptions(**reading), moments, "an additive model")
    matrix = dag.reordered(moments.names).matrix
    none = np.full(matrix.shape, math.nan)
    return AdditiveSem(moments.names, matrix, none, none, source.sample(), moments.coding)


def effect_over_class(
    model: AdditiveSem,
    graph: Adjacency,
    cause: Variable,
    effect: Variable,
    *,
    values: tuple[float, float] | None,
    level: float,
) -> ValueEffect:
    """The effect in the members of a class: one number where they agree, a range if not.

    The DAG of the model, and `MOST_MEMBERS` of the class, or one at least with either direction of
    each open edge of the cause: as many with each.
    """
    i, starts = as_column(model.names, cause, "cause"), []
    for ends in [(i, j) for j in np.flatnonzero(graph[i] == 2)]:
        for start, end in (ends, ends[::-1]):
            starts.append(np.array(graph))
            starts[-1][start, end], starts[-1][end, start] = 1, 0
    each = max(MOST_MEMBERS // max(len(starts), 1), 1)
    members = [m for start in starts or [graph] for m in enumerate_dags(start, each)]
    members = list({m.tobytes(): m for m in members if (m != model.dag).any()}.values())
    found = [replace(model, dag=dag) for dag in members]
    effects = [own.effect(cause, effect, values, level=level) for own in (model, *found)]
    return replace(
        effects[0],
        low=min(own.low for own in effects),
        high=max(own.high for own in effects),
        interval=(min(e.interval[0] for e in effects), max(e.interval[1] for e in effects)),
        graphs=len(effects),
    )


def _root(covariance: FloatArray) -> FloatArray:
    """A matrix F with F Fᵀ = C, of a C that need not have full rank."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
