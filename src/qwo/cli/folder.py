"""A folder that appears whole or not at all, and that never costs the user a file of their own."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from qwo.cli.console import to_json
from qwo.errors import ArgumentError
from qwo.text import csv_line, no_formula, whole_file, write_whole

COUNTS = "bootstrap.npz"
"""The counts of a bootstrap, from which it can go on."""

RECORD = "result.json"
"""The file that lists, under ``files``, what qwo wrote into a folder."""


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot or must not be written to, before any work is done."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ArgumentError(f"{str(folder)!r} is not a folder; choose another name after -o")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise ArgumentError(
            f"the folder {str(folder)!r} is there already, with files in it; choose another name, "
            "or add --force to replace what qwo wrote there"
        )


@contextmanager
def only_writer(folder: Path | None) -> Iterator[None]:
    """Refuse to work for a folder that another process of qwo is working for.

    The lock is the system's, so that it ends with the process however that ends. Where there is
    none to be had, as on some disks of networks, nothing is refused.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield
        return
    if folder is None:
        yield
        return
    _absolute(folder).parent.mkdir(parents=True, exist_ok=True)
    lock = _beside(folder, ".", "lock")
    with lock.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArgumentError(
                f"another qwo is at work for the folder {str(folder)!r}; wait for it, or choose "
                "another name after -o"
            ) from error
        except OSError:
            yield
            return
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write to, beside the one wanted, which it becomes once the block ended well.

    A folder that is there already stays, with all that qwo did not write. With ``force``, files of
    an earlier result are replaced: the old folder and the new one change places in one step, so
    that whoever looks, or cuts the power, finds one or the other. A file of the user's in the way
    of a new one is an error, and nothing is changed.
    """
    check_folder(folder, force=force)
    folder = _absolute(folder)
    with _stage(folder) as made:
        yield made
        if not folder.is_dir():
            made.replace(folder)
            return
        if any(folder.iterdir()) and not force:
            # Someone else took the name while we were at work, which shall not be lost.
            free = _free_name(folder)
            made.replace(free)
            raise ArgumentError(
                f"someone else has made the folder {str(folder)!r} meanwhile; what was to go there "
                f"is in {str(free)!r}"
            )
        own = _own_files(folder)
        _check_free(made, folder, own)
        if not _change_places(made, folder, own):
            for name in own - set(written_files(made)):
                _remove(folder, name)
            _move(made, folder)


@contextmanager
def more_files(folder: Path, own: Sequence[str]) -> Iterator[Path]:
    """A folder whose files come to those of a result, once the block ended well.

    ``own`` are the files of the result that are there already; others are the user's.
    """
    folder = _absolute(folder)
    with _stage(folder) as made:
        yield made
        _check_free(made, folder, {*own, RECORD})
        _move(made, folder)


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A new folder on the same disk; one that a killed process left behind goes first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = _beside(folder, ".", "qwo-new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def written_files(folder: Path) -> list[str]:
    """All files below a folder, relative to it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    )


def write_record(
    folder: Path, record: Mapping[str, Any], files: Iterable[str] | None = None
) -> list[str]:
    """Write what a folder holds, and which files are qwo's, which are returned: all, by default."""
    listed = sorted({*(written_files(folder) if files is None else files), RECORD})
    write_whole(folder / RECORD, to_json({**record, "files": listed}) + "\n")
    return listed


def _beside(folder: Path, before: str, ending: str) -> Path:
    """A name on the same disk."""
    whole = _absolute(folder)
    return whole.with_name(f"{before}{whole.name or 'root'}.{ending}")


def _absolute(folder: Path) -> Path:
    """The folder by its full name: ``.`` has none to put another beside."""
    return Path(os.path.abspath(folder))  # noqa: PTH100 - links stay what they are


