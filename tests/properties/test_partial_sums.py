"""Sums over pieces: any cut, in any order of merging, gives the moments of all rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.moments.covariance import sample_moments
from qwo.moments.partial import partial_sums, sums_of_sample

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


@MODEST
@given(SEEDS, st.lists(st.floats(0, 1), max_size=8), st.booleans())
def test_any_cut_gives_the_moments_of_all_rows(seed, places, backwards):
    data = sample(seed)
    cuts = sorted(int(place * len(data)) for place in places)
    pieces = [partial_sums(part.T) for part in np.split(data, cuts)]  # some are empty
    pieces = pieces[::-1] if backwards else pieces
    total = pieces[0]
    for piece in pieces[1:]:
        total = total.merged(piece)
    assert total.seen.n_rows == len(data)
    agree(total.sample(), sample_moments(data))


@MODEST
@given(SEEDS)
def test_a_sample_can_be_taken_for_its_rows(seed):
    data = sample(seed)
    half = len(data) // 2
    total = sums_of_sample(sample_moments(data[:half])).merged(partial_sums(data[half:].T))
    agree(total.sample(), sample_moments(data))


@MODEST
@given(SEEDS)
def test_whole_weights_are_repetitions(seed):
    data = sample(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(data))
    weighted = partial_sums(data.T, weights.astype(float))
    agree(weighted.sample(), sample_moments(np.repeat(data, weights, axis=0)))


@MODEST
@given(SEEDS, st.booleans())
def test_holes_are_counted_and_their_rows_left_out(seed, keep_bounds):
    data = sample(seed)
    rng = np.random.default_rng(seed)
    holes = rng.random(data.shape) < 0.05
    data[holes] = np.where(rng.random(int(holes.sum())) < 0.5, np.nan, np.inf)
    before = data.copy()
    sums = partial_sums(data.T, keep_bounds=keep_bounds)
    assert np.array_equal(data, before, equal_nan=True)
    complete = ~holes.any(axis=1)
    assert (sums.seen.absent == np.isnan(data).sum(axis=0)).all()
    assert (sums.seen.infinite == np.isinf(data).sum(axis=0)).all()
    assert sums.seen.n_incomplete == (~complete).sum()
    assert sums.weight == complete.sum()
    agree(sums.sample(), sample_moments(data[complete]))
    usable = np.where(holes, np.nan, data) if keep_bounds else data[complete]
    assert np.array_equal(sums.seen.low, np.nanmin(usable, axis=0))
    assert np.array_equal(sums.seen.high, np.nanmax(usable, axis=0))
