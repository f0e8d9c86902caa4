"""The measurement of chosen prices, on one small data set, and the page that shows its results."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks import false_edges, price
from benchmarks.price import PAGE, RESULTS, Setting
from benchmarks.rows import read_rows

SMALL = Setting("weak", "er2", 10, 200)


@pytest.fixture(scope="module")
def runs() -> price.Runs:
    found = {}
    for seed in range(2):
        found[SMALL, seed] = dict(price.run(SMALL, seed, ("auto", "c = 2", "c = 3")))
    return found


def test_the_page_shows_what_the_results_say() -> None:
    rows, binned = (read_rows(RESULTS / name) for name in ("price.csv", "price-rates.csv"))
    page = PAGE.read_text()
    for part, content in price.page_parts(rows, binned).items():
        assert f"<!-- begin {part} -->\n\n{content}\n\n" in page, part


def test_the_page_shows_false_edges_of_noise_sparse_and_dense_graphs() -> None:
    rows = read_rows(false_edges.RESULTS)
    assert f"<!-- begin false-edges -->\n\n{false_edges.report(rows)}\n\n" in PAGE.read_text()
    kinds = [kind.name for kind in false_edges.KINDS]
    assert [row["kind"] for row in rows] == [name for name in kinds for _ in false_edges.PRICES]
    for row in rows:
        assert float(row["false"]) <= float(row["edges"])
        if str(row["kind"]).startswith("noise"):
            assert row["false"] == row["edges"]
            assert float(row["expected"]) == pytest.approx(float(row["false"]), rel=0.3)


def test_false_edges_are_counted_with_those_left_out() -> None:
    row = false_edges.counted(false_edges.Kind("noise", 10, 100, 40), "auto")
    assert row["edges"] == row["false"] >= row["left_out"] > 0
    dense = false_edges.Kind("degree 6", 12, 200, 3)
    found, (_, dag) = false_edges.counted(dense, 2.0), dense.draw(0)
    assert found["left_out"] == 0
    assert 0 <= found["false"] < found["edges"]
    assert 16 < dag.sum() < 56


def test_a_summary_compares_on_the_same_data_sets(runs: price.Runs) -> None:
    only_one = {key: dict(found) for key, found in runs.items()}
    del only_one[SMALL, 1]["c = 3"]
    rows = {row["method"]: row for row in price.summary(only_one)}
    assert rows["auto"]["sets"] == 2
    assert rows["c = 3"]["sets"] == 1
    base = runs[SMALL, 0]["c = 2"]["shd"]
    assert rows["c = 3"]["shd"] - rows["c = 3"]["shd_change"] == base
    assert price.change([rows["c = 2"]]) == 1


def test_what_is_written_is_read(runs: price.Runs, tmp_path: Path) -> None:
    rows = price.rates(runs)
    price.write_csv(tmp_path / "rates.csv", rows)
    again = read_rows(tmp_path / "rates.csv")
    error = price.calibration_error(rows, "N > n", "auto")
    assert price.calibration_error(again, "N > n", "auto") == pytest.approx(error, abs=1e-3)
    assert 0 <= error <= 1
    edges = sum(found["auto"]["edges"] for found in runs.values())
    assert sum(row["edges"] for row in again if row["method"] == "auto") == edges


def test_few_data_sets_are_drawn_of_what_takes_long() -> None:
    assert SMALL.sets(20) == 20
    assert Setting("weak", "er2", 200, 500).sets(20) == 5
    assert Setting("faint", "er2", 10, 200).sets(20) == 4
    assert "c = 1.5" in SMALL.methods(3)
    assert "c = 1.5" not in SMALL.methods(4)
    assert "c = 1.5" not in Setting("weak", "er2", 50, 25).methods(0)


@pytest.mark.parametrize(
    ("expected", "false", "fits", "may"),
    [(100, 125, True, True), (100, 140, False, True), (1000, 1400, False, False)],
)
def test_a_cell_may_be_off_by_chance(expected: int, false: int, fits: bool, may: bool) -> None:
    cell = price.Cell("weak", "auto", 50, 100, expected, false)
    assert (cell.fits, cell.may_fit) == (fits, may)


def test_a_loss_counts_beyond_two_standard_errors() -> None:
    row = {"method": "auto", "shd": 10.0, "shd_change": 5.0, "standard_error": 1.0}
    assert price.losses([row]) == [row]
    assert not price.losses([row | {"standard_error": 2.0}])
    assert not price.losses([row | {"standard_error": math.nan}])
