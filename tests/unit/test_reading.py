"""`read_moments`, transformations and covariance files: what the command line calls."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import qwo
from qwo.columns.recipes import rank_normal, standardised
from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    ConstantColumnError,
    CovarianceError,
    FileFormatError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
)
from qwo.moments import Moments, audit_file, read_moments, read_table

REAL = Path(__file__).parents[3] / "shared" / "data" / "test-only" / "small_real"

TETRAD = """/covariance
// a comment
120
a b c

4.0
1.0 9.0
.5  -1  1
/knowledge
forbidden
"""


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    values = np.exp(rng.standard_normal((80, 3)) @ (np.eye(3) + 0.3))
    return pd.DataFrame(values, columns=list("abc"))


class TestTransforms:
    def test_one_for_all_columns(self, frame):
        moments, _ = read_moments(frame, transform="log")
        expected = Moments.from_frame(np.log(frame))
        np.testing.assert_allclose(moments.correlation, expected.correlation, atol=1e-14)
        np.testing.assert_allclose(moments.means, expected.means)

    def test_one_for_some(self, frame):
        table = read_table(frame, transform={"b": "log1p", "c": "rank-normal"})
        assert np.array_equal(table.values[:, 0], frame.a)
        assert np.array_equal(table.values[:, 1], np.log1p(frame.b))
        assert np.array_equal(table.values[:, 2], rank_normal(frame.c.to_numpy()))

    def test_rank_normal_scores(self):
        scores = rank_normal(np.array([30.0, 10.0, np.nan, 20.0, 20.0, np.inf]))
        expected = norm.ppf((np.array([4, 1, 2.5, 2.5]) - 0.5) / 4)
        np.testing.assert_allclose(scores[[0, 1, 3, 4]], expected)
        assert np.isnan(scores[2])
        assert np.isinf(scores[5])

    def test_standardising_changes_units_alone(self, frame):
        plain, _ = read_moments(frame)
        other, _ = read_moments(frame, transform="standardise")
        np.testing.assert_allclose(other.correlation, plain.correlation, atol=1e-12)
        np.testing.assert_allclose(other.scales, 1.0)
        np.testing.assert_allclose(other.means, 0.0, atol=1e-12)
        assert standardised(np.array([1e300, -1e300, np.nan]))[:2].tolist() == [1, -1]

    def test_the_users_data_stay(self, frame):
        before = frame.copy()
        read_moments(frame, transform="log")
        assert frame.equals(before)

    def test_log_names_the_columns_and_counts(self, frame):
        frame.loc[3, "b"] = 0.0
        frame.loc[[4, 5], "c"] = -1.0
        with pytest.raises(ArgumentError, match=r"'b' \(1 of 80 values, the smallest 0\)") as found:
            read_moments(frame, transform="log")
        assert "'c' (2 of 80 values, the smallest -1)" in str(found.value)
        assert "log1p" in str(found.value)
        assert found.value.columns == ("b", "c")
        with pytest.raises(ArgumentError, match=r"log1p needs values above -1.*rank-normal"):
            read_moments(frame, transform={"c": "log1p"})

    @pytest.mark.parametrize(
        ("transform", "error", "message"),
        [
            ("sqrt", ArgumentError, "'sqrt'; wanted one of 'log'"),
            ({"a": "sqrt"}, ArgumentError, "'sqrt'"),
            ({"z": "log"}, ColumnNameError, "'z'; the table has 'a', 'b', 'c'"),
            (["log"], ArgumentError, "is a list"),
        ],
    )
    def test_bad_requests(self, frame, transform, error, message):
        with pytest.raises(error, match=message):
            read_moments(frame, transform=transform)

    def test_missing_values_stay_missing(self, frame):
        frame.loc[0, "a"] = np.nan
        _, audit = read_moments(frame, transform="log", missing="drop")
        assert [finding.code for finding in audit.findings] == ["missing-values"]


class TestReadMoments:
    def test_warnings_are_returned_not_given(self, frame):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            moments, audit = read_moments(frame[:8])
        assert moments.n_samples == 8
        assert [finding.code for finding in audit.warnings] == ["few-rows"]

    def test_errors_are_raised_and_audited(self, frame, tmp_path):
        frame["c"] = 1.0
        frame.to_csv(tmp_path / "t.csv", index=False)
        with pytest.raises(ConstantColumnError):
            read_moments(tmp_path / "t.csv")
        assert [f.code for f in audit_file(tmp_path / "t.csv").errors] == ["constant"]
        [note, bent] = audit_file(tmp_path / "t.csv", drop=["c"]).findings
        assert (note.code, note.severity) == ("non-gaussian", "note")
        assert (bent.code, bent.severity) == ("curved", "note")
        assert audit_file(tmp_path / "t.csv", drop=["c"], transform="log").findings == ()

    def test_selection_from_anything(self, frame):
        for source in (frame, frame.to_numpy()):
            assert read_table(source, columns=[2, 0]).values.shape == (80, 2)
            assert read_table(source, drop=[1]).values.shape == (80, 2)
        assert read_table(frame, columns=["c", "a"]).names == ("c", "a")

    def test_text_options(self, frame, tmp_path):
        frame.round(4).to_csv(tmp_path / "t.dat", index=False, sep="|", decimal=",")
        table = read_table(tmp_path / "t.dat", decimal=",")
        np.testing.assert_allclose(table.values, frame.round(4))

    def test_moments_pass_through(self, frame):
        moments = Moments.from_frame(frame)
        assert read_moments(moments)[0] is moments
        with pytest.raises(ArgumentError, match="transform is 'log'"):
            read_moments(moments, transform="log")

    def test_a_matrix_is_not_taken_for_data(self, frame, tmp_path):
        frame.cov().to_csv(tmp_path / "t.csv", index=False)
        for read in (read_moments, read_table, audit_file, Moments.from_data):
            with pytest.raises(FileFormatError, match="square and symmetric"):
                read(tmp_path / "t.csv")


class TestCovarianceFiles:
    def test_tetrads_lower_triangle(self, tmp_path):
        path = tmp_path / "t.cov"
        path.write_text(TETRAD)
        moments = Moments.from_covariance_file(path)
        assert moments.names == ("a", "b", "c")
        assert moments.n_samples == 120
        assert moments.estimator == "given"
        np.testing.assert_allclose(moments.covariance, [[4, 1, 0.5], [1, 9, -1], [0.5, -1, 1]])
        assert Moments.from_covariance_file(path, 99).n_samples == 99
        assert Moments.from_covariance_file(path, math.inf).is_oracle
        assert Moments.from_covariance_file(path, columns=["c", "a"]).names == ("c", "a")
        np.testing.assert_allclose(
            Moments.from_covariance_file(path, columns=["c", "a"]).covariance, [[1, 0.5], [0.5, 4]]
        )

    @pytest.mark.parametrize("index", [False, True])
    @pytest.mark.parametrize("separator", [",", ";", "\t", " "])
    def test_csv(self, frame, tmp_path, index, separator):
        path = tmp_path / "t.csv"
        frame.cov().to_csv(path, index=index, sep=separator)
        moments, audit = read_moments(path, n_samples=80)
        np.testing.assert_allclose(moments.covariance, frame.cov(), rtol=1e-12)
        assert moments.names == ("a", "b", "c")
        assert audit.findings == ()

    def test_a_full_matrix_is_not_mirrored(self, tmp_path):
        path = tmp_path / "skew.csv"
        path.write_text("a,b\n1,0.5\n0.2,1\n")
        with pytest.raises(CovarianceError, match="symmetric"):
            Moments.from_covariance_file(path, n_samples=100)

    def test_a_blank_triangle(self, tmp_path):
        path = tmp_path / "t.corr.csv"
        path.write_text("a,b,c\n1,,\n.2,1,\n.3,.1,1\n")
        moments, _ = read_moments(path, n_samples=50)
        np.testing.assert_allclose(
            moments.correlation, [[1, 0.2, 0.3], [0.2, 1, 0.1], [0.3, 0.1, 1]]
        )

    def test_every_door(self, tmp_path):
        path = tmp_path / "t.cov.txt"
        path.write_text(TETRAD)
        assert Moments.from_data(path).n_samples == 120
        assert audit_file(path).findings == ()
        assert qwo.discover(str(path), random_state=0).names == ("a", "b", "c")
        moments, _ = read_moments(np.eye(3), n_samples=50, drop=[1])
        assert moments.names == ("X0", "X2")

    @pytest.mark.parametrize(
        ("content", "error", "message"),
        [
            (
                "a,b\n1,0\n0,1\n",
                SampleSizeError,
                "does not say how many samples.*\nTry: n_samples=…",
            ),
            ("", FileFormatError, "no line of names"),
            ("0\na b\n1\n0 1\n", SampleSizeError, "sample size as 0"),
            ("50\na b c\n1\n0 1\n", ShapeError, "3 names .* but 2 rows"),
            ("50\na b\n1\n0 x\n", FileFormatError, "line 4 has 'x'"),
            ("50\na b c\n1\n0 1\n0 1\n", FileFormatError, "line 5 has 2 numbers; wanted 3"),
            ("50\n,a,b\na,1,0\nc,0,1\n", FileFormatError, "called 'c', but column 2 'b'"),
            ("50\na b\n1\n2 1\n", CovarianceError, "correlation of 2"),
            (b"50\n\xff b\n1\n0 1\n", FileFormatError, "UTF-8"),
        ],
    )
    def test_bad_files(self, tmp_path, content, error, message):
        path = tmp_path / "t.cov"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(error, match=message):
            Moments.from_covariance_file(path)

    def test_what_takes_samples_is_refused(self, tmp_path):
        path = tmp_path / "t.cov"
        path.write_text(TETRAD)
        for options in ({"transform": "log"}, {"covariance_estimator": "oas"}):
            with pytest.raises(ArgumentError, match="apply it to the data"):
                read_moments(path, **options)


@pytest.mark.skipif(not REAL.exists(), reason="the real tables beside the project are not here")
class TestRealFiles:
    @pytest.mark.parametrize(
        ("name", "n_samples", "n_variables"),
        [
            ("cites", 164, 7),
            ("dropouts", 159, 8),
            ("goldberg", 645, 6),
            ("lead", 221, 7),
            ("spartina", 45, 15),
        ],
    )
    def test_published_covariance_matrices(self, name, n_samples, n_variables):
        moments, audit = read_moments(REAL / f"{name}.cov.txt")
        assert (moments.n_samples, moments.n_variables) == (n_samples, n_variables)
        assert audit.errors == ()

    @pytest.mark.parametrize("name", ["abalone", "auto-mpg", "boston-housing", "uscrime", "yacht"])
    def test_tables(self, name):
        moments, audit = read_moments(REAL / f"{name}.tsv", null_values=["*"])
        assert moments.n_variables >= 7
        assert audit.errors == ()

    def test_text_in_a_table(self):
        with pytest.raises(NonNumericError, match="'136A'"):
            read_moments(REAL / "galton.tsv")
        assert read_moments(REAL / "galton.tsv", drop=["family"])[0].n_samples == 898
