"""``qwo check``: data and a graph, in plain words and for programs."""

from __future__ import annotations

import json
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


def test_advice_is_in_the_words_of_the_command_line() -> None:
    """It had options as Python spells them."""
    rng = np.random.default_rng(0)
    a = rng.exponential(size=800)
    b = 0.8 * a + rng.exponential(size=800)
    Path("skewed.csv").write_text(
        "a,b\n" + "".join(f"{x},{y}\n" for x, y in zip(a, b, strict=True))
    )
    qwo.write_graph(qwo.CausalGraph.from_matrix([[0, 2], [2, 0]], ["a", "b"]), "line.json")
    said = run("check", "skewed.csv", "line.json", "--draws", 19, "--seed", 0).stdout
    assert "--arrows noise may direct them" in said
    assert "arrows=" not in said


def test_a_wrong_graph_rings_and_says_why() -> None:
    result = run("check", *made(wrong=True), "--draws", 99, "--seed", 0)
    assert result.exit_code == 3
    assert result.stdout.startswith("Alarm: the data contradict the graph")
    assert "should be independent" in result.stdout


def test_learn_checks_what_it_has_found() -> None:
    data, _ = made()
    result = run("learn", data, "--check", "--seed", 0, "-o", "out", "--no-figures")
    assert result.exit_code == 0, result.output
    assert "note: No alarm" in " ".join(result.output.split())
    words = Path("out/check.txt").read_text(encoding="utf-8")
    assert words.startswith("No alarm")
    assert "learnt from these data" in words
    record = json.loads(Path("out/result.json").read_text(encoding="utf-8"))
    assert not record["check"]["alarm"]
    assert "check.txt" in record["files"]
    assert 'id="check"' in Path("out/report.html").read_text(encoding="utf-8")
    assert run_json("learn", data)["check"] is None


def test_learn_rings_where_effects_are_bent() -> None:
    rng = np.random.default_rng(0)
    cause, other = rng.normal(size=(2, 500))
    # Two causes, so that no arrow is left open: what is open is not held against the data.
    columns = [cause, cause**2 + cause + other + rng.normal(size=500), other]
    write_table(Path("bent.csv"), columns, ["a", "b", "c"])
    result = run("learn", "bent.csv", "--check", "--seed", 0)
    assert result.exit_code == 3
    assert "linear equations" in result.output


def test_learn_checks_categories_and_says_why_it_cannot_check() -> None:
    rows = [f"{k % 5},{np.sin(k):.6f},{'abc'[k % 3]}" for k in range(60)]
    Path("groups.csv").write_text("\n".join(["a,b,group", *rows]), encoding="utf-8")
    assert run("learn", "groups.csv", "--check", "--seed", 0).exit_code == 0
    result = run("learn", "groups.csv", "--check", "--covariance-estimator", "latent")
    assert result.exit_code == 3
    assert "the check looks at rows" in " ".join(result.output.split())
