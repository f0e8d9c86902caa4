"""Types and levels of variables travel with a graph, as far as a format has a place for them."""

import sys
import types

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.graph import CausalGraph, read_graph, write_graph
from qwo.graph.formats.objects import from_networkx, to_networkx, to_pgmpy

SAID = {
    "smoking": {"type": "nominal", "levels": ["never", 'the "former" one', "back\\slash", "é|;"]},
    "sex": {"type": "binary", "levels": ["female", "male"]},
    "age": {"type": "continuous"},
    "stage": {"type": "ordinal", "levels": ["I", "II", "III"]},
}


@pytest.fixture
def graph():
    matrix = np.zeros((5, 5), dtype=np.int8)
    matrix[0, 2] = 1
    matrix[1, 3] = matrix[3, 1] = 2
    return CausalGraph((*SAID, "unknown"), matrix, "cpdag", {"variables": SAID})


@pytest.mark.parametrize("suffix", [".json", ".graphml", ".gml", ".dot"])
def test_they_are_read_back(graph, tmp_path, suffix):
    file = tmp_path / f"graph{suffix}"
    write_graph(graph, file)
    again = read_graph(file)
    assert again.variables == SAID
    assert (again.matrix == graph.matrix).all()
    assert again.names == graph.names


@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_other_formats_have_the_edges_alone(graph, tmp_path, suffix):
    file = tmp_path / f"graph{suffix}"
    write_graph(graph, file)
    assert read_graph(file).variables == {}


def test_networkx_has_them_at_its_nodes(graph):
    given = to_networkx(graph)
    assert given.nodes["sex"] == {"type": "binary", "levels": ["female", "male"]}
    assert given.nodes["unknown"] == {}
    assert from_networkx(given) == graph


@pytest.mark.parametrize(
    "attributes", [{"type": "round"}, {"type": "nominal", "levels": "[1"}, {"levels": ["a"]}]
)
def test_what_others_write_at_nodes_does_no_harm(attributes):
    given = nx.DiGraph([("a", "b")])
    given.nodes["a"].update(attributes)
    found = from_networkx(given)
    assert found.variables.get("a", {}) in ({}, {"type": "nominal"})


def test_new_names_take_them_along(graph):
    renamed = graph.renamed({"sex": "gender"})
    assert renamed.variables["gender"] == SAID["sex"]
    assert "sex" not in renamed.variables
    assert graph.reordered(graph.names[::-1]).variables == SAID


def test_a_search_knows_them(tmp_path):
    rng = np.random.default_rng(0)
    race = rng.choice(["black", "other", "white", "white"], 400)
    frame = pd.DataFrame({"race": race, "x": (race == "black") + rng.normal(size=400)})
    found = qwo.discover(frame, random_state=0)
    assert found.graph.variables == {
        "race": {"type": "nominal", "levels": ["white", "black", "other"]},
        "x": {"type": "continuous"},
    }
    assert found.graph.to_dag().variables == found.graph.variables
    write_graph(found.graph, tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml").variables == found.graph.variables
    numbers = qwo.discover(rng.normal(size=(50, 3)), random_state=0)
    assert numbers.graph.metadata == {}


def test_pgmpy_gets_a_discrete_network_of_categories(monkeypatch):
    """Without pgmpy, by what it is called with; benchmarks have the package itself."""
    base, models = types.ModuleType("pgmpy.base"), types.ModuleType("pgmpy.models")
    base.DAG = type("DAG", (nx.DiGraph,), {})
    models.DiscreteBayesianNetwork = type("DiscreteBayesianNetwork", (nx.DiGraph,), {})
    for module in (types.ModuleType("pgmpy"), base, models):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    matrix = np.array([[0, 1], [0, 0]], dtype=np.int8)
    known = {name: SAID[name] for name in ("smoking", "sex")}
    discrete = to_pgmpy(CausalGraph(("smoking", "sex"), matrix, "dag", {"variables": known}))
    assert type(discrete).__name__ == "DiscreteBayesianNetwork"
    assert discrete.nodes["sex"]["levels"] == ["female", "male"]
    mixed = to_pgmpy(CausalGraph(("age", "sex"), matrix, "dag", {"variables": SAID}))
    assert type(mixed).__name__ == "DAG"
    assert mixed.nodes["age"] == {"type": "continuous"}
