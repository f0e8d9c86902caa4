"""Moments by shifted products are those of the rows stacked beside the rows before them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.series.sums import lag_sums, row_numbers, stacked_rows, usable_rows


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_lags=st.integers(0, 5),
    step=st.integers(1, 4),
    lengths=st.lists(st.integers(1, 60), min_size=1, max_size=6),
)
def test_shifted_products_are_those_of_stacked_rows(
    seed: int, n_lags: int, step: int, lengths: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    ends = np.cumsum(lengths)
    bounds = np.stack([ends - lengths, ends], axis=1)
    rows = rng.standard_normal((sum(lengths), 3)).cumsum(axis=0) + 1e4
    count = usable_rows(np.array(lengths), n_lags, step)
    if count < 2:
        return
    lagged = np.array([0, 2])
    sums = lag_sums(rows, bounds, n_lags, step=step, lagged=lagged)
    stacked = stacked_rows(rows, bounds, n_lags, step=step, lagged=lagged)
    assert sums.rows == len(stacked) == count == len(row_numbers(bounds, n_lags * step))
    np.testing.assert_allclose(sums.means, stacked.mean(axis=0), rtol=1e-12)
    wanted = np.cov(stacked.T, bias=True)
    np.testing.assert_allclose(sums.covariance, wanted, atol=1e-8 * np.abs(wanted).max())


def test_fewer_lags_on_the_same_rows_are_the_first_columns() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 2))
    bounds = np.array([[0, 50]])
    many = lag_sums(rows, bounds, 3)
    few = lag_sums(rows[2:], np.array([[0, 48]]), 1)
    assert many.first(4).covariance == pytest.approx(few.covariance, abs=1e-12)
