"""BDeu: how probable a table of categories is under a graph, whatever its probabilities are.

With r levels of a child, q combinations of its parents' levels, and α rows of prior belief, spread
evenly over all cells (D. Heckerman, D. Geiger and D. Chickering, 1995),

    Σⱼ [ log Γ(α/q) - log Γ(α/q + Nⱼ) + Σₖ log Γ(α/(qr) + Nⱼₖ) - log Γ(α/(qr)) ]

is the logarithm of the probability of a child's column given those of its parents. Combinations
that no row has add nothing, so that only those that are there are counted. Where the degenerate
Gaussian score knows lines between indicators only, this one knows every dependence.
`counting_engine` makes the engine of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from qwo.arguments import ReadArguments
from qwo.errors import (
    ArgumentError,
    Cure,
    InputError,
    MissingValuesError,
    ShapeError,
    list_names,
)
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, read_table
from qwo.moments.reading import audit
from qwo.moments.tables import Table
from qwo.options import ABOVE_0, Missing
from qwo.order.local_score import LocalScore, LocalScoreEngine

Codes = npt.NDArray[np.int64]

DENSE = 4
"""Cells are counted in an array if there are at most so many for each row."""


@dataclass(frozen=True)
class BDeu:
    """The Bayesian Dirichlet score that is equal for equivalent graphs, with a uniform prior.

    Parameters
    ----------
    equivalent_sample_size : float
        α: how many rows the belief is worth that all cells are equally probable.
    """

    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        ABOVE_0.checked("equivalent_sample_size", self.equivalent_sample_size)

    def of(self, codes: Codes, levels: Sequence[int]) -> LocalScore:
        """The local score of the columns of a table.

        Parameters
        ----------
        codes : ndarray of int, of shape (N, n)
            The level of each variable in each row, from 0.
        levels : sequence of int
            How many levels each variable has.
        """
        columns = np.ascontiguousarray(codes.T)

        def local(child: int, parents: tuple[int, ...]) -> float:
            rows, n_rows = np.zeros(columns.shape[1], dtype=np.int64), 1
            combinations = 1.0
            for parent in parents:
                combinations *= levels[parent]
                rows = rows * levels[parent] + columns[parent]
                n_rows *= levels[parent]
                if n_rows > DENSE * len(rows):
                    found, rows = np.unique(rows, return_inverse=True)
                    n_rows = len(found)
            r = levels[child]
            per_row = self.equivalent_sample_size / combinations
            in_rows = _counts(rows, n_rows)
            in_cells = _counts(rows * r + columns[child], n_rows * r)
            whole = len(in_rows) * gammaln(per_row) - gammaln(per_row + in_rows).sum()
            parts = gammaln(per_row / r + in_cells).sum() - len(in_cells) * gammaln(per_row / r)
            return float(whole + parts)

        return local


def _counts(cells: Codes, n_cells: int) -> npt.NDArray[np.int64]:
    """How many rows are in each cell that has some."""
    if n_cells > DENSE * len(cells):
        return np.asarray(np.unique(cells, return_counts=True)[1])
    counts = np.bincount(cells)
    return counts[counts > 0]


def counted_rows(data: Any, reading: ReadArguments) -> tuple[Table, Moments]:
    """The rows of whatever the user calls data, and their moments.

    An ArgumentError says that there are none, or that they are treated so that no counts are left.
    """
    if isinstance(data, Moments):
        raise ArgumentError(
            "score 'bdeu' counts rows, but the data are Moments; give the table itself",
            option="score",
        )
    missing: Missing = reading.get("missing", "raise")
    if missing == "em":
        raise ArgumentError(
            "missing is 'em', but score 'bdeu' counts complete rows",
            option="missing",
            cures=[Cure("missing", "drop", "leaves the others out")],
        )
    if reading.get("cluster") is not None:
        raise ArgumentError(
            "cluster is given, but score 'bdeu' counts each row as one of its own; take one row of "
            "each cluster",
            option="cluster",
            cures=[Cure("score", "bic", "takes the effective number of rows")],
        )
    if reading.get("weights") is not None:
        raise ArgumentError(
            "weights are given, but score 'bdeu' counts each row once", option="weights"
        )
    table = data if isinstance(data, Table) else read_table(data, **reading)
    try:
        return table, Moments.from_data(table, missing=missing)
    except ShapeError:
        # The table has forgotten which columns hold nothing that can be used, and why.
        audit(data, **reading).raise_errors()
        raise
    except MissingValuesError as error:
        error.cures = tuple(cure for cure in error.cures if cure.value != "em")
        raise


def counting_engine(
    score: str | BDeu, table: Table, moments: Moments, knowledge: ResolvedKnowledge | None
) -> LocalScoreEngine:
    """The engine that gives each order its DAG by such a score of complete rows.

    The moments are those of the table, whose audit says what is a category; nothing else may be
    there.
    """
    kinds = moments.audit().types
    numbers = [name for name in moments.names if kinds[name] == "continuous"]
    if numbers:
        said = dict.fromkeys(numbers, "ordinal")
        raise InputError(
            f"score 'bdeu' is for categories, but {list_names(numbers)} "
            f"{'holds' if len(numbers) == 1 else 'hold'} numbers",
            numbers,
            (
                Cure("score", "bic", "takes tables of any kind"),
                Cure("types", said, "counts each value by itself: cut them into intervals before"),
            ),
        )
    rows = table.values[np.isfinite(table.values).all(axis=1)]
    codes = np.empty(rows.shape, dtype=np.int64)
    levels = []
    for k, column in enumerate(rows.T):
        seen, codes[:, k] = np.unique(column, return_inverse=True)
        levels.append(len(seen))
    counts = BDeu() if isinstance(score, str) else score
    return LocalScoreEngine(counts.of(codes, levels), len(levels), knowledge=knowledge)
