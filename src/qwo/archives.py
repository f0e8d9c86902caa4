"""Results in files: arrays and one JSON text in an .npz archive, and no pickles."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from qwo.errors import FileFormatError, MissingFileError
from qwo.files import whole_file
from qwo.text import plain

Arrays = dict[str, npt.NDArray[Any]]
Result = TypeVar("Result")

DAMAGES = (
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What an archive that is damaged, or none, makes its readers raise."""


def write_archive(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a header and arrays to a file, whole or not at all."""
    text = json.dumps(plain(header), ensure_ascii=False, allow_nan=False)
    named: dict[str, Any] = {"header": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    with whole_file(path) as made, made.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **named)
        # It takes the place of another only once it is on the disk.
        file.flush()
        os.fsync(file.fileno())


def read_archive(
    path: str | os.PathLike[str],
    form: str,
    what: str,
    build: Callable[[dict[str, Any], Arrays], Result],
) -> Result:
    """What is built of the header and the arrays in a file.

    Parameters
    ----------
    path : path
        The file.
    form : str
        The format that the header must name.
    what : str
        What the file holds, in words.
    build : callable
        Makes the result; it may raise any of `DAMAGES` for what does not fit.
    """
    file = Path(path)
    if not file.is_file():
        raise MissingFileError(f"there is no file {str(file)!r}")
    try:
        # NumPy leaves a file that it has opened itself open, if it is no archive.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays: Arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != form:
            raise FileFormatError(
                f"{str(file)!r} is of format {header['format']!r}; wanted {form!r}"
            )
        return build(header, arrays)
    except FileFormatError:
        raise
    except DAMAGES as error:
        raise FileFormatError(
            f"{str(file)!r} is not a {what} that qwo has saved ({type(error).__name__}: {error})"
        ) from error
