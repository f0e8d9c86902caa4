"""Runs on disk: one line each, written when the run ends, so that a benchmark can be resumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from benchmarks.peers.flop.settings import Job, Tool
from benchmarks.rows import Row, append_rows, read_rows, write_rows


@dataclass(frozen=True)
class Record:
    """A run and its figures; those of the graph are None where the tool refused the data.

    tool, setting, seed, restarts, gamma, repeat: see `Job`.
    cpu, wall: seconds of the call.
    memory: bytes by which the call raised the peak of the resident memory.
    shd, skf1, exact: distance of the CPDAG to that of the truth, F1 of its skeleton, whether it is
        the same.
    edges, score: edges, and their penalised likelihood.
    error: what the tool said when it refused.
    build: versions, and how the tool was built.
    """

    tool: Tool
    setting: str
    seed: int
    restarts: int | None
    gamma: float | None
    repeat: int
    cpu: float
    wall: float
    memory: float
    shd: int | None
    skf1: float | None
    exact: bool | None
    edges: int | None
    score: float | None
    error: str
    build: str

    @property
    def job(self) -> Job:
        return Job(self.tool, self.setting, self.seed, self.restarts, self.gamma, self.repeat)


COLUMNS = [field.name for field in fields(Record)]
TEXTS = ("error", "build")


class Records:
    """The records in a CSV file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """All records; a last line that was cut off does not count."""
        return [_parse(row) for row in read_rows(self.path)]

    def write(self, records: Sequence[Record]) -> None:
        """Put these records in the place of all that are there."""
        write_rows(self.path, map(_format, records), COLUMNS)

    def append(self, record: Record) -> None:
        """Add a record, safe on disk when this returns."""
        append_rows(self.path, [_format(record)], COLUMNS)


def retire(records: Sequence[Record]) -> list[Record]:
    """The records without the runs of qwo, of which the best on each data set stays as retired.

    So a later state of the search is measured against the best graph that an earlier one has found.
    """
    best: dict[tuple[str, int], Record] = {}
    for record in records:
        held = best.setdefault((record.setting, record.seed), record)
        if _score(record) > _score(held):
            best[record.setting, record.seed] = record
    kept = [record for record in records if record.tool == "flop"]
    return kept + [
        replace(record, tool="retired") for record in best.values() if record.tool != "flop"
    ]


def _score(record: Record) -> float:
    return -math.inf if record.score is None else record.score


def _format(record: Record) -> dict[str, Any]:
    row = asdict(record)
    for name, digits in (("cpu", 6), ("wall", 6), ("memory", 0), ("skf1", 4), ("score", 6)):
        if row[name] is not None:
            row[name] = f"{row[name]:.{digits}f}"
    return row


def _parse(row: Row) -> Record:
    empty = {name: None for name, value in row.items() if value == "" and name not in TEXTS}
    return Record(**row | empty)
