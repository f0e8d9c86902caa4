"""The structural autoregression of a graph found: equations with standard errors, and effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import ArgumentError, list_names
from qwo.graph.pdag import enumerate_dags
from qwo.names import Variable, as_column
from qwo.sem.outcome import TotalEffect
from qwo.series.design import equations_of
from qwo.series.responses import LagDesign, by_lag, fits, lasting, responses_of
from qwo.simulation import StructuralAutoregression
from qwo.text import aligned, number, records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("cause", "effect", "lag", "coefficient", "standard_error")

MOST_MEMBERS = 50
"""Graphs of a class over which an effect is followed."""


@dataclass(frozen=True, eq=False)
class FittedAutoregression(StructuralAutoregression):
    """x_t = Σ_k x_{t-k} B_k + e_t, k = 0 … L, fitted equation by equation.

    Attributes
    ----------
    coefficients, errors : ndarray, (L + 1)×n×n
        Entry (k, i, j): the effect of i, k steps earlier, on j, and its standard error.
    noise_variances : ndarray
        Residual variances.
    names : tuple of str
        The variables.
    step : int
        Rows of a step.
    n_samples : float
        Rows with all their lags.
    """

    names: tuple[str, ...]
    errors: FloatArray
    step: int
    n_samples: float

    @classmethod
    def of(cls, design: LagDesign) -> FittedAutoregression:
        """The equations of a DAG on the rows of a design."""
        moments, n = design.moments(), len(design.series.names)
        found = equations_of(moments, design.dag, np.arange(n))
        parts = by_lag(design, found.coefficients), by_lag(design, found.errors)
        own = found.variances, design.series.names, parts[1], design.step
        return cls(parts[0], *own, moments.n_samples)

    @property
    def long_run(self) -> FloatArray:
        """What a lasting change by one unit of i does to j in the end; NaN if shocks never fade."""
        return lasting(self.coefficients)

    def responses(self, horizon: int = 12) -> FloatArray:
        """What a shock of one unit to i does to j after 0 … horizon steps, without bands."""
        return responses_of(self.coefficients, horizon)

    def records(self) -> list[tuple[Any, ...]]:
        """The rows of `to_frame`."""
        places = np.argwhere(self.coefficients != 0).tolist()
        numbers = np.stack([self.coefficients, self.errors], axis=-1)
        return [
            (self.names[i], self.names[j], k * self.step, *numbers[k, i, j].tolist())
            for k, i, j in places
        ]

    def to_frame(self) -> pd.DataFrame:
        """Each coefficient: cause, effect, lag in rows, value and standard error."""
        return records_frame(COLUMNS, self.records())

    def __str__(self) -> str:
        rows = [
            (f"  {cause}[t-{lag}]" if lag else f"  {cause}", "-->", effect, number(b), f"± {e:.2g}")
            for cause, effect, lag, b, e in self.records()
        ]
        head = f"Structural autoregression of {len(self.names)} variables, N = {self.n_samples:g}"
        own = StructuralAutoregression(np.nan_to_num(self.coefficients), self.noise_variances)
        fade = "fade" if own.largest_root() < 1 else "never fade"
        root = f"Largest root {own.largest_root():.3f}: shocks {fade}"
        return "\n".join([head, *aligned(rows, left=3), root])


def long_run_effects(
    design: LagDesign,
    cpdag: Adjacency,
    *,
    causes: Sequence[Variable],
    effect: Variable,
    level: float,
    n_resamples: int,
    seed: int,
) -> list[TotalEffect]:
    """What some variables, one by one, held a unit higher for ever, do to another in the end.

    Over the class of the present: each graph that it leaves open has an estimate and a band.
    """
    names = design.series.names
    j, n, members = as_column(names, effect, "effect"), len(names), []
    places = [as_column(names, cause, "cause") for cause in causes]
    wide = [names[i] for i in (*places, j) if design.series.coding.sizes[i] > 1]
    if wide:
        raise ArgumentError(f"{list_names(wide)} has more than two levels: there is no unit", wide)
    tails = [(1 - level) / 2, (1 + level) / 2]
    for member in islice(enumerate_dags(cpdag), MOST_MEMBERS):
        dag = design.dag.copy()
        dag[:n, :n] = member
        here, draws = fits(replace(design, dag=dag), n_resamples=n_resamples, seed=seed)
        unknown = [np.full_like(here, np.nan)]
        bands = np.quantile([lasting(own) for own in draws or unknown], tails, axis=0)
        members.append([own[:, j] for own in (lasting(here), *bands)])
    found, low, high = (np.array(own) for own in zip(*members, strict=True))
    if not np.isfinite(found[:, places]).all():
        raise ArgumentError(
            "shocks never fade in the equations found, so that there is no effect in the end; take "
            "differences of columns that wander (difference=), or look at found.series.responses()"
        )
    scales = design.moments().scales
    source: Any = "one graph" if len(found) == 1 else "all graphs left open"
    ends = zip(found.min(0), found.max(0), low.min(0), high.max(0), strict=True)
    effects = []
    for i, (least, most, bottom, top) in enumerate(np.array(list(ends)).tolist()):
        scaled = max(least, most, key=abs) * float(scales[i] / scales[j])
        told = least, most, (bottom, top), scaled, source, float(np.mean(found[:, i] != 0))
        effects.append(TotalEffect(names[i], names[j], *told, level=level))
    return [effects[i] for i in places]
