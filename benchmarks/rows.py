"""Rows of results as CSV files: read with their types, written whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qwo.reproduction.store import decode
from qwo.text import write_whole

Row = dict[str, Any]


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
