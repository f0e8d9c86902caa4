"""What ``qwo learn`` has computed is written, whatever happens to pictures, reports and exports."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qwo import moments, plot
from qwo.cli.folder import only_writer
from qwo.resample import Bootstrap, runner
from tests.cli.running import run

TABLES = {"bootstrap.npz", "coefficients.csv", "cpdag.json", "dag.json", "support.csv"}
discover_module = import_module("qwo.discovery.discover")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small table in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    assert run("simulate", "-o", "sim", "-n", 6, "-N", 200, "--seed", 3, "-q").exit_code == 0
    return tmp_path / "sim" / "data.csv"


def renamed(table: Path, name: str) -> Path:
    """The same table with another name of its first column."""
    text = table.read_text(encoding="utf-8")
    file = Path("renamed.csv")
    quoted = name.replace('"', '""')
    file.write_text(text.replace("X0", quoted, 1), encoding="utf-8")
    return file


def listed(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def record(folder: str) -> Any:
    return json.loads(Path(folder, "result.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["%fat", "ends in a backslash\\"])
def test_a_name_that_a_format_cannot_hold_costs_that_format_alone(table: Path, name: str) -> None:
    result = run("learn", renamed(table, name), "-o", "out", "-b", 4)
    assert result.exit_code == 0, result.output
    assert "no file 'dot': DOT cannot hold the name" in result.stderr
    assert listed("out") >= TABLES
    assert not Path("out/dag.dot").exists()
    assert Path("out/report.html").is_file()
    assert run("bootstrap", renamed(table, name), "-r", 4, "-o", "sure").exit_code == 0
    assert Path("sure/support.csv").is_file()


@pytest.mark.parametrize(
    ("failure", "code"),
    [(RuntimeError("no ink"), 3), (KeyboardInterrupt(), 130), (MemoryError(), 3)],
)
def test_a_drawing_that_fails_costs_nothing_else(
    table: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(plot, "plot_graph", fail)
    result = run("learn", table, "-o", "out", "-b", 4)
    assert result.exit_code == code, result.output
    assert listed("out") >= TABLES
    assert set(record("out")["files"]) == {
        path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()
    }
    assert Path("out/report.html").exists() == (code == 3)
    assert not list(Path().glob("out.checkpoint*"))
    assert not list(Path().glob(".out*"))


def test_a_report_that_fails_costs_nothing_else(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr("qwo.report.page.write_contents", fail)
    result = run("learn", table, "-o", "out", "-b", 4)
    assert result.exit_code == 3
    assert "no report: ZeroDivisionError: nothing to divide" in result.stderr
    assert TABLES | {"figures", "dag.dot"} <= listed("out")


def test_the_graph_is_searched_for_once_and_the_file_read_once(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches, nearby, readings = [], [], []
    search, near, read = discover_module.best_penalty, runner.learn_nearby, moments.read_table
    monkeypatch.setattr(
        discover_module, "best_penalty", lambda *a, **k: searches.append(1) or search(*a, **k)
    )
    monkeypatch.setattr(runner, "learn_nearby", lambda *a: nearby.append(1) or near(*a))
    monkeypatch.setattr(moments, "read_table", lambda *a, **k: readings.append(1) or read(*a, **k))
    monkeypatch.setattr(moments, "read_moments", None)
    assert run("learn", table, "-b", 20).exit_code == 0
    assert (len(searches), len(nearby), len(readings)) == (1, 20, 1)


def test_a_bootstrap_goes_on_where_it_was(table: Path) -> None:
    assert run("learn", table, "-o", "out", "-b", 6, "-q").exit_code == 0
    refused = run("learn", table, "-o", "out", "-b", 12)
    assert refused.exit_code == 1
    assert run("learn", table, "-o", "out", "-b", 12, "--resume", "-q").exit_code == 0
    assert run("learn", table, "-o", "whole", "-b", 12, "-q").exit_code == 0
    longer, whole = (Bootstrap.load(f"{name}/bootstrap.npz") for name in ("out", "whole"))
    assert np.array_equal(longer.directed_counts, whole.directed_counts)
    assert longer.fingerprint == whole.fingerprint


def test_a_checkpoint_that_is_left_is_asked_about(table: Path) -> None:
    assert run("learn", table, "-o", "out", "-b", 6, "-q").exit_code == 0
    Path("other.checkpoint.npz").write_bytes(Path("out/bootstrap.npz").read_bytes())
    result = run("learn", table, "-o", "other", "-b", 6)
    assert result.exit_code == 1
    assert "add --resume to go on" in result.stderr
    assert run("learn", table, "-o", "other", "-b", 6, "--resume").exit_code == 0
    assert not Path("other.checkpoint.npz").exists()


@pytest.mark.parametrize("command", ["learn", "simulate", "bootstrap"])
def test_the_current_folder_may_be_the_one_written(
    table: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("here").mkdir()
    monkeypatch.chdir("here")
    what = {"simulate": ["-n", 4], "learn": [table], "bootstrap": [table, "-r", 3]}[command]
    assert run(command, *what, "-o", ".").exit_code == 0
    assert Path("result.json").is_file()
    Path("link").symlink_to(table.parent)
    Path("empty").mkdir()
    Path("mine.txt").write_text("mine", encoding="utf-8")
    assert run(command, *what, "-o", ".", "--force").exit_code == 0
    assert Path("link").is_symlink()
    assert Path("empty").is_dir()
    assert Path("mine.txt").read_text(encoding="utf-8") == "mine"
    assert Path.cwd().is_dir()


@pytest.mark.parametrize("command", ["learn", "bootstrap"])
def test_a_second_writer_to_a_folder_is_refused(table: Path, command: str) -> None:
    pytest.importorskip("fcntl")
    with only_writer(Path("out")):
        result = run(command, table, "-o", "out")
    assert result.exit_code == 1
    assert "another qwo is at work for the folder 'out'" in result.stderr
    assert run(command, table, "-o", "out", "-q").exit_code == 0
    assert not list(Path().glob(".out*"))


def test_a_file_of_the_users_is_never_overwritten_by_an_export(table: Path) -> None:
    Path("out").mkdir()
    Path("out/report.html").write_text("mine", encoding="utf-8")
    result = run("learn", table, "-o", "out", "--force")
    assert "was not written by qwo" in result.stderr
    assert Path("out/report.html").read_text(encoding="utf-8") == "mine"
    assert "report.html" not in record("out")["files"]
    assert Path("out/dag.json").is_file()


def test_a_record_cannot_make_qwo_remove_files_elsewhere(table: Path) -> None:
    Path("precious.txt").write_text("mine", encoding="utf-8")
    Path("out").mkdir()
    files = ["../precious.txt", str(Path("precious.txt").resolve()), "result.json"]
    Path("out/result.json").write_text(json.dumps({"files": files}), encoding="utf-8")
    assert run("learn", table, "-o", "out", "--force", "-q").exit_code == 0
    assert Path("precious.txt").is_file()


def test_a_simulation_is_json_if_that_is_asked_for() -> None:
    result = run("simulate", "-n", 3, "-N", 5, "--seed", 1, "--json")
    document = json.loads(result.stdout)
    assert np.shape(document["data"]) == (5, 3)
    assert np.shape(document["dag"]) == (3, 3)
