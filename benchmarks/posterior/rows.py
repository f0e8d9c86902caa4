"""Work on many keys in parallel processes, kept as JSON lines, so that it can go on later."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import qwo
from benchmarks.rows import write_rows

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
    """Add to a file the rows of those keys that it lacks, while there is time.

    Work that is under way when the time is over is lost.
    """
    ends = time.monotonic() + 60 * minutes
    done = load(file)
    todo = [key for key in keys if key not in done]
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    file.parent.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    with file.open("a", encoding="utf-8") as lines, context.Pool(jobs, _quiet) as pool:
        answers = pool.imap_unordered(partial(_answer, work), todo)
        for count in range(len(todo)):
            left = ends - time.monotonic()
            try:
                key, row = answers.next(None if left == float("inf") else max(left, 0.0))
            except multiprocessing.TimeoutError:
                print(f"{count} of {len(todo)} in time")
                return
            lines.write(json.dumps({"key": key, "row": row}) + "\n")
            lines.flush()
            print(f"{count + 1}/{len(todo)}", *key, flush=True)
        pool.close()
        pool.join()


def _quiet() -> None:
    warnings.simplefilter("ignore", qwo.DataWarning)


def _answer(work: Callable[..., Row], key: Key) -> tuple[Key, Row]:
    return key, work(*key)


def write_csv(name: str, rows: list[Row]) -> None:
    rounded = [{name: _cell(value) for name, value in row.items()} for row in rows]
    write_rows(RESULTS / f"posterior-{name}.csv", rounded)


def _cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else f"{value:.4g}"
