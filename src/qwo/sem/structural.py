"""What fitted linear equations have on any directed graph, with cycles or without."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.columns.recipes import Coding
from qwo.errors import InputError, MissingValuesError, list_names
from qwo.moments import Moments
from qwo.moments.reading import new_rows
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd


class EdgeEstimate(NamedTuple):
    """The coefficient of one edge.

    Attributes
    ----------
    cause, effect : str
        The edge cause → effect.
    coefficient : float
        Change of the effect for a unit change of the cause, its other parents held fixed.
    standard_error, t, p_value : float
        Of ordinary least squares: two-sided, Student's t on N - k - 1 degrees of freedom. With
        N = ∞ the error is 0, and t and p are NaN.
    standardized : float
        The coefficient with both variables in units of their standard deviations.
    """

    cause: str
    effect: str
    coefficient: float
    standard_error: float
    t: float
    p_value: float
    standardized: float


class StructuralModel:
    """Fitted linear equations on a directed graph, with cycles or without."""

    moments: Moments
    dag: Adjacency

    @property
    def variables(self) -> Moments:
        """The moments of the variables."""
        return self.moments

    @property
    def coding(self) -> Coding:
        """The columns of each variable."""
        return self.variables.coding

    @cached_property
    def standardized_coefficients(self) -> FloatArray:
        """B with every variable in units of its standard deviation; (i, j) belongs to i → j."""
        raise NotImplementedError

    @property
    def edge_sizes(self) -> FloatArray:
        """Standardised coefficients between variables; (i, j) belongs to i → j."""
        return self.standardized_coefficients

    @property
    def variable_dag(self) -> Adjacency:
        """The graph on the variables."""
        return self.dag

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, or of their columns, in column order."""
        return self.moments.names

    @property
    def n_samples(self) -> float:
        """N; infinite if the model was fitted to the exact moments of a distribution."""
        return self.moments.n_samples

    @property
    def n_variables(self) -> int:
        """Number of variables n."""
        return self.moments.n_variables

    @cached_property
    def n_edges(self) -> int:
        """Number of edges between variables."""
        return int(self.variable_dag.sum())

    @cached_property
    def edges(self) -> tuple[EdgeEstimate, ...]:
        """One record for each edge."""
        raise NotImplementedError

    def edges_table(self) -> pd.DataFrame:
        """`edges` as a pandas data frame."""
        return records_frame(EdgeEstimate._fields, self.edges)

    def __repr__(self) -> str:
        n_samples = "∞" if self.moments.is_oracle else f"{self.n_samples:.10g}"
        return (
            f"<{type(self).__name__} of {self.variables.n_variables} variables, {self.n_edges} "
            f"edges, N = {n_samples}>"
        )

    def _in_units(self, standardized: FloatArray) -> FloatArray:
        """Entries (i, j) times s_j / s_i."""
        return standardized * (self.moments.scales / self.moments.scales[:, None])

    def _rows(self, data: Any) -> FloatArray:
        """The columns of rows."""
        if isinstance(data, Moments):
            raise InputError("the likelihood of rows needs the rows; got their Moments")
        known = self.variables
        if isinstance(data, np.ndarray) and data.shape[1:] == (self.n_variables,):
            known = self.moments  # the columns themselves
        rows = new_rows(known.names, data, "raise", known.coding)
        wrong = [self.names[k] for k in np.flatnonzero(~np.isfinite(rows).all(axis=0))]
        if wrong:
            raise MissingValuesError(
                f"missing or infinite values in {list_names(wrong)}; leave those rows out", wrong
            )
        return rows
