"""MAGs and PAGs in every format that holds them, and refused with a reason by the others."""

import numpy as np
import pytest

import qwo
from qwo.errors import GraphError
from qwo.graph import CausalGraph
from qwo.graph.formats import FORMATS, parse_graph

PAG = CausalGraph.from_marks(
    np.array(
        [[0, 2, 0, 0, 0], [1, 0, 2, 0, 0], [0, 2, 0, 2, 0], [0, 0, 3, 0, 1], [0, 0, 0, 1, 0]],
        np.int8,
    ),
    ["a", "b", "c", "d", "e"],
)
MAG = CausalGraph.from_marks(
    np.array([[0, 2, 0], [3, 0, 2], [0, 2, 0]], np.int8), ["a", "b", "c"], "mag"
)
HOLD = {"json", "graphml", "gml", "dagitty", "dot", "tetrad", "edges", "parquet"}
HOLD |= {"pcalg-pag", "causal-learn", "adjacency"}


def test_the_marks_are_read_as_edges():
    assert [tuple(edge) for edge in PAG.edges] == [
        ("a", "o->", "b"),
        ("b", "<->", "c"),
        ("c", "-->", "d"),
        ("d", "o-o", "e"),
    ]
    assert PAG.n_edges == 4
    assert PAG.is_mixed
    assert CausalGraph.from_marks(PAG.marks, PAG.names) == PAG


@pytest.mark.parametrize("graph", [PAG, MAG])
@pytest.mark.parametrize("form", FORMATS)
def test_formats_hold_the_marks_or_say_that_they_cannot(form, graph):
    if form in HOLD or (form == "lavaan" and graph is MAG):
        again = parse_graph(FORMATS[form].write(graph), form).reordered(graph.names)
        assert again.kind == graph.kind
        assert again.edges == graph.edges
    else:
        with pytest.raises(GraphError, match="circles"):
            FORMATS[form].write(graph)


def test_what_takes_dags_alone_refuses_them():
    for function in (qwo.to_cpdag, CausalGraph.to_dag):
        with pytest.raises(GraphError, match="common causes may be hidden"):
            function(PAG)
