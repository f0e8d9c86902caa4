"""Tables as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from qwo.files import write_whole
from qwo.text import no_formula


def write_csv(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    spreadsheet: bool = False,
) -> None:
    """Write a table with a line of names; numbers in full precision.

    For a spreadsheet, texts that it would take for formulas stand behind an apostrophe.
    """
    if spreadsheet:
        header = [no_formula(name) for name in header]
        rows = ([no_formula(v) if isinstance(v, str) else v for v in row] for row in rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_whole(path, text.getvalue())
