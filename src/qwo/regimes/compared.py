"""What changed between two tables: which equations of a graph differ, and in which way.

"Why are this week's numbers not last month's?" A variable whose equation is the same has moved
because its causes have; one whose equation differs has changed by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.regimes.sums import RegimeSums
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray, Indices

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
ROUNDS = 20
"""Weighted least squares with one variance a table come to rest in a few rounds."""


COLUMNS = (
    *("variable", "changed", "kinds", "p_value", "moved", "own", "variance_ratio"),
    *("mean_p", "variance_p", "slopes_p"),
)


class Slope(NamedTuple):
    """The coefficient of a cause before and after, and the standard error of the difference."""

    cause: str
    before: float
    after: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class EquationChange:
    """How the equation of one variable differs between two tables.

    Attributes
    ----------
    variable : str
        The variable.
    causes : tuple of str
        Its parents in the graph.
    p_value : float
        Of the same equation in both (likelihood ratio, χ²).
    changed : bool
        Whether that is below the level, divided by the number of variables.
    mean_p, variance_p, slopes_p : float
        The same for its intercept, its residual variance and its slopes, each given the others.
    moved : float
        By how much its mean has moved, in standard deviations before.
    own : float
        The part of that which its own equation explains; its causes explain the rest.
    variance_ratio : float
        Residual variance after, over before.
    slopes : tuple of Slope
        Its coefficients.
    """

    variable: str
    causes: tuple[str, ...]
    p_value: float
    changed: bool
    mean_p: float
    variance_p: float
    slopes_p: float
    moved: float
    own: float
    variance_ratio: float
    slopes: tuple[Slope, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """In which way it changed: mean, variance, slopes.

        Between lines of different slopes there is no one difference of means.
        """
        if not self.changed:
            return ()
        parts = {"mean": self.mean_p, "variance": self.variance_p, "slopes": self.slopes_p}
        if self.slopes_p < LEVEL / 3:
            del parts["mean"]
        found = tuple(name for name, p in parts.items() if p < LEVEL / 3)
        return found or (min(parts, key=lambda name: parts[name]),)


@dataclass(frozen=True, eq=False)
class EquationChanges:
    """All equations of a graph in two tables, those that changed first.

    Attributes
    ----------
    equations : tuple of EquationChange
        By p-value.
    graph : CausalGraph
        The graph whose equations they are.
    n_before, n_after : int
        Rows of the tables.
    """

    equations: tuple[EquationChange, ...]
    graph: Any
    n_before: int
    n_after: int

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables whose equations changed."""
        return tuple(own.variable for own in self.equations if own.changed)

    def to_frame(self) -> pd.DataFrame:
        """A row for each variable; slopes stand in `equations`."""
        told = [[getattr(own, name) for name in COLUMNS] for own in self.equations]
        rows = [tuple(", ".join(v) if isinstance(v, tuple) else v for v in own) for own in told]
        return records_frame(COLUMNS, rows)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "kind": "changes",
            "n_before": self.n_before,
            "n_after": self.n_after,
            "changed": list(self.changed),
            "equations": [
                asdict(own)
                | {"kinds": list(own.kinds), "slopes": [slope._asdict() for slope in own.slopes]}
                for own in self.equations
            ],
            "edges": [list(edge) for edge in self.graph.edges],
        }

    def summary(self) -> str:
        """What changed, in sentences."""
        rows = f"{self.n_before} rows before, {self.n_after} after"
        lines = [f"{len(self.changed)} of {len(self.equations)} equations changed ({rows})."]
        lines += [f"  {own.variable}: {_in_words(own)}" for own in self.equations if own.changed]
        far = 4 * math.sqrt(1 / self.n_before + 1 / self.n_after)
        followed = [own for own in self.equations if not own.changed and abs(own.moved) > far]
        if followed:
            names = ", ".join(f"{own.variable} ({own.moved:+.2f} sd)" for own in followed)
            lines.append(f"  moved with their causes, equations unchanged: {names}")
        return "\n".join(lines)

    __str__ = summary


def _in_words(own: EquationChange) -> str:
    parts = []
    if "mean" in own.kinds:
        parts.append(f"mean {own.own:+.2f} sd by itself (of {own.moved:+.2f} in all)")
    if "variance" in own.kinds:
        parts.append(f"residual variance × {own.variance_ratio:.2g}")
    if "slopes" in own.kinds:
        worst = max(own.slopes, key=lambda s: abs(s.after - s.before) / s.standard_error)
        parts.append(f"effect of {worst.cause} {worst.before:.3g} → {worst.after:.3g}")
    return "; ".join(parts) + f" (p = {own.p_value:.2g})"


def compared_equations(
    sums: RegimeSums, dag: Adjacency, names: tuple[str, ...], labels: Mapping[int, str]
) -> tuple[EquationChange, ...]:
    """Each equation of a DAG in two sets of rows; sums are in the units of the data.

    `labels` names the columns, of which a variable may have several.
    """
    found = []
    for v, name in enumerate(names):
        parents = np.flatnonzero(dag[:, v])
        family = _Equation(sums, v, parents)
        found.append(
            EquationChange(
                name,
                tuple(names[p] for p in parents),
                family.p_value,
                family.p_value < LEVEL / len(names),
                *family.parts(),
                family.moved,
                family.own,
                family.variance_ratio,
                tuple(
                    Slope(labels[c], float(b), float(a), float(e))
                    for c, b, a, e in zip(*family.slopes(), strict=True)
                ),
            )
        )
    return tuple(sorted(found, key=lambda own: (own.p_value, -abs(own.own))))


