"""A random linear model and a sample of it, from one seed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qwo.checks import Range, generator, positive_range
from qwo.errors import ArgumentError
from qwo.simulation.linear_model import LinearModel
from qwo.simulation.random_graphs import given_dag, is_kind, random_dag
from qwo.types import Adjacency, FloatArray


class Simulation(NamedTuple):
    """A sample with its truth.

    Attributes
    ----------
    data : ndarray of shape (N, n)
        One row per draw.
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` means i → j.
    coefficients : ndarray of shape (n, n)
        ``coefficients[i, j]`` belongs to i → j, in the units of `data`.
    """

    data: FloatArray
    dag: Adjacency
    coefficients: FloatArray


def simulate(
    graph: Any = "er",
    *,
    n_variables: int | None = None,
    n_samples: int = 1000,
    degree: float = 2.0,
    noise: str = "gaussian",
    weights: Range = (0.5, 2.0),
    variances: Range = (1.0, 2.0),
    standardize: bool = False,
    shuffle: bool = True,
    random_state: Any = None,
) -> Simulation:
    """A sample of a random linear model: X_j = Σ_i B[i, j] X_i + e_j.

    Parameters
    ----------
    graph : object
        A kind of random graph by name (see `random_model`), or a directed acyclic graph as anything
        that `qwo.graph.as_graph` takes, whose order of variables becomes that of the columns.
    n_variables : int
        Number of variables of a random graph; not needed with a given graph.
    n_samples : int
        Number of rows.
    degree : float
        Average total degree (parents and children) of a random graph, with degree · n / 2 edges.
    noise : {"gaussian", "exponential", "gumbel", "uniform"}
        Shape of the noise, always of mean 0 and of the variance drawn.
    weights : (low, high)
        Range of the magnitudes of the coefficients: uniform, with a fair sign, one for each edge.
    variances : (low, high)
        Range of the noise variances: uniform.
    standardize : bool
        Whether columns are centred and scaled to variance 1 (divisor N), coefficients with them.
    shuffle : bool
        Whether the columns of a random graph come in random order, or else in causal order. A given
        graph keeps its columns.
    random_state : None, int or numpy.random.Generator
        Seed or source of all randomness.

    Returns
    -------
    Simulation
        Unpacks as ``data, dag, coefficients``.

    Examples
    --------
    >>> data, dag, coefficients = simulate("er", n_variables=5, n_samples=100, random_state=1)
    >>> data.shape
    (100, 5)
    """
    rng = generator(random_state)
    model = random_model(
        graph,
        n_variables=n_variables,
        degree=degree,
        weights=weights,
        variances=variances,
        shuffle=shuffle,
        random_state=rng,
    )
    data = model.sample(n_samples, noise, rng)
    coefficients = model.coefficients
    if standardize:
        if len(data) < 2:
            raise ArgumentError("standardize=True needs n_samples of at least 2; got 1")
        data -= data.mean(axis=0)
        scales = data.std(axis=0)
        data /= scales
        coefficients = coefficients * scales[:, None] / scales
    return Simulation(data, model.dag, coefficients)


def random_model(
    graph: Any = "er",
    *,
    n_variables: int | None = None,
    degree: float = 2.0,
    weights: Range = (0.5, 2.0),
    variances: Range = (1.0, 2.0),
    shuffle: bool = True,
    random_state: Any = None,
) -> LinearModel:
    """A linear model with random coefficients and noise variances on a random or given graph.

    The kinds of random graph, all with degree · n / 2 expected edges:

    ``"er"``
        Erdős–Rényi: each pair is joined independently with probability degree / (n - 1), and the
        edge follows a random order of the variables.
    ``"scale-free-out"``
        Preferential attachment with hubs among the causes. Variables arrive in causal order; each
        takes min(t, m) of the t earlier ones as parents, without replacement and with probability
        proportional to 1 + out-degree. m solves Σ min(t, m) = degree · n / 2; its fraction is
        settled by chance at each arrival.
    ``"scale-free-in"``, ``"scale-free"``
        The same with every edge turned round: hubs among the effects, chosen by 1 + in-degree.

    The other parameters are those of `simulate`.
    """
    magnitude = positive_range("weights", weights)
    spread = positive_range("variances", variances)
    rng = generator(random_state)
    if is_kind(graph):
        dag = random_dag(graph, n_variables, degree, shuffle, rng)
    else:
        dag = given_dag(graph, n_variables)
    tails, heads = np.nonzero(dag)
    size = rng.uniform(*magnitude, len(tails))
    sign = rng.choice([-1.0, 1.0], len(tails))
    coefficients = np.zeros(dag.shape)
    coefficients[tails, heads] = size * sign
    return LinearModel(dag, coefficients, rng.uniform(*spread, len(dag)))
