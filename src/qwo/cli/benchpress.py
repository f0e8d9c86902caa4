"""What a module of Benchpress writes, so that ``qwo learn`` can be one.

A Benchpress rule has three outputs: the adjacency matrix as CSV with the names above and nothing in
front, 1 for i → j and in both entries for an undirected edge; the seconds that it took; and the
number of tests, which a search by score does not have.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qwo.cli.csv_files import write_csv
from qwo.errors import ArgumentError
from qwo.files import write_whole

if TYPE_CHECKING:
    from qwo.discovery import Discovery

Outputs = tuple[Path, Path, Path]


def check_outputs(outputs: Outputs) -> None:
    """Refuse paths that cannot be written, before any work is done."""
    for path in outputs:
        if not path.parent.is_dir() or path.is_dir():
            raise ArgumentError(
                f"cannot write {str(path)!r}; wanted a file in a folder that exists"
            )


def write_outputs(outputs: Outputs, found: Discovery, seconds: float) -> None:
    """Write adjacency matrix, time and number of tests."""
    from qwo.graph import encode_matrix

    adjacency, time, tests = outputs
    write_csv(adjacency, found.names, encode_matrix(found.cpdag, "zero-one").tolist())
    write_whole(time, str(seconds))
    write_whole(tests, "None")
