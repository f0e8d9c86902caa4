"""Results on disk: a table of text that runs are added to as they end."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from qwo.reproduction.store import Columns, ResultStore

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
COUNTS = ("n", "n_samples", "degree", "seed", "shd", "edges")


class Results:
    """The results of a profile in a folder."""

    def __init__(self, folder: Path, profile: str) -> None:
        self._path = folder / f"peers-{profile}.csv"

    def store(self, renewed: Collection[str] = ()) -> ResultStore:
        """The store to add runs to; those of methods that are `renewed` are left out of it."""
        store = ResultStore(self._path, Columns(RUN, OUTCOME))
        if renewed and self._path.exists():
            kept = [row for row in store.rows().values() if row.run["method"] not in renewed]
            self._path.unlink()
            with store:
                for row in kept:
                    store.append(row)
        return store

    def table(self) -> pd.DataFrame:
        """All rows, with the build of the tool that made them."""
        rows = self.store().rows().values()
        flat = [{**row.run, **row.outcome, "build": row.record.get("build", "")} for row in rows]
        frame = pd.DataFrame(flat).reindex(columns=[*RUN, *OUTCOME, "build"])
        texts = {name: frame[name].astype(object) for name in ("network", "error", "build")}
        filled = {name: column.where(column.notna(), "") for name, column in texts.items()}
        return frame.assign(**filled).astype(dict.fromkeys(COUNTS, "Int64"))
