"""One table gives the same moments, to the last bit, whatever it is read from and however."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qwo

N_ROWS = 5000


def table(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    values = rng.standard_normal((N_ROWS, 4)) @ rng.standard_normal((4, 4))
    frame = pd.DataFrame(values, columns=list("abcd"))
    if kind == "categories":
        frame["ward"] = np.array(["north", "south", "west"])[rng.integers(0, 3, N_ROWS)]
    return frame


def sources(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    pq.write_table(arrow, folder / "t.parquet", row_group_size=701)
    parts = folder / "parts"
    parts.mkdir()
    for k in range(3):
        pq.write_table(arrow.slice(k * 2000, 2000), parts / f"part-{k}.parquet")
    return {
        "pandas": frame,
        "csv": folder / "t.csv",
        "tsv": folder / "t.tsv",
        "parquet": folder / "t.parquet",
        "folder": parts,
        "polars": pl.DataFrame({name: frame[name].to_list() for name in frame}),
        "arrow": arrow,
    }


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_equal_bits_from_every_reader(kind: str, tmp_path: Path) -> None:
    frame = table(kind)
    given = sources(frame, tmp_path)
    if kind == "numbers":
        given["array"] = frame.to_numpy()
    first = qwo.Moments.from_data(given.pop("pandas"))
    for name, source in given.items():
        read = qwo.Moments.from_data(source)
        assert read.n_samples == first.n_samples, name
        assert np.array_equal(read.correlation, first.correlation), name
        assert np.array_equal(read.means, first.means), name
        assert np.array_equal(read.scales, first.scales), name


def test_equal_bits_for_any_memory_limit_and_order_in_memory() -> None:
    values = table("numbers").to_numpy()
    first = qwo.Moments.from_data(values)
    for other in (np.asfortranarray(values), values[::-1][::-1]):
        assert np.array_equal(qwo.Moments.from_data(other).correlation, first.correlation)
    small = qwo.Moments.from_data(values, memory_limit="20 MB")
    assert np.array_equal(small.correlation, first.correlation)
