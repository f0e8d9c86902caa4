"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, beside the one wanted, which it replaces once the block has ended well.

    Whatever interrupts the block, the file that was there before stays as it was.
    """
    wanted = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{wanted.name}.", dir=wanted.parent)
    os.close(handle)
    made = Path(name)
    try:
        yield made
        # A temporary file is its owner's alone; what the user asked for follows the umask.
        made.chmod(0o666 & ~_umask())
        made.replace(wanted)
    finally:
        made.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text (UTF-8, lines ended by a newline alone) or bytes: the whole file or nothing."""
    with whole_file(path) as made:
        made.write_bytes(content.encode() if isinstance(content, str) else content)


def _umask() -> int:
    """The permissions that new files are made without; there is no way to read but to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
