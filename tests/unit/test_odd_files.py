"""Files as other programs and other countries write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError, NonNumericError


@pytest.fixture
def frame() -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=(60, 3))
    return pd.DataFrame(values, columns=["Größe", "b", "c"])


@pytest.mark.parametrize(("encoding", "told"), [("latin-1", "cp1252"), ("utf-16", "utf-16")])
def test_encodings_are_told_by_the_first_bytes_and_said(
    tmp_path: Path, frame: pd.DataFrame, encoding: str, told: str
) -> None:
    file = tmp_path / "odd.csv"
    frame.to_csv(file, index=False, encoding=encoding)
    moments = qwo.Moments.from_csv(file)
    assert moments.names == ("Größe", "b", "c")
    assert moments.n_samples == 60
    np.testing.assert_allclose(moments.means, frame.mean())
    [note] = qwo.audit(file).notes
    assert f"read as {told}" in note.message
    assert not qwo.audit(file, encoding=encoding).findings


def test_letters_far_down_name_the_option(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "late.csv"
    wide = pd.concat([frame] * 60, ignore_index=True)
    wide.insert(0, "word", ["a"] * (len(wide) - 1) + ["é"])
    wide = wide.rename(columns={"Größe": "a"})
    file.write_bytes(wide.to_csv(index=False).encode("latin-1"))
    with pytest.raises(qwo.InputError, match="encoding='cp1252'"):
        qwo.Moments.from_csv(file)
    assert qwo.Moments.from_csv(file, encoding="cp1252", drop=["word"]).n_samples == 3600


def test_lines_of_comments_are_left_out(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "c.csv"
    text = frame.to_csv(index=False).replace("\n", "\n# amid, the, rows\n", 3)
    file.write_text(f"# made by a machine\n#, on a, day\n\n{text}# end\n", encoding="utf-8")
    moments = qwo.Moments.from_csv(file)
    assert moments.names == tuple(frame.columns)
    np.testing.assert_allclose(moments.means, frame.mean())
    assert any(f.code == "comments" for f in qwo.audit(file).notes)


def test_names_that_begin_with_a_hash_are_names(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "g.tsv"
    file.write_text("#a\tb\tc\n" + frame.to_csv(index=False, header=False, sep="\t"))
    assert qwo.Moments.from_csv(file).names == ("#a", "b", "c")


def test_per_cent_is_a_number(tmp_path: Path, frame: pd.DataFrame) -> None:
    shares = np.random.default_rng(1).uniform(0, 100, size=60).round(1)
    frame["share"] = [f"{share} %" for share in shares]
    frame.to_csv(tmp_path / "p.csv", index=False)
    moments = qwo.Moments.from_csv(tmp_path / "p.csv")
    assert moments.means[3] == pytest.approx(shares.mean())


def test_dates_are_neither_numbers_nor_categories(tmp_path: Path, frame: pd.DataFrame) -> None:
    frame["month"] = ["2020-01-01", "2020-02-01"] * 30
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(NonNumericError, match="dates or times, for example '2020-01-01'"):
        qwo.Moments.from_csv(tmp_path / "d.csv")
    said = qwo.Moments.from_csv(tmp_path / "d.csv", types={"month": "nominal"})
    assert said.n_variables == 4
    frame["month"] = pd.date_range("1970-01-01", periods=60)
    [error] = qwo.audit(frame).errors
    assert "dates or times, for example '1970-01-01'" in error.message


def test_sheets_are_named_and_chosen(tmp_path: Path, frame: pd.DataFrame) -> None:
    pytest.importorskip("openpyxl")
    file = tmp_path / "x.xlsx"
    with pd.ExcelWriter(file) as writer:
        frame.to_excel(writer, sheet_name="one", index=False)
        (2 * frame).to_excel(writer, sheet_name="two", index=False)
    [note] = qwo.audit(file).notes
    assert "2 sheets; 'one' is read" in note.message
    second = qwo.discover(file, sheet="two", random_state=0).origin
    assert second is not None
    np.testing.assert_allclose(second.moments().scales, 2 * frame.std(ddof=0), rtol=0.02)
    with pytest.raises(ArgumentError, match="'one', 'two'"):
        qwo.audit(file, sheet="three")
