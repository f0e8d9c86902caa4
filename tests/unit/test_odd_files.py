"""Files as other programs and other countries write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError, FileFormatError, NonNumericError

SWAPPED = str.maketrans(",.", ".,")


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
    file, rng = tmp_path / "late.csv", np.random.default_rng(1)
    wide = pd.concat([frame + rng.normal(size=(60, 3)) for _ in range(60)], ignore_index=True)
    wide.insert(0, "word", ["a"] * (len(wide) - 1) + ["é"])
    wide = wide.rename(columns={"Größe": "a"})
    file.write_bytes(wide.to_csv(index=False).encode("latin-1"))
    with pytest.raises(qwo.InputError, match="encoding='cp1252'"):
        qwo.Moments.from_csv(file)
    assert qwo.Moments.from_csv(file, encoding="cp1252", drop=["word"]).n_samples == 3600


@pytest.mark.parametrize(
    "write",
    [
        lambda v: f"{v:,.0f}".replace(",", "'"),
        lambda v: f"{v:,.0f}".replace(",", "\N{NO-BREAK SPACE}"),
        lambda v: f"{v:,.0f}".replace(",", " ").replace("-", "\N{MINUS SIGN}"),
        lambda v: f"{v:.0f}".replace("-", "\N{MINUS SIGN}"),
    ],
)
def test_thousands_apart_and_signs_of_typesetters_are_numbers(tmp_path: Path, write: Any) -> None:
    """They were called text, with the advice to drop the column."""
    file, values = tmp_path / "d.csv", np.random.default_rng(0).normal(size=(60, 2)) * 50_000
    rows = "".join(f"{write(a)},{b}\n" for a, b in values)
    file.write_text(f"a,b\n{rows}", encoding="utf-8")
    np.testing.assert_allclose(qwo.Moments.from_csv(file).means, values.mean(axis=0), atol=0.6)
    file.write_text(f"a,b\n{rows}4 5,1\n", encoding="utf-8")
    with pytest.raises(NonNumericError, match=r"'a' \(text"):
        qwo.Moments.from_csv(file)


def test_a_separator_at_the_end_of_each_line_is_no_index(tmp_path: Path) -> None:
    """With names without one, all names were read one column further left."""
    file, values = tmp_path / "t.csv", np.random.default_rng(0).normal(size=(30, 3))
    file.write_text("a,b,c\n" + "".join(f"{a},{b},{c},\n" for a, b, c in values))
    with pytest.raises(
        qwo.InputError, match=r"(?s)without a name \(counted from 0: 3\).*drop=\[3\]"
    ):
        qwo.Moments.from_csv(file)
    found = qwo.Moments.from_csv(file, drop=[3])
    assert found.names == ("a", "b", "c")
    np.testing.assert_allclose(found.means, values.mean(axis=0))


def test_a_name_on_two_lines_is_a_name(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "cell.csv"
    file.write_text('"dose\n(mg)",b,c\n' + frame.to_csv(index=False, header=False))
    found = qwo.Moments.from_csv(file)
    assert found.names == ("dose (mg)", "b", "c")
    np.testing.assert_allclose(found.means, frame.mean())


def test_lines_that_do_not_fit_are_shown_beside_the_names(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("Results of the trial\n\na,b\n1,2\n")
    with pytest.raises(qwo.InputError, match=r"1 field \('a,b'\).* first line has 4 \('Res"):
        qwo.Moments.from_csv(file)
    file.write_text("<html>404 not found</html>\n")
    with pytest.raises(qwo.InputError, match="there is nothing below its first line"):
        qwo.Moments.from_csv(file)


def test_few_rows_many_times_over_are_named() -> None:
    """Ten rows, each twelve times, gave four solid links without a warning."""
    rows = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.warns(qwo.DataWarning, match="repeat others exactly"):
        found = qwo.discover(np.tile(rows, (12, 1)))
    assert found.doubted_rates.startswith("110 of the 120 rows")
    # Values that are few by themselves, as of five doses, are no copies.
    grid = np.random.default_rng(1).integers(0, 12, size=(120, 4)) / 7
    assert not any(f.code == "repeated-rows" for f in qwo.audit(grid).findings)


def test_levels_spelt_in_two_ways_are_named() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "Male", "female", "other "], 200)
    table = pd.DataFrame({"sex": sex, "a": rng.normal(size=200), "b": rng.normal(size=200)})
    [finding] = [f for f in qwo.audit(table).findings if f.code == "spellings"]
    assert "'sex' ('Male', 'male')" in finding.message
    table["sex"] = table["sex"].str.lower()
    assert not any(f.code == "spellings" for f in qwo.audit(table).findings)


def test_names_of_families_are_clusters_and_codes_are_none(tmp_path: Path) -> None:
    """Galton's families, two of them "136A", were to be dropped; parties (PID) were people."""
    rng, file = np.random.default_rng(0), tmp_path / "t.csv"
    rows = pd.DataFrame(rng.normal(size=(200, 3)), columns=["father", "mother", "height"])
    rows["family"] = [f"{k // 4}{'A' * (k > 190)}" for k in range(200)]
    rows["PID"] = rng.integers(0, 7, 200)
    rows["sex"] = rng.integers(0, 2, 200)
    rows.to_csv(file, index=False)
    with pytest.raises(NonNumericError, match="cluster='family'") as refused:
        qwo.Moments.from_csv(file)
    assert "drop=" not in str(refused.value)
    audit = qwo.audit(file, cluster="family")
    assert not any("PID" in f.message for f in audit.findings if f.code == "clusters")
    assert len({f.message for f in audit.findings}) == len(audit.findings), "nothing twice"


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
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ArgumentError, match="no workbook"):
        qwo.audit(tmp_path / "x.csv", sheet="two")


