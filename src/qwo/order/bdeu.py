"""BDeu: how probable a table of categories is under a graph, whatever its probabilities are.

With r levels of a child, q combinations of its parents' levels, and α rows of prior belief, spread
evenly over all cells (D. Heckerman, D. Geiger and D. Chickering, 1995),

    Σⱼ [ log Γ(α/q) - log Γ(α/q + Nⱼ) + Σₖ log Γ(α/(qr) + Nⱼₖ) - log Γ(α/(qr)) ]

is the logarithm of the probability of a child's column given those of its parents. Combinations
that no row has add nothing, so that only those that are there are counted. Where the degenerate
Gaussian score knows lines between indicators only, this one knows every dependence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from qwo.errors import ArgumentError
from qwo.order.local_score import LocalScore

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
        if not 0 < self.equivalent_sample_size < np.inf:
            raise ArgumentError(
                f"equivalent_sample_size is {self.equivalent_sample_size}; wanted a number above 0"
            )

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
