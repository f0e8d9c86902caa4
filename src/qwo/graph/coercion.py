"""One graph from whatever a user has: matrices, frames, files and the objects of other packages.

Objects are known by what they offer, not by their class, so that none of the other packages needs
to be installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np

from qwo.errors import GraphError
from qwo.graph.causal_graph import ARROW, LINE, CausalGraph
from qwo.graph.formats.builder import GraphBuilder
from qwo.graph.formats.matrix_codes import decode_matrix
from qwo.graph.formats.networkx_graph import from_networkx
from qwo.graph.formats.reading import read_graph
from qwo.text import shown


def as_graph(graph: object, names: Sequence[str] | None = None) -> CausalGraph:
    """The graph in an object of any of the kinds below.

    Parameters
    ----------
    graph : object
        - a `CausalGraph`;
        - a matrix: 1 = i → j, 2 = undirected in both entries; dense or sparse;
        - a pandas or polars frame of such a matrix, with the names of the variables as columns;
        - a path, or a text in one of the formats of `qwo.graph.read_graph`;
        - a NetworkX graph, in which two arrows make an undirected edge; pgmpy's DAG and PDAG;
        - pywhy-graphs' CPDAG; causal-learn's GeneralGraph, and what its searches return;
        - a result with ``cpdag`` or ``dag`` and ``names``; a fitted estimator.
    names : sequence of str, optional
        For a matrix, its names in order; X0, X1, … otherwise. For anything that has names, the
        order in which they are wanted.

    Raises
    ------
    InputError
        If it is none of these, or not a DAG or partially directed graph.
    """
    if is_nameless(graph):
        dense = graph.toarray() if hasattr(graph, "toarray") else np.asarray(graph)
        return CausalGraph.from_matrix(dense, names)
    found = _named_graph(graph)
    return found if names is None else found.reordered(names)


def is_nameless(graph: object) -> bool:
    """Whether the object is a bare matrix, dense or sparse or as nested lists."""
    return isinstance(graph, np.ndarray | list | tuple) or hasattr(graph, "toarray")


def _named_graph(graph: object) -> CausalGraph:
    if isinstance(graph, CausalGraph):
        return graph
    if isinstance(graph, str | os.PathLike):
        return read_graph(graph)
    if isinstance(graph, nx.Graph):
        return from_networkx(graph)
    for fits, read in _OBJECTS:
        if fits(graph):
            return read(graph)
    raise GraphError(
        f"cannot make a graph of a {type(graph).__name__}; wanted a matrix, a frame, a path, a "
        f"CausalGraph, a result, or a graph of networkx, pgmpy, pywhy-graphs or causal-learn"
    )


def _from_frame(frame: Any) -> CausalGraph:
    names = [str(name) for name in frame.columns]
    rows = [str(name) for name in getattr(frame, "index", names)]
    matrix = np.asarray(frame.to_numpy())
    counted = rows == [str(k) for k in range(len(rows))]
    if rows != names and not counted:
        if sorted(rows) != sorted(names):
            odd = sorted(set(rows) ^ set(names))
            first = shown(odd[0]) if odd else "number"
            raise GraphError(
                f"the rows and columns of the frame differ in {first}; "
                f"an adjacency matrix has the same names on both sides",
                columns=odd,
            )
        matrix = matrix[[rows.index(name) for name in names]]
    return CausalGraph.from_matrix(matrix, names)


def _from_mixed(graph: Any) -> CausalGraph:
    """pywhy-graphs: views of the directed and of the undirected edges."""
    builder = GraphBuilder("the pywhy graph")
    for node in graph.nodes:
        builder.add_new_variable(str(node))
    for tail, head in graph.directed_edges:
        builder.add_edge(str(tail), ARROW, str(head))
    for first, second in graph.undirected_edges:
        builder.add_edge(str(first), LINE, str(second))
    return builder.build("cpdag")


def _from_causal_learn(graph: Any) -> CausalGraph:
    names = [str(node.get_name()) for node in graph.get_nodes()]
    return CausalGraph.from_matrix(decode_matrix(graph.graph, "causal-learn", names), names)


def _from_result(result: Any) -> CausalGraph:
    if hasattr(result, "cpdag"):
        return CausalGraph.from_matrix(result.cpdag, result.names, kind="cpdag")
    return CausalGraph.from_matrix(result.dag, result.names, kind="dag")


def _has(*attributes: str) -> Callable[[object], bool]:
    return lambda graph: all(hasattr(graph, attribute) for attribute in attributes)


_OBJECTS: tuple[tuple[Callable[[object], bool], Callable[[Any], CausalGraph]], ...] = (
    (_has("columns", "to_numpy"), _from_frame),
    (_has("nodes", "directed_edges", "undirected_edges"), _from_mixed),
    (_has("graph", "get_nodes"), _from_causal_learn),
    (_has("names", "cpdag"), _from_result),
    (_has("names", "dag"), _from_result),
    (_has("causal_graph_"), lambda estimator: _named_graph(estimator.causal_graph_)),
    (_has("G"), lambda found: _named_graph(found.G)),
    (
        lambda found: isinstance(found, dict) and "G" in found,
        lambda found: _named_graph(found["G"]),
    ),
)
