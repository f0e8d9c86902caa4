"""The score of a graph: what the search maximises, for any graph that the user has in mind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

from qwo.arguments import ReadArguments
from qwo.errors import HOW_MANY, ArgumentError, SampleSizeError
from qwo.graph.coercion import as_graph
from qwo.graph.dag import check_dag
from qwo.graph.extension import to_dag
from qwo.moments import as_moments
from qwo.order.blocks import BlockScore, n_coefficients
from qwo.sem.fit import fit_equations, fit_sem
from qwo.sem.fit_indices import bic, log_likelihood, log_residual_variance


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
        Anything that `qwo.graph.as_graph` takes: a DAG (1 = i → j), or a CPDAG (2 = undirected, in
        both entries), which is extended to a DAG first: all DAGs of an equivalence
        class have the same score.
    penalty_discount : float
        c; 1 is the textbook's BIC.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.moments.source.ReadOptions`.

    Examples
    --------
    >>> from qwo.simulation import simulate
    >>> data, dag, _ = simulate("er", n_variables=4, n_samples=500, random_state=1)
    >>> float(score_graph(data, dag)) > float(score_graph(data, 0 * dag))
    True
    """
    discount = _check_discount(penalty_discount)
    moments = as_moments(data, **reading)
    if moments.is_oracle:
        raise SampleSizeError("exact moments (N = ∞) have no finite score", cures=[HOW_MANY])
    matrix = as_graph(graph, moments.names, kind="dag").matrix
    # A graph without undirected edges is read as a DAG, so that a cycle is shown as one.
    extend = to_dag if (matrix == 2).any() else check_dag
    dag = extend(matrix, moments.names)
    n_edges, unit = int((dag != 0).sum()), math.log(moments.n_samples)
    if moments.has_blocks:
        blocks = BlockScore(moments)
        score = blocks.fit_of(dag) - discount * n_coefficients(dag, blocks.sizes) * unit
        whole = fit_sem(moments, dag).fit
        return GraphScore(score, whole.log_likelihood, whole.bic, n_edges, discount)
    equations = fit_equations(moments, dag)
    fit = -moments.n_samples * log_residual_variance(equations)
    likelihood = log_likelihood(moments, equations)
    return GraphScore(
        score=fit - discount * n_edges * unit,
        log_likelihood=likelihood,
        bic=bic(likelihood, n_edges + 2 * moments.n_variables, moments.n_samples),
        n_edges=n_edges,
        penalty_discount=discount,
    )


def _check_discount(value: float) -> float:
    try:
        discount = float(value)
    except (TypeError, ValueError):
        discount = math.nan
    if not 0 <= discount < math.inf:
        raise ArgumentError(
            f"penalty_discount is {value!r}; wanted a number from 0 up", option="penalty_discount"
        )
    return discount
