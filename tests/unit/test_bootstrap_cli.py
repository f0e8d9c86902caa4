"""``qwo bootstrap`` and ``qwo merge``: folders, parts, and runs that go on."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import qwo
from qwo.cli import app
from qwo.resample import Bootstrap, bootstrap

NAMES = [f"V{k}" for k in range(6)]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, degree=2, random_state=2)
    np.savetxt("data.csv", data, delimiter=",", header=",".join(NAMES), comments="")
    return "data.csv"


def call(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    return result


def expected(file: str, n_resamples: int) -> Bootstrap:
    return bootstrap(file, n_resamples=n_resamples, random_state=0)


def test_without_a_folder_the_table_is_printed(file: str) -> None:
    result = call("bootstrap", file, "-r", "10")
    assert result.stdout.startswith("<Bootstrap: 6 variables ('V0', ")
    assert " link  arrow  reverse  undirected  pair" in result.stdout
    assert "read data.csv" in result.stderr
    document = json.loads(call("bootstrap", file, "-r", "10", "--json", "-q").stdout)
    assert document["n_resamples"] == 10
    assert document["variables"] == NAMES


def test_a_folder_has_everything(file: str) -> None:
    call("bootstrap", file, "-r", "20", "-o", "sure", "-f", "graphml", "--threshold", "0.8")
    folder = Path("sure")
    whole = expected(file, 20)
    with (folder / "support.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["first"], row["second"], float(row["link"])) for row in rows] == [
        (record.first, record.second, record.link) for record in whole.to_records()
    ]
    graph = qwo.read_graph(folder / "cpdag.graphml")
    np.testing.assert_array_equal(graph.matrix, whole.consensus_cpdag(0.8))
    np.testing.assert_array_equal(
        qwo.read_graph(folder / "dag.json").matrix, whole.consensus_dag(0.8)
    )
    np.testing.assert_array_equal(
        Bootstrap.load(folder / "bootstrap.npz").directed_counts, whole.directed_counts
    )
    record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert sorted(record["files"]) == sorted(path.name for path in folder.iterdir())
    assert record["threshold"] == 0.8
    assert not Path("sure.checkpoint.npz").exists()


def test_parts_merge_to_the_whole(file: str) -> None:
    for k in (1, 2, 3):
        call("bootstrap", file, "-r", "20", "-o", f"part{k}", "--shard", f"{k}/3", "-q")
    call("merge", "part2", "part1/bootstrap.npz", "part3", "-o", "sure", "-q")
    merged, whole = Bootstrap.load("sure/bootstrap.npz"), expected(file, 20)
    assert merged.status == "complete"
    assert merged.to_records() == whole.to_records()
    result = call("merge", "part1", "part2", code=3)
    assert "6 of 20 replicates are in none of the parts" in result.stderr
    assert "give each shard once" in call("merge", "part1", "part1", code=1).stderr


def test_a_run_goes_on_from_the_folder_and_from_the_checkpoint(file: str) -> None:
    call("bootstrap", file, "-r", "10", "-o", "sure", "-q")
    refused = call("bootstrap", file, "-r", "30", "-o", "sure", code=1)
    assert "is there already" in refused.stderr
    call("bootstrap", file, "-r", "30", "-o", "sure", "--resume", "-q")
    whole = expected(file, 30)
    assert Bootstrap.load("sure/bootstrap.npz").to_records() == whole.to_records()
    # As after a kill: a checkpoint beside a folder that never came to be.
    Path("other.checkpoint.npz").write_bytes(Path("sure/bootstrap.npz").read_bytes())
    refused = call("bootstrap", file, "-r", "40", "-o", "other", code=1)
    assert "add --resume to go on" in " ".join(refused.stderr.split())
    call("bootstrap", file, "-r", "40", "-o", "other", "--resume", "-q")
    assert Bootstrap.load("other/bootstrap.npz").to_records() == expected(file, 40).to_records()
    assert not Path("other.checkpoint.npz").exists()


def test_begin_anew_by_force(file: str) -> None:
    call("bootstrap", file, "-r", "30", "-o", "sure", "-q")
    Path("sure/notes.txt").write_text("mine", encoding="utf-8")
    call("bootstrap", file, "-r", "10", "-p", "1", "-o", "sure", "--force", "-q")
    assert Bootstrap.load("sure/bootstrap.npz").n_resamples == 10
    assert Path("sure/notes.txt").read_text(encoding="utf-8") == "mine"


def test_resuming_with_other_options_is_refused(file: str) -> None:
    call("bootstrap", file, "-r", "10", "-o", "sure", "-q")
    refused = call("bootstrap", file, "-r", "10", "-p", "1", "-o", "sure", "--resume", code=1)
    assert re.search(r"--penalty 1\.\d+ was given then, and not 1\.0", refused.stderr)
    call("bootstrap", file, "-r", "10", "-o", "sure", "--resume", "-q")


def test_warnings_about_the_data_come_once(file: str) -> None:
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    lines[3] = "," + lines[3].partition(",")[2]
    Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = call("bootstrap", file, "-r", "3", "--missing", "drop")
    assert " ".join(result.stderr.split()).count("of 200 rows is left out") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "2/8"], "--shard needs a folder"),
        (["--resume"], "--resume needs a folder"),
        (["--shard", "two", "-o", "x"], "wanted part/parts"),
        (["--shard", "9/8", "-o", "x"], "--shard is 9 of 8; shards are counted from 1, up to 8"),
        (["--resamples", "0"], "--resamples is 0"),
        (["--sample-fraction", "2"], "--sample-fraction is 2"),
        (["--threshold", "2", "-o", "x"], "--threshold is 2"),
        (["--resume", "--force", "-o", "x"], "give one of them"),
        (["--format", "word", "-o", "x"], "word"),
        (["--sample-fraction", "0.3"], "--sample-fraction is 0.3, but half of the rows is a half"),
    ],
)
def test_options_that_do_not_fit(file: str, options: list[str], message: str) -> None:
    assert message in call("bootstrap", file, *options, code=1).stderr
    assert not Path("x").exists()


def test_help_shows_examples() -> None:
    text = call("bootstrap", "--help").output
    assert "qwo merge part*" in text
    assert "--shard" in text
