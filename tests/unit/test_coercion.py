"""as_graph: every kind of object that a graph can come in."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from qwo.errors import ColumnNameError, FileFormatError, GraphError, MissingPackageError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.formats import (
    encode_matrix,
    to_causal_learn,
    to_networkx,
    to_pandas,
    to_pgmpy,
    to_pywhy,
    write_graph,
)

NAMES = ("A", "B", "C")
MATRIX = np.array([[0, 1, 0], [0, 0, 2], [0, 2, 0]], dtype=np.int8)
CPDAG = CausalGraph(NAMES, MATRIX, "cpdag")
DAG = CausalGraph(NAMES, np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), "dag")


class GeneralGraph:
    """What causal-learn's class of this name offers."""

    def __init__(self, graph: CausalGraph) -> None:
        self.graph = encode_matrix(graph.matrix, "causal-learn").astype(int)
        self.nodes = [SimpleNamespace(get_name=lambda name=name: name) for name in graph.names]

    def get_nodes(self):
        return self.nodes


class Pdag(nx.DiGraph):
    """What pgmpy's PDAG offers: two arrows for an undirected edge, and both lists."""

    def __init__(self, directed, undirected) -> None:
        super().__init__([*directed, *undirected, *((b, a) for a, b in undirected)])
        self.directed_edges = set(directed)
        self.undirected_edges = set(undirected)


class MixedEdgeGraph:
    """What pywhy-graphs' CPDAG offers: views of both kinds of edges, and no networkx class."""

    def __init__(self) -> None:
        self.nodes = nx.empty_graph(NAMES).nodes
        self.directed_edges = nx.DiGraph([("A", "B")]).edges
        self.undirected_edges = nx.Graph([("C", "B")]).edges


@pytest.mark.parametrize(
    "graph",
    [
        CPDAG,
        to_networkx(CPDAG),
        to_pandas(CPDAG),
        to_pandas(CPDAG).loc[["C", "A", "B"]],
        pl.DataFrame({"A": [0, 0, 0], "B": [1, 0, 2], "C": [0, 2, 0]}),
        "pdag { A B C A -> B B -- C }",
        GeneralGraph(CPDAG),
        {"G": GeneralGraph(CPDAG)},
        SimpleNamespace(G=GeneralGraph(CPDAG)),
        Pdag([("A", "B")], [("B", "C")]),
        MixedEdgeGraph(),
        SimpleNamespace(cpdag=MATRIX, dag=None, names=list(NAMES)),
        SimpleNamespace(causal_graph_=Pdag([("A", "B")], [("B", "C")])),
    ],
    ids=lambda graph: type(graph).__name__,
)
def test_objects_with_names(graph):
    found = as_graph(graph)
    assert found == CPDAG
    assert as_graph(graph, ["C", "B", "A"]).names == ("C", "B", "A")


@pytest.mark.parametrize(
    "matrix", [MATRIX, MATRIX.tolist(), MATRIX.astype(float), csr_array(MATRIX)]
)
def test_bare_matrices(matrix):
    assert as_graph(matrix).names == ("X0", "X1", "X2")
    assert as_graph(matrix, NAMES) == CPDAG


def test_files(tmp_path):
    write_graph(CPDAG, tmp_path / "graph.tetrad")
    assert as_graph(tmp_path / "graph.tetrad") == CPDAG
    assert as_graph(str(tmp_path / "graph.tetrad")) == CPDAG


def test_the_kind_of_a_directed_graph():
    assert as_graph(nx.DiGraph([("A", "B")])).kind == "dag"
    assert as_graph(Pdag([("A", "B")], [])).kind == "cpdag"
    assert as_graph(SimpleNamespace(dag=DAG.matrix, names=NAMES)) == DAG
    assert as_graph(SimpleNamespace(cpdag=DAG.matrix, names=NAMES)).kind == "cpdag"


def test_networkx_graphs_of_other_kinds():
    assert as_graph(nx.Graph([("A", "B")])).matrix.tolist() == [[0, 2], [2, 0]]
    twice = nx.MultiDiGraph([("A", "B"), ("A", "B")])
    assert as_graph(twice).matrix.tolist() == [[0, 1], [0, 0]]
    assert as_graph(nx.DiGraph([(1, 0)])).names == ("1", "0")
    assert as_graph(nx.DiGraph([(1, 0)], kind="a drawing")).kind == "dag"
    with pytest.raises(FileFormatError, match="'1' is there twice"):
        as_graph(nx.DiGraph([(1, "1")]))
    with pytest.raises(FileFormatError, match="'A' has an edge to itself"):
        as_graph(nx.DiGraph([("A", "A")]))


def test_frames_without_names_in_front():
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    assert as_graph(frame) == CPDAG


def test_frames_that_are_refused():
    with pytest.raises(GraphError, match="rows and columns of the frame differ in 'C'"):
        as_graph(pd.DataFrame(MATRIX, columns=NAMES, index=["A", "B", "D"]))
    with pytest.raises(GraphError, match="must be square"):
        as_graph(pd.DataFrame(MATRIX[:2], columns=NAMES))


def test_marks_that_no_cpdag_has_are_refused():
    partial = GeneralGraph(CPDAG)
    partial.graph[0, 1] = 3
    with pytest.raises(GraphError, match="the one in row A, column B is 3"):
        as_graph(partial)
    partial.graph[0, 1] = 2
    with pytest.raises(GraphError, match="the graph is a PAG"):
        as_graph(partial)
    assert as_graph(partial, mixed=True).kind == "pag"


@pytest.mark.parametrize("thing", [None, 3, object(), {"a": 1}])
def test_other_things_are_refused(thing):
    with pytest.raises(GraphError, match="cannot make a graph of a"):
        as_graph(thing)


def test_names_that_do_not_fit():
    with pytest.raises(ColumnNameError, match="the graph has 'C'"):
        as_graph(CPDAG, ["A", "B", "Z"])


@pytest.mark.parametrize("make", [to_causal_learn, to_pgmpy, to_pywhy])
def test_packages_that_are_not_installed_are_named(make, monkeypatch):
    for module in ("causallearn", "causallearn.graph.GeneralGraph", "pgmpy.base", "pywhy_graphs"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingPackageError, match=r"needs .*; run pip install"):
        make(CPDAG)


def test_a_dag_for_pywhy_is_a_networkx_graph():
    assert as_graph(to_pywhy(DAG)) == DAG
