"""What graphs, results and models show of themselves, in text and in notebooks."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import qwo
from qwo.graph import CausalGraph
from qwo.graph.marks import MARKS, edge_text, turned

NAMES = ("<script>alert(1)</script>", 'a "quoted" & b', "c")
DATA = qwo.simulate([[0, 1, 1], [0, 0, 1], [0, 0, 0]], n_samples=300, random_state=0).data
MOMENTS = qwo.Moments.from_data(DATA, names=NAMES)
FOUND = qwo.discover(MOMENTS, random_state=0)


@pytest.fixture(params=["graph", "discovery", "model"])
def shown(request):
    return {
        "graph": FOUND.graph,
        "discovery": FOUND,
        "model": qwo.fit_sem(MOMENTS, FOUND),
    }[request.param]


def test_a_notebook_shows_a_picture_and_the_edges(shown):
    html = shown._repr_html_()
    assert html.count("<img ") == 1
    assert html.count("<tr>") == FOUND.n_edges + 1
    assert "data:image/png;base64," in html
    assert "→" in html or "—" in html


def test_everything_in_a_notebook_is_escaped(shown):
    html = shown._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    tags = set(re.findall(r"</?(\w+)", html))
    assert tags == {"div", "p", "img", "table", "thead", "tbody", "tr", "th", "td"}


def test_no_figure_stays_open_behind_a_notebook(shown):
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    shown._repr_html_()
    assert plt.get_fignums() == before


def test_without_matplotlib_there_is_still_the_table(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    html = shown._repr_html_()
    assert "<img" not in html
    assert "<table>" in html


def test_a_large_graph_has_no_picture_and_a_short_table():
    n = 80
    graph = CausalGraph.from_matrix(np.eye(n, k=1, dtype=np.int8))
    html = graph._repr_html_()
    assert "<img" not in html
    assert html.count("<tr>") == 21
    assert "59 more edges" in html


def test_an_empty_graph_can_be_shown():
    graph = CausalGraph.from_matrix(np.zeros((2, 2)))
    assert "0 edges" in graph._repr_html_()
    assert str(graph) == "CausalGraph(dag, 2 variables, 0 edges)"


def test_a_text_lists_the_edges_and_counts_what_it_leaves_out():
    graph = CausalGraph.from_matrix(np.triu(np.ones((20, 20)), 1))
    lines = str(graph).splitlines()
    assert lines[1] == "X0 --> X1"
    assert len(lines) == 102
    assert lines[-1].startswith("… and 90 more edges")
    edges = [line.partition("  (")[0] for line in str(FOUND).splitlines()[1:]]
    assert edges == [" ".join(edge) for edge in FOUND.edges]


def test_a_text_says_how_sure_a_direction_is_where_it_is_not_settled():
    noise = np.random.default_rng(1).standard_normal((400, 3))
    weak, strong = (
        qwo.discover(noise @ [[1, 0, slope], [0, 1, slope], [0, 0, 1]], random_state=0)
        for slope in (0.25, 0.6)
    )
    assert (weak.cpdag == strong.cpdag).all()
    assert f"X0 --> X2  ({100 * weak.arrow_chances[0]:.0f} % sure)" in str(weak)
    assert weak.arrow_chances[0] < 0.9 < strong.arrow_chances[0]
    assert "sure" not in str(strong)


def test_a_discovery_has_its_graph():
    assert FOUND.graph == CausalGraph(NAMES, FOUND.cpdag, "cpdag")
    assert FOUND.graph.edges == FOUND.edges
    assert FOUND.graph is FOUND.graph
    assert FOUND.graph.to_networkx().graph["kind"] == "cpdag"
    assert pickle.loads(pickle.dumps(FOUND)).graph == FOUND.graph
    axes = FOUND.graph.plot()
    assert axes.patches or axes.collections or axes.texts


def test_edges_as_a_frame():
    frame = FOUND.to_frame()
    numbers = ["strength", "false_rate", "arrow_worth", "arrow_odds", "arrow_probability"]
    assert list(frame.columns) == ["source", "mark", "target", *numbers]
    assert tuple(map(tuple, frame.to_numpy()[:, :3])) == FOUND.edges
    assert frame.iloc[:, :3].equals(FOUND.graph.to_frame().iloc[:, :3])
    assert frame["strength"].min() > FOUND.evidence.price
    assert frame["false_rate"].between(0, 1).all()


def test_edges_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(50):
        dag = np.triu(rng.random((9, 9)) < 0.4, 1)
        cpdag = qwo.to_cpdag(dag)
        names = tuple(f"v{k}" for k in range(9))
        wanted = [
            (names[i], "-->" if cpdag[i, j] == 1 else "---", names[j])
            for i in range(9)
            for j in range(9)
            if cpdag[i, j] == 1 or (cpdag[i, j] == 2 and i < j)
        ]
        assert list(CausalGraph(names, cpdag, "cpdag").edges) == wanted


def test_the_table_of_marks_is_consistent():
    assert list(MARKS) == ["-->", "---", "<->", "o->", "o-o", "--o"]
    for text, mark in MARKS.items():
        assert mark.text == text
        assert turned(turned(text)) == text
        head, circle, tail = 2, 1, 3
        ends = {"<": head, ">": head, "o": circle, "-": tail}
        assert mark.ends == (ends[text[0]], ends[text[-1]])
        dots = {head: "normal", circle: "odot", tail: "none"}
        assert mark.dot == tuple(dots[end] for end in mark.ends)
        assert mark.meaning.endswith(".")
    assert [edge_text(*codes) for codes in ((0, 0), (1, 0), (0, 1), (2, 2))] == [
        *("", "-->", "<--", "---")
    ]


def test_the_report_knows_the_marks_of_results():
    source = Path(__file__).parents[2] / "web" / "src" / "data.ts"
    if not source.exists():
        pytest.skip("the script of the report is not here")
    known = re.search(r"type: (.*);", source.read_text(encoding="utf-8"))
    assert known is not None
    stored = [text for text, mark in MARKS.items() if mark.codes is not None]
    assert re.findall(r'"([^"]+)"', known[1]) == stored
