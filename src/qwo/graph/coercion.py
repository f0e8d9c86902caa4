"""One graph from whatever a user has: matrices, frames, files and the objects of other packages.

Objects are known by what they offer, not by their class, so that none of the other packages needs
to be installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from qwo.errors import ColumnNameError, GraphError
from qwo.graph.causal_graph import CausalGraph, Kind, kind_of
from qwo.graph.dag import matrix_of
from qwo.graph.formats.builder import GraphBuilder
from qwo.graph.formats.objects import from_networkx
from qwo.graph.formats.registry import read_graph
from qwo.graph.formats.tables import decode_matrix
from qwo.graph.marks import ARROW, LINE
from qwo.text import listed, shown


def as_graph(
    graph: object, names: Sequence[str] | None = None, *, kind: str = "cpdag", mixed: bool = False
) -> CausalGraph:
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
        order in which they are wanted; nodes that are numbers 0, 1, … are those of the columns.
    kind : {"cpdag", "dag"}
        Which of the two graphs of a result is meant.
    mixed : bool
        Whether MAGs and PAGs, in which causes may be hidden, are taken as well; of a result with
        hidden causes it is the PAG.

    Raises
    ------
    InputError
        If it is none of these, or not a DAG or partially directed graph.
    """
    if is_nameless(graph):
        if hasattr(graph, "toarray"):
            dense = graph.toarray()
        else:
            dense = matrix_of(graph if isinstance(graph, list | tuple) else np.asarray(graph))
        if names is not None and np.ndim(dense) == 2 and len(dense) != len(names):
            raise GraphError(
                f"the graph has {len(dense)} variables, but the data have {len(names)}; wanted one "
                "row and one column for each column of the data"
            )
        return CausalGraph.from_matrix(dense, names)
    feedback = getattr(graph, "feedback", None)
    cyclic = getattr(feedback, "graph", None)
    if isinstance(cyclic, CausalGraph):
        # Lines of the graph shown are arrows in the member that it was made of.
        member: Any = getattr(feedback, "member", None)
        found = CausalGraph(cyclic.names, member, "cyclic") if kind == "dag" else cyclic
    elif not isinstance(graph, type) and (hasattr(graph, "cpdag") or hasattr(graph, "dag")):
        chosen, matrix = _of_result(graph, kind)
        hidden = getattr(graph, "pag", None)
        if hidden is not None:
            return as_graph(hidden, names, kind=kind, mixed=mixed)
        if not hasattr(graph, "names"):
            return as_graph(matrix, names)
        named: Any = graph.variables if hasattr(graph, "variables") else graph
        found = CausalGraph.from_matrix(matrix, named.names, kind=chosen)
    else:
        found = _named_graph(graph)
    if not mixed:
        found.require_plain()
    return found if names is None else _in_order(found, names)


def is_nameless(graph: object) -> bool:
    """Whether the object is a bare matrix, dense or sparse or as nested lists."""
    if isinstance(graph, np.ndarray | list | tuple) or hasattr(graph, "toarray"):
        return True
    return hasattr(graph, "__array__") and not hasattr(graph, "columns")


def same_variables(
    first: object, second: object, *, mixed: bool = False
) -> tuple[CausalGraph, CausalGraph]:
    """Two graphs over the variables of the second, in its order.

    Variables are matched by name; a bare matrix has those of the other graph, in the same order.
    """
    if is_nameless(second) and not is_nameless(first):
        ours = as_graph(first, mixed=mixed)
        return ours, as_graph(second, ours.names)
    theirs = as_graph(second, mixed=mixed)
    named = theirs.names if is_nameless(first) else None
    ours = as_graph(first, named, mixed=mixed)
    if set(ours.names) != set(theirs.names):
        odd = sorted(set(ours.names) ^ set(theirs.names))
        raise ColumnNameError(
            f"the graphs must be over the same variables; {listed(odd)} in one of them only",
            columns=odd,
        )
    return ours.reordered(theirs.names), theirs


def _in_order(graph: CausalGraph, names: Sequence[str]) -> CausalGraph:
    """The graph with its variables as ``names`` has them; column numbers become names."""
    numbers = [str(k) for k in range(len(names))]
    if set(graph.names) == set(numbers) and not set(numbers) <= set(names):
        return graph.reordered(numbers).renamed(dict(zip(numbers, names, strict=True)))
    return graph.reordered(names)


def _of_result(result: Any, kind: str) -> tuple[Kind, Any]:
    """The DAG or CPDAG of a result; the other one where it has not got both."""
    if hasattr(result, "dag") and (kind == "dag" or not hasattr(result, "cpdag")):
        # The variables of a model may be several columns each.
        return "dag", getattr(result, "variable_dag", result.dag)
    return "cpdag", result.cpdag


def _named_graph(graph: object) -> CausalGraph:
    if isinstance(graph, CausalGraph):
        return graph
    if isinstance(graph, str | os.PathLike):
        return read_graph(graph)
    if any(base.__module__.startswith("networkx.") for base in type(graph).__mro__):
        # Known by its name: importing the package takes longer than a small search.
        return from_networkx(cast("Any", graph))
    if isinstance(graph, type):
        raise GraphError(f"cannot make a graph of a class; got {graph.__name__} itself")
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
    matrix = decode_matrix(graph.graph, "causal-learn", names)
    return CausalGraph.from_matrix(matrix, names, kind_of(matrix))


def _has(*attributes: str) -> Callable[[object], bool]:
    return lambda graph: all(hasattr(graph, attribute) for attribute in attributes)


_OBJECTS: tuple[tuple[Callable[[object], bool], Callable[[Any], CausalGraph]], ...] = (
    (_has("columns", "to_numpy"), _from_frame),
    (_has("nodes", "directed_edges", "undirected_edges"), _from_mixed),
    (_has("graph", "get_nodes"), _from_causal_learn),
    (_has("causal_graph_"), lambda estimator: as_graph(estimator.causal_graph_)),
    (_has("G"), lambda found: as_graph(found.G)),
    (lambda found: isinstance(found, dict) and "G" in found, lambda found: as_graph(found["G"])),
)
