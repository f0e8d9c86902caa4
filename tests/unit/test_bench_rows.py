"""Rows of benchmarks: measured once, added as they end, gone on with where a run was stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import oracle
from benchmarks.rows import extend_rows, made, read_rows


def test_cells_are_measured_once_and_may_get_new_columns(tmp_path: Path) -> None:
    file, asked = tmp_path / "rows.csv", list[int]()
    cells = [{"kind": "a", "seed": seed} for seed in range(3)]

    def measure(kind: str, seed: int) -> Iterator[dict[str, Any]]:
        asked.append(seed)
        yield {"found": seed / 2, "note": kind if seed == 2 else ""}

    extend_rows(file, cells[:2], measure)
    before = file.read_text(encoding="utf-8")
    rows = extend_rows(file, cells, measure)
    assert asked == [0, 1, 2]
    assert file.read_text(encoding="utf-8").startswith(before)
    assert rows == read_rows(file)
    extend_rows(file, [{"kind": "b", "seed": 0}], lambda **_: [{"time": 1.5}])
    assert [row["time"] for row in read_rows(file)] == ["", "", "", 1.5]


def test_no_cell_is_begun_once_the_time_is_up(tmp_path: Path) -> None:
    cells = [{"seed": seed} for seed in range(3)]
    assert extend_rows(tmp_path / "rows.csv", cells, lambda **_: [{"x": 1}], seconds=-1.0) == []
    assert list(made(abs, [-1, 2], jobs=1, seconds=0.0)) == []
    assert list(made(abs, [-1, 2], jobs=1, seconds=60.0)) == [(0, 1), (1, 2)]


def test_the_benchmark_on_exact_moments_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked `run_many` for what that does no longer offer."""
    monkeypatch.setattr(oracle, "CASES", {"path": (2, oracle.path_case)})
    monkeypatch.setattr(oracle, "EACH", 2)
    file = tmp_path / "oracle.csv"
    monkeypatch.setattr("sys.argv", ["oracle", "--results", str(file), "--minutes", "5"])
    oracle.main()
    assert [(row["kind"], row["first"]) for row in read_rows(file)] == [("path", 0)]
