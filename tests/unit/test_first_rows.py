"""What the audit sees in the rows themselves; and nothing where there is nothing to see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.columns.recipes import Coding
from qwo.errors import ConstantColumnError, MergeError, ShapeError
from qwo.moments import Moments
from qwo.moments.readers import open_source
from qwo.moments.reading import TableReading
from qwo.options import ReadOptions

NAMES = list("abcd")


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.standard_normal((200, 4)) @ (np.eye(4) + 0.3), columns=NAMES)


def warned(data, **options) -> dict[str, tuple[str, ...]]:
    return {finding.code: finding.columns for finding in qwo.audit(data, **options).warnings}


@pytest.mark.parametrize("noise", ["gaussian", "exponential", "uniform"])
@pytest.mark.parametrize("seed", range(6))
def test_simulated_data_raise_no_false_alarm(noise, seed):
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(3, 60)), int(rng.integers(100, 3000))
    found = qwo.simulate("er", n_variables=n, n_samples=rows, noise=noise, random_state=seed)
    assert warned(found.data) == {}


@pytest.mark.parametrize("codes", [[1, 2, 3], [0, 1, 2], [10, 20, 30, 40]])
def test_codes_of_categories(frame, codes):
    frame["class"] = np.resize(codes, len(frame))
    frame["class"] = frame["class"].sample(frac=1, random_state=0).to_numpy()
    audit = qwo.audit(frame)
    [finding] = audit.warnings
    assert (finding.code, finding.columns) == ("codes", ("class",))
    assert audit.types["class"] == "ordinal"
    assert audit.types["a"] == "continuous"
    assert warned(frame, drop=finding.cures[0].value) == {}


def test_two_values_are_no_codes(frame):
    frame["sex"] = np.random.default_rng(0).integers(0, 2, len(frame))
    audit = qwo.audit(frame)
    assert audit.warnings == ()
    assert audit.types["sex"] == "binary"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", lambda rng, n: rng.permutation(n) + 1000),
        ("patient_id", lambda rng, n: rng.choice(10**6, n, replace=False)),
        ("x", lambda _, n: np.arange(n)),
        ("when", lambda rng, n: np.cumsum(rng.integers(1, 9, n))),
    ],
)
def test_columns_that_number_the_rows(frame, name, values):
    frame[name] = values(np.random.default_rng(0), len(frame))
    assert warned(frame)["identifier"] == (name,)


def test_counts_are_no_identifiers(frame):
    frame["population"] = np.random.default_rng(0).choice(10**6, len(frame), replace=False)
    assert "identifier" not in warned(frame)


def test_copies_but_for_rounding(frame):
    rng = np.random.default_rng(0)
    frame["sleep"] = rng.uniform(2, 20, len(frame)).round(1)
    frame["awake"] = (24 - frame.sleep + rng.choice([0, 0, 0, 0.05], len(frame))).round(2)
    audit = qwo.audit(frame)
    [finding] = audit.warnings
    assert (finding.code, finding.columns) == ("near-duplicate", ("sleep", "awake"))
    assert warned(frame, drop=finding.cures[0].value) == {}


@pytest.mark.parametrize("mark", [-999, 9999, -99])
def test_marks_of_missing_values(frame, tmp_path, mark):
    frame.loc[[3, 50], "b"] = mark
    audit = qwo.audit(frame)
    [finding] = [f for f in audit.warnings if f.code == "sentinel"]
    assert finding.columns == ("b",)
    [cure] = finding.cures
    with pytest.warns(qwo.DataWarning, match="2 of 200 rows are left out"):
        moments = Moments.from_frame(frame, null_values=cure.value, missing="drop")
    assert moments.n_samples == 198
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(qwo.DataWarning):
        again = Moments.from_data(tmp_path / "t.csv", null_values=cure.value, missing="drop")
    assert np.array_equal(again.correlation, moments.correlation)


def test_rows_that_are_stacked(frame):
    assert warned(pd.concat([frame] * 10)) == {"repeated-rows": ()}


def test_few_equal_rows_of_few_values_are_no_matter():
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, 30, 300), rng.integers(0, 30, 300)])
    assert warned(data) == {}


def test_rows_that_depend_on_the_row_before():
    steps = np.random.default_rng(0).standard_normal((150, 4))
    assert list(warned(steps.cumsum(axis=0))) == ["serial"]


def test_very_few_rows(frame):
    assert "few-rows" in warned(frame[:8])


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "few"),
    [(16, 7, True), (29, 7, True), (30, 7, False), (15, 3, False), (14, 3, True), (60, 30, False)],
)
def test_few_rows_depend_on_the_columns(n_rows, n_columns, few):
    """Such as the 16 years of Longley's 7 columns."""
    data = np.random.default_rng(0).standard_normal((n_rows, n_columns))
    assert ("few-rows" in warned(data)) == few


