"""Data and networks that come with the package, for examples, tests and benchmarks.

Networks are published ones: structures, and numbers where they are Gaussian. Where all of it comes
from is told in ATTRIBUTION.md, beside the files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from qwo.errors import ArgumentError, list_names, optional_module
from qwo.graph.dag import topological_order
from qwo.simulation import LinearModel
from qwo.types import Adjacency, FloatArray, read_only

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Dataset",
    "GaussianNetwork",
    "Network",
    "list_networks",
    "load_gaussian_network",
    "load_network",
    "load_sachs",
    "load_us_quarters",
]

STRUCTURES = "networks"
GAUSSIAN = "networks-gaussian"


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """The directed acyclic graph of a published Bayesian network. The matrix is read-only.

    Attributes
    ----------
    name : str
        What the network is called.
    names : tuple of str
        Its variables.
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` for i → j.
    """

    name: str
    names: tuple[str, ...]
    dag: Adjacency

    @property
    def n_variables(self) -> int:
        """Number of variables n."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(self.dag.sum())

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name!r}: "
            f"{self.n_variables} variables, {self.n_edges} edges>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNetwork(Network):
    """The equations X_j = a_j + Σ_i B[i, j] X_i + e_j of a published Gaussian network.

    Attributes
    ----------
    coefficients : ndarray of shape (n, n)
        B: entry (i, j) belongs to i → j, 0 without edge.
    intercepts : ndarray of shape (n,)
        The constants a_j.
    noise_standard_deviations : ndarray of shape (n,)
        The standard deviations of the e_j, which are independent and normal with mean 0.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    noise_standard_deviations: FloatArray

    @property
    def model(self) -> LinearModel:
        """The equations without their constants, which simulate and give the covariance matrix."""
        return LinearModel(self.dag, self.coefficients, np.square(self.noise_standard_deviations))

    def means(self) -> FloatArray:
        """The means (I - B)⁻ᵀ a of the variables."""
        order = topological_order(self.dag)
        # In causal order I - B is triangular with unit diagonal: substitution, no elimination.
        triangle = np.eye(self.n_variables) - self.coefficients[np.ix_(order, order)]
        means = np.empty(self.n_variables)
        means[order] = solve_triangular(
            triangle, self.intercepts[order], trans="T", unit_diagonal=True
        )
        return means

    def covariance(self) -> FloatArray:
        """The covariance matrix of the variables."""
        return self.model.covariance()

    def sample(self, n_samples: int, random_state: Any = None) -> FloatArray:
        """Independent draws of all variables, one per row.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : None, int or numpy.random.Generator
            Seed or source of randomness.
        """
        rows = self.model.sample(n_samples, random_state=random_state)
        rows += self.means()
        return rows


def list_networks(*, gaussian: bool = False) -> tuple[str, ...]:
    """The names of the networks that `load_network` knows, in alphabetical order.

    Parameters
    ----------
    gaussian : bool
        Only those of `load_gaussian_network`.

    Examples
    --------
    >>> list_networks(gaussian=True)
    ('arth150', 'ecoli70', 'magic-irri', 'magic-niab')
    """
    names = network_names(GAUSSIAN)
    return names if gaussian else tuple(sorted(names + network_names(STRUCTURES)))


def load_network(name: str) -> Network:
    """The structure of a published Bayesian network, from 5 variables to 1041.

    Parameters
    ----------
    name : str
        One of `list_networks`, in upper or lower case. Gaussian networks have structures too.

    Examples
    --------
    >>> load_network("asia")
    <Network 'asia': 8 variables, 8 edges>
    """
    chosen = _known(name, list_networks())
    record = read_network(GAUSSIAN if chosen in network_names(GAUSSIAN) else STRUCTURES, chosen)
    return Network(chosen, tuple(record["nodes"]), _dag(record))


def load_gaussian_network(name: str) -> GaussianNetwork:
    """A published Gaussian Bayesian network with its coefficients, constants and noise.

    Parameters
    ----------
    name : str
        ``"ecoli70"``, ``"magic-niab"``, ``"magic-irri"`` or ``"arth150"``, in upper or lower case.

    Examples
    --------
    >>> load_gaussian_network("ecoli70")
    <GaussianNetwork 'ecoli70': 46 variables, 70 edges>
    """
    chosen = _known(name, list_networks(gaussian=True))
    record = read_network(GAUSSIAN, chosen)
    nodes = record["nodes"]
    place = {node: index for index, node in enumerate(nodes)}
    coefficients = np.zeros((len(nodes), len(nodes)))
    for cause, effect, value in record["coefficients"]:
        coefficients[place[cause], place[effect]] = value
    return GaussianNetwork(
        chosen,
        tuple(nodes),
        _dag(record),
        read_only(coefficients),
        read_only(np.array([record["intercepts"][node] for node in nodes])),
        read_only(np.array([record["residual_sd"][node] for node in nodes])),
    )


def _known(name: str, known: tuple[str, ...]) -> str:
    """The name as the files have it; only a name from the list ever reaches the file system."""
    lower = str(name).lower()
    if lower in known:
        return lower
    near = get_close_matches(lower, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"wanted one of {list_names(known, limit=99)}"
    raise ArgumentError(f"there is no network {name!r}; {hint}")


def _dag(record: dict[str, Any]) -> Adjacency:
    place = {node: index for index, node in enumerate(record["nodes"])}
    dag = np.zeros((len(place), len(place)), dtype=np.int8)
    for cause, effect in record["edges"]:
        dag[place[cause], place[effect]] = 1
    dag.setflags(write=False)
    return dag


def network_names(folder: str) -> tuple[str, ...]:
    """The names of the networks in a folder, in alphabetical order."""
    found = (file.name for file in _data(folder).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def read_network(folder: str, name: str) -> dict[str, Any]:
    """The record of a network: nodes, edges and, in a Gaussian one, its numbers."""
    record: dict[str, Any] = json.loads(_data(folder, f"{name}.json").read_text(encoding="utf-8"))
    return record


def read_table(name: str) -> tuple[tuple[str, ...], FloatArray]:
    """The names and the rows of a CSV file of numbers."""
    with _data(name).open(encoding="utf-8") as file:
        names = tuple(file.readline().strip().split(","))
        return names, np.loadtxt(file, delimiter=",", ndmin=2)


def _data(*path: str) -> Traversable:
    return files("qwo.datasets").joinpath(*path)


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


def load_us_quarters() -> pd.DataFrame:
    """203 quarters of gdp, consumption and investment (billions of 2005 dollars), and three rates.

    These are unemployment, inflation and the rate of three-month Treasury bills, in percent;
    ``date`` is the first day of the quarter. Public domain: Federal Reserve Bank of St. Louis
    (FRED) and, for unemployment, the Bureau of Labor Statistics, as compiled by Skipper Seabold for
    statsmodels (``macrodata``).
    """
    pandas = optional_module("pandas", "data frames need", "pandas")
    with (files("qwo.datasets") / "us-quarters.csv").open() as file:
        frame: pd.DataFrame = pandas.read_csv(file)
    return frame
