"""audit, simulate, compare, fit, convert, bench."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import qwo
from tests.cli.running import run, run_json, write_table

SIMULATE = ("simulate", "-n", 8, "-N", 500, "--seed", 4, "-o")


def test_the_exit_code_of_audit_tells(data: Path) -> None:
    fine = run("audit", data)
    assert (fine.exit_code, fine.stdout) == (
        0,
        f"{data}: 0 errors, 0 warnings; the data can be used\n",
    )
    rng = np.random.default_rng(0)
    skewed = write_table(Path("skewed.csv"), list(rng.lognormal(0, 1.5, (2, 200))), "ab")
    noted = run("audit", skewed)
    assert noted.exit_code == 0
    assert noted.stdout.startswith("note:    2 of 2 columns are far from normal: 'a' (skewness ")
    assert "--transform rank-normal makes them normal by rank; --arrows noise" in noted.stdout
    assert "noise\nskewed.csv: 0 errors" in noted.stdout
    assert run("audit", skewed, "-t", "log").stdout.startswith("skewed.csv: 0 errors")
    few = write_table(Path("few.csv"), list(rng.normal(size=(2, 6))), "ab")
    assert run("audit", few).exit_code == 3
    flat = write_table(Path("flat.csv"), [np.ones(9), np.arange(9.0), np.arange(9.0) ** 2], "abc")
    broken = run("audit", flat, "--json")
    assert broken.exit_code == 1
    found = json.loads(broken.stdout)
    assert found["findings"][0]["columns"] == ["a"]
    assert found["cure"] == "--drop a"
    assert run("audit", flat, "--drop", "a").exit_code == 3


def test_simulate_writes_data_truth_and_coefficients() -> None:
    result = run(*SIMULATE, "sim")
    assert result.exit_code == 0
    assert "next: qwo learn sim/data.csv" in result.stderr
    data, dag, coefficients = qwo.simulate(
        "er", n_variables=8, n_samples=500, standardize=True, random_state=4
    )
    graph = qwo.read_graph("sim/dag.csv")
    assert (graph.matrix == dag).all()
    with Path("sim/data.csv").open(encoding="utf-8") as file:
        rows = np.array(list(csv.reader(file))[1:], dtype=float)
    np.testing.assert_allclose(rows, data, rtol=1e-12)
    with Path("sim/coefficients.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            i, j = graph.names.index(row["cause"]), graph.names.index(row["effect"])
            assert float(row["coefficient"]) == coefficients[i, j]


def test_simulate_again_from_the_seed_that_was_drawn() -> None:
    run("simulate", "-n", 5, "-N", 20, "-o", "first")
    seed = json.loads(Path("first/result.json").read_text())["parameters"]["seed"]
    run("simulate", "-n", 5, "-N", 20, "-o", "second", "--seed", seed)
    assert Path("first/data.csv").read_bytes() == Path("second/data.csv").read_bytes()


def test_simulate_from_a_graph_to_parquet_or_to_standard_output() -> None:
    Path("truth.dot").write_text("digraph { smoke -> tar; tar -> cancer }")
    options = ("simulate", "--graph", "truth.dot", "-N", 30, "--seed", 1)
    run(*options, "-o", "sim", "--data-format", "parquet")
    assert pq.read_table("sim/data.parquet").column_names == ["smoke", "tar", "cancer"]
    printed = run(*options).stdout.splitlines()
    assert len(printed) == 31
    assert printed[0].replace('"', "") == "smoke,tar,cancer"


@pytest.mark.parametrize("options", [["--graph", "ring"], ["--degree", 50], ["--seed", "x"]])
def test_simulate_refuses(options: list[str]) -> None:
    assert run("simulate", "-n", 5, "-o", "sim", *options).exit_code in (1, 2)
    assert not Path("sim").exists()


def test_compare_with_scores() -> None:
    run(*SIMULATE, "sim")
    run("learn", "sim/data.csv", "-o", "found", "--no-report", "--no-figures")
    shown = run("compare", "found", "sim/dag.csv", "--data", "sim/data.csv")
    assert shown.exit_code == 0, shown.output
    assert "exact recovery" in shown.stdout
    assert "both score the same" in shown.stdout
    numbers = run_json("compare", "found", "sim/dag.json", "--data", "sim/data.csv")
    assert numbers["shd_cpdag"] == 0
    assert abs(numbers["score_gap"]) < 1e-6
    graph = qwo.read_graph("sim/dag.json")
    assert numbers["score_true"] == pytest.approx(
        float(qwo.score_graph("sim/data.csv", graph.matrix))
    )


def test_compare_tells_search_error_from_statistical_error() -> None:
    run(*SIMULATE, "sim")
    Path("empty.csv").write_text(
        "\n".join([",".join(f"X{k}" for k in range(8)), *["0,0,0,0,0,0,0,0"] * 8])
    )
    missed = run("compare", "empty.csv", "sim/dag.csv", "--data", "sim/data.csv")
    assert "a longer search" in missed.stdout
    swapped = run("compare", "sim/dag.csv", "empty.csv", "--data", "sim/data.csv")
    assert "more data would help" in swapped.stdout


def test_compare_graphs_of_other_variables() -> None:
    Path("one.dot").write_text("digraph { a -> b }")
    Path("two.dot").write_text("digraph { a -> c }")
    result = run("compare", "one.dot", "two.dot")
    assert result.exit_code == 1
    assert "same variables" in result.stderr


def test_fit_takes_the_columns_of_the_graph(data: Path) -> None:
    Path("model.dot").write_text("digraph { a -> b; c -> b }")
    shown = run("fit", data, "model.dot", "-o", "coefficients.csv")
    assert shown.exit_code == 0, shown.output
    assert "Linear SEM: 3 variables, 2 edges, N = 300" in shown.stdout
    numbers = run_json("fit", data, "model.dot")
    model = qwo.fit_sem(
        qwo.Moments.from_csv(data, columns=["a", "b", "c"]), [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    )
    assert numbers["fit"]["log_likelihood"] == pytest.approx(model.fit.log_likelihood)
    with Path("coefficients.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["coefficient"]) for row in rows] == pytest.approx(
        [edge.coefficient for edge in model.edges]
    )
    assert run("fit", data, "model.dot", "-o", "coefficients.csv").exit_code == 1
    assert run("fit", data, "model.dot", "-o", "coefficients.csv", "--force").exit_code == 0


def test_fit_says_which_coefficients_are_arbitrary(data: Path) -> None:
    run("learn", data, "-o", "found", "--no-report", "--no-figures")
    shown = run("fit", data, "found").stderr
    assert "warning: 1 of 3 edges has no direction" in shown
    assert "dag.json" in shown
    assert "chosen arbitrarily" in run("fit", data, "found/cpdag.json").stderr


def test_what_would_help_a_search_is_not_told_of_a_graph_that_is_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, age = rng.normal(size=400), rng.exponential(size=400) ** 2
    y = x + rng.normal(size=400)
    rows = np.cumsum(np.column_stack([x, y, age]), axis=0)
    table = ["x,y,age", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(table))
    (tmp_path / "g.dot").write_text("digraph { x -> y; age }")
    advice = ("--lags", "--arrows", "--roots", "named like something")
    told = run("audit", tmp_path / "t.csv").output
    assert all(word in told for word in ("--lags", "--roots"))
    for command in (["fit"], ["check"], ["effect"]):
        ends = ["x", "y"] if command == ["effect"] else []
        told = run(*command, tmp_path / "t.csv", tmp_path / "g.dot", *ends).stderr
        assert "rows depend on the row before them" in told
        assert not any(word in told for word in advice), told


def test_an_effect_that_no_member_of_the_class_has_is_none(data: Path) -> None:
    """It was "one of 2 amounts, all between 0 and 0"."""
    Path("g.dot").write_text("digraph { a -> b [dir=none]; c }")
    shown = run("effect", data, "g.dot", "a", "c")
    assert shown.exit_code == 0, shown.output
    assert "has no effect on c: no directed path leads there in any case" in shown.stdout


def test_fit_of_a_folder_has_the_numbers_of_the_folder(data: Path) -> None:
    """The DAG of the folder is fitted, not an arbitrary one of its class."""
    run("learn", data, "-o", "found", "--no-report", "--no-figures")
    dag = qwo.read_graph("found/dag.json")
    turned = next(  # another member of the class, as if the search had ended there
        qwo.CausalGraph(dag.names, member, "dag")
        for member in qwo.enumerate_dags("found/cpdag.json")
        if not np.array_equal(member, dag.matrix)
    )
    for member in (dag, turned):
        qwo.write_graph(member, "found/dag.json")
        edges = run_json("fit", data, "found")["edges"]
        assert {(e["cause"], e["effect"]) for e in edges} == {(e[0], e[2]) for e in member.edges}


def test_effect_over_a_class_lists_every_amount_with_its_interval(data: Path) -> None:
    run("learn", data, "-o", "found", "--no-report", "--no-figures")
    graph = qwo.read_graph("found/cpdag.json")
    edge = next(edge for edge in graph.edges if edge.mark == "---")
    told = run_json("effect", data, "found", edge.source, edge.target)
    expected = qwo.ida(qwo.Moments.from_csv(data), graph, edge.source, edge.target)
    assert [e["estimate"] for e in told["effects"]] == pytest.approx(expected.estimates)
    assert told["interval"] == pytest.approx(expected.interval())
    shown = run("effect", data, "found", edge.source, edge.target)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("The graph leaves open")
    assert f"parents of {edge.source}" in shown.stdout


@pytest.mark.parametrize("transform", ["standardise", "log"])
def test_effects_of_a_folder_are_those_of_the_result(transform: str) -> None:
    """The same parents, estimates and interval, in Python and on the command line."""
    rng = np.random.default_rng(3)
    a, d = 0.5 * rng.normal(size=(2, 600))
    b = 0.36 * a + 0.4 * rng.normal(size=600)
    c, e = 0.7 * b, 0.5 * b + 0.5 * d
    columns = [a, b, c + 0.4 * rng.normal(size=600), d, e + 0.4 * rng.normal(size=600)]
    file = write_table(Path("skewed.csv"), [np.exp(column) for column in columns], "abcde")
    run("learn", file, "-o", "found", "-t", transform, "--no-report", "--no-figures", "--seed", 1)
    found = qwo.discover(file, transform=transform, random_state=1)
    for cause, effect in (("a", "b"), ("b", "e"), ("a", "c"), ("d", "e")):
        told, expected = (
            run_json("effect", file, "found", cause, effect),
            found.effect(cause, effect),
        )
        paths = told["effects"]
        amounts = [one["estimate"] if one["directed_path"] else 0.0 for one in paths]
        assert (min(amounts), max(amounts)) == pytest.approx((expected.low, expected.high))
        assert told["interval"] == pytest.approx(expected.interval)


def test_effect_in_a_dag_is_one_number_with_its_interval(data: Path) -> None:
    Path("model.dot").write_text("digraph { a -> b; c -> b }")
    moments = qwo.Moments.from_csv(data, columns=["a", "b", "c"])
    effect = qwo.total_effect(qwo.fit_sem(moments, "model.dot"), "a", "b")
    told = run_json("effect", data, "model.dot", "a", "b", "--level", "0.9")
    assert [e["estimate"] for e in told["effects"]] == pytest.approx([effect.estimate])
    assert told["interval"] == pytest.approx(effect.interval(0.9))
    assert run("effect", data, "model.dot", "a", "b").stdout.startswith("With one unit more of a,")


def test_effect_says_when_the_graph_has_no_path(data: Path) -> None:
    Path("model.dot").write_text("digraph { a -> b; c }")
    shown = run("effect", data, "model.dot", "b", "a")
    assert shown.exit_code == 0, shown.output
    assert "no directed path leads there" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", "nobody"), "no variable is called 'nobody'"),
        (("a", "a"), "cause and effect are both 'a'"),
        (("a", "b", "--level", "95"), "between 0 and 1"),
    ],
)
def test_effect_refuses_what_it_cannot_answer(data: Path, arguments, words) -> None:
    Path("model.dot").write_text("digraph { a -> b; c -> b }")
    shown = run("effect", data, "model.dot", *arguments)
    assert shown.exit_code == 1
    assert words in shown.stderr


def test_convert_there_and_back() -> None:
    Path("graph.dot").write_text("digraph { a -> b; c -> b }")
    assert run("convert", "graph.dot", "graph.graphml").exit_code == 0
    assert run("convert", "graph.graphml", "codes.csv", "--to", "pcalg").exit_code == 0
    assert run("convert", "codes.csv", "back.json", "--from", "pcalg").exit_code == 0
    assert qwo.compare("back.json", "graph.dot").shd_dag == 0
    again = run("convert", "graph.dot", "graph.graphml")
    assert again.exit_code == 1
    assert "--force" in again.stderr


def test_convert_in_a_pipe() -> None:
    shown = run("convert", "-", "-", "--to", "edges", input="digraph { a -> b }")
    assert shown.stdout.splitlines()[-1].startswith("a,b")
    assert run("convert", "-", "-", input="digraph { a -> b }").exit_code == 1
    assert run("convert", "-", "x.json", input="1,2,3").exit_code == 1


def test_convert_refuses_what_a_format_cannot_hold() -> None:
    Path("graph.json").write_text(
        '{"format": "qwo-graph", "version": 1, "kind": "cpdag", "names": ["a", "b"],'
        ' "edges": [{"source": "a", "target": "b", "type": "---"}]}'
    )
    refused = run("convert", "graph.json", "model.lavaan")
    assert refused.exit_code == 1
    assert "--dag" in refused.stderr
    assert run("convert", "graph.json", "model.lavaan", "--dag").exit_code == 0
    unknown = run("convert", "graph.json", "graph.pdf")
    assert unknown.exit_code == 1
    assert "--to" in unknown.stderr


def test_a_folder_without_a_graph_is_refused() -> None:
    Path("other").mkdir()
    result = run("compare", "other", "other")
    assert result.exit_code == 1
    assert "cpdag.json" in result.stderr


def test_bench_is_small_and_says_where_it_ran() -> None:
    result = run("bench", "--sizes", "6,10", "--runs", 2, "-N", 300, "--degree", 2)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 3
    assert "kernels" in result.stderr
    assert run("bench", "--sizes", "3,x").exit_code == 1
    assert run("bench", "--sizes", "3", "--degree", 9).exit_code == 1
    assert run("bench", "--runs", 0).exit_code == 1


def test_what_the_audit_notes_is_told_by_learn_its_folder_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once ten columns far from normal were "nothing to report" in the report."""
    monkeypatch.chdir(tmp_path)
    data = np.exp(2 * np.random.default_rng(0).standard_normal((300, 3)))
    np.savetxt("skewed.csv", data, delimiter=",", header="a,b,c", comments="")
    assert "far from normal" in run("audit", "skewed.csv").output
    learnt = run("learn", "skewed.csv", "-o", "out", "--no-figures")
    assert "far from normal" in learnt.stderr
    assert json.loads(Path("out/result.json").read_text(encoding="utf-8"))["audit"]
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "far from normal" in page
    assert "nothing to report" not in page


@pytest.mark.parametrize("edge", [("c", "d"), ("d", "c")])
def test_convert_hands_out_the_dag_that_the_folder_has(data: Path, edge: tuple[str, str]) -> None:
    """The class has c --- d; the coefficients of the folder belong to one of its members."""
    assert run("learn", data, "-o", "found", "--no-report", "--no-figures").exit_code == 0
    names, arrows = list("abcd"), [("a", "b"), ("c", "b"), edge]
    matrix = np.zeros((4, 4), dtype=np.int8)
    for tail, head in arrows:
        matrix[names.index(tail), names.index(head)] = 1
    qwo.write_graph(qwo.CausalGraph.from_matrix(matrix, names, "dag"), "found/dag.json")
    assert run("convert", "found", "one.json", "--dag").exit_code == 0
    assert np.array_equal(qwo.read_graph("one.json").matrix, matrix)
