"""Every function that takes a graph takes every kind of graph, with the same answer."""

from __future__ import annotations

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import qwo
from qwo import graph as graphs
from qwo import plot
from qwo.graph import CausalGraph, as_graph
from qwo.sem import ida_all, score_graph

mpl.use("Agg")

NAMES = ("dose", "age", "blood pressure", "outcome")
DAG = np.array([[0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=np.int8)
DATA = pd.DataFrame(qwo.simulate(DAG, n_samples=400, random_state=3).data, columns=pd.Index(NAMES))
FOUND = qwo.discover(DATA, random_state=0)
TRUTH = CausalGraph(NAMES, FOUND.dag, "dag")


def arrows(matrix):
    result = nx.DiGraph()
    result.add_nodes_from(NAMES)
    result.add_edges_from((NAMES[i], NAMES[j]) for i, j in np.argwhere(matrix))
    return result


@pytest.fixture(
    params=["CausalGraph", "matrix", "list", "frame", "networkx", "path", "text", "sem"]
)
def kind(request, tmp_path):
    """The DAG that was found, in one of its forms."""
    path = tmp_path / "model.dot"
    qwo.write_graph(TRUTH, path)
    return {
        "CausalGraph": TRUTH,
        "matrix": FOUND.dag,
        "list": FOUND.dag.tolist(),
        "frame": pd.DataFrame(FOUND.dag, index=NAMES, columns=NAMES),
        "networkx": arrows(FOUND.dag),
        "path": path,
        "text": path.read_text(),
        "sem": qwo.fit_sem(DATA, FOUND.dag),
    }[request.param]


def same(answer):
    """An answer in a form that can be compared."""
    if isinstance(answer, CausalGraph):
        return answer.matrix.tolist()
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, nx.DiGraph):
        return sorted(nx.convert_node_labels_to_integers(answer).edges)
    if isinstance(answer, Axes):
        plt.close(answer.figure)
        return "drawn"
    return answer


FUNCTIONS = {
    "fit_sem": lambda g: qwo.fit_sem(DATA, g).edges,
    "score_graph": lambda g: score_graph(DATA, g),
    "ida": lambda g: qwo.ida(DATA, g, "dose", "outcome").estimates,
    "ida_all": lambda g: [e.estimates.tolist() for e in ida_all(DATA, g, "dose").values()],
    "total_effect": lambda g: qwo.total_effect(qwo.fit_sem(DATA, g), "dose", "outcome"),
    "simulate": lambda g: qwo.simulate(g, n_samples=3, random_state=1).data,
    "to_cpdag": qwo.to_cpdag,
    "to_dag": qwo.to_dag,
    "as_cpdag": graphs.as_cpdag,
    "is_cpdag": graphs.is_cpdag,
    "same_equivalence_class": lambda g: graphs.same_equivalence_class(g, FOUND.dag),
    "meek_closure": graphs.meek_closure,
    "enumerate_dags": lambda g: [m.tolist() for m in qwo.enumerate_dags(g)],
    "sample_dag": lambda g: qwo.sample_dag(g, 0),
    "class_size": graphs.class_size,
    "compare": lambda g: qwo.compare(g, TRUTH, aid=False),
    "compare with": lambda g: qwo.compare(TRUTH, g, aid=False),
    "shd": lambda g: graphs.shd(g, TRUTH),
    "pshd": lambda g: graphs.pshd(TRUTH, g),
    "tetrad_shd": lambda g: graphs.tetrad_shd(TRUTH, g),
    "skeleton_f1": lambda g: graphs.skeleton_f1(g, TRUTH),
    "adjacency_agreement": lambda g: graphs.adjacency_agreement(g, TRUTH),
    "arrowhead_agreement": lambda g: graphs.arrowhead_agreement(g, TRUTH),
    "exact_recovery": lambda g: graphs.exact_recovery(g, TRUTH),
    "d_separated": lambda g: graphs.d_separated(g, 0, 3, [2]),
    "d_connected": lambda g: graphs.d_connected(g, 0),
    "adjustment_set": lambda g: graphs.adjustment_set(g, 0, 3),
    "is_adjustment_set": lambda g: graphs.is_adjustment_set(g, 0, 3, [1]),
    "parents": lambda g: graphs.parents(g, 3),
    "children": lambda g: graphs.children(g, 1),
    "ancestors": lambda g: graphs.ancestors(g, 3),
    "descendants": lambda g: graphs.descendants(g, 1),
    "markov_boundary": lambda g: graphs.markov_boundary(g, 1),
    "ancestor_matrix": graphs.ancestor_matrix,
    "check_dag": graphs.check_dag,
    "check_pdag": graphs.check_pdag,
    "topological_order": graphs.topological_order,
    "is_topological": lambda g: graphs.is_topological([1, 0, 2, 3], g),
    "skeleton": graphs.skeleton,
    "moral_graph": graphs.moral_graph,
    "v_structures": graphs.v_structures,
    "covered_edges": graphs.covered_edges,
    "encode_matrix": lambda g: graphs.encode_matrix(g, "pcalg"),
    "to_networkx": graphs.to_networkx,
    "to_pandas": lambda g: graphs.to_pandas(g).to_numpy(),
    "plot_graph": plot.plot_graph,
    "plot_adjacency": plot.plot_adjacency,
    "plot_comparison": lambda g: plot.plot_comparison(g, TRUTH),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_every_kind_of_graph(name, kind):
    function = FUNCTIONS[name]
    assert same(function(kind)) == same(function(TRUTH))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_a_discovery(name):
    """Those of a DAG take the one it has, all others the class."""
    function, answers = FUNCTIONS[name], []
    for form in (TRUTH, FOUND.graph):
        try:
            answers.append(same(function(form)))
        except qwo.InputError:  # a DAG is wanted, and the class is none
            assert form is FOUND.graph
    assert same(function(FOUND)) in answers


def test_a_file_with_its_variables_in_another_order_fits_the_data(tmp_path):
    path = tmp_path / "m.dot"
    qwo.write_graph(TRUTH.reordered(NAMES[::-1]), path)
    model = qwo.fit_sem(DATA, qwo.read_graph(path))
    assert model.edges == qwo.fit_sem(DATA, FOUND.dag).edges


def test_variables_by_name_where_the_graph_has_names():
    found = graphs.adjustment_set(TRUTH, "dose", "outcome", kind="parents")
    assert np.array_equal(found, graphs.adjustment_set(FOUND.dag, 0, 3, kind="parents"))
    assert np.array_equal(graphs.parents(TRUTH, "outcome"), graphs.parents(FOUND.dag, "X3"))
    assert graphs.d_separated(TRUTH, "dose", "outcome", ["age"]) is graphs.d_separated(
        FOUND.dag, 0, 3, 1
    )


@pytest.mark.parametrize("wrong", ["nobody", 4, -1, 1.5, None])
def test_variables_that_do_not_exist_are_refused(wrong):
    for form in (TRUTH, FOUND.dag):
        for function in (graphs.parents, graphs.ancestors, graphs.markov_boundary):
            with pytest.raises(qwo.InputError):
                function(form, wrong)
        with pytest.raises(qwo.InputError):
            graphs.d_separated(form, 0, [wrong])
        with pytest.raises(qwo.InputError):
            graphs.is_adjustment_set(form, 0, 1, [wrong])


@pytest.mark.parametrize("wrong", [None, 3, object, CausalGraph, [[0, 1], [0]], [["a"]], {"a": 1}])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_graph_is_refused_by_every_function(name, wrong):
    with pytest.raises(qwo.InputError):
        FUNCTIONS[name](wrong)


def test_a_matrix_of_another_size_is_refused_with_both_sizes():
    with pytest.raises(qwo.InputError, match="3 variables, but the data have 4"):
        qwo.fit_sem(DATA, np.zeros((3, 3)))


def test_numbered_nodes_are_columns():
    numbered = nx.relabel_nodes(arrows(FOUND.dag), {name: k for k, name in enumerate(NAMES)})
    assert np.array_equal(as_graph(numbered, NAMES).matrix, FOUND.dag)


def test_numbered_nodes_in_any_order_are_columns():
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from([2, 0, 3, 1])
    shuffled.add_edges_from(np.argwhere(FOUND.dag).tolist())
    assert np.array_equal(as_graph(shuffled, NAMES).matrix, FOUND.dag)


def test_distances_match_variables_by_name():
    turned = TRUTH.reordered(NAMES[::-1])
    assert graphs.shd(turned, TRUTH) == graphs.pshd(turned, TRUTH) == 0
    assert graphs.tetrad_shd(turned, TRUTH) == 0
    assert graphs.skeleton_f1(turned, TRUTH) == 1
    assert graphs.exact_recovery(turned, TRUTH)
    assert graphs.shd(turned.matrix, TRUTH.matrix) > 0
