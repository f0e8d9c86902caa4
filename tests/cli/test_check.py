"""``qwo check``: data and a graph, in plain words and for programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import qwo
from tests.cli.running import run, run_json, write_table


def made(*, wrong: bool = False) -> tuple[str, str]:
    data, dag, _ = qwo.simulate("er", n_variables=6, n_samples=400, degree=2.5, random_state=1)
    names = [f"V{k}" for k in range(6)]
    write_table(Path("data.csv"), list(data.T), names)
    graph = np.ascontiguousarray(dag[::-1, ::-1]) if wrong else dag
    qwo.write_graph(qwo.CausalGraph.from_matrix(graph, names), "graph.json")
    return "data.csv", "graph.json"


def test_a_right_graph_passes() -> None:
    document = run_json("check", *made(), "--draws", 99, "--seed", 0)
    assert not document["alarm"]
    assert {test["name"] for test in document["tests"]} >= {"overall fit", "linear equations"}


def test_a_wrong_graph_rings_and_says_why() -> None:
    result = run("check", *made(wrong=True), "--draws", 99, "--seed", 0)
    assert result.exit_code == 3
    assert result.stdout.startswith("Alarm: the data contradict the graph")
    assert "should be independent" in result.stdout
