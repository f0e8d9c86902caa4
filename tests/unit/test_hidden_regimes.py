"""Conditions beside hidden causes: indicators as known exogenous causes (JCI)."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import qwo
from qwo.cli.application import app
from qwo.graph.marks import HEAD, TAIL
from qwo.graph.pag import is_mag, mag_of_dag
from tests.helpers.hidden_models import random_model


def experiment(n_samples=8000, seed=0):
    """h → x, h → y, y → z, h hidden; a drug shifts x, heat shifts y."""
    rng = np.random.default_rng(seed)
    condition = rng.choice(["base", "drug", "heat"], n_samples)
    h, x, y, z = rng.normal(size=(4, n_samples))
    x = h + x + (condition == "drug")
    y = h + y + 0.8 * (condition == "heat")
    return pd.DataFrame({"condition": condition, "x": x, "y": y, "z": 0.8 * y + z})


WANTED = {
    ("x", "<->", "y"),
    ("y", "-->", "z"),
    ("condition=drug", "-->", "x"),
    ("condition=heat", "-->", "y"),
}


def test_a_condition_is_no_collider_to_choose():
    # The drug shifts all four; only x, between b and y, can be made a collider or left as it is.
    rng = np.random.default_rng(0)
    condition = rng.choice(["base", "drug"], 6000)
    a, b, h, x, y = rng.normal(size=(5, 6000)) + np.outer([1, 1, 0, 1, 1], condition == "drug")
    table = pd.DataFrame({"condition": condition, "a": a, "b": b, "x": a + h + x, "y": b + h + y})
    found = qwo.discover(
        table, hidden_causes=True, regime="condition", reference="base", random_state=0
    )
    assert found.confounded == [("x", "y")]
    assert [step.common for step in found.hidden_causes.steps if step.after == 0] == [1]


def test_conditions_direct_what_one_population_leaves_open():
    table = experiment()
    asked = {"hidden_causes": True, "regime": "condition", "reference": "base", "random_state": 0}
    found = qwo.discover(table, **asked)
    assert set(found.edges) == WANTED
    assert is_mag(found.mag.marks)
    assert "condition=drug acts on x" in str(found)
    assert found.confounded == [("x", "y")]
    # Without the conditions nothing of this can be told.
    alone = qwo.discover(table.drop(columns="condition"), hidden_causes=True, random_state=0)
    assert {mark for _, mark, _ in alone.edges} == {"o-o"}
    # A condition is a cause that nothing hidden stands beside, so that its effects are known.
    effect = found.effect("condition=heat", "z")
    assert effect.interval()[0] < 0.64 < effect.interval()[1]
    assert found.effect("x", "condition=drug").estimate == 0
    assert found.params["regime"] == "condition"


def test_moments_with_indicators_are_those_of_the_rows():
    table = experiment(500)
    found = qwo.discover(table, hidden_causes=True, regime="condition", random_state=0)
    moments = found.hidden_causes.moments
    rows = pd.get_dummies(table, columns=["condition"], prefix_sep="=", dtype=float)
    wanted = qwo.Moments.from_data(rows[list(moments.names)])
    assert moments.correlation == pytest.approx(wanted.correlation)
    assert moments.scales == pytest.approx(wanted.scales)
    assert moments.means == pytest.approx(wanted.means)


def test_tables_of_conditions_are_taken_as_one_with_a_column():
    table = experiment()
    parts = {k: part.drop(columns="condition") for k, part in table.groupby("condition")}
    found = qwo.discover(parts, hidden_causes=True, reference="base", random_state=0)
    assert {(a.replace("regime=", "condition="), m, b) for a, m, b in found.edges} == WANTED


def test_known_targets_and_knowledge_are_kept():
    table = experiment()
    asked = {"hidden_causes": True, "regime": "condition", "reference": "base", "random_state": 0}
    found = qwo.discover(table, targets={"drug": ["y"]}, **asked)
    assert ("condition=drug", "-->", "x") not in found.edges
    barred = {"forbidden": [("y", "z")], "tiers": [["x"], ["y", "z"]]}
    found = qwo.discover(table, knowledge=barred, **asked)
    assert ("y", "-->", "z") not in found.edges
    with pytest.raises(qwo.InputError, match="reference"):
        qwo.discover(table, **{**asked, "reference": "cold"})


@pytest.mark.parametrize("seed", range(6))
def test_marks_are_true_where_conditions_shift_random_models(seed):
    n, rng = 5, np.random.default_rng(seed)
    dag, total, _ = random_model(seed, n, 1)
    condition = rng.integers(0, 2, 20000)
    noise = rng.normal(size=(20000, n + 1))
    noise[:, 0] += 1.5 * condition
    table = pd.DataFrame((noise @ total)[:, :n], columns=list("abcde"))
    table["which"] = condition.astype(str)
    found = qwo.discover(table, hidden_causes=True, regime="which", random_state=0)
    causes = np.zeros((n + 1, n + 1), bool)
    causes[:n, :n] = total[:n, :n] != 0
    causes[n, :n] = causes[0, :n]
    tails, heads = np.argwhere(found.pag.marks == TAIL), np.argwhere(found.pag.marks == HEAD)
    right = all(causes[j, i] for i, j in tails) and not any(causes[j, i] for i, j in heads)
    # Variables, the condition, and what is hidden, in that order.
    whole = np.zeros((n + 2, n + 2), np.int8)
    whole[np.ix_([*range(n), n + 1], [*range(n), n + 1])] = dag
    whole[n, 0] = 1
    problem = found.hidden_causes.problem
    mags = found.mag.marks, mag_of_dag(whole, [n + 1])[0]
    costs = [problem.search(mag, found.dag).cost for mag in mags]
    assert right or costs[0] < costs[1] - 1


def test_the_command_line_has_hidden_causes_with_and_without_conditions(tmp_path):
    table = experiment(4000)
    table.to_csv(tmp_path / "all.csv", index=False)
    table.drop(columns="condition").to_csv(tmp_path / "plain.csv", index=False)
    for name, more in (("plain", []), ("all", ["--regime", "condition", "--reference", "base"])):
        out = tmp_path / name
        asked = ["learn", str(tmp_path / f"{name}.csv"), "-o", str(out), "--hidden-causes", *more]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 0, done.output
        # What would be refused is not proposed.
        assert ("--bootstrap" in done.output) == (not more)
        assert "--check" not in done.output
        told = json.loads((out / "result.json").read_text(encoding="utf-8"))
        assert told["bound"] is None
        assert (out / "pag.json").exists()
