"""Maximum-likelihood estimates of the linear structural equations on a DAG."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from qwo.arguments import ReadArguments
from qwo.graph.coercion import as_graph
from qwo.graph.dag import adjacency_lists, check_dag
from qwo.moments import Moments, as_moments
from qwo.sem.linear_sem import LinearSem
from qwo.sem.regression import Regression, check_units, regress
from qwo.types import Adjacency


def fit_sem(data: Any, dag: Any, **reading: Unpack[ReadArguments]) -> LinearSem:
    """The linear Gaussian model on a DAG that fits the data best.

    Each variable is regressed on its parents, with an intercept: for a DAG with independent noise
    this maximises the likelihood. Only moments are used. A category with several levels is the
    columns of its contrasts against the first: see `qwo.sem.contrasts`.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments. With exact moments (N = ∞)
        standard errors are 0 and all that depends on N is NaN.
    dag : object
        Anything that `qwo.graph.as_graph` takes: a matrix has ``A[i, j] = 1`` for i → j in the
        column order of the data; of what has names, variables are found by name. A `Discovery`
        has its ``dag``.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.moments.source.ReadOptions`.

    Raises
    ------
    GraphError
        If the graph is no DAG on the variables of the data.
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
    moments = as_moments(data, **reading)
    check_units(moments)
    matrix = check_dag(as_graph(dag, moments.names, kind="dag").matrix, moments.names).copy()
    matrix.setflags(write=False)
    known = as_graph(dag, moments.names).matrix if hasattr(dag, "cpdag") else None
    if moments.coding is None or not moments.has_blocks:
        return LinearSem(moments, matrix, fit_equations(moments, matrix), known)
    columns, owners = moments.as_columns(), moments.coding.owners
    expanded = matrix[np.ix_(owners, owners)]
    expanded.setflags(write=False)
    return LinearSem(columns, expanded, fit_equations(columns, expanded), known, moments)


def fit_equations(moments: Moments, dag: Adjacency) -> tuple[Regression, ...]:
    """The regression of each variable on its parents, in column order."""
    return tuple(
        regress(moments, child, np.array(parents, dtype=np.intp))
        for child, parents in enumerate(adjacency_lists(dag).parents)
    )
