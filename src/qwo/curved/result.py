"""What a search with curved relations has learnt, beside the graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.columns.recipes import Coding
from qwo.curved.partial import PartialEffect, partial_effect
from qwo.errors import ArgumentError
from qwo.moments.curves import RowSample
from qwo.moments.moments import Moments
from qwo.names import Variable, as_column, at_least, between
from qwo.order.blocks import columns_of, slopes_of
from qwo.text import count, records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from qwo.curved.model import AdditiveSem

COLUMNS = ("source", "target", "linear", "curved")
DRAWN = ("source", "target", "x", "y", "low", "high")


@dataclass(frozen=True, eq=False)
class CurvedRelations:
    """The additive model on the DAG found: how much of each edge is a line, and its curve.

    Attributes
    ----------
    names : tuple of str
        The variables.
    dag : ndarray of int8, n×n
        The DAG: entry (i, j) is 1 for i → j.
    size : int
        How many columns each variable had in the search: itself and functions of it; 1 where the
        data asked for no curves.
    costs : mapping from int to float
        What a short search came to with each number of columns; empty where pairs showed no curve.
    linear, curved : ndarray, n×n
        The share of the variance of j that the edge i → j explains by a line, and by what its curve
        has beside the line, the other causes held fixed.
    sample : RowSample
        Rows from which curves are drawn: all, or a sample of fixed size.
    coding : Coding
        How the columns of the rows belong to the variables.
    """

    names: tuple[str, ...]
    dag: Adjacency
    size: int
    costs: Mapping[int, float]
    linear: FloatArray
    curved: FloatArray
    sample: RowSample
    coding: Coding

    @classmethod
    def of(
        cls,
        moments: Moments,
        dag: Adjacency,
        costs: Mapping[int, float],
        sample: RowSample,
        coding: Coding,
    ) -> CurvedRelations:
        """Of the moments with which a DAG was found; coding: that of the rows of the sample."""
        size = int(moments.coding.sizes.max()) if moments.coding.has_curves else 1
        return cls(moments.names, dag, size, costs, *edge_shares(moments, dag), sample, coding)

    @property
    def graph(self) -> None:
        """None: the graph is the class of the DAG."""

    def records(self) -> list[tuple[Any, ...]]:
        """One row for each edge of the DAG, as `to_frame` has them."""
        return [
            (self.names[i], self.names[j], float(self.linear[i, j]), float(self.curved[i, j]))
            for i, j in zip(*np.nonzero(self.dag), strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Each edge of the DAG with the shares of variance that are linear and curved."""
        return records_frame(COLUMNS, self.records())

    def to_dict(self) -> dict[str, Any]:
        """Edges, columns and costs, for programs; curves are drawn from the rows."""
        return {
            "columns": self.size,
            "costs": {str(size): cost for size, cost in self.costs.items()},
            "rows": len(self.sample.columns),
            "n_rows": self.sample.n_rows,
            "edges": [dict(zip(COLUMNS, row, strict=True)) for row in self.records()],
        }

    def curve(
        self, cause: Variable, effect: Variable, *, columns: int | None = None, level: float = 0.95
    ) -> PartialEffect:
        """How an effect changes with one of its causes, the other causes held fixed.

        Drawn with more columns than were searched with, so that the band holds: see
        `qwo.curved.partial`.
        """
        i, j = as_column(self.names, cause, "cause"), as_column(self.names, effect, "effect")
        level = between("level", level, 0.0, 1.0)
        columns = None if columns is None else at_least("columns", columns, 1)
        if not self.dag[i, j]:
            raise ArgumentError(
                f"{self.names[i]} --> {self.names[j]} is no edge of the DAG found; its edges are "
                "in to_frame()"
            )
        if not self.has_curve(j):
            raise ArgumentError(
                f"{self.names[j]} is a category of {len(self.coding.variables[j].levels)} levels, "
                "and curves are of numbers; its edges are in to_frame()"
            )
        rows = self.sample, self.coding, self.names
        return partial_effect(*rows, self.dag, (i, j), level=level, columns=columns)

    def has_curve(self, effect: Variable) -> bool:
        """Whether the causes of a variable have curves: not those of a category of many levels."""
        return int(self.coding.sizes[as_column(self.names, effect, "effect")]) == 1

    def drawn(self) -> Iterator[tuple[Any, ...]]:
        """The points of all curves, one row each."""
        for a, b, _, _ in self.records():
            if self.has_curve(b):
                yield from ((a, b, *point) for point in self.curve(a, b).records())

    def model(self) -> AdditiveSem:
        """The additive model on the DAG: its equations, and effects between two values."""
        from qwo.curved.model import AdditiveSem

        return AdditiveSem(self.names, self.dag, self.linear, self.curved, self.sample, self.coding)

    def summary(self) -> str:
        """How many columns there were, and which edges are curved most."""
        if self.size == 1:
            return "Relations: no curve pays; the graph is the one of linear relations"
        rows = sorted(self.records(), key=lambda row: -row[3])
        curved = [row for row in rows if row[3] > row[2]]
        lines = [
            f"  {a} --> {b}  {line:.0%} of the variance by a line, {bent:.0%} by its curve"
            for a, b, line, bent in rows[:5]
        ]
        head = (
            f"Relations: {self.size} columns a variable; of {count(len(rows), 'edge')} "
            f"{len(curved)} are more curve than line. Most curved:"
        )
        return "\n".join([head, *lines])


def edge_shares(moments: Moments, dag: Adjacency) -> tuple[FloatArray, FloatArray]:
    """Shares of variance that edges explain by a line and by the rest of their curve: n×n each.

    Columns of a variable are uncorrelated and of unit variance, so that these are squares of the
    coefficients of the family's regression.
    """
    matrix, sizes = moments.whitened()
    columns, n = columns_of(sizes), len(sizes)
    leading = moments.leading()
    linear, curved = np.zeros((n, n)), np.zeros((n, n))
    for child in range(n):
        parents = np.flatnonzero(dag[:, child])
        if not len(parents):
            continue
        own = columns[child][: leading[child]]
        given = np.concatenate([columns[p] for p in parents])
        slopes = slopes_of(matrix[np.ix_(given, given)], matrix[np.ix_(given, own)])
        squares, end = (slopes**2).mean(axis=1), 0
        for p in parents:
            part = squares[end : end + sizes[p]]
            is_curve = moments.coding.variables[p].curve is not None
            linear[p, child] = part[0] if is_curve else part.sum()
            curved[p, child] = part[1:].sum() if is_curve else 0.0
            end += sizes[p]
    return linear, curved
