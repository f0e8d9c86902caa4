"""Comparison of two graphs: every measure on examples worked out by hand, and how they relate."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from qwo.errors import ColumnNameError, GraphError, MissingPackageError
from qwo.graph import exact_recovery, pshd, shd, skeleton_f1, to_cpdag
from qwo.graph.causal_graph import CausalGraph, Edge
from qwo.graph.compare import compare, tetrad_shd
from tests.oracles.random_models import random_dag

# A → C ← B, C → D and no edge at E. The estimate turns C → D round, loses B → C and adds E → A,
# which leaves A → C ← D compelled and E — A not.
TRUTH = CausalGraph.from_matrix(
    [[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    list("ABCDE"),
)
ESTIMATE = CausalGraph.from_matrix(
    [[0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]],
    list("ABCDE"),
)


@pytest.fixture
def without_gadjid(monkeypatch):
    monkeypatch.setitem(sys.modules, "gadjid", None)


@pytest.fixture
def gadjid(monkeypatch):
    """A stand-in that notes how it was asked."""
    asked = []

    def answer(name, value):
        def distance(truth, guess, direction):
            asked.append((name, truth.copy(), guess.copy(), direction))
            return value, 7

        return distance

    module = SimpleNamespace(
        __spec__=SimpleNamespace(),
        ancestor_aid=answer("ancestor", 0.25),
        parent_aid=answer("parent", 0.5),
        oset_aid=answer("oset", 0.125),
    )
    monkeypatch.setitem(sys.modules, "gadjid", module)
    return asked


@pytest.mark.usefixtures("without_gadjid")
def test_an_example_by_hand():
    found = compare(ESTIMATE, TRUTH)
    assert found.missing == (Edge("B", "-->", "C"),)
    assert found.extra == (Edge("A", "---", "E"),)
    assert found.reversed == (Edge("D", "-->", "C"),)
    assert found.retyped == ()
    assert (found.shd_cpdag, found.shd_tetrad, found.shd_dag) == (3, 4, 3)
    assert found.pshd == 3 / 5
    assert found.skeleton_f1 == found.adjacency.f1 == 2 / 3
    assert (found.adjacency.precision, found.adjacency.recall) == (2 / 3, 2 / 3)
    assert (found.arrowhead.precision, found.arrowhead.recall) == (1 / 2, 1 / 3)
    assert not found.exact
    assert found.aid is None


@pytest.mark.usefixtures("without_gadjid")
def test_the_table():
    assert str(compare(ESTIMATE, TRUTH)).splitlines() == [
        "5 variables; edges: 3 estimated, 3 true",
        "",
        "exact recovery           no",
        "SKF1                  0.667",
        "PSHD                  0.600",
        "SHD of the CPDAGs         3",
        "SHD as Tetrad counts      4",
        "SHD of the DAGs           3",
        "",
        "             precision  recall     F1",
        "adjacencies      0.667   0.667  0.667",
        "arrowheads       0.500   0.333  0.400",
        "",
        "missing      1  B → C",
        "extra        1  A — E",
        "reversed     1  D → C",
        "retyped      0",
    ]


def test_long_lists_of_edges_are_cut():
    full = np.triu(np.ones((12, 12), dtype=np.int8), 1)
    text = str(compare(full, np.zeros((12, 12)), aid=False))
    assert "extra       66  X0 — X1" in text
    assert text.splitlines()[-3].endswith(" and 58 more")


@pytest.mark.parametrize("seed", range(20))
def test_the_measures_agree_with_the_functions(seed):
    rng = np.random.default_rng(seed)
    first, second = (random_dag(rng, 8, rng.uniform(0.1, 0.8)) for _ in range(2))
    found = compare(first, second, aid=False)
    ours, theirs = to_cpdag(first), to_cpdag(second)
    assert found.shd_cpdag == shd(ours, theirs)
    differing = found.missing + found.extra + found.reversed + found.retyped
    assert found.shd_cpdag == len(differing)
    assert found.shd_dag == shd(first, second)
    assert found.pshd == pshd(first, second)
    assert found.skeleton_f1 == skeleton_f1(first, second)
    assert found.exact == exact_recovery(first, second)
    directed = [edge for edge in found.missing + found.extra if edge.mark == "-->"]
    assert found.shd_tetrad == found.shd_cpdag + len(directed)
    assert found.shd_tetrad == tetrad_shd(second, first)


def test_a_graph_and_itself():
    found = compare(TRUTH, TRUTH, aid=False)
    assert found.exact
    assert found.shd_cpdag == found.shd_tetrad == found.shd_dag == found.pshd == 0
    assert found.skeleton_f1 == found.arrowhead.f1 == 1


def test_members_of_one_class_differ_as_dags_only():
    found = compare([[0, 1], [0, 0]], [[0, 0], [1, 0]], aid=False)
    assert found.exact
    assert found.shd_dag == 1


def test_a_cpdag_and_a_dag_have_no_dag_distance():
    assert compare(TRUTH.to_cpdag(), TRUTH, aid=False).shd_dag is None


def test_variables_are_matched_by_name():
    shuffled = ESTIMATE.reordered(list("DBEAC"))
    assert compare(shuffled, TRUTH, aid=False) == compare(ESTIMATE, TRUTH, aid=False)


def test_a_bare_matrix_has_the_names_of_the_other_graph():
    wanted = compare(ESTIMATE, TRUTH, aid=False)
    assert compare(ESTIMATE.matrix, TRUTH, aid=False) == wanted
    assert compare(ESTIMATE, TRUTH.matrix, aid=False) == wanted


def test_other_types_of_graph():
    graph = nx.DiGraph([("A", "C"), ("D", "C"), ("E", "A")])
    graph.add_node("B")
    text = "dag { A B C D E A -> C B -> C C -> D }"
    assert compare(graph, text, aid=False) == compare(ESTIMATE, TRUTH, aid=False)


def test_graphs_over_other_variables_are_refused():
    with pytest.raises(ColumnNameError, match="'E', 'F' in one of them only"):
        compare(ESTIMATE.renamed({"E": "F"}), TRUTH)
    with pytest.raises(GraphError):
        compare(np.zeros((3, 3)), TRUTH)


def test_plain_values_for_json_and_frames(gadjid):
    values = compare(ESTIMATE, TRUTH).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["missing"] == [["B", "-->", "C"]]
    assert values["adjacency_f1"] == 2 / 3
    assert values["ancestor_aid"] == 0.25
    assert len(gadjid) == 3


def test_the_adjustment_distance_asks_for_the_right_direction(gadjid):
    found = compare(ESTIMATE, TRUTH)
    assert (found.aid.ancestor, found.aid.parent, found.aid.oset) == (0.25, 0.5, 0.125)
    assert "ancestor AID          0.250" in str(found)
    for _, truth, guess, direction in gadjid:
        assert direction == "from row to column"
        np.testing.assert_array_equal(truth, TRUTH.matrix)
        np.testing.assert_array_equal(guess, ESTIMATE.matrix)


def test_the_adjustment_distance_is_for_dags_and_cpdags(gadjid):
    informed = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 2], [0, 2, 0]], kind="cpdag")
    assert compare(informed, informed).aid is None
    with pytest.raises(GraphError, match="the estimated graph is not the CPDAG of any DAG"):
        compare(informed, informed, aid=True)
    assert compare([[0]], [[0]]).aid is None
    assert not gadjid


@pytest.mark.usefixtures("without_gadjid")
def test_the_adjustment_distance_needs_its_package():
    with pytest.raises(MissingPackageError, match=r'pip install "gadjid"'):
        compare(ESTIMATE, TRUTH, aid=True)
