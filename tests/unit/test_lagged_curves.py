"""discover(lags=, relations="curved"): functions of earlier rows as causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError
from qwo.inspection.findings import FARTHEST, independent_share
from qwo.report import write_report
from qwo.series.stationarity import dickey_fuller
from qwo.simulation import simulate_series


def bent(seed: int, rows: int = 800) -> pd.DataFrame:
    """A square of a, three rows earlier, acts on b, and a wave of b on c within the row."""
    rng = np.random.default_rng(seed)
    x, e = np.zeros((rows, 3)), rng.normal(size=(rows, 3))
    for t in range(3, rows):
        x[t, 0] = 0.5 * x[t - 1, 0] + e[t, 0]
        x[t, 1] = 0.3 * x[t - 1, 1] + 0.5 * x[t - 3, 0] ** 2 + e[t, 1]
        x[t, 2] = 0.4 * x[t - 1, 2] + 1.5 * np.cos(2 * x[t, 1]) + 0.5 * e[t, 2]
    return pd.DataFrame(x, columns=list("abc"))


@pytest.fixture(scope="module")
def curved() -> Any:
    return qwo.discover(bent(1), lags="auto", relations="curved", random_state=0)


@pytest.mark.parametrize("seed", [2, 3])
def test_curved_effects_of_earlier_rows_are_found(seed: int) -> None:
    frame = bent(seed)
    lines = qwo.discover(frame, lags="auto", random_state=0)
    assert lines.series.lags == 1
    found = qwo.discover(frame, lags="auto", relations="curved", random_state=0)
    wanted = np.zeros((4, 3, 3), np.int8)
    wanted[1] = np.eye(3)
    wanted[3, 0, 1] = wanted[0, 1, 2] = 1
    assert np.array_equal(found.series.matrices, wanted)
    assert found.edges == (("b", "-->", "c"),)


def test_what_is_told_of_curved_lags(curved: Any, tmp_path: Path) -> None:
    assert set(curved.readings) == {"curves", "noise", "series"}
    assert curved.params["relations"] == "curved"
    assert curved.params["basis"] == curved.curves.size > 1
    shares = curved.curves.to_frame().set_index(["source", "target"])
    assert shares.loc[("a[t-3]", "b"), "curved"] > 0.2 > shares.loc[("a[t-3]", "b"), "linear"]
    drawn = curved.curve("a[t-3]", "b")
    assert drawn.y[50] < drawn.y[0]
    assert drawn.y[50] < drawn.y[-1]
    truth = 0.5 * (drawn.x**2 - np.mean(bent(1)["a"] ** 2))
    assert ((drawn.low <= truth) & (truth <= drawn.high)).mean() > 0.7
    own = curved.lagged.set_index(["cause", "effect", "lag"])
    assert own.loc[("a", "b", 3), "support"] > 0.9
    assert "a[t-3]" in str(curved.fit())
    assert curved.graph.values["curved_share"].shape == (3, 3)
    write_report(tmp_path / "report.html", curved)
    assert "a[t-3]" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_lines_stay_lines() -> None:
    truth = simulate_series(n_variables=4, n_samples=800, lags=2, random_state=2)
    plain = qwo.discover(truth.data, lags=2, arrows="noise", random_state=0)
    found = qwo.discover(truth.data, lags=2, relations="curved", random_state=0)
    assert found.curves.size == 1
    assert np.array_equal(found.series.matrices, plain.series.matrices)


def test_columns_are_as_many_as_asked_for_and_knowledge_holds() -> None:
    found = qwo.discover(
        bent(4),
        lags=3,
        relations="curved",
        arrows="class",
        columns=3,
        knowledge={"forbidden": [(("a", -3), "b")]},
        random_state=0,
    )
    assert found.curves.size == 3
    assert found.noise is None
    assert not found.series.matrices[3, 0, 1]


def test_what_curved_lags_do_not_do_is_said(curved: Any, tmp_path: Path) -> None:
    frame = bent(1)
    with pytest.raises(ArgumentError, match="depends on where all of them are"):
        curved.effect("a", "b")
    half = frame.assign(period=np.where(frame.index < 400, "before", "after"))
    with pytest.raises(ArgumentError, match="one condition tell of curves"):
        qwo.discover(half, lags=1, relations="curved", regime="period")
    with pytest.raises(ArgumentError, match="complete rows"):
        qwo.discover(frame, lags=1, relations="curved", missing="em")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ArgumentError, match="piece by piece"):
        qwo.discover(tmp_path / "rows.csv", lags=1, relations="curved", memory_limit=1_000_000_000)


def test_dickey_fuller_is_a_regression() -> None:
    rng = np.random.default_rng(0)
    series = np.stack([rng.normal(size=120).cumsum(), rng.normal(size=120), np.arange(120.0)])
    series[2] += rng.normal(size=120)
    series = (series - series.mean(axis=1)[:, None]) / series.std(axis=1)[:, None]
    most = 12
    found = dickey_fuller(series)
    for k, own in enumerate(series):
        change = np.diff(own)
        rows = len(change) - most
        earlier = [change[most - i : len(change) - i] for i in range(1, most + 1)]
        for line, place in ((False, 0), (True, 1)):
            base = [np.ones(rows), own[most:-1], *([np.linspace(-1, 1, rows)] if line else [])]
            best = (np.inf, 0.0, 0.0)
            for used in range(most + 1):
                design = np.stack([*base, *earlier[:used]], axis=1)
                slopes, *_ = np.linalg.lstsq(design, change[most:], rcond=None)
                left = np.sum((change[most:] - design @ slopes) ** 2)
                bic = rows * np.log(left) + design.shape[1] * np.log(rows)
                spread = left / (rows - design.shape[1]) * np.linalg.inv(design.T @ design)
                ratios = slopes / np.sqrt(np.diagonal(spread))
                if bic < best[0]:
                    best = (bic, ratios[1], ratios[2] if line else 0.0)
            assert found[place][k] == pytest.approx(best[1], rel=1e-3)
            if line:
                assert found[2][k] == pytest.approx(best[2], rel=1e-3)


def test_the_share_that_counts_is_bartletts() -> None:
    rng = np.random.default_rng(1)
    lengths = np.array([0, 300, 40, 260])
    values = np.zeros((3, 600))
    starts = np.cumsum(lengths) - lengths
    for t in range(600):
        before = 0 if t in starts else 0.8 * values[:, t - 1]
        values[:, t] = before + rng.normal(size=3)
    centred = values - values.mean(axis=1)[:, None]
    total = np.zeros((3, 3))
    for lag in range(1, FARTHEST + 1):
        parts = [centred[:, s : s + m] for s, m in zip(starts, lengths, strict=True) if m > lag]
        r = sum((p[:, lag:] * p[:, :-lag]).sum(axis=1) for p in parts)
        r = r / (centred**2).sum(axis=1)
        r[np.abs(r) < 2 / np.sqrt(600)] = 0
        total += np.outer(r, r)
    share = 1 / np.median(1 + 2 * total[np.triu_indices(3, 1)])
    assert independent_share(values, lengths) == pytest.approx(share)
    assert independent_share(rng.normal(size=(3, 500))) > 0.9
