"""Moments: constructors, estimators, merging, and the record itself."""

from __future__ import annotations

import dataclasses
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, MinCovDet

from qwo.errors import (
    ArgumentError,
    CovarianceError,
    DataWarning,
    DuplicateColumnError,
    InputError,
    LinearDependenceError,
    MergeError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
)
from qwo.moments import Moments, as_moments


@pytest.fixture
def data() -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.standard_normal((200, 6)) @ rng.standard_normal((6, 6)) + 3.0


def test_plain_moments_are_numpys(data):
    moments = Moments.from_data(data, names=list("abcdef"))
    assert moments.names == tuple("abcdef")
    assert moments.n_samples == 200
    assert moments.n_variables == 6
    assert moments.estimator == "plain"
    assert not moments.is_oracle
    np.testing.assert_allclose(moments.means, data.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(moments.scales, data.std(axis=0), rtol=1e-13)
    np.testing.assert_allclose(moments.correlation, np.corrcoef(data.T), atol=1e-14)
    np.testing.assert_allclose(moments.covariance, np.cov(data.T, bias=True), rtol=1e-12)


def test_correlation_is_exactly_symmetric_contiguous_and_read_only(data):
    moments = Moments.from_data(data)
    correlation = moments.correlation
    assert np.array_equal(correlation, correlation.T)
    assert np.array_equal(moments.covariance, moments.covariance.T)
    assert np.array_equal(np.diagonal(correlation), np.ones(6))
    assert correlation.flags.c_contiguous
    assert correlation.dtype == np.float64
    for array in (correlation, moments.means, moments.scales):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        moments.n_samples = 3.0


def test_the_users_array_is_neither_changed_nor_frozen(data):
    before = data.copy()
    Moments.from_data(data, covariance_estimator="ledoit-wolf")
    covariance = np.cov(data.T)
    given = covariance.copy()
    Moments.from_covariance(covariance, 200)
    Moments.from_precision(covariance)
    assert np.array_equal(data, before)
    assert np.array_equal(covariance, given)
    data[0, 0] = 1.0
    covariance[0, 0] = 1.0


def test_pickle_keeps_arrays_read_only(data):
    moments = Moments.from_data(data)
    copy = pickle.loads(pickle.dumps(moments))
    assert np.array_equal(copy.correlation, moments.correlation)
    assert not copy.correlation.flags.writeable
    assert copy.names == moments.names


def test_repr_is_readable(data):
    assert repr(Moments.from_data(data[:, :2])) == (
        "<Moments of 2 variables ('X0', 'X1'), N = 200, plain covariance>"
    )
    assert "and 1 more), N = ∞" in repr(Moments.from_covariance(np.eye(6), None))


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.astype(np.float32),
        lambda x: np.rint(10 * x).astype(np.int32),
        lambda x: x > 3.0,
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x[::-1],
        lambda x: x.astype(">f8"),
        lambda x: x.astype(object),
        lambda x: x.tolist(),
        np.ma.asarray,
    ],
    ids=[
        "float32",
        "int32",
        "bool",
        "fortran",
        "strided",
        "reversed",
        "swapped",
        "object",
        "list",
        "ma",
    ],
)
def test_every_numeric_input_gives_the_moments_of_its_values(data, convert):
    given = convert(data)
    expected = np.corrcoef(np.asarray(given, dtype=np.float64).T)
    np.testing.assert_allclose(Moments.from_data(given).correlation, expected, atol=1e-13)


def test_a_large_offset_costs_no_digits():
    noise = np.random.default_rng(0).standard_normal((5000, 3)) @ np.array(
        [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]]
    )
    shifted = noise + 1e9
    # The shifted values are rounded to 1e-7 when stored: that, and no more, may be lost.
    moments = Moments.from_data(shifted)
    np.testing.assert_allclose(moments.correlation, np.corrcoef(noise.T), atol=1e-7)
    np.testing.assert_allclose(moments.scales, noise.std(axis=0), rtol=1e-7)


