"""What rows in the order of time have told, beside the graph of the present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.marks import ARROW, LINE
from qwo.names import as_column
from qwo.options import SHARE, whole_number
from qwo.text import aligned, count, number, records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from qwo.arguments import ReadArguments
    from qwo.names import Variable
    from qwo.sem.outcome import Causes, TotalEffect
    from qwo.series.autoregression import FittedAutoregression
    from qwo.series.responses import ImpulseResponses, LagDesign

COLUMNS = (
    *("cause", "mark", "effect", "lag", "coefficient"),
    *("standard_error", "strength", "false_rate", "support"),
)

SHOWN = 30
"""Lagged effects that are printed."""

MENTIONED = 12
"""Pairs of the summary graph that a warning names."""

SMALL, FEW_ROWS = 100, 10_000
"""Columns and rows up to which `table` looks for supports by itself."""


@dataclass(frozen=True, eq=False)
class LaggedEffects:
    """Effects of x_{t-1}, …, x_{t-L} on x_t, and those within one step of time.

    Attributes
    ----------
    names : tuple of str
        The variables.
    lags : int
        L, the number of lags; a lag is a multiple of the `step`.
    step : int
        Rows from one lag to the next: 1, unless rows are far too close in time.
    matrices : ndarray of int8, (L + 1)×n×n
        Entry (k, i, j) is 1 where i, k steps earlier, acts on j; for k = 0 it is the class of the
        graph of the present, with 2 for undirected edges.
    coefficients, errors : ndarray, (L + 1)×n×n
        The coefficients of the equations, in the units of the data, and their standard errors; NaN
        where one end is a category of several levels. For k = 0 they are those of the DAG.
    strengths, false_rates : ndarray, (L + 1)×n×n
        What each edge adds to twice the log-likelihood, and the chance that it is none.
    shares : ndarray or None
        How often each edge is found again in resamples: see `supported`.
    variances : ndarray
        Residual variance of each equation; NaN for categories of several levels and static ones.
    n_rows, n_effective : float
        Rows with all their lags, and how many independent ones they are worth.
    n_series, n_units : int
        Stretches without a gap, and units that they belong to.
    static : tuple of str
        Variables that never change within a unit: possible causes only.
    costs : tuple of float
        Cost of the sparse search with 0, 1, 2 … lags, where their number was chosen.
    notes : tuple of str
        What was found about steps of time, trends and seasons.
    design : LagDesign or None
        The series and the DAG, for `responses` and `supports`.
    row_by_row : LaggedEffects or None
        What lags of 1, 2, 3 … rows find, where rows are so close in time that there is a step.
    """

    names: tuple[str, ...]
    lags: int
    step: int
    matrices: Adjacency
    coefficients: FloatArray
    errors: FloatArray
    strengths: FloatArray
    false_rates: FloatArray
    variances: FloatArray
    n_rows: float
    n_effective: float
    n_series: int = 1
    n_units: int = 1
    static: tuple[str, ...] = ()
    costs: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    design: LagDesign | None = field(default=None, repr=False)
    row_by_row: LaggedEffects | None = None
    shares: FloatArray | None = None

    @property
    def graph(self) -> None:
        """None: the graph that is shown is that of the present."""

    def records(self, *, lag_zero: bool = True) -> list[tuple[Any, ...]]:
        """One row for each edge, by lag, effect and cause, as `to_frame` has them."""
        found = []
        for k in range(0 if lag_zero else 1, self.lags + 1):
            matrix = self.matrices[k]
            for j, i in np.argwhere(matrix.T != 0).tolist():
                undirected = k == 0 and matrix[i, j] == 2
                if undirected and i > j:
                    continue
                own = (k, i, j) if self.coefficients[k, i, j] or not undirected else (k, j, i)
                numbers = (self.coefficients, self.errors, self.strengths, self.false_rates)
                values = [float(numbers[m][own]) for m in range(4)]
                values.append(np.nan if self.shares is None else float(self.shares[own]))
                if undirected:
                    values[:2] = [np.nan, np.nan]
                mark = LINE if undirected else ARROW
                found.append((self.names[i], mark, self.names[j], k * self.step, *values))
        return found

    def to_frame(self, *, lag_zero: bool = True) -> pd.DataFrame:
        """The edges: cause, mark, effect, lag in rows, coefficient, error, strength, false rate.

        And support, where `supported` has looked for it. With ``lag_zero`` those of the present
        too; undirected ones have no coefficient.
        """
        return records_frame(COLUMNS, self.records(lag_zero=lag_zero))

    @property
    def summary_matrix(self) -> Adjacency:
        """Entry (i, j) is 1 where i acts on j at some lag, the present included, and i is not j.

        An undirected edge of the present counts both ways, as 2, where no lag says more.
        """
        lagged = (self.matrices[1:] == 1).any(axis=0) | (self.matrices[0] == 1)
        matrix: Adjacency = lagged.astype(np.int8)
        open_edges = (self.matrices[0] == 2) & ~lagged & ~lagged.T
        matrix[open_edges] = 2
        np.fill_diagonal(matrix, 0)
        return matrix

    @property
    def n_earlier(self) -> int:
        """How many effects of earlier rows on other variables there are."""
        return int((self.matrices[1:] != 0).sum() - (self.matrices[1:] != 0).trace(0, 1, 2).sum())

    def in_short(self) -> str:
        """The summary graph in a line: which variable acts on which."""
        matrix = self.summary_matrix
        pairs = [
            f"{self.names[i]} {ARROW if matrix[i, j] == 1 else LINE} {self.names[j]}"
            for i, j in np.argwhere(matrix != 0).tolist()
            if matrix[i, j] == 1 or i < j
        ]
        more = f" and {len(pairs) - MENTIONED} more" if len(pairs) > MENTIONED else ""
        return (", ".join(pairs[:MENTIONED]) + more) or "nothing"

    def unrolled(self) -> CausalGraph:
        """The graph over the present and its lagged copies; arrows end in the present only."""
        n = len(self.names)
        names = list(self.names)
        names += [f"{v}[t-{k * self.step}]" for k in range(1, self.lags + 1) for v in self.names]
        matrix = np.zeros((len(names),) * 2, np.int8)
        weights = np.zeros(matrix.shape)
        for k in range(self.lags + 1):
            matrix[k * n : (k + 1) * n, :n] = self.matrices[k]
            weights[k * n : (k + 1) * n, :n] = self.coefficients[k]
        return CausalGraph(tuple(names), matrix, "cpdag", {}, {"coefficient": weights})

    def to_networkx(self) -> Any:
        """The summary graph: one edge a lag, with ``lag``, ``coefficient`` and ``false_rate``."""
        import networkx as nx

        graph: Any = nx.MultiDiGraph()
        graph.add_nodes_from(self.names)
        for row in self.records():
            told = dict(zip(COLUMNS, row, strict=True))
            cause, effect = told.pop("cause"), told.pop("effect")
            graph.add_edge(cause, effect, **told)
            if told["mark"] == LINE:
                graph.add_edge(effect, cause, **told)
        return graph

    def to_tigramite(self) -> Any:
        """The array of strings that tigramite has: n×n×(lags + 1), ``"-->"``, ``"o-o"``, ``""``."""
        n = len(self.names)
        graph = np.full((n, n, self.lags * self.step + 1), "", dtype="<U3")
        for k in range(self.lags + 1):
            graph[:, :, k * self.step][self.matrices[k] == 1] = "-->"
        graph[:, :, 0][(self.matrices[0] == 1).T] = "<--"
        graph[:, :, 0][self.matrices[0] == 2] = "o-o"
        return graph

    def responses(
        self,
        *,
        horizon: int = 12,
        level: float = 0.9,
        n_resamples: int = 200,
        random_state: int = 0,
    ) -> ImpulseResponses:
        """How a shock of one unit to each variable moves all of them, step by step, with bands.

        They are those of the DAG: where the present has undirected edges, other members of the
        class give others. Bands are from blocks of rows drawn anew, or whole units if there are
        ten; the graph stays, so that they do not know of edges that are wrong.

        Parameters
        ----------
        horizon : int
            Steps that are followed.
        level : float
            How often bands are to hold the truth.
        n_resamples : int
            Resamples for the bands; 0 for none.
        random_state : int
            Seed.
        """
        from qwo.series.responses import impulse_responses

        return impulse_responses(
            self._design(),
            horizon=whole_number("horizon", horizon),
            level=SHARE.checked("level", level),
            n_resamples=whole_number("n_resamples", n_resamples),
            seed=whole_number("random_state", random_state),
        )

    def supports(self, n_resamples: int = 100, *, random_state: int = 0) -> pd.DataFrame:
        """The edges with the share of resamples whose own graph has them: see `supported`."""
        return self.supported(n_resamples, random_state=random_state).to_frame()

    def supported(self, n_resamples: int = 100, *, random_state: int = 0) -> LaggedEffects:
        """The same with the share of resamples whose own graph has each edge, whatever its mark.

        Blocks of rows are drawn anew, or whole units if there are ten, and searched near the order
        found at the penalty found.
        """
        from qwo.series.responses import edge_supports

        shares = edge_supports(
            self._design(),
            n_resamples=whole_number("n_resamples", n_resamples),
            seed=whole_number("random_state", random_state),
        )
        return replace(self, shares=shares)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The edges of earlier rows, with their support where it takes no more than a moment."""
        design, own = self.design, self
        small = len(self.names) * (self.lags + 1) <= SMALL and self.n_rows <= FEW_ROWS
        if self.shares is None and design is not None and small and design.can_draw:
            own = self.supported()
        return own.to_frame(lag_zero=False)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every ordered pair of variables, by how much the one tells of the other.

        Strength is what the cause adds to twice the log-likelihood of the effect at the lag where
        that is most, or would add where there is no edge; as a straight line, beside the causes
        that the effect has. The p-value is its chance if the cause tells nothing, times the number
        of lags; the graph was chosen by the same rows, so that it is for ranking. Within one step
        of time both directions have the same strength, unless an arrow says which is right.
        ``edge`` is the entry of `summary_matrix`.
        """
        from scipy.special import chdtrc

        from qwo.series.responses import pair_strengths

        strengths, n = pair_strengths(self._design(), self.matrices[0]), len(self.names)
        best = np.nan_to_num(strengths, nan=-1.0).argmax(axis=0)
        strongest = np.take_along_axis(strengths, best[None], axis=0)[0]
        chances = np.minimum(chdtrc(1, strongest) * len(strengths), 1.0)
        ranked = np.argsort(-np.nan_to_num(strongest, nan=-1.0), axis=None, kind="stable")
        pairs = [(i, j) for i, j in (divmod(at, n) for at in ranked.tolist()) if i != j]
        told = (best * self.step, strongest, chances, self.summary_matrix)
        rows = [
            (self.names[i], self.names[j], *(own[i, j].item() for own in told)) for i, j in pairs
        ]
        return records_frame(("cause", "effect", "lag", "strength", "p_value", "edge"), rows)

    def fit(self, data: Any = None, reading: ReadArguments | None = None) -> FittedAutoregression:
        """The structural autoregression on the DAG, fitted to its own rows or to others."""
        from qwo.series.autoregression import FittedAutoregression

        design = self._design()
        return FittedAutoregression.of(
            design if data is None else design.fitting(data, reading or {})
        )

    def effect(
        self,
        cause: Variable,
        effect: Variable,
        *,
        level: float = 0.9,
        n_resamples: int = 100,
        random_state: int = 0,
    ) -> TotalEffect:
        """What one variable, held one unit higher for ever, does to another in the end.

        With a band from blocks of rows, or units, drawn anew; over all graphs of the present that
        the data leave open, up to 50.
        """
        return self._long_run([cause], effect, level, n_resamples, random_state)[0]

    def causes_of(self, outcome: Variable, *, level: float = 0.9) -> Causes:
        """What each variable, held one unit higher for ever, does to an outcome, as `effect`."""
        from qwo.sem.outcome import causes_among

        j = as_column(self.names, outcome, "outcome")
        single = np.flatnonzero(self._design().series.coding.sizes == 1).tolist()
        causes = [v for v in single if v != j]
        return causes_among(self.names[j], self._long_run(causes, j, level), level)

    def _long_run(
        self, causes: Sequence[Variable], effect: Variable, level: float, *drawn: int
    ) -> list[TotalEffect]:
        from qwo.series.autoregression import long_run_effects

        draws, seed = drawn or (100, 0)
        how: Any = {"level": SHARE.checked("level", level), "causes": causes, "effect": effect}
        how |= {"n_resamples": whole_number("n_resamples", draws)}
        how |= {"seed": whole_number("random_state", seed)}
        return long_run_effects(self._design(), self.matrices[0], **how)

    def _design(self) -> LagDesign:
        if self.design is None:
            raise ArgumentError("this result does not know its series; call qwo.discover again")
        return self.design

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        plain = ("lags", "step", "n_rows", "n_effective", "n_series", "n_units")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: list(getattr(self, name)) for name in ("static", "costs", "notes")},
            "effects": [dict(zip(COLUMNS, row, strict=True)) for row in self.records()],
            "row_by_row": None if self.row_by_row is None else self.row_by_row.to_dict(),
            "variances": dict(zip(self.names, self.variances.tolist(), strict=True)),
        }

    def summary(self) -> str:
        """The lagged effects, and how their number was found."""
        rows = self.records(lag_zero=False)
        shown = [
            (f"  {cause}[t-{lag}]", ARROW, effect, number(weight), f"± {number(error)}")
            + (() if self.shares is None else (f"in {support:.0%} of resamples",))
            for cause, _, effect, lag, weight, error, *_, support in rows[:SHOWN]
        ]
        lines = [f"Effects of earlier rows ({self._counted()}):", *aligned(shown, left=3)]
        if len(rows) > SHOWN:
            lines.append(f"  … and {len(rows) - SHOWN} more; see .lagged")
        if not rows:
            lines.append("  none")
        lines += [f"Note: {note}" for note in self.notes]
        if self.row_by_row is not None:
            lines += [f"Row by row, without the step: {self.row_by_row.summary()}"]
        return "\n".join(lines)

    def _counted(self) -> str:
        parts = [count(self.lags, "lag")]
        if self.step > 1:
            parts.append(f"{self.step} rows apart")
        rows = f"{self.n_rows:.0f} rows"
        if self.n_effective < 0.95 * self.n_rows:
            rows += f", worth {self.n_effective:.0f} independent ones"
        parts.append(rows)
        if self.n_series > 1:
            parts.append(f"{self.n_series} series of {count(self.n_units, 'unit')}")
        return ", ".join(parts)
