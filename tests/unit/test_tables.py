"""Reading arrays, frames of several libraries, CSV and Parquet files, and refusing bad ones."""

from __future__ import annotations

import decimal
import gzip

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qwo
from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    FileFormatError,
    InputError,
    MissingFileError,
    MissingPackageError,
    ShapeError,
)
from qwo.moments import Moments, read_moments
from qwo.moments import read_table as as_table

ROWS = [[1.0, 2.5], [3.0, 4.5], [0.5, -1.0]]


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write_file(content: str | bytes, name: str = "table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def reasons(table):
    return {column.name: column.reason for column in table.refused}


class TestArrays:
    def test_names_default_to_the_column_index(self):
        assert as_table(ROWS).names == ("X0", "X1")

    def test_names_become_strings(self):
        assert as_table(np.array(ROWS), names=[1, 2.5]).names == ("1", "2.5")

    def test_float64_is_not_copied(self):
        array = np.array(ROWS)
        assert as_table(array).values is array

    def test_masked_and_none_are_missing(self):
        masked = as_table(np.ma.masked_equal([[1, 2], [3, 4]], 2)).values
        none = as_table([[1, None], [3, 4]]).values
        assert np.array_equal(masked, [[1, np.nan], [3, 4]], equal_nan=True)
        assert np.array_equal(none, [[1, np.nan], [3, 4]], equal_nan=True)

    def test_objects_that_are_numbers_are_read(self):
        values = as_table([[decimal.Decimal("1.5"), np.True_], [2, np.float32(0.5)]]).values
        assert np.array_equal(values, [[1.5, 1.0], [2.0, 0.5]])

    def test_objects_that_are_not_are_refused(self):
        table = as_table(np.array([[1, 2], [3, "x"]], dtype=object))
        assert table.names == ("X0",)
        assert reasons(table) == {"X1": "str, for example 'x' in row 1"}

    @pytest.mark.parametrize("array", [np.ones((3, 2)) * 1j, np.array([["a", "b"], ["c", "d"]])])
    def test_complex_and_text_arrays_are_refused(self, array):
        table = as_table(array)
        assert table.names == ()
        assert [column.name for column in table.refused] == ["X0", "X1"]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ([1.0, 2.0], "1 dimensions"),
            (np.ones((2, 2, 2)), "3 dimensions"),
            (pd.Series([1.0, 2.0]), "1 dimensions"),
            ([[1, 2], [3]], "row 1 has 1 values, but row 0 has 2"),
        ],
    )
    def test_what_is_no_table_is_refused(self, data, message):
        with pytest.raises(ShapeError, match=message):
            as_table(data)

    def test_sparse_matrices_get_a_cure(self):
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(InputError, match="toarray"):
            as_table(sparse.eye_array(3))

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", "a"], "more than once: 'a'"),
            ([1, "1"], "more than once: '1'"),
            (["a", " "], "without a name .counted from 0: 1"),
            ("ab", "single string"),
        ],
    )
    def test_bad_names_are_refused(self, names, message):
        with pytest.raises(ColumnNameError, match=message):
            as_table(ROWS, names=names)

    def test_wrong_number_of_names(self):
        with pytest.raises(ShapeError, match="got 3 names for 2 columns"):
            as_table(ROWS, names=list("abc"))


def test_text_in_front_of_numbers_is_a_category_in_an_array_of_objects():
    rows = [["red", 1.5], ["blue", 2.5], ["red", 0.5]] * 4
    table = as_table(np.array(rows, dtype=object))
    assert table.names == ("X0", "X1")
    assert table.coding.variables[0].levels == ("blue", "red")


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
}