def test_per_cent_in_a_sheet_are_numbers(tmp_path: Path, frame: pd.DataFrame) -> None:
    pytest.importorskip("openpyxl")
    first = frame.columns[0]
    shares = frame.assign(**{first: [f"{value:.4f} %" for value in frame[first]]})
    shares.to_excel(tmp_path / "x.xlsx", index=False)
    read = qwo.Moments.from_data(tmp_path / "x.xlsx")
    np.testing.assert_allclose(read.scales, qwo.Moments.from_data(frame).scales, rtol=1e-3)


@pytest.mark.parametrize(
    "example", ["Apr 1 2005", "2-Jan-2020", "1990Q3", "2020-05", "12:30:00", "March 2001"]
)
def test_dates_are_known_in_many_spellings(frame: pd.DataFrame, example: str) -> None:
    frame["when"] = [example] * len(frame)
    [error] = qwo.audit(frame).errors
    assert f"dates or times, for example {example!r}" in error.message
    assert ("time", "when") in [(cure.option, cure.value) for cure in error.cures]


def test_numbers_with_a_currency_or_a_unit_are_told(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    frame["price"] = [f"${x:,.2f}" for x in 1e5 * rng.random(len(frame))]
    frame["dose"] = [f"{x:.3f} mg/dl" for x in rng.random(len(frame))]
    frame["code"] = [f"AB{k}7X" for k in range(len(frame))]
    [error] = qwo.audit(frame).errors
    assert error.message.count("numbers with other signs beside them") == 2
    assert "'code' (text with" in error.message


def test_spellings_of_missing_values_are_offered_together(frame: pd.DataFrame) -> None:
    values = frame.iloc[:, 0].astype(str).to_list()
    values[:6] = ["None", "n.d.", "unknown", "..", "#REF!", "n/k"]
    frame.isetitem(0, values)
    [error] = qwo.audit(frame).errors
    marks = [cure.value for cure in error.cures if cure.option == "null_values"]
    assert marks == [["None", "n.d.", "unknown", "..", "#REF!", "n/k"]]


def test_countries_of_many_rows_are_offered_as_clusters() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["gdp", "births"])
    frame["country"] = [f"land {k // 10}" for k in range(600)]
    frame["region"] = [f"part {k // 20}" for k in range(600)]
    [error] = qwo.audit(frame).errors
    offered = {cure.option: cure.value for cure in error.cures if cure.option != "types"}
    assert offered == {"drop": ["region"], "cluster": "country"}


@pytest.mark.parametrize(
    ("write", "separator", "said"),
    [
        (lambda v: f'"{v:,.0f}"', ",", "as if commas stood between thousands"),
        (lambda v: f"{v:,.0f}", ";", "as if commas stood between thousands"),
        (lambda v: f"{v / 10:.3f}", ";", "its point may be one, too"),
        (lambda v: f"{v:.3f}".replace(".", "," if v > 1000 else "."), ";", "in one column"),
    ],
)
def test_commas_are_no_decimal_marks_because_that_is_said(
    tmp_path: Path, write: Any, separator: str, said: str
) -> None:
    """They were read as 1.549 beside 298, or 10.691 beside 11,643, without a word."""
    file, values = tmp_path / "d.csv", np.random.default_rng(0).uniform(200, 2000, size=60)
    rows = "".join(f"{write(v)}{separator}{k % 7}\n" for k, v in enumerate(values))
    file.write_text(f"a{separator}b\n{rows}", encoding="utf-8")
    with pytest.raises(FileFormatError, match=said):
        qwo.Moments.from_csv(file, decimal=",")


