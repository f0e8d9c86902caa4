"""Random linear models and samples of them: on Erdős–Rényi, scale-free, or given DAGs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from qwo.arguments import hinting
from qwo.errors import ArgumentError, GraphError
from qwo.graph.dag import adjacency_lists, check_dag, reachability, topological_order
from qwo.graph.formats.registry import format_of_text, is_file
from qwo.names import Range, at_least, between, check_size, generator, positive_range
from qwo.simulation.linear_model import Interventions, LinearModel, refuse_beside, sample_conditions
from qwo.types import Adjacency, FloatArray, Indices

STABLE = 0.95
"""The spectral radius of the coefficients that a model with cycles stays below."""


class Simulation(NamedTuple):
    """A sample with its truth.

    Attributes
    ----------
    data : ndarray of shape (N, n)
        One row per draw; a dict of such arrays by condition, where there are interventions.
    dag : int8 ndarray of shape (n, n)
        ``dag[i, j] = 1`` means i → j.
    coefficients : ndarray of shape (n, n)
        ``coefficients[i, j]`` belongs to i → j, in the units of `data`.
    """

    data: Any
    dag: Adjacency
    coefficients: FloatArray


@hinting
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
    hidden: int = 0,
    cycles: int = 0,
    interventions: Interventions | None = None,
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
    hidden : int
        So many common causes of 2 to 4 random variables each are added and not shown. `dag` and
        coefficients have them after the columns of the data;
        ``qwo.graph.pag.true_pag(dag, hidden)`` is what can be found.
    cycles : int
        How many edges are added against the causal order, each of which closes a cycle. The model
        is drawn until disturbances die out in it (spectral radius below 0.95); in place of the DAG
        there is a graph with cycles.
    interventions : mapping, optional
        The variables (X0, X1, … or column numbers) that each condition touches, which `discover`
        finds out: ``{"control": [], "drug": ["X2"]}``. A mapping says how: ``{"X2": "perfect"}``;
        ``"shift"`` moves the mean by a standard deviation, ``"perfect"`` sets the variable two of
        them off whatever its causes, ``"variance"`` makes the noise 2.5 times as large,
        ``"slopes"`` turns the effects of its causes round and halves them. Every condition has
        ``n_samples`` rows, and ``data`` is a mapping from conditions to rows.
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
    if at_least("hidden", hidden, 0):
        model = with_hidden_causes(model, hidden, magnitudes=weights, spread=variances, rng=rng)
    if at_least("cycles", cycles, 0):
        model = with_cycles(model, cycles, positive_range("weights", weights), rng)
    coefficients = model.coefficients
    if interventions is not None:
        refuse_beside(standardize=standardize, cycles=cycles)
        tables = sample_conditions(model, interventions, n_samples, noise, rng)
        shown = slice(model.n_variables - hidden)
        return Simulation({k: t[:, shown] for k, t in tables.items()}, model.dag, coefficients)
    data = model.sample(n_samples, noise, rng)
    if standardize:
        if len(data) < 2:
            raise ArgumentError(
                "n_samples is 1; wanted 2 at least to standardise", option="n_samples"
            )
        data -= data.mean(axis=0)
        scales = data.std(axis=0)
        data /= scales
        coefficients = coefficients * scales[:, None] / scales
    return Simulation(data[:, : data.shape[1] - hidden], model.dag, coefficients)


def with_hidden_causes(
    model: LinearModel, hidden: int, *, magnitudes: Range, spread: Range, rng: np.random.Generator
) -> LinearModel:
    """A model with so many roots more, behind its variables, that cause 2 to 4 of these each."""
    n = len(model.coefficients)
    if n < 2:
        raise ArgumentError("hidden common causes need two variables at least", option="hidden")
    slopes = np.zeros((n + hidden, n + hidden))
    slopes[:n, :n] = model.coefficients
    for h in range(n, n + hidden):
        effects = rng.choice(n, size=rng.integers(2, min(n, 4) + 1), replace=False)
        signs = rng.choice([-1.0, 1.0], len(effects))
        slopes[h, effects] = signs * rng.uniform(*magnitudes, len(effects))
    variances = np.concatenate([model.noise_variances, rng.uniform(*spread, hidden)])
    return LinearModel((slopes != 0).astype(np.int8), slopes, variances)


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


MOST_DRAWS = 1000
"""Sets of coefficients that are drawn before a model with cycles is given up as unstable."""


def with_cycles(
    model: LinearModel, cycles: int, magnitude: tuple[float, float], rng: np.random.Generator
) -> LinearModel:
    """The model with edges against its order that close cycles, stable: coefficients drawn anew."""
    order = topological_order(model.dag)
    below = reachability(adjacency_lists(model.dag).children, order.tolist())
    for _ in range(MOST_DRAWS):
        causes, effects = np.nonzero(below.T & (model.dag == 0))
        if len(causes) < cycles:
            raise ArgumentError(
                f"cycles is {cycles}, but the graph has only {len(causes)} paths that an edge "
                "could close; ask for fewer, or for a higher degree",
                option="cycles",
            )
        added = rng.choice(len(causes), cycles, replace=False)
        graph = model.dag.copy()
        graph[causes[added], effects[added]] = 1
        drawn = rng.uniform(*magnitude, graph.shape) * rng.choice([-1.0, 1.0], graph.shape)
        coefficients = np.where(graph != 0, drawn, 0.0)
        if np.abs(np.linalg.eigvals(coefficients)).max() < STABLE:
            return LinearModel(graph, coefficients, model.noise_variances)
    raise ArgumentError(
        f"no stable model with {cycles} cycles was found; ask for fewer cycles, or smaller weights",
        option="cycles",
    )


Edges = tuple[Indices, Indices]


def random_dag(
    kind: str, n_variables: int | None, degree: float, shuffle: bool, rng: np.random.Generator
) -> Adjacency:
    """Edges between positions of a causal order, and a random variable for each position."""
    draw = _GRAPHS.get(kind)
    if draw is None:
        raise ArgumentError(
            f"graph is {kind!r}; wanted one of {', '.join(map(repr, _GRAPHS))}, the matrix of a "
            "DAG, or a networkx.DiGraph"
        )
    if n_variables is None:
        raise ArgumentError(
            f"n_variables is missing: say how many variables the {kind!r} graph has",
            option="n_variables",
        )
    n = at_least("n_variables", n_variables, 1)
    check_size(f"the matrix of {n} variables", n * n)
    causes, effects = draw(n, between("degree", degree, 0, n - 1), rng)
    order = rng.permutation(n) if shuffle else np.arange(n)
    dag = np.zeros((n, n), dtype=np.int8)
    dag[order[causes], order[effects]] = 1
    return dag


def _erdos_renyi(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """Each pair with probability degree / (n - 1): a binomial number of distinct pairs."""
    n_pairs = n * (n - 1) // 2
    n_edges = rng.binomial(n_pairs, degree / (n - 1)) if n > 1 else 0
    rank = rng.choice(n_pairs, n_edges, replace=False, shuffle=False) if n_edges else np.arange(0)
    # Pair (i, j) with i < j has rank j(j - 1)/2 + i.
    later = ((1 + np.sqrt(1 + 8 * rank)) / 2).astype(np.intp)
    return rank - later * (later - 1) // 2, later


def _scale_free_out(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """Arrivals take earlier positions as parents, by 1 + out-degree; see `random_model`."""
    weight = np.ones(n)
    causes: list[Indices] = [np.arange(0)]
    counts = np.zeros(n, dtype=np.intp)
    edges_each = _edges_per_arrival(n, degree)
    for arrival in range(1, n):
        count = min(arrival, math.floor(edges_each + rng.random()))
        # The first of independent exponential clocks with rates `weight` to ring: successive
        # sampling without replacement, in one pass.
        clocks = rng.standard_exponential(arrival) / weight[:arrival]
        chosen = np.argpartition(clocks, count - 1)[:count] if count else causes[0]
        weight[chosen] += 1
        causes.append(chosen)
        counts[arrival] = count
    return np.concatenate(causes), np.repeat(np.arange(n), counts)


def _scale_free_in(n: int, degree: float, rng: np.random.Generator) -> Edges:
    """The mirror image of `_scale_free_out`: the hubs are effects, and come last."""
    causes, effects = _scale_free_out(n, degree, rng)
    return n - 1 - effects, n - 1 - causes


def _edges_per_arrival(n: int, degree: float) -> float:
    """The m with Σ_{t < n} min(t, m) = degree · n / 2."""
    target = degree * n / 2
    whole = np.arange(n)
    reached = whole * (whole + 1) / 2 + (n - 1 - whole) * whole
    base = int(np.searchsorted(reached, target, side="right")) - 1
    left = n - 1 - base
    return base + (target - reached[base]) / left if left else float(base)


_GRAPHS: dict[str, Callable[[int, float, np.random.Generator], Edges]] = {
    "er": _erdos_renyi,
    "scale-free": _scale_free_in,
    "scale-free-in": _scale_free_in,
    "scale-free-out": _scale_free_out,
}


def given_dag(graph: Any, n_variables: int | None) -> Adjacency:
    """The matrix of a given graph, which is checked to be acyclic and of the size announced."""
    dag = check_dag(graph)
    if n_variables is not None and n_variables != len(dag):
        raise ArgumentError(
            f"n_variables is {n_variables}, but the given graph has {len(dag)}; leave it out",
            option="n_variables",
        )
    if len(dag) == 0:
        raise GraphError("the given graph has no variables")
    return dag.copy()


def is_kind(graph: object) -> bool:
    """Whether this is a kind of random graph by name, or no graph that a file or text could give.

    A string is the name of a file if there is one of this name, as for `qwo.graph.read_graph`.
    """
    if not isinstance(graph, str):
        return False
    return graph in _GRAPHS or not (is_file(graph) or format_of_text(graph))
