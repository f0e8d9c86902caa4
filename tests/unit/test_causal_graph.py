"""The record of a graph over named variables."""

from __future__ import annotations

import numpy as np
import pytest

import qwo
from qwo.errors import ColumnNameError, GraphError
from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.marks import HEAD, MARKS, TAIL, edge_text

MATRIX = np.array([[0, 1, 0], [0, 0, 2], [0, 2, 0]], dtype=np.int8)


def test_edges_in_row_order():
    graph = CausalGraph(("A", "B", "C"), MATRIX, "cpdag")
    assert list(graph.edges) == [Edge("A", "-->", "B"), Edge("B", "---", "C")]
    assert (graph.n_variables, graph.n_edges) == (3, 2)
    assert repr(graph) == "CausalGraph(cpdag, 3 variables, 2 edges: A → B, B — C)"


def test_repr_of_large_and_small_graphs():
    assert repr(CausalGraph.from_matrix([[0]])) == "CausalGraph(dag, 1 variable, 0 edges)"
    chain = CausalGraph.from_matrix(
        np.eye(20, k=1, dtype=np.int8), ["x" * 500, *"abcdefghijklmnopqrs"]
    )
    assert repr(chain).endswith(", …)")
    assert len(repr(chain)) < 200


def test_the_matrix_belongs_to_the_graph():
    matrix = MATRIX.copy()
    graph = CausalGraph(("A", "B", "C"), matrix, "cpdag")
    matrix[0, 1] = 0
    assert graph.matrix[0, 1] == 1
    with pytest.raises(ValueError, match="read-only"):
        graph.matrix[0, 1] = 0


def test_equality():
    graph = CausalGraph(("A", "B", "C"), MATRIX, "cpdag")
    assert graph == CausalGraph.from_matrix(MATRIX.tolist(), ["A", "B", "C"])
    assert hash(graph) == hash(CausalGraph.from_matrix(MATRIX, ["A", "B", "C"]))
    assert graph != CausalGraph.from_matrix(MATRIX, ["A", "B", "D"])
    assert graph != CausalGraph.from_matrix(MATRIX.T, ["A", "B", "C"])
    assert graph != CausalGraph.from_matrix(MATRIX, ["A", "B", "C"], metadata={"a": 1})
    assert graph != MATRIX.tolist()


def test_the_kind_is_told_by_the_edges_unless_given():
    assert CausalGraph.from_matrix([[0, 1], [0, 0]]).kind == "dag"
    assert CausalGraph.from_matrix([[0, 2], [2, 0]]).kind == "cpdag"
    assert CausalGraph.from_matrix([[0, 1], [0, 0]], kind="cpdag").kind == "cpdag"
    with pytest.raises(GraphError, match="a DAG has no undirected edges"):
        CausalGraph.from_matrix([[0, 2], [2, 0]], kind="dag")
    with pytest.raises(GraphError, match="kind is 'tree'"):
        CausalGraph.from_matrix([[0]], kind="tree")


@pytest.mark.parametrize("kind", ["dag", "cpdag"])
def test_cycles_are_shown_as_paths(kind):
    with pytest.raises(GraphError, match="cycle: A → B → C → A"):
        CausalGraph(("A", "B", "C"), np.roll(np.eye(3, dtype=np.int8), 1, axis=1), kind)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no variables"),
        (["A", ""], "at place 1 has no name"),
        (["A", " "], "at place 1 has no name"),
        (["A", "A"], "'A' occurs more than once"),
        (["A", 3], "the name at place 1 is 3; wanted a string"),
        (["A", "\ud800"], "surrogate"),
        ("AB", "the single string 'AB'"),
    ],
)
def test_names_that_are_refused(names, message):
    with pytest.raises(ColumnNameError, match=message):
        CausalGraph.from_matrix(np.zeros((len(names), len(names))), names)


def test_wrong_number_of_names():
    with pytest.raises(GraphError, match="2 names for a graph with 3 variables"):
        CausalGraph.from_matrix(MATRIX, ["A", "B"])


def test_index_by_name_or_place():
    graph = CausalGraph(("A", "B", "C"), MATRIX, "cpdag")
    assert graph.index("C") == graph.index(2) == 2
    with pytest.raises(ColumnNameError, match="no variable is called 'D'"):
        graph.index("D")
    with pytest.raises(ColumnNameError, match="no column 3"):
        graph.index(3)


def test_renaming():
    graph = CausalGraph(("A", "B", "C"), MATRIX, "cpdag")
    assert graph.renamed({"B": "b"}).names == ("A", "b", "C")
    with pytest.raises(ColumnNameError, match="no variable 'Z'"):
        graph.renamed({"Z": "z"})
    with pytest.raises(ColumnNameError, match="'A' occurs more than once"):
        graph.renamed({"B": "A"})


def test_to_dag_and_to_cpdag():
    graph = CausalGraph(("A", "B", "C"), np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]]), "cpdag")
    member = graph.to_dag()
    assert member.kind == "dag"
    assert member.to_cpdag() == graph
    assert member.to_dag() is member
    assert graph.to_cpdag() is graph


def test_the_marks_at_both_ends_of_every_edge():
    """a → b — c: the codes of pcalg, in which entry (i, j) is the mark at j."""
    graph = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 2], [0, 2, 0]], ["a", "b", "c"])
    assert graph.marks.tolist() == [[0, HEAD, 0], [TAIL, 0, TAIL], [0, TAIL, 0]]
    assert not graph.marks.flags.writeable
    for i, j in zip(*graph.ends(), strict=True):
        edge = MARKS[edge_text(graph.matrix[i, j], graph.matrix[j, i])]
        assert (graph.marks[j, i], graph.marks[i, j]) == edge.ends


def test_the_class_that_was_found_gives_the_dag_that_was_found() -> None:
    """Of a bare matrix the first member comes out, in one of eight sets another one."""
    others = 0
    for seed in range(8):
        data, _, _ = qwo.simulate("er", n_variables=7, n_samples=400, degree=2, random_state=seed)
        found = qwo.discover(data, random_state=0)
        assert (qwo.to_dag(found) == found.dag).all()
        if (found.shown == found.cpdag).all():
            assert (found.graph.to_dag().matrix == found.dag).all()
            others += int((qwo.to_dag(found.cpdag) != found.dag).any())
        turned = found.graph.reordered(found.names[::-1])
        assert (turned.to_dag().to_cpdag().matrix == turned.matrix).all()
    assert others
