"""The whole command: interrupted, continued, and shown."""

from __future__ import annotations

import csv
import json
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from qwo.cli.options import with_option_groups
from qwo.datasets import load_network
from qwo.errors import ArgumentError
from qwo.reproduction.aggregate import Cells, cells_as_csv
from qwo.reproduction.command import _mention_left_out
from qwo.reproduction.command import reproduce as command
from qwo.reproduction.page import render
from qwo.reproduction.paper import load_paper_figures, load_paper_table2
from qwo.reproduction.runner import Reproduction, Tally, reproduce
from qwo.reproduction.store import ResultStore
from qwo.reproduction.tasks import COLUMNS

OWN = ["*/qwo", "*/bic", "default"]
SMALL = {"only_methods": OWN, "profile": "quick", "graphs": 2}


def numbers(folder):
    rows = ResultStore(folder / "runs.csv", COLUMNS).rows()
    cost = ("wall", "cpu", "memory", "prepared")
    return {
        key: {name: value for name, value in row.outcome.items() if name not in cost}
        for key, row in rows.items()
    }


def run_app(*arguments):
    app = typer.Typer()
    app.command()(with_option_groups(command))
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


KILLED = """
import os, signal
from qwo.reproduction.runner import Reproduction, reproduce
from qwo.reproduction.runner import Tally
from qwo.reproduction.store import ResultStore

append, rows = ResultStore.append, []

def die_in_the_midst_of_a_line(self, row):
    rows.append(row)
    if len(rows) == 30:
        os.write(self._file, b'{"run": {"kind": "sea')
        os.kill(os.getpid(), signal.SIGKILL)
    append(self, row)

ResultStore.append = die_in_the_midst_of_a_line
reproduce(["table2"], folder=%r, **%r)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_in_the_middle_and_started_again_it_ends_with_the_same_numbers(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    died = subprocess.run([sys.executable, "-c", KILLED % (str(broken), SMALL)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(numbers(broken)) == 29
    assert not (broken / "index.md").exists()
    reproduce(["table2"], folder=broken, **SMALL)
    reproduce(["table2"], folder=whole, **SMALL)
    assert len(numbers(whole)) == 60
    assert numbers(broken) == numbers(whole)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    methods = [a for pattern in OWN for a in ("--only-methods", pattern)]
    result = run_app("er2", "table2", "-o", folder, "--graphs", 2, "--json", *methods)
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


def test_every_row_tells_where_it_comes_from(done):
    folder, _ = done
    for row in ResultStore(folder / "runs.csv", COLUMNS).rows().values():
        assert {"seed", "method", "n_variables", "n_samples", "noise"} <= row.run.keys()
        assert {"skf1", "pshd", "wall", "cpu", "memory", "status", "budget"} <= row.outcome.keys()
        assert {"qwo", "python", "numpy", "core", "commit", "processor"} <= row.record.keys()
        assert row.outcome["status"] == "done"


def test_the_page_shows_means_beside_the_paper_s_numbers(done):
    folder, document = done
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert document["page"] == str(folder / "index.md")
    runs = ResultStore(folder / "runs.csv", COLUMNS).rows().values()
    mine = [
        r.outcome["skf1"]
        for r in runs
        if r.run["method"] == "hc/qwo" and r.run["graph"] == "survey"
    ]
    assert len(mine) == 2
    line = next(line for line in page.splitlines() if line.startswith("| QWO: HC, our order"))
    assert line.split("|")[3].strip().startswith(f"{statistics.mean(mine):.2f} ± ")
    assert line.split("|")[3].strip().endswith("(0.92)")
    for name in ("gaussian-qwo.png", "gaussian-bic.png"):
        assert f"]({name})" in page
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert "oracle.png" not in page


def test_compact_results_have_a_line_for_each_point(done):
    folder, _ = done
    with (folder / "results-searches.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["graphs"] for line in lines} == {"2"}
    points = [
        r.run | {"seed": 0} for r in ResultStore(folder / "runs.csv", COLUMNS).rows().values()
    ]
    assert len(lines) == len({json.dumps(point, sort_keys=True) for point in points})


def test_a_point_that_was_cut_off_is_shown_as_such(done):
    folder, _ = done
    rows = list(ResultStore(folder / "runs.csv", COLUMNS).rows().values())
    slow = next(r for r in rows if r.run["method"] == "hc/bic" and r.run["graph"] == "asia")
    cut = slow._replace(outcome={"status": "cut off", "budget": 5.0, "cpu": 5.0})
    cells = Cells([cut if row is slow else row for row in rows])
    page = render(cells, rows, [])
    line = next(line for line in page.splitlines() if line.startswith("| BIC: HC, our engine"))
    assert line.split("|")[4].strip() == "cut off at 5 s (1 of 2 ended) (0.94)"
    lines = csv.DictReader(cells_as_csv(cells.select(kind="search")).splitlines())
    (found,) = [line for line in lines if line["cut_off_at"]]
    assert (found["graph"], found["graphs"], found["skf1_mean"]) == ("asia", "1", "")


def test_the_page_alone_changes_nothing(done):
    folder, _ = done
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run_app("--page", "-o", folder, "--quiet")
    assert result.exit_code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_without_runs_there_is_no_page(tmp_path):
    with pytest.raises(ArgumentError, match="there are no runs in"):
        reproduce(folder=tmp_path, page_only=True)


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="--profile is 'slow'"):
        reproduce(profile="slow", folder=tmp_path)
    with pytest.raises(ArgumentError, match="no item 'er9'"):
        reproduce(["er9"], folder=tmp_path)
    with pytest.raises(ArgumentError, match="--compare-python is"):
        reproduce(["er2"], folder=tmp_path, compare_python=tmp_path / "python")
    with pytest.raises(ArgumentError, match="which has no QWO"):
        reproduce(["er2"], folder=tmp_path, authors_code=tmp_path)
    with pytest.raises(ArgumentError, match="no method fits --only-methods"):
        reproduce(["er2"], folder=tmp_path, only_methods=["nonsense"])


def test_the_paper_s_points_are_read():
    points = load_paper_figures()
    assert len(points) == 270
    assert {p.n_variables for p in points} == {5, 10, 20, 30, 40, 50, 75, 100, 150}
    hc = next(p for p in points if p[:4] == ("ER4", "SKF1", "HC-QWO", 100))
    assert hc.value == pytest.approx(0.722, abs=1e-3)


def test_table_2_of_the_paper_has_whole_changes_and_an_f1_that_no_single_graph_gives():
    """The page says so: every PSHD is a whole number of changes divided by n, to two digits."""
    both = [(a, b) for a in range(11) for b in range(11) if a + b]
    possible = {2 * t / (a + b) for a, b in both for t in range(min(a, b) + 1)}
    assert max(f1 for f1 in possible if f1 < 1) == 18 / 19
    assert ("ER2", "QWO", "HC", "SKF1", 0.97) in load_paper_table2()
    cells = [cell for cell in load_paper_table2() if cell.metric == "PSHD"]
    assert len(cells) == 40
    for cell in cells:
        n = 5 if cell.graph == "ER2" else load_network(cell.graph).n_variables
        assert abs(cell.value - round(cell.value * n) / n) < 0.01, cell


def test_what_is_left_out_is_named(capsys):
    lacking = Tally(0, 0, 0, 0, 9, (), ("FLOP", "causal-learn", "the authors' code"))
    _mention_left_out(Reproduction(Path("page"), Path("runs"), {"er2": lacking}))
    said = " ".join(capsys.readouterr().err.split())
    assert "FLOP and causal-learn are not installed, so their rows are left out" in said
    assert "without --authors-code" in said


def test_an_interruption_says_that_the_runs_are_kept(tmp_path, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("qwo.reproduction.runner.reproduce", interrupted)
    result = run_app("table2", "-o", tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on" in " ".join(result.stderr.split())
