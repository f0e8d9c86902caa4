"""The benchmark of the posterior: rows that can be added, kept, and made by any number of jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.posterior import calibration, graphs, rows
from benchmarks.posterior.calibration import BOUNDS, SURE


def square(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "square": number**2}


def test_rows_are_the_same_for_any_number_of_jobs_and_made_once(tmp_path: Path) -> None:
    keys = [("a", k) for k in range(6)]
    for jobs, parts in ((1, (keys[:4], keys)), (2, (keys,))):
        file = tmp_path / f"{jobs}.jsonl"
        for part in parts:
            rows.work_through(file, part, square, jobs=jobs, minutes=np.inf)
        assert len(file.read_text().splitlines()) == 6
    assert rows.load(tmp_path / "1.jsonl") == rows.load(tmp_path / "2.jsonl")
    assert rows.load(tmp_path / "2.jsonl")["a", 5] == {"name": "a", "square": 25}


def test_work_that_finds_no_time_is_left_for_later(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows.work_through(file, [("a", 1)], square, jobs=1, minutes=0.0)
    assert rows.load(file) == {}


def test_bins_add_up_to_the_calibration_error_in_tenths() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(0.1, 0.3, size=3000)
    truth = rng.random(3000) < p**1.5
    counts = calibration.sums(p, truth)
    place = np.minimum((10 * p).astype(int), 9)
    expected = sum(abs(p[place == b].sum() - truth[place == b].sum()) for b in range(10)) / 3000
    binned = (calibration.tenths(np.array(counts[name])) for name in ("count", "p", "true"))
    assert calibration.ece(*binned) == pytest.approx(expected, abs=1e-6)
    assert counts["log_loss"] > 0
    unsure = (p > SURE) & (p < 1 - SURE)
    assert sum(counts["count"][1:-1]) == unsure.sum()
    assert len(counts["count"]) == len(BOUNDS) + 1


def test_a_data_set_is_judged_as_it_is_reported() -> None:
    done = {
        ("prior", 10, k, method): calibration.tallied("prior", 10, k, method)
        for k in range(2)
        for method in ("posterior", "halves")
    }
    # What is not there for every method is left out.
    assert calibration.report(done) == []
    done |= {("prior", 10, k, "replacement"): done["prior", 10, k, "halves"] for k in range(2)}
    done = {tuple(key): row for key, row in json.loads(json.dumps(list(done.items())))}
    reported = calibration.report(done)
    assert {row["sets"] for row in reported} == {2}
    edges = {row["method"]: row for row in reported if row["of"] == "edge"}
    assert edges["posterior"]["worse"] == 0
    assert edges["halves"]["worse"] == pytest.approx(
        edges["halves"]["log_loss"] - edges["posterior"]["log_loss"]
    )
    assert 0 < edges["posterior"]["ece_if_right"] < edges["posterior"]["ece_if_right_95"] < 0.1
    assert np.isnan(edges["halves"]["ece_if_right"])
    assert 0.8 < edges["posterior"]["coverage"] <= 1


def test_a_run_cut_short_has_its_share_of_every_setting() -> None:
    keys = calibration.keys([8, 4])
    assert len(keys) == len(set(keys)) == 3 * (8 + 4 + 4 + 2)
    half = keys[: len(keys) // 2]
    for model, n, count in (("prior", 10, 8), ("prior", 20, 4), ("er", 10, 4), ("er", 20, 2)):
        seen = {k for m, size, k, _ in half if (m, size) == (model, n)}
        assert len(seen) == count / 2


def test_distances_are_those_of_a_data_set_of_the_peers() -> None:
    row = graphs.distance("er", 20, 4, 1000, 0)
    assert row["posterior"] == row["discover"] == 0
    assert row["expected"] < 1
    done = {("er", 20, 4, 1000, seed): row for seed in range(3)}
    [reported] = graphs.report_distances(done)
    assert (reported["sets"], reported["edges"]) == (3, row["edges"])
    assert reported["posterior_nearer"] == reported["posterior_nearer_se"] == 0