def _check_free(made: Path, folder: Path, own: set[str]) -> None:
    """Raise if something of the user's is where a file, or a folder for one, is to go."""
    for name in written_files(made):
        place, blocked = folder / name, _link_above(folder, name)
        if blocked is None and os.path.lexists(place) and name not in own:
            blocked = place
        if blocked is not None:
            raise ArgumentError(
                f"{str(blocked)!r} was not written by qwo, and a file of the result has the same "
                "name; move it away, or choose another folder"
            )


def _link_above(folder: Path, name: str) -> Path | None:
    """What is no folder of its own on the way to a file: a link, which may lead anywhere."""
    for parent in PurePosixPath(name).parents:
        above = folder / parent
        if above != folder and (above.is_symlink() or (above.exists() and not above.is_dir())):
            return above
    return None


def _move(made: Path, folder: Path) -> None:
    """Move files into a folder, the record of them first, so that none is taken for a user's."""
    for name in sorted(written_files(made), key=lambda name: (name != RECORD, name)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(folder / name)


def _remove(folder: Path, name: str) -> None:
    """Remove a file of an earlier result, and the folder it was in if that is empty then."""
    place = folder / name
    if place.is_file() and not place.is_symlink():
        place.unlink()
    with suppress(OSError):
        if place.parent != folder:
            place.parent.rmdir()


def _change_places(made: Path, folder: Path, own: set[str]) -> bool:
    """Give the new folder what is the user's, by hard links, and exchange it for the old one.

    Whether that could be done; a folder in which someone stands is not exchanged under their feet.
    """
    with suppress(OSError, TypeError):  # TypeError: Windows has no library of that kind
        if folder in (Path.cwd(), *Path.cwd().parents):
            return False
        for name in sorted(folder.rglob("*")):
            target = made / name.relative_to(folder)
            if name.is_dir() and not name.is_symlink():
                if _holds_others(folder, name, own):
                    target.mkdir(exist_ok=True)
                    shutil.copymode(name, target)
            elif name.relative_to(folder).as_posix() not in own:
                os.link(name, target, follow_symlinks=False)
        made.chmod(folder.stat().st_mode)
        return _exchange(made, folder)
    return False


def _holds_others(folder: Path, inner: Path, own: set[str]) -> bool:
    """Whether a folder is empty, or has something below it that qwo did not write."""
    files = [path for path in inner.rglob("*") if path.is_symlink() or not path.is_dir()]
    return not files or any(path.relative_to(folder).as_posix() not in own for path in files)


def _exchange(first: Path, second: Path) -> bool:
    """Let two folders change places in one step; False where the system cannot do it."""
    exchange = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, flag = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    paths = os.fsencode(first), os.fsencode(second)
    return exchange is not None and exchange(here, paths[0], here, paths[1], flag) == 0


def _own_files(folder: Path) -> set[str]:
    """What the record of an earlier result says that qwo wrote, within the folder itself."""
    try:
        files = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()
    return {
        name
        for name in names
        if not PurePosixPath(name).is_absolute()
        and ".." not in PurePosixPath(name).parts
        and _link_above(folder, name) is None
    }


def _free_name(folder: Path) -> Path:
    number = 1
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate


def open_checkpoint(folder: Path, *, force: bool, resume: bool) -> Path:
    """The file beside a folder that keeps the replicates while a run lasts.

    One that is left from an interrupted run is refused, unless it is said what to do with it.
    """
    if resume and force:
        raise ArgumentError("--resume goes on and --force begins anew; give one of them")
    check_folder(folder, force=force or resume)
    folder.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = _beside(folder, "", "checkpoint.npz")
    if resume:
        if not checkpoint.exists() and (folder / COUNTS).is_file():
            with whole_file(checkpoint) as made:
                shutil.copyfile(folder / COUNTS, made)
    elif force:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        raise ArgumentError(
            f"{str(checkpoint)!r} is left from an interrupted run; add --resume to go on "
            "from it, or --force to begin anew"
        )
    return checkpoint


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
    write_whole(path, "".join(f"{csv_line(row)}\n" for row in (header, *rows)))
