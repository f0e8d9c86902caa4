"""Rows of results as CSV files: read with their types, written whole, or added as they come."""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from qwo.parallel import run_many
from qwo.reproduction.store import decode
from qwo.text import write_whole

Row = dict[str, Any]
Task = TypeVar("Task")
Result = TypeVar("Result")


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, numbers as numbers and nothing as ""; none where there is no file.

    A last line that was torn does not count.
    """
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if None not in row.values()]
    return [{name: decode(text) for name, text in row.items()} for row in rows]


def write_rows(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Put rows in the place of what there was; the columns are by default those of the first."""
    listed = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or list(listed[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    write_whole(path, text.getvalue())


def extend_rows(
    path: Path,
    cells: Iterable[Mapping[str, Any]],
    measure: Callable[..., Iterable[Mapping[str, Any]]],
    seconds: float = math.inf,
) -> list[Row]:
    """Measure the cells that a file does not have yet, each of which is added as it ends.

    A cell is columns of its rows, the same in all: ``measure(**cell)`` gives the others. None is
    begun after so many seconds. A run that is stopped goes on where it was.
    """
    rows, ends = read_rows(path), time.monotonic() + seconds
    columns, done = list(rows[0]) if rows else [], set[tuple[Any, ...]]()
    for cell in cells:
        key = tuple(cell.values())
        done = done or {tuple(row[name] for name in cell) for row in rows}
        if key in done:
            continue
        if time.monotonic() > ends:
            break
        found = [{**cell, **row} for row in measure(**cell)]
        done.add(key)
        rows += found
        new = dict.fromkeys(name for row in found for name in row if name not in columns)
        columns += new
        if new:
            write_rows(path, rows, columns)
        else:
            append_rows(path, found, columns)
    return rows


def made(
    function: Callable[[Task], Result], tasks: Sequence[Task], *, jobs: int, seconds: float
) -> Iterator[tuple[int, Result]]:
    """Each task's number and result, as they end in so many processes, while there is time."""
    ends = time.monotonic() + seconds
    results: Any = run_many(function, tasks if seconds > 0 else (), n_jobs=jobs)
    with closing(results):
        for count, result in enumerate(results, 1):
            yield result
            if time.monotonic() > ends:
                print(f"{count} of {len(tasks)} in time")
                break


def timed(task: Callable[..., Result], *given: Any, **options: Any) -> tuple[Result, float]:
    """What a call returns, and the processor seconds that it took."""
    begun = time.process_time()
    result = task(*given, **options)
    return result, time.process_time() - begun


def append_rows(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Add rows, each safe on the disk before the next is asked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if not path.stat().st_size:
            writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()
            os.fsync(file.fileno())
