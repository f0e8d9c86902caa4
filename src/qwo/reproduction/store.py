"""Results of many runs on disk: one line of a CSV file for each, appended when the run has ended.

A line is written at once and is on the disk when `ResultStore.append` returns. Whatever kills the
process, at most the line being written is lost: a torn last line is dropped on reading and cut off
on opening. The lock is the operating system's, so that it ends with the process that holds it.

Versions, commit and processor are the same for many runs: a line that begins with # holds them
once, as JSON, and the column ``record`` of a run refers to it by a short sum. So the file stays
small, and a step in its history is the lines that it adds.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from qwo.errors import FileFormatError, InputError

Parameters = Mapping[str, Any]
RECORD = "record"


class StoreLockedError(InputError):
    """Another process is writing to the same store of results."""


class Row(NamedTuple):
    """One run on disk: the parameters of which it is a function, what came of it, and where.

    The record holds versions, build configuration, commit and processor. What is None or "" is
    not stored.
    """

    run: dict[str, Any]
    outcome: dict[str, Any]
    record: dict[str, Any]


class Columns(NamedTuple):
    """The names of parameters and of outcomes, each a column of the file."""

    run: tuple[str, ...]
    outcome: tuple[str, ...]


def run_key(run: Parameters) -> str:
    """The parameters of a run as text, the same for any order in which they are given."""
    plain = {name: _plain(value) for name, value in run.items() if value not in (None, "")}
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    """A whole number in one form: 4.0 and 4 are the same parameter."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ResultStore:
    """The rows of a text file, which one process at a time may write to.

    Use as a context manager to write: entering takes the lock and repairs the file. Reading takes
    no lock. The file and its folder are made when it is first written to.
    """

    def __init__(self, path: str | os.PathLike[str], columns: Columns) -> None:
        self.path = Path(path)
        self._columns = columns
        self._header = [*columns.run, *columns.outcome, RECORD]
        self._file: int | None = None
        self._lock: int | None = None
        self._known: set[str] = set()

    def rows(self) -> dict[str, Row]:
        """The rows by the key of their run; of several for the same run, the last."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, _, _ = content.rpartition(b"\n")
        found: dict[str, Row] = {}
        records: dict[str, dict[str, Any]] = {"": {}}
        header: list[str] = []
        for number, line in enumerate(whole.decode().splitlines(), start=1):
            try:
                if line.startswith("#"):
                    name, _, text = line[1:].partition(" ")
                    records[name] = json.loads(text)
                elif not header:
                    header = line.split(",")
                else:
                    row = self._parse(header, line, records)
                    found[run_key(row.run)] = row
            except (ValueError, KeyError) as error:
                raise FileFormatError(
                    f"line {number} of {self.path} is not a result ({error}); remove that line, "
                    "and its run will be repeated"
                ) from error
        self._known = records.keys() - {""}
        return found

    def append(self, row: Row) -> None:
        """Add a row, safe on disk when this returns."""
        if self._file is None:
            raise InputError(f"{self.path} is not open for writing; use the store in a with block")
        text, name = "", ""
        if row.record:
            record = json.dumps(row.record, ensure_ascii=False, sort_keys=True)
            name = sha256(record.encode()).hexdigest()[:6]
            text = "" if name in self._known else f"#{name} {record}\n"
            self._known.add(name)
        values = {**row.run, **row.outcome, RECORD: name}
        unknown = values.keys() - set(self._header)
        if unknown:
            raise InputError(f"{self.path} has no column {', '.join(sorted(unknown))}")
        text += _line(_encode(values.get(column)) for column in self._header)
        os.write(self._file, text.encode())
        os.fsync(self._file)

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT)
        if not _try_lock(lock):
            os.close(lock)
            raise StoreLockedError(
                f"another process is writing to {self.path}; wait for it, or choose another folder"
            )
        self._lock = lock
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._repair(self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for handle in (self._file, self._lock):
            if handle is not None:
                os.close(handle)
        self._file = self._lock = None

    def _repair(self, file: int) -> None:
        """Cut off a torn line; write the header of a new file, know the records of an old one."""
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        os.ftruncate(file, whole)
        if not whole:
            os.write(file, _line(self._header).encode())
        self._known = {
            line[1:].partition(b" ")[0].decode()
            for line in content[:whole].splitlines()
            if line.startswith(b"#")
        }
        os.fsync(file)

    def _parse(self, header: list[str], line: str, records: Mapping[str, Any]) -> Row:
        texts = next(csv.reader([line]))
        if len(texts) != len(header):
            raise ValueError(f"{len(texts)} values, {len(header)} wanted")
        values = {name: decode(text) for name, text in zip(header, texts, strict=True) if text}
        record = records[texts[header.index(RECORD)]]
        run = {name: values[name] for name in self._columns.run if name in values}
        outcome = {name: values[name] for name in self._columns.outcome if name in values}
        return Row(run, outcome, record)


def _line(texts: Iterable[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(texts)
    return written.getvalue()


def _encode(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a result is {value}")
    return " ".join(str(_plain(value)).split())


def decode(text: str) -> Any:
    """The number, truth value or text that a cell of a table stands for."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _try_lock(handle: int) -> bool:
    """Lock an open file for this process; False if another one holds it."""
    try:
        import fcntl
    except ModuleNotFoundError:
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
