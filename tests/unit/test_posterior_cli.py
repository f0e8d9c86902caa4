"""``qwo posterior``: the table, the folder, effects, and how it ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import qwo
from qwo.bayes import Posterior
from qwo.cli import app
from qwo.graph import read_graph
from qwo.report import page

NAMES = [f"V{k}" for k in range(6)]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, degree=2, random_state=2)
    np.savetxt("data.csv", data, delimiter=",", header=",".join(NAMES), comments="")
    return "data.csv"


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script for the report, whether or not the real one was built."""
    monkeypatch.setattr(page, "find_bundle", lambda: page.Bundle("", ""))


def call(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["posterior", *arguments])
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    return result


def test_without_a_folder_the_table_is_printed(file: str) -> None:
    result = call(file, "-n", "200")
    assert result.stdout.startswith("<Posterior: 6 variables ('V0', ")
    assert "  link    -->   <--   pair" in result.stdout
    document = json.loads(call(file, "-n", "200", "--json", "-q").stdout)
    whole = qwo.posterior(file, n_draws=200, random_state=0)
    assert document["variables"] == NAMES
    assert document["pairs"][0]["link"] == whole.to_records()[0].link
    assert document["params"]["t"] == whole.params["t"]


def test_a_folder_has_everything(file: str) -> None:
    call(file, "-n", "200", "-o", "sure", "-e", "V0,V5", "--effect", "V2,V3")
    folder = Path("sure")
    whole = qwo.posterior(file, n_draws=200, random_state=0)
    with (folder / "probabilities.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["first"], row["second"], float(row["link"])) for row in rows] == [
        (record.first, record.second, record.link) for record in whole.to_records()
    ]
    with (folder / "edge_probabilities.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.reader(stream))
    assert table[0] == ["", *NAMES]
    matrix = np.array([row[1:] for row in table[1:]], dtype=float)
    np.testing.assert_array_equal(matrix, whole.edge_probabilities)
    np.testing.assert_array_equal(
        read_graph(folder / "cpdag.json").matrix, whole.least_shd_graph.matrix
    )
    for suffix in ("json", "graphml", "dot"):
        assert "link_probability" in (folder / f"cpdag.{suffix}").read_text(encoding="utf-8")
    assert read_graph(folder / "dag.json").edge_values() == whole.median_graph.edge_values()
    np.testing.assert_array_equal(Posterior.load(folder / "posterior.npz").masks, whole.masks)
    with (folder / "effects.csv").open(encoding="utf-8", newline="") as stream:
        effects = list(csv.DictReader(stream))
    assert [(row["cause"], row["effect"]) for row in effects] == [("V0", "V5"), ("V2", "V3")]
    assert float(effects[0]["median"]) == whole.effect("V0", "V5").median
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert record["kind"] == "posterior"
    assert sorted(record["files"]) == sorted(p.name for p in folder.iterdir())
    assert "Effect of V2 on V3" in (folder / "summary.txt").read_text(encoding="utf-8")
    call(file, "-n", "200", "-o", "sure", code=1)
    call(file, "-n", "200", "-o", "sure", "--force")


def test_options_reach_the_call(file: str) -> None:
    options = "--score bic --penalty 2 --edge-prior 0.3 --seed 7 -j 2 --require V0,V1 --drop V5"
    document = json.loads(call(file, "-n", "100", "--json", *options.split()).stdout)
    params = document["params"]
    assert (params["score"], params["penalty_discount"]) == ("bic", 2)
    assert (params["edge_prior"], params["random_state"]) == (0.3, 7)
    assert document["variables"] == NAMES[:5]
    assert {"first": "V0", "second": "V1", "forward": 1.0}.items() <= document["pairs"][0].items()
    scale = json.loads(call(file, "-n", "100", "--json", "--prior-scale", "0.5").stdout)
    assert scale["params"]["t"] == 0.5


def test_what_is_wrong_is_said(file: str) -> None:
    assert "wanted a cause and an effect" in call(file, "-e", "V0", code=1).stderr
    assert "V9" in call(file, "-n", "100", "-e", "V0,V9", code=1).stderr
    assert "--draws is 1; wanted at least" in call(file, "-n", "1", code=1).stderr


def test_doubts_have_an_exit_code_of_their_own(file: str) -> None:
    result = call(file, "-n", "10000000", "--time-limit", "0", code=3)
    assert "the chains of the posterior d" in result.stderr
    assert "16 DAGs" in result.stdout


def learn(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["learn", *arguments])
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    return result


@pytest.mark.usefixtures("bundled")
def test_learn_puts_probabilities_beside_the_edges(file: str) -> None:
    result = learn(file, "--posterior", "-o", "out", "--no-figures", "--seed", "3")
    whole, found = qwo.posterior(file, random_state=3), qwo.discover(file, random_state=3)
    lines = result.stdout.splitlines()
    assert len(lines) == found.n_edges
    for line, (first, mark, second) in zip(lines, found.edges, strict=True):
        i, j = found.names.index(first), found.names.index(second)
        link = 100 * whole.link_probabilities[i, j]
        assert line.split()[:3] == [first, mark, second]
        assert f"P(link) {link:3.0f} %" in line
        if mark == "-->":
            assert f"P(arrow) {100 * whole.arrow_probabilities[i, j]:.0f} %" in line
    folder = Path("out")
    np.testing.assert_array_equal(Posterior.load(folder / "posterior.npz").masks, whole.masks)
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert {"posterior.npz", "probabilities.csv", "effects.csv"} <= set(record["files"])
    shown = read_graph(folder / "cpdag.json")
    for (first, _, second), known in zip(found.edges, shown.edge_values(), strict=True):
        link = whole.link_probabilities[found.names.index(first), found.names.index(second)]
        assert known["link_probability"] == pytest.approx(link, abs=1e-6)
    first = record["posterior"]["effects"][0]
    assert first["median"] == whole.effect(first["cause"], first["effect"]).median
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "P(link)" in report
    assert 'id="least-link"' in report
    assert 'id="judge"' not in report


@pytest.mark.usefixtures("bundled")
def test_learn_reports_posterior_and_bootstrap_side_by_side(file: str) -> None:
    result = learn(file, "--posterior", "-b", "6", "-o", "out", "--no-figures")
    assert all("link" in line and "P(link)" in line for line in result.stdout.splitlines())
    assert 'id="judge"' in Path("out/report.html").read_text(encoding="utf-8")


def test_categories_are_blocks(file: str) -> None:
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{'abc'[k % 3]}" for k, line in enumerate(lines[1:])]
    Path("groups.csv").write_text("\n".join([f"{lines[0]},group", *rows]), encoding="utf-8")
    assert "7 variables" in call("groups.csv").output
    result = learn("groups.csv", "--posterior")
    assert "P(link)" in result.stdout
    assert "no posterior" not in result.output


def test_conditions(file: str) -> None:
    """As `qwo.posterior` has them; rows in their order are no series, and others still are."""
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    rows[100:, 0] += 3
    lines = [",".join(map(str, [*row, "ab"[k // 100]])) for k, row in enumerate(rows)]
    Path("two.csv").write_text("\n".join([",".join([*NAMES, "day"]), *lines]), encoding="utf-8")
    result = call("two.csv", "--regime", "day", "-n", "200", "--json")
    whole = qwo.posterior("two.csv", regime="day", n_draws=200, random_state=0)
    document = json.loads(result.stdout)
    assert document["variables"] == NAMES
    assert [pair["link"] for pair in document["pairs"]] == [p.link for p in whole.to_records()]
    assert "rows depend" not in result.stderr
    piped = CliRunner().invoke(
        app, ["posterior", "-", "--regime", "day"], input=Path("two.csv").read_text("utf-8")
    )
    assert piped.exit_code == 1
    assert "standard input can be read once" in piped.stderr
    walk = np.cumsum(np.random.default_rng(1).normal(size=(300, 3)), axis=0)
    np.savetxt("walk.csv", walk, delimiter=",", header="a,b,c", comments="")
    told = call("walk.csv", "-n", "100").stderr
    assert "rows depend on the row before" in told
    assert "--lags" not in told  # which this command has not