def test_scales_from_tiny_to_huge_survive(data):
    units = np.array([1e-140, 1e-100, 1.0, 1e9, 1e100, 1e140])
    moments = Moments.from_data(data * units)
    plain = Moments.from_data(data)
    np.testing.assert_allclose(moments.correlation, plain.correlation, atol=1e-14)
    np.testing.assert_allclose(moments.scales / units, plain.scales, rtol=1e-13)


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e160, 1e300])
@pytest.mark.parametrize("rows", [50, 400])
def test_squares_beyond_the_range_of_numbers_are_refused(data, unit, rows):
    wrong = data[:rows] * ([1.0] * (data.shape[1] - 1) + [unit])
    with pytest.raises(InputError, match=r"X5.* too large or too small; rescale them") as caught:
        Moments.from_data(wrong)
    [cure] = caught.value.cures
    rescaled = Moments.from_data(wrong, **{cure.option: cure.value})
    plain = Moments.from_data(data[:rows])
    np.testing.assert_allclose(rescaled.correlation, plain.correlation, atol=1e-12)


@pytest.mark.filterwarnings("ignore:rows depend on the row before")
def test_blocks_of_rows_change_nothing():
    x = np.random.default_rng(3).standard_normal((300_000, 8)).cumsum(axis=1)
    x[:1000] += 50.0
    np.testing.assert_allclose(
        Moments.from_data(x).correlation, np.corrcoef(x.T), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("estimator", ["ledoit-wolf", "oas"])
def test_shrinkage_scales_correlations_and_keeps_scales(data, estimator):
    plain = Moments.from_data(data[:30])
    shrunk = Moments.from_data(data[:30], covariance_estimator=estimator)
    assert shrunk.estimator == estimator
    np.testing.assert_allclose(shrunk.scales, plain.scales, rtol=1e-12)
    ratios = (shrunk.correlation / plain.correlation)[np.triu_indices(6, 1)]
    assert 0 < ratios[0] < 1
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


def test_ledoit_wolf_is_scikit_learns_on_standardised_columns(data):
    standard = (data - data.mean(axis=0)) / data.std(axis=0)
    expected = LedoitWolf().fit(standard).covariance_
    moments = Moments.from_data(
        data * [1, 10, 100, 1e3, 1e4, 1e5], covariance_estimator="ledoit-wolf"
    )
    np.testing.assert_allclose(moments.correlation, expected, atol=1e-12)


def test_any_scikit_learn_estimator_is_used_and_left_unfitted(data):
    estimator = MinCovDet(random_state=0)
    moments = Moments.from_data(data, covariance_estimator=estimator)
    assert moments.estimator == "MinCovDet"
    assert not hasattr(estimator, "covariance_")
    fitted = MinCovDet(random_state=0).fit((data - data.mean(axis=0)) / data.std(axis=0))
    expected = fitted.covariance_ * np.outer(data.std(axis=0), data.std(axis=0))
    np.testing.assert_allclose(moments.covariance, expected, rtol=1e-9)
    centre = data.mean(axis=0) + fitted.location_ * data.std(axis=0)
    np.testing.assert_allclose(moments.means, centre, rtol=1e-9)


def test_shrinkage_makes_wide_data_regular():
    x = np.random.default_rng(0).standard_normal((12, 30))
    moments = Moments.from_data(x, covariance_estimator="ledoit-wolf")
    assert np.linalg.eigvalsh(moments.correlation)[0] > 0.01
    assert moments.audit().findings == ()


def test_an_estimator_that_leaves_a_singular_matrix_is_an_error():
    x = np.random.default_rng(0).standard_normal((12, 30))
    with pytest.raises(LinearDependenceError, match="ledoit-wolf"):
        Moments.from_data(x, covariance_estimator=EmpiricalCovariance())


class Mean:
    """Fits, but not a covariance."""

    def fit(self, x):
        self.mean_ = x.mean()


@pytest.mark.parametrize("estimator", ["robust", None, LedoitWolf, Mean()])
def test_unknown_estimators_are_refused(data, estimator):
    with pytest.raises(ArgumentError, match="estimator"):
        Moments.from_data(data, covariance_estimator=estimator)


def test_unknown_missing_policy_is_refused(data):
    with pytest.raises(ArgumentError, match="'raise', 'drop', 'em'"):
        Moments.from_data(data, missing="impute")


class TestGivenMatrices:
    def test_covariance(self, data):
        covariance = np.cov(data.T, bias=True)
        moments = Moments.from_covariance(covariance, 200, list("abcdef"), data.mean(axis=0))
        plain = Moments.from_data(data)
        assert moments.estimator == "given"
        assert moments.n_samples == 200
        np.testing.assert_allclose(moments.correlation, plain.correlation, atol=1e-13)
        np.testing.assert_allclose(moments.covariance, covariance, rtol=1e-12)

    def test_correlation_has_unit_scales_and_unknown_means(self, data):
        moments = Moments.from_covariance(np.corrcoef(data.T), 50.5)
        assert np.allclose(moments.scales, 1.0)
        assert np.isnan(moments.means).all()
        assert moments.n_samples == 50.5

    @pytest.mark.parametrize("n_samples", [None, math.inf])
    def test_oracle(self, data, n_samples):
        moments = Moments.from_covariance(np.cov(data.T), n_samples)
        assert moments.is_oracle
        assert moments.n_samples == math.inf

    def test_precision_is_the_inverse(self, data):
        units = np.diag([1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9])
        covariance = units @ np.cov(data.T) @ units
        precision = np.linalg.inv(units) @ np.linalg.inv(np.cov(data.T)) @ np.linalg.inv(units)
        moments = Moments.from_precision((precision + precision.T) / 2)
        assert moments.is_oracle
        np.testing.assert_allclose(moments.covariance, covariance, rtol=1e-9)
        assert Moments.from_precision(np.eye(3), 20).n_samples == 20

    def test_a_frame_brings_its_names(self, data):
        frame = pd.DataFrame(data, columns=list("uvwxyz"))
        assert Moments.from_covariance(frame.cov(), 200).names == tuple("uvwxyz")

    def test_asymmetry_within_rounding_is_taken_away(self, data):
        covariance = np.cov(data.T)
        covariance[0, 1] *= 1 + 1e-12
        moments = Moments.from_covariance(covariance, 200)
        assert np.array_equal(moments.correlation, moments.correlation.T)

    @pytest.mark.parametrize(
        ("matrix", "error", "message"),
        [
            (np.ones((2, 3)), ShapeError, r"\(2, 3\)"),
            (np.ones((1, 1)), ShapeError, r"\(1, 1\)"),
            (np.ones(4), ShapeError, "1 dimensions"),
            ([[2.0, 0.5], [0.0, 2.0]], CovarianceError, "not symmetric.*'X0', 'X1'"),
            ([[1.0, 0.0], [0.0, 0.0]], CovarianceError, "diagonal.*0 for 'X1'"),
            ([[1.0, 0.0], [0.0, -2.0]], CovarianceError, "-2 for 'X1'"),
            ([[1.0, np.nan], [np.nan, 1.0]], MissingValuesError, "'X0', 'X1'"),
            ([["1", "0"], ["0", "1"]], NonNumericError, "'X0', 'X1'"),
            ([[1.0, 2.0], [2.0, 1.0]], CovarianceError, "'X0' and 'X1' a correlation of 2"),
            ([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]], CovarianceError, "eigenvalue -0.8"),
            (np.ones((2, 2)), DuplicateColumnError, "'X1' is linear in 'X0'"),
        ],
    )
    def test_what_is_no_covariance_matrix_is_refused(self, matrix, error, message):
        with pytest.raises(error, match=message):
            Moments.from_covariance(matrix, 100)

    def test_an_indefinite_matrix_is_refused_for_small_samples_too(self):
        matrix = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
        with pytest.raises(CovarianceError, match="semidefinite"):
            Moments.from_covariance(matrix, 3)

    def test_a_singular_oracle_is_refused_and_a_wide_sample_is_not(self):
        x = np.random.default_rng(0).standard_normal((20, 30))
        with pytest.raises(LinearDependenceError):
            Moments.from_covariance(np.cov(x.T), None)
        with pytest.warns(DataWarning, match="30 variables but only 20 samples"):
            Moments.from_covariance(np.cov(x.T), 20)

    @pytest.mark.parametrize("matrix", [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
    def test_a_precision_matrix_without_inverse_is_refused(self, matrix):
        with pytest.raises(CovarianceError, match=r"not positive definite.*'X1'") as caught:
            Moments.from_precision(matrix)
        assert caught.value.columns == ("X1",)

    @pytest.mark.parametrize("n_samples", [0, -5, 2, math.nan, "many"])
    def test_sample_sizes_below_three_are_refused(self, n_samples):
        with pytest.raises(SampleSizeError, match="n_samples is"):
            Moments.from_covariance(np.eye(2), n_samples)

    def test_wrong_numbers_of_names_and_means_are_refused(self):
        with pytest.raises(ShapeError, match="got 3 names for 2 columns"):
            Moments.from_covariance(np.eye(2), 10, names=list("abc"))
        with pytest.raises(ShapeError, match=r"means has shape \(3,\); wanted \(2,\)"):
            Moments.from_covariance(np.eye(2), 10, means=[1, 2, 3])


class TestMerge:
    def test_is_the_moments_of_all_rows(self, data):
        merged = Moments.from_data(data[:50]).merge(Moments.from_data(data[50:]))
        whole = Moments.from_data(data)
        assert merged.n_samples == 200
        assert merged.estimator == "plain"
        np.testing.assert_allclose(merged.means, whole.means, rtol=1e-12)
        np.testing.assert_allclose(merged.scales, whole.scales, rtol=1e-12)
        np.testing.assert_allclose(merged.correlation, whole.correlation, atol=1e-13)

    def test_given_covariances_with_means_can_be_merged(self, data):
        half = data[100:]
        given = Moments.from_covariance(np.cov(half.T, bias=True), 100, means=half.mean(axis=0))
        merged = Moments.from_data(data[:100]).merge(given)
        assert merged.estimator == "given"
        np.testing.assert_allclose(merged.correlation, np.corrcoef(data.T), atol=1e-12)

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (lambda x: Moments.from_data(x, names=list("abcdef")), "only one has"),
            (lambda x: Moments.from_data(x, names=[f"X{k}" for k in (1, 0, 2, 3, 4, 5)]), "orders"),
            (lambda x: Moments.from_data(x, covariance_estimator="oas"), "right side.*'oas'"),
            (lambda x: Moments.from_covariance(np.cov(x.T), None), "right side.*N = ∞"),
            (lambda x: Moments.from_covariance(np.cov(x.T), 50), "unknown means.*means="),
        ],
    )
    def test_refuses_what_it_cannot_pool_exactly(self, data, other, message):
        with pytest.raises(MergeError, match=message):
            Moments.from_data(data).merge(other(data))


