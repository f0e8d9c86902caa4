"""The benchmark on thin graphs: its figures, what it keeps, and what the pages say of it."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from benchmarks import oracle, thin
from benchmarks.peers.thin import NAMES
from benchmarks.rows import read_rows


def record(method: str, score: float, *, seed: int = 0, cpu: float = 1.0) -> thin.Record:
    figures = ("path-weak", 50, seed, method, score, 10.0, 3.0, cpu)
    return dict(zip(thin.COLUMNS, figures, strict=True))


RECORDS = [
    record("qwo", 12.0),
    record("FLOP, 20 restarts", 11.0, cpu=4.0),
    record("qwo, before", 9.0, cpu=0.5),
    record("qwo", 8.0, seed=1),
    record("FLOP, 20 restarts", np.nan, seed=1, cpu=60.0),
]


def test_the_best_known_is_that_of_all_runs_and_of_the_truth() -> None:
    scores = thin.Scores(RECORDS)
    assert scores.gaps("qwo", thin.is_thin) == [0.0, 2.0]
    assert scores.worse("qwo", "truth", thin.is_thin) == (1, 2)
    assert scores.worse("qwo", "FLOP, 20 restarts", thin.is_thin) == (0, 1)
    assert scores.times("qwo", "qwo, before", thin.is_thin) == 2.0
    assert "below the best score known on 1 (50.0%), below the truth's on 1" in thin.summary(scores)


def test_runs_that_are_made_anew_stay_known() -> None:
    kept = thin.retire(RECORDS, ["qwo"])
    assert [r["method"] for r in kept].count(thin.EARLIER) == 2
    assert thin.Scores([*kept, record("qwo", 11.5)]).gaps("qwo", thin.is_thin) == [0.5]
    assert thin.retire(kept, []) == kept


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    thin.write(RECORDS, tmp_path / "rows.csv")
    ordered = sorted(RECORDS, key=lambda r: (r["seed"], r["method"]))
    for found, written in zip(read_rows(tmp_path / "rows.csv"), ordered, strict=True):
        assert found == pytest.approx(written, nan_ok=True)


def test_it_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured: list[tuple[thin.Problem, str]] = []

    def measure(problem: thin.Problem, methods: list[thin.Method], *_: object) -> list[thin.Record]:
        measured.extend((problem, method.name) for method in methods)
        return []

    monkeypatch.setattr(thin, "measure", measure)
    arguments = argparse.Namespace(
        only=["qwo"],
        largest=50,
        minutes=np.inf,
        limit=1.0,
        results=tmp_path / "rows.csv",
        jobs=3,
    )
    thin.complete([record("qwo", 1.0)], {"qwo": Path("python")}, arguments)
    assert (("path-weak", 50, 0), "qwo") not in measured
    assert len(measured) == 10 * (len(NAMES) + len(thin.RANDOM)) - 1


@pytest.mark.parametrize("family", ["path-weak", "scale-free-out"])
def test_a_data_set_is_a_function_of_its_name(family: str) -> None:
    one, other = (thin.draw((family, 20, 3)) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    assert one[1].sum() >= 19


def test_the_page_on_the_search_is_made_of_the_rows() -> None:
    """`python -m benchmarks.thin --report` writes it."""
    assert thin.report(read_rows(thin.RESULTS)).strip() in thin.PAGE.read_text()


def test_the_page_of_evidence_says_what_the_rows_say() -> None:
    page = (thin.ROOT / "docs/benchmarks/index.md").read_text()
    assert thin.headline(read_rows(thin.RESULTS)) in " ".join(page.split())


def test_the_page_on_the_search_says_what_the_oracle_said() -> None:
    rows, page = read_rows(oracle.RESULTS), " ".join(thin.PAGE.read_text().split())
    done = {kind: [row for row in rows if row["kind"] == kind] for kind in oracle.CASES}
    wrong, worse = (
        [seed for row in done["random"] for seed in str(row[column]).split()]
        for column in ("wrong", "worse")
    )
    assert f"Of {100 * len(done['random']):,} random models {len(wrong)} came out" in page
    assert f"of {100 * len(done['path']):,} paths none" in page
    assert f"{len(wrong) - len(worse)} of the {len(wrong)} have an edge too few" in page
    assert len(worse) == 1
    assert not any(row["wrong"] for row in done["path"])


def test_the_oracle_tells_classes_that_are_not_the_true_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oracle, "EACH", 3)
    assert oracle.examine(("path", 0))["wrong"] == ""
    covariance, dag = oracle.random_case(4)
    monkeypatch.setitem(oracle.CASES, "random", (3, lambda _: (covariance, np.zeros_like(dag))))
    turned = oracle.examine(("random", 0))
    assert (turned["wrong"], turned["worse"]) == ("0 1 2", "")
