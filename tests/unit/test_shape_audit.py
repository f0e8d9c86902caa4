"""Notes on columns that are far from normal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from qwo.inspection.checks import Scores
from qwo.moments import Moments, audit_data


def shape(column: np.ndarray) -> tuple[float, float]:
    skewness, excess = Scores.of(np.reshape(column, (-1, 1))).shapes()
    return float(skewness[0]), float(excess[0])


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((400, 4)) @ (np.eye(4) + 0.3)


def test_shape_is_that_of_scipy_in_any_unit(data):
    column = np.exp(data[:, 0])
    for unit in (1e-100, 1.0, 1e100):
        found = shape(np.append(column * unit, [np.nan, np.inf]))
        assert found == pytest.approx((skew(column), kurtosis(column)), rel=1e-9)


@pytest.mark.parametrize("column", [np.zeros(50), np.full(50, 7.3), np.array([]), np.arange(9.0)])
def test_columns_without_a_shape(column):
    assert shape(column) == (0.0, 0.0)


def test_normal_columns_are_not_mentioned(data):
    assert audit_data(data).findings == ()


def test_skewed_columns_are_a_note_and_no_warning(data):
    data[:, 1:3] = np.exp(1.5 * data[:, 1:3])
    note, bent = audit_data(data).findings
    assert (bent.code, bent.severity) == ("curved", "note")
    assert (note.code, note.severity, note.columns) == ("non-gaussian", "note", ("X1", "X2"))
    assert f"'X1' (skewness {skew(data[:, 1]):.1f}), 'X2' (" in note.message
    assert note.message.startswith("2 of 4 columns are far from normal")
    assert [cure.value for cure in note.cures] == [
        {"X1": "log", "X2": "log"},
        {"X1": "rank-normal", "X2": "rank-normal"},
        "noise",
    ]
    assert audit_data(data).notes == (note, bent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Moments.from_data(data)


def test_heavy_tails_of_both_signs(data):
    data[200:, 0] = -data[:200, 0]
    data[:, 0] **= 3
    [note] = audit_data(data).notes
    assert note.message.startswith("1 of 4 columns is far from normal: 'X0' (excess kurtosis ")
    assert [cure.value for cure in note.cures] == [{"X0": "rank-normal"}, "noise"]


def test_the_logarithm_is_for_long_tails_to_the_right(data):
    data[:, 0] = 1e3 - np.exp(1.5 * data[:, 0])
    [note] = audit_data(data).notes
    assert "(skewness -" in note.message
    assert [cure.value for cure in note.cures] == [{"X0": "rank-normal"}, "noise"]


def test_two_values_are_no_matter_of_shape(data):
    data[:, 0] = data[:, 0] > 2.5
    assert abs(skew(data[:, 0])) > 3
    assert [finding.code for finding in audit_data(data).findings] == ["binary"]


def test_errors_come_first(data):
    data[:, 0], data[:, 1] = 1.0, np.exp(2 * data[:, 1])
    assert [finding.code for finding in audit_data(data).findings] == ["constant", "non-gaussian"]


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_missing_values_do_not_count(data, missing):
    data[:, 1] = np.exp(2 * data[:, 1])
    data[:3, 1] = np.nan
    audit = audit_data(data, missing=missing)
    assert [finding.code for finding in audit.findings] == ["missing-values", "non-gaussian"]
