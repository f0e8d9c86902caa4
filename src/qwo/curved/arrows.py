"""What the shape of the noise has told of arrows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.moments.curves import FEWEST_ROWS, RowSample
from qwo.text import count, records_frame
from qwo.types import Adjacency, FloatArray, Mask

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("source", "target", "gain", "lack", "z")


@dataclass(frozen=True, eq=False)
class NoiseArrows:
    """What the shape of the noise says of arrows.

    Attributes
    ----------
    names : tuple of str
        The variables.
    dag : ndarray of int8, n×n
        The DAG.
    gains, lacks, z : ndarray, n×n
        For each arrow i → j by how much twice the log-likelihood falls if j must come before i;
        what a model might gain in which residuals depend on causes or each other; and how much the
        former exceeds the latter, in its standard errors. NaN where nothing can be told.
    level : float
        The z from which an edge is directed.
    rows, n_rows : int
        Rows that were looked at, and all there are.
    opened : int
        How many edges the class alone would leave undirected.
    left : bool
        Whether the graph is of another class than the one of the Gaussian cost.
    scores : bool
        Whether lines between normal scores explain the rows better, so that the graph is theirs.
    """

    names: tuple[str, ...]
    dag: Adjacency
    gains: FloatArray
    lacks: FloatArray
    z: FloatArray
    level: float
    rows: int
    n_rows: int
    opened: int = 0
    left: bool = False
    scores: bool = False

    @classmethod
    def none(
        cls, names: tuple[str, ...], level: float, sample: RowSample, **flags: bool
    ) -> NoiseArrows:
        """Nothing was told."""
        nothing = np.full((len(names),) * 2, math.nan)
        dag = np.zeros(nothing.shape, np.int8)
        rows = len(sample.columns), sample.n_rows
        return cls(names, dag, nothing, nothing.copy(), nothing.copy(), level, *rows, **flags)

    def among(self, n_variables: int) -> NoiseArrows:
        """What is said of the first variables."""
        first = slice(n_variables)
        parts = {name: getattr(self, name)[first, first] for name in ("dag", "gains", "lacks", "z")}
        return replace(self, names=self.names[first], **parts)

    @property
    def graph(self) -> None:
        """None: the graph is the class with what noise has directed."""

    @property
    def supported(self) -> Mask:
        """Which arrows the noise supports: n×n."""
        return np.nan_to_num(self.z, nan=-math.inf) >= self.level

    @property
    def unfit(self) -> int:
        """How many arrows would have enough evidence if their model fitted."""
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = self.gains * self.z / (self.gains - self.lacks)
        return int((whole >= self.level).sum() - self.supported.sum())

    def records(self) -> list[tuple[Any, ...]]:
        """One row for each arrow of the DAG, as `to_frame` has them."""
        shown = self.gains, self.lacks, self.z
        return [
            (self.names[i], self.names[j], *(float(own[i, j]) for own in shown))
            for i, j in zip(*np.nonzero(self.dag), strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Each arrow of the DAG: what turning it costs, what its model lacks, and z."""
        return records_frame(COLUMNS, self.records())

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs; None stands for what cannot be told."""
        return {
            "level": self.level,
            "rows": self.rows,
            "n_rows": self.n_rows,
            "other_class": self.left,
            "unfit": self.unfit,
            "normal_scores": self.scores,
            "arrows": [
                {"source": a, "target": b} | dict(zip(COLUMNS[2:], map(_known, told), strict=True))
                for a, b, *told in self.records()
            ],
        }

    def summary(self) -> str:
        """How many arrows the noise directs, and why it may direct none."""
        lines = []
        if self.scores:
            lines.append(
                "Noise: lines between normal scores explain the rows better than curves with noise "
                "added; the graph is that of normal scores, and noise directs nothing"
            )
        told, sure = int((~np.isnan(self.z)).sum()), int(self.supported.sum())
        if told:
            lines.append(
                f"Noise: {sure} of {told} arrows have evidence of z ≥ {self.level:g}; the class "
                f"alone leaves {count(self.opened, 'edge')} undirected"
            )
        if self.unfit:
            lines.append(
                f"Noise: {count(self.unfit, 'further arrow')} would have it if residuals did not "
                "depend on causes or each other: the model does not fit there"
            )
        if self.left:
            lines.append("Noise: the graph is of another class than the Gaussian cost prefers")
        if self.rows < self.n_rows:
            lines.append(f"Noise: looked at in {self.rows:,} of {self.n_rows:,} rows")
        few = f": {self.rows} rows are too few" if self.rows < FEWEST_ROWS else ""
        return "\n".join(lines or [f"Noise: nothing is told by its shape{few}"])


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
