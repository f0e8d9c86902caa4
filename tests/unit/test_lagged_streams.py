"""discover(lags=) on files that are read piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError
from qwo.options import SearchOptions
from qwo.series import sums
from qwo.series.design import lag_moments
from qwo.series.reading import read_series
from qwo.simulation import simulate_series

LIMIT = 50_000_000


@pytest.fixture
def panel() -> pd.DataFrame:
    truth = simulate_series(n_variables=3, n_samples=150, lags=2, units=4, random_state=1)
    parts = [
        pd.DataFrame(rows, columns=list("abc")).assign(
            t=np.arange(150), who=f"u{k}", age=k**2 + 0.5
        )
        for k, rows in enumerate(truth.data)
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[~((frame.who == "u1") & (frame.t == 70))]


def moments_of(source: Any, lags: int, *, within: bool, **reading: Any) -> Any:
    options = SearchOptions(lags=lags, time="t", unit="who")
    return lag_moments(read_series(source, options, reading), lags, within=within)


@pytest.mark.parametrize("sort", ["unit", "time"])
@pytest.mark.parametrize("within", [False, True])
def test_moments_are_those_of_rows_in_memory(
    panel: pd.DataFrame, tmp_path: Path, monkeypatch: Any, sort: str, within: bool
) -> None:
    monkeypatch.setattr(sums, "AT_ONCE", 37)
    frame = panel.sort_values("t", kind="stable") if sort == "time" else panel
    path = tmp_path / "panel.csv"
    frame.to_csv(path, index=False)
    whole = moments_of(frame, 2, within=within)
    pieces = moments_of(str(path), 2, within=within, memory_limit=LIMIT)
    assert pieces.names == whole.names
    assert pieces.n_samples == whole.n_samples
    np.testing.assert_allclose(pieces.correlation, whole.correlation, atol=1e-9)
    np.testing.assert_allclose(pieces.scales, whole.scales, rtol=1e-9)


def test_a_streamed_file_gives_the_graph_of_the_table(panel: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "panel.csv"
    panel.to_csv(path, index=False)
    how: Any = {"lags": 2, "time": "t", "unit": "who", "random_state": 0}
    whole = qwo.discover(panel, **how)
    pieces = qwo.discover(path, memory_limit=LIMIT, **how)
    assert np.array_equal(pieces.series.matrices, whole.series.matrices)
    assert pieces.series.static == whole.series.static == ("age",)
    assert pieces.series.n_rows == whole.series.n_rows
    np.testing.assert_allclose(pieces.fit().coefficients, whole.fit().coefficients, atol=1e-8)
    assert pieces.lagged["support"].isna().all()
    with pytest.raises(ArgumentError, match="piece by piece"):
        pieces.series.responses()
    assert pieces.series.responses(n_resamples=0).values.shape[0] == 13


def test_rows_left_out_end_a_series_in_a_streamed_file(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sums, "AT_ONCE", 50)
    rows = simulate_series(n_variables=3, n_samples=400, lags=1, random_state=2).data
    rows[[100, 101, 250], 1] = np.nan
    path = tmp_path / "one.csv"
    pd.DataFrame(rows, columns=list("abc")).to_csv(path, index=False)
    how: Any = {"lags": "auto", "missing": "drop", "random_state": 0}
    with pytest.warns(qwo.DataWarning):
        whole = qwo.discover(str(path), **how)
    with pytest.warns(qwo.DataWarning):
        pieces = qwo.discover(str(path), memory_limit=LIMIT, **how)
    assert pieces.series.lags == whole.series.lags
    assert np.array_equal(pieces.series.matrices, whole.series.matrices)


def test_what_a_stream_cannot_do_is_said(panel: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "panel.csv"
    panel.sample(frac=1, random_state=0).to_csv(path, index=False)
    how: Any = {"lags": 1, "time": "t", "unit": "who", "memory_limit": LIMIT}
    with pytest.raises(ArgumentError, match="order of time"):
        qwo.discover(path, **how)
    with pytest.raises(ArgumentError, match="whole series"):
        qwo.discover(path, difference=["a"], **how)