@pytest.mark.parametrize("form", ["{:,.2f}", "{:,.0f}"])
def test_points_between_thousands_go_with_decimal_commas(tmp_path: Path, form: str) -> None:
    file, values = tmp_path / "d.csv", np.random.default_rng(0).uniform(200, 20_000, size=60)
    rows = "".join(f"{form.format(v).translate(SWAPPED)};{k % 7},5\n" for k, v in enumerate(values))
    file.write_text(f"a;b\n{rows}", encoding="utf-8")
    means = qwo.Moments.from_csv(file, decimal=",").means
    np.testing.assert_allclose(means[0], values.mean(), rtol=1e-4)
    file.write_text(f"a;b\n{rows}".replace(".", ""), encoding="utf-8")
    np.testing.assert_allclose(qwo.Moments.from_csv(file, decimal=",").means, means)


def test_a_line_may_say_the_separator(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "excel.csv"
    file.write_text("sep=;\n" + frame.to_csv(index=False, sep=";"), encoding="utf-8")
    found = qwo.Moments.from_csv(file)
    assert found.names == tuple(frame.columns)
    np.testing.assert_allclose(found.means, frame.mean())


def test_titles_above_the_names_are_told(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "title.csv"
    file.write_text("Study of 2024\n" + frame.to_csv(index=False), encoding="utf-8")
    with pytest.raises(FileFormatError, match="if that is a title, delete it"):
        qwo.Moments.from_csv(file)
    book = tmp_path / "merged.xlsx"
    frame.T.reset_index().T.to_excel(book, index=False, header=["Baseline", None, "Later"])
    with pytest.raises(FileFormatError, match=r"no name for 1 column, and line 2 holds text alone"):
        qwo.discover(book)


@pytest.mark.parametrize("place", [0, 30])
def test_a_second_line_of_names_or_units_is_told(
    tmp_path: Path, frame: pd.DataFrame, place: int
) -> None:
    file, lines = tmp_path / "units.csv", frame.to_csv(index=False).splitlines(keepends=True)
    file.write_text("".join([*lines[: place + 1], "mm,kg,s\n", *lines[place + 1 :]]))
    with pytest.raises(NonNumericError, match=f"if data row {place + 1} holds names or units"):
        qwo.Moments.from_csv(file)


def test_a_row_of_sums_is_told(frame: pd.DataFrame) -> None:
    """It outweighs all rows together."""
    summed = pd.concat([frame, frame.sum().to_frame().T])
    assert [f.columns for f in qwo.audit(summed).warnings if f.code == "totals"] == [
        tuple(frame.columns)
    ]
    assert "totals" not in [f.code for f in qwo.audit(frame).findings]


def test_long_tables_are_told(frame: pd.DataFrame) -> None:
    long = frame.melt()
    assert [f.columns for f in qwo.audit(long).warnings if f.code == "long"] == [
        ("variable", "value")
    ]


def test_values_below_a_limit_are_not_offered_as_missing(frame: pd.DataFrame) -> None:
    """Left out, they would take the low end of the column along."""
    frame["d"] = [f"{v:.2f}" if v > 0.1 else "<0.1" for v in np.exp(frame["b"] - 1)]
    with pytest.raises(NonNumericError, match="not missing at random") as error:
        qwo.discover(frame)
    assert "null_values" not in [cure.option for cure in error.value.cures]


@pytest.mark.parametrize("written", ['="{:.2f}"', "'{:.2f}'"])
def test_numbers_in_marks_of_spreadsheets_are_told(frame: pd.DataFrame, written: str) -> None:
    frame["d"] = [written.format(abs(v) + k) for k, v in enumerate(frame["b"])]
    with pytest.raises(NonNumericError, match="write the numbers alone"):
        qwo.discover(frame)


def test_feather_is_read(tmp_path: Path, frame: pd.DataFrame) -> None:
    file = tmp_path / "d.feather"
    frame.to_feather(file)
    assert qwo.audit(file).findings == ()
    assert qwo.discover(file).names == tuple(frame.columns)


def test_values_with_leading_zeros_are_told(tmp_path: Path, frame: pd.DataFrame) -> None:
    """Codes of places and persons were numbers without a word."""
    rng, file = np.random.default_rng(0), tmp_path / "codes.csv"
    frame["zip"] = [f"{k:05d}" for k in rng.integers(10**5, size=60)]
    frame["month"] = [f"{k:02d}" for k in rng.integers(1, 13, size=60)]
    frame.to_csv(file, index=False)
    [told] = [f for f in qwo.audit(file).warnings if "leading zeros" in f.message]
    assert told.columns == ("zip",)
    [drop] = [cure for cure in told.cures if cure.option == "drop"]
    assert not [f for f in qwo.audit(file, drop=drop.value).findings if "zeros" in f.message]
