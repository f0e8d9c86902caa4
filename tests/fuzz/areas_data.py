"""Bad data: text files, Parquet files, saved moments, arrays and frames."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import qwo
from qwo.moments import Moments
from tests.fuzz.harness import Case, area

WORDS = ["", "NA", "nan", "inf", "-inf", ".", "-", "1e999", "abc", "1,5", "0x10", "1e-320", "True"]
BYTES = [b"\x00", b"\xff", b"\r", b"\n", b"\r\n", b'"', b",", b";", b"\t", b"\\", b"\xef\xbb\xbf"]


def sound_table(rng: np.random.Generator) -> pd.DataFrame:
    """Numbers that can be used as they are."""
    n_rows, n_columns = int(rng.integers(2, 40)), int(rng.integers(1, 8))
    values = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, n_columns)
    return pd.DataFrame(values, columns=[f"x{k}" for k in range(n_columns)])


def check_moments(moments: Moments) -> None:
    """What moments must be, whatever they come from."""
    n = moments.n_variables
    assert n >= 2
    assert len(set(moments.names)) == n
    assert moments.n_samples >= 2
    assert np.isfinite(moments.correlation).all()
    assert (np.abs(moments.correlation) <= 1 + 1e-8).all()
    assert np.array_equal(moments.correlation, moments.correlation.T)
    assert (np.diagonal(moments.correlation) == 1).all()
    assert (moments.scales > 0).all()
    assert np.linalg.eigvalsh(moments.correlation)[0] > -1e-8


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """Bytes that were cut, changed, doubled or filled in somewhere."""
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content) + 1))
        length = int(rng.integers(1, 20))
        kind = rng.integers(6)
        if kind == 0:
            content = content[:place]
        elif kind == 1:
            content = content[:place] + BYTES[rng.integers(len(BYTES))] + content[place:]
        elif kind == 2:
            content = content[:place] + rng.bytes(length) + content[place + length :]
        elif kind == 3:
            content = content[:place] + content[place + length :]
        elif kind == 4:
            content = content[:place] + content[place : place + length] * 3 + content[place:]
        elif content:
            swapped = bytearray(content)
            swapped[place % len(content)] ^= 1 << int(rng.integers(8))
            content = bytes(swapped)
    return content


def in_folder(name: str, content: bytes, use: Callable[[Path], object]) -> Case:
    """A case with a file of its own."""

    def case() -> object:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, name)
            file.write_bytes(content)
            return use(file)

    return case


def _reads_alike(file: Path) -> None:
    """A table is the same whole and in pieces."""
    whole = Moments.from_csv(file)
    check_moments(whole)
    pieces = Moments.from_dataset(str(file), memory_limit="20 MB")
    assert whole.names == pieces.names
    assert np.allclose(whole.correlation, pieces.correlation, atol=1e-12)


@area("csv")
def csv_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    table = sound_table(rng)
    text = table.astype(object)
    for _ in range(rng.integers(0, 3)):
        row, column = rng.integers(len(text)), rng.integers(text.shape[1])
        text.iat[row, column] = WORDS[rng.integers(len(WORDS))]
    separator = ",;\t "[rng.integers(4)]
    content = text.to_csv(
        sep=separator, index=bool(rng.integers(2)), lineterminator=["\n", "\r\n", "\r"][seed % 3]
    ).encode()
    if rng.integers(2):
        content = mutated(rng, content)
    return in_folder("table.csv", content, _reads_alike)


@area("parquet")
def parquet_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    table = sound_table(rng)
    if rng.integers(2):
        kind = rng.integers(4)
        column = table.columns[0]
        if kind == 0:
            table[column] = "a word"
        elif kind == 1:
            table[column] = pd.Timestamp("2020-01-01")
        elif kind == 2:
            table[column] = None
        else:
            table.loc[0, column] = [np.nan, np.inf, -np.inf][rng.integers(3)]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(table), stream)
    content = stream.getvalue()
    if rng.integers(4):
        content = mutated(rng, content)
    return in_folder(
        "table.parquet", content, lambda file: check_moments(Moments.from_parquet(file))
    )


def _moments_archive(rng: np.random.Generator) -> bytes:
    table = sound_table(rng)
    n = table.shape[1]
    correlation = np.corrcoef(rng.normal(size=(n + 20, n)), rowvar=False).reshape(n, n)
    np.fill_diagonal(correlation, 1.0)
    content: dict[str, Any] = {
        "version": np.array(1),
        "names": np.array(table.columns, dtype=np.str_),
        "estimator": np.array("plain"),
        "n_samples": np.array(float(n + 20)),
        "means": np.zeros(n),
        "scales": np.ones(n),
        "correlation": correlation,
    }
    spoil = rng.integers(12)
    wrong = [np.nan, np.inf, -1.0, 0.0, 1e-300, 1.5][rng.integers(6)]
    if spoil == 0:
        content["correlation"] = rng.uniform(-2, 2, (n, n))
    elif spoil == 1:
        content["correlation"][0, -1] = wrong
    elif spoil == 2:
        content["n_samples"] = np.array(wrong)
    elif spoil == 3:
        content["scales"][0] = wrong
    elif spoil == 4:
        content["means"] = np.zeros(n + 1)
    elif spoil == 5:
        del content[list(content)[rng.integers(len(content))]]
    elif spoil == 6:
        content["version"] = np.array([["a word"]])
    elif spoil == 7:
        content["names"] = np.arange(n)
    stream = io.BytesIO()
    (np.savez_compressed if rng.integers(2) else np.savez)(stream, **content)
    return stream.getvalue()


@area("moments-file")
def moments_file_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    content = _moments_archive(rng)
    if rng.integers(2):
        content = mutated(rng, content)

    def use(file: Path) -> None:
        moments = Moments.load(file)
        check_moments(moments)
        found = qwo.discover(str(file), restarts=0, random_state=0)
        assert np.isfinite(found.score) or moments.is_oracle

    return in_folder("moments.npz", content, use)


STRANGE: list[Any] = [
    None, np.nan, np.inf, -np.inf, "a", "1.5", True, 10**400, 1e308, -1e308, 5e-324, 0, 1 + 2j,
    b"x", [], {}, object(), pd.NaT, pd.Timestamp("2020-01-01"), np.datetime64("2020-01-01"),
]  # fmt: skip


@area("arrays")
def array_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    table: Any = sound_table(rng)
    spoil = rng.integers(10)
    if spoil < 4:
        values = table.to_numpy().astype(object)
        for _ in range(rng.integers(1, 4)):
            values[rng.integers(len(values)), rng.integers(values.shape[1])] = STRANGE[
                rng.integers(len(STRANGE))
            ]
        table = [values, values.tolist(), pd.DataFrame(values)][rng.integers(3)]
    elif spoil == 4:
        table = table.to_numpy() * 10.0 ** rng.integers(-308, 308, table.shape[1])
    elif spoil == 5:
        table = pd.concat([table, table], axis=1)
    elif spoil == 6:
        table = table.to_numpy().reshape(-1)
    elif spoil == 7:
        table = STRANGE[rng.integers(len(STRANGE))]
    elif spoil == 8:
        table = np.round(table.to_numpy()).astype([np.int8, np.uint64, np.float16][seed % 3])
    missing = ["raise", "drop", "em"][rng.integers(3)]
    return lambda: check_moments(Moments.from_data(table, missing=missing))