class _Equation:
    """The regression of the first column of a variable on those of its parents, in two tables."""

    def __init__(self, sums: RegimeSums, variable: int, parents: Indices) -> None:
        ends = np.cumsum(sums.sizes)
        starts = ends - sums.sizes
        y = int(starts[variable])
        self.columns = np.concatenate(
            [np.arange(starts[p], ends[p]) for p in parents] or [np.empty(0, int)]
        ).astype(int)
        self.rows = sums.rows
        self.mean = sums.means[:, y]
        self.means = sums.means[:, self.columns]
        self.among = sums.covariances[:, self.columns[:, None], self.columns]
        self.with_y = sums.covariances[:, self.columns, y]
        self.variance = sums.covariances[:, y, y]
        systems = zip(self.among, self.with_y, strict=True)
        self.free = np.array([np.linalg.lstsq(a, b, rcond=1e-10)[0] for a, b in systems])
        # A cause that one table holds constant has no slope there: nothing speaks against the same.
        spread = self.among.diagonal(axis1=1, axis2=2)
        still = spread <= 1e-12 * spread.max(axis=0)
        self.free = np.where(still, self.free[::-1], self.free)
        self.unit = math.sqrt(self.variance[0] or self.variance[1])
        self.residual = np.array([self._mean_square(r, self.free[r]) for r in (0, 1)])

    def _mean_square(self, regime: int, slopes: FloatArray, offset: float = 0.0) -> float:
        square = self.variance[regime] - 2 * slopes @ self.with_y[regime]
        square += slopes @ self.among[regime] @ slopes + offset**2
        return max(float(square), 1e-12 * float(self.variance.max()))

    def _parallel(self, *, same_mean: bool, same_variance: bool) -> float:
        """The deviance of lines with the same slopes, by weighted least squares."""
        variances = self.residual
        for _ in range(ROUNDS):
            share = self.rows / (np.full(2, self.rows @ variances) if same_variance else variances)
            share = share / share.sum()
            away, off = np.zeros_like(self.means), np.zeros(2)
            if same_mean:
                away, off = self.means - share @ self.means, self.mean - share @ self.mean
            among = np.einsum("r,rij->ij", share, self.among) + (share * away.T) @ away
            with_y = share @ self.with_y + (share * off) @ away
            slopes = np.linalg.lstsq(among, with_y, rcond=1e-12)[0]
            offsets = off - away @ slopes
            variances = np.array([self._mean_square(r, slopes, offsets[r]) for r in (0, 1)])
        return self._deviance(variances, same_variance)

    def _deviance(self, variances: FloatArray, same: bool) -> float:
        """Minus twice the log-likelihood, up to a constant."""
        if same:
            variances = np.full(2, self.rows @ variances / self.rows.sum())
        return float(self.rows @ np.log(variances))

    @property
    def p_value(self) -> float:
        ratio = self._parallel(same_mean=True, same_variance=True)
        return _chance(ratio - self._deviance(self.residual, False), len(self.columns) + 2)

    def parts(self) -> tuple[float, float, float]:
        """p-values of the mean, the variance and the slopes, each with all else free.

        That of the mean takes slopes as shared where they may be: between different lines there is
        no one difference.
        """
        free, k = self._deviance(self.residual, False), len(self.columns)
        lines = self._parallel(same_mean=False, same_variance=False)
        level = self._parallel(same_mean=True, same_variance=False)
        spread = self._deviance(self.residual, True)
        slopes = _chance(lines - free, k) if k else 1.0
        return _chance(level - lines, 1), _chance(spread - free, 1), slopes

    @property
    def moved(self) -> float:
        """Mean after less mean before, in standard deviations before."""
        return float((self.mean[1] - self.mean[0]) / self.unit)

    @property
    def own(self) -> float:
        """The part of it that the causes' move, by the equation before, leaves."""
        carried = (self.means[1] - self.means[0]) @ self.free[0]
        return float((self.mean[1] - self.mean[0] - carried) / self.unit)

    @property
    def variance_ratio(self) -> float:
        return float(self.residual[1] / self.residual[0])

    def slopes(self) -> tuple[list[int], FloatArray, FloatArray, FloatArray]:
        """Columns, coefficients before and after, standard errors of the differences."""
        error = np.zeros(len(self.columns))
        for r in (0, 1):
            if len(self.columns):
                inverse = np.linalg.pinv(self.among[r])
                error += np.diagonal(inverse) * self.residual[r] / self.rows[r]
        return self.columns.tolist(), self.free[0], self.free[1], np.sqrt(error)


def _chance(ratio: float, degrees: int) -> float:
    """The probability of a likelihood ratio as large, if nothing differs."""
    from scipy.stats import chi2

    return float(chi2.sf(max(ratio, 0.0), degrees))
