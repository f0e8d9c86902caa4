"""Moments that are saved, loaded, and updated with new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import (
    DataWarning,
    FileFormatError,
    InputError,
    MergeError,
    MissingFileError,
    MissingValuesError,
    NonNumericError,
    ShapeError,
)
from qwo.moments import Moments, as_moments, read_moments


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(4).standard_normal((400, 3)) @ (np.eye(3) + 0.5) + 10


def agree(first: Moments, second: Moments) -> None:
    assert first.names == second.names
    assert first.n_samples == second.n_samples
    np.testing.assert_allclose(first.correlation, second.correlation, atol=1e-12)
    np.testing.assert_allclose(first.scales, second.scales, rtol=1e-12)
    np.testing.assert_allclose(first.means, second.means, rtol=1e-12)


class TestFiles:
    @pytest.mark.parametrize(
        "make",
        [
            lambda x: Moments.from_data(x, ["α", "b c", "d,e"]),
            lambda x: Moments.from_data(x, covariance_estimator="oas"),
            lambda x: Moments.from_covariance(np.cov(x.T), None),
            lambda x: Moments.from_covariance(np.cov(x.T), 50.5),
        ],
        ids=["plain", "shrunk", "oracle", "fractional"],
    )
    def test_come_back_as_they_were(self, data, make, tmp_path):
        moments = make(data)
        moments.save(tmp_path / "m.npz")
        again = Moments.load(tmp_path / "m.npz")
        assert again.names == moments.names
        assert again.n_samples == moments.n_samples
        assert again.estimator == moments.estimator
        for field in ("means", "scales", "correlation"):
            assert np.array_equal(getattr(again, field), getattr(moments, field), equal_nan=True)

    def test_stand_for_the_data_everywhere(self, data, tmp_path):
        path = tmp_path / "m.npz"
        Moments.from_data(data).save(path)
        agree(as_moments(path), Moments.from_data(data))
        agree(read_moments(path)[0], Moments.from_data(data))
        assert qwo.discover(path, random_state=0).names == ("X0", "X1", "X2")

    def test_merge_after_loading(self, data, tmp_path):
        Moments.from_data(data[:150]).save(tmp_path / "m.npz")
        merged = Moments.load(tmp_path / "m.npz").merge(Moments.from_data(data[150:]))
        agree(merged, Moments.from_data(data))

    def test_what_is_no_such_file_is_refused(self, data, tmp_path):
        with pytest.raises(MissingFileError):
            Moments.load(tmp_path / "none.npz")
        (tmp_path / "text.npz").write_text("no archive")
        np.savez(tmp_path / "other.npz", x=data)
        np.savez(
            tmp_path / "object.npz",
            **dict.fromkeys(
                ("n_samples", "means", "scales", "correlation", "names", "estimator", "version"),
                np.array([{"an": "object"}], dtype=object),
            ),
        )
        for name in ("text", "other", "object"):
            with pytest.raises(FileFormatError, match=r"that qwo has saved"):
                Moments.load(tmp_path / f"{name}.npz")

    def test_a_later_format_is_refused(self, data, tmp_path, monkeypatch):
        monkeypatch.setattr("qwo.moments.matrices.VERSION", 7)
        Moments.from_data(data).save(tmp_path / "m.npz")
        monkeypatch.undo()
        with pytest.raises(FileFormatError, match="format 7"):
            Moments.load(tmp_path / "m.npz")


class TestUpdate:
    @pytest.mark.parametrize("n_new", [1, 2, 250])
    def test_is_the_moments_of_all_rows(self, data, n_new):
        old = Moments.from_data(data[:-n_new])
        agree(old.update(data[-n_new:]), Moments.from_data(data))
        assert old.n_samples == 400 - n_new

    def test_frames_and_files_go_by_name(self, data, tmp_path):
        frame = pd.DataFrame(data, columns=list("abc"))
        mixed = frame[300:].assign(other="text")[["c", "other", "a", "b"]]
        mixed.to_csv(tmp_path / "new.csv", index=False)
        old = Moments.from_frame(frame[:300])
        agree(old.update(mixed), Moments.from_frame(frame))
        agree(old.update(tmp_path / "new.csv"), Moments.from_frame(frame))

    def test_missing_values(self, data):
        old = Moments.from_data(data[:300])
        new = data[300:].copy()
        new[5, 1] = np.nan
        with pytest.raises(MissingValuesError, match="1 of 400 rows"):
            old.update(new)
        with pytest.warns(DataWarning, match="left out"):
            assert old.update(new, missing="drop").n_samples == 399

    def test_what_cannot_be_updated(self, data):
        old = Moments.from_data(data)
        with pytest.raises(ShapeError, match="have 2 columns; wanted 3"):
            old.update(data[:, :2])
        with pytest.raises(NonNumericError, match="'X1'"):
            old.update([[1.0, "x", 2.0]])
        with pytest.raises(MergeError, match="oas"):
            Moments.from_data(data, covariance_estimator="oas").update(data)
        with pytest.raises(InputError, match="'b'"):
            Moments.from_data(data, list("abc")).update(pd.DataFrame({"a": [1], "c": [2]}))


class TestAudited:
    """What no data can have is refused, wherever it comes from."""

    @pytest.mark.parametrize(
        ("field", "change"),
        [
            ("correlation", lambda m: m - 2 * np.eye(3)),
            ("correlation", lambda _: np.where(np.eye(3), 1, -0.9)),
            ("correlation", lambda _: np.where(np.eye(3), 1, 1.5)),
            ("correlation", lambda _: np.full((3, 3), np.nan)),
            ("correlation", lambda m: m + np.triu(np.full((3, 3), 0.3), 1)),
            ("correlation", lambda m: m[:2]),
            ("n_samples", lambda _: np.array(1e-300)),
            ("n_samples", lambda _: np.array(np.nan)),
            ("scales", lambda s: -s),
            ("means", lambda m: m + np.inf),
            ("version", lambda _: np.array("one")),
        ],
    )
    def test_matrices_that_are_none(self, tmp_path, field, change):
        data = np.random.default_rng(0).standard_normal((50, 3))
        file = tmp_path / "m.npz"
        Moments.from_data(data).save(file)
        with np.load(file) as archive:
            content = dict(archive)
        content[field] = change(content[field])
        np.savez(file, **content)
        for read in (Moments.load, qwo.discover, lambda path: qwo.audit(path).raise_errors()):
            with pytest.raises(qwo.InputError):
                read(file)

    def test_damaged_files_are_named(self, tmp_path):
        data = np.random.default_rng(0).standard_normal((50, 3))
        file = tmp_path / "m.npz"
        Moments.from_data(data).save(file)
        whole = file.read_bytes()
        for cut in range(0, len(whole), 97):
            file.write_bytes(whole[:cut])
            with pytest.raises(FileFormatError, match=r"m\.npz"):
                Moments.load(file)
