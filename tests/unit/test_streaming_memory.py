"""Data ten times as large as the memory allowed are read within it.

The peak of the resident memory of a process of its own is measured, above what it has when a small
file has been read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from tests.helpers.peak_memory import CAN_BE_MEASURED, printed

LIMIT = 16_000_000
N_COLUMNS = 20

pytestmark = CAN_BE_MEASURED

MEASURE = f"""
from qwo import Moments

small, large = sys.argv[1:]
Moments.from_dataset(small, memory_limit={LIMIT}, n_jobs=2)
before = lowest()
moments = Moments.from_dataset(large, memory_limit={LIMIT}, n_jobs=2)
print(peak() - before, moments.n_samples)
"""


def table(n_rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {f"v{k}": rng.standard_normal(n_rows, dtype=np.float32) for k in range(N_COLUMNS)}
    return pa.table(columns).cast(pa.schema([(name, pa.float64()) for name in columns]))


def peak(small: Path, large: Path) -> tuple[int, float]:
    """The least of three runs: a busy machine gives memory back later."""
    runs = []
    for _ in range(3):
        extra, n_samples = printed(MEASURE, small, large, ARROW_DEFAULT_MEMORY_POOL="system")
        runs.append((int(extra), float(n_samples)))
        if runs[-1][0] < LIMIT:
            break
    return min(runs)


def test_parquet_with_one_huge_row_group(tmp_path):
    n_rows = 10 * LIMIT // (8 * N_COLUMNS)
    pq.write_table(table(20_000), tmp_path / "small.parquet")
    pq.write_table(
        table(n_rows),
        tmp_path / "large.parquet",
        row_group_size=n_rows,
        compression="none",
        use_dictionary=False,
        data_page_size=1 << 16,  # pyarrow holds a page of each column, whatever its size
    )
    extra, n_samples = peak(tmp_path / "small.parquet", tmp_path / "large.parquet")
    assert n_samples == n_rows
    assert extra < LIMIT


def test_csv(tmp_path):
    pcsv.write_csv(table(20_000), tmp_path / "small.csv")
    part = table(100_000)
    with (tmp_path / "large.csv").open("wb") as stream:
        size = 0
        while size < 10 * LIMIT:
            pcsv.write_csv(part, stream, pcsv.WriteOptions(include_header=size == 0))
            size = stream.tell()
    extra, _ = peak(tmp_path / "small.csv", tmp_path / "large.csv")
    assert extra < LIMIT