def test_two_values_are_worth_a_note_and_no_more(frame):
    frame["sex"] = np.resize([1, 2, 2], len(frame))
    audit = qwo.audit(frame)
    [note] = [finding for finding in audit.findings if finding.code == "binary"]
    assert (note.severity, note.columns, note.cures) == ("note", ("sex",), ())
    assert "'sex' (1, 2)" in note.message


def test_a_handful_of_rows_is_not_called_copies():
    data = np.random.default_rng(0).integers(0, 2, (3, 11)).astype(float)
    data[0], data[1] = 0, 1
    errors = qwo.audit(data).errors
    assert [finding.code for finding in errors] == ["few-rows"]
    assert errors[0].cures == ()


def test_all_columns_constant_is_an_error_that_names_them():
    with pytest.raises(ConstantColumnError, match="3 of 3 columns are constant: 'X0', 'X1', 'X2'"):
        Moments.from_data(np.ones((20, 3)))
    with pytest.raises(ConstantColumnError, match="'X0'") as caught:
        qwo.discover(np.column_stack([np.ones(20), np.arange(20.0) ** 2]))
    assert caught.value.cures == ()


def test_findings_are_kept_with_the_moments(frame):
    frame["a"] = np.exp(3 * frame.a)
    moments = Moments.from_frame(frame)
    assert [note.code for note in moments.audit().notes] == ["non-gaussian"]
    assert moments.audit() == qwo.audit(frame)


def test_an_audit_shows_itself(frame):
    audit = qwo.audit(frame.assign(a=1.0, t=[f"x<y{k}" for k in range(len(frame))]))
    assert "<table>" in audit._repr_html_()
    assert "x&lt;y" in audit._repr_html_()
    assert "drop=['a'] leaves it out" in str(audit)
    assert audit.types["t"] == "nominal"
    assert "nothing" in qwo.audit(frame)._repr_html_()


def test_merging_with_something_else_is_refused(frame):
    with pytest.raises(MergeError, match="a int"):
        Moments.from_frame(frame).merge(1)


def test_more_columns_than_memory_are_refused_with_their_size():
    class Wide:
        """A hundred thousand columns without the memory for them."""

        shape = (3, 100_000)

        def __array__(self, *_: object, **__: object) -> np.ndarray:
            return np.broadcast_to(np.arange(3.0)[:, None], (3, 100_000))

    with pytest.raises(ShapeError, match=r"100000 variables: each matrix .* 80 GB"):
        Moments.from_data(Wide())


class Labelled:
    """As much of xarray's labelled array as is used."""

    def __init__(self, values: np.ndarray, names: list[str]) -> None:
        self.values, self.ndim, self.dims = values, 2, ("row", "variable")
        self.coords = {"variable": np.array(names)}

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        return self.values


Labelled.__module__ = "xarray.core.dataarray"


def test_names_of_labelled_arrays(frame):
    assert Moments.from_data(Labelled(frame.to_numpy(), NAMES)).names == tuple(NAMES)


class TestAllRows:
    """The audit looks at rows from all over the data, and counts in all of them."""

    def test_marks_of_missing_values_far_below_the_first_rows_are_seen_and_counted(self) -> None:
        rng = np.random.default_rng(5)
        values = rng.standard_normal((10_000, 60))
        values[5000:5200, 7] = -999
        found = [f for f in qwo.audit(values).findings if f.code == "sentinel"]
        assert [f.columns for f in found] == [("X7",)]
        assert "-999 in 'X7' (200 times)" in found[0].message

    def test_a_single_mark_is_seen(self) -> None:
        values = np.random.default_rng(6).standard_normal((30_000, 40))
        values[20_011, 3] = 9999
        [found] = [f for f in qwo.audit(values).findings if f.code == "sentinel"]
        assert "9999 in 'X3' (1 times)" in found.message

    def test_a_column_may_be_skewed_behind_the_first_rows_only(self) -> None:
        values = np.random.default_rng(7).standard_normal((12_000, 50))
        values[4000:, 2] = np.exp(2 * values[4000:, 2])
        [found] = [f for f in qwo.audit(values).findings if f.code == "non-gaussian"]
        assert found.columns == ("X2",)

    @pytest.mark.parametrize("n_jobs", [1, 2, 3])
    def test_threads_do_not_change_what_is_looked_at(self, tmp_path: Path, n_jobs: int) -> None:
        values = np.random.default_rng(8).exponential(size=(60_000, 30))
        pd.DataFrame(values, columns=[f"x{k}" for k in range(30)]).to_parquet(
            tmp_path / "t.parquet"
        )
        options = ReadOptions(n_jobs=n_jobs)
        reading = TableReading(open_source(tmp_path / "t.parquet", options), options)
        sums, _ = reading.sums(reading.names, Coding.plain(30))
        assert len(sums.seen.spread) * sums.seen.stride in range(60_000, 60_000 + sums.seen.stride)
        np.testing.assert_array_equal(sums.seen.spread, values[:: sums.seen.stride])
