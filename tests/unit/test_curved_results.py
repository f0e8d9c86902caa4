"""What can be asked of curves: effects between two values, the model, the page, resamples."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.curved.model import AdditiveSem
from qwo.errors import ArgumentError
from qwo.graph.formats.r_packages import render_lavaan
from qwo.graph.formats.registry import parse_graph
from qwo.report import write_report
from qwo.report.pictures import relations
from tests.helpers.curved_data import additive_data

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")


def _rows(n_rows: int, seed: int, at: float | None = None) -> np.ndarray:
    """z → x, (z, x) → m, (x, m) → y; x is set if a value is given."""
    rng = np.random.default_rng(seed)
    z, *noise = rng.standard_normal((4, n_rows))
    x = np.sin(1.5 * z) + 0.6 * noise[0] if at is None else np.full(n_rows, at)
    m = 0.5 * x**2 + 0.5 * z + 0.5 * noise[1]
    return np.column_stack([z, x, m, np.tanh(1.5 * m) + 0.3 * x + 0.4 * noise[2]])


DAG = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])


def test_the_effect_between_two_values_is_that_of_setting_the_cause() -> None:
    truth = np.diff([_rows(200_000, 1, at=a)[:, 3].mean() for a in (-0.5, 1.5)])[0]
    held, sizes = 0, []
    for seed in range(8):
        found = qwo.discover(_rows(800, seed), relations="curved", random_state=0)
        assert (found.dag == DAG).all()
        effect = found.effect("X1", "X3", values=(-0.5, 1.5))
        held += effect.interval[0] < truth < effect.interval[1]
        sizes.append(float(effect))
    assert held >= 6
    assert np.mean(sizes) == pytest.approx(truth, abs=0.1)


def test_without_other_paths_it_is_a_difference_of_the_curve() -> None:
    found = qwo.discover(_rows(600, 1), relations="curved", random_state=0)
    curve = found.curve("X2", "X3")
    a, b = float(curve.x[10]), float(curve.x[80])
    effect = found.effect("X2", "X3", values=(a, b))
    assert float(effect) == pytest.approx(curve.y[80] - curve.y[10], abs=1e-8)
    assert effect.interval[0] < float(effect) < effect.interval[1]
    assert "from" in str(effect)
    assert "X3 changes by" in str(effect)
    for wrong in ((0.0,), "ab", (0.0, np.nan), 3):
        with pytest.raises(ArgumentError, match="wanted two numbers"):
            found.effect("X2", "X3", values=wrong)
    for given in ({"level": 2}, {"columns": 0}, {"columns": "five"}):
        with pytest.raises(ArgumentError, match="wanted"):
            found.curve("X2", "X3", **given)
    with pytest.raises(ArgumentError, match="most is 0"):
        qwo.plot.plot_curves(found, most=0)
    assert float(found.effect("X3", "X0")) == 0.0
    quartiles = np.quantile(_rows(600, 1)[:, 2], (0.25, 0.75))
    assert found.effect("X2", "X3").values == pytest.approx(quartiles)


def test_where_the_class_leaves_edges_open_there_is_a_range() -> None:
    found = qwo.discover(_rows(600, 1), relations="curved", arrows="class", random_state=0)
    assert (found.cpdag == 2).any()
    effect = found.effect("X1", "X3", values=(0.0, 1.0))
    assert effect.graphs > 1
    assert effect.low < effect.high
    assert np.isnan(float(effect))


def test_the_additive_model_tells_lines_from_curves() -> None:
    found = qwo.discover(_rows(800, 2), relations="curved", random_state=0)
    model = found.fit()
    assert isinstance(model, AdditiveSem)
    tests = {(e.cause, e.effect): e for e in model.edges}
    assert tests["X1", "X2"].p_curve < 1e-6
    assert tests["X0", "X2"].p_curve > 0.001
    assert tests["X0", "X2"].slope == pytest.approx(0.5, abs=0.1)
    assert max(e.p_value for e in model.edges) < 1e-6
    shares = model.nodes_table().set_index("name")["r_squared"]
    assert shares["X0"] == pytest.approx(0.0, abs=1e-9)
    assert 0.5 < shares["X3"] < 0.95
    assert "Additive model: 4 variables, 5 edges" in str(model)
    with pytest.raises(ArgumentError, match="relations are curved"):
        found.causes_of("X3")
    with pytest.raises(ArgumentError, match="relations are curved"):
        found.check()


def test_a_file_of_lines_says_that_relations_are_curved() -> None:
    found = qwo.discover(_rows(800, 2), relations="curved", random_state=0)
    graph = found.graph.to_dag()
    text = render_lavaan(graph)
    assert text.startswith("# Relations are curved, and these equations are lines.")
    assert (parse_graph(text, "lavaan").matrix == graph.matrix).all()
    lines = qwo.discover(_rows(800, 2), random_state=0).graph.to_dag()
    assert "#" not in render_lavaan(lines)


def test_linear_results_are_asked_as_ever() -> None:
    rows, _ = additive_data("linear", 5, 400, 1)
    plain = qwo.discover(rows, random_state=0)
    with pytest.raises(ArgumentError, match="values are of causes with curves"):
        plain.effect(0, 1, values=(0, 1))
    none = qwo.discover(rows, relations="curved", random_state=0)
    assert none.curves.size == 1
    assert str(none.fit()) == str(plain.fit())
    noise = qwo.discover(rows, arrows="noise", random_state=0)
    assert str(noise.effect(0, 1)) == str(plain.effect(0, 1))


def test_resamples_search_curves_anew_whatever_the_workers() -> None:
    rows = pd.DataFrame(_rows(500, 3), columns=list("zxmy"))
    first = qwo.bootstrap(rows, relations="curved", n_resamples=8, random_state=1)
    assert first.reference.params["basis"] > 1
    assert first.directed_counts[1, 3] >= 6
    again = qwo.bootstrap(rows, relations="curved", n_resamples=8, random_state=1, n_jobs=2)
    assert (first.directed_counts == again.directed_counts).all()
    noise, _ = additive_data("linear", 4, 600, 3, noise="exponential")
    told = qwo.bootstrap(noise, arrows="noise", n_resamples=6, random_state=1)
    plain = qwo.bootstrap(noise, n_resamples=6, random_state=1)
    assert told.directed_counts.sum() > plain.directed_counts.sum()
    with pytest.raises(ArgumentError, match="looks at rows"):
        qwo.bootstrap(qwo.Moments.from_frame(rows), relations="curved", n_resamples=2)


def test_page_and_files_have_the_curves(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from qwo.cli.application import app

    path, out = tmp_path / "rows.csv", tmp_path / "out"
    pd.DataFrame(_rows(400, 1), columns=list("zxmy")).to_csv(path, index=False)
    asked = ["learn", str(path), "--relations", "curved", "--columns", "4", "--seed", "0"]
    run = CliRunner().invoke(app, [*asked, "-o", str(out), "--bootstrap", "4", "--no-figures"])
    assert run.exit_code == 0, run.output
    told = json.loads((out / "result.json").read_text())
    assert told["params"]["basis"] == 4
    assert any("of lines" in note for note in told["notes"])
    assert "from the shape of the noise" in told["verdict"]["directions"]
    curves = pd.read_csv(out / "curves.csv")
    assert len(curves.groupby(["source", "target"])) == told["n_edges"]
    assert {"gain", "z"} <= set(pd.read_csv(out / "noise.csv").columns)
    page = (out / "report.html").read_text()
    assert page.count('class="band"') == told["n_edges"]
    evidence = [f"{z:.1f}" for z in pd.read_csv(out / "noise.csv")["z"]]
    shown = re.findall(r'<td class="number">([\d.]+)</td></tr>', page[page.index("Evidence of") :])
    assert sorted(shown) == sorted(evidence)
    for refused in ("--check", "--posterior"):
        assert CliRunner().invoke(app, [*asked, refused]).exit_code != 0


def test_the_command_line_answers_as_the_result_does(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from qwo.cli.application import app

    path, out = tmp_path / "rows.csv", tmp_path / "out"
    rows = pd.DataFrame(_rows(600, 1), columns=list("zxmy"))
    rows.to_csv(path, index=False)
    learn = ["learn", str(path), "--relations", "curved", "--seed", "0", "-o", str(out)]
    assert CliRunner().invoke(app, [*learn, "--no-figures"]).exit_code == 0
    found = qwo.discover(rows, relations="curved", random_state=0)
    ask = ["effect", str(path), str(out), "x", "y"]
    for given, values in (([], None), (["--values", "-0.5", "1.5"], (-0.5, 1.5))):
        run = CliRunner().invoke(app, [*ask, *given, "--json"])
        assert run.exit_code == 0, run.output
        own = found.effect("x", "y", values=values)
        told = json.loads(run.stdout)
        assert (told["low"], *told["interval"]) == pytest.approx((own.low, *own.interval))
        assert str(own) in CliRunner().invoke(app, [*ask, *given]).stdout
    run = CliRunner().invoke(app, ["check", str(path), str(out), "--draws", "19"])
    assert "look at their lines" in run.stderr
    qwo.write_graph(found.graph, tmp_path / "lines.json")
    lines = ["effect", str(path), str(tmp_path / "lines.json"), "x", "y", "--values", "0", "1"]
    run = CliRunner().invoke(app, lines)
    assert run.exit_code == 1
    assert "causes with curves" in run.stderr


def test_the_curve_of_a_category_has_a_point_for_each_level() -> None:
    rng = np.random.default_rng(2)
    group = rng.choice(["a", "b", "c"], 900)
    z, noise = rng.standard_normal((2, 900))
    y = np.sin(1.5 * z) + (group == "b") - (group == "c") + 0.5 * noise
    other = np.where(rng.random(900) < 0.2, "a", np.where(y > 0, "b", "c"))
    table = pd.DataFrame({"z": z, "group": group, "y": y, "other": other})
    dag = np.zeros((4, 4), np.int8)
    dag[[0, 1, 2], [2, 2, 3]] = 1
    found = qwo.discover(table, relations="curved", random_state=0)
    curves = replace(found.curves, dag=dag)
    curve = curves.curve("group", "y").to_frame().set_index("x")
    means = table["y"].groupby(table["group"]).mean()
    assert set(curve.index) == {"a", "b", "c"}
    assert curve["y"]["b"] - curve["y"]["a"] == pytest.approx(means["b"] - means["a"], abs=0.15)
    assert curve["y"]["c"] - curve["y"]["a"] == pytest.approx(-1.0, abs=0.15)
    assert (curve["low"] < curve["y"]).all()
    share = table["group"].value_counts(normalize=True)
    assert float((curve["y"] * share).sum()) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ArgumentError, match="a category of 3 levels"):
        curves.curve("y", "other")
    drawn = replace(found, curves=curves)
    assert {row[:2] for row in curves.drawn()} == {("z", "y"), ("group", "y")}
    figure = qwo.plot.plot_curves(drawn)
    assert [ax.get_ylabel() for ax in figure.axes if ax.axison] == ["y", "y"]
    ticks = [label.get_text() for ax in figure.axes for label in ax.get_xticklabels()]
    assert {"a", "b", "c"} <= set(ticks)
    svg = {(own.cause, own.effect): own.svg for own in relations(drawn)}
    assert svg["group", "y"].count('class="band"') == 3
    assert svg["z", "y"].count('class="band"') == 1
    assert not svg["y", "other"]


def test_a_page_of_noise_alone_has_evidence_without_curves(tmp_path: Path) -> None:
    rows, _ = additive_data("linear", 4, 500, 3, noise="exponential")
    found = qwo.discover(rows, arrows="noise", random_state=0)
    page = write_report(tmp_path / "page.html", found).read_text()
    assert "Evidence of the arrow" in page
    assert 'class="band"' not in page
    values = found.graph.values_at(*np.argwhere(found.cpdag == 1)[0])
    assert values["noise_z"] >= 3


def test_check_names_what_helps() -> None:
    bent = qwo.discover(_rows(800, 1), random_state=0)
    assert "relations='curved'" in bent.check(random_state=0, n_draws=19).summary()
    rows, _ = additive_data("linear", 4, 800, 3, noise="exponential")
    found = qwo.discover(rows, random_state=0)
    assert (found.cpdag == 2).any()
    assert "arrows='noise'" in found.check(random_state=0, n_draws=19).summary()
    normal, _ = additive_data("linear", 4, 800, 3)
    plain = qwo.discover(normal, random_state=0).check(random_state=0, n_draws=19).summary()
    assert "arrows=" not in plain
    assert "relations=" not in plain
