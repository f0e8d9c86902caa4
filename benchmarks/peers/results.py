"""Results on disk: the store that runs are added to, and a small table of it that is kept."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from qwo.files import write_whole
from qwo.reproduction.store import ResultStore, Row

RUN = (
    "family",
    "n",
    "n_samples",
    "degree",
    "noise",
    "network",
    "penalty_discount",
    "seed",
    "method",
)
OUTCOME = (
    "status",
    "cpu",
    "wall",
    "memory",
    "shd",
    "edges",
    "adjacency_precision",
    "adjacency_recall",
    "arrowhead_precision",
    "arrowhead_recall",
    "exact",
    "is_cpdag",
    "aid",
    "score",
    "varsortability",
    "r2sortability",
    "limit",
    "error",
)
RECORD = ("build",)
COUNTS = ("n", "n_samples", "degree", "seed", "shd", "edges")


class Results:
    """The results of a profile.

    Parameters
    ----------
    folder
        Where they are.
    profile
        Its name.
    """

    def __init__(self, folder: Path, profile: str) -> None:
        self._store = folder / f"peers-{profile}.jsonl"
        self._table = folder / f"peers-{profile}.csv.gz"

    def store(self, renewed: Collection[str] = ()) -> ResultStore:
        """The store to add runs to; it begins with the runs of the table that is kept.

        Those of methods that are `renewed` are left out, to be run again.
        """
        if not self._store.exists() and self._table.exists():
            kept = self._kept()
            with ResultStore(self._store) as store:
                for values in kept[~kept["method"].isin(renewed)].to_dict("records"):
                    store.append(_row({str(name): value for name, value in values.items()}))
        return ResultStore(self._store)

    def export(self) -> None:
        """Bring the table up to date with the store, if there is one."""
        if not self._store.exists():
            return
        frame = _frame(self._store)
        buffer = io.BytesIO()
        # Without name and time: the same results give the same file.
        with gzip.GzipFile("", "wb", fileobj=buffer, mtime=0) as file:
            file.write(frame.to_csv(index=False, lineterminator="\n").encode())
        write_whole(self._table, buffer.getvalue())

    def table(self) -> pd.DataFrame:
        """All rows, from the store if there is one."""
        return _frame(self._store) if self._store.exists() else self._kept()

    def _kept(self) -> pd.DataFrame:
        frame = pd.read_csv(self._table, keep_default_na=False, na_values=[""])
        return _typed(frame)


def _frame(path: Path) -> pd.DataFrame:
    rows = ResultStore(path).rows().values()
    flat = [row.run | row.outcome | row.record for row in rows]
    columns = [*RUN, *OUTCOME, *RECORD]
    return _typed(pd.DataFrame(flat).reindex(columns=columns))


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    texts = {name: frame[name].astype(object) for name in ("network", "error", "build")}
    filled = {name: column.where(column.notna(), "") for name, column in texts.items()}
    return frame.assign(**filled).astype(dict.fromkeys(COUNTS, "Int64"))


def _row(values: dict[str, Any]) -> Row:
    """The row of the store that a row of the table was."""
    known = {name: _plain(value) for name, value in values.items() if not _is_empty(value)}
    run = {name: known.get(name) for name in RUN} | {"network": values["network"]}
    outcome = {name: known[name] for name in OUTCOME if name in known}
    return Row(run, outcome, {name: known.get(name, "") for name in RECORD})


def _is_empty(value: Any) -> bool:
    return value is pd.NA or value == "" or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    return json.loads(json.dumps(value, default=lambda number: number.item()))
