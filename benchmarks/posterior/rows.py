"""Work on many keys in parallel processes, kept as JSON lines, so that it can go on later."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import qwo
from benchmarks.rows import made, write_rows
from qwo.compute import one_blas_thread

Key = tuple[str | int, ...]
Row = dict[str, Any]

RESULTS = Path(__file__).parents[1] / "results"
STORE = Path(__file__).parents[2] / ".cache" / "posterior"


def load(file: Path) -> dict[Key, Row]:
    """What is kept of each key."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8") as lines:
        return {tuple(line["key"]): line["row"] for line in map(json.loads, lines)}


def work_through(
    file: Path, keys: Iterable[Key], work: Callable[..., Row], *, jobs: int, minutes: float
) -> None:
    """Add to a file the rows of those keys that it lacks, while there is time."""
    done = load(file)
    todo = [key for key in keys if key not in done]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        for k, row in made(partial(_quietly, work), todo, jobs=jobs, seconds=60 * minutes):
            lines.write(json.dumps({"key": todo[k], "row": row}) + "\n")
            lines.flush()
            print(*todo[k], flush=True)


def _quietly(work: Callable[..., Row], key: Key) -> Row:
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", qwo.DataWarning)
        return work(*key)


def write_csv(name: str, rows: list[Row]) -> None:
    rounded = [{name: _cell(value) for name, value in row.items()} for row in rows]
    write_rows(RESULTS / f"posterior-{name}.csv", rounded)


def _cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else f"{value:.4g}"
