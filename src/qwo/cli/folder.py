"""A folder that appears whole or not at all, and that never costs the user a file of their own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from qwo.errors import ArgumentError
from qwo.files import whole_file, write_whole
from qwo.text import csv_line, no_formula

COUNTS = "bootstrap.npz"
"""The counts of a bootstrap, from which it can go on."""

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
    whole = _absolute(folder)
    whole.parent.mkdir(parents=True, exist_ok=True)
    lock = beside(whole, "lock")
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
    an earlier result are replaced. A file of the user's in the way of a new one is an error, and
    nothing is changed.
    """
    check_folder(folder, force=force)
    folder = _absolute(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = beside(folder, secrets.token_hex(4))
    made.mkdir()
    try:
        yield made
        if folder.is_dir():
            _fill(made, folder, force=force)
        else:
            made.replace(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def more_files(folder: Path, own: Sequence[str]) -> Iterator[Path]:
    """A folder whose files come to those of a result, once the block ended well.

    Parameters
    ----------
    folder : Path
        That of the result.
    own : sequence of str
        The files of the result that are there already; others are the user's.
    """
    folder = _absolute(folder)
    made = beside(folder, secrets.token_hex(4))
    made.mkdir()
    try:
        yield made
        _check_free(made, folder, {*own, RECORD})
        _move(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def written_files(folder: Path) -> list[str]:
    """All files below a folder, relative to it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    )


def beside(folder: Path, ending: str, *, hidden: bool = True) -> Path:
    """A name on the same disk."""
    whole = _absolute(folder)
    return whole.with_name(f"{'.' * hidden}{whole.name or 'root'}.{ending}")


def _absolute(folder: Path) -> Path:
    """The folder by its full name: ``.`` has none to put another beside."""
    return Path(os.path.abspath(folder))  # noqa: PTH100 - links stay what they are


def _fill(made: Path, folder: Path, *, force: bool) -> None:
    """Put the files into a folder that is there: what is the user's stays where it is."""
    if any(folder.iterdir()) and not force:
        # Someone else took the name while we were at work, which shall not be lost.
        free = _free_name(folder)
        made.replace(free)
        raise ArgumentError(
            f"someone else has made the folder {str(folder)!r} meanwhile; what was to go there is "
            f"in {str(free)!r}"
        )
    own = _own_files(folder)
    _check_free(made, folder, own)
    for name in own - set(written_files(made)):
        _remove(folder, name)
    _move(made, folder)


def _check_free(made: Path, folder: Path, own: set[str]) -> None:
    """Raise if something of the user's is where a file is to go."""
    for name in written_files(made):
        blocked = _in_the_way(folder, name, own)
        if blocked is not None:
            raise ArgumentError(
                f"{str(blocked)!r} was not written by qwo, and a file of the result has the same "
                "name; move it away, or choose another folder"
            )


def _in_the_way(folder: Path, name: str, own: set[str]) -> Path | None:
    """What is not qwo's and stands where a file is to go, or where a folder for it is."""
    place = folder / name
    if os.path.lexists(place) and name not in own:
        return place
    for parent in PurePosixPath(name).parents:
        above = folder / parent
        if (
            os.path.lexists(above)
            and (above.is_symlink() or not above.is_dir())
            and above != folder
        ):
            return above
    return None


def _move(made: Path, folder: Path) -> None:
    """Move files into a folder, the record of them last."""
    for name in sorted(written_files(made), key=lambda name: (name == RECORD, name)):
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


def _own_files(folder: Path) -> set[str]:
    """What the record of an earlier result says that qwo wrote, within the folder."""
    try:
        files = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()
    paths = {name: PurePosixPath(name) for name in names}
    return {
        name for name, path in paths.items() if not path.is_absolute() and ".." not in path.parts
    }


def _free_name(folder: Path) -> Path:
    number = 1
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate


def open_checkpoint(folder: Path, *, force: bool, resume: bool) -> Path:
    """The file beside a folder that keeps the replicates while a run lasts.

    Raises
    ------
    ArgumentError
        If one is left from a run that did not end, and it is not said what to do with it.
    """
    if resume and force:
        raise ArgumentError("--resume goes on and --force begins anew; give one of them")
    check_folder(folder, force=force or resume)
    folder.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = beside(folder, "checkpoint.npz", hidden=False)
    if resume:
        if not checkpoint.exists() and (folder / COUNTS).is_file():
            with whole_file(checkpoint) as made:
                shutil.copyfile(folder / COUNTS, made)
    elif force:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        raise ArgumentError(
            f"{str(checkpoint)!r} is left from a run that did not end; add --resume to go on "
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
