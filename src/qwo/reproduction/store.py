"""Results of many runs on disk: one line of JSON for each, appended when the run has ended.

A line is written at once and is on the disk when `ResultStore.append` returns. Whatever kills the
process, at most the line being written is lost: a torn last line is dropped on reading and cut off
on opening. The lock is the operating system's, so that it ends with the process that holds it.

A store can be packed beside itself, for keeping. Where only the packed file is left, it is read,
and unpacked once there is something to add.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from qwo.errors import FileFormatError, InputError
from qwo.files import write_whole

Parameters = Mapping[str, Any]


class StoreLockedError(InputError):
    """Another process is writing to the same store of results."""


class Row(NamedTuple):
    """One run on disk.

    Attributes
    ----------
    run : dict
        The parameters, seed included, of which the result is a function.
    outcome : dict
        What came of it.
    record : dict
        Versions, build configuration, and whatever else tells where the result comes from.
    """

    run: dict[str, Any]
    outcome: dict[str, Any]
    record: dict[str, Any]


def run_key(run: Parameters) -> str:
    """The parameters of a run as text, the same for any order in which they are given."""
    return json.dumps(run, sort_keys=True, separators=(",", ":"), allow_nan=False)


class ResultStore:
    """The rows of a file of JSON lines, which one process at a time may write to.

    Use as a context manager to write: entering takes the lock and repairs the file. Reading takes
    no lock.

    Parameters
    ----------
    path : path
        The file; it and its folder are made when it is first written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file: int | None = None
        self._lock: int | None = None

    def rows(self) -> dict[str, Row]:
        """The rows by the key of their run; of several for the same run, the last."""
        found = {}
        whole, _, _ = self._content().rpartition(b"\n")
        for number, line in enumerate(whole.splitlines(), start=1):
            row = self._parse(number, line)
            found[run_key(row.run)] = row
        return found

    @property
    def packed(self) -> Path:
        """The file that `pack` writes."""
        return self.path.with_name(self.path.name + ".xz")

    def pack(self) -> Path:
        """Write all rows into one compressed file; the same rows give the same file."""
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in self.rows().values()]
        text = "".join(f"{line}\n" for line in sorted(lines))
        write_whole(self.packed, lzma.compress(text.encode()))
        return self.packed

    def _content(self) -> bytes:
        if self.path.exists():
            return self.path.read_bytes()
        if not self.packed.exists():
            return b""
        try:
            return lzma.decompress(self.packed.read_bytes())
        except (lzma.LZMAError, EOFError) as error:
            raise FileFormatError(f"{self.packed} is damaged ({error})") from error

    def append(self, row: Row) -> None:
        """Add a row, safe on disk when this returns."""
        if self._file is None:
            raise InputError(f"{self.path} is not open for writing; use the store in a with block")
        line = json.dumps(row._asdict(), ensure_ascii=False, allow_nan=False) + "\n"
        os.write(self._file, line.encode())
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
        if not self.path.exists() and self.packed.exists():
            write_whole(self.path, self._content())
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._drop_torn_line(self._file)
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

    def _drop_torn_line(self, file: int) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(file, whole)
            os.fsync(file)

    def _parse(self, number: int, line: bytes) -> Row:
        try:
            return Row(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise FileFormatError(
                f"line {number} of {self.path} is not a result ({error}); remove that line, and "
                "its run will be repeated"
            ) from error


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
