"""The audit: every kind of bad data gets an error or a warning that names columns and a cure."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from qwo.errors import (
    ConstantColumnError,
    DataWarning,
    DuplicateColumnError,
    InputError,
    LinearDependenceError,
    MissingFileError,
    MissingPackageError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
    list_names,
)
from qwo.inspection.checks import copy_groups
from qwo.inspection.findings import PivotedCholesky
from qwo.moments import Moments, audit_data

NAMES = list("abcde")


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(7).standard_normal((100, 5))


def codes(audit):
    return [(finding.code, finding.severity) for finding in audit.findings]


def test_good_data_have_no_findings(data):
    audit = audit_data(data)
    assert audit.findings == ()
    assert audit.errors == ()
    assert str(audit) == "nothing to report"


class TestMissingValues:
    @pytest.fixture
    def holes(self, data):
        data[3, 1] = np.nan
        data[4, 1] = np.inf
        data[4, 2] = -np.inf
        return data

    def test_raise_counts_values_columns_and_rows(self, holes):
        with pytest.raises(MissingValuesError) as caught:
            Moments.from_data(holes, names=NAMES)
        message = str(caught.value)
        assert "1 missing value and 2 infinite values in 2 of 5 columns" in message
        assert "'b' (1 missing, 1 infinite), 'c' (1 infinite)" in message
        assert "2 of 100 rows are affected" in message
        assert "missing='drop'" in message
        assert caught.value.columns == ("b", "c")

    def test_drop_leaves_rows_out_and_says_so(self, holes):
        with pytest.warns(DataWarning, match="2 of 100 rows are left out"):
            moments = Moments.from_data(holes, missing="drop")
        kept = np.delete(holes, [3, 4], axis=0)
        assert moments.n_samples == 98
        np.testing.assert_allclose(moments.correlation, np.corrcoef(kept.T), atol=1e-14)

    def test_drop_on_complete_data_is_silent(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Moments.from_data(data, missing="drop").n_samples == 100

    def test_a_column_without_values_is_named(self, data):
        data[:, 0] = np.nan
        with pytest.raises(MissingValuesError, match="'a' has no value at all"):
            Moments.from_data(data, names=NAMES)
        with pytest.raises(SampleSizeError, match="0 rows after 100 with missing values"):
            Moments.from_data(data, missing="drop")

    def test_long_lists_are_cut(self):
        with pytest.raises(MissingValuesError, match=r"'X4' \(9 missing\) and 25 more columns"):
            Moments.from_data(np.full((9, 30), np.nan))

    def test_the_largest_floats_are_not_infinite(self, data):
        data[0] = np.finfo(np.float64).max
        data[1] = -np.finfo(np.float64).max
        assert "missing-values" not in dict(codes(audit_data(data)))


class TestTypesAndSizes:
    def test_text_columns_are_named_with_an_example(self, data):
        frame = pd.DataFrame(data, columns=NAMES).assign(
            note=[f"note {k}" for k in range(len(data))]
        )
        with pytest.raises(NonNumericError, match=r"'note' \(text with .* 'note 0'\)") as caught:
            Moments.from_frame(frame)
        assert caught.value.columns == ("note",)
        assert Moments.from_frame(frame, drop=["note"]).names == tuple(NAMES)

    @pytest.mark.parametrize(("width", "seen"), [(0, "none"), (1, "only 'X0'")])
    def test_fewer_than_two_columns(self, data, width, seen):
        with pytest.raises(ShapeError, match=f"at least two numeric columns; the table has {seen}"):
            Moments.from_data(data[:, :width])

    @pytest.mark.parametrize("rows", [0, 1, 2])
    def test_fewer_than_three_rows(self, data, rows):
        with pytest.raises(SampleSizeError, match=f"the table has {rows} rows?;"):
            Moments.from_data(data[:rows])

    def test_a_header_without_rows(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,b\n")
        with pytest.raises(SampleSizeError, match="0 rows"):
            Moments.from_csv(tmp_path / "t.csv")

    def test_very_small_samples_are_doubtful(self, data):
        with pytest.warns(DataWarning, match="only 9 samples"):
            Moments.from_data(data[:9, :3])

    @pytest.mark.parametrize("rows", [20, 12])
    def test_as_many_variables_as_samples_is_a_warning_not_a_dependence(self, rows):
        wide = np.random.default_rng(0).standard_normal((rows, 20))
        with pytest.warns(DataWarning, match="20 variables but only .* 'bic'"):
            moments = Moments.from_data(wide)
        assert moments.n_samples == rows
        assert codes(moments.audit()) == [("wide", "warning")]

    def test_one_sample_more_than_variables_is_regular(self):
        square = np.random.default_rng(0).standard_normal((21, 20))
        assert [code for code, _ in codes(audit_data(square))] == ["few-rows"]


class TestColumns:
    def test_constant_columns_are_named(self, data):
        data[:, [1, 3]] = 0.1, -7.0
        with pytest.raises(ConstantColumnError, match="2 of 5 columns are constant: 'b', 'd'"):
            Moments.from_data(data, names=NAMES)

    def test_a_constant_that_no_mean_hits_exactly(self, data):
        data[:, 0] = 0.1 + 0.2
        with pytest.raises(ConstantColumnError):
            Moments.from_data(data)

    def test_variation_in_the_last_digits_is_doubtful(self, data):
        data[:, 2] = 1.0 + 1e-14 * data[:, 2]
        with pytest.warns(DataWarning, match="last digits of float64: 'c'"):
            Moments.from_data(data, names=NAMES)

    @pytest.mark.parametrize(
        ("copy", "verb"),
        [
            (lambda x: x, "repeats"),
            (lambda x: -x, "is linear in"),
            (lambda x: 1.8 * x + 32, "is linear in"),
            (lambda x: 1e9 * x, "is linear in"),
            (lambda x: x.astype(np.float32), "repeats"),
        ],
    )
    def test_copies_are_found_whatever_their_units(self, data, copy, verb):
        data = np.column_stack([data, copy(data[:, 1])]).astype(np.float64)
        with pytest.raises(DuplicateColumnError, match=f"'copy' {verb} 'b'") as caught:
            Moments.from_data(data, names=[*NAMES, "copy"])
        assert caught.value.columns == ("b", "copy")
        assert "drop=['copy'] keeps one of each" in str(caught.value)

    def test_copies_are_grouped(self, data):
        many = np.column_stack([data, data[:, [0, 0, 3]], -data[:, 0]])
        correlation = np.corrcoef(many.T)
        assert copy_groups(correlation) == [[0, 5, 6, 8], [3, 7]]

    def test_copies_are_found_in_wide_data_too(self, data):
        wide = np.tile(data[:6], 2)
        with pytest.raises(DuplicateColumnError, match="'X5' repeats 'X0'"):
            Moments.from_data(wide)

    def test_a_strong_correlation_is_no_copy(self, data):
        data[:, 1] = data[:, 0] + 1e-4 * data[:, 1]
        assert codes(audit_data(data)) == []


class TestLinearDependence:
    def test_the_smallest_set_is_named_with_its_equation(self, data):
        data = np.column_stack([data, data[:, 0] + 2 * data[:, 1] - 5])
        with pytest.raises(LinearDependenceError) as caught:
            Moments.from_data(data, names=[*NAMES, "sum"])
        assert set(caught.value.columns) == {"sum", "a", "b"}
        assert "ledoit-wolf" in str(caught.value)
        assert "drop=['sum'] leaves it out" in str(caught.value)

    def test_the_equation_is_in_the_units_of_the_data(self, data):
        data *= [1, 1e3, 1, 1, 1]
        total = 3 * data[:, 0] + 2 * data[:, 1]
        with pytest.raises(LinearDependenceError, match=r"'total' = constant \+2·'b' \+3·'a'"):
            Moments.from_data(np.column_stack([data, total]), names=[*NAMES, "total"])

    def test_of_several_dependences_the_shortest_comes_first(self, data):
        long = data.sum(axis=1)
        short = data[:, 3] - data[:, 4]
        with pytest.raises(LinearDependenceError, match="2 columns too many in all") as caught:
            Moments.from_data(np.column_stack([data, long, short]), names=[*NAMES, "long", "short"])
        assert len(caught.value.columns) == 3

    def test_a_composition_that_sums_to_one(self):
        parts = np.random.default_rng(0).dirichlet(np.ones(4), size=200)
        with pytest.raises(LinearDependenceError) as caught:
            Moments.from_data(parts)
        assert set(caught.value.columns) == {"X0", "X1", "X2", "X3"}

    def test_offsets_do_not_hide_a_dependence(self, data):
        total = data[:, 0] + data[:, 1] + 1e6
        with pytest.raises(LinearDependenceError):
            Moments.from_data(np.column_stack([data, total]))

    def test_shrinkage_turns_the_error_into_a_warning(self, data):
        data = np.column_stack([data, data[:, 0] - data[:, 1]])
        with pytest.warns(DataWarning, match="linearly dependent"):
            moments = Moments.from_data(data, covariance_estimator="ledoit-wolf")
        assert moments.audit().errors == ()

    def test_near_dependence_is_doubtful(self, data):
        noise = np.random.default_rng(0).standard_normal(100)
        data = np.column_stack([data, data[:, 0] + data[:, 1] + 1e-5 * noise])
        with pytest.warns(DataWarning, match=r"nearly singular \(condition number \d") as caught:
            Moments.from_data(data, names=[*NAMES, "near"])
        assert len(caught) == 1
        finding = audit_data(data).warnings[0]
        assert set(finding.columns) == {"X0", "X1", "X5"}

    def test_the_factorisation_reproduces_the_matrix(self, data):
        correlation = np.corrcoef(data.T)
        cholesky = PivotedCholesky.of(correlation)
        lower = np.tril(cholesky.factor)
        permuted = correlation[np.ix_(cholesky.pivots, cholesky.pivots)]
        assert cholesky.rank == 5
        np.testing.assert_allclose(lower @ lower.T, permuted, atol=1e-14)
        exact = 1 / np.linalg.cond(correlation, 1)
        assert exact <= cholesky.reciprocal_condition * (1 + 1e-9)
        assert cholesky.reciprocal_condition < 3 * exact


class TestReports:
    @pytest.fixture
    def messy(self, data):
        frame = pd.DataFrame(data, columns=NAMES)
        frame["text"] = [f"x{k}" for k in range(len(frame))]
        frame["flat"] = 3
        frame.loc[3, "a"] = np.nan
        return frame

    def test_an_audit_lists_everything_at_once(self, messy):
        audit = audit_data(messy)
        assert codes(audit) == [
            ("non-numeric", "error"),
            ("missing-values", "error"),
            ("constant", "error"),
        ]
        assert [finding.columns for finding in audit.errors] == [("text",), ("a",), ("flat",)]
        assert str(audit).count("error: ") == 3

    def test_one_error_carries_all_messages(self, messy):
        with pytest.raises(NonNumericError) as caught:
            Moments.from_frame(messy)
        message = str(caught.value)
        assert caught.value.columns == ("text",)
        assert "'text'" in message
        assert "missing='drop'" in message
        assert "constant: 'flat'" in message

    def test_dropping_rows_lets_the_audit_go_on(self, messy):
        messy["copy"] = messy["b"]
        audit = audit_data(messy.drop(columns="text"), missing="drop")
        assert codes(audit) == [
            ("missing-values", "warning"),
            ("constant", "error"),
            ("duplicate", "error"),
        ]

    def test_warnings_point_at_the_callers_line(self, data):
        with pytest.warns(DataWarning) as caught:
            Moments.from_data(data[:9, :3])
        assert caught[0].filename == __file__

    def test_every_error_is_a_value_error(self, messy):
        with pytest.raises(ValueError, match="neither numeric") as caught:
            Moments.from_frame(messy)
        assert isinstance(caught.value, InputError)

    def test_auditing_neither_raises_nor_warns(self, messy):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            audit_data(messy)
            audit_data(np.zeros((2, 1)))


@pytest.mark.parametrize("kind", [ConstantColumnError, MissingFileError])
def test_errors_cross_process_borders_with_their_columns(kind):
    error = pickle.loads(pickle.dumps(kind("what, where and the cure", ["a", "b"])))
    assert type(error) is kind
    assert str(error) == "what, where and the cure"
    assert error.columns == ("a", "b")


def test_a_missing_package_crosses_process_borders_with_its_name():
    error = pickle.loads(pickle.dumps(MissingPackageError("install it", name="a")))
    assert (type(error), str(error), error.name) == (MissingPackageError, "install it", "a")


def test_lists_of_names_are_cut():
    assert list_names(["a"]) == "'a'"
    assert list_names("abcde") == "'a', 'b', 'c', 'd', 'e'"
    assert list_names("abcdefg") == "'a', 'b', 'c', 'd', 'e' and 2 more"
