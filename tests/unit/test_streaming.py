"""Data read in pieces: the moments and findings of the same data in memory, for any cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    ConstantColumnError,
    DataWarning,
    FileFormatError,
    InputError,
    MissingFileError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
)
from qwo.moments import Moments, audit_file, read_moments
from qwo.moments.sums import BATCH_BYTES, BATCH_ROWS, Plan, parse_bytes

NAMES = list("abcd")


@pytest.fixture
def data() -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.standard_normal((3000, 4)) @ (np.eye(4) + 0.4) + [0, 5, -1e6, 1e-3]


@pytest.fixture
def frame(data) -> pd.DataFrame:
    return pd.DataFrame(data, columns=NAMES)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch) -> None:
    """About 260 rows in a batch and 512 in a piece, so that even small tables come in many."""
    monkeypatch.setattr("qwo.moments.sums.BATCH_BYTES", 1 << 10)
    monkeypatch.setattr("qwo.moments.sums.BATCH_ROWS", 1)
    monkeypatch.setattr("qwo.moments.sums.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("qwo.moments.sums.PIECE_BLOCKS", 2)


def save(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=700)
    else:
        frame.to_csv(path, index=False)
    return path


def agree(first: Moments, second: Moments, tolerance: float = 1e-10) -> None:
    assert first.names == second.names
    assert first.n_samples == pytest.approx(second.n_samples)
    np.testing.assert_allclose(first.correlation, second.correlation, atol=tolerance)
    np.testing.assert_allclose(first.scales, second.scales, rtol=tolerance)
    np.testing.assert_allclose(first.means, second.means, rtol=tolerance)


class TestSources:
    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_a_file(self, frame, tmp_path, name):
        agree(Moments.from_dataset(save(frame, tmp_path / name)), Moments.from_frame(frame))

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_folders_patterns_and_lists(self, frame, tmp_path, suffix):
        files = [save(frame[k::3], tmp_path / f"part-{k}.{suffix}") for k in range(3)]
        (tmp_path / "_SUCCESS").touch()
        expected = Moments.from_frame(pd.concat([frame[k::3] for k in range(3)]))
        agree(Moments.from_dataset(tmp_path), expected)
        agree(Moments.from_dataset(f"{tmp_path}/part-*.{suffix}"), expected)
        agree(Moments.from_dataset(files), expected)
        agree(Moments.from_data(tmp_path), expected)

    def test_a_compressed_text_file(self, frame, tmp_path):
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        agree(Moments.from_dataset(path), Moments.from_frame(frame))

    def test_hive_folders_give_columns(self, frame, tmp_path):
        for year in (2020, 2021, 2023):
            folder = tmp_path / f"year={year}" / "land=de"
            folder.mkdir(parents=True)
            save(frame[year - 2020 :: 4], folder / "part-0.parquet")
        parts = [frame[y - 2020 :: 4].assign(year=float(y)) for y in (2020, 2021, 2023)]
        years = {"year": "continuous"}
        moments = Moments.from_dataset(tmp_path, drop=["land"], types=years)
        agree(moments, Moments.from_frame(pd.concat(parts), types=years))
        with pytest.raises(ConstantColumnError, match="'land'"):
            Moments.from_dataset(tmp_path)

    def test_a_dataset_of_pyarrow(self, frame, tmp_path):
        path = save(frame, tmp_path / "t.parquet")
        agree(Moments.from_dataset(pads.dataset(path)), Moments.from_frame(frame))

    def test_columns_may_stand_in_another_order_in_each_file(self, frame, tmp_path):
        save(frame[:1000], tmp_path / "1.csv")
        save(frame[1000:][["c", "a", "d", "b"]], tmp_path / "2.csv")
        agree(Moments.from_dataset(tmp_path), Moments.from_frame(frame))

    def test_a_file_that_lacks_a_column_is_named(self, frame, tmp_path):
        save(frame[:1000], tmp_path / "1.csv")
        save(frame[1000:][["a", "b", "d"]], tmp_path / "2.csv")
        with pytest.raises(ColumnNameError, match=r"2\.csv lacks .* 'c'"):
            Moments.from_dataset(tmp_path)

    def test_selection(self, frame, tmp_path):
        path = save(frame.assign(id="x"), tmp_path / "t.csv")
        agree(
            Moments.from_dataset(path, columns=["d", "a", "id"], drop=["id"]),
            Moments.from_frame(frame[["d", "a"]]),
        )

    def test_other_files_in_a_folder_are_left_alone(self, frame, tmp_path):
        save(frame, tmp_path / "t.csv")
        (tmp_path / "t.csv.bak").write_text("rubbish")
        (tmp_path / ".t.csv").write_text("rubbish")
        agree(Moments.from_dataset(tmp_path), Moments.from_frame(frame))

    def test_lines_longer_than_a_piece(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            rng.standard_normal((50, 3000)), columns=[f"v{k}" for k in range(3000)]
        )
        path = save(frame, tmp_path / "t.csv")
        moments = Moments.from_dataset(path, columns=["v0", "v2999"])
        agree(moments, Moments.from_frame(frame[["v0", "v2999"]]))

    def test_text_options(self, frame, tmp_path):
        path = tmp_path / "t.csv"
        frame.round(6).to_csv(path, index=False, sep=";", decimal=",")
        agree(Moments.from_dataset(path, decimal=","), Moments.from_frame(frame.round(6)))

    def test_blanks_and_truth_values(self, frame, tmp_path):
        flags = frame.assign(e=frame.a > 0)
        path = tmp_path / "t.txt"
        flags.to_csv(path, index=False, sep=" ")
        agree(Moments.from_dataset(path), Moments.from_frame(flags))

    def test_a_last_line_without_end(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,b\n1,2\n2,1\n5,7")
        with pytest.warns(DataWarning, match="only 3 samples"):
            assert Moments.from_dataset(path).n_samples == 3

    def test_what_is_not_there(self, frame, tmp_path):
        for source in (tmp_path / "none.csv", f"{tmp_path}/*.csv", tmp_path):
            with pytest.raises(MissingFileError):
                Moments.from_dataset(source)
        save(frame, tmp_path / "1.csv")
        save(frame, tmp_path / "2.parquet")
        with pytest.raises(FileFormatError, match="one kind"):
            Moments.from_dataset(tmp_path)


class TestResults:
    def test_do_not_depend_on_the_number_of_workers(self, frame, tmp_path):
        path = save(frame, tmp_path / "t.csv")
        one, two = (Moments.from_dataset(path, n_jobs=jobs) for jobs in (1, 3))
        assert np.array_equal(one.correlation, two.correlation)
        assert np.array_equal(one.means, two.means)

    def test_large_offsets_and_extreme_units_cost_no_digits(self, tmp_path):
        rng = np.random.default_rng(0)
        plain = rng.standard_normal((2000, 3)) @ (np.eye(3) + 0.5)
        frame = pd.DataFrame(plain * [1e-120, 1.0, 1e120] + [0.0, 1e8, 0.0], columns=list("abc"))
        path = save(frame, tmp_path / "t.parquet")
        agree(Moments.from_dataset(path), Moments.from_frame(frame), 1e-7)

    @pytest.mark.filterwarnings("ignore::qwo.DataWarning")
    def test_weights_count_rows(self, frame, tmp_path):
        counts = np.random.default_rng(0).integers(0, 4, len(frame))
        repeated = frame.loc[frame.index.repeat(counts)]
        path = save(frame.assign(w=counts), tmp_path / "t.parquet")
        agree(Moments.from_dataset(path, weights="w"), Moments.from_frame(repeated))
        moments = Moments.from_dataset(path, drop=["w"], weights=counts)
        agree(moments, Moments.from_frame(repeated))

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.ones(2999), "2999 weights but more rows"),
            (np.ones(3001), "3001 weights but 3000 rows"),
            (np.full(3000, -1.0), "3000 of 3000 weights are negative"),
            (np.ones((2, 2)), "2 dimensions"),
        ],
    )
    def test_bad_weights_are_refused(self, frame, tmp_path, weights, message):
        path = save(frame, tmp_path / "t.parquet")
        with pytest.raises(ArgumentError, match=message):
            Moments.from_dataset(path, weights=weights)

    def test_weights_are_for_all_kinds_of_data(self, frame, tmp_path):
        path = save(frame.assign(w=2.0), tmp_path / "t.csv")
        moments, _ = read_moments(path, weights="w")
        assert moments.n_samples == 6000
        again, _ = read_moments(frame.assign(w=2.0), weights="w")
        assert np.array_equal(again.correlation, moments.correlation)
        with pytest.raises(ArgumentError, match="plain moments of complete rows"):
            read_moments(frame, weights="a", missing="em")

    def test_parquet_is_decoded_the_same_in_threads(self, frame, tmp_path, monkeypatch):
        file = save(frame, tmp_path / "t.parquet")
        found = []
        for rows in (1, 10**9):
            monkeypatch.setattr("qwo.moments.tables.THREADED_ROWS", rows)
            found.append(Moments.from_dataset(file).correlation)
        np.testing.assert_array_equal(*found)

    def test_pieces_of_many_columns_have_thousands_of_rows_if_memory_allows(self, monkeypatch):
        monkeypatch.undo()
        assert Plan.of(100, None, 2).n_rows * 800 == pytest.approx(BATCH_BYTES, rel=1e-3)
        assert Plan.of(1000, "4 GB", 2).n_rows == BATCH_ROWS
        assert 2000 < Plan.of(1000, None, 2).n_rows < BATCH_ROWS
        assert Plan.of(1000, "200 MB", 2).n_rows < 1000

    def test_wide_tables_are_read_without_an_option(self) -> None:
        """Once more than 4,700 variables asked for a memory limit that `discover` does not take."""
        for n_variables in (4_000, 5_000, 10_000, 20_000):
            assert Plan.of(n_variables, None, 2).n_rows >= 256

    def test_progress_reaches_the_end(self, frame, tmp_path):
        seen = []
        for name in ("t.csv", "t.parquet"):
            Moments.from_dataset(save(frame, tmp_path / name), progress=seen.append)
            assert len(seen) > 3
            assert [s.fraction for s in seen] == sorted(s.fraction for s in seen)
            assert seen[-1].fraction == pytest.approx(1.0)
            assert seen[-1].n_rows == 3000
            seen.clear()

    def test_an_error_in_a_callback_stops_the_reading(self, frame, tmp_path):
        def stop(_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Moments.from_dataset(save(frame, tmp_path / "t.csv"), progress=stop)


class TestFindings:
    """The same words as for a table in memory."""

    def same(self, frame: pd.DataFrame, path: Path, error: type[InputError]) -> None:
        with pytest.raises(error) as expected:
            Moments.from_frame(frame)
        with pytest.raises(error) as caught:
            Moments.from_dataset(save(frame, path))
        assert str(caught.value) == str(expected.value)
        assert caught.value.columns == expected.value.columns

    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_missing_values(self, frame, tmp_path, name):
        frame.loc[[5, 2000], "b"] = np.nan
        frame.loc[2000, "c"] = np.inf
        self.same(frame, tmp_path / name, MissingValuesError)
        with pytest.warns(DataWarning, match="2 of 3,000 rows are left out"):
            moments = Moments.from_dataset(tmp_path / name, missing="drop")
        with pytest.warns(DataWarning):
            agree(moments, Moments.from_frame(frame, missing="drop"))

    def test_constant_columns(self, frame, tmp_path):
        self.same(frame.assign(d=3.5), tmp_path / "t.csv", ConstantColumnError)

    def test_dependent_columns(self, frame, tmp_path):
        frame = frame.assign(d=frame.a)
        with pytest.raises(InputError, match="'d' repeats 'a'"):
            Moments.from_dataset(save(frame, tmp_path / "t.parquet"))

    def test_text_columns(self, frame, tmp_path):
        texts = [f"note {k}" for k in range(len(frame))]
        self.same(frame.assign(note=texts), tmp_path / "t.parquet", NonNumericError)

    def test_text_far_below_numbers(self, frame, tmp_path):
        frame = frame.astype({"c": object})
        frame.loc[2500, "c"] = "many"
        with pytest.raises(NonNumericError, match=r"'c' .*the first is 'many'"):
            Moments.from_dataset(save(frame, tmp_path / "t.csv"))

    def test_lines_of_unequal_length_have_their_number(self, frame, tmp_path):
        path = save(frame, tmp_path / "t.csv")
        with path.open("a") as stream:
            stream.write("1,2,3\n")
        with pytest.raises(FileFormatError, match=r"line 3002 .* has 3 fields"):
            Moments.from_dataset(path)

    def test_too_few_rows(self, frame, tmp_path):
        with pytest.raises(SampleSizeError, match="the table has 2 rows"):
            Moments.from_dataset(save(frame[:2], tmp_path / "t.csv"))

    def test_audit_file_raises_nothing(self, frame, tmp_path):
        save(frame.assign(d=3.5), tmp_path / "1.csv")
        [finding] = audit_file(tmp_path).findings
        assert finding.code == "constant"
        assert finding.columns == ("d",)


class TestOptions:
    def test_em_and_shrinkage_read_collections_into_memory(self, frame, tmp_path):
        for k in range(2):
            save(frame[k::2], tmp_path / f"{k}.csv")
        whole = pd.concat([frame[0::2], frame[1::2]])
        moments, _ = read_moments(tmp_path, covariance_estimator="oas")
        agree(moments, Moments.from_frame(whole, covariance_estimator="oas"))
        moments, _ = read_moments(tmp_path, transform="rank-normal", missing="em")
        assert moments.n_samples == 3000

    def test_em_has_all_rows_in_memory(self, frame, tmp_path):
        frame.loc[3, "a"] = np.nan
        path = save(frame, tmp_path / "t.csv")
        with pytest.warns(DataWarning, match="EM uses what they have"):
            moments = Moments.from_dataset(path, missing="em")
        assert 2999 < moments.n_samples < 3000

    def test_log_is_streamed(self, frame, tmp_path):
        positive = frame.abs() + 1
        save(positive, tmp_path / "1.parquet")
        moments, _ = read_moments(tmp_path, transform={"a": "log", "c": "log"})
        agree(
            moments, Moments.from_frame(positive.assign(a=np.log(positive.a), c=np.log(positive.c)))
        )
        save(frame, tmp_path / "2.parquet")
        with pytest.raises(ArgumentError, match="'b'"):
            read_moments(tmp_path, transform={"b": "log"})

    def test_every_way_to_a_file_gives_the_same_bits(self, frame, tmp_path):
        expected = Moments.from_frame(frame)
        for name in ("t.csv", "t.parquet"):
            path = save(frame, tmp_path / name)
            read = Moments.from_csv if name == "t.csv" else Moments.from_parquet
            for moments in (read(path), Moments.from_data(path), Moments.from_dataset(path)):
                assert np.array_equal(moments.correlation, expected.correlation)

    def test_only_the_columns_that_are_wanted_are_decoded(self, frame, tmp_path, monkeypatch):
        asked = []
        original = pq.ParquetFile.iter_batches

        def spy(self, n_rows, *, columns, **options):
            asked.append(columns)
            return original(self, n_rows, columns=columns, **options)

        monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
        path = save(frame, tmp_path / "t.parquet")
        assert Moments.from_parquet(path, columns=["d", "a"]).names == ("d", "a")
        assert asked == [["d", "a"]]

    def test_a_limit_too_small_says_what_is_needed(self):
        with pytest.raises(ArgumentError, match=r"memory_limit is 1 MB, but .* 500 variables"):
            Plan.of(500, "1 MB", 2)

    def test_threads_share_the_products_of_a_wide_table_whatever_its_batches_take(self):
        """Once 16 processors multiplied by three threads, as many as batches fit into memory."""
        plan = Plan.of(10_000, "3.5 GB", 16)
        assert plan.workers < 16
        assert plan.threads == 16
        assert Plan.of(10_000, "2.8 GB", 16).threads < 16
        assert Plan.of(100, None, 16).threads == Plan.of(100, None, 16).workers

    def test_pieces_do_not_depend_on_the_number_of_threads(self):
        assert Plan.of(100, None, 1).n_rows == Plan.of(100, None, 64).n_rows

    @pytest.mark.parametrize(
        ("text", "value"), [("2 GB", 2e9), ("512MiB", 2**29), (1000, 1000), ("1.5k", 1500)]
    )
    def test_amounts_of_memory(self, text, value):
        assert parse_bytes(text) == value

    @pytest.mark.parametrize("text", ["much", "-5", "5 XB"])
    def test_amounts_that_are_none(self, text):
        with pytest.raises(ArgumentError, match="memory_limit"):
            parse_bytes(text)

    def test_integers_decimals_and_nulls(self, tmp_path):
        rng = np.random.default_rng(0)
        numbers = rng.integers(0, 50, 500)
        table = pa.table(
            {
                "f": pa.array(rng.standard_normal(500), pa.float32()),
                "d": pa.array([None, *numbers[1:]], pa.float64()).cast(pa.decimal128(12, 2)),
                "b": pa.array(rng.random(500) > 0.5),
            }
        )
        pq.write_table(table, tmp_path / "t.parquet")
        with pytest.warns(DataWarning, match=r"'d' \(1 missing\)"):
            moments = Moments.from_dataset(
                tmp_path / "t.parquet", columns=["f", "d", "b"], missing="drop"
            )
        with pytest.warns(DataWarning):
            agree(moments, Moments.from_frame(table.select(["f", "d", "b"]), missing="drop"))
