"""A folder that appears whole or not at all, and that never costs the user a file of their own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qwo.errors import ArgumentError

RECORD = "result.json"
"""The file that lists, under ``files``, what qwo wrote into a folder."""


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot or must not be written to, before any work is done.

    Raises
    ------
    ArgumentError
        If there is something in it and it may not be replaced.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ArgumentError(f"{str(folder)!r} is not a folder; choose another name after -o")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise ArgumentError(
            f"the folder {str(folder)!r} is there already, with files in it; choose another name, "
            "or add --force to replace what qwo wrote there"
        )


@contextmanager
def whole_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write to, beside the one wanted, whose place it takes once the block ended well.

    With ``force``, files of an earlier result are replaced. Other files in the folder are kept; one
    that stands in the way of a new one is an error, and nothing is changed.
    """
    check_folder(folder, force=force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = _beside(folder)
    try:
        yield made
        _put_in_place(made, folder, force=force)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def written_files(folder: Path) -> list[str]:
    """All files below a folder, relative to it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    )


def _beside(folder: Path) -> Path:
    """A new, empty and hidden folder on the same disk; its permissions follow the umask."""
    made = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    made.mkdir()
    return made


def _put_in_place(made: Path, folder: Path, *, force: bool) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        if force:
            _replace(made, folder)
            return
        # Someone else took the name while we were at work, which shall not be lost.
        free = _free_name(folder)
        made.replace(free)
        raise ArgumentError(
            f"someone else has made the folder {str(folder)!r} meanwhile; what was to go there is "
            f"in {str(free)!r}"
        )
    made.replace(folder)


def _replace(made: Path, folder: Path) -> None:
    """Take the place of an earlier result, and its foreign files over."""
    kept = [name for name in written_files(folder) if name not in _own_files(folder)]
    blocked = [name for name in kept if os.path.lexists(made / name)]
    if blocked:
        raise ArgumentError(
            f"{str(folder / blocked[0])!r} was not written by qwo, and a file of the result has "
            "the same name; move it away, or choose another folder"
        )
    old = _beside(folder)
    folder.replace(old)
    made.replace(folder)
    for name in kept:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).replace(folder / name)
    shutil.rmtree(old)


def _own_files(folder: Path) -> set[str]:
    """What the record of an earlier result says that qwo wrote."""
    try:
        files = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()


def _free_name(folder: Path) -> Path:
    number = 1
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate
