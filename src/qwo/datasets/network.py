"""Published Bayesian networks: their structures and, where they are Gaussian, their numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from qwo.errors import ArgumentError, list_names
from qwo.graph.dag import topological_order
from qwo.simulation import LinearModel
from qwo.types import Adjacency, FloatArray

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
        _read_only(coefficients),
        _read_only(np.array([record["intercepts"][node] for node in nodes])),
        _read_only(np.array([record["residual_sd"][node] for node in nodes])),
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


def _read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array


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
