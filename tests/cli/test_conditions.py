"""``qwo learn --regime`` and ``qwo changes``."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import qwo
from tests.cli.running import run
from tests.unit.test_regimes import table


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    table().to_csv(path, index=False)
    return path


def test_conditions_direct_edges_and_are_written(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    done = run("learn", file, "--regime", "batch", "-o", folder, "--no-figures")
    assert done.exit_code == 0, done.stderr
    assert "day 1" in done.stderr
    result = json.loads((folder / "result.json").read_text())
    assert result["edges"] == [["a", "-->", "b"], ["b", "-->", "c"]]
    assert result["data"]["names"] == ["a", "b", "c"]
    assert {row["status"] for row in result["regimes"]["targets"]} >= {"target", "same"}
    assert len((folder / "targets.csv").read_text().splitlines()) == 19


def test_known_targets_are_text(file: Path) -> None:
    done = run("learn", file, "--regime", "batch", "--targets", "day 1=b;day 2=a", "--json")
    assert done.exit_code == 0, done.stderr
    status = {
        (t["regime"], t["variable"]): t["status"]
        for t in json.loads(done.stdout)["regimes"]["targets"]
    }
    assert status["day 1", "b"] == "known"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--regime", "batch", "--relations", "curved", "--posterior"], "--posterior"),
        (["--targets", "day 1=b"], "--regime"),
        (["--regime", "batch", "--targets", "day 1"], "drug=Akt"),
        (["--regime", "night"], "night"),
    ],
)
def test_what_cannot_be_is_said(file: Path, flags: list[str], words: str) -> None:
    done = run("learn", file, *flags)
    assert done.exit_code in (1, 2)
    assert words in done.stderr


def test_resamples_are_drawn_within_conditions(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    flags = ("--regime", "batch", "--reference", "day 0", "-b", "10", "--seed", "1")
    done = run("learn", file, *flags, "-o", folder, "--no-figures")
    assert done.exit_code == 0, done.stderr
    result = json.loads((folder / "result.json").read_text())
    assert result["bootstrap"]["params"]["reference"] == "day 0"
    assert "link 100 %" in done.stdout


def test_a_column_of_targets_is_one_of_conditions(tmp_path: Path) -> None:
    frame = table().rename(columns={"batch": "intervention_targets"})
    frame.intervention_targets = frame.intervention_targets.map({"day 1": "b"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = run("learn", tmp_path / "t.csv", "--targets", "intervention_targets", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["regimes"]["labels"] == ["b", "nothing touched"]
    assert [t["status"] for t in told["regimes"]["targets"]].count("known") == 1


def test_changes_between_two_files(tmp_path: Path) -> None:
    frame = table()
    for day, name in (("day 0", "before"), ("day 1", "after")):
        part = frame[frame.batch == day].drop(columns="batch")
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    done = run("changes", tmp_path / "before.csv", tmp_path / "after.csv")
    assert done.exit_code == 0, done.stderr
    assert "b: mean +" in done.stdout


def test_options_of_conditions_are_those_of_the_library() -> None:
    from qwo.arguments import ConditionArguments
    from qwo.cli.options import CONDITIONS

    assert {*ConditionArguments.__annotations__, "reference"} == CONDITIONS


def test_the_rows_of_each_condition_are_checked(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    flags = ("--regime", "batch", "--check", "--seed", "1", "--no-figures")
    done = run("learn", file, *flags, "-o", folder)
    assert done.exit_code == 0, done.stderr
    checked = json.loads((folder / "result.json").read_text())["check"]
    assert list(checked["conditions"]) == [f"day {r}" for r in range(6)]
    assert "day 5" in (folder / "check.txt").read_text()
    done = run("check", file, folder, "--regime", "batch", "--draws", "20", "--seed", "1")
    assert done.exit_code == 0, done.stderr
    assert "0 of 6 conditions flag a conflict" in done.stdout


def test_conditions_are_simulated(tmp_path: Path) -> None:
    folder = tmp_path / "sim"
    told = "control=;drug=X2;cold=X1:variance,X3"
    flags = ("-n", "5", "-N", "300", "--seed", "4", "--conditions", told)
    done = run("simulate", "-o", folder, *flags)
    assert done.exit_code == 0, done.stderr
    assert "--regime condition" in done.stderr
    learnt = run("learn", folder / "data.csv", "--regime", "condition", "--json")
    found = json.loads(learnt.stdout)["regimes"]
    assert found["labels"] == ["control", "drug", "cold"]
    assert found["rows"] == [300] * 3
    record = json.loads((folder / "result.json").read_text())
    assert record["parameters"]["interventions"]["cold"] == {"X1": "variance", "X3": "shift"}
    own = run("simulate", "--graph", folder / "dag.json", "--conditions", "a=;b=X9", "--json")
    assert "X9" in own.stderr
    assert "drug=X2" in run("simulate", "--conditions", "drug", "--json").stderr


@pytest.mark.parametrize("flags", [[], ["--targets", "day 1=b;day 2=a"]])
def test_commands_on_a_folder_take_the_usual_equations(
    file: Path, tmp_path: Path, flags: list[str]
) -> None:
    folder = tmp_path / "result"
    flags = ["--regime", "batch", "--seed", "0", *flags]
    run("learn", file, *flags, "-o", folder, "--no-figures")
    targets = {"day 1": ["b"], "day 2": ["a"]} if len(flags) > 4 else None
    found = qwo.discover(file, regime="batch", targets=targets, random_state=0)
    told = json.loads(run("effect", file, folder, "a", "c", "--json").stdout)
    assert told["low"] == found.effect("a", "c").low
    fitted = json.loads(run("fit", file, folder, "--json").stdout)
    own = found.fit().edges
    assert [edge["coefficient"] for edge in fitted["edges"]] == [edge.coefficient for edge in own]
    pooled = qwo.fit_sem(pd.read_csv(file).drop(columns="batch"), found.dag).edges
    assert abs(pooled[0].coefficient - own[0].coefficient) > 0.005
    assert "day 1" in run("check", file, folder).stdout
