"""The flow-cytometry data of Sachs et al. and the network that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qwo.datasets.network import load_network, read_table
from qwo.optional import optional_module
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import pandas as pd


OBSERVATIONAL_ROWS = 853
"""The cells of the first condition, under general stimulation only, come first in the file."""

CONDITIONS = {
    "anti-CD3/CD28": 853,
    "+ ICAM-2": 902,
    "+ Akt inhibitor": 911,
    "+ G06976": 723,
    "+ psitectorigenin": 810,
    "+ U0126": 799,
    "+ LY294002": 848,
    "PMA": 913,
    "β2cAMP": 707,
}
"""The nine experimental conditions, in the order of the rows, and how many cells each has. With +
the reagent was added to the first, general stimulation."""

PROTEINS = {
    "praf": "Raf",
    "pmek": "Mek",
    "plcg": "Plcg",
    "p44/42": "Erk",
    "pakts473": "Akt",
    "pjnk": "Jnk",
}
"""Columns of the file that the network calls otherwise."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with the graph that it is compared with. Arrays are read-only.

    Attributes
    ----------
    names : tuple of str
        The variables.
    values : ndarray of shape (N, n)
        Samples in rows and variables in columns.
    truth : int8 ndarray of shape (n, n)
        The graph, in the order of the columns: ``truth[i, j] = 1`` for i → j.
    description : str
        What the numbers are and where they come from.
    conditions : tuple of str
        Under which condition each row was taken; empty where there is one.
    """

    names: tuple[str, ...]
    values: FloatArray
    truth: Adjacency
    description: str
    conditions: tuple[str, ...] = ()

    def to_frame(self, *, conditions: bool = False) -> pd.DataFrame:
        """The values as a pandas data frame, with a column ``condition`` if asked for.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        pandas = optional_module("pandas", "a data frame needs")
        frame: pd.DataFrame = pandas.DataFrame(self.values.copy(), columns=list(self.names))
        if conditions:
            frame["condition"] = list(self.conditions)
        return frame

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        return f"<Dataset of {columns} variables, N = {rows}: {self.description}>"


def load_sachs(*, observational: bool = True, log: bool = True) -> Dataset:
    """Eleven proteins and phospholipids in single human immune cells (Sachs et al., Science 2005).

    The graph is the consensus network of 17 edges, which rests on biochemistry and on experiments
    that the observational rows do not contain; it is a reference, not a certainty.

    Parameters
    ----------
    observational : bool
        Only the 853 cells of the observational condition, instead of all 7466. Most others were
        treated with inhibitors or activators, so that all rows together are no sample of one
        distribution: `Dataset.conditions` says which.
    log : bool
        Natural logarithms of the intensities, which are strongly skewed.

    Examples
    --------
    >>> sachs = load_sachs()
    >>> sachs.values.shape, int(sachs.truth.sum())
    ((853, 11), 17)
    """
    columns, values = read_table("sachs.csv")
    names = tuple(PROTEINS.get(column, column) for column in columns)
    if observational:
        values = values[:OBSERVATIONAL_ROWS].copy()
    if log:
        np.log(values, out=values)
    network = load_network("sachs")
    order = [network.names.index(name) for name in names]
    truth = network.dag[np.ix_(order, order)]
    for array in (values, truth):
        array.setflags(write=False)
    labels = [label for label, rows in CONDITIONS.items() for _ in range(rows)]
    conditions = () if observational else tuple(labels)
    return Dataset(names, values, truth, _description(observational, log), conditions)


def _description(observational: bool, log: bool) -> str:
    quantity = "log-intensities" if log else "intensities"
    cells = "observational condition" if observational else "all conditions"
    return f"{quantity} of 11 proteins and phospholipids, {cells}, Sachs et al. (2005)"
