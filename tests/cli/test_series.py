"""qwo learn --lags: rows in the order of time."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.series.autoregression import FittedAutoregression
from qwo.simulation import simulate_series
from tests.cli.running import run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    truth = simulate_series(n_variables=3, n_samples=300, lags=1, random_state=1)
    frame = pd.DataFrame(truth.data, columns=["a", "b", "c"])
    frame["day"] = pd.date_range("2021-01-01", periods=300).astype(str)
    path = tmp_path / "series.csv"
    frame.to_csv(path, index=False)
    return path


def test_lagged_effects_are_written_and_told(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    flags = ["--lags", "1", "--time", "day", "--bootstrap", "4"]
    done = run("learn", file, *flags, "-o", folder, "--no-figures")
    assert done.exit_code == 0, done.stderr
    assert "Effects of earlier rows (1 lag, 299 rows)" in done.stderr
    rows = list(csv.DictReader((folder / "lagged.csv").read_text().splitlines()))
    assert {("a", "a", "1"), ("b", "b", "1")} <= {(r["cause"], r["effect"], r["lag"]) for r in rows}
    told = json.loads((folder / "result.json").read_text())
    assert told["series"]["lags"] == 1
    assert len(told["series"]["effects"]) == len(rows)
    assert (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--time", "day"], "--lags auto"),
        (["--lags", "x", "--time", "day"], "auto"),
        (["--lags", "1", "--time", "day", "--check"], "independent"),
        (["--lags", "1", "--time", "day", "--within"], "one series"),
    ],
)
def test_what_cannot_be_is_said(file: Path, flags: list[str], words: str) -> None:
    done = run("learn", file, *flags)
    assert done.exit_code != 0
    assert words in done.stderr


def test_options_of_series_are_those_of_the_library() -> None:
    from qwo.arguments import SeriesArguments
    from qwo.cli.options import SERIES

    assert set(SeriesArguments.__annotations__) == SERIES


def test_a_panel_from_a_shuffled_file(tmp_path: Path) -> None:
    truth = simulate_series(n_variables=3, n_samples=50, units=20, lags=1, random_state=2)
    parts = []
    for u, rows in enumerate(truth.data):
        part = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(patient=f"p{u}", old=u % 2)
        part["day"] = pd.date_range("2021-01-01", periods=50).astype(str)
        parts.append(part if u else part.drop(index=20))
    path = tmp_path / "panel.csv"
    pd.concat(parts).sample(frac=1, random_state=0).to_csv(path, index=False)
    flags = ["--lags", "1", "--time", "day", "--unit", "patient", "--seed", "0"]
    told = run("learn", path, *flags).stderr
    assert "--within gives each unit a mean of its own" in told
    assert "rows were not in the order of time" in told
    assert "unusual steps of time: 1 of 979" in told
    pd.concat(parts).replace({"b": {parts[0].b.iloc[3]: None}}).to_csv(path, index=False)
    missed = run("learn", path, *flags)
    assert "--missing em" in missed.stderr
    assert "--drop day" not in missed.stderr
    pd.concat(parts).to_csv(path, index=False)
    done = run("learn", path, *flags, "--within", "-o", tmp_path / "out", "--no-figures")
    assert done.exit_code == 0, done.stderr
    told = json.loads((tmp_path / "out" / "result.json").read_text())["series"]
    assert (told["n_units"], told["n_series"], told["static"]) == (20, 21, ["old"])
    found = {(e["cause"], e["effect"], e["lag"]) for e in told["effects"] if e["lag"]}
    edges = zip(*truth.graph[1].nonzero(), strict=True)
    assert found == {("abc"[i], "abc"[j], 1) for i, j in edges}


def test_options_that_change_series_and_curves(file: Path) -> None:
    flags = ["--lags", "auto", "--time", "day", "--seed", "0"]
    for more in (
        ["--season", "7"],
        ["--detrend", "a,b"],
        ["--difference", "a"],
        ["--relations", "curved"],
        ["--arrows", "noise"],
        ["--time-limit", "20"],
    ):
        done = run("learn", file, *flags, *more)
        assert done.exit_code == 0, done.stderr
        assert "Effects of earlier rows" in done.stderr
    audit = run("audit", file, "--drop", "day")
    assert "--lags auto" in audit.stdout + audit.stderr


def test_commands_on_a_folder_answer_as_the_result_does(file: Path, tmp_path: Path) -> None:
    folder, flags = tmp_path / "result", ["--lags", "1", "--time", "day", "--seed", "0"]
    rows = pd.read_csv(file)
    rows.assign(c=rows.c + rows.b.shift(1).fillna(0)).to_csv(file, index=False)
    known = ["--forbid", "c,a"]
    learnt = run("learn", file, *flags, *known, "-o", folder, "--no-figures", "--outcome", "c")
    assert learnt.exit_code == 0, learnt.stderr
    found = qwo.discover(file, lags=1, time="day", random_state=0)
    listed = json.loads((folder / "result.json").read_text())["outcome"]["effects"]
    assert [own["cause"] for own in listed] == [own.cause for own in found.causes_of("c")]
    told = json.loads(run("effect", file, folder, "b", "c", "--json").stdout)
    assert told["low"] == float(found.effect("b", "c")) != 0
    fitted = json.loads(run("fit", file, folder, "--json").stdout)
    model = found.fit()
    assert isinstance(model, FittedAutoregression)
    assert [tuple(own.values()) for own in fitted["edges"]] == model.records()
    done = run("check", file, folder)
    assert done.exit_code == 1
    assert "independent" in done.stderr
    other = tmp_path / "other.csv"
    rows.assign(c=rows.a + 0.1 * rows.c).to_csv(other, index=False)
    assert "learn it anew" in run("effect", other, folder, "b", "c").stderr


def test_effects_of_earlier_rows_alone_are_no_empty_result(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(300, 2))
    values[1:, 1] += values[:-1, 0]
    path = tmp_path / "late.csv"
    pd.DataFrame(values, columns=["a", "b"]).to_csv(path, index=False)
    told = run("learn", path, "--lags", "1", "--bootstrap", "5").stderr
    assert "no link within one row, and 1 effect of earlier rows on others" in told
    assert "penalty" not in told.partition("verdict")[2].partition("assumes")[0]
    assert "a[t-1]  -->  b" in told
    assert "in 100% of resamples" in told


def test_a_column_of_dates_may_be_that_of_time(file: Path) -> None:
    done = run("learn", file)
    assert "--time day says when each row was taken, together with lags" in done.stderr
    assert "try:   --drop day\n" in done.stderr


def test_slow_series_are_not_said_to_bend(tmp_path: Path) -> None:
    """Walks look bent over each other, whatever their relations."""
    walks = np.random.default_rng(3).normal(size=(400, 4)).cumsum(axis=0)
    pd.DataFrame(walks, columns=list("abcd")).to_csv(tmp_path / "walks.csv", index=False)
    assert "relations bend" in run("audit", tmp_path / "walks.csv").stdout
    told = run("learn", tmp_path / "walks.csv", "--lags", "1").stderr
    assert "relations bend" not in told