class TestAsMoments:
    def test_moments_pass_through(self, data):
        moments = Moments.from_data(data)
        assert as_moments(moments) is moments

    def test_takes_arrays_frames_and_paths(self, data, tmp_path):
        frame = pd.DataFrame(data, columns=list("abcdef"))
        frame.to_csv(tmp_path / "data.csv", index=False)
        frame.to_parquet(tmp_path / "data.parquet")
        expected = Moments.from_data(data).correlation
        for given in (data, frame, str(tmp_path / "data.csv"), tmp_path / "data.parquet"):
            np.testing.assert_allclose(as_moments(given).correlation, expected, atol=1e-12)

    def test_an_estimator_comes_too_late_for_moments(self, data):
        moments = Moments.from_data(data, covariance_estimator="oas")
        assert as_moments(moments, covariance_estimator="oas") is moments
        with pytest.raises(ArgumentError, match="choose the estimator when making them"):
            as_moments(moments, covariance_estimator="ledoit-wolf")

    @pytest.mark.parametrize("junk", [None, 3, {"a": [1, 2]}, object()])
    def test_junk_is_an_input_error(self, junk):
        with pytest.raises(InputError, match="wanted an array"):
            as_moments(junk)


def test_constructor_checks_shapes():
    with pytest.raises(ShapeError, match=r"scales has shape \(3,\); wanted \(2,\)"):
        Moments(("a", "b"), 10.0, np.zeros(2), np.ones(3), np.eye(2))


def test_good_data_cause_no_warning(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Moments.from_data(data)
