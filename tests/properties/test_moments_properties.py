"""What moments may not depend on: units, column order, row order, the library, the split."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import LinearDependenceError
from qwo.moments import Moments, audit_data
from qwo.simulation import implied_covariance, random_model

pytestmark = pytest.mark.filterwarnings("ignore:there are only")
SEEDS = st.integers(0, 2**32 - 1)
MODEST = settings(max_examples=30, deadline=None)


def sample(seed: int, n_rows: int | None = None, n_columns: int | None = None) -> np.ndarray:
    """Correlated data of a random size, with more rows than columns."""
    rng = np.random.default_rng(seed)
    n = n_columns or int(rng.integers(2, 9))
    rows = n_rows or int(rng.integers(n + 20, 120))
    return rng.standard_normal((rows, n)) @ (np.eye(n) + 0.4 * rng.standard_normal((n, n)))


def agree(first: Moments, second: Moments, atol: float = 1e-12) -> None:
    assert first.n_samples == second.n_samples
    np.testing.assert_allclose(first.correlation, second.correlation, atol=atol)
    np.testing.assert_allclose(first.scales, second.scales, rtol=atol)
    np.testing.assert_allclose(first.means, second.means, rtol=atol, atol=atol)


@MODEST
@given(SEEDS, st.sampled_from(["plain", "ledoit-wolf", "oas"]))
def test_units_change_only_means_and_scales(seed, estimator):
    data = sample(seed)
    rng = np.random.default_rng(seed + 1)
    factors = 10.0 ** rng.uniform(-100, 100, data.shape[1]) * rng.choice([-1, 1], data.shape[1])
    shifts = factors * rng.uniform(-10, 10, data.shape[1])
    plain = Moments.from_data(data, covariance_estimator=estimator)
    other = Moments.from_data(data * factors + shifts, covariance_estimator=estimator)
    signs = np.sign(factors)
    np.testing.assert_allclose(
        other.correlation, plain.correlation * np.outer(signs, signs), atol=1e-11
    )
    np.testing.assert_allclose(other.scales, plain.scales * np.abs(factors), rtol=1e-11)


@MODEST
@given(SEEDS, st.sampled_from(["plain", "ledoit-wolf", "oas"]))
def test_columns_and_rows_may_come_in_any_order(seed, estimator):
    data = sample(seed)
    rng = np.random.default_rng(seed + 1)
    columns, rows = rng.permutation(data.shape[1]), rng.permutation(data.shape[0])
    names = np.array([f"v{k}" for k in range(data.shape[1])])
    straight = Moments.from_data(data, names, covariance_estimator=estimator)
    mixed = Moments.from_data(
        data[rows][:, columns], names[columns], covariance_estimator=estimator
    )
    assert mixed.names == tuple(names[columns])
    np.testing.assert_allclose(
        mixed.correlation, straight.correlation[np.ix_(columns, columns)], atol=1e-12
    )
    np.testing.assert_allclose(mixed.scales, straight.scales[columns], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:rows depend on the row before")
@MODEST
@given(SEEDS, st.floats(-100, 100), st.floats(1e-3, 1e3))
def test_merging_is_computing_together(seed, shift, factor):
    first = sample(seed, n_columns=4)
    second = sample(seed + 1, n_columns=4) * factor + shift
    merged = Moments.from_data(first).merge(Moments.from_data(second))
    whole = Moments.from_data(np.vstack([first, second]))
    agree(merged, whole, atol=1e-9)


@MODEST
@given(SEEDS)
def test_merging_is_associative_and_commutative(seed):
    a, b, c = (Moments.from_data(sample(seed + k, n_columns=3) + k) for k in range(3))
    agree(a.merge(b).merge(c), a.merge(b.merge(c)))
    agree(a.merge(b), b.merge(a))


@MODEST
@given(SEEDS)
def test_every_library_gives_the_same_moments(seed):
    data = sample(seed)
    names = [f"v{k}" for k in range(data.shape[1])]
    columns = {name: data[:, k] for k, name in enumerate(names)}
    expected = Moments.from_data(data, names)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        moments = Moments.from_frame(frame)
        assert moments.names == expected.names
        agree(moments, expected, atol=1e-14)


@MODEST
@given(seed=SEEDS)
def test_files_give_the_same_moments(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("tables")
    data = sample(seed)
    frame = pd.DataFrame(data, columns=[f"v{k}" for k in range(data.shape[1])])
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    expected = Moments.from_frame(frame)
    agree(Moments.from_csv(folder / "t.csv"), expected)
    agree(Moments.from_parquet(folder / "t.parquet"), expected, atol=1e-14)


@MODEST
@given(SEEDS)
def test_covariance_and_precision_carry_the_same_correlation(seed):
    plain = Moments.from_data(sample(seed))
    by_covariance = Moments.from_covariance(plain.covariance, plain.n_samples, means=plain.means)
    agree(by_covariance, plain)
    inverse = np.linalg.inv(plain.covariance)
    by_precision = Moments.from_precision((inverse + inverse.T) / 2, plain.n_samples)
    np.testing.assert_allclose(by_precision.correlation, plain.correlation, atol=1e-8)


@MODEST
@given(SEEDS)
def test_a_dependence_is_found_wherever_it_stands(seed):
    data = sample(seed, n_columns=6)
    rng = np.random.default_rng(seed + 1)
    parts = rng.choice(6, size=int(rng.integers(2, 5)), replace=False)
    weights = rng.uniform(0.5, 2, len(parts)) * rng.choice([-1, 1], len(parts))
    table = np.column_stack([data, data[:, parts] @ weights + 1]) * 10.0 ** rng.uniform(-6, 6, 7)
    order = rng.permutation(7)
    names = np.array([f"v{k}" for k in range(7)])
    with pytest.raises(LinearDependenceError) as caught:
        Moments.from_data(table[:, order], names[order])
    assert set(caught.value.columns) == {*names[parts], "v6"}


@MODEST
@given(SEEDS, st.sampled_from(["er", "scale-free-in", "scale-free-out"]))
def test_exact_covariances_of_models_are_regular_oracles(seed, kind):
    model = random_model(kind, n_variables=10, degree=3, random_state=seed)
    moments = Moments.from_covariance(model.covariance(), math.inf)
    assert moments.audit().findings == ()
    other = Moments.from_precision(model.precision())
    np.testing.assert_allclose(other.correlation, moments.correlation, atol=1e-9)


@MODEST
@given(SEEDS)
def test_implied_covariance_follows_the_columns(seed):
    model = random_model("er", n_variables=9, degree=4, random_state=seed)
    order = np.random.default_rng(seed).permutation(9)
    mixed = implied_covariance(
        model.coefficients[np.ix_(order, order)], model.noise_variances[order]
    )
    np.testing.assert_allclose(mixed, model.covariance()[np.ix_(order, order)], rtol=1e-9)


@MODEST
@given(SEEDS, st.integers(1, 40))
def test_an_audit_counts_what_is_missing(seed, n_holes):
    data = sample(seed, n_rows=60, n_columns=4)
    rng = np.random.default_rng(seed)
    places = rng.choice(data.size, size=n_holes, replace=False)
    data.flat[places] = np.nan
    finding = audit_data(data).errors[0]
    rows = len(set(places // 4))
    assert finding.code == "missing-values"
    assert finding.columns == tuple(f"X{k}" for k in sorted(set(places % 4)))
    assert finding.message.startswith(f"{n_holes} missing value{'s' * (n_holes > 1)} in")
    assert f"{rows} of 60 rows" in finding.message
