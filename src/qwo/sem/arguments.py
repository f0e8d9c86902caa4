"""What the user calls a variable or a graph, as column numbers and matrices in column order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qwo.errors import GraphError, list_names
from qwo.graph.dag import check_dag
from qwo.graph.pdag import check_pdag
from qwo.types import Adjacency


def dag_matrix(graph: Any, names: Sequence[str]) -> Adjacency:
    """The matrix of a DAG over the given variables, in their order.

    Parameters
    ----------
    graph : array-like, data frame, networkx.DiGraph, or object with an attribute ``dag``
        A matrix has ``A[i, j] = 1`` for i → j. What has names is put into the order of ``names``.
    names : sequence of str
        The variables.
    """
    return check_dag(_matrix(graph, names, "dag"), names)


def pdag_matrix(graph: Any, names: Sequence[str], attribute: str) -> Adjacency:
    """The matrix of a DAG, CPDAG or other partially directed graph, in the order of ``names``.

    As `dag_matrix`, with 2 in both entries for an undirected edge, which in a networkx.DiGraph is
    a pair of opposite arcs. ``attribute`` is what to take from an object that is no graph itself.
    """
    matrix = _matrix(graph, names, attribute)
    if _is_networkx(graph):
        matrix = matrix + (matrix & matrix.T)
    return check_pdag(matrix, names)


def _matrix(graph: Any, names: Sequence[str], attribute: str) -> npt.NDArray[Any]:
    if _is_networkx(graph):
        return _networkx_matrix(graph, names)
    labels: Sequence[object] = names
    if hasattr(graph, "columns") and hasattr(graph, "index"):
        labels = list(graph.columns)
        if list(graph.index) != labels:
            raise GraphError("the rows and the columns of a graph's frame must have the same names")
    elif hasattr(graph, attribute):
        labels = getattr(graph, "names", names)
        graph = getattr(graph, attribute)
    matrix = np.asarray(graph)
    if matrix.ndim == 2 and len(matrix) != len(names):
        raise GraphError(
            f"the graph has {len(matrix)} variables, but the data have {len(names)}; wanted one "
            "row and one column for each column of the data"
        )
    return _in_order(matrix, [str(label) for label in labels], names)


def _in_order(
    matrix: npt.NDArray[Any], labels: Sequence[str], names: Sequence[str]
) -> npt.NDArray[Any]:
    """The rows and columns of a labelled matrix in the order of ``names``."""
    numbered = [str(k) for k in range(len(names))]
    if list(labels) in (list(names), numbered):
        return matrix
    _refuse_other_variables(labels, names)
    place = {label: k for k, label in enumerate(labels)}
    order = [place[name] for name in names]
    return matrix[np.ix_(order, order)]


def _is_networkx(graph: Any) -> bool:
    return hasattr(graph, "is_directed") and hasattr(graph, "nodes")


def _networkx_matrix(graph: Any, names: Sequence[str]) -> Adjacency:
    """The 0/1 matrix of a networkx graph, whose nodes are names or else column numbers."""
    if not graph.is_directed():
        raise GraphError("the networkx graph is undirected; wanted a networkx.DiGraph")
    nodes = list(graph.nodes)
    if set(nodes) == set(range(len(names))) and not {str(node) for node in nodes} <= set(names):
        place = {node: int(node) for node in nodes}
    else:
        _refuse_other_variables([str(node) for node in nodes], names)
        index = {name: k for k, name in enumerate(names)}
        place = {node: index[str(node)] for node in nodes}
    matrix = np.zeros((len(names), len(names)), dtype=np.int8)
    for cause, effect in graph.edges():
        matrix[place[cause], place[effect]] = 1
    return matrix


def _refuse_other_variables(labels: Sequence[str], names: Sequence[str]) -> None:
    """Raise unless the graph and the data have the same variables."""
    strange = sorted(set(labels) - set(names))
    absent = [name for name in names if name not in set(labels)]
    if strange:
        raise GraphError(
            f"the graph has {list_names(strange)}, which the data do not have; the data have "
            f"{list_names(names)}",
            strange,
        )
    if absent:
        raise GraphError(
            f"the graph lacks {list_names(absent)}; add it without edges, or leave it out of the "
            "data",
            absent,
        )
    if len(labels) != len(names):
        raise GraphError("the graph has several variables of the same name")
