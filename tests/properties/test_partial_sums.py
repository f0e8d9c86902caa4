"""Sums over rows: the same bits whatever layout, container, chunks and threads."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from qwo.moments import Moments
from qwo.moments.sums import PartialSums, sums_over
from tests.helpers.sample import sample_moments

SEEDS = st.integers(0, 2**32 - 1)
MODEST = settings(max_examples=40, deadline=None)


def sample(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    data = rng.standard_normal((int(rng.integers(20, 200)), n)) @ rng.standard_normal((n, n))
    return (data + 10.0 ** rng.uniform(-3, 4, n)) * 10.0 ** rng.uniform(-50, 50, n)


def agree(first, second, tolerance: float = 1e-8) -> None:
    assert first.n_samples == second.n_samples
    np.testing.assert_allclose(first.correlation, second.correlation, atol=tolerance)
    np.testing.assert_allclose(first.scales, second.scales, rtol=tolerance)
    np.testing.assert_allclose(first.means, second.means, rtol=1e-10)


def same(first, second) -> None:
    for field in ("n_samples", "means", "scales", "correlation"):
        assert np.array_equal(getattr(first, field), getattr(second, field)), field


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Blocks of 256 rows at most, so that small tables have several pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qwo.moments.sums.BLOCK_ENTRIES", 1 << 9)
        patch.setattr("qwo.moments.sums.MIN_BLOCK_ROWS", 16)
        patch.setattr("qwo.moments.sums.PIECE_BLOCKS", 3)
        yield


@MODEST
@given(SEEDS, st.lists(st.floats(0, 1), max_size=8), st.booleans())
def test_any_cut_gives_the_moments_of_all_rows(seed, places, backwards):
    data = sample(seed)
    cuts = sorted(int(place * len(data)) for place in places)
    pieces = [sums_over(part) for part in np.split(data, cuts)]  # some are empty
    total = PartialSums(data.shape[1])
    for piece in pieces[::-1] if backwards else pieces:
        total.merge(piece)
    assert total.seen.n_rows == len(data)
    agree(total.moments(), sample_moments(data))
    centred = data / np.abs(data).max(axis=0)
    expected = np.corrcoef(centred.T)
    np.testing.assert_allclose(total.moments().correlation, expected, atol=1e-8)


@MODEST
@given(SEEDS, st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_chunks_do_not_change_a_bit(seed, sizes):
    data = sample(seed)
    cuts = itertools.accumulate(itertools.islice(itertools.cycle(sizes), 200))
    total = PartialSums(data.shape[1])
    for part in np.split(data, [cut for cut in cuts if cut < len(data)]):
        total.add(part)
    same(total.moments(), sample_moments(data))
    same(sample_moments(np.asfortranarray(data)), sample_moments(data))
    same(sample_moments(data[::-1][::-1]), sample_moments(data))


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_every_reader_gives_the_same_bits(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    data = rng.standard_normal((int(rng.integers(100, 400)), n)) @ rng.standard_normal((n, n))
    data = data * 10.0 ** rng.integers(-3, 4, n)
    names = [f"v{k}" for k in range(n)]
    frame = pd.DataFrame(data, columns=names)
    folder = tmp_path_factory.mktemp("readers")
    frame.to_csv(folder / "t.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), folder / "t.parquet", row_group_size=37)
    expected = Moments.from_data(np.ascontiguousarray(data), names)
    for source in (np.asfortranarray(data), frame, pl.DataFrame(frame), pa.table(dict(frame))):
        same(Moments.from_data(source, names), expected)
    same(Moments.from_data(np.repeat(data, 2, axis=1)[:, ::2], names), expected)
    for file in ("t.csv", "t.parquet"):
        same(Moments.from_data(folder / file), expected)
        for jobs, memory in ((1, "1 MB"), (3, "9 MB")):
            moments = Moments.from_dataset(folder / file, n_jobs=jobs, memory_limit=memory)
            same(moments, expected)


@pytest.mark.parametrize("shape", [(5000, 12), (2300, 600)])
def test_the_number_of_threads_does_not_change_a_bit(shape, monkeypatch):
    monkeypatch.undo()
    data = np.random.default_rng(3).standard_normal(shape)
    expected = Moments.from_data(data)
    for threads in (1, 2):
        with threadpool_limits(threads):
            same(Moments.from_data(np.asfortranarray(data), n_jobs=threads), expected)
    np.testing.assert_allclose(expected.correlation, np.corrcoef(data.T), atol=1e-13)


@MODEST
@given(SEEDS)
def test_a_sample_can_be_taken_for_its_rows(seed):
    data = sample(seed)
    half = len(data) // 2
    total = PartialSums.of(sample_moments(data[:half])).merge(sums_over(data[half:]))
    agree(total.moments(), sample_moments(data))


@MODEST
@given(SEEDS)
def test_whole_weights_are_repetitions(seed):
    data = sample(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(data))
    weighted = sums_over(data, weights.astype(float))
    agree(weighted.moments(), sample_moments(np.repeat(data, weights, axis=0)))


@MODEST
@given(SEEDS)
def test_holes_are_counted_and_their_rows_left_out(seed):
    data = sample(seed)
    rng = np.random.default_rng(seed)
    holes = rng.random(data.shape) < 0.05
    data[holes] = np.where(rng.random(int(holes.sum())) < 0.5, np.nan, np.inf)
    before = data.copy()
    sums = sums_over(data)
    assert np.array_equal(data, before, equal_nan=True)
    complete = ~holes.any(axis=1)
    assert (sums.seen.absent == np.isnan(data).sum(axis=0)).all()
    assert (sums.seen.infinite == np.isinf(data).sum(axis=0)).all()
    assert sums.seen.n_incomplete == (~complete).sum()
    assert sums.total.weight == complete.sum()
    agree(sums.moments(), sample_moments(data[complete]))
    finite = np.where(holes, np.nan, data)
    assert np.array_equal(sums.seen.lowest, np.nanmin(finite, axis=0))
    assert np.array_equal(sums.seen.highest, np.nanmax(finite, axis=0))
    assert np.array_equal(sums.seen.low, data[complete].min(axis=0))
    assert np.array_equal(sums.seen.high, data[complete].max(axis=0))


def test_a_column_that_begins_constant_keeps_its_units():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((400, 3)) * [1e-120, 1.0, 1e120]
    data[:200, 0] = 0.0
    found = sample_moments(data)
    expected = np.corrcoef((data / [1e-120, 1.0, 1e120]).T)
    np.testing.assert_allclose(found.correlation, expected, atol=1e-12)
