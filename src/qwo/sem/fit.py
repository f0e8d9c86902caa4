"""Maximum-likelihood estimates of linear equations on a DAG, and the score of any graph."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from qwo.arguments import ReadArguments, hinting
from qwo.errors import HOW_MANY, DataWarning, SampleSizeError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.dag import adjacency_lists, check_dag
from qwo.graph.pdag import to_dag
from qwo.moments import Moments, as_moments
from qwo.options import FROM_0
from qwo.order.blocks import n_coefficients
from qwo.sem.fit_indices import bic, log_likelihood, log_residual_variance, within_blocks
from qwo.sem.linear_sem import LinearSem
from qwo.sem.regression import check_units, regress
from qwo.types import Adjacency

if TYPE_CHECKING:
    from qwo.sem.cyclic import CyclicSem


@overload
def fit_sem(data: Any, dag: npt.NDArray[Any], **reading: Unpack[ReadArguments]) -> LinearSem: ...
@overload
def fit_sem(data: Any, dag: object, **reading: Unpack[ReadArguments]) -> LinearSem | CyclicSem: ...
@hinting
def fit_sem(data: Any, dag: Any, **reading: Unpack[ReadArguments]) -> LinearSem | CyclicSem:
    """The linear Gaussian model on a directed graph that fits the data best.

    Each variable is regressed on its parents, with an intercept: for a DAG with independent noise
    this maximises the likelihood. Only moments are used. A category with several levels is the
    columns of its contrasts against the first: see `qwo.sem.regression`.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments. With exact moments (N = ∞)
        standard errors are 0 and all that depends on N is NaN.
    dag : object
        Anything that `qwo.graph.as_graph` takes: a matrix has ``A[i, j] = 1`` for i → j in the
        column order of the data; of what has names, variables are found by name. A `Discovery`
        has its ``dag``. A `CausalGraph` of the kind "cyclic" is fitted as a `CyclicSem`. A
        `Discovery` with lags gives its structural autoregression
        (`qwo.series.autoregression.FittedAutoregression`).
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.options.ReadOptions`.

    Returns
    -------
    LinearSem or CyclicSem
        What both have, `edges` and their table above all, is called alike.

    Raises
    ------
    GraphError
        If the graph is no DAG on the variables of the data, and not of the kind "cyclic".
    SampleSizeError
        If a variable has k parents and N ≤ k + 1.
    LinearDependenceError
        If the parents of a variable are linearly dependent or determine it exactly.

    Examples
    --------
    >>> from qwo.simulation import simulate
    >>> data, dag, _ = simulate("er", n_variables=4, n_samples=500, random_state=1)
    >>> fit_sem(data, dag)
    <LinearSem of 4 variables, 4 edges, N = 500>
    """
    series: Any = getattr(dag, "series", None)
    if series is not None and dag.graph.kind != "cyclic":
        # A result with lags knows how its rows stand in time.
        fitted: Any = series.fit(data, reading)
        return fitted  # type: ignore[no-any-return]
    with warnings.catch_warnings():
        if series is not None:  # That is allowed for.
            warnings.filterwarnings("ignore", "rows depend on the row before", DataWarning)
        moments = as_moments(data, **reading)
    if series is not None:
        moments = moments.select(list(dag.names))
        moments = replace(moments, n_samples=moments.n_samples * series.n_effective / series.n_rows)
    check_units(moments)
    graph = as_graph(dag, moments.names, kind="dag")
    if graph.kind == "cyclic":
        return _with_cycles(moments, graph)
    matrix = check_dag(graph.matrix, moments.names)
    known = as_graph(dag, moments.names).matrix if hasattr(dag, "cpdag") else None
    return _fitted(moments, matrix, known)


def _with_cycles(moments: Moments, graph: CausalGraph) -> CyclicSem:
    """Another record, because most of what a LinearSem offers follows an order."""
    # Imported by name: it takes the compiled core.
    fitted: CyclicSem = import_module("qwo.sem.cyclic").fit_cyclic(moments, graph)
    return fitted


def _fitted(moments: Moments, dag: Adjacency, known: Adjacency | None = None) -> LinearSem:
    """The regression of each column on all of its variable's parents, in column order."""
    columns, owners = moments.as_columns(), moments.coding.owners
    expanded = dag[np.ix_(owners, owners)]
    expanded.setflags(write=False)
    equations = tuple(
        regress(columns, child, np.array(parents, dtype=np.intp))
        for child, parents in enumerate(adjacency_lists(expanded).parents)
    )
    return LinearSem(columns, expanded, equations, known, moments)


@dataclass(frozen=True, slots=True)
class GraphScore:
    """The score of a graph, which is also what ``float`` makes of it, and what it is made of.

    Attributes
    ----------
    score : float
        Σ_v [-N log σ̂²_v - c · |Pa(v)| · log N], σ̂²_v being the residual variance (divisor N) of
        the standardised variable v given its parents; higher is better.
    log_likelihood : float
        Maximum ℓ of the Gaussian log-likelihood, with all constants, in the units of the data.
    bic : float
        k log N - 2ℓ with k = n_edges + 2n parameters; lower is better. It is the negative of the
        score at c = 1, up to a constant that is the same for all graphs on the same data.
    n_edges : int
        Number of edges.
    penalty_discount : float
        c.
    """

    score: float
    log_likelihood: float
    bic: float
    n_edges: int
    penalty_discount: float

    def __float__(self) -> float:
        return self.score


@hinting
def score_graph(
    data: Any, graph: Any, penalty_discount: float = 2.0, **reading: Unpack[ReadArguments]
) -> GraphScore:
    """The penalised likelihood Σ_v [-N log σ̂²_v - c · |Pa(v)| · log N] of a graph.

    This is 2ℓ - c · k · log N for k edges, less the 2ℓ of the graph without edges: the empty graph
    has the score 0, and units do not matter.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments.
    graph : object
        Anything that `qwo.graph.as_graph` takes: a DAG (1 = i → j); a CPDAG (2 = undirected, in
        both entries), which is extended to a DAG first: all DAGs of an equivalence
        class have the same score; or a directed graph with cycles.
    penalty_discount : float
        c; 1 is the textbook's BIC.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.options.ReadOptions`.

    Examples
    --------
    >>> from qwo.simulation import simulate
    >>> data, dag, _ = simulate("er", n_variables=4, n_samples=500, random_state=1)
    >>> float(score_graph(data, dag)) > float(score_graph(data, 0 * dag))
    True
    """
    discount = FROM_0.checked("penalty_discount", penalty_discount)
    moments = as_moments(data, **reading)
    if moments.is_oracle:
        raise SampleSizeError("exact moments (N = ∞) have no finite score", cures=[HOW_MANY])
    given = as_graph(graph, moments.names, kind="dag")
    if given.kind == "cyclic":
        return _cyclic_score(_with_cycles(moments, given), discount)
    matrix = given.matrix
    # A graph without undirected edges is read as a DAG, so that a cycle is shown as one.
    extend = to_dag if (matrix == 2).any() else check_dag
    dag = extend(matrix, moments.names)
    model, size = _fitted(moments, dag), moments.n_samples
    # What the columns of a block have in common needs no edge.
    within, _ = within_blocks(model.moments, model.coding)
    fit = -size * (log_residual_variance(model.chain) - within)
    likelihood = log_likelihood(model.moments, model.chain)
    parameters = sum(len(own.predictors) for own in model.chain) + 2 * len(model.chain)
    return GraphScore(
        score=fit - discount * n_coefficients(dag, model.coding.sizes) * math.log(size),
        log_likelihood=likelihood,
        bic=bic(likelihood, parameters, size),
        n_edges=model.n_edges,
        penalty_discount=discount,
    )


def _cyclic_score(model: CyclicSem, discount: float) -> GraphScore:
    """The same of a graph with cycles, whose likelihood is no sum over variables."""
    size, n = model.n_samples, model.n_variables
    gain = -size * (model.log_determinant - 2 * float(np.log(model.moments.scales).sum()))
    likelihood = -size / 2 * (n * (math.log(2 * math.pi) + 1) + model.log_determinant)
    return GraphScore(
        score=gain - discount * model.n_edges * math.log(size),
        log_likelihood=likelihood,
        bic=bic(likelihood, model.n_edges + 2 * n, size),
        n_edges=model.n_edges,
        penalty_discount=discount,
    )