@pytest.mark.parametrize("library", FRAMES)
class TestFrames:
    def test_numbers_and_truth_values(self, library):
        frame = FRAMES[library]({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": [True, False, True]})
        table = as_table(frame)
        assert table.names == ("a", "b", "c")
        assert np.array_equal(table.values, [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
        assert table.refused == ()

    def test_null_is_nan_and_an_empty_column_is_all_nan(self, library):
        frame = FRAMES[library](
            {"a": [1, None, 3], "b": [None, None, None], "c": [True, None, False]}
        )
        table = as_table(frame)
        assert table.names == ("a", "b", "c")
        expected = [[1, np.nan, 1], [np.nan, np.nan, np.nan], [3, np.nan, 0]]
        assert np.array_equal(table.values, expected, equal_nan=True)

    def test_text_is_refused_with_the_value_to_blame(self, library):
        frame = FRAMES[library](
            {
                "a": [1, 2, 3],
                "word": ["x", None, "y"],
                "mixed": ["1", "?", "2"],
                "digits": ["1"] * 3,
            }
        )
        table = as_table(frame)
        assert table.names == ("a",)
        assert reasons(table) == {
            "word": "text with 2 different values, for example 'x'",
            "mixed": "text, since 1 of 3 values cannot be read as a number; the "
            "first is '?' in data row 2",
            "digits": "text that spells numbers, for example '1'",
        }

    def test_columns_are_chosen_by_name_or_position(self, library):
        frame = FRAMES[library]({"a": [1.0], "b": [2.0], "c": ["x"]})
        assert as_table(frame, columns=["b", 0]).names == ("b", "a")
        assert as_table(frame, drop=["c"]).names == ("a", "b")
        assert as_table(frame, drop=[0, 2]).names == ("b",)
        with pytest.raises(ColumnNameError, match="no such columns: 'z'; the table has 'a', 'b'"):
            as_table(frame, drop=["z"])
        with pytest.raises(ColumnNameError, match="wanted a list"):
            as_table(frame, drop="c")


def test_types_of_pandas():
    frame = pd.DataFrame(
        {
            "int": pd.array([1, None], dtype="Int64"),
            "truth": pd.array([True, None], dtype="boolean"),
            "object": pd.Series([1, pd.NA], dtype=object),
            "date": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "category": pd.Categorical(["u", "v"]),
            "complex": [1j, 2j],
            7: [1, 2],
        }
    )
    table = as_table(frame)
    assert table.names == ("int", "truth", "object", "category", "7")
    assert np.isnan(table.values[1, :3]).all()
    assert list(reasons(table)) == ["date", "complex"]
    assert "dates or times" in reasons(table)["date"]
    assert "2020" in reasons(table)["date"]
    assert table.values[:, 3].tolist() == [0, 1]
    assert reasons(table)["complex"] == "complex128, for example 1j"


def test_decimal_columns_are_numbers():
    column = pa.array([decimal.Decimal("1.50"), None], pa.decimal128(5, 2))
    values = as_table(pa.table({"a": column})).values
    assert np.array_equal(values, [[1.5], [np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_repeated_names_of_frames_are_refused(frame):
    with pytest.raises(ColumnNameError, match="more than once: 'a'") as caught:
        as_table(frame)
    assert caught.value.columns == ("a",)


def test_names_that_collide_as_strings_are_refused():
    with pytest.raises(ColumnNameError, match="more than once: '0'"):
        as_table(pd.DataFrame([[1, 2]], columns=[0, "0"]))


def test_lazy_frames_get_a_cure():
    with pytest.raises(InputError, match=r"data\.collect\(\)"):
        as_table(pl.LazyFrame({"a": [1]}))


def test_from_frame_wants_a_frame():
    with pytest.raises(InputError, match="the data are a ndarray; wanted a pandas"):
        Moments.from_frame(np.ones((3, 2)))


class TestCsv:
    @pytest.mark.parametrize(
        ("content", "name"),
        [
            ("a,b\n1,2.5\n3,4.5\n.5,-1e0\n", "t.csv"),
            ("a;b\r\n1;2.5\r\n3;4.5\r\n.5;-1\r\n", "t.csv"),
            ("a\tb\n1\t2.5\n3\t4.5\n.5\t-1", "t.tsv"),
            ("a|b\n1|2.5\n3|4.5\n.5|-1", "t.txt"),
            ("  a   b\n1  2.5\n 3 4.5 \n.5\t-1\n", "t.txt"),
            ("\n\na, b\n 1, 2.5 \n\n3, 4.5\n.5, -1\n", "t.csv"),
            ('"a","b"\n"1","2.5"\n"3","4.5"\n".5","-1"\n', "t.csv"),
            ("\ufeffa,b\n1,2.5\n3,4.5\n.5,-1\n", "T.CSV"),
            (gzip.compress(b"a,b\n1,2.5\n3,4.5\n.5,-1\n"), "t.csv.gz"),
        ],
        ids=["comma", "semicolon", "tab", "bar", "blanks", "padded", "quoted", "bom", "gzip"],
    )
    def test_what_separates_fields_is_seen(self, write, content, name):
        table = as_table(write(content, name))
        assert table.names == ("a", "b")
        assert np.array_equal(table.values, ROWS)

    def test_a_name_may_hold_the_separator_in_quotes(self, write):
        assert as_table(write('"a,b",c\n1,2\n')).names == ("a,b", "c")

    def test_the_separator_can_be_given(self, write):
        path = write("a,1:b\n1:2\n")
        assert as_table(path, separator=":").names == ("a,1", "b")

    def test_integers_that_become_floats_far_below(self, write):
        lines = ["a,b"] + ["1,2"] * 300_000 + ["1.5,2.5"]
        table = as_table(write("\n".join(lines)))
        assert table.values.shape == (300_001, 2)
        assert table.values[-1].tolist() == [1.5, 2.5]

    def test_missing_infinite_and_truth_values(self, write):
        table = as_table(write("a,b,c\n1,inf,true\nNA,,false\n3,-inf,true\n"))
        expected = [[1, np.inf, 1], [np.nan, np.nan, 0], [3, -np.inf, 1]]
        assert np.array_equal(table.values, expected, equal_nan=True)

    def test_other_marks_of_missing_values(self, write):
        path = write("a,b\n1,?\n3,4\n")
        assert list(reasons(as_table(path))) == ["b"]
        values = as_table(path, null_values=["?"]).values
        assert np.array_equal(values, [[1, np.nan], [3, 4]], equal_nan=True)

    def test_text_columns_name_the_value_and_row(self, write):
        table = as_table(write("a,b,day\n1,2,2020-01-01\n3,x7,2020-01-02\n"))
        assert table.names == ("a",)
        assert reasons(table)["b"].endswith("the first is 'x7' in data row 2")
        assert reasons(table)["day"].startswith("dates or times, for example '2020-01-01'")

    def test_numbers_beyond_float64_are_infinite(self, write):
        assert as_table(write("a,b\n1,1e999\n3,4\n")).values[0, 1] == np.inf

    def test_decimal_commas_get_a_cure(self, write):
        path = write("a;b\n1,5;2\n3,25;4\n")
        with pytest.raises(FileFormatError, match=r"decimal commas \('1,5'\)\nTry: decimal=','"):
            as_table(path)
        values = as_table(path, decimal=",").values
        assert np.array_equal(values, [[1.5, 2], [3.25, 4]])

    def test_no_column_is_left(self, write):
        assert as_table(write("a,b\n1,2\n3,4\n"), drop=["a", "b"]).values.shape == (2, 0)

    def test_quoted_groups_of_three_digits_are_thousands(self, write):
        path = write('a,b\n"1,549",2\n298,3\n"12,345,678.5",-4\n"-2,000",1\n')
        values = as_table(path).values
        assert np.array_equal(values, [[1549, 2], [298, 3], [12345678.5, -4], [-2000, 1]])

    def test_two_groups_are_thousands_whatever_the_separator(self, write):
        values = as_table(write("a;b\n1,549,000;2\n2,000;4\n")).values
        assert np.array_equal(values, [[1549000, 2], [2000, 4]])

    def test_commas_of_two_meanings_in_one_column_are_refused(self, write):
        with pytest.raises(FileFormatError, match=r"'1,549', as if .* and '3,5', as if") as error:
            as_table(write('a,b\n"1,549",2\n"3,5",3\n'))
        assert error.value.cures == ()

    def test_decimal_commas_beside_text(self, write):
        table = as_table(write("a;b\n1,5;x\n3,25;y\n"), decimal=",")
        assert np.array_equal(table.values, [[1.5], [3.25]])

    def test_a_missing_header_gets_a_cure(self, write):
        path = write("1,2\n3,4\n")
        with pytest.raises(FileFormatError, match=r"line 1 holds numbers(.|\n)*header=False"):
            as_table(path)
        table = as_table(path, header=False)
        assert table.names == ("X0", "X1")
        assert np.array_equal(table.values, [[1, 2], [3, 4]])

    def test_numbered_columns_of_pandas_are_a_header(self, write):
        table = as_table(write(pd.DataFrame([[5, 6, 7]]).to_csv(index=False)))
        assert table.names == ("0", "1", "2")
        assert table.values.tolist() == [[5.0, 6.0, 7.0]]

    def test_lines_of_unequal_length_are_found_beside_text(self, write):
        with pytest.raises(FileFormatError, match=r"line 4 .* has 3 fields .'5,6,7'.*has 2"):
            as_table(write("a,b\n1,x\n3,y\n5,6,7\n"))

    def test_bytes_that_are_no_text_are_refused(self, write):
        with pytest.raises(FileFormatError, match="UTF-8"):
            as_table(write(b"a,b\n1,\xff\n3,4\n"), encoding="utf-8")

    def test_lines_of_unequal_length_are_pointed_out(self, write):
        with pytest.raises(FileFormatError, match=r"line 3 .* has 1 field .'3'.*has 2"):
            as_table(write("a,b\n1,2\n3\n"))

    @pytest.mark.parametrize("name", ["", "Unnamed: 0", '""'])
    def test_an_unnamed_first_column_that_numbers_the_rows_is_an_index(self, write, name):
        table = as_table(write(f"{name},a,b\n0,1,2\n1,3,4\n2,5,9\n"))
        assert table.names == ("a", "b")
        assert table.values.tolist() == [[1, 2], [3, 4], [5, 9]]

    def test_row_names_of_r_that_are_numbers_out_of_order_are_an_index(self, write):
        table = as_table(write(",a,b\n85,1,2\n86,2,1\n4,3,5\n10,4,4\n"))
        assert table.names == ("a", "b")

    def test_an_unnamed_first_column_that_names_the_rows_is_an_index(self, write):
        table = as_table(write('"","mpg","cyl"\n"Mazda RX4",21,6\n"Datsun, 710",22.8,4\n'))
        assert table.names == ("mpg", "cyl")

    def test_the_index_is_noted(self, write):
        path = write(",a,b\n" + "".join(f"{k},{k**2},{(k * 7) % 11}\n" for k in range(15)))
        assert "taken for an index" in str(qwo.audit(path).notes[0])

    def test_an_unnamed_column_of_data_can_be_dropped(self, write):
        path = write(",a,b\n0.5,1,2\n0.25,3,4\n")
        with pytest.raises(ColumnNameError, match=r"counted from 0: 0(.|\n)*drop=\[0\]"):
            as_table(path)
        assert as_table(path, drop=[0]).names == ("a", "b")

    def test_what_write_table_of_r_writes(self, write):
        """One name less than fields, names in quotes, blanks between."""
        text = '"x 1" "x2"\n"1" 1.5 2\n"2" 3 -4\n"3" 0.5 7\n'
        table = as_table(write(text, "t.txt"))
        assert table.names == ("x 1", "x2")
        assert table.values.tolist() == [[1.5, 2], [3, -4], [0.5, 7]]

    def test_lines_may_end_in_cr(self, write):
        table = as_table(write("a,b\r1,2\r3,4\r"))
        assert table.values.tolist() == [[1, 2], [3, 4]]

    def test_a_very_long_field(self, write):
        with pytest.raises(InputError):
            as_table(write('a,b\n1,"' + "x" * 200_000 + '"\n', "t.csv"), drop=["c"])
        with pytest.raises(FileFormatError, match="field larger than"):
            as_table(write('"' + "n" * 200_000 + '",b\n1,2\n'))

    @pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.csv.zst"])
    def test_a_compressed_file_that_was_cut_off(self, write, name):
        text = "a,b\n" + "".join(f"{k},{k * k % 17}\n" for k in range(5000))
        codec = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}[name.rpartition(".")[2]]
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(text.encode())
        whole = sink.getvalue().to_pybytes()
        assert as_table(write(whole, name)).values.shape == (5000, 2)
        with pytest.raises(FileFormatError):
            Moments.from_csv(write(whole[: len(whole) // 2], name))

    def test_a_mark_among_numbers_is_cured_as_such(self, write):
        path = write("a,b\n" + "".join(f"{k},{'.' if k == 7 else k * 7 % 13}\n" for k in range(30)))
        with pytest.raises(InputError) as caught:
            Moments.from_csv(path)
        [cure] = caught.value.cures
        assert (cure.option, cure.value) == ("null_values", ["."])
        moments, _ = read_moments(path, null_values=".", missing="drop")
        assert moments.n_samples == 29

    def test_repeated_names_are_refused_unless_dropped(self, write):
        path = write("a,b,a\n1,2,3\n")
        with pytest.raises(ColumnNameError, match="'a'"):
            as_table(path)
        assert as_table(path, drop=[2]).values.tolist() == [[1.0, 2.0]]

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_an_empty_file_is_refused(self, write, content):
        with pytest.raises(FileFormatError, match="is empty"):
            as_table(write(content))

    def test_a_header_without_rows_is_an_empty_table(self, write):
        assert as_table(write("a,b\n")).values.shape == (0, 2)

    def test_other_encodings_are_refused_where_they_are_not_what_is_said(self, write):
        path = write("é,b\n1,2\n".encode("latin-1"))
        assert as_table(path).names == ("é", "b")
        with pytest.raises(FileFormatError, match="UTF-8"):
            as_table(path, encoding="utf-8")

    def test_many_columns(self, write):
        width = 4000
        content = ",".join(f"v{k}" for k in range(width)) + "\n" + ",".join(["0.125"] * width)
        table = as_table(write(content))
        assert table.values.shape == (1, width)

    @pytest.mark.parametrize(
        "options",
        [
            {"separator": "::"},
            {"separator": ""},
            {"decimal": 5},
            {"decimal": "\0"},
            {"decimal": "7"},
        ],
    )
    def test_bad_options_are_refused(self, write, options):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            Moments.from_csv(write("a,b\n1,2\n"), **options)

    def test_from_csv_takes_the_options(self, write):
        rng = np.random.default_rng(0)
        lines = [f"{a:.5f};{b:.5f};u".replace(".", ",") for a, b in rng.standard_normal((50, 2))]
        path = write("\n".join(["a;b;c", *lines]))
        moments = Moments.from_csv(path, decimal=",", drop=["c"], covariance_estimator="oas")
        assert moments.names == ("a", "b")
        assert moments.n_samples == 50


class TestParquet:
    def test_reads_columns(self, tmp_path):
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"a": [1, 2], "b": [0.5, None], "c": ["x", "y"]}), path)
        table = as_table(path)
        assert table.names == ("a", "b")
        assert np.array_equal(table.values, [[1, 0.5], [2, np.nan]], equal_nan=True)
        assert as_table(path, columns=["b", "a"]).names == ("b", "a")

    def test_from_parquet(self, tmp_path):
        x = np.random.default_rng(0).standard_normal((30, 3))
        pl.DataFrame(x, schema=["a", "b", "c"]).write_parquet(tmp_path / "t.parquet")
        moments = Moments.from_parquet(tmp_path / "t.parquet", drop=["c"])
        np.testing.assert_allclose(moments.correlation, np.corrcoef(x[:, :2].T), atol=1e-14)

    def test_what_is_not_parquet_is_refused(self, write):
        with pytest.raises(FileFormatError, match="not a readable Parquet file"):
            as_table(write("a,b\n1,2\n", "t.parquet"))


class TestPaths:
    @pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none"])
    def test_a_missing_file_is_also_a_file_not_found_error(self, tmp_path, name):
        with pytest.raises(MissingFileError, match="there is no file") as caught:
            as_table(str(tmp_path / name))
        assert isinstance(caught.value, FileNotFoundError)
        assert isinstance(caught.value, InputError)

    def test_an_unknown_suffix_is_refused(self, write):
        with pytest.raises(FileFormatError, match=r"wanted one of \.csv"):
            as_table(write("a,b\n1,2\n", "t.xyz"))

    def test_a_folder_without_such_files(self, tmp_path):
        (tmp_path / "t.parquet").write_bytes(b"")
        with pytest.raises(MissingFileError, match=r"holds no files that end in one of \.csv"):
            Moments.from_csv(tmp_path)

    @pytest.mark.parametrize("path", ["", " ", "a\0b", "x" * 5000])
    def test_what_is_no_path(self, path):
        with pytest.raises(MissingFileError):
            Moments.from_data(path)


class TestFilesThatPandasReads:
    """Spreadsheets and the files of statistics programs."""

    @pytest.mark.parametrize(
        ("suffix", "function", "package"),
        [
            (".xlsx", "read_excel", "openpyxl"),
            (".dta", "read_stata", ""),
            (".sav", "read_spss", "pyreadstat"),
        ],
    )
    def test_the_frame_of_the_reader_is_read(self, write, monkeypatch, suffix, function, package):
        """With a stand-in for the reader, so that no package besides pandas is needed."""
        del package
        path = write(b"of no use", f"t{suffix}")
        frame = pd.DataFrame(ROWS, columns=["a", "b"])

        def read(file, sheet_name=0):
            found = frame if file == path else None
            return {"one": found} if sheet_name is None else found

        monkeypatch.setattr(pd, function, read)
        assert as_table(path).names == ("a", "b")
        assert as_table(path, drop=["a"]).values.tolist() == [[2.5], [4.5], [-1.0]]

    @pytest.mark.parametrize(
        ("suffix", "function", "package"),
        [(".xlsx", "read_excel", "openpyxl"), (".sav", "read_spss", "pyreadstat")],
    )
    def test_what_is_missing_is_named(self, write, monkeypatch, suffix, function, package):
        def refuse(_file, **_options):
            raise ImportError(package)

        monkeypatch.setattr(pd, function, refuse)
        with pytest.raises(MissingPackageError, match=f"pip install {package}, or save .* CSV"):
            as_table(write(b"x", f"t{suffix}"))

    def test_stata_files_for_real(self, tmp_path):
        frame = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 2)), columns=["a", "b"])
        frame.to_stata(tmp_path / "t.dta", write_index=False)
        assert Moments.from_data(tmp_path / "t.dta").names == ("a", "b")

    def test_spreadsheets_for_real(self, tmp_path):
        pytest.importorskip("openpyxl", reason="the reader of .xlsx is not installed")
        pd.DataFrame(ROWS, columns=["a", "b"]).to_excel(tmp_path / "t.xlsx", index=False)
        assert as_table(tmp_path / "t.xlsx").values.tolist() == ROWS

    def test_spss_files_for_real(self, tmp_path):
        spss = pytest.importorskip("pyreadstat", reason="the reader of .sav is not installed")
        spss.write_sav(pd.DataFrame(ROWS, columns=["a", "b"]), str(tmp_path / "t.sav"))
        assert as_table(tmp_path / "t.sav").values.tolist() == ROWS

    def test_a_damaged_file_is_no_fault_of_the_package(self, write):
        with pytest.raises(FileFormatError, match=r"not a readable \.dta file"):
            as_table(write(b"no data", "t.dta"))


def test_columns_are_dropped_by_an_array_of_names_or_positions():
    frame = pd.DataFrame(np.zeros((3, 4)), columns=list("abcd"))
    for drop in (np.array(["a", "c"]), np.array([0, 2]), pd.Index(["a", "c"]), {"a", "c"}):
        assert as_table(frame, drop=drop).names == ("b", "d")
    for wrong in (5, [["a"]], [{"a"}]):
        with pytest.raises(ColumnNameError, match="wanted a list of column names"):
            as_table(frame, drop=wrong)


def test_positions_are_texts_only_where_a_column_has_no_name_of_its_own(write):
    path = write(",a,b,a,5\n0.5,1,2,3,7\n0.25,3,4,5,8\n")
    assert as_table(path, drop=["0", "3"]).names == ("a", "b", "5")
    assert as_table(path, drop=["0", "a", "5"]).names == ("b",)
    with pytest.raises(ColumnNameError, match="no such columns: '2'"):
        as_table(path, drop=["0", "3", "2"])
