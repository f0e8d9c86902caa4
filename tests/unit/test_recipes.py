"""Recipes of columns: copies of earlier rows, regimes, roles; and sums for groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qwo.columns.recipes import Coding, Variable, lagged, regimes
from qwo.moments.moments import Moments
from qwo.moments.readers import open_source
from qwo.moments.reading import TableReading
from qwo.options import ReadOptions
from qwo.types import FloatArray
from tests.helpers.sample import sample_moments

N_ROWS = 700


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    walk = rng.standard_normal((N_ROWS, 2)) @ [[1.0, 0.4], [0.0, 1.0]]
    frame = pd.DataFrame(walk, columns=["a", "b"])
    frame["arm"] = np.array(["none", "drug", "sham"])[rng.integers(0, 3, N_ROWS)]
    return frame


@pytest.fixture
def small_pieces(monkeypatch) -> None:
    monkeypatch.setattr("qwo.moments.sums.BATCH_BYTES", 1 << 10)
    monkeypatch.setattr("qwo.moments.sums.BATCH_ROWS", 1)


def test_a_lag_is_a_given_copy_of_an_earlier_row() -> None:
    names, coding = lagged(("a", "b"), Coding.plain(2), 2)
    assert names == ("a", "b", "a[t-1]", "b[t-1]", "a[t-2]", "b[t-2]")
    assert [v.role for v in coding.variables] == ["searched"] * 2 + ["given"] * 4
    rows = np.arange(10.0).reshape(5, 2)
    columns = coding.columns(rows)
    np.testing.assert_array_equal(columns, np.hstack([rows[2:], rows[1:-1], rows[:-2]]))


def test_a_category_can_lag() -> None:
    _, coding = lagged(("c",), Coding((Variable("nominal", ("x", "y", "z")),)), 1)
    columns = coding.columns(np.array([[2.0], [np.nan], [1.0]]))
    np.testing.assert_array_equal(columns, [[np.nan, np.nan, 0, 1], [1, 0, np.nan, np.nan]])


def test_regimes_are_single_given_indicators() -> None:
    found = regimes("arm", ("none", "drug", "sham"), source=1)
    assert list(found) == ["arm=drug", "arm=sham"]
    coding = Coding((Variable(), *found.values()))
    assert coding.sizes.tolist() == [1, 1, 1]
    assert coding.labels(("a", *found)) == ("a", "arm=drug", "arm=sham")
    columns = coding.columns(np.array([[0.5, 2.0], [0.7, 0.0], [0.9, np.nan]]))
    np.testing.assert_array_equal(columns, [[0.5, 0, 1], [0.7, 0, 0], [0.9, np.nan, np.nan]])


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_lags_carry_rows_over_from_batch_to_batch(
    frame: pd.DataFrame, tmp_path: Path, n_jobs: int
) -> None:
    frame[["a", "b"]].to_csv(tmp_path / "t.csv", index=False)
    options = ReadOptions(n_jobs=n_jobs)
    reader = open_source(tmp_path / "t.csv", options)
    reading = TableReading(reader, options, lambda names, coding: lagged(names, coding, 3))
    found = reading.moments()
    values = frame[["a", "b"]].to_numpy()
    parts = [values[3 - lag : N_ROWS - lag] for lag in range(4)]
    expected = sample_moments(np.hstack(parts))
    assert found.n_samples == N_ROWS - 3
    assert found.names[-1] == "b[t-3]"
    np.testing.assert_array_equal(found.correlation, expected.correlation)


def grouped_sums(
    source: Any, options: ReadOptions, column: str
) -> tuple[Moments, dict[str, tuple[float, FloatArray, FloatArray]]]:
    """Moments of all rows, and for each value of a column N, means and covariances of its rows."""
    reading = TableReading(open_source(source, options), options, group=column)
    moments = Moments._of(reading.moments())
    return moments, {label: sums.covariance() for label, sums in reading.groups.items()}


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_one_pass_has_the_sums_of_each_group(
    frame: pd.DataFrame, tmp_path: Path, n_jobs: int
) -> None:
    frame.to_csv(tmp_path / "t.csv", index=False)
    moments, groups = grouped_sums(tmp_path / "t.csv", ReadOptions(n_jobs=n_jobs), "arm")
    assert moments.names == ("a", "b")
    assert sorted(groups) == ["drug", "none", "sham"]
    for label, (n_rows, means, covariance) in groups.items():
        own = frame.loc[frame["arm"] == label, ["a", "b"]].to_numpy()
        assert n_rows == len(own)
        np.testing.assert_allclose(means, own.mean(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(covariance, np.cov(own.T, bias=True), rtol=1e-12)


def test_groups_may_be_numbers_and_rows_may_have_weights(frame: pd.DataFrame) -> None:
    frame["arm"] = frame["arm"].map({"none": 0, "drug": 1, "sham": 2})
    frame["w"] = 2.0
    moments, groups = grouped_sums(frame, ReadOptions(weights="w"), "arm")
    assert moments.names == ("a", "b")
    assert sum(n_rows for n_rows, _, _ in groups.values()) == 2 * N_ROWS == moments.n_samples
    assert sorted(groups) == ["0", "1", "2"]


def test_a_column_that_a_group_fixes_has_no_variance_there(frame: pd.DataFrame) -> None:
    frame.loc[frame["arm"] == "drug", "a"] = 1.5
    _, groups = grouped_sums(frame, ReadOptions(), "arm")
    _, means, covariance = groups["drug"]
    assert means[0] == 1.5
    assert covariance[0].tolist() == [0.0, 0.0]


@dataclass(frozen=True)
class Squared(Variable):
    """A recipe that the package does not have: the square of a number."""

    power: int = 2

    def columns(self, codes: FloatArray) -> FloatArray:
        return codes[:, None] ** self.power


def test_a_new_recipe_is_a_field_and_what_it_makes_of_rows() -> None:
    rows = np.array([[1.0, 2.0], [3.0, np.nan]])
    columns = Coding((Variable(), Squared())).columns(rows)
    np.testing.assert_array_equal(columns, [[1.0, 4.0], [3.0, np.nan]])


@dataclass(frozen=True)
class WithSquare(Variable):
    """Another: a number and its square, as two columns of one variable."""

    @property
    def size(self) -> int:
        return 2

    def labels(self, name: str) -> tuple[str, ...]:
        return name, f"{name}²"

    def columns(self, codes: FloatArray) -> FloatArray:
        return np.stack([codes, codes**2], axis=1)


def test_a_new_recipe_may_have_several_columns(frame: pd.DataFrame) -> None:
    """Only nominal variables and curves were counted by their size, and levels were looked for."""
    numbers, options = frame[["a", "b"]], ReadOptions()
    reading = TableReading(
        open_source(numbers, options),
        options,
        recipe=lambda names, coding: (names, Coding((WithSquare(), *coding.variables[1:]))),
    )
    moments = reading.moments()
    assert isinstance(moments, Moments)
    assert moments.column_names == ("a", "a²", "b")
    assert moments.has_blocks
    a, b = numbers.to_numpy().T
    np.testing.assert_allclose(moments.means, [a.mean(), (a**2).mean(), b.mean()])
